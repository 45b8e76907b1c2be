// The filter of Jobs: tokens that are the query string.

import { isId, type Status, statuses } from '../../core/job.ts'
import type { JobFilter } from '../../engine/engine.ts'
import { lengthOf } from './time.ts'

/** The members of the query that choose jobs, in the order in which their tokens stand. */
export const filters = [
  ...(['status', 'queue', 'class', 'group', 'tag', 'callback', 'parent', 'alias', 'error'] as const),
  ...(['since', 'until', 'longer', 'waits', 'text'] as const),
] as const
/** `since=deploy`: from the moment on at which classes changed last. */
export const DEPLOY = 'deploy'

export type FilterName = (typeof filters)[number]

export type Token = { name: FilterName; value: string }

export const tokensOf = (query: URLSearchParams): Token[] =>
  filters.flatMap((name) => {
    const value = query.get(name)
    return value ? [{ name, value }] : []
  })

/** What moments in filters count from. */
export type Moments = { now: number; deployedAt?: number }

/** A moment as filters write it: `6h` ago, `deploy`, or the moment itself. */
function momentOf(text: string, { now, deployedAt }: Moments): number | undefined {
  if (text === DEPLOY) return deployedAt
  const ago = lengthOf(text)
  if (ago !== undefined) return now - ago
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : at
}

const isStatus = (text: string): text is Status => statuses.includes(text as Status)
const oneOf = <T extends string>(of: readonly T[], text: string): T | undefined => of.find((one) => one === text)

/** How the value of a token is understood; nothing where it is none that there can be. */
const readers: Record<FilterName, (text: string, moments: Moments) => unknown> = {
  status(text) {
    const found = text.split(',').filter(isStatus)
    return found.length > 1 ? found : found[0]
  },
  ...{ queue: String, class: String, group: String, tag: String, parent: String, alias: String, error: String },
  callback: (text) => oneOf(['PENDING', 'DELIVERED', 'FAILED'], text),
  since: momentOf,
  until: momentOf,
  longer: lengthOf,
  waits: (text) => oneOf(['limit', 'retry'], text),
  text: (text) => text.slice(0, 200),
}

/** What the engine is asked for; what cannot be understood is left out. */
export function filterOf(query: URLSearchParams, moments: Moments): JobFilter {
  const found = tokensOf(query).map(({ name, value }) => [name, readers[name](value, moments)] as const)
  const cursor = query.get('cursor')
  return Object.fromEntries([...found, ['cursor', cursor || undefined]].filter(([, value]) => value !== undefined))
}

/**
 * What somebody typed, as members of a query: `queue:media`, a status, `#17`; other words are a class.
 *
 * @example typed('failed queue:media') // { status: 'failed', queue: 'media' }
 */
export function typed(text: string): Partial<Record<FilterName | 'job', string>> {
  const found: Partial<Record<FilterName | 'job', string>> = {}
  for (const word of text.trim().split(/\s+/).filter(Boolean)) {
    const [, name, value] = /^([a-z]+):(.+)$/.exec(word) ?? []
    if (name && (filters as readonly string[]).includes(name)) found[name as FilterName] = value
    else if (word.split(',').every(isStatus)) found.status = word
    else if (isId(word.replace(/^#/, ''))) found.job = word.replace(/^#/, '')
    else found.class = word
  }
  return found
}
