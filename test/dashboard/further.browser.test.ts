import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { program, startBrowser } from './browser.ts'
import { KEY } from './kit.ts'
import { waits } from './seed-jobs.ts'
import { serve } from './served.ts'
import { visit } from './visit.ts'

const [CALLS, AT_ONCE] = [60, 1_000]

describe.skipIf(!program())('a long search', { timeout: 90_000 }, () => {
  let served: Awaited<ReturnType<typeof serve>>
  let browser: Browser
  let oldest = 0

  beforeAll(async () => {
    served = await serve({ workers: [waits] })
    await served.engine.workers.register('many', 'idle', { pull: true })
    oldest = await served.make('waits', { args: '{"order":"ORD-7003"}', group: { id: 'rare' } })
    const jobs = Array.from({ length: AT_ONCE }, () => ({ queue: 'many', class: 'idle' }))
    for (let i = 0; i < CALLS; i++) await served.engine.jobs.enqueue(jobs)
    browser = await startBrowser()
  }, 90_000)
  afterAll(async () => {
    await browser?.close()
    await served?.close()
  })

  const at = (path: string, use: (page: Page) => Promise<void>) =>
    visit(browser, served, { path, as: KEY, still: true }, use)

  async function findOldest(page: Page, found: string): Promise<void> {
    const row = page.locator(`#row-${oldest}`)
    for (const end = Date.now() + 60_000; Date.now() < end; ) {
      await row.waitFor({ timeout: 4_000 }).catch(() => undefined)
      const text = await page.locator('#further .word').textContent()
      if (await row.isVisible()) return
      expect(text).toMatch(new RegExp(`^(${found}) in the newest [\\d,]+ of 60,00\\d$`))
      // The link disappears when the search ends.
      await page
        .getByRole('link', { name: 'Search older jobs' })
        .click({ timeout: 4_000 })
        .catch(() => undefined)
    }
    expect(await row.isVisible()).toBe(true)
  }

  test('finds the oldest job by itself or after a click on "Search older jobs"', () =>
    at('/jobs?args.order=ORD-7003', async (page) => {
      const row = page.locator(`#row-${oldest}`)
      await findOldest(page, 'No match|1 match')
      // Wait until the page has refreshed: the row must stay.
      await page.waitForTimeout(3_000)
      expect(await row.isVisible()).toBe(true)
      expect(new URL(page.url()).search).toBe('?args.order=ORD-7003')
    }))

  test('appends the oldest job of a group to the page of the group', () =>
    at('/groups/rare', async (page) => {
      await findOldest(page, 'No match')
    }))

  test('a click on "Search older jobs" during a search left the page', () =>
    at('/jobs?args.order=ORD-7003', async (page) => {
      const { promise: clicked, resolve } = Promise.withResolvers<void>()
      await page.route(/cursor=/, async (route) => {
        if (!route.request().isNavigationRequest()) await clicked
        return route.continue()
      })
      await page.reload()
      await page.locator('#further.busy').waitFor()
      await page.getByRole('link', { name: 'Search older jobs' }).click()
      resolve()
      await findOldest(page, 'No match|1 match')
      expect(new URL(page.url()).search).toBe('?args.order=ORD-7003')
    }))

  test('ends with a sentence and the button if there is no match', () =>
    at('/jobs?group=none&class=waits', async (page) => {
      await page.getByText('No jobs match.').waitFor()
    }))

  test('begins again for another filter', () =>
    at('/jobs?group=rare', async (page) => {
      await findOldest(page, 'No match')
      await page.goto(`${new URL(page.url()).origin}/ui/jobs?group=none`)
      expect(await page.locator(`#row-${oldest}`).count()).toBe(0)
    }))
})
