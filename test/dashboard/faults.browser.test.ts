import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findings, type Look, program, startBrowser } from './browser.ts'
import { KEY } from './kit.ts'
import { callerOf } from './seed.ts'
import { serve } from './served.ts'
import { visit } from './visit.ts'

type Case = {
  path: string
  fill: Record<string, string>
  press: string
  field: string
  says: RegExp
  open?: string
}

const cases: Case[] = [
  {
    path: '/workers/media/resize',
    fill: { url: 'https://a.example/1.png', 'sizes list of': '1\n2.5' },
    press: 'Create job',
    field: 'sizes list of',
    says: /^inputs\.sizes\[0\]\[1\]: expected a whole number/,
  },
  {
    path: '/workers/media/resize',
    fill: { 'sizes list of': '1\nx' },
    press: 'Create job',
    field: 'sizes list of',
    says: /^expected a number, got "x"/,
  },
  {
    path: '/workers/media/resize',
    open: 'or as JSON',
    fill: { 'sizes, as JSON': '[1' },
    press: 'Create job',
    field: 'sizes, as JSON',
    says: /^expected JSON/,
  },
  {
    path: '/workers/media/resize',
    fill: { url: 'https://cdn.example/1.png', Delay: 'soon' },
    press: 'Create job',
    field: 'Delay',
    says: /^expected a duration/,
    open: 'Options:',
  },
  {
    path: '/workers/media/resize?change',
    fill: { 'Kept after it ends': 'long' },
    press: 'Save',
    field: 'Kept after it ends',
    says: /^expected a duration/,
  },
  {
    path: '/workers/media/resize?change',
    fill: { 'Input ports': '{"url":{"schema":{"type":"text"}}}' },
    press: 'Save',
    field: 'Input ports',
    says: /^in\.url\.schema/,
  },
  {
    path: '/jobs/new?queue=media&class=resize',
    open: 'Options:',
    fill: { url: 'https://cdn.example/1.png', Priority: '1.5' },
    press: 'Create job',
    field: 'Priority',
    says: /^expected a whole number/,
  },
  {
    path: '/jobs/new?queue=media&class=resize',
    open: 'Options:',
    fill: { Labels: 'customer' },
    press: 'Create job',
    field: 'Labels',
    says: /^expected name=value/,
  },
  {
    path: '/schedules?new',
    fill: { Name: 'nightly', Class: 'resize', When: '1 2 3' },
    press: 'Create schedule',
    field: 'When',
    says: /^expected 5 or 6 fields.*Phrases such as "every day at 3" work too$/,
  },
  {
    path: '/schedules?new',
    fill: { Name: 'nightly', Class: 'resize', When: '0 3 * * *', 'Time zone': 'Mars/Base' },
    press: 'Create schedule',
    field: 'Time zone',
    says: /^expected a time zone/,
  },
  {
    path: '/limits?change=',
    fill: { Key: 'stripe', 'Max running': '0' },
    press: 'Create limit',
    field: 'Max running',
    says: /^expected at least 1/,
  },
  {
    path: '/limits?change=',
    fill: { Key: 'stripe', 'Starts per period': '5', Period: 'a while' },
    press: 'Create limit',
    field: 'Period',
    says: /^expected a duration/,
  },
  {
    path: '/limits?constraint=',
    fill: { Name: 'big', Args: '{"size": {"more": 1}}' },
    press: 'Create constraint',
    field: 'Args',
    says: /^match\.args\.size/,
  },
  {
    path: '/queues/media',
    fill: { 'Max lanes': '5000' },
    press: 'Save',
    field: 'Max lanes',
    says: /^expected at most 1000/,
  },
  {
    path: '/workers?register',
    open: 'More options',
    fill: { Class: 'stamp', Retries: '-1' },
    press: 'Register',
    field: 'Retries',
    says: /^expected at least 0/,
  },
  {
    path: '/channels',
    fill: { Channel: '/shop', Message: 'paid' },
    press: 'Publish',
    field: 'Message',
    says: /^expected JSON/,
  },
]

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
        sizes: { schema: { type: 'array', items: { type: 'integer' } }, default: [320] },
      },
    })
    await call('POST', '/v1/jobs', { queue: 'media', class: 'resize' })
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  const at = (path: string, use: (page: Page) => Promise<void>, look: Look = {}) =>
    visit(browser, site, { ...look, path, allowed: /status of (4|503)/ }, use)

  const labelled = (page: Page, label: string) =>
    page
      .locator('#main')
      .getByLabel(new RegExp(`^${label}`))
      .last()

  async function send(page: Page, { fill, press, open }: Case): Promise<void> {
    if (open) await page.getByText(open).click()
    for (const [label, text] of Object.entries(fill)) await labelled(page, label).fill(text)
    // Press the first button, because the page of a new job has two forms with such a button.
    await page.getByRole('button', { name: press, exact: true }).first().click()
  }

  test.each(cases)('$path: $says appears next to “$field”', (one) =>
    at(one.path, async (page) => {
      await send(page, one)
      const said = page.locator('label .err')
      await said.waitFor()
      expect(await said.textContent()).toMatch(one.says)
      expect(await page.locator('.toast').count()).toBe(0)
      const field = labelled(page, one.field)
      expect(await field.getAttribute('aria-invalid')).toBe('true')
      expect(await field.getAttribute('aria-describedby')).toBe(await said.getAttribute('id'))
      expect(await field.evaluate((input) => input === document.activeElement)).toBe(true)
      expect(await field.evaluate((input) => input.closest('label')!.querySelector('.err') !== null)).toBe(true)
      await field.press('End')
      await page.keyboard.type('1')
      await said.waitFor({ state: 'detached' })
      expect(await field.getAttribute('aria-invalid')).toBeNull()
    }),
  )

  test('a key without a scope shows an error next to its scopes', () =>
    at('/settings/keys?new', async (page) => {
      await page.getByLabel(/^Name/).fill('grafana')
      await page.getByRole('checkbox', { name: /^read/ }).uncheck()
      await page.getByRole('button', { name: 'Create key' }).click()
      expect(await page.locator('fieldset .err').textContent()).toBe('expected at least one, got none')
    }))

  test('an error without a field appears next to the button', () =>
    at('/queues/media', async (page) => {
      const call = callerOf(site.url, KEY)
      await call('POST', '/v1/jobs', { queue: 'media', class: 'resize' })
      await page.route('**/queues/media', (route) =>
        route.request().method() === 'POST'
          ? route.fulfill({ status: 503, json: { error: { code: 'UNAVAILABLE', message: 'Redis does not answer' } } })
          : route.continue(),
      )
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.locator('.toast.bad', { hasText: 'Redis does not answer' }).waitFor()
    }))

  test.each([
    ['light', {}],
    ['dark', { theme: 'dark' }],
    ['a phone', { width: 390, height: 844 }],
  ] as const)('in %s, errors are accessible and stay inside the page', (_, look) =>
    at(
      cases[0]!.path,
      async (page) => {
        await send(page, cases[0]!)
        await page.locator('label .err').waitFor()
        expect(await findings(page)).toEqual([])
        expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
      },
      look,
    ),
  )
})
