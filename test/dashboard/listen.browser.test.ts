import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect } from '../../infra/stand-ins/resp.ts'
import { encodeValue } from '../../src/core/codec/value.ts'
import { defineWorker, port } from '../../src/index.ts'
import { findings, program, startBrowser } from './browser.ts'
import { above, count, countsOf, isQuiet } from './counted.ts'
import { serve } from './served.ts'
import { arrive, leave, type Visit } from './visit.ts'

const waits = defineWorker({ class: 'waits', in: { n: port() }, perform: (job) => job.suspend() })
const says = defineWorker({
  class: 'says',
  in: { n: port() },
  async perform(job) {
    for await (const { n } of job.inputs('n')) job.log({ message: `it was read: ${n}` })
  },
})

describe.skipIf(!program())('in a browser', { timeout: 90_000 }, () => {
  let served: Awaited<ReturnType<typeof serve>>
  let browser: Browser

  beforeAll(async () => {
    served = await serve({ workers: [waits, says] })
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await served?.close()
  })

  async function at(path: string, before: Visit['before'] = () => undefined) {
    const streams: string[] = []
    const window = await arrive(browser, served, {
      path,
      async before(page) {
        page.on('request', (request) => request.url().includes('/v1/subscribe') && streams.push(request.url()))
        await count(page)
        await before(page)
      },
    })
    return { ...window, streams }
  }

  async function numberOf(channel: string): Promise<number> {
    const redis = await connect(served.redis)
    const [, n] = (await redis.call('PUBSUB', 'NUMSUB', served.store.keys.live(channel))) as [unknown, number]
    await redis.close()
    return n
  }
  const isHeard = async (channel: string) => (await numberOf(channel)) > 0

  const hide = (page: Page, hidden: boolean) =>
    page.evaluate((hidden) => {
      Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden })
      document.dispatchEvent(new Event('visibilitychange'))
    }, hidden)

  test('the page of a job shows its end at once, although it refreshes only every 30 seconds', async () => {
    const id = await served.make('waits')
    await served.rest(id)
    const window = await at(`/jobs/${id}`)
    const { page, streams } = window
    await served.until(() => isHeard(`/sidejob/job/${id}`))
    expect(streams).toHaveLength(1)
    await served.engine.jobs.terminate(String(id), {})
    await page
      .locator('.jobhead .pill, .jobhead .st', { hasText: /terminated/i })
      .first()
      .waitFor()
    await served.until(async () => !(await isHeard(`/sidejob/job/${id}`)))
    await leave(window)
  })

  test('a hidden tab has no subscription, and subscribes again when it is visible', async () => {
    const id = await served.make('waits')
    await served.rest(id)
    const channel = `/sidejob/job/${id}`
    const window = await at(`/jobs/${id}`)
    const { page } = window
    await served.until(() => isHeard(channel))
    await hide(page, true)
    await served.until(async () => !(await isHeard(channel)))
    await hide(page, false)
    await served.until(() => isHeard(channel))
    await window.context.close()
    await served.until(async () => !(await isHeard(channel)))
  })

  test('a paused page subscribed again when its tab became visible', async () => {
    const window = await at('/channels?at=%2Fshop')
    const { page, streams } = window
    await served.until(() => isHeard('/shop'))
    await page.locator('#live').click()
    await served.until(async () => !(await isHeard('/shop')))
    await hide(page, true)
    await hide(page, false)
    await page.waitForTimeout(500)
    expect(streams).toHaveLength(1)
    await leave(window)
  })

  test('the tail of the log shows new entries, and is subscribed only while it is on', async () => {
    const window = await at('/log')
    const { page, streams } = window
    expect(streams).toEqual([])
    await page.getByRole('link', { name: 'Tail the log' }).click()
    await served.until(() => isHeard('/sidejob/log'))
    await served.engine.log.write(encodeValue({ message: 'the needle of the log' }))
    await page.getByText('the needle of the log').waitFor()
    await page.getByRole('link', { name: 'Stop the tail' }).click()
    await served.until(async () => !(await isHeard('/sidejob/log')))
    await leave(window)
  })

  test('the tail of a job refreshes only for entries of this job', async () => {
    const [own, other] = [await served.make('says'), await served.make('says')]
    await Promise.all([served.rest(own), served.rest(other)])
    const window = await at(`/jobs/${own}?tail=1`, (page) => page.clock.install())
    const { page } = window
    await served.until(() => isHeard('/sidejob/log'))
    await above(page, 'looks', 0)
    await expect.poll(() => isQuiet(page, 3_000), { timeout: 30_000 }).toBe(true)
    const { heard } = await countsOf(page)
    await served.engine.ports.write(String(other), 'in', 'n', [encodeValue(1)])
    await above(page, 'heard', heard)
    expect(await isQuiet(page, 3_000)).toBe(true)
    await served.engine.ports.write(String(own), 'in', 'n', [encodeValue(1)])
    await page.getByText('it was read').first().waitFor()
    await leave(window)
  })

  test('a page without a subscription is refreshed at intervals', async () => {
    const id = await served.make('waits')
    await served.rest(id)
    const window = await at(`/jobs/${id}`, (page) => page.route('**/v1/subscribe**', (route) => route.abort()))
    await served.engine.jobs.terminate(String(id), {})
    await window.page
      .locator('.jobhead .pill, .jobhead .st', { hasText: /terminated/i })
      .first()
      .waitFor()
    await window.context.close()
  })

  test('after the server had refused a subscription, the page never subscribed again', async () => {
    const window = await at('/channels?at=%2Fshop', async (page) => {
      await page.clock.install()
      await page.route('**/v1/subscribe**', (route) => route.fulfill({ status: 429 }), { times: 1 })
    })
    const { page, streams } = window
    await expect.poll(() => streams.length).toBe(1)
    await page.clock.runFor(61_000)
    await served.until(() => isHeard('/shop'))
    expect(streams).toHaveLength(2)
    await window.context.close()
  })

  test('messages of a channel are shown when they arrive, but not while the page is paused', async () => {
    const window = await at('/channels?at=%2Fshop')
    const { page, streams } = window
    await served.until(() => isHeard('/shop'))
    expect(streams).toHaveLength(1)
    const say = (channel: string, message: object) => served.engine.channels.publish(channel, encodeValue(message))
    await say('/shop/7/paid', { amount: 25 })
    await say('/shop/9', { note: '<b>ring</b>' })
    await say('/other', { amount: 1 })
    const lines = page.locator('#tail > li:visible .clip')
    await lines.nth(1).waitFor()
    expect(await lines.allTextContents()).toEqual(['/shop/9 {"note":"<b>ring</b>"}', '/shop/7/paid {"amount":25}'])
    await say('/shop/9', { note: 'paid twice' })
    await lines.nth(2).waitFor()
    expect(await lines.first().textContent()).toBe('/shop/9 {"note":"paid twice"}')
    expect((await countsOf(page)).looks).toBeLessThan(3)
    await page.locator('#live').click()
    await served.until(async () => !(await isHeard('/shop')))
    await say('/shop/9', { note: 'paid unheard' })
    expect(await lines.count()).toBe(3)
    expect(await findings(page)).toEqual([])
    await leave(window)
  })
})
