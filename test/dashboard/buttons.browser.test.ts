import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { core } from '../../functions/core.ts'
import { keyOf } from '../../src/core/files.ts'
import { createFiles } from '../../src/files.ts'
import { defineWorker } from '../../src/index.ts'
import { folderBucket } from '../kit/folder-bucket.ts'
import { startReceiver } from '../kit/receiver.ts'
import { program, startBrowser } from './browser.ts'
import { KEY, ORIGIN } from './kit.ts'
import { callerOf } from './seed.ts'
import { catalog, seedFlow } from './seed-flow.ts'
import { serve } from './served.ts'
import { visits } from './visit.ts'

const answers = defineWorker({ class: 'answers', perform: () => 42 })
const ALL = 21
let isDeclined = true
const charges = defineWorker({
  class: 'charges',
  retry: { max: 0 },
  perform() {
    if (isDeclined) throw new Error('the card was declined')
  },
})
const prints = defineWorker({
  class: 'prints',
  retry: { max: 0 },
  perform() {
    throw new Error('out of paper')
  },
})
const IMAGES = 'enrich.image>images.url'

describe.skipIf(!program())('in a browser', { timeout: 90_000 }, () => {
  let site: Awaited<ReturnType<typeof serve>>
  let browser: Browser
  let files: ReturnType<typeof createFiles>
  let flow: number

  beforeAll(async () => {
    const bucket = folderBucket(await mkdtemp(join(tmpdir(), 'sidejob-files-')))
    files = createFiles({ bucket, secret: 'files of the test', publicUrl: ORIGIN, now: Date.now })
    site = await serve({ workers: [answers, charges, prints, ...core] }, () => ({
      downloads: { files, allowHosts: [], keep: 3_600_000 },
    }))
    const call = callerOf(site.url, KEY)
    await call('PUT', '/v1/workers/media/resize', { pull: true, in: { url: {} }, out: { done: {} } })
    flow = await seedFlow(call)
    browser = await startBrowser()
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  const as = visits(() => [browser, site], { allowed: /status of 400/, clipboard: true })

  const toast = (page: Page, text: string | RegExp) => page.locator('.toast', { hasText: text }).first()

  async function stored(): Promise<string> {
    const id = await files.idOf(7, Date.now())
    await files.bucket.put(keyOf(id), new TextEncoder().encode('content of the file'), { type: 'text/plain' })
    return id
  }

  test('a reader could not download a file without copying a link; the button that removes the file is disabled', async () => {
    const id = await stored()
    await as(['read'], '/files', async (page) => {
      const remove = page.getByRole('button', { name: `Remove ${id}` })
      expect(await remove.isDisabled()).toBe(true)
      expect(
        await page.locator('tr', { has: remove }).locator('[title="needs the scope write; your key has read"]').count(),
      ).toBe(1)
      const download = page.getByRole('link', { name: `Download ${id}` })
      const href = `${site.url}${await download.getAttribute('href')}`
      const redirect = await page.request.get(href, { maxRedirects: 0 })
      expect(redirect.status()).toBe(303)
      const address = new URL(redirect.headers().location!)
      const left = Number(address.searchParams.get('expires')) - Date.now() / 1_000
      expect(left).toBeGreaterThan(3_590)
      expect(left).toBeLessThanOrEqual(3_601)
      const answer = await fetch(`${site.url}${address.pathname}${address.search}`)
      expect(await answer.text()).toBe('content of the file')
      address.searchParams.set('signature', 'of-somebody-else')
      expect((await fetch(`${site.url}${address.pathname}${address.search}`)).status).toBe(403)
    })
  })

  test('a file is removed after a question, and is gone', async () => {
    const id = await stored()
    await as(['read', 'write'], '/files', async (page) => {
      await page.getByRole('button', { name: `Remove ${id}` }).click()
      expect(await files.bucket.head(keyOf(id))).not.toBeNull()
      await page.getByRole('dialog').getByRole('button', { name: 'Remove it' }).click()
      await toast(page, `File ${id} removed`).waitFor()
      expect(await files.bucket.head(keyOf(id))).toBeNull()
      await page.getByRole('button', { name: `Remove ${id}` }).waitFor({ state: 'detached' })
    })
  })

  // This test must run before other jobs fail, because Overview reads kinds of errors at most once a minute.
  test('Overview retries the jobs of the most frequent error after a question, and no other jobs', async () => {
    const made = await Promise.all(Array.from({ length: ALL }, () => site.make('charges')))
    const other = await site.make('prints')
    for (const id of [...made, other]) await site.rest(id, 'failed')
    isDeclined = false
    const line = (page: Page) => page.locator('.alerts li', { hasText: `${ALL} jobs of charges failed` })
    await as(['read', 'write'], '/', async (page) => {
      const off = line(page).getByRole('button', { name: 'Retry all' })
      expect(await off.getAttribute('title')).toBe('needs the scope admin; your key has read, write')
    })
    await as(['admin'], '/', async (page) => {
      expect(await line(page).innerText()).toContain('“the card was declined”')
      await line(page).getByRole('button', { name: 'Retry all' }).click()
      const dialog = page.getByRole('dialog', { name: `Retry ${ALL} jobs?` })
      await dialog.getByText('this kind of error').waitFor()
      await page.keyboard.press('Escape')
      expect(await Promise.all(made.map(site.statusOf))).toEqual(made.map(() => 'failed'))
      await line(page).getByRole('button', { name: 'Retry all' }).click()
      await dialog.getByRole('button', { name: `Retry ${ALL}` }).click()
      await page.waitForURL(/\/jobs\?class=charges&bulk=\d+/)
      for (const id of made) await site.rest(id, 'completed')
      expect(await site.statusOf(other)).toBe('failed')
      await page.getByText(`${ALL} done`).waitFor()
      expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0)
    })
  })

  test('Overview resends all failed callbacks to one host, and no callbacks to other hosts', async () => {
    const [one, other] = [await startReceiver(), await startReceiver()]
    for (const receiver of [one, other]) receiver.answer = (_, response) => response.writeHead(404).end()
    const to = (receiver: typeof one) => ({ callback: { url: `${receiver.url}/hook`, retry: [] } })
    for (const about of [to(one), to(one), to(other)]) await site.make('answers', about)
    const failed = async () => (await site.engine.callbacks.list({ state: 'FAILED' })).callbacks
    await site.until(async () => (await failed()).length === 3)
    for (const receiver of [one, other]) receiver.answer = (_, response) => response.end()
    const host = new URL(one.url).host
    await as(['read', 'write'], '/', async (page) => {
      const line = page.locator('.alerts li', { hasText: `2 callbacks to ${host} ran out of attempts` })
      await line.getByRole('button', { name: 'Resend' }).click()
      await page.getByRole('dialog').getByText(`Resend 2 callbacks to ${host}?`).waitFor()
      expect(one.came.length).toBe(2)
      await page.getByRole('dialog').getByRole('button', { name: 'Resend 2' }).click()
      await toast(page, `Resending 2 callbacks to ${host}`).waitFor()
    })
    await site.until(async () => (await failed()).length === 1)
    await site.until(() => one.came.length === 4)
    const ids = one.came.map(({ headers }) => headers['webhook-id']!)
    expect(ids.slice(2).toSorted()).toEqual(ids.slice(0, 2).toSorted())
    expect(other.came.length).toBe(1)
    await Promise.all([one.close(), other.close()])
  })

  test('a flow without a graph shows a form for its graph, which reports errors', async () => {
    const { jobs } = await site.engine.jobs.enqueue([{ queue: 'core', class: 'flow' } as never])
    const id = jobs[0]!.id
    await site.rest(id)
    await as(['read'], `/flows/${id}`, async (page) => {
      const off = page.getByRole('button', { name: 'Start with this graph' })
      expect(await off.getAttribute('title')).toBe('needs the scope write; your key has read')
    })
    await as(['read', 'write'], `/flows/${id}`, async (page) => {
      await page.getByText('This flow is waiting for its graph on port').waitFor()
      const field = page.getByRole('textbox', { name: 'Graph' })
      await field.fill('{"nodes": 7}')
      await page.getByRole('button', { name: 'Start with this graph' }).click()
      await page.getByRole('alert').filter({ hasText: 'nodes' }).waitFor()
      expect(await field.getAttribute('aria-invalid')).toBe('true')
      const drawn = page.evaluate(
        () => new Promise((drawn) => document.addEventListener('drawn', drawn, { once: true })),
      )
      await page.getByRole('button', { name: 'Start with this graph' }).focus()
      await page.keyboard.press('.')
      await drawn
      expect(await page.getByRole('alert').textContent()).toContain('nodes')
      expect(await field.inputValue()).toBe('{"nodes": 7}')
      await field.fill(JSON.stringify(catalog))
      await page.getByRole('button', { name: 'Start with this graph' }).click()
      await toast(page, 'The flow now has a graph').waitFor()
      await page.waitForSelector('.board [data-name="rows"]')
      expect(Object.keys((await site.engine.flows.get(String(id))).graph!.nodes)).toEqual(Object.keys(catalog.nodes))
    })
  })

  test('buttons zoom the board in and out, and f shows the whole board', () =>
    as(['read'], `/flows/${flow}`, async (page) => {
      await page.waitForSelector('.board .node')
      const wide = async () => Number((await page.locator('[data-board]').getAttribute('viewBox'))!.split(' ')[2])
      const all = await wide()
      await page.getByRole('button', { name: 'Zoom in' }).click()
      expect(await wide()).toBeCloseTo(all / 1.25)
      await page.getByRole('button', { name: 'Zoom out' }).click()
      expect(await wide()).toBeCloseTo(all)
      await page.getByRole('button', { name: 'Zoom out' }).click()
      expect(await wide()).toBeCloseTo(all * 1.25)
      await page.getByRole('button', { name: 'Fit to screen' }).click()
      expect(await wide()).toBeCloseTo(all)
      await page.getByRole('button', { name: 'Zoom in' }).click()
      await page.keyboard.press('f')
      expect(await wide()).toBeCloseTo(all)
    }))

  test('the sentence about the last ten minutes of a wire matches its chart', () =>
    as(['read'], `/flows/${flow}?wire=${encodeURIComponent(IMAGES)}`, async (page) => {
      const { wires } = await site.engine.flows.wires(String(flow))
      const { in: came, out } = wires.find(({ id }) => id === IMAGES)!
      const sum = (list: number[]) => list.reduce((a, b) => a + b, 0)
      expect(sum(came)).toBe(1_318)
      const section = page.locator('.insp section', { hasText: 'Last 10 minutes' })
      expect(await section.locator('.legend').textContent()).toBe(`arrived 1,318read ${sum(out)}`)
      expect(await section.getByRole('img').getAttribute('aria-label')).toBe(
        `In the last ten minutes, 1,318 values arrived and ${sum(out)} were read`,
      )
    }))

  test('a key with only the scope admin can press buttons that need write or read', async () => {
    await as(['admin'], `/flows/${flow}?wire=${encodeURIComponent('index.done>report')}`, async (page) => {
      await page.waitForSelector('.board .node')
      await page.keyboard.press('i')
      await page.locator('.opens textarea[name="value"]').fill('{"by":"admin"}')
      await page.locator('.opens form').getByRole('button', { name: 'Inject' }).click()
      await toast(page, 'now waiting on the wire').waitFor()
      const { values } = await site.engine.ports.get(String(flow), 'out', 'report', 10)
      expect(values.at(-1)!.data).toBe('{"by":"admin"}')
      await page.getByRole('button', { name: 'Drain…' }).click()
      await page.getByRole('dialog').locator('input[name="sure"]').fill(String(values.length))
      await page.getByRole('dialog').getByRole('button', { name: 'Drain' }).click()
      await toast(page, 'Drained').waitFor()
      expect((await site.engine.ports.get(String(flow), 'out', 'report', 10)).values).toEqual([])
    })
    await as(['admin'], `/flows/${flow}/edit`, async (page) => {
      await page.waitForSelector('.board .node')
      await page.locator('.board [data-name="rejected"]').focus()
      await page.keyboard.press('Delete')
      await page.locator('[data-edit="apply"]:not([disabled])').click()
      await page.waitForURL(`${site.url}/ui/flows/${flow}`)
      await page.getByRole('button', { name: /^Undo/ }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click()
      await site.until(async () => (await site.engine.flows.get(String(flow))).undo === 0)
    })
  })
})
