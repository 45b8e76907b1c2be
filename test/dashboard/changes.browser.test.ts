import { readFileSync } from 'node:fs'
import type { Browser, Page, Request } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findings, program, startBrowser } from './browser.ts'
import { KEY } from './kit.ts'
import { callerOf } from './seed.ts'
import { serve } from './served.ts'
import { visits } from './visit.ts'

const fieldsIn = (request: Request): Map<string, string> =>
  new Map(
    [...(request.postData() ?? '').matchAll(/name="(\w+)"\r\n\r\n(.*)\r\n/g)].map(([, name, value]) => [name!, value!]),
  )

describe.skipIf(!program())('in a browser', { timeout: 90_000 }, () => {
  let site: Awaited<ReturnType<typeof serve>>
  let browser: Browser
  let call: ReturnType<typeof callerOf>

  beforeAll(async () => {
    site = await serve()
    call = callerOf(site.url, KEY)
    await call('PUT', '/v1/workers/press/print', { pull: true })
    for (const [priority, id] of [
      [5, 'shop-7'],
      [1, 'shop-9'],
      [3, 'shop-7'],
    ])
      await call('POST', '/v1/jobs', { queue: 'press', class: 'print', priority, group: { id } })
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  const as = visits(() => [browser, site])

  const card = (page: Page, title: string) =>
    page.locator('.card', { has: page.getByRole('heading', { name: title, exact: true }) })
  const toast = (page: Page, text: string) => page.locator('.toast', { hasText: text })

  test('a queue shows its next jobs and the reason for their order, its runs, and its waiting claims', async () => {
    await as(['read'], '/queues/press', async (page) => {
      const rows = card(page, 'Next jobs').locator('tbody tr')
      expect(await rows.evaluateAll((all) => all.map((row) => row.textContent!.match(/#\d+/)![0]))).toEqual([
        '#2',
        '#3',
        '#1',
      ])
      expect(await rows.first().innerText()).toMatch(/print\s+shop-9\s+priority 1\s/)
      expect(await card(page, 'Next jobs').innerText()).toContain('All wait for a pull worker.')
      expect(await card(page, 'Next jobs').locator('header').innerText()).toContain('smallest priority first')
      expect(await card(page, 'Next jobs').locator('header .tag').innerText()).toBe('3')
      expect(await page.getByRole('button', { name: 'Save' }).getAttribute('title')).toBe(
        'needs the scope admin; your key has read',
      )
    })
    await as(['read'], '/queues/press', async (page) => {
      await page.setViewportSize({ width: 390, height: 844 })
      const next = card(page, 'Next jobs')
      const { x, width, height } = (await next.locator('tbody tr').first().boundingBox())!
      expect(height, 'the class of a next job was written one letter below the other').toBeLessThan(64)
      expect(x + width, 'the waiting time was cut off').toBeLessThanOrEqual(390)
    })
    await call('PATCH', '/v1/queues/press', { ageing: '1s' })
    await call('POST', '/v1/queues/press/claim', { names: ['print'], max: 1, lease: '1h', process: 'printer-1' })
    const waits = call('POST', '/v1/queues/press/claim', { names: ['bind'], wait: '60s' }).catch(() => undefined)
    await site.until(async () => (await site.engine.queues.get('press')).claims.length === 1)
    await as(['read'], '/queues/press', async (page) => {
      const serves = card(page, 'Served by')
      await serves.getByText('printer-1').waitFor()
      await serves.getByText('for bind').waitFor()
      expect(await card(page, 'Current runs').locator('tbody tr').count()).toBe(1)
      await card(page, 'Next jobs')
        .getByText(/by waiting/)
        .first()
        .waitFor()
      expect(await card(page, 'Next jobs').locator('header').innerText()).toContain('counts as one step of priority')
      expect(await card(page, 'Classes').innerText()).toContain('print')
    })
    await call('POST', '/v1/jobs', { queue: 'press', class: 'print' })
    void waits
  })

  test('a job is exported in the form of the API', () =>
    as(['read'], '/jobs/1', async (page) => {
      await page.locator('summary[aria-label="More"]').click()
      const download = page.waitForEvent('download')
      await page.getByRole('link', { name: 'Export' }).click()
      const file = await download
      expect(file.suggestedFilename()).toBe('job-1.json')
      expect(JSON.parse(readFileSync(await file.path(), 'utf8'))).toMatchObject({ id: 1, class: 'print' })
    }))

  test('on a phone, the name of each class is visible', () =>
    as(
      ['read'],
      '/workers',
      async (page) => {
        const { width } = (await page.getByRole('link', { name: 'print' }).locator('b').boundingBox())!
        expect(width).toBeGreaterThan(20)
      },
      { width: 390, height: 844 },
    ))

  test.each([
    ['light', {}],
    ['dark', { theme: 'dark' }],
    ['a phone', { width: 390, height: 844 }],
  ] as const)('in %s, a queue and the form of a group are accessible', async (_, look) => {
    for (const path of ['/queues/press', '/limits?change=group:shop-7', '/schedules'])
      await as(
        ['admin'],
        path,
        async (page) => {
          expect(await findings(page)).toEqual([])
          expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
        },
        look,
      )
  })

  test('a group gets a limit, Undo removes the limit, and the group is paused and resumed', async () => {
    await as(['read', 'write'], '/limits', async (page) => {
      const off = page.getByRole('button', { name: 'Change group shop-7' })
      expect(await off.getAttribute('title')).toBe('needs the scope admin; your key has read, write')
    })
    const bound = async () => (await site.engine.groups.list()).groups.find(({ id }) => id === 'shop-7')!
    await as(['read', 'admin'], '/limits', async (page) => {
      await page.getByRole('link', { name: 'Change group shop-7' }).click()
      await page.getByLabel('Max running').fill('4')
      await page.getByText('No job would start immediately.').waitFor()
      await page.getByRole('button', { name: 'Save' }).click()
      await toast(page, 'Limit group:shop-7 changed: max 4 running, of the group').waitFor()
      expect((await bound()).concurrency).toBe(4)
      await page.getByRole('button', { name: 'Undo' }).click()
      await site.until(async () => (await bound()).concurrency === null)
      await page.goto(`${site.url}/ui/limits?change=group:shop-7`)
      await page.getByRole('button', { name: 'Pause', exact: true }).click()
      await toast(page, 'Limit group:shop-7 paused: no new runs start').waitFor()
      expect((await bound()).paused).toBe(true)
      await toast(page, 'Limit group:shop-7 paused: no new runs start').getByRole('button', { name: 'Undo' }).click()
      await site.until(async () => !(await bound()).paused)
    })
  })

  test('while a user types, the form that registers a class shows which waiting jobs would not fit, with one request', async () => {
    const queue = `bindery-${Date.now()}`
    await call('PUT', `/v1/workers/${queue}/bind`, { pull: true })
    const { id } = await call('POST', '/v1/jobs', { queue, class: 'bind', args: { pages: 'two' } })
    await as(['read', 'admin'], '/workers?register', async (page) => {
      const asked: string[] = []
      page.on('request', (request) => {
        const fields = fieldsIn(request)
        const name = fields.has('register') && fields.get('class')
        if (name) asked.push(name)
      })
      const said = page.locator('#preview')
      const field = (name: string) => page.locator(`form[data-act=register] [name=${name}]`)
      await page.clock.install()
      await page.reload()
      await page.clock.pauseAt(Date.now() + 60_000)
      await field('queue').fill(queue)
      await field('class').pressSequentially('sew')
      await page.clock.runFor(1_000)
      await said.getByText('No jobs of this class are waiting.', { exact: true }).waitFor()
      expect(asked).toEqual(['sew'])
      await page.clock.resume()
      await field('class').fill('bind')
      await page.getByText('More options').click()
      await field('args').fill('{"properties":{"pages":{"type":"number"}}}')
      await said
        .getByText(
          `1 of 1 waiting job would not match the new schemas. For example, #${id}, args: pages: expected a number`,
        )
        .waitFor()
      await said.getByText('bind is registered already (pull)').waitFor()
      await field('args').fill('{"properties":{"pages":{"type":"string"}}}')
      await said.getByText('Checked 1 waiting job. All match.').waitFor()
      expect(asked.length).toBeLessThanOrEqual(4)
      const isOfBind = (request: Request): boolean => fieldsIn(request).get('class') === 'bind'
      await page.route('**/ui/workers', (route) => (isOfBind(route.request()) ? undefined : route.continue()))
      const [late, given] = [page.waitForRequest(isOfBind), page.waitForEvent('requestfailed')]
      await field('args').fill('{}')
      await late
      await field('class').fill('sew')
      expect(isOfBind(await given)).toBe(true)
      await said.getByText('No jobs of this class are waiting.', { exact: true }).waitFor()
      expect(await findings(page)).toEqual([])
    })
  })

  test.each([
    ['light', {}],
    ['dark', { theme: 'dark' }],
    ['a phone', { width: 390, height: 844 }],
    ['a small phone', { width: 320, height: 700 }],
  ] as const)('in %s, the forms of a class are accessible', async (_, look) => {
    for (const path of ['/workers?register', '/workers/press/print?change'])
      await as(
        ['admin'],
        path,
        async (page) => {
          if (path.endsWith('register')) await page.getByText('More options').click()
          await page.getByLabel(/^Limits/).waitFor()
          expect(await findings(page)).toEqual([])
          expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
        },
        look,
      )
  })

  test('a refresh changed a chosen Push back to Pull when the user clicked next to the form', () =>
    as(['read', 'admin'], '/workers?register', async (page) => {
      const field = (name: string) => page.locator(`form[data-act=register] [name=${name}]`)
      expect(await field('served').inputValue()).toBe('pull')
      await field('served').selectOption('push')
      await field('url').fill('https://work.example/jobs')
      await field('url').blur()
      const drawn = page.evaluate(
        () => new Promise<void>((done) => document.addEventListener('drawn', () => done(), { once: true })),
      )
      await page.evaluate(() => document.dispatchEvent(new CustomEvent('look')))
      await drawn
      expect(await field('served').inputValue()).toBe('push')
      expect(await field('url').inputValue()).toBe('https://work.example/jobs')
    }))

  test('a schedule is changed in its form, and Undo restores it', async () => {
    await call('PUT', '/v1/schedules/nightly', {
      queue: 'press',
      class: 'print',
      repeat: { cron: '30 2 * * *', tz: 'Europe/Berlin', missed: 'last' },
      args: { pages: 2 },
    })
    const cron = async () => JSON.parse((await site.engine.schedules.get('nightly')).repeat as string).cron
    await as(['read'], '/schedules', async (page) => {
      const off = page.getByRole('button', { name: 'Change nightly' })
      expect(await off.getAttribute('title')).toBe('needs the scope write; your key has read')
    })
    await as(
      ['read', 'write'],
      '/schedules',
      async (page) => {
        await page.getByRole('link', { name: 'Change nightly' }).click()
        await page.getByRole('heading', { name: 'Change nightly' }).waitFor()
        const value = (label: RegExp) => page.getByLabel(label).inputValue()
        expect([await value(/^Class/), await value(/^When/), await value(/^Time zone/)]).toEqual([
          'print',
          '30 2 * * *',
          'Europe/Berlin',
        ])
        expect([await value(/^Missed/), await value(/^Args/)]).toEqual(['last', '{"pages":2}'])
        expect(await page.evaluate(() => (document.activeElement as HTMLInputElement).name)).toBe('cron')
        await page.getByLabel(/^When/).fill('at noon')
        await page.locator('#preview .err').waitFor()
        await page.getByRole('button', { name: 'Save' }).click()
        await page.locator('label .err').waitFor()
        expect(await page.locator('#preview .err').isVisible()).toBe(false)
        await page.getByLabel(/^When/).fill('45 4 * * *')
        await page.getByText('At 04:45').waitFor()
        await page.getByRole('button', { name: 'Save' }).click()
        await toast(page, 'Schedule nightly saved').waitFor()
        expect(await cron()).toBe('45 4 * * *')
        await page.getByRole('button', { name: 'Undo' }).click()
        await site.until(async () => (await cron()) === '30 2 * * *')
      },
      { allowed: / 400 / },
    )
  })
})
