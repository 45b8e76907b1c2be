import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { encodeValue } from '../../src/core/codec/value.ts'
import { startReceiver } from '../kit/receiver.ts'
import { serveAllPages, widerThanCard } from './all-pages.ts'
import { program, startBrowser } from './browser.ts'
import { type Site, visit } from './visit.ts'

describe.skipIf(!program())('in a browser', { timeout: 90_000 }, () => {
  let site: Site
  let browser: Browser
  let ids: Record<string, number>

  beforeAll(async () => {
    ;({ site, ids } = await serveAllPages())
    browser = await startBrowser()
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  test('at 1,024 pixels the page of a class has room for its ports and its form', () =>
    visit(browser, site, { path: '/workers/media/resize', width: 1_024 }, async (page) => {
      const widths = await page.evaluate(() =>
        [...document.querySelectorAll('.cols > .stack')].map((one) => one.getBoundingClientRect().width),
      )
      expect(widths).toHaveLength(2)
      expect(Math.min(...widths)).toBeGreaterThan(300)
    }))

  test.each(['/jobs?status=failed', '/jobs', '/limits', '/deploys', '/queues'])(
    'at 1,024 pixels no button, link or head of %s is cut by its card',
    (path) =>
      visit(browser, site, { path, width: 1_024 }, async (page) => {
        const { all, cut } = await page.evaluate(() => {
          const all = [
            ...document.querySelectorAll<HTMLElement>('main .card :is(a, button, summary, th), .counts span'),
          ]
            .filter((one) => one.checkVisibility() && !one.closest('.vh'))
            .filter((one) => one.tagName === 'TH' || !one.closest('.fill, .clip'))
          const cut = all.filter((one) => {
            const [own, card] = [one, one.closest('.card, .counts > a')!].map((part) => part.getBoundingClientRect())
            return own!.right > card!.right + 1 || own!.left < card!.left - 1
          })
          return { all: all.length, cut: cut.map((one) => one.outerHTML.slice(0, 100)) }
        })
        expect(all).toBeGreaterThan(3)
        expect(cut).toEqual([])
      }),
  )

  test('on a phone the whole text of an error and of a log line is visible', async () => {
    const long = `card declined ${JSON.stringify({ code: 'decline_code', detail: 'x'.repeat(300) })}`
    await site.engine.log.write(JSON.stringify({ message: long }) as never)
    const id = await site.make('says', { args: JSON.stringify(long) })
    await site.rest(id)
    for (const [path, selector] of [
      [`/jobs/${id}`, 'main .fault b'],
      ['/log', '.log .clip'],
    ] as const)
      await visit(browser, site, { path, width: 390 }, async (page) => {
        const cut = await page
          .locator(selector)
          .first()
          .evaluate((one) => one.scrollWidth > one.clientWidth + 1 || one.getBoundingClientRect().right > innerWidth)
        expect(cut).toBe(false)
      })
  })

  test('the value of a port was cut, although its row had room', async () => {
    const url = 'https://cdn.example.com/uploads/2026/900.heic'
    const id = await site.make('waits', { inputs: { n: [encodeValue(url)] } })
    await visit(browser, site, { path: `/jobs/${id}` }, async (page) => {
      const value = page.locator('.ports .val', { hasText: url })
      expect(await value.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0)
    })
  })

  describe('on a phone', () => {
    const phone = { width: 390, height: 844 }
    let receiver: Awaited<ReturnType<typeof startReceiver>>
    let id: number
    beforeAll(async () => {
      receiver = await startReceiver((_, response) => response.writeHead(503).end())
      const callback = { url: `${receiver.url}/hook`, retry: [] }
      id = await site.make('fails', { callback })
      await site.until(async () =>
        (await site.engine.callbacks.list({ state: 'FAILED' })).callbacks.some(({ of }) => of === id),
      )
    })
    afterAll(() => receiver?.close())

    test.each([
      ['runs of a job', () => `/jobs/${id}?tab=runs`, '#tabs'],
      ['attempts of a callback', () => `/callbacks?open=${id}`, '#tries'],
    ])('the rows of the %s broke inside words, and their last columns were cut', (_, path, card) =>
      visit(browser, site, { ...phone, path: path() }, async (page) => {
        const cells = page.locator(`${card} td:visible`)
        expect(await cells.count()).toBeGreaterThan(4)
        const bad = await cells.evaluateAll((all) => {
          const linesOf = (text: Node, { index, 0: word }: RegExpExecArray) => {
            const range = document.createRange()
            range.setStart(text, index)
            range.setEnd(text, index + word.length)
            return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size
          }
          const isBroken = (cell: Element) => {
            const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT)
            while (texts.nextNode()) {
              const text = texts.currentNode
              if ([...text.textContent!.matchAll(/\S+/g)].some((word) => linesOf(text, word) > 1)) return true
            }
            return false
          }
          return all
            .filter((cell) => isBroken(cell) || cell.getBoundingClientRect().right > innerWidth)
            .map((cell) => cell.textContent)
        })
        expect(bad).toEqual([])
      }),
    )

    test('the state and the name of a host that is not called were cut', async () => {
      const settings = { threshold: 3, base: 60_000, cap: 60_000, probing: 5_000 }
      const { host } = new URL(receiver.url)
      const long = `hooks.${'orders.'.repeat(6)}example`
      for (const name of [host, long]) for (const _ of [1, 2, 3]) await site.store.breaker(name, 'failed', settings)
      try {
        await visit(browser, site, { ...phone, path: `/callbacks?open=${id}` }, async (page) => {
          const state = page.locator('#tries dd .st', { hasText: 'failures in a row' })
          expect(await state.evaluate((one) => one.getBoundingClientRect().right <= innerWidth)).toBe(true)
        })
        await visit(browser, site, { ...phone, path: '/limits' }, async (page) => {
          const row = page.locator('.limit', { hasText: 'hooks.orders' })
          const [name, button] = [await row.locator('b').boundingBox(), await row.locator('.acts .btn').boundingBox()]
          expect(name!.x + name!.width).toBeLessThanOrEqual(button!.x)
        })
      } finally {
        for (const name of [host, long]) await site.store.breaker(name, 'succeeded', settings)
      }
    })

    test('the host of a callback covered the state of its circuit breaker', () =>
      visit(browser, site, { ...phone, path: `/callbacks?open=${id}` }, async (page) => {
        const host = page.locator('#tries dd', { hasText: 'circuit breaker' })
        const { lines, covered } = await host.evaluate((one) => {
          const link = one.querySelector('a')!
          const [own, rest] = [document.createRange(), document.createRange()]
          own.selectNodeContents(link)
          rest.selectNodeContents(one)
          rest.setStartAfter(link)
          const lines = [...rest.getClientRects()].filter(({ width }) => width > 0)
          const covers = (a: DOMRect, b: DOMRect) =>
            a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1
          const covered = lines.filter((line) => [...own.getClientRects()].some((part) => covers(part, line)))
          return { lines: lines.length, covered: covered.length }
        })
        expect(lines).toBeGreaterThan(0)
        expect(covered).toBe(0)
      }))

    test('nothing led to the search', () =>
      visit(browser, site, { ...phone, path: '/' }, async (page) => {
        await page.getByRole('link', { name: 'Search', exact: true }).click()
        await page.waitForURL(/\/find$/)
        await page.locator('main input[type="search"]:focus').waitFor()
      }))
  })

  test('Workers lists own classes before the standard library, classes with failures first', () =>
    visit(browser, site, { path: '/workers' }, async (page) => {
      const queues = await page.locator('.classes th[scope="rowgroup"] > a').allTextContents()
      expect(queues.indexOf('media')).toBeLessThan(queues.indexOf('core'))
      const own = await page.locator('.classes').first().locator('td.fill').allInnerTexts()
      expect(own).toContain('pulled')
      expect(own[0]).toBe('fails')
    }))

  test('the number of failed jobs of a queue is red, the number at limits is not', () =>
    visit(browser, site, { path: '/queues' }, async (page) => {
      const row = page.locator('main tbody > tr', { hasText: 'default' }).first()
      const links = row.locator('td a')
      const kinds = await links.evaluateAll((all) =>
        all.map((one) => [new URL((one as HTMLAnchorElement).href).pathname, one.className]),
      )
      expect(kinds).toContainEqual(['/ui/limits', ''])
      expect(kinds).toContainEqual(['/ui/jobs', 'up'])
    }))

  test('the list of flows was wider than its card when a value had waited for a minute', async () => {
    const real = Date.now
    const later = vi.spyOn(Date, 'now').mockImplementation(() => real() + 5 * 60_000)
    try {
      await visit(browser, site, { path: '/flows' }, async (page) => {
        await page.setViewportSize({ width: 1_280, height: 800 })
        const held = page.locator(`#row-${ids.flow} [data-head="held by"]`)
        expect(await held.textContent()).toMatch(/^images /)
        expect(await widerThanCard(page)).toEqual([])
      })
    } finally {
      later.mockRestore()
    }
  })
})
