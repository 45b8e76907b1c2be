import type { Scope } from '../engine/engine.ts'
import { queryWith } from './words/query.ts'

export { queryWith }

type Theme = 'light' | 'dark'
type Density = 'comfortable' | 'compact'

/** The browser stores likes in cookies, so that the server can apply them. */
export type Preferences = { theme?: Theme; density?: Density; zone: string }

export type Look = Preferences & {
  /** Without a trailing slash. */
  base: string
  host: string
  url: string
  name?: string
  tenant?: string
  now: number
  here: string
  who: { name: string; scopes: readonly Scope[] }
  csrf: string
}

let current: Look | undefined

/** Components are synchronous, so a variable holds the look of the page that is rendered. */
export function htmlOf(look: Look, page: { toString: () => unknown }): string {
  current = look
  try {
    return String(page)
  } finally {
    current = undefined
  }
}

export const documentOf = (look: Look, page: { toString: () => unknown }): string =>
  `<!doctype html>${htmlOf(look, page)}`

export function useLook(): Look {
  if (!current) throw new Error('useLook was called outside of the rendering of a page')
  return current
}

export const may = ({ who: { scopes } }: Look, scope: Scope): boolean =>
  scopes.includes(scope) || scopes.includes('admin')

export const refusalOf = (look: Look, scope: Scope): string | undefined =>
  may(look, scope) ? undefined : `needs the scope ${scope}; your key has ${look.who.scopes.join(', ') || 'none'}`

export type Way = (changes: Record<string, string | undefined>) => string

export function useWay(): Way {
  const [path, search = ''] = useLook().here.split('?')
  return (changes) => `${path}${queryWith(search, changes)}`
}
