import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findings, program, startBrowser } from './browser.ts'
import { KEY } from './kit.ts'
import { callerOf } from './seed.ts'
import { serve } from './served.ts'
import { visits } from './visit.ts'

describe.skipIf(!program())('in a browser', { timeout: 90_000 }, () => {
  let site: Awaited<ReturnType<typeof serve>>
  let browser: Browser

  beforeAll(async () => {
    site = await serve()
    const call = callerOf(site.url, KEY)
    for (const name of ['crawl', 'crawl-deep', 'mail'])
      await call('PUT', `/v1/workers/web/${name}`, { pull: true, in: { n: {} } })
    for (const [name, host] of [
      ['crawl', 'a.example'],
      ['crawl', 'b.example'],
      ['crawl-deep', 'b.example'],
      ['mail', 'a.example'],
    ])
      await call('POST', '/v1/jobs', { queue: 'web', class: name, args: { host } })
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  const as = visits(() => [browser, site])

  const known = async () => (await site.engine.constraints.list()).constraints.map(({ name }) => name)
  const toast = (page: Page, text: string) => page.locator('.toast', { hasText: text })

  test('a constraint is previewed while it is typed, created, and removed by Undo', () =>
    as(['read', 'admin'], '/limits', async (page) => {
      await page.getByRole('link', { name: 'New constraint' }).click()
      await page.getByLabel('Name').fill('one-per-host')
      await page.getByLabel('Class').fill('crawl*')
      const said = page.locator('#preview')
      await said.getByText('3 of the 4 open jobs match').waitFor()
      await page.getByLabel('One limit per value of').fill('host')
      await said.getByText('under 2 limits').waitFor()
      await page.getByLabel(/^Args/).fill('{"host": "a.example"}')
      await said.getByText('1 of the 4 open jobs matches').waitFor()
      expect(await said.getByRole('link').allTextContents()).toEqual(['#1'])
      await page.getByLabel(/^Args/).fill('{"host": ')
      await said.getByText('args: expected JSON').waitFor()
      expect(await known()).toEqual([])
      await page.getByLabel(/^Args/).fill('')
      await page.getByLabel(/^Max running/).fill('1')
      await page.getByRole('button', { name: 'Create constraint' }).click()
      await toast(page, 'Constraint one-per-host created').waitFor()
      expect((await site.engine.constraints.get('one-per-host')).groupBy).toBe('host')
      await page.getByText('class crawl*, by args.host: max 1 running').waitFor()
      await page.getByRole('button', { name: 'Undo' }).click()
      await site.until(async () => (await known()).length === 0)
      await page.getByText('No constraints. Workers and groups can set limits too.').waitFor()
    }))

  test('a constraint could be created without a bound, and a constraint that matches all jobs without a question', () =>
    as(
      ['read', 'admin'],
      '/limits',
      async (page) => {
        await page.getByRole('link', { name: 'New constraint' }).click()
        await page.getByLabel('Name').fill('everything')
        await page.getByLabel('Name').press('Enter')
        const bound = page.getByLabel(/^Max running/)
        await page.getByText('expected max running or starts per period, got neither').waitFor()
        expect(await bound.getAttribute('aria-invalid')).toBe('true')
        await bound.fill('1')
        await bound.press('Enter')
        const question = page.getByRole('dialog')
        await question.getByText('the constraint matches each job').waitFor()
        expect(await known()).not.toContain('everything')
        await question.getByRole('button', { name: 'Limit all jobs' }).click()
        await toast(page, 'Constraint everything created').waitFor()
        await page.getByRole('button', { name: 'Undo' }).click()
        await site.until(async () => !(await known()).includes('everything'))
      },
      { allowed: /status of 400/ },
    ))

  test('an existing constraint is changed and removed; both can be undone', async () => {
    const was = { match: { class: 'mail', args: { host: { glob: '*.example' } } }, rate: { limit: 5, period: 60_000 } }
    await site.engine.constraints.set('mails', was as never)
    await as(['read', 'admin'], '/limits', async (page) => {
      await page.getByRole('link', { name: 'Change constraint mails' }).click()
      await page.locator('#preview').getByText('1 of the 4 open jobs matches').waitFor()
      expect(await page.getByLabel('Starts per period').inputValue()).toBe('5')
      await page.getByLabel('Starts per period').fill('9')
      await page.getByRole('button', { name: 'Save' }).click()
      await toast(page, 'Constraint mails changed').waitFor()
      expect((await site.engine.constraints.get('mails')).rate).toMatchObject({ limit: 9 })
      await page.getByRole('button', { name: 'Undo' }).click()
      await site.until(async () => (await site.engine.constraints.get('mails')).rate?.limit === 5)
      await page.getByRole('button', { name: 'Remove constraint mails' }).click()
      await toast(page, 'Constraint mails removed').waitFor()
      expect(await known()).toEqual([])
      await toast(page, 'removed').getByRole('button', { name: 'Undo' }).click()
      await site.until(async () => (await known()).length === 1)
      expect(await site.engine.constraints.get('mails')).toMatchObject(was)
    })
  })

  test('a user without the scope sees the reason, and can still try a constraint', () =>
    as(['read', 'write'], '/limits?constraint=&class=crawl', async (page) => {
      await page.getByText('2 of the 4 open jobs match').waitFor()
      for (const name of ['Create constraint', 'Remove constraint mails', 'New constraint']) {
        const button = page.getByRole('button', { name })
        expect(await button.isDisabled()).toBe(true)
        expect(await button.getAttribute('title')).toBe('needs the scope admin; your key has read, write')
      }
    }))

  test('at 1280 pixels, the bounds of a constraint had one word per line', () =>
    as(
      ['admin'],
      '/limits',
      async (page) => {
        await callerOf(site.url, KEY)('PUT', '/v1/constraints/narrow', {
          match: { class: 'crawl/*' },
          groupBy: 'host',
          concurrency: 1,
        })
        await page.reload()
        const text = page.locator('.sub', { hasText: 'class crawl/*, by args.host: max 1 running' })
        expect((await text.boundingBox())!.height).toBeLessThanOrEqual(32)
      },
      { width: 1_280, height: 800 },
    ))

  test.each([
    ['light', {}],
    ['dark', { theme: 'dark' }],
    ['a phone', { width: 390, height: 844 }],
  ] as const)('in %s, the page of constraints is accessible', (_, look) =>
    as(
      ['admin'],
      '/limits?constraint=&class=crawl*',
      async (page) => {
        expect(await findings(page)).toEqual([])
        expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
      },
      look,
    ),
  )
})
