// Counts the clicks and keys that each task needs. docs/dashboard.md lists these numbers.

import { readFileSync } from 'node:fs'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { core } from '../../functions/core.ts'
import { encodeValue } from '../../src/core/codec/value.ts'
import { mappedStack, type SourceTable } from '../../src/core/source-table.ts'
import { createEngine } from '../../src/engine/index.ts'
import { defineWorker } from '../../src/index.ts'
import { program, startBrowser } from './browser.ts'
import { KEY } from './kit.ts'
import { seed } from './seed.ts'
import { serve } from './served.ts'
import { visit } from './visit.ts'

const table: SourceTable = {
  bundle: 'worker.js',
  files: [{ name: 'src/jobs/charge.ts', lines: Array.from({ length: 20 }, (_, i) => `const line${i + 1} = ${i + 1}`) }],
  places: [[119, 0, 0, 11, 2]],
}
const DECLINED = 'StripeError: card declined'

const charge = defineWorker({
  class: 'charge',
  retry: { max: 0 },
  perform() {
    throw Object.assign(new Error(DECLINED), { stack: `Error: ${DECLINED}\n    at charge (worker.js:120:7)` })
  },
})

function handOf(page: Page) {
  const did = { clicks: 0, keys: 0, texts: 0 }
  return {
    did,
    page,
    /** The page handles clicks only after it has loaded. */
    async click(target: Locator): Promise<void> {
      did.clicks += 1
      await target.waitFor()
      await page.waitForLoadState()
      await target.click()
    },
    async press(...keys: string[]): Promise<void> {
      for (const key of keys) {
        did.keys += 1
        await page.keyboard.press(key)
      }
    },
    async type(text: string): Promise<void> {
      did.texts += 1
      await page.keyboard.type(text)
    },
    async enter(text: string): Promise<void> {
      await this.type(text)
      await page.keyboard.press('Enter')
    },
    async down(text: string): Promise<void> {
      const rows = await page.locator('main tbody > tr').allInnerTexts()
      for (let i = 0; i <= rows.findIndex((row) => row.includes(text)); i++) await this.press('j')
    },
    async comes(path: string | RegExp): Promise<void> {
      await page.waitForURL((url) => (typeof path === 'string' ? url.pathname === `/ui${path}` : path.test(url.href)))
      await page.waitForLoadState()
    },
    go: (title: string) => page.locator('.nav').getByRole('link', { name: new RegExp(`^${title}`) }),
    toast: (text: string | RegExp) => page.locator('.toast', { hasText: text }).first().waitFor(),
  }
}
type Hand = ReturnType<typeof handOf>

describe.skipIf(!program())('the tasks of an operator', { timeout: 120_000 }, () => {
  let site: Awaited<ReturnType<typeof serve>>
  let browser: Browser
  let flow: number
  let orders = 0
  const seen: Record<string, { mouse?: string; keyboard?: string }> = {}

  beforeAll(async () => {
    const locate = async (stack: string) => mappedStack(stack, table)
    site = await serve({ workers: [charge, ...core], version: '88f62d2b', author: 'Ann Lee', locate })
    const before = createEngine({ ...site.engineOptions, workers: [], version: 'a41c07e9', author: 'Bo' })
    await before.tick()
    await site.engine.tick()
    ;({ flow } = await seed(site.url, KEY))
    browser = await startBrowser()
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  function task<T>(
    name: string,
    {
      prepare,
      mouse,
      keys,
      check,
    }: {
      prepare?: () => Promise<T>
      mouse: (hand: Hand, given: T) => Promise<unknown>
      keys: (hand: Hand, given: T) => Promise<unknown>
      check: (given: T, hand: Hand) => Promise<unknown>
    },
  ) {
    for (const [way, play] of [
      ['mouse', mouse],
      ['keyboard', keys],
    ] as const)
      test(`${name}: with the ${way}`, async () => {
        const given = (await prepare?.()) as T
        await visit(browser, site, { path: '/', height: 900 }, async (page) => {
          page.setDefaultTimeout(15_000)
          const hand = handOf(page)
          await play(hand, given)
          await check(given, hand)
          const { clicks, keys, texts } = hand.did
          expect(way === 'mouse' ? keys : clicks).toBe(0)
          const n = way === 'mouse' ? clicks : keys
          ;(seen[name] ??= {})[way] = texts > 0 ? `${n} + ${texts} ${texts === 1 ? 'text' : 'texts'}` : String(n)
        })
      })
  }

  async function fail(n: number): Promise<number[]> {
    const ids: number[] = []
    for (let i = 0; i < n; i++) {
      const id = await site.make('charge', { args: encodeValue({ order: `ORD-${7000 + orders++}` }) })
      await site.rest(id, 'failed')
      ids.unshift(id)
    }
    return ids
  }
  const ranAt = async (id: number) => (await site.engine.jobs.get(String(id))).ranAt
  const failing = async (n: number) => Promise.all((await fail(n)).map(async (id) => ({ id, ranAt: await ranAt(id) })))
  const ranAgain = (jobs: { id: number; ranAt: number | null }[]) =>
    site.until(async () =>
      (await Promise.all(jobs.map(async (one) => (await ranAt(one.id)) !== one.ranAt))).every(Boolean),
    )
  const failedPage = /\/ui\/jobs\?(?=.*status=failed)/

  const seesError = async ({ page }: Hand) => {
    const failure = page.locator('#failure')
    await failure.getByText(DECLINED).first().waitFor()
    expect(await failure.innerText()).toContain('src/jobs/charge.ts:12:3')
  }

  task('find a failing job, read its error and stack, retry it', {
    prepare: () => failing(1),
    async mouse(hand, [job]) {
      await hand.click(hand.go('Jobs'))
      await hand.click(hand.page.locator('.counts').getByRole('link', { name: 'Failed' }))
      await hand.click(hand.page.locator(`[data-row="${job!.id}"]`).getByRole('link', { name: 'charge' }))
      await seesError(hand)
      await hand.click(hand.page.getByRole('button', { name: 'Retry', exact: false }).first())
    },
    async keys(hand, [job]) {
      await hand.press('g', 'j')
      await hand.comes('/jobs')
      await hand.press('/')
      await hand.type('status:failed class:charge')
      await hand.press('Enter')
      await hand.comes(failedPage)
      await hand.press('j', 'Enter')
      await hand.comes(`/jobs/${job!.id}`)
      await seesError(hand)
      await hand.press('r')
    },
    check: async (jobs) => ranAgain(jobs),
  })

  task('retry all failed jobs of a class', {
    async prepare() {
      const jobs = await failing(3)
      const others = await site.engine.jobs.list({ status: 'failed', class: 'zip2' })
      expect(others.jobs).toHaveLength(4)
      return jobs
    },
    async mouse(hand) {
      await hand.click(hand.go('Jobs'))
      await hand.click(hand.page.locator('.counts').getByRole('link', { name: 'Failed' }))
      await hand.click(hand.page.getByRole('button', { name: /^Retry all of this kind, charge/ }))
      await hand.click(hand.page.getByRole('dialog').getByRole('button', { name: /^Retry \d+$/ }))
    },
    async keys(hand) {
      await hand.press('g', 'j')
      await hand.comes('/jobs')
      await hand.press('/')
      await hand.type('status:failed class:charge')
      await hand.press('Enter')
      await hand.comes(failedPage)
      await hand.press('a', 'r')
      await hand.page
        .getByRole('dialog')
        .getByRole('button', { name: /^Retry \d+$/ })
        .waitFor()
      await hand.press('Enter')
    },
    async check(jobs) {
      await ranAgain(jobs)
      expect((await site.engine.jobs.list({ status: 'failed', class: 'zip2' })).jobs).toHaveLength(4)
    },
  })

  const isPaused = async () => (await site.engine.queues.get('media')).paused === true
  task('pause a queue, and undo it', {
    async mouse(hand) {
      await hand.click(hand.go('Queues'))
      await hand.click(hand.page.getByRole('link', { name: 'media', exact: true }))
      await hand.click(hand.page.getByRole('button', { name: 'Pause', exact: true }))
      await site.until(isPaused)
      await hand.click(hand.page.getByRole('button', { name: /^Undo/ }))
    },
    async keys(hand) {
      await hand.press('Control+k')
      await hand.type('pause media')
      await hand.page.getByRole('option', { name: 'Pause queue media' }).waitFor()
      await hand.page.getByRole('option', { name: 'List jobs with media in labels' }).waitFor()
      await hand.press('Enter')
      await site.until(isPaused)
      await hand.toast(/Queue media was paused/)
      await hand.press('u')
    },
    check: () => site.until(async () => !(await isPaused())),
  })

  const limit = async () => (await site.engine.limits.get('openai')).concurrency
  task('change a limit, and undo it', {
    async mouse(hand) {
      await hand.click(hand.go('Limits'))
      await hand.click(hand.page.getByRole('link', { name: 'Change openai' }))
      await hand.page.waitForFunction(() => document.activeElement?.getAttribute('name') === 'concurrency')
      await hand.type('25')
      await hand.click(hand.page.getByRole('button', { name: 'Save' }))
      await site.until(async () => (await limit()) === 25)
      await hand.click(hand.page.getByRole('button', { name: /^Undo/ }))
    },
    async keys(hand) {
      await hand.press('g', 'l')
      await hand.comes('/limits')
      await hand.press('/')
      await hand.type('openai')
      await hand.press('Enter')
      await hand.comes(/q=openai/)
      await hand.press('j', 'Tab', 'Enter')
      await hand.page.waitForFunction(() => document.activeElement?.getAttribute('name') === 'concurrency')
      await hand.type('25')
      await hand.press('Enter')
      await site.until(async () => (await limit()) === 25)
      await hand.page.getByRole('button', { name: /^Undo/ }).waitFor()
      await hand.press('u')
    },
    check: () => site.until(async () => (await limit()) === 20),
  })

  let nodes = 0
  task('add a node to a running flow', {
    prepare: async () => `counter${(nodes += 1)}`,
    async mouse(hand, name) {
      const dialog = hand.page.getByRole('dialog', { name: 'Add a node' })
      await hand.click(hand.go('Flows'))
      await hand.click(hand.page.getByRole('link', { name: 'catalog-sync' }).first())
      await hand.click(hand.page.getByRole('link', { name: /^Edit graph/ }))
      await hand.click(hand.page.getByRole('button', { name: /^Node/ }))
      await dialog.waitFor()
      await hand.type(name)
      await hand.click(dialog.locator('input').nth(1))
      await hand.type('feed/map')
      await hand.click(dialog.getByRole('button', { name: 'Add' }))
      await dialog.waitFor({ state: 'detached' })
      await hand.click(hand.page.getByRole('button', { name: /^Apply/ }))
    },
    async keys(hand, name) {
      await hand.press('g', 'f')
      await hand.comes('/flows')
      await hand.press('j', 'Enter')
      await hand.comes(`/flows/${flow}`)
      await hand.press('e')
      await hand.comes(`/flows/${flow}/edit`)
      await hand.page.waitForSelector('.board .node')
      await hand.press('n')
      await hand.page.getByRole('dialog', { name: 'Add a node' }).waitFor()
      await hand.type(name)
      await hand.press('Tab')
      await hand.type('feed/map')
      await hand.press('Enter')
      await hand.page.getByRole('dialog').waitFor({ state: 'detached' })
      await hand.page.locator('button:enabled', { hasText: 'Apply' }).waitFor()
      await hand.press('Control+Enter')
      await hand.comes(`/flows/${flow}`)
    },
    check: (name) => site.until(async () => name in ((await site.engine.flows.get(String(flow))).graph!.nodes ?? {})),
  })

  task('make a schedule', {
    prepare: async () => `nightly-${Date.now()}`,
    async mouse(hand, alias) {
      await hand.click(hand.go('Schedules'))
      await hand.click(hand.page.getByRole('link', { name: /^New schedule/ }))
      await hand.page.waitForFunction(() => document.activeElement?.getAttribute('name') === 'alias')
      await hand.type(alias)
      await hand.click(hand.page.getByRole('combobox', { name: /^Class/ }))
      await hand.type('charge')
      await hand.click(hand.page.getByRole('textbox', { name: /^When/ }))
      await hand.type('every day at 3')
      await hand.click(hand.page.getByRole('button', { name: 'Create schedule' }))
    },
    async keys(hand, alias) {
      await hand.press('g', 's')
      await hand.comes('/schedules')
      await hand.press('c')
      await hand.page.waitForFunction(() => document.activeElement?.getAttribute('name') === 'alias')
      await hand.type(alias)
      await hand.press('Tab', 'Tab')
      await hand.type('charge')
      await hand.press('Tab')
      await hand.type('every day at 3')
      await hand.press('Enter')
    },
    async check(alias, hand) {
      await hand.page.locator('main').getByRole('link', { name: alias }).first().waitFor()
      const { schedules } = await site.engine.schedules.list({})
      expect(JSON.stringify(schedules.find(({ aliases }) => aliases.includes(alias)))).toContain('0 3 * * *')
    },
  })

  // A browser does not receive messages from before its subscription.
  const hears = ({ page }: Hand) => page.waitForResponse((answer) => answer.url().includes('/v1/subscribe'))
  task('send a message to a channel, and see it arrive', {
    async mouse(hand) {
      await hand.click(hand.go('Channels'))
      const hearing = hears(hand)
      await hand.click(hand.page.getByRole('link', { name: 'Listen to /shop/7/paid' }))
      await hearing
      await hand.click(hand.page.getByRole('textbox', { name: /^Message/ }))
      await hand.type('{"amount": 12}')
      await hand.click(hand.page.getByRole('button', { name: 'Publish' }))
    },
    async keys(hand) {
      await hand.press('g', 'c')
      await hand.comes('/channels')
      await hand.down('paid')
      const hearing = hears(hand)
      await hand.press('Enter')
      await hand.comes(/at=%2Fshop%2F7%2Fpaid/)
      await hearing
      await hand.press('c', 'Tab')
      await hand.type('{"amount": 12}')
      await hand.press('Control+Enter')
    },
    async check(_, hand) {
      await hand.toast('1 port received the message on /shop/7/paid')
      await hand.page.locator('#tail li', { hasText: '{"amount":12}' }).waitFor()
    },
  })

  task('find a job by its alias', {
    async mouse(hand) {
      await hand.click(hand.page.getByRole('searchbox', { name: 'Search or jump' }))
      await hand.enter('order-9917')
    },
    async keys(hand) {
      await hand.press('Control+k')
      await hand.type('order-9917')
      await hand.page
        .getByRole('option', { name: /order-9917/ })
        .first()
        .waitFor()
      await hand.press('Enter')
    },
    async check(_, hand) {
      await hand.comes(/\/jobs\/\d+$/)
      expect(await hand.page.locator('main').innerText()).toContain('order-9917')
    },
  })

  task('find a job by a value in its args', {
    prepare: async () => ({ job: (await fail(1))[0]!, order: `ORD-${7000 + orders - 1}` }),
    async mouse(hand, { job, order }) {
      await hand.click(hand.page.getByRole('searchbox', { name: 'Search or jump' }))
      await hand.type(order)
      await hand.click(hand.page.locator('.palette .found a', { hasText: `#${job}` }))
    },
    async keys(hand, { job, order }) {
      await hand.press('Control+k')
      await hand.type(order)
      await hand.page.getByRole('option', { name: `#${job}` }).waitFor()
      await hand.page.getByRole('option', { name: `List jobs with ${order} in labels` }).waitFor()
      await hand.press('Enter')
    },
    async check({ job, order }, hand) {
      await hand.comes(`/jobs/${job}`)
      expect(await hand.page.locator('main').innerText()).toContain(order)
    },
  })

  task('revoke a key', {
    prepare: async () => (await site.engine.keys.add({ name: 'aaa-leaked', scopes: ['read'] })).key,
    async mouse(hand) {
      await hand.click(hand.go('Keys'))
      await hand.click(hand.page.getByRole('button', { name: 'Revoke aaa-leaked' }))
      await hand.page.getByRole('dialog').waitFor()
      await hand.type('aaa-leaked')
      await hand.click(hand.page.getByRole('dialog').getByRole('button', { name: /^Revoke/ }))
    },
    async keys(hand) {
      await hand.press('g', 'k')
      await hand.comes('/settings/keys')
      await hand.down('aaa-leaked')
      await hand.press('Enter')
      await hand.page.getByRole('dialog', { name: /aaa-leaked/ }).waitFor()
      await hand.type('aaa-leaked')
      await hand.press('Enter')
    },
    async check(key) {
      const status = async () => (await site.ask('/v1/queues', { headers: { authorization: `Bearer ${key}` } })).status
      await site.until(async () => (await status()) === 401)
    },
  })

  const seesDeploy = async ({ page }: Hand) => {
    const said = await page.locator('main').innerText()
    for (const part of ['88f62d2b', 'Ann Lee', 'a41c07e9', DECLINED]) expect(said).toContain(part)
  }
  task('find the deploy that caused a failure', {
    prepare: () => fail(1),
    async mouse(hand) {
      await hand.click(hand.go('Deploys'))
      await hand.comes('/deploys')
      await seesDeploy(hand)
      await hand.click(hand.page.locator('main').getByRole('link', { name: DECLINED }).first())
    },
    async keys(hand) {
      await hand.press('g', 'v')
      await hand.comes('/deploys')
      await seesDeploy(hand)
      await hand.down(DECLINED)
      await hand.press('Enter')
    },
    check: async (_, hand) => {
      await hand.comes(failedPage)
      const classes = await hand.page.locator('[data-row]').allInnerTexts()
      expect(classes.length).toBeGreaterThan(0)
      expect(classes.filter((text) => !text.includes('charge'))).toEqual([])
    },
  })

  test('the docs list the clicks and keys of each task', () => {
    const docs = readFileSync(new URL('../../docs/dashboard.md', import.meta.url), 'utf8')
    const listed = docs.slice(docs.indexOf('| task |')).split('\n\n')[0]!
    expect(listed.split('\n').slice(2)).toEqual(
      Object.entries(seen).map(([name, { mouse, keyboard }]) => `| ${name} | ${mouse} | ${keyboard} |`),
    )
  })
})
