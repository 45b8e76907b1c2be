import type { Browser, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Scope } from '../../src/engine/engine.ts'
import { type Look, logIn, openWindow } from './browser.ts'
import { KEY } from './kit.ts'
import type { serve } from './served.ts'

export type Site = Awaited<ReturnType<typeof serve>>

export type Visit = Look & {
  path: string
  /** A list of scopes creates a key. A string is an existing key. */
  as?: Scope[] | string
  allowed?: RegExp
  clipboard?: boolean
  before?: (page: Page) => Promise<unknown> | unknown
  ready?: string
}

async function keyOf({ engine }: Site, who: Scope[] | string): Promise<string> {
  if (typeof who === 'string') return who
  return (await engine.keys.add({ name: who.join('-'), scopes: who })).key
}

export type Visitor = Awaited<ReturnType<typeof arrive>>

export async function arrive(browser: Browser, site: Site, about: Visit) {
  const { path, as: who = KEY, allowed, clipboard, before, ready, ...look } = about
  const window = await openWindow(browser, look)
  const { context, page } = window
  if (clipboard) await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: site.url })
  await logIn(context, site.url, await keyOf(site, who))
  await before?.(page)
  const answer = await page.goto(`${site.url}/ui${path}`)
  if (ready) await page.waitForSelector(ready)
  return { ...window, allowed, status: answer!.status() }
}

export async function leave({
  context,
  faults,
  allowed,
}: Pick<Visitor, 'context' | 'faults'> & { allowed?: RegExp }): Promise<void> {
  await context.close()
  expect(faults.filter((fault) => !allowed?.test(fault))).toEqual([])
}

/** An open window would keep sending requests, so it is closed even after an error. */
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

export const visits =
  (at: () => [Browser, Site], usual: Partial<Visit> = {}) =>
  (scopes: Scope[], path: string, use: Use, about: Partial<Visit> = {}): Promise<void> =>
    visit(...at(), { ...usual, ...about, path, as: scopes }, use)
