import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { missingLabels, paths, serveAllPages, smallControls, widerThanCard } from './all-pages.ts'
import { contentWidth, program, startBrowser } from './browser.ts'
import { arrive, leave, type Site, type Visitor } from './visit.ts'

describe.skipIf(!program())('in a browser', { timeout: 90_000 }, () => {
  let site: Site
  let browser: Browser
  let pathOf: (path: string) => string

  beforeAll(async () => {
    ;({ site, pathOf } = await serveAllPages())
    browser = await startBrowser()
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  describe.each(paths)('%s', (path) => {
    let window: Visitor
    const seenIn = async (width: number, height = 1_000): Promise<Page> => {
      await window.page.setViewportSize({ width, height })
      return window.page
    }
    beforeAll(async () => {
      window = await arrive(browser, site, { path: pathOf(path) })
    }, 90_000)
    afterAll(() => leave(window))

    test('has tables with a caption and headers, buttons with different names, and machine-readable times', async () => {
      expect(await missingLabels(await seenIn(1_440))).toEqual([])
    })

    test('at 1,280 pixels no content of a card is wider than the card, where it would cover the next card', async () => {
      expect(await widerThanCard(await seenIn(1_280, 800))).toEqual([])
    })

    test('fits into widths from 320 pixels, also with letters of twice the size', async () => {
      for (const width of [1_000, 768, 640, 320])
        expect(await contentWidth(await seenIn(width))).toBeLessThanOrEqual(width)
    })

    test('has controls that are large enough for a thumb', async () => {
      expect(await smallControls(await seenIn(390, 844))).toEqual([])
    })

    test('shows the keyboard focus', async () => {
      const page = await seenIn(1_440)
      await page.keyboard.press('Tab')
      const hidden = await page.evaluate(() =>
        [...document.querySelectorAll<HTMLElement>('a, button, summary, select, textarea, input:not([type=hidden])')]
          .filter((one) => one.checkVisibility() && !one.closest('.board') && !one.matches(':disabled'))
          .filter((one) => {
            one.focus()
            const ringed = [one, one.closest('.find, .filter')].filter((ring) => ring !== null)
            return !ringed.some((ring) => getComputedStyle(ring).outlineStyle === 'solid')
          })
          .map((one) => one.outerHTML.slice(0, 100)),
      )
      expect(hidden).toEqual([])
    })
  })
})
