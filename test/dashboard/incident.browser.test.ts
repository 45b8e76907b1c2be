// Follows docs/incident.md.

import { readFileSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openLoggedIn, program, startBrowser } from './browser.ts'
import { FAILED, playIncident, type Shop, type Stage, startShop, versions } from './incident.ts'

describe.skipIf(!program())('a failing deploy', { timeout: 180_000 }, () => {
  let shop: Shop
  let browser: Browser

  beforeAll(async () => {
    shop = await startShop()
    browser = await startBrowser()
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await shop?.close()
  })

  test('is found by its alert, explained by its page, rolled back, and closed', async () => {
    await shop.deploy(versions.good)
    const { context, page, faults } = await openLoggedIn(browser, shop.url, shop.key)
    const said: Partial<Record<Stage, string>> = {}
    await playIncident(shop, page, async (stage) => {
      said[stage] = await page.locator('main').innerText()
    })
    const [begins, over] = shop.messages()
    expect(begins).toMatch(new RegExp(`^${FAILED} jobs of charge failed in the last 15 minutes`))
    expect(begins).toContain("Cannot read properties of undefined (reading 'amount')")
    expect(over).toMatch(/^Resolved: \d+ jobs of charge failed/)
    expect(said.overview).toContain(`${FAILED} jobs of charge failed`)
    expect(said.jobs).toContain(String(FAILED))
    expect(said.job).toContain("Cannot read properties of undefined (reading 'amount')")
    expect(said.job).toMatch(/src\/charge\.ts:\d+:\d+/)
    expect(said.job).toMatch(/> +10 \| +const \{ value, currency \} = job\.args\.total\.amount/)
    expect(said.job).toMatch(/Deploy\s+88f62d2b\s+[\s\S]*by\s+Ben Ode/)
    expect(said.job).toMatch(/Last successful job[\s\S]*a41c07e9/)
    expect(said.deploys).toContain('charge')
    expect(said.over).toContain('All quiet')
    expect(faults).toEqual([])
    await context.close()
  })

  test('the page of the manual has a picture of each stage that it shows, of at most 60 KB', () => {
    const docs = new URL('../../docs/', import.meta.url)
    const text = readFileSync(new URL('incident.md', docs), 'utf8')
    const pictures = [...text.matchAll(/!\[[^\]]+\]\((pictures\/incident\/\w+\.webp)\)/g)].map(([, file]) => file!)
    expect(pictures).toHaveLength(4)
    for (const file of pictures) expect(readFileSync(new URL(file, docs)).length, file).toBeLessThan(60_000)
  })
})
