// The browser reports requests late, so the page itself counts its requests.

import type { Page } from 'playwright-core'

export type Counts = { looks: number; heard: number; grounds: string[] }
type Counting = Window & { counts: Counts }

export const count = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    const counts: Counts = { looks: 0, heard: 0, grounds: [] }
    Object.assign(window, { counts })
    const { fetch } = window
    window.fetch = (...given) => {
      if (new Headers(given[1]?.headers).has('x-live')) counts.looks += 1
      return fetch(...given)
    }
    const { addEventListener } = EventSource.prototype
    EventSource.prototype.addEventListener = function (this: EventSource, ...given: [string, never]) {
      if (given[0] === 'message') addEventListener.call(this, 'message', () => (counts.heard += 1))
      addEventListener.apply(this, given)
    }
    const { animate } = Element.prototype
    Element.prototype.animate = function (this: Element, ...given) {
      counts.grounds.push(this.textContent ?? '')
      return animate.apply(this, given)
    }
  })

export const countsOf = (page: Page): Promise<Counts> =>
  page.evaluate(() => structuredClone((window as unknown as Counting).counts))

export const above = (page: Page, name: 'looks' | 'heard', than: number): Promise<unknown> =>
  page.waitForFunction(([of, n]) => (window as unknown as Counting).counts[of] > n, [name, than] as const)

export async function isQuiet(page: Page, ms: number): Promise<boolean> {
  const { looks } = await countsOf(page)
  await page.clock.runFor(ms)
  return (await countsOf(page)).looks === looks
}
