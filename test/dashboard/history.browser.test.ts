import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sqliteDatabase } from '../../src/history/sqlite.ts'
import { createHistoryStore } from '../../src/history/store.ts'
import { defineWorker } from '../../src/index.ts'
import { contentWidth, findings, program, startBrowser } from './browser.ts'
import { serve } from './served.ts'
import { visit } from './visit.ts'

const zip = defineWorker({ class: 'zip', retain: 0, perform: ({ args }) => args })
const JOBS = 120

describe.skipIf(!program())('the history in a browser', { timeout: 90_000 }, () => {
  const db = sqliteDatabase(':memory:')
  let served: Awaited<ReturnType<typeof serve>>
  let browser: Browser

  beforeAll(async () => {
    served = await serve({ workers: [zip], historyStore: { store: createHistoryStore(db), days: 90 } })
    await served.engine.history.begin()
    for (let n = 1; n <= JOBS; n++)
      await served.make('zip', { args: `{"order":${n}}`, labels: `{"customer":"${n % 2}"}` })
    await served.until(async () => {
      await served.engine.history.drain()
      const [row] = await db.all(['SELECT count(*) AS n FROM ends']).catch(() => [])
      return Number(row?.n) === JOBS
    })
    browser = await startBrowser()
  }, 90_000)
  afterAll(async () => {
    await browser?.close()
    await served?.close()
    db.close()
  })

  test('typed words filter the history, and a job opens with its args and result', () =>
    visit(browser, served, { path: '/jobs', still: true }, async (page) => {
      await page.getByRole('link', { name: 'History', exact: true }).click()
      await page.getByText('50 so far').waitFor()
      await page.getByLabel('Filter').fill('labels.customer:1 args.order:77')
      await page.getByLabel('Filter').press('Enter')
      await page.locator('#rows tr').first().waitFor()
      await page.getByText('1 job', { exact: true }).waitFor()
      expect(await page.locator('#rows tr').count()).toBe(1)
      expect(new URL(page.url()).search).toBe('?in=history&labels.customer=1&args.order=77')
      expect(await findings(page)).toEqual([])
      await page.getByText('Save this view').click()
      await page.getByLabel('Name').fill('Order 77')
      await page.getByRole('button', { name: 'Share with everyone' }).click()
      await page.getByRole('link', { name: 'Order 77' }).waitFor()
      await page.locator('#rows').getByRole('link', { name: 'zip' }).click()
      await page.getByText('from the history').waitFor()
      expect(new URL(page.url()).pathname).toMatch(/\/jobs\/\d+\/history$/)
      expect(await page.getByLabel('result').textContent()).toContain('77')
      expect(await findings(page)).toEqual([])
    }))

  test('the history fits into 320 pixels, and shows the same facts of each job as the list of current jobs', () =>
    visit(browser, served, { path: '/jobs?in=history', width: 320, still: true }, async (page) => {
      const row = page.locator('#rows tr').first()
      await row.waitFor()
      expect(await contentWidth(page)).toBeLessThanOrEqual(320)
      for (const text of ['zip', `#${JOBS}`, `customer=${JOBS % 2}`, `{"order":${JOBS}}`])
        expect(await row.getByText(text, { exact: true }).isVisible()).toBe(true)
      expect(await row.locator('time').isVisible()).toBe(true)
      await page.goto(`${served.url}/ui/jobs/${JOBS}/history`)
      await page.getByLabel('args').waitFor()
      expect(await contentWidth(page)).toBeLessThanOrEqual(320)
      expect(await findings(page)).toEqual([])
    }))

  test('older jobs are appended until all are shown, and then the button for more is removed', () =>
    visit(browser, served, { path: '/jobs?in=history', still: true }, async (page) => {
      for (const shown of [100, JOBS]) {
        await page.getByRole('link', { name: 'Older jobs' }).click()
        await page.locator(`tr[id^="row-"] >> nth=${shown - 1}`).waitFor()
      }
      expect(await page.locator('tr[id^="row-"]').count()).toBe(JOBS)
      expect(await page.getByRole('link', { name: 'Older jobs' }).count()).toBe(0)
    }))
})
