// The filter of Jobs: tokens that are the query string.

import { isId, type Status, statuses } from '../../core/job.ts'
import type { JobFilter } from '../../engine/engine.ts'

/** The members of the query that choose jobs, in the order in which their tokens stand. */
export const filters = ['status', 'queue', 'class', 'group', 'parent', 'alias', 'error'] as const
export type FilterName = (typeof filters)[number]

export type Token = { name: FilterName; value: string }

export const tokensOf = (query: URLSearchParams): Token[] =>
  filters.flatMap((name) => {
    const value = query.get(name)
    return value ? [{ name, value }] : []
  })

/** What the engine is asked for; a status that there is not is left out. */
export function filterOf(query: URLSearchParams): JobFilter {
  const found = Object.fromEntries(tokensOf(query).map(({ name, value }) => [name, value])) as JobFilter
  if (found.status && !statuses.includes(found.status as Status)) delete found.status
  const cursor = query.get('cursor')
  return { ...found, ...(cursor ? { cursor } : {}) }
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
    else if (statuses.includes(word as Status)) found.status = word
    else if (isId(word.replace(/^#/, ''))) found.job = word.replace(/^#/, '')
    else found.class = word
  }
  return found
}
