// A visit to a page in a browser: somebody comes with a session, uses the page, and leaves. Whatever the browser has complained
// of by then is a fault: errors and warnings of its console, where a breach of the policy is told too.

import type { Browser, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Scope } from '../../src/engine/engine.ts'
import { type Look, loginLink, openWindow } from './browser.ts'
import { KEY } from './kit.ts'
import type { serve } from './served.ts'

export type Site = Awaited<ReturnType<typeof serve>>

export type Visit = Look & {
  path: string
  /** Who comes: the scopes of a key that is made for it, or a key; nobody said is who has the key of the deployment. */
  as?: Scope[] | string
  /** What the browser may complain of, because of what is done there. */
  allowed?: RegExp
  /** Whether what is copied can be read. */
  clipboard?: boolean
  /** Done before the page is asked for. */
  before?: (page: Page) => Promise<unknown> | unknown
  /** What has to be there before the page is used: a selector. */
  ready?: string
}

async function keyOf({ engine }: Site, who: Scope[] | string): Promise<string> {
  if (typeof who === 'string') return who
  return (await engine.keys.add({ name: who.join('-'), scopes: who })).key
}

export type Visitor = Awaited<ReturnType<typeof arrive>>

/** A window at a page, which `leave` closes. The link that logs in leads there at once. */
export async function arrive(browser: Browser, site: Site, about: Visit) {
  const { path, as: who = KEY, allowed, clipboard, before, ready, ...look } = about
  const window = await openWindow(browser, look)
  const { context, page } = window
  if (clipboard) await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: site.url })
  const link = await loginLink(site.url, await keyOf(site, who))
  await before?.(page)
  await page.goto(`${link}&to=${encodeURIComponent(path)}`)
  const [answer] = await Promise.all([
    page.waitForResponse((response) => response.request().isNavigationRequest() && response.status() !== 303),
    page.getByRole('button', { name: /^Log in as/ }).click(),
  ])
  // Keys that are pressed before the scripts of the page run are lost.
  await page.waitForLoadState()
  if (ready) await page.waitForSelector(ready)
  return { ...window, allowed, status: answer.status() }
}

export async function leave({
  context,
  faults,
  allowed,
}: Pick<Visitor, 'context' | 'faults'> & { allowed?: RegExp }): Promise<void> {
  await context.close()
  expect(faults.filter((fault) => !allowed?.test(fault))).toEqual([])
}

/**
 * Also where something is not as it should be the window is closed: it would go on asking while others are looked at.
 *
 * @example await visit(browser, site, { path: '/jobs', as: ['read'] }, (page) => page.getByText('7 jobs').waitFor())
 */
export async function visit(
  browser: Browser,
  site: Site,
  about: Visit,
  use: (page: Page, status: number) => Promise<unknown>,
): Promise<void> {
  const window = await arrive(browser, site, about)
  try {
    await use(window.page, window.status)
  } catch (error) {
    await window.context.close()
    throw error
  }
  await leave(window)
}

type Use = (page: Page, status: number) => Promise<unknown>

/**
 * Visits of somebody with a key of these scopes, all in one browser to one site. `usual`: what holds for each of them.
 *
 * @example const as = visits(() => [browser, site]); await as(['read'], '/jobs', (page) => page.getByText('7 jobs').waitFor())
 */
export const visits =
  (at: () => [Browser, Site], usual: Partial<Visit> = {}) =>
  (scopes: Scope[], path: string, use: Use, about: Partial<Visit> = {}): Promise<void> =>
    visit(...at(), { ...usual, ...about, path, as: scopes }, use)
