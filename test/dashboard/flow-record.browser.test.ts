import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { core } from '../../functions/core.ts'
import type { Scope } from '../../src/engine/engine.ts'
import { program, startBrowser } from './browser.ts'
import { KEY } from './kit.ts'
import { callerOf } from './seed.ts'
import { seedFlow } from './seed-flow.ts'
import { serve } from './served.ts'
import { arrive, leave } from './visit.ts'

const REPORT = 'index.done>report'

describe.skipIf(!program())('the history of a flow', { timeout: 90_000 }, () => {
  let site: Awaited<ReturnType<typeof serve>>
  let browser: Browser
  let flow: string

  beforeAll(async () => {
    site = await serve({ workers: core })
    const call = callerOf(site.url, KEY)
    await call('PUT', '/v1/workers/media/resize', { pull: true, in: { url: {} }, out: { done: {} } })
    flow = String(await seedFlow(call))
    await call('DELETE', `/v1/flows/${flow}/record`)
    browser = await startBrowser()
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await site.close()
  })

  async function enter(scopes: Scope[], path = `/flows/${flow}`) {
    const window = await arrive(browser, site, { path, as: scopes })
    await window.page.waitForSelector('.board .node')
    return window
  }

  const label = (page: Page) => page.locator(`.badge[data-wire="${REPORT}"] text`)
  const told = (page: Page) => page.locator('.replaybox .event')
  const kept = (page: Page, n: number) => page.getByText(`${n} events`).waitFor()

  test('recording needs the scope write', async () => {
    const window = await enter(['read'])
    const off = window.page.getByRole('button', { name: 'Record for 2 h' })
    expect(await off.getAttribute('title')).toBe('needs the scope write; your key has read')
    await leave(window)
  })

  test('a button starts the record, the slider and the events show earlier moments, and Live shows the present', async () => {
    const window = await enter(['read', 'write'])
    const { page } = window
    await page.getByRole('button', { name: 'Record for 2 h' }).click()
    await page.getByText('Nothing has happened since recording started').waitFor()
    expect((await site.engine.flows.get(flow)).record).toBe(7_200_000)
    for (const values of [['1', '2'], ['3'], ['4', '5', '6']]) await site.engine.flows.inject(flow, REPORT, values)
    await page.reload()
    await kept(page, 3)
    expect(await label(page).textContent()).toMatch(/^6/)
    expect(await told(page).textContent()).toContain('report holds 6 values')

    await page.keyboard.press(',')
    await page.keyboard.press(',')
    expect(await label(page).textContent()).toMatch(/^3/)
    expect(await told(page).textContent()).toContain('report holds 3 values')
    expect(page.url()).toMatch(/[?&]at=\d+/)
    await page.keyboard.press('.')
    expect(await label(page).textContent()).toMatch(/^6/)

    const time = page.getByRole('slider', { name: 'Time' })
    await time.focus()
    await page.keyboard.press('Home')
    expect(await label(page).count()).toBe(0)
    expect(Number(await time.getAttribute('aria-valuenow'))).toBe(Number(await time.getAttribute('aria-valuemin')))

    await page.locator('[data-replay="live"]').click()
    expect(await label(page).textContent()).toMatch(/^6/)
    expect(page.url()).not.toContain('at=')
    await leave(window)
  })

  test('a link to a moment shows this moment, and a press there keeps it', async () => {
    const { events } = await site.engine.flows.recorded(flow, { limit: 10 })
    const moment = events[1]!.at
    const window = await enter(['read'], `/flows/${flow}?at=${moment}`)
    const { page } = window
    await kept(page, 3)
    expect(await label(page).textContent()).toMatch(/^3/)
    await page.locator(`.badge[data-wire="${REPORT}"]`).click()
    await page.getByRole('complementary', { name: 'Selected wire' }).waitFor()
    expect(page.url()).toContain(`at=${moment}`)
    expect(await label(page).textContent()).toMatch(/^3/)
    expect(await page.getByRole('button', { name: 'Replay', exact: true }).getAttribute('aria-pressed')).toBe('true')
    await leave(window)
  })

  test('on a phone, a link to a moment opened the list with the present state, without the play buttons', async () => {
    const { events } = await site.engine.flows.recorded(flow, { limit: 10 })
    const path = `/flows/${flow}?at=${events[1]!.at}`
    const window = await arrive(browser, site, { path, as: ['read'], width: 390, height: 844 })
    const { page } = window
    await kept(page, 3)
    expect(await label(page).textContent()).toMatch(/^3/)
    const isInView = () =>
      page.getByRole('button', { name: 'Play', exact: true }).evaluate((one) => {
        const { left, top } = one.getBoundingClientRect()
        return one.contains(document.elementFromPoint(left + 5, top + 5))
      })
    await expect.poll(isInView, { timeout: 30_000 }).toBe(true)
    const [, time] = (await told(page).textContent())!.match(/^(\d\d:\d\d:\d\d) · Last event /)!
    expect(await page.locator('#moment').textContent()).toMatch(new RegExp(`^Replay of .*, ${time}$`))
    const list = page.getByRole('link', { name: 'List', exact: true })
    expect(await list.isVisible()).toBe(false)

    await page.locator('[data-replay="live"]').click()
    expect(await told(page).textContent()).toMatch(/^Last event /)
    expect(await page.locator('.board').isVisible()).toBe(true)
    await list.click()
    await page.locator('#lists').waitFor()
    expect(await page.locator('.board').isVisible()).toBe(false)
    expect(page.url()).not.toContain('at=')
    await leave(window)
  })

  test('during a replay, the header still counted the nodes that run now', async () => {
    const window = await enter(['read'], `/flows/${flow}`)
    const { page } = window
    const counts = page.locator('#flowbar > .dim')
    await kept(page, 3)
    expect(await counts.isVisible()).toBe(true)
    await page.keyboard.press(',')
    await page.getByRole('button', { name: 'Replay', exact: true, pressed: true }).waitFor()
    expect(await counts.isVisible()).toBe(false)
    await page.locator('[data-replay="live"]').click()
    await counts.waitFor()
    await leave(window)
  })

  test('the times below the runs change as soon as another time zone is chosen', async () => {
    const window = await enter(['read'])
    const { page } = window
    await kept(page, 3)
    await page.getByRole('button', { name: 'Replay', exact: true }).click()
    const first = () => page.locator('.laxis text').first().textContent()
    const utc = await first()
    await page
      .context()
      .addCookies([{ name: 'zone', value: 'Asia%2FTokyo', url: `${site.url}/ui`, sameSite: 'Strict' }])
    await page.keyboard.press('p')
    await page.keyboard.press('p')
    const hour = (text: string | null) => Number(text!.slice(0, 2))
    const later = async () => (hour(await first()) - hour(utc) + 24) % 24
    await expect.poll(later, { timeout: 30_000 }).toSatisfy((hours: number) => hours === 9 || hours === 10)
    const ends = await page
      .locator('.laxis text')
      .evaluateAll((all) =>
        all.map((one) => one.getBoundingClientRect()).map(({ left, right }) => [left, right] as const),
      )
    expect(ends.length).toBeGreaterThan(1)
    for (const [i, [left]] of ends.entries()) if (i > 0) expect(left).toBeGreaterThanOrEqual(ends[i - 1]![1])
    await leave(window)
  })

  test('a record that is played at 60× ends, and then the board is live again', async () => {
    const { events } = await site.engine.flows.recorded(flow, { limit: 10 })
    const window = await enter(['read'], `/flows/${flow}?at=${events[0]!.at}&speed=60`)
    const { page } = window
    await kept(page, 3)
    expect(await label(page).textContent()).toMatch(/^2/)
    await page.getByRole('button', { name: 'Play', exact: true }).click()
    await page.waitForFunction(() => !location.search.includes('at='))
    expect(await label(page).textContent()).toMatch(/^6/)
    expect(await page.getByRole('button', { name: '60×' }).getAttribute('aria-pressed')).toBe('true')
    await leave(window)
  })

  test('a button copies a link that plays the record from its moment to the present', async () => {
    const { events } = await site.engine.flows.recorded(flow, { limit: 10 })
    const window = await arrive(browser, site, {
      path: `/flows/${flow}?at=${events[0]!.at}`,
      as: ['read'],
      clipboard: true,
    })
    const { page } = window
    await kept(page, 3)
    await page.getByRole('button', { name: '60×' }).click()
    await page.getByRole('button', { name: 'Copy a link that plays from here' }).click()
    await page.getByText('Link copied').waitFor()
    const link = await page.evaluate(() => navigator.clipboard.readText())
    expect(link).toBe(`${site.url}/ui/flows/${flow}?speed=60&play=${events[0]!.at}`)
    await page.addInitScript((wire) => {
      const seen: string[] = []
      Object.assign(window, { seen })
      const look = () => {
        const text = document.querySelector(`.badge[data-wire="${wire}"] text`)?.textContent?.split(' ')[0]
        if (text && text !== seen.at(-1)) seen.push(text)
        const button = document.querySelector('[data-replay="play"]')
        if (button?.querySelector('use[href="#pause"]')) Object.assign(window, { pressed: button.textContent })
        requestAnimationFrame(look)
      }
      look()
    }, REPORT)
    await page.goto(link)
    await page.waitForFunction(() => !location.search.includes('play='))
    expect(await page.evaluate(() => (window as unknown as { pressed?: string }).pressed)).toBe('Pause')
    const seen = await page.evaluate(() => (window as unknown as { seen: string[] }).seen)
    expect(
      seen
        .slice(seen.indexOf('2'))
        .filter((text) => text !== '3')
        .slice(0, 2),
    ).toEqual(['2', '6'])
    expect(await label(page).textContent()).toMatch(/^6/)
    expect(await page.getByRole('button', { name: 'Play', exact: true }).count()).toBe(1)
    await leave(window)
  })

  test('an open page requests and appends only new events', async () => {
    const window = await enter(['read'])
    const { page } = window
    await kept(page, 3)
    const asked: string[] = []
    page.on('request', (request) => request.url().includes('/record') && asked.push(request.url()))
    await site.engine.flows.inject(flow, REPORT, ['7'])
    await kept(page, 4)
    expect(asked.every((url) => /[?&]after=\d+-\d+/.test(url))).toBe(true)
    await leave(window)
  })

  test('stopping a record asks first, and then deletes it', async () => {
    const window = await enter(['read', 'write'])
    const { page } = window
    await page.getByRole('button', { name: 'Stop recording' }).click()
    await page.getByRole('dialog').getByText('This also deletes the recording of the flow').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('button', { name: 'Record for 2 h' }).waitFor()
    expect(await site.engine.flows.recorded(flow, { limit: 10 })).toMatchObject({ keep: null, events: [] })
    await leave(window)
  })

  test('a replay continued after its recording was stopped', async () => {
    const window = await enter(['read', 'write'])
    const { page } = window
    await page.getByRole('button', { name: 'Record for 2 h' }).click()
    await page.getByText('Nothing has happened since recording started').waitFor()
    await page.getByRole('button', { name: '1×', exact: true }).click()
    await page.getByRole('button', { name: 'Play', exact: true }).click()
    await page.getByText(/^Replay of/).waitFor()
    await page.getByRole('button', { name: 'Stop recording' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('button', { name: 'Record for 2 h' }).waitFor()
    await page.waitForTimeout(300)
    expect(await page.locator('#moment').textContent()).toBe('')
    await leave(window)
  })
})
