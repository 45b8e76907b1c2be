import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pages as table } from '../../src/dashboard/pages/index.ts'
import { missingLabels, paths, serveAllPages, smallControls } from './all-pages.ts'
import { contentWidth, findings, program, startBrowser } from './browser.ts'
import { type Site, visit } from './visit.ts'

const scopes = ['read', 'write'] as const
const cases = paths.flatMap((path) => scopes.map((scope) => [path, scope] as const))

describe.skipIf(!program())('in a browser', { timeout: 90_000 }, () => {
  let site: Site
  let browser: Browser
  let pathOf: (path: string) => string
  const keys: Record<string, string> = {}

  beforeAll(async () => {
    ;({ site, pathOf } = await serveAllPages())
    for (const scope of scopes) keys[scope] = (await site.engine.keys.add({ name: scope, scopes: [scope] })).key
    browser = await startBrowser()
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  const neededOf = (path: string) => table.find((one) => one.path === path)?.scope ?? 'read'

  test.each(cases)('%s behaves equally well for a key with only the scope %s', (path, scope) =>
    visit(browser, site, { path: pathOf(path), as: keys[scope]!, allowed: /status of 403/ }, async (page, status) => {
      const needed = neededOf(path)
      expect(status).toBe(needed === scope ? 200 : 403)
      if (needed !== scope) expect(await page.locator('main').innerText()).toContain(`needs the scope "${needed}"`)
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
      if (scope === 'write') return
      await page.setViewportSize({ width: 1_440, height: 1_000 })
      await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
      expect(await findings(page, { names: true })).toEqual([])
    }),
  )
})
