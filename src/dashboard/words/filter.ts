import { ended, isId, type Status, statuses } from '../../core/job.ts'
import { parseDuration } from '../../core/time.ts'
import type { JobFilter } from '../../engine/engine.ts'
import { dateIn } from './text.ts'

const filters = [
  ...(['status', 'queue', 'class', 'group', 'tag', 'callback', 'parent', 'alias', 'error'] as const),
  ...(['since', 'until', 'ended', 'longer', 'waits', 'text'] as const),
] as const
export const DEPLOY = 'deploy'

type FilterName = (typeof filters)[number]

const maps = ['args', 'labels'] as const
type InMap = `${(typeof maps)[number]}.${string}`

export type Token = { name: FilterName | InMap; value: string }

export const isInMap = (name: string): name is InMap =>
  maps.some((map) => name.startsWith(`${map}.`) && name.length > map.length + 1)

export const tokensOf = (query: URLSearchParams): Token[] => [
  ...filters.flatMap((name) => {
    const value = query.get(name)
    return value ? [{ name, value }] : []
  }),
  ...[...query].flatMap(([name, value]) => (isInMap(name) && value ? [{ name, value }] : [])),
]

export function mapsOf(query: URLSearchParams): { [Map in (typeof maps)[number]]?: Record<string, string> } {
  const found: Record<string, Record<string, string>> = {}
  for (const [name, value] of query) {
    const [map, key] = [name.slice(0, name.indexOf('.')), name.slice(name.indexOf('.') + 1)]
    if (isInMap(name) && value) found[map] = { ...found[map], [key]: value }
  }
  return found
}

const PASSING = ['cursor', 'bulk', 'q', 'sel']

export function viewOf(query: URLSearchParams): string {
  const own = new URLSearchParams(query)
  for (const name of PASSING) own.delete(name)
  return own.toString()
}

export type Moments = { now: number; deployedAt?: number }

export function momentOf(text: string, { now, deployedAt }: Moments): number | undefined {
  if (text === DEPLOY) return deployedAt
  const ago = parseDuration(text)
  return ago === undefined ? dateIn(text) : now - ago
}

const isStatus = (text: string): text is Status => statuses.includes(text as Status)
const oneOf = <T extends string>(of: readonly T[], text: string): T | undefined => of.find((one) => one === text)

const readers: Partial<Record<FilterName, (text: string, moments: Moments) => unknown>> = {
  status(text) {
    const found = text.split(',').filter(isStatus)
    return found.length > 1 ? found : found[0]
  },
  callback: (text) => oneOf(['PENDING', 'DELIVERED', 'FAILED'], text),
  since: momentOf,
  until: momentOf,
  ended: () => undefined,
  longer: parseDuration,
  waits: (text) => oneOf(['limit', 'retry', 'function'], text),
  text: (text) => text.slice(0, 200),
}

/** With these filters, lists can only be ordered by id. */
const unsorted: readonly FilterName[] = ['parent', 'alias', 'error', 'text']

export function canSort(query: URLSearchParams): boolean {
  const found = (query.get('status') ?? '').split(',').filter(isStatus)
  const isPlain = !unsorted.some((name) => query.get(name)) && !tokensOf(query).some(({ name }) => isInMap(name))
  return found.every((status) => ended.has(status)) && isPlain
}

export const isSorted = (query: URLSearchParams): boolean =>
  (query.get('sort') === 'ended' || stretchIn(query, 0) !== undefined) && canSort(query)

type Stretch = { from: number; to: number }

export const stretchText = ({ from, to }: Stretch): string =>
  [from, to].map((at) => new Date(at).toISOString().replace(':00.000Z', 'Z')).join('/')

/** Reads `ended=2026-11-22T03:02Z/2026-11-22T03:06Z`, or `ended=6h` (up to now). */
export function stretchIn(query: URLSearchParams, now: number): Stretch | undefined {
  const ago = parseDuration(query.get('ended') ?? '')
  if (ago !== undefined) return { from: now - ago, to: Infinity }
  const [from, to] = (query.get('ended') ?? '').split('/').map((text) => Date.parse(text))
  return from !== undefined && to !== undefined && from < to ? { from, to } : undefined
}

export function filterOf(query: URLSearchParams, moments: Moments): JobFilter {
  const found = tokensOf(query).flatMap(({ name, value }) =>
    isInMap(name) ? [] : [[name, (readers[name] ?? String)(value, moments)] as const],
  )
  const sort = isSorted(query) ? 'ended' : undefined
  const stretch = stretchIn(query, moments.now)
  const below = sort && stretch && stretch.to !== Infinity ? `${stretch.to}.0.0` : undefined
  const cursor = query.get('cursor') || below
  const fits = cursor?.includes('.') === (sort !== undefined)
  const all = [...found, ['sort', sort], ['cursor', fits ? cursor : undefined]] as const
  return { ...Object.fromEntries(all.filter(([, value]) => value !== undefined)), ...mapsOf(query) }
}

/** @example typed('failed queue:media') // { status: 'failed', queue: 'media' } */
export function typed(text: string): Partial<Record<Token['name'] | 'job', string>> {
  const found: Partial<Record<Token['name'] | 'job', string>> = {}
  for (const word of text.trim().split(/\s+/).filter(Boolean)) {
    const [, name, value] = /^([a-z]+|(?:args|labels)\.[^:]+):(.+)$/.exec(word) ?? []
    if (name && (isInMap(name) || (filters as readonly string[]).includes(name))) found[name as Token['name']] = value
    else if (word.split(',').every(isStatus)) found.status = word
    else if (isId(word.replace(/^#/, ''))) found.job = word.replace(/^#/, '')
    else found.class = word
  }
  return found
}
