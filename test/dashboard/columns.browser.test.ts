import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encodeValue } from '../../src/core/codec/value.ts'
import { labelsText } from '../../src/core/labels.ts'
import { program, startBrowser } from './browser.ts'
import { waits } from './seed-jobs.ts'
import { serve } from './served.ts'
import { visits } from './visit.ts'

describe.skipIf(!program())('columns of the list of jobs', { timeout: 60_000 }, () => {
  let site: Awaited<ReturnType<typeof serve>>
  let browser: Browser
  let [order, bare] = [0, 0]
  const as = visits(() => [browser, site], { still: true })

  beforeAll(async () => {
    site = await serve({ workers: [waits] })
    await site.engine.workers.register('shop', 'secret', { pull: true, redact: ['args.card'] })
    const args = encodeValue({ order: { id: 4711, lines: [1, 2] }, password: 'hunter2', card: '4111' })
    const labels = labelsText({ customer: 'shop-7', note: 'two words' })
    order = await site.make('secret', { queue: 'shop', args, labels, group: { id: 'night' } })
    bare = await site.make('waits')
    browser = await startBrowser()
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  const heads = (page: Page) => page.locator('table.jobs th').allInnerTexts()
  const own = (page: Page, job: number) => page.locator(`#row-${job} td.own`).allInnerTexts()

  test('users choose columns, also for labels and args, and a view of this browser saves them', () =>
    as(['read', 'admin'], '/jobs', async (page) => {
      await page.getByText('Columns', { exact: true }).click()
      await page.getByLabel('Labels and args, separated by commas').fill('labels.customer, args.order.id args.order')
      await page.getByRole('button', { name: 'Show' }).click()
      await page.waitForURL(/columns=/)
      expect((await heads(page)).slice(-4, -1)).toEqual(['labels.customer', 'args.order.id', 'args.order'])
      expect(await own(page, order)).toEqual(['shop-7', '4711', '{"id":4711,"lines":[1,2]}'])
      expect(await own(page, bare)).toEqual(['–', '–', '–'])
      await page.getByText('Save this view').click()
      await page.getByLabel('Name').fill('Orders')
      await page.getByRole('button', { name: 'Share with everyone' }).click()
      await page.getByRole('link', { name: 'Orders' }).waitFor()
      await page.goto(`${site.url}/ui/jobs`)
      expect(await own(page, order)).toEqual([])
      await page.getByRole('link', { name: 'Orders' }).click()
      await page.waitForURL(/columns=/)
      expect(await own(page, order)).toHaveLength(3)
    }))

  test('a filter keeps the columns, and an empty field removes them', () =>
    as(['read'], '/jobs?columns=args.order.id', async (page) => {
      await page.getByLabel('Filter').fill('queue:shop')
      await page.keyboard.press('Enter')
      await page.waitForURL(/queue=shop/)
      expect(await own(page, order)).toEqual(['4711'])
      expect(await page.locator(`#row-${bare}`).count()).toBe(0)
      await page.getByText('Columns', { exact: true }).click()
      await page.getByLabel('Labels and args, separated by commas').fill('')
      await page.getByRole('button', { name: 'Show' }).click()
      await page.waitForURL(`${site.url}/ui/jobs?queue=shop`)
      expect(await own(page, order)).toEqual([])
    }))

  test('a column hides values with secret names, and shows no redacted value', () =>
    as(['read'], '/jobs?columns=args.password,args.card', async (page) => {
      const [password, card] = await own(page, order)
      expect(password).toBe('•••')
      expect(card).not.toContain('4111')
    }))

  test('a wrong column is refused with its name and the expected form', () =>
    as(
      ['read'],
      '/jobs?columns=customer',
      async (page) => {
        const expected = 'columns: expected at most 8 names such as labels.customer or args.order.id, got customer'
        expect(await page.locator('main').innerText()).toContain(expected)
      },
      { allowed: /400/ },
    ))

  test('the filter completes statuses, queues, classes, groups and labels without spaces', () =>
    as(['read'], '/jobs', async (page) => {
      const field = page.getByLabel('Filter')
      expect(await field.getAttribute('list')).toBe('completions')
      const offered = await page
        .locator('#completions option')
        .evaluateAll((all) => all.map((one) => (one as HTMLOptionElement).value))
      const known = ['failed', 'queue:shop', 'class:secret', 'class:waits', 'group:night', 'labels.customer:shop-7']
      expect(offered).toEqual(expect.arrayContaining(known))
      expect(offered.filter((text) => text.includes(' '))).toEqual([])
      await field.fill('labels.customer:shop-7')
      await page.keyboard.press('Enter')
      await page.waitForURL(/labels\.customer=shop-7/)
      expect(await page.locator('#rows tr').count()).toBe(1)
    }))
})
