import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'

/** The headless shell comes first, because tests take half as long with it. */
const PROGRAMS = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]

export const program = (): string | undefined => process.env.CHROMIUM || PROGRAMS.find((path) => existsSync(path))

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** With fewer processes, the browser uses less memory and CPU. */
const together = ['--in-process-gpu', '--disable-software-rasterizer', '--renderer-process-limit=1']

/** `apart`: starts a browser with separate GPU and renderer processes, for measurements. */
export const startBrowser = ({ apart = false } = {}): Promise<Browser> =>
  chromium.launch({ executablePath: program()!, headless: true, args: apart ? flags : [...flags, ...together] })

export type Look = {
  theme?: 'light' | 'dark'
  width?: number
  height?: number
  script?: boolean
  still?: boolean
  zone?: string
}

export async function openWindow(browser: Browser, look: Look = {}) {
  const { theme = 'light', width = 1440, height = 1000, script = true, still = true, zone } = look
  const context: BrowserContext = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    javaScriptEnabled: script,
    timezoneId: zone,
    reducedMotion: still ? 'reduce' : 'no-preference',
  })
  const page: Page = await context.newPage()
  const faults: string[] = []
  page.on(
    'console',
    (message) =>
      ['error', 'warning'].includes(message.type()) && faults.push(`${message.text()} ${message.location().url}`),
  )
  page.on('pageerror', (error) => faults.push(String(error)))
  return { context, page, faults }
}

/** Sends the form of the login page without opening the page, which would double the time of most tests. */
export async function logIn({ request }: BrowserContext, url: string, key: string): Promise<void> {
  const headers = { 'sec-fetch-site': 'same-origin' }
  const answer = await request.post(`${url}/ui/login`, { form: { key }, headers, maxRedirects: 0 })
  if (answer.status() !== 303) throw new Error(`login: got ${answer.status()}: ${await answer.text()}`)
}

export async function openLoggedIn(browser: Browser, url: string, key: string, look: Look = {}) {
  const window = await openWindow(browser, look)
  await logIn(window.context, url, key)
  return window
}

export const contentWidth = (page: Page): Promise<number> => page.evaluate(() => document.documentElement.scrollWidth)

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

type Axe = {
  run: (options: object) => Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }>
}

export async function findings(page: Page, { names = false } = {}): Promise<string[]> {
  await page.evaluate(axe)
  const { violations } = await page.evaluate(
    (enabled) =>
      (window as unknown as { axe: Axe }).axe.run({
        runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'],
        // axe disables this rule by default. Users of voice control need it, because they say the visible text.
        rules: { 'label-content-name-mismatch': { enabled } },
        resultTypes: ['violations'],
      }),
    names,
  )
  const isNode = (id: string, html: string): boolean => id === 'label-content-name-mismatch' && html.startsWith('<g ')
  return violations
    .map(({ nodes, ...one }) => ({ ...one, nodes: nodes.filter(({ html }) => !isNode(one.id, html)) }))
    .filter(({ nodes }) => nodes.length > 0)
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0]!.html.slice(0, 160)}`)
}
