import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { core } from '../../functions/core.ts'
import { encodeValue } from '../../src/core/codec/value.ts'
import type { Scope } from '../../src/engine/engine.ts'
import { contentWidth, openWindow, program, startBrowser } from './browser.ts'
import { KEY } from './kit.ts'
import { callerOf, worker } from './seed.ts'
import { fails, waits } from './seed-jobs.ts'
import { serve } from './served.ts'
import { arrive, leave, type Visit, type Visitor } from './visit.ts'

describe.skipIf(!program())('in a browser', { timeout: 90_000 }, () => {
  let served: Awaited<ReturnType<typeof serve>>
  let browser: Browser
  let window: Visitor | undefined
  let page: Page
  const ids: Record<string, number> = {}

  beforeAll(async () => {
    served = await serve({ workers: [fails, waits, ...core] })
    await served.engine.workers.register('default', 'pulled', { pull: true, concurrency: 2 })
    ids.failed = await served.make('fails')
    ids.waits = await served.make('waits')
    await Promise.all([served.rest(ids.failed), served.rest(ids.waits)])
    const node = { queue: 'core', class: 'connect', init: true }
    const graph = {
      nodes: { a: node, b: node },
      edges: [{ from: { node: 'a', outport: 'out' }, to: { node: 'b', inport: 'in' } }],
    }
    const flow = await served.make('flow', {
      queue: 'core',
      alias: ['nightly'],
      inputs: { __graph: [encodeValue(graph)] },
    })
    await served.rest(flow)
    ids.queued = await served.make('pulled')
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await served?.close()
  })

  afterEach(async () => {
    if (window) await leave(window)
    window = undefined
  })

  async function enter(scopes: Scope[], path: string, about: Partial<Visit> = {}): Promise<void> {
    window = await arrive(browser, served, { path, as: scopes, width: 1280, height: 900, ...about })
    page = window.page
  }

  const toast = (text: string | RegExp) => page.locator('.toast', { hasText: text }).first().waitFor()

  test('a new flow opened without its graph and its style until a reload', async () => {
    await enter(['read', 'write'], '/flows')
    await page.getByRole('link', { name: 'New flow' }).click()
    await page.getByRole('button', { name: 'Create flow', exact: true }).click()
    await page.waitForURL(/\/ui\/flows\/\d+$/)
    await page.locator('[data-board] path.wire:not(.all)').first().waitFor({ state: 'attached' })
    expect(await page.locator('link[href*="/flow-"]').count()).toBe(1)
    expect(await page.evaluate(() => document.body.classList.contains('slim'))).toBe(true)
  })

  test('the page of a queue counted open lanes above runs of pull workers', async () => {
    const call = callerOf(served.url, KEY)
    await call('PUT', '/v1/workers/media/resize', { pull: true })
    await call(
      'POST',
      '/v1/jobs',
      Array.from({ length: 26 }, () => ({ queue: 'media', class: 'resize' })),
    )
    await worker(call, 'media').claim('resize', 24, '1h', 'truck')
    await worker(call, 'media').claim('resize', 1, '1h')
    await enter(['read'], '/queues')
    const lanes = page.locator('tr', { hasText: 'media' }).locator('td').nth(1)
    expect(await lanes.innerText()).toMatch(/pull workers: 25 runs\s+1 waits for a pull worker$/)
    expect(await lanes.locator('.pip').count()).toBe(0)
    for (const mode of ['push', 'pull']) {
      await call('PATCH', '/v1/queues/media', { mode })
      await page.goto(`${served.url}/ui/queues/media`)
      expect(await page.locator('.pip').count()).toBe(0)
      expect(await page.locator('td', { hasText: 'pull workers: 25 runs' }).count()).toBe(1)
      expect(await page.locator('main').innerText()).not.toContain('lanes open')
    }
  })

  test('a user without a session logs in, and returns to the requested page', async () => {
    const { key } = await served.engine.keys.add({ name: 'reader', scopes: ['read'] })
    const own = await openWindow(browser)
    await own.page.goto(`${served.url}/ui/jobs?status=failed`)
    await own.page.getByLabel('API key').fill(key)
    await own.page.getByRole('button', { name: 'Log in' }).click()
    await own.page.waitForURL(`${served.url}/ui/jobs?status=failed`)
    await own.page.locator(`#row-${ids.failed}`).waitFor()
    await leave(own)
  })

  test('a login link logs in at the press of a button, and leads to the requested page', async () => {
    const headers = { authorization: `Bearer ${KEY}` }
    const answer = await fetch(`${served.url}/ui/login-links`, { method: 'POST', headers })
    const { pathname, search } = new URL(((await answer.json()) as { url: string }).url)
    const own = await openWindow(browser)
    await own.page.goto(`${served.url}${pathname}${search}&to=/queues`)
    await own.page.getByRole('button', { name: 'Log in as deployment' }).click()
    await own.page.getByRole('heading', { name: 'Queues' }).waitFor()
    await leave(own)
  })

  test.each([1280, 420])('the reference at /docs does not scroll sideways at %i pixels', async (width) => {
    const own = await openWindow(browser, { width, height: 844 })
    await own.page.goto(`${served.url}/docs`)
    await own.page.getByRole('heading').first().waitFor()
    expect(await contentWidth(own.page)).toBeLessThanOrEqual(width)
    await leave(own)
  })

  test('a failed job is retried from the list, after it was selected with the keyboard', async () => {
    await enter(['read', 'write'], '/jobs?status=failed')
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    await page.getByText('1 selected').waitFor()
    await page.keyboard.press('r')
    await toast('Retry: 1 job')
    await served.until(async () => (await served.engine.jobs.get(String(ids.failed))).attempt >= 1)
  })

  test('a user with the scope read sees disabled buttons, with the reason', async () => {
    await enter(['read'], `/jobs/${ids.waits}`)
    const button = page.getByRole('button', { name: /^Run now/ })
    expect(await button.isDisabled()).toBe(true)
    expect(await button.getAttribute('title')).toBe('needs the scope write; your key has read')
  })

  test('a value that is written to a port is shown at once, and taken after a question', async () => {
    await enter(['read', 'write'], `/jobs/${ids.waits}`)
    await page.getByLabel('Write to n', { exact: true }).click()
    await page.getByRole('textbox', { name: /^Write to n\b/ }).fill('{"amount": 12345678901234567890}')
    await page.getByRole('button', { name: 'Write: n, in', exact: true }).click()
    await toast('Value written to n')
    await page.locator('#port-in-n .val', { hasText: '12345678901234567890' }).waitFor()
    await page.getByLabel('More for n').click()
    await page.getByRole('button', { name: 'Take a value' }).click()
    await page.getByRole('button', { name: 'Take it' }).click()
    await toast('Taken')
  })

  test('invalid JSON shows an error next to its field, and nothing is sent', async () => {
    await enter(['read', 'write'], `/jobs/${ids.waits}`, { allowed: /status of 4/ })
    await page.getByLabel('Write to n', { exact: true }).click()
    await page.getByRole('textbox', { name: /^Write to n\b/ }).fill('{oops')
    await page.getByRole('button', { name: 'Write: n, in', exact: true }).click()
    await page.locator('#port-in-n #fault').getByText('expected JSON').waitFor()
  })

  test('a queue is paused at once, and one press resumes it', async () => {
    await enter(['read', 'admin'], '/queues/core')
    await page.getByRole('button', { name: 'Pause' }).click()
    await toast('was paused')
    await served.until(
      async () => (await served.engine.queues.list()).queues.find(({ name }) => name === 'core')!.paused,
    )
    await page.getByRole('button', { name: 'Undo' }).click()
    await served.until(
      async () => !(await served.engine.queues.list()).queues.find(({ name }) => name === 'core')!.paused,
    )
  })

  test('deleting asks for the number, and another number is refused', async () => {
    const id = await served.make('waits')
    await served.rest(id)
    await enter(['read', 'admin'], `/jobs/${id}`)
    await page.getByLabel('More', { exact: true }).click()
    await page.getByRole('button', { name: 'Delete' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox').fill('1')
    await dialog.getByRole('button', { name: 'Delete' }).click()
    const isEmpty = () => document.querySelector<HTMLInputElement>('dialog input:not([type=hidden])')?.value === ''
    await page.waitForFunction(isEmpty)
    await page.getByRole('dialog').getByRole('textbox').fill(String(id))
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await toast('deleted')
    await served.until(() =>
      served.engine.jobs.get(String(id)).then(
        () => false,
        () => true,
      ),
    )
  })

  test('Escape leaves a question unanswered, and gives the focus back', async () => {
    await enter(['read', 'write'], `/jobs/${ids.waits}`)
    await page.keyboard.press('x')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    expect(await page.getByRole('dialog').count()).toBe(0)
    expect(await served.statusOf(ids.waits!)).not.toBe('terminated')
  })

  test('a form creates a job of a class', async () => {
    await enter(['read', 'write'], '/workers/core/split')
    await page.locator('textarea[name="in.in"]').fill('"to,be,or"')
    await page.getByRole('button', { name: /Create job/ }).click()
    await toast('created')
    await page.locator('.lasts li').first().waitFor()
  })

  test('a button runs the demo, and the page shows its end', async () => {
    const before = (await served.engine.jobs.list({ group: 'demo', limit: 100 })).jobs.length
    await enter(['read', 'write'], '/?first')
    await page.getByRole('button', { name: 'Run the demo' }).click()
    await toast('A flow and 24 jobs were created')
    await page.getByText(`${before + 25} jobs of the demo have ended, 0 remain`).waitFor({ timeout: 60_000 })
  })

  test('a new key is shown once, in a dialog that closes only after the key was copied', async () => {
    await enter(['read', 'admin'], '/settings/keys?new', { clipboard: true })
    await page.getByLabel('Name').fill('grafana')
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog')
    const key = await dialog.locator('pre').textContent()
    expect(key).toMatch(/^sj_/)
    expect(await dialog.getByRole('button', { name: 'Close' }).isDisabled()).toBe(true)
    for (let i = 0; i < 3; i++) await page.keyboard.press('Escape')
    const asked = page.waitForEvent('dialog')
    const left = page.evaluate(() => location.assign('/ui/jobs')).catch(() => undefined)
    const leaving = await asked
    expect(leaving.type()).toBe('beforeunload')
    await leaving.dismiss()
    await left
    expect(await dialog.locator('pre').textContent()).toBe(key)
    await dialog.getByRole('button', { name: 'Copy' }).click()
    await dialog.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(key)
    await dialog.getByRole('button', { name: 'Close' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await served.engine.keys.authenticate(key!)).toMatchObject({ name: 'grafana', scopes: ['read'] })
    expect(await page.content()).not.toContain(key)
  })

  test('without access to the clipboard the key is selected, and the dialog can be closed', async () => {
    const before = (page: Page) => page.addInitScript(() => Object.defineProperty(navigator, 'clipboard', {}))
    await enter(['read', 'admin'], '/settings/keys?new', { before })
    await page.getByLabel('Name').fill('by-hand')
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Copy' }).click()
    await dialog.getByRole('button', { name: 'Selected' }).waitFor()
    expect(await page.evaluate(() => String(getSelection()))).toMatch(/^sj_/)
    await dialog.getByRole('button', { name: 'Close' }).click()
    await dialog.waitFor({ state: 'detached' })
  })

  test('a limit is created and changed, and Undo restores it', async () => {
    await enter(['read', 'admin'], '/limits?change=')
    await page.locator('input[name="key"]').fill('stripe')
    await page.getByLabel(/Max running/).fill('4')
    await page.getByRole('button', { name: 'Create limit' }).click()
    await toast('Limit stripe created: max 4 running')
    expect(await served.engine.limits.get('stripe')).toMatchObject({ concurrency: 4 })
    await page.goto(`${served.url}/ui/limits?change=stripe`)
    await page.getByLabel(/Max running/).fill('9')
    await page.getByRole('button', { name: 'Save' }).click()
    await toast('Limit stripe changed: max 9 running')
    await page.getByRole('button', { name: 'Undo' }).click()
    await toast('Limit stripe restored: max 4 running')
    expect(await served.engine.limits.get('stripe')).toMatchObject({ concurrency: 4 })
  })

  test('a schedule is created, paused and resumed', async () => {
    await enter(['read', 'write'], '/schedules')
    await page.getByRole('link', { name: 'New schedule' }).click()
    await page.waitForFunction(() => document.activeElement?.getAttribute('name') === 'alias')
    expect(await page.locator('datalist option[value="pulled"]').textContent()).toBe('default/pulled')
    await page.locator('input[name="alias"]').fill('report-2-30')
    await page.locator('input[name="class"]').fill('pulled')
    await page.locator('input[name="cron"]').fill('30 2 * *')
    await page.locator('#preview .err').waitFor()
    await page.locator('input[name="cron"]').fill('every day at 2:30')
    await page.locator('input[name="tz"]').fill('Europe/Berlin')
    await page.getByText('At 02:30, in Europe/Berlin').waitFor()
    expect(await page.locator('#preview li').count()).toBe(5)
    await page.getByRole('button', { name: 'Create schedule' }).click()
    await toast('Schedule report-2-30 saved')
    await page.waitForURL(`${served.url}/ui/schedules`)
    await page.locator('input[name="alias"]').waitFor({ state: 'detached' })
    await page.getByLabel('Pause report-2-30').click()
    await toast('Schedule paused')
    await page.getByLabel('Resume report-2-30').click()
    await toast('Schedule resumed')
  })

  test('the args of a new job have a field for each member of their schema', async () => {
    await served.engine.workers.register('media', 'stretch', {
      pull: true,
      description: 'Stretches a picture.',
      args: '{"type":"object","properties":{"width":{"type":"integer"}},"required":["width"]}' as never,
    })
    await enter(['read', 'write'], '/jobs/new')
    await page.getByText('Stretches a picture.').waitFor()
    await page.getByRole('link', { name: 'stretch' }).click()
    const form = page.locator('form[data-preview]')
    await form.getByLabel('width').fill('640')
    await form.getByRole('button', { name: 'Create job' }).click()
    await toast(/Job #\d+ created/)
    await page.waitForURL(/\/ui\/jobs\/\d+/)
    const [job] = (await served.engine.jobs.list({ class: 'stretch', limit: 1 })).jobs
    expect(job!.args).toBe('{"width":640}')
  })

  test('values typed into the form of a new job were in the addresses of its previews', async () => {
    await served.engine.workers.register('media', 'sign', {
      pull: true,
      args: '{"type":"object","properties":{"password":{"type":"string"}}}' as never,
    })
    await enter(['read', 'write'], '/jobs/new?queue=media&class=sign')
    const addresses: string[] = []
    page.on('request', (request) => addresses.push(request.url()))
    await page.locator('form[data-preview]').getByLabel('password').fill('M4rk3r')
    await expect.poll(() => page.locator('#preview [name=body]').inputValue()).toContain('M4rk3r')
    expect(addresses.length).toBeGreaterThan(0)
    expect(addresses.filter((address) => address.includes('M4rk3r'))).toEqual([])
  })

  test('a class is registered by a form, shown, and unregistered after its name was typed', async () => {
    await enter(['read', 'admin'], '/workers')
    await page.getByRole('link', { name: 'Register class' }).click()
    await page.locator('input[name="class"]').fill('stamp')
    await page.getByText('More options').click()
    await page.getByLabel(/Max running/).fill('3')
    await page.locator('textarea[name="in"]').fill('{ "n": { "schema": { "type": "integer" } } }')
    await page.getByRole('button', { name: 'Register' }).click()
    await toast('default/stamp registered')
    await page.waitForURL(`${served.url}/ui/workers/default/stamp`)
    const { workers } = await served.engine.workers.list()
    expect(workers.find((one) => one.class === 'stamp')).toMatchObject({ pull: true, concurrency: 3 })
    await page.getByRole('button', { name: 'Unregister' }).click()
    await page.getByRole('dialog').getByRole('textbox').fill('stamp')
    await page.getByRole('dialog').getByRole('button', { name: 'Unregister' }).click()
    await toast('stamp unregistered')
  })

  test('every page can be opened with keys, and the theme is saved', async () => {
    await enter(['read'], '/jobs')
    await page.keyboard.press('g')
    await page.keyboard.press('l')
    await page.waitForURL(`${served.url}/ui/limits`)
    const before = await page.evaluate(() => document.documentElement.dataset.theme)
    await page.keyboard.press('t')
    await page.reload()
    const after = await page.evaluate(() => document.documentElement.dataset.theme)
    expect(after).not.toBe(before)
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  })

  test('changes appear without a reload', async () => {
    const id = await served.make('waits')
    await served.rest(id)
    await enter(['read'], '/jobs')
    await served.engine.jobs.terminate(String(id), {})
    await page.locator(`#row-${id} .terminated`).first().waitFor()
  })

  test('without a script a job is terminated through a page that asks', async () => {
    const id = await served.make('waits')
    await served.rest(id)
    const { key } = await served.engine.keys.add({ name: 'plain', scopes: ['read', 'write'] })
    const bare = await browser.newContext({ javaScriptEnabled: false })
    const plain = await bare.newPage()
    await plain.goto(`${served.url}/ui/login?to=/jobs/${id}`)
    await plain.getByLabel('API key').fill(key)
    await plain.getByRole('button', { name: 'Log in' }).click()
    await plain.getByRole('button', { name: /^Terminate/ }).click()
    await plain.getByRole('button', { name: 'Terminate' }).click()
    await plain.getByText(`#${id} ends`).waitFor()
    await bare.close()
    await served.rest(id, 'terminated')
  })
})
