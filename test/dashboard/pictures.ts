// `npm run docs:pictures` takes all pictures of the manual: light, dark and on a phone.
// `npm run docs:pictures incident` takes only the pictures of docs/incident.md.
// `node test/dashboard/pictures.ts <url> <key> <folder> <job> <flow> [page …]` takes pictures of a running stack.

import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { startWorkerd } from '../e2e/workerd/kit.ts'
import { openLoggedIn, openWindow, startBrowser } from './browser.ts'
import { playIncident, startShop, versions } from './incident.ts'
import { callerOf, seed } from './seed.ts'
import { seedOutside, startOutside } from './seed-outside.ts'
import { before, gallery, looks, type Shown, shownPages } from './shown.ts'

const docs = join(import.meta.dirname, '../../docs')

/** Overview reports a full limit after five minutes. */
const SETTLED_MS = 5.5 * 60_000

type Site = { url: string; key: string }
type Taken = (page: Page, name: string) => Promise<unknown>

async function look(browser: Browser, { url, key }: Site, pages: Shown[], take: Taken, isIn = true): Promise<void> {
  for (const look of looks) {
    const { context, page, faults } = isIn
      ? await openLoggedIn(browser, url, key, look)
      : await openWindow(browser, look)
    for (const { name, path } of pages) {
      // Some pages read their lower part only after the first request, so open the page twice.
      for (const _ of [1, 2]) await page.goto(`${url}/ui${path}`)
      await page.evaluate(() => document.fonts.ready.then(() => undefined))
      await take(page, `${name}-${look.name}`)
    }
    if (faults.length > 0) console.error(`${look.name}: ${faults.join('\n')}`)
    await context.close()
  }
}

const asPng =
  (folder: string): Taken =>
  (page, name) =>
    page.screenshot({ path: join(folder, `${name}.png`) })

/** WebP needs a fifth of the bytes of PNG. */
const asWebp =
  (folder: string): Taken =>
  async (page, name) => {
    const browser = await page.context().newCDPSession(page)
    const { data } = await browser.send('Page.captureScreenshot', { format: 'webp', quality: 80 })
    writeFileSync(join(folder, `${name}.webp`), Buffer.from(data, 'base64'))
  }

async function takeManual(): Promise<void> {
  const [folder, all] = [join(docs, 'pictures'), join(docs, 'pictures/pages')]
  const named = readdirSync(folder).filter((file) => file.endsWith('.png'))
  rmSync(all, { recursive: true, force: true })
  mkdirSync(all)
  const workerd = await startWorkerd()
  const site = { url: workerd.stack.url, key: workerd.stack.apiKey }
  const browser = await startBrowser()
  const [login, firstMinute] = before as [Shown, Shown]
  await look(browser, site, [login], asWebp(all), false)
  await look(browser, site, [firstMinute], asWebp(all))
  const outside = await startOutside()
  const { order, flow } = await seed(site.url, site.key)
  await seedOutside(callerOf(site.url, site.key), outside.url)
  console.log(`a state of ${SETTLED_MS / 60_000} minutes becomes a problem: waiting until then`)
  await new Promise((resolve) => setTimeout(resolve, SETTLED_MS))
  const [png, webp] = [asPng(folder), asWebp(all)]
  await look(browser, site, shownPages(order, flow), async (page, name) => {
    await webp(page, name)
    if (named.includes(`${name}.png`)) await png(page, name)
  })
  await browser.close()
  await workerd.close()
  await outside.close()
  writeFileSync(join(docs, 'pages.md'), gallery())
  console.log(`${readdirSync(all).length} pictures in docs/pictures/pages, ${named.length} in docs/pictures`)
}

async function takeIncident(): Promise<void> {
  const folder = join(docs, 'pictures/incident')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  const [browser, shop] = [await startBrowser(), await startShop()]
  await shop.deploy(versions.good)
  const { page } = await openLoggedIn(browser, shop.url, shop.key, { width: 1200, height: 760 })
  const take = asWebp(folder)
  await playIncident(shop, page, async (stage) => {
    if (stage !== 'jobs') await take(page, stage)
  })
  await browser.close()
  await shop.close()
}

async function takeSome({ url, key }: Site, folder: string, pages: Shown[]): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const browser = await startBrowser()
  await look(browser, { url, key }, pages, asPng(folder))
  await browser.close()
}

const [url, key, folder, order = '0', flow = '0', ...only] = process.argv.slice(2)
const wanted = ({ name }: Shown) => only.length === 0 || only.includes(name)
if (!url) await takeManual()
if (!url || url === 'incident') await takeIncident()
else if (key && folder) await takeSome({ url, key }, folder, shownPages(Number(order), Number(flow)).filter(wanted))
else throw new Error('expected: pictures.ts <url> <key> <folder> <job> <flow> [page …]')
