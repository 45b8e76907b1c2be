import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Encoded } from '../../src/core/codec/value.ts'
import { rawCommand } from '../kit/index.ts'
import { type Look, program, startBrowser } from './browser.ts'
import { KEY } from './kit.ts'
import { callerOf } from './seed.ts'
import { serve } from './served.ts'
import { visit } from './visit.ts'

describe.skipIf(!program())('in a browser', { timeout: 90_000 }, () => {
  let site: Awaited<ReturnType<typeof serve>>
  let browser: Browser

  beforeAll(async () => {
    site = await serve()
    const call = callerOf(site.url, KEY)
    await call('PUT', '/v1/workers/media/resize', {
      pull: true,
      in: {
        url: { schema: { type: 'string' } },
        sizes: { schema: { type: 'array' }, default: [320, 960] },
        format: { schema: { enum: ["it's webp", 'avif'] } },
      },
    })
    await call('PUT', '/v1/workers/shop/packs', {
      pull: true,
      in: {
        order: {
          schema: {
            type: 'object',
            properties: {
              id: { type: 'integer' },
              from: { type: 'object', properties: { city: { type: 'string', minLength: 2 } } },
              to: { type: 'object', properties: { city: { type: 'string', minLength: 2 } } },
            },
            required: ['id'],
          },
        },
      },
    })
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  const at = (path: string, use: (page: Page) => Promise<void>, look: Look = {}) =>
    visit(browser, site, { ...look, path, allowed: /status of 4/, clipboard: true }, use)

  const newest = async () => (await site.engine.jobs.list({ class: 'resize', limit: 1 })).jobs[0]

  test('the form of a new job begins with its class, and the code next to it changes while a user types', () =>
    at('/jobs/new', async (page) => {
      await page.getByRole('link', { name: 'resize' }).click()
      await page.waitForURL(/queue=media&class=resize/)
      const code = page.locator('#preview pre')
      const form = page.locator('form[data-preview]')
      expect(await code.first().innerText()).toContain(`format: ["it's webp"]`)
      await form.getByLabel('url').fill('https://cdn.example/881.heic')
      await form.getByLabel('format').selectOption('avif')
      await page.getByText('Options:').click()
      await form.getByLabel('Priority').fill('3')
      for (const text of ['"https://cdn.example/881.heic"', '"avif"', 'priority: 3'])
        await code.first().filter({ hasText: text }).waitFor()
      await form.getByLabel('Labels').fill('not a label')
      await page.getByText('labels: expected name=value, got "not a label"').waitFor()
      await form.getByLabel('Labels').fill('customer=7')
      await code.first().filter({ hasText: 'customer: "7"' }).waitFor()
      expect(await form.getByLabel('url').inputValue()).toBe('https://cdn.example/881.heic')
      await form.getByRole('button', { name: 'Create job' }).click()
      await page.waitForURL(/\/jobs\/\d+$/)
      expect(await newest()).toMatchObject({ priority: 3, class: 'resize', labels: { customer: '7' } })
    }))

  test('a job is created from JSON that begins with the values of the form, and invalid JSON shows an error', () =>
    at('/jobs/new?queue=media&class=resize', async (page) => {
      await page.getByText('JSON, to edit and create').click()
      const body = page.getByRole('textbox', { name: /^JSON/ })
      const given = JSON.parse(await body.inputValue())
      expect(given).toEqual({ queue: 'media', class: 'resize', inputs: { url: [], format: [] } })
      const create = page.locator('#preview').getByRole('button', { name: 'Create job' })
      await body.fill('{"class":')
      await create.click()
      await page.getByRole('alert').filter({ hasText: 'body: expected JSON' }).waitFor()
      await body.fill(JSON.stringify({ ...given, priority: 7 }))
      await create.click()
      await page.getByRole('alert').filter({ hasText: 'inputs.url: expected a value' }).waitFor()
      const inputs = { url: ['https://cdn.example/881.heic'], format: ['avif'] }
      await body.fill(JSON.stringify({ ...given, inputs, priority: 7 }))
      await create.click()
      await page.waitForURL(/\/jobs\/\d+$/)
      expect(await newest()).toMatchObject({ priority: 7, class: 'resize' })
    }))

  test('the form that tries a class keeps its values after the job is created', () =>
    at('/workers/media/resize', async (page) => {
      const url = page.getByLabel('url')
      await url.fill('https://cdn.example/881.heic')
      await page.getByLabel('format').selectOption('avif')
      await page.getByRole('button', { name: 'Create job' }).click()
      await page.locator('.toast', { hasText: /Job #\d+ created/ }).waitFor()
      await page.locator('.lasts li').first().waitFor()
      expect(await url.inputValue()).toBe('https://cdn.example/881.heic')
    }))

  test('a value has a field for each member, and an error appears next to an invalid member', async () => {
    const job = String(await site.make('packs', { queue: 'shop' }))
    await at(`/jobs/${job}`, async (page) => {
      await page.getByLabel('Write to order', { exact: true }).click()
      const form = page.locator('form[data-act="write"]')
      await form.getByLabel(/^id/).fill('12345678901234567890')
      const city = form.getByRole('group', { name: /^to/ }).getByLabel(/^city/)
      await city.fill('x')
      await form.getByRole('button', { name: 'Write' }).click()
      const fault = form.locator('label', { hasText: 'city' }).getByRole('alert')
      await fault.waitFor()
      expect(await city.getAttribute('aria-invalid')).toBe('true')
      await city.fill('Łódź')
      await form.getByRole('button', { name: 'Write' }).click()
      await page.locator('#port-in-order .val', { hasText: '"id":12345678901234567890,"to":{"city":"Łódź"}' }).waitFor()
    })
  })

  test.each(['TypeScript', 'curl'])(
    'the code of a new job in %s is copied, and creates the job when it runs',
    (title) =>
      at('/jobs/new?queue=media&class=resize', async (page) => {
        const before = await newest()
        if (title === 'curl') await page.locator('#preview').getByText('curl', { exact: true }).first().click()
        await page.locator('.snip', { hasText: title }).getByRole('button', { name: 'Copy' }).click()
        const copied = await page.evaluate(() => navigator.clipboard.readText())
        const code = copied
          .replace(/http:\/\/[\d.:]+/, site.url)
          .replace('sidejob/client', new URL('../../src/client/index.ts', import.meta.url).href)
        const [program, flag] = title === 'curl' ? ['sh', '-c'] : [process.execPath, '--eval']
        const typed = title === 'curl' ? [] : ['--input-type=module-typescript']
        const env = { ...process.env, SIDEJOB_KEY: KEY, no_proxy: '*' }
        await promisify(execFile)(program, [...typed, flag, code], { env })
        const made = await newest()
        expect(made!.id).not.toBe(before?.id)
        const { values } = await site.engine.ports.get(String(made!.id), 'in', 'format', 1)
        expect(values[0]!.data).toBe('"it\'s webp"')
      }),
  )

  test('the doctor checks all slices after one press, collects the faults, and repairs all of them', async () => {
    const job = await site.make('packs', { queue: 'shop' })
    await rawCommand(site.redis.port, 'DEL', `${site.store.keys.queue('shop')}:ready:pull`)
    await at('/doctor', async (page) => {
      await page.getByRole('link', { name: 'Check all jobs' }).click()
      await page.getByText('All jobs are checked').waitFor()
      const row = page.locator('#faults tr', { hasText: `#${job}` })
      expect(await row.count()).toBeGreaterThan(0)
      expect(await page.locator('#examined h2').textContent()).toMatch(/^\d+ faults?$/)
      await page.getByRole('button', { name: 'Copy as text' }).click()
      expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(`job ${job}: `)
      await page.getByRole('button', { name: 'Repair' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Repair' }).click()
      await page.locator('.toast', { hasText: /faults? repaired/ }).waitFor()
    })
    expect(await site.engine.doctor.verify()).toEqual([])
  })

  test('the doctor stops between two slices, and continues from there', async () => {
    for (let i = 0; i < 120; i++) await site.make('packs', { queue: 'shop' })
    await at('/doctor', async (page) => {
      let asked = 0
      let goOn = () => {}
      await page.route(/\/ui\/doctor\?cursor=/, async (route) => {
        const { searchParams } = new URL(route.request().url())
        if (!searchParams.has('run') && ++asked === 1) await new Promise<void>((resolve) => (goOn = resolve))
        await route.continue()
      })
      await page.getByRole('link', { name: 'Check all jobs' }).click()
      await page.getByRole('button', { name: 'Stop' }).click()
      goOn()
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByText('All jobs are checked').waitFor()
      expect(await page.locator('#slices progress').evaluate((one) => (one as HTMLProgressElement).position)).toBe(1)
    })
  })

  test('"Copy as text" of the doctor copied the command that creates a pull worker', async () => {
    for (let i = 0; i < 120; i++) await site.make('packs', { queue: 'shop' })
    await rawCommand(site.redis.port, 'DEL', `${site.store.keys.queue('shop')}:ready:pull`)
    await at('/doctor', async (page) => {
      await page.route(/\/ui\/doctor\?cursor=[^&]/, async (route) => {
        const response = await route.fetch()
        const button = '<button data-copy="npx create-sidejob"></button>'
        await route.fulfill({ response, body: (await response.text()).replace('<main', `${button}<main`) })
      })
      await page.getByRole('link', { name: 'Check all jobs' }).click()
      await page.getByText('All jobs are checked').waitFor()
      await page.getByRole('button', { name: 'Copy as text' }).click()
      const copied = await page.evaluate(() => navigator.clipboard.readText())
      expect(copied).toMatch(/^job \d+: /)
      expect(copied).not.toContain('npx')
      await page.getByRole('button', { name: 'Repair' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Repair' }).click()
      await page.locator('.toast', { hasText: /faults? repaired/ }).waitFor()
    })
  })

  test('a copied line of the log has its full time, and the line links to the full entry', async () => {
    await site.engine.log.write('{"message":"parcel lost","to":"c_8812"}' as Encoded)
    await at('/log?q=parcel', async (page) => {
      await page.getByRole('button', { name: 'Copy the entry' }).click()
      await page.locator('.toast', { hasText: 'Copied' }).waitFor()
      const copied = await page.evaluate(() => navigator.clipboard.readText())
      expect(copied).toMatch(/^\d+ \w+ \d{4}, \d\d:\d\d:\d\d\.\d{3} UTC info parcel lost \{"to":"c_8812"\}$/)
      await page.getByRole('link', { name: /^Log entry of/ }).click()
      await page.locator('#entry pre', { hasText: 'parcel lost' }).waitFor()
      await page.getByLabel('Class of the job').fill('resize')
      await page.keyboard.press('Enter')
      await page.waitForURL(/\/log\?class=resize/)
    })
  })

  test('a host with an open breaker is shown hatched in the list of limits', async () => {
    const settings = { threshold: 3, base: 60_000, cap: 60_000, probing: 5_000 }
    for (const _ of [1, 2, 3]) await site.store.breaker('hooks.orbit.example', 'failed', settings)
    await at('/limits', async (page) => {
      const row = page.locator('.limit', { hasText: 'hooks.orbit.example' })
      expect(await row.locator('.bar .wait').count()).toBe(1)
      expect(await row.innerText()).toMatch(/not called until \d\d:\d\d:\d\d: 3 failures in a row/)
      await row.getByRole('button', { name: 'Resume calls to hooks.orbit.example' }).click()
      await row.waitFor({ state: 'detached' })
    })
  })

  test('an open limit with a rate shows the number of its starts, and since when it is full', async () => {
    await callerOf(site.url, KEY)('PUT', '/v1/workers/media/ask', {
      pull: true,
      limits: [{ key: 'openai', rate: { limit: 4, period: '1h' } }],
    })
    await site.engine.jobs.enqueue(Array.from({ length: 6 }, () => ({ class: 'ask', queue: 'media' }) as never))
    await site.engine.runs.claim('media', { names: ['ask'], max: 6, lease: 600_000 })
    const { limit } = await site.engine.limits.usage('openai', { holders: 5, waiting: 5 })
    expect(limit.started).toBe(4)
    await at('/limits?open=openai', async (page) => {
      const row = page.locator('.limit', { hasText: 'openai' }).first()
      expect(await row.innerText()).toMatch(/4 of \d+ started in the last hour/)
      const marks = await row.locator('.bar .f-running').evaluateAll((all) => all.map((one) => one.getAttribute('x')!))
      expect(marks.length).toBe(4)
      for (const x of marks) expect(Number.parseFloat(x)).toBeGreaterThan(97)
      expect(limit.fullSince).not.toBeNull()
      expect(await row.innerText()).toMatch(/full for /)
    })
    await at('/limits', async (page) => {
      const row = page.locator('.limit', { hasText: 'openai' }).first()
      expect(await row.innerText()).toMatch(/4 of \d+ started in the last hour; full for /)
      expect(await row.locator('.bar .f-running').count()).toBe(4)
    })
  })

  test.each([
    ['/queues', 'media'],
    ['/settings/keys', 'Revoke'],
  ])('on a phone, a row of %s has two lines and stays inside the page', async (path, has) => {
    await site.engine.keys.add({ name: 'grafana', scopes: ['read', 'write'] })
    await at(
      path,
      async (page) => {
        const row = page.locator('.tbl.lined tbody tr').filter({ hasText: has }).first()
        const { x, width, height } = (await row.boundingBox())!
        expect(x + width).toBeLessThanOrEqual(390)
        expect(height).toBeLessThan(90)
        const tops = await row
          .locator('td:visible')
          .evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().top / 12)))
        expect(new Set(tops).size).toBeGreaterThan(1)
        const beyond = await row
          .locator('td:visible')
          .evaluateAll((all) => all.filter((one) => one.getBoundingClientRect().right > 390).length)
        expect(beyond).toBe(0)
      },
      { width: 390, height: 844 },
    )
  })
})
