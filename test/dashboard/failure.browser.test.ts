import { mkdirSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encodeValue } from '../../src/core/codec/value.ts'
import { mappedStack, type SourceTable } from '../../src/core/source-table.ts'
import { createEngine } from '../../src/engine/index.ts'
import { defineWorker, type Job } from '../../src/index.ts'
import { drain } from '../../src/testing/index.ts'
import { program, startBrowser } from './browser.ts'
import { serve } from './served.ts'
import { visits } from './visit.ts'

const table: SourceTable = {
  bundle: 'worker.js',
  files: [{ name: 'src/jobs/charge.ts', lines: Array.from({ length: 20 }, (_, i) => `const line${i + 1} = ${i + 1}`) }],
  places: [[119, 0, 0, 11, 2]],
}
const DECLINED = `card declined: {"decline_code":"insufficient_funds","network":"${'visa-'.repeat(40)}"}`

const charge = (isBroken: boolean) =>
  defineWorker({
    class: 'charge',
    retry: { max: 0 },
    async perform(job: Job) {
      await job.step('reserve', () => job.log('reserved the amount'))
      job.log(`charging ${(job.args as { order: string }).order}`)
      if (!isBroken) return
      throw Object.assign(new Error(DECLINED), { stack: `Error: ${DECLINED}\n    at charge (worker.js:120:7)` })
    },
  })

describe.skipIf(!program())('the page of a failed job', { timeout: 60_000 }, () => {
  let site: Awaited<ReturnType<typeof serve>>
  let browser: Browser
  let [good, failed] = [0, 0]
  const as = visits(() => [browser, site], { still: true })

  async function ran(version: string, isBroken: boolean, order: string): Promise<number> {
    const locate = async (stack: string) => mappedStack(stack, table)
    const engine = createEngine({
      ...site.engineOptions,
      workers: [charge(isBroken)],
      version,
      author: 'Ann Lee',
      locate,
    })
    await engine.tick()
    const args = encodeValue({ order })
    const { jobs } = await engine.jobs.enqueue([{ queue: 'default', class: 'charge', args }])
    await drain(engine, { errors: 'keep' })
    return jobs[0]!.id
  }

  beforeAll(async () => {
    site = await serve({ hold: true })
    good = await ran('a41c07e9', false, 'ORD-1')
    failed = await ran('88f62d2b', true, 'ORD-2')
    browser = await startBrowser()
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  async function picture(page: Page, name: string) {
    const folder = process.env.SIDEJOB_PICTURES
    if (!folder) return
    mkdirSync(folder, { recursive: true })
    await page.screenshot({ path: `${folder}/failed-${name}.png` })
  }

  const bottomOf = async (page: Page, text: string | RegExp) =>
    page
      .locator('#failure, #tabs .log')
      .getByText(text)
      .first()
      .evaluate((element) => element.getBoundingClientRect().bottom)

  test('shows error, source, args, last good job, log and deploy on the first screen of a desktop', () =>
    as(
      ['read', 'write'],
      `/jobs/${failed}`,
      async (page) => {
        await picture(page, 'desk')
        const failure = page.locator('#failure')
        expect(await failure.locator('b').first().textContent()).toBe(DECLINED)
        const stack = await failure.locator('pre').first().innerText()
        expect(stack).toContain('at charge (src/jobs/charge.ts:12:3)')
        expect(stack.match(/^[> ] +\d+ \| /gm)).toHaveLength(5)
        expect(stack).toContain('> 12 | const line12 = 12')
        const [own, other] = [failure.getByLabel('This job'), failure.getByLabel('Last successful job')]
        expect(await own.innerText()).toMatch(/Deploy\s+88f62d2b\s.*(ago|now)\s+by\s+Ann Lee.*ORD-2/s)
        expect(await other.innerText()).toMatch(new RegExp(`#${good}.*a41c07e9.*ORD-1`, 's'))
        const { height } = page.viewportSize()!
        for (const text of [/insufficient_funds/, /ORD-2/, /ORD-1/, '88f62d2b', /charging ORD-2/])
          expect(await bottomOf(page, text), String(text)).toBeLessThan(height)
        for (const name of ['Retry', 'Duplicate'])
          expect(await page.locator('.jobhead').getByText(name).first().isVisible()).toBe(true)
        expect(await page.locator('.wf').innerText()).toContain('reserve')
      },
      { width: 1440, height: 1000 },
    ))

  test('wraps the message on a phone and does not scroll sideways', () =>
    as(
      ['read', 'write'],
      `/jobs/${failed}`,
      async (page) => {
        await picture(page, 'phone')
        expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
        const wide = await page
          .locator('#failure')
          .evaluate((card) =>
            [...card.querySelectorAll('p, pre, li, dd, section')]
              .filter(
                (element) =>
                  element.scrollWidth > element.clientWidth + 1 || element.getBoundingClientRect().right > innerWidth,
              )
              .map((element) => `${element.tagName} ${element.textContent!.slice(0, 40)}`),
          )
        expect(wide).toEqual([])
        expect(await bottomOf(page, /insufficient_funds/)).toBeLessThan(844)
        for (const name of ['Retry', 'Duplicate'])
          expect(await page.locator('.jobhead').getByText(name).first().isVisible()).toBe(true)
      },
      { width: 390, height: 844 },
    ))

  test('the deploy leads to its comparison, and the last good job to its page', () =>
    as(['read'], `/jobs/${failed}`, async (page) => {
      await page.locator('#failure').getByRole('link', { name: '88f62d2b' }).click()
      await page.getByRole('heading', { name: 'Deploy of 88f62d2b' }).waitFor()
      await page.goBack()
      await page
        .locator('#failure')
        .getByRole('link', { name: `#${good}` })
        .click()
      await page.waitForURL(new RegExp(`/jobs/${good}$`))
      expect(await page.locator('#failure').count()).toBe(0)
    }))
})
