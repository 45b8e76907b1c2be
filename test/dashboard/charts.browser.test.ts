import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { costs } from '../../src/dashboard/costs.ts'
import { defineWorker, type Job } from '../../src/index.ts'
import { rawCommand } from '../kit/index.ts'
import { contentWidth, findings, type Look, program, startBrowser } from './browser.ts'
import { serve } from './served.ts'
import { visit } from './visit.ts'

const pay = (queue: string) =>
  defineWorker({
    class: 'pay',
    queue,
    retry: { max: 0 },
    perform(job: Job) {
      if (job.args !== null) throw new Error('the card was declined')
    },
  })

describe.skipIf(!program())('charts', { timeout: 90_000 }, () => {
  let site: Awaited<ReturnType<typeof serve>>
  let browser: Browser

  beforeAll(async () => {
    site = await serve({ workers: [pay('shop'), pay('mail')] })
    const made: number[] = []
    for (const [queue, n] of [
      ['shop', 3],
      ['mail', 1],
    ] as const)
      for (let i = 0; i < n; i++) made.push(await site.make('pay', { queue }))
    for (let i = 0; i < 2; i++) made.push(await site.make('pay', { queue: 'shop', args: '{}' }))
    for (const id of made) await site.rest(id)
    browser = await startBrowser()
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  const at = (path: string, use: (page: Page) => Promise<void>, look: Look = {}) =>
    visit(browser, site, { ...look, path }, use)

  const drawn = (page: Page, row: string) =>
    page
      .locator('tr', { has: page.getByRole('link', { name: row, exact: true }) })
      .locator('td:last-child rect.f-done')
      .count()

  test.each(['/', '/queues'])('on %s one request loads the charts of ended jobs of all queues', (path) =>
    at(path, async (page) => {
      const cell = (row: string) =>
        page.locator('tr', { has: page.getByRole('link', { name: row, exact: true }) }).locator('td:last-child')
      expect(await cell('shop').innerText()).toBe('3 completed, 2 failed')
      expect(await cell('mail').innerText()).toBe('1 completed, 0 failed')
      expect(await drawn(page, 'shop')).toBeGreaterThan(0)
      expect(await page.getByRole('columnheader', { name: 'Ended, 4 h' }).count()).toBe(1)
    }),
  )

  test('each kind of error has a chart of its failures per 15 minutes', () =>
    at('/jobs?status=failed', async (page) => {
      const row = page.locator('.kinds tbody tr', { hasText: 'the card was declined' })
      expect(await row.locator('td').nth(3).innerText()).toBe('2 in the last 6 h')
      const tall = row.locator('rect.f-failed')
      expect(await tall.count()).toBeGreaterThan(0)
      expect(await tall.last().getAttribute('height')).toBe('18')
    }))

  const stretch = (page: Page): [number, number] => {
    const { searchParams } = new URL(page.url())
    return [Number(searchParams.get('from')), Number(searchParams.get('to'))]
  }

  test('dragging over a part of a chart shows only this part', () =>
    at('/', async (page) => {
      const chart = page.locator('svg[data-from]')
      const { x, y, width } = (await chart.boundingBox())!
      const [from, to] = [Number(await chart.getAttribute('data-from')), Number(await chart.getAttribute('data-to'))]
      await page.mouse.move(x + width * 0.875, y + 40)
      await page.mouse.down()
      await page.mouse.move(x + width - 1, y + 40, { steps: 4 })
      await page.mouse.up()
      await page.waitForURL(/from=\d+&to=\d+/)
      const [a, b] = stretch(page)
      expect(a - (to - (to - from) / 8)).toBeLessThan(60_000)
      expect(to - b).toBeLessThan(60_000)
      await page.getByRole('link', { name: 'Show all' }).waitFor()
      expect(await page.getByRole('img', { name: /3?4 jobs completed and 2 failed in 3\d minutes from/ }).count()).toBe(
        1,
      )
      expect(await page.getByRole('columnheader', { name: /^Ended, 3\d minutes$/ }).count()).toBe(1)
    }))

  test('on a phone, a scroll that began on a chart made a later tap zoom', () =>
    at('/', async (page) => {
      const chart = page.locator('svg[data-from]')
      const { x, y, width } = (await chart.boundingBox())!
      const send = (name: string, part: number) =>
        chart.dispatchEvent(name, { bubbles: true, button: 0, clientX: x + width * part, clientY: y + 40 })
      await send('pointerdown', 0.3)
      await send('pointercancel', 0.3)
      expect(await chart.locator('rect.f-accent.area').count()).toBe(0)
      await send('pointerup', 0.8)
      expect(page.url()).not.toContain('from=')
    }))

  test('a click on an empty part of a chart opens no page', () =>
    at('/', async (page) => {
      const led: string[] = []
      page.on('request', (request) => request.isNavigationRequest() && led.push(request.url()))
      const { x, y, width } = (await page.locator('svg[data-from]').boundingBox())!
      await page.mouse.click(x + width / 2, y + 40)
      await page.getByText('Show as table').click()
      await page.locator('#table td.num a').last().press('Enter')
      await page.waitForURL(/\/jobs\?/)
      expect(led).toEqual([page.url()])
    }))

  test.each([
    ['/', 'completed', ['mail', 'shop']],
    ['/', 'failed', ['shop']],
    ['/queues/mail', 'completed', ['mail']],
  ] as const)('a click on a column of %s opens the jobs that %s in its time', (path, status, queues) =>
    at(path, async (page) => {
      const column = page.locator(`svg[data-from] [data-to*="${status}"]`).last()
      expect(await column.locator('title').textContent()).toMatch(new RegExp(`^\\d jobs? ${status}$`))
      await column.click()
      await page.waitForURL(/\/jobs\?/)
      const { searchParams } = new URL(page.url())
      expect(searchParams.get('status')).toBe(status)
      const [from, to] = searchParams.get('ended')!.split('/').map(Date.parse)
      expect(to! - from!).toBe(240_000)
      expect(searchParams.get('queue')).toBe(path === '/' ? null : 'mail')
      const { jobs } = await site.engine.jobs.list({ status, limit: 50 })
      const wanted = jobs.filter(({ queue, endedAt }) => queues.includes(queue as never) && endedAt! >= from!)
      const shown = await page.locator('#rows > tr').evaluateAll((all) => all.map(({ id }) => Number(id.slice(4))))
      expect(shown.toSorted()).toEqual(wanted.map(({ id }) => id).toSorted())
      await page.goto(`${site.url}/ui/jobs?status=${status}&ended=2020-01-01T00:00Z/2020-01-01T00:01Z`)
      await page.getByText('No jobs match.').waitFor()
    }),
  )

  test('the table of a chart has the same links, for users without a pointer', () =>
    at('/', async (page) => {
      await page.getByText('Show as table').click()
      await page.locator('#table td.num a').last().press('Enter')
      await page.waitForURL(/\/jobs\?status=failed&ended=/)
      expect(await page.locator('#rows > tr').count()).toBeGreaterThan(0)
    }))

  test('the chart of a queue shows the range in the address', () =>
    at('/queues/shop?range=1h', async (page) => {
      expect(await page.getByRole('img', { name: /3 jobs completed and 2 failed in the last 1 h/ }).count()).toBe(1)
      await page.getByRole('link', { name: 'Zoom in to the last quarter of the chart' }).press('Enter')
      await page.waitForURL(/\/queues\/shop\?range=1h&from=/)
      await page.getByRole('link', { name: '24 h' }).click()
      await page.getByRole('heading', { name: 'Ended per hour' }).waitFor()
    }))

  test('a chart can be zoomed, moved to earlier times, and reset with the keyboard', () =>
    at('/?range=1h', async (page) => {
      await page.getByRole('link', { name: 'Zoom in to the last quarter of the chart' }).press('Enter')
      await page.waitForURL(/from=/)
      const [from, to] = stretch(page)
      expect(to - from).toBe(15 * 60_000)
      await page.getByRole('link', { name: 'Earlier' }).press('Enter')
      await page.waitForURL((url) => url.searchParams.get('to') === String(from))
      await page.getByRole('link', { name: 'Later' }).press('Enter')
      await page.waitForURL((url) => url.searchParams.get('from') === String(from))
      await page.getByRole('link', { name: 'Show all' }).press('Enter')
      await page.waitForURL((url) => url.search === '?range=1h')
    }))

  describe('of the log', () => {
    const [N, SLICES, HEIGHT] = [90, 40, 45]
    const tones = { error: 'f-failed', warn: 'f-suspended', info: 'f-queued' }
    const levelOf = (i: number) => (i % 9 === 0 ? 'error' : i % 4 === 0 ? 'warn' : 'info')
    let entries: { id: string; at: number; level: keyof typeof tones }[]
    beforeAll(async () => {
      const { redis, store } = site
      const begin = Date.now() - 1_800_000
      entries = Array.from({ length: N }, (_, i) => ({
        id: `${begin + i * i * 200}-1`,
        at: begin + i * i * 200,
        level: levelOf(i),
      }))
      await rawCommand(redis.port, 'DEL', store.keys.log)
      for (const { id, at, level } of entries) {
        const fields = ['at', String(at), 'job', '', 'level', level, 'entry', `{"message":"entry ${id}"}`]
        await rawCommand(redis.port, 'XADD', store.keys.log, id, ...fields)
      }
    })

    const slices = () => {
      const [from, last] = [entries[0]!.at, entries.at(-1)!.at]
      const span = Math.ceil((last + 1 - from) / SLICES)
      const within = (i: number) => entries.filter(({ at }) => at >= from + i * span && at < from + (i + 1) * span)
      return Array.from({ length: SLICES }, (_, i) => within(i)).filter((of) => of.length > 0)
    }
    const counted = (of: typeof entries, level: string) => of.filter((one) => one.level === level).length

    test.each([{ script: true }, { script: false }])(
      'has one bar for each slice of time, stacked by level (%o)',
      (look) =>
        at(
          '/log',
          async (page) => {
            const chart = page.getByRole('navigation', {
              name: /^90 entries from [\d:.]+ to [\d:.]+; 10 errors$/,
            })
            const [, from, to] = /from (\S+) to ([^;]+)/.exec((await chart.getAttribute('aria-label'))!)!
            expect(await chart.locator('.note').allInnerTexts()).toEqual(['10 errors', `${from}\n${to}`])
            const bars = await chart.locator('a').evaluateAll((all) =>
              all.map((one) => ({
                name: one.getAttribute('aria-label')!,
                parts: [...one.querySelectorAll('rect:not(.hit)')].map((part) => [
                  part.getAttribute('class')!,
                  Number(part.getAttribute('height')),
                  Number(part.getAttribute('y')) + Number(part.getAttribute('height')),
                ]),
              })),
            )
            const wanted = slices()
            const most = Math.max(...wanted.map(({ length }) => length))
            expect(bars.map(({ name }) => name.match(/^\d+|\d+(?= errors?$)/g)!.map(Number)).toReversed()).toEqual(
              wanted.map((of) => [of.length, counted(of, 'error')]),
            )
            for (const [i, of] of wanted.toReversed().entries()) {
              let bottom = 48
              const parts = Object.entries(tones).flatMap(([level, tone]) => {
                const n = counted(of, level)
                const part = [tone, expect.closeTo(Math.max(1.5, (n / most) * HEIGHT), 1), expect.closeTo(bottom, 1)]
                bottom -= Math.max(n && 1.5, (n / most) * HEIGHT)
                return n > 0 ? [part] : []
              })
              expect(bars[i]!.parts).toEqual(parts)
            }
          },
          look,
        ),
    )

    test('has bars that link to their entries', () =>
      at('/log', async (page) => {
        const links = page.getByRole('navigation', { name: /^90 entries/ }).getByRole('link')
        const hrefs = await links.evaluateAll((all) => all.map((one) => one.getAttribute('href')!))
        const shown: string[][] = []
        for (const href of hrefs) {
          const html = await (await page.request.get(`${site.url}${href}`)).text()
          shown.push([...html.matchAll(/<li id="e(\d+-\d+)">/g)].map(([, id]) => id!).toReversed())
        }
        expect(shown.toReversed()).toEqual(slices().map((of) => of.map(({ id }) => id)))
        await links.last().press('Enter')
        await page.waitForURL(/since=/)
        await page.getByRole('navigation', { name: new RegExp(`^${slices()[0]!.length} entries`) }).waitFor()
        expect(await findings(page, { names: true })).toEqual([])
      }))

    test('neither shifts nor widens the page on a phone', () =>
      at(
        '/log',
        async (page) => {
          // Users come from the login page, so the browser has the fonts.
          await page.reload()
          const shifts = await page.evaluate(
            () =>
              new Promise<number>((resolve) => {
                new PerformanceObserver((list, observer) => {
                  observer.disconnect()
                  resolve(
                    list
                      .getEntries()
                      .reduce((sum, one) => sum + (one as PerformanceEntry & { value: number }).value, 0),
                  )
                }).observe({ type: 'layout-shift', buffered: true })
                setTimeout(resolve, 3_000, 0)
              }),
          )
          expect(shifts).toBe(0)
          expect(await contentWidth(page)).toBe(390)
          expect((await page.locator('.plot svg').boundingBox())!.height).toBe(48)
          expect(await findings(page, { names: true })).toEqual([])
        },
        { width: 390, height: 844 },
      ))
  })

  test('the dot shows the cost and the interval of a refresh', () =>
    at('/limits', async (page) => {
      const dot = page.locator('#live')
      expect(await dot.getAttribute('title')).toBe(
        `At most ${costs['/limits']![1]} commands every 2 s. Click to pause (p)`,
      )
      expect(await dot.locator('.news').innerText()).toBe('· every 2 s')
      await dot.click()
      expect(await dot.getAttribute('title')).toBe('Paused: sends no Redis commands. Click to resume (p)')
    }))
})
