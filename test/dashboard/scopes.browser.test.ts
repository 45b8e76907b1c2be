import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { missingLabels, paths, serveAllPages, smallControls } from './all-pages.ts'
import { contentWidth, findings, program, startBrowser } from './browser.ts'
import { type Site, visit } from './visit.ts'

describe.skipIf(!program())('in a browser', { timeout: 90_000 }, () => {
  let site: Site
  let browser: Browser
  let pathOf: (path: string) => string
  let reader: string

  beforeAll(async () => {
    ;({ site, pathOf } = await serveAllPages())
    reader = (await site.engine.keys.add({ name: 'reader', scopes: ['read'] })).key
    browser = await startBrowser()
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  async function expectGood(page: Page): Promise<void> {
    expect(await missingLabels(page)).toEqual([])
    const silent = await page.evaluate(() =>
      [...document.querySelectorAll<HTMLButtonElement>('main form[method=post] button:disabled')]
        .filter(({ title }) => !title)
        .map((one) => one.outerHTML.slice(0, 100)),
    )
    expect(silent).toEqual([])
    expect(await findings(page, { names: true })).toEqual([])
    for (const width of [640, 390, 320]) {
      await page.setViewportSize({ width, height: 844 })
      expect(await contentWidth(page)).toBeLessThanOrEqual(width)
      if (width === 390) expect(await smallControls(page)).toEqual([])
    }
    await page.setViewportSize({ width: 1_440, height: 1_000 })
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
    expect(await findings(page)).toEqual([])
  }

  test.each(paths)('%s behaves equally well for a key with only the scope read', (path) =>
    visit(browser, site, { path: pathOf(path), as: reader }, async (page, status) => {
      expect(status).toBe(200)
      await expectGood(page)
    }),
  )

  test('a page behaves equally well for a key without the scope read', () =>
    visit(browser, site, { path: '/jobs', as: ['write'], allowed: /status of 403/ }, async (page, status) => {
      expect(status).toBe(403)
      expect(await page.locator('main').innerText()).toContain('needs the scope read; your key has write')
      await expectGood(page)
    }))
})
