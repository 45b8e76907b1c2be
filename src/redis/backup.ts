// The backup uses Redis directly, because a copy is needed most when no deployment responds.

import type { Redis } from '@upstash/redis'
import { SidejobError } from '../core/errors.ts'
import type { Client } from './client.ts'
import { IMPORTING } from './faults.ts'
import { pairsOf } from './flat.ts'
import { literal } from './keys.ts'

type Pairs = [string, string][]
type Kind = 'string' | 'list' | 'set' | 'hash' | 'zset' | 'stream'
type KeyLine = { key: string; type: Kind; from?: number; value: string | string[] | Pairs; until?: number }
export type Line =
  | { sidejob: 1; namespace: string; at: number }
  | KeyLine
  | { cursor: string }
  | { end: { keys: number } }

type Place = { client: Client; namespace: string; now?: () => number }

const PAGE = 200
/** Approximate maximum bytes of a request. Upstash allows 10 MB. */
const BYTES = 1_048_576
const MOST = 1_000
const [SCHEMA, MARK, LAST_ID, EPOCH] = ['schema', 'import', 'jobs:last_id', 'epoch']

function createPace() {
  let step = 8
  return {
    get step() {
      return step
    },
    note(value: unknown): void {
      const bytes = JSON.stringify(value).length
      step = Math.max(1, Math.min(MOST, bytes > BYTES ? step / 4 : step * 2) | 0)
    },
  }
}

type Scan = (redis: Redis, cursor: string) => Promise<[string | number, unknown[]]>

/** `next` is the cursor of the next page, and '0' after the last page. */
async function* pagesOf(client: Client, scan: Scan, cursor = '0') {
  let next = cursor
  do {
    const [after, found] = await client.ask((redis) => scan(redis, next))
    next = String(after)
    yield { found: found as string[], next }
  } while (next !== '0')
}

const keysOf = (client: Client, match: string, count: number, cursor?: string) =>
  pagesOf(client, (redis, from) => redis.scan(from, { match, count }), cursor)

export async function* exported(
  { client, namespace, now = Date.now }: Place,
  { cursor: begun = '', keys = 0 }: { cursor?: string; keys?: number } = {},
): AsyncGenerator<Line> {
  if (begun === '') yield { sidejob: 1, namespace, at: now() }
  let count = keys
  for await (const { found, next } of keysOf(client, `${literal(namespace)}*`, PAGE, begun || '0')) {
    for await (const line of linesOf(client, namespace, found, now)) {
      if (!line.from) count++
      yield line
    }
    if (next !== '0') yield { cursor: next }
  }
  yield { end: { keys: count } }
}

export async function namespacesIn(client: Client): Promise<string[]> {
  const namespaces = new Set<string>()
  for await (const { found } of keysOf(client, `*${LAST_ID}`, MOST))
    for (const key of found) namespaces.add(key.slice(0, -LAST_ID.length))
  return [...namespaces].sort()
}

async function* linesOf(client: Client, namespace: string, keys: string[], now: () => number): AsyncGenerator<KeyLine> {
  if (keys.length === 0) return
  const about = await client.ask((redis) => {
    const pipeline = redis.pipeline()
    for (const key of keys) {
      pipeline.type(key)
      pipeline.pttl(key)
    }
    return pipeline.exec<(string | number)[]>()
  })
  const found = keys.map((key, i) => {
    const ttl = Number(about[2 * i + 1])
    return { key, type: about[2 * i] as Kind | 'none', until: ttl > 0 ? { until: now() + ttl } : {} }
  })
  const nameOf = (key: string) => key.slice(namespace.length)
  const strings = found.filter(({ type }) => type === 'string')
  const pace = createPace()
  for (let from = 0, size = 0; from < strings.length; from += size) {
    const part = strings.slice(from, from + pace.step)
    size = part.length
    const values = await client.ask((redis) => redis.mget<(string | null)[]>(...part.map(({ key }) => key)))
    pace.note(values)
    for (const [i, { key, until }] of part.entries())
      if (values[i] !== null) yield { key: nameOf(key), type: 'string', value: values[i]!, ...until }
  }
  for (const { key, type, until } of found) {
    if (type === 'none' || type === 'string') continue
    let from = 0
    for await (const value of valuesOf(client, key, type, createPace())) {
      yield { key: nameOf(key), type, ...(from ? { from } : {}), value, ...until }
      from += value.length
    }
  }
}

const scans = { set: 'sscan', hash: 'hscan', zset: 'zscan' } as const

async function* valuesOf(client: Client, key: string, type: Kind, pace: ReturnType<typeof createPace>) {
  if (type === 'list') {
    for (let from = 0, size = 1; size > 0; from += size) {
      const part = await client.ask((redis) => redis.lrange<string>(key, from, from + pace.step - 1))
      size = part.length
      pace.note(part)
      if (size) yield part
    }
  } else if (type === 'stream') yield* entriesOf(client, key, pace)
  else {
    const scan: Scan = (redis, cursor) => redis[scans[type as keyof typeof scans]](key, cursor, { count: pace.step })
    for await (const { found } of pagesOf(client, scan)) {
      pace.note(found)
      if (found.length) yield type === 'set' ? found.map(String) : pairsOf(found)
    }
  }
}

async function* entriesOf(client: Client, key: string, pace: ReturnType<typeof createPace>) {
  for (let from = '-', more = true; more; ) {
    const rows = (await client.ask((redis) => redis.xrange(key, from, '+', pace.step))) as unknown as [
      string,
      string[],
    ][]
    pace.note(rows)
    more = rows.length > 0
    if (!more) break
    from = `(${rows.at(-1)![0]}`
    yield rows.map(([id, fields]): [string, string] => [id, JSON.stringify(fields)])
  }
}

type Pipeline = ReturnType<Redis['pipeline']>

const writes: Record<Kind, (pipeline: Pipeline, key: string, line: KeyLine) => unknown> = {
  string: (pipeline, key, { value }) => pipeline.set(key, value as string),
  // ltrim removes this part of the list if an interrupted import has already written it.
  list: (pipeline, key, { value, from = 0 }) => {
    if (from) pipeline.ltrim(key, 0, from - 1)
    pipeline.rpush(key, ...(value as string[]))
  },
  set: (pipeline, key, { value }) => pipeline.sadd(key, ...(value as [string])),
  hash: (pipeline, key, { value }) => pipeline.hset(key, Object.fromEntries(value as Pairs)),
  zset: (pipeline, key, { value }) => {
    const [first, ...rest] = (value as Pairs).map(([member, score]) => ({ member, score: score as unknown as number }))
    pipeline.zadd(key, first!, ...rest)
  },
  stream: (pipeline, key, { value }) => {
    for (const [id, fields] of value as Pairs)
      pipeline.xadd(key, id, Object.fromEntries(pairsOf(JSON.parse(fields) as string[])))
  },
}

function write(pipeline: Pipeline, key: string, line: KeyLine): void {
  if (!line.from) pipeline.del(key)
  writes[line.type](pipeline, key, line)
  if (line.until) pipeline.pexpireat(key, line.until)
}

type Mark = { at: number; lines: number; isClear: boolean; schema?: string; last: number; times: number }

const refused = (message: string) => new SidejobError('REFUSED', message)

async function clear({ client, namespace }: Place): Promise<void> {
  const kept = [MARK, SCHEMA].map((key) => namespace + key)
  for await (const { found } of keysOf(client, `${literal(namespace)}*`, MOST)) {
    const gone = found.filter((key) => !kept.includes(key))
    if (gone.length) await client.ask((redis) => redis.unlink(...(gone as [string])))
  }
}

async function begin(place: Place, at: number, over: boolean): Promise<Mark> {
  const { client, namespace } = place
  const [mark, last, epoch] = await client.ask((redis) =>
    redis.mget<(string | null)[]>(namespace + MARK, namespace + LAST_ID, namespace + EPOCH),
  )
  const known = mark ? (JSON.parse(mark) as Mark) : undefined
  if (known?.at === at && known.isClear) return known
  const isEmpty = !known && last === null && (await client.ask((redis) => redis.exists(`${namespace}queues`))) === 0
  if (!isEmpty && !over && known?.at !== at)
    throw refused(
      `expected an empty namespace, got ${namespace} with ${known ? 'a partial import of another file' : 'jobs in it'}. Use --over to replace its data`,
    )
  const given = { last: known?.last ?? Number(last ?? 0), times: known?.times ?? Number.parseInt(epoch ?? '0', 10) }
  const fresh: Mark = { at, lines: 0, isClear: false, ...given }
  await client.ask((redis) =>
    redis.mset({ [namespace + MARK]: JSON.stringify(fresh), [namespace + SCHEMA]: IMPORTING }),
  )
  await clear(place)
  return { ...fresh, isClear: true }
}

/** No id from before the import is assigned again. Returns the ids that were assigned after the backup, if any. */
async function conclude(
  { client, namespace, now = Date.now }: Place,
  { schema, last, times }: Mark,
): Promise<{ from: number; to: number } | null> {
  const given = Number((await client.ask((redis) => redis.get<string>(namespace + LAST_ID))) ?? 0)
  await client.ask((redis) => {
    const pipeline = redis.multi()
    if (last > given) {
      pipeline.set(namespace + LAST_ID, String(last))
      pipeline.set(namespace + EPOCH, [times + 1, now(), given + 1, last].join(','))
    }
    if (schema === undefined) pipeline.del(namespace + SCHEMA)
    else pipeline.set(namespace + SCHEMA, schema)
    pipeline.del(namespace + MARK)
    return pipeline.exec()
  })
  return last > given ? { from: given + 1, to: last } : null
}

async function writeAll({ client, namespace }: Place, lines: readonly KeyLine[], mark: Mark): Promise<void> {
  await client.ask((redis) => {
    const pipeline = redis.pipeline()
    for (const line of lines) write(pipeline, namespace + line.key, line)
    pipeline.set(namespace + MARK, JSON.stringify(mark))
    return pipeline.exec()
  })
}

/** Isolates answer 503 until the import ends. To continue an interrupted import, call this function again. */
export async function imported(
  place: Place,
  lines: AsyncIterable<Line>,
  { over = false, progress = () => {} }: { over?: boolean; progress?: (lines: number) => void } = {},
): Promise<{ keys: number; lost: { from: number; to: number } | null }> {
  let mark: Mark | undefined
  let batch: KeyLine[] = []
  let [n, bytes, keys] = [0, 0, 0]

  async function send(): Promise<void> {
    await writeAll(place, batch, Object.assign(mark!, { lines: n }))
    progress(n)
    batch = []
    bytes = 0
  }

  for await (const line of lines) {
    if (!mark) {
      if (!('sidejob' in line)) throw refused('expected an export of sidejob, which begins with {"sidejob":1,…}')
      mark = await begin(place, line.at, over)
      continue
    }
    if ('end' in line) {
      await send()
      return { keys, lost: await conclude(place, mark) }
    }
    n++
    if (!('key' in line)) continue
    if (!line.from) keys++
    if (line.key === SCHEMA) mark.schema = line.value as string
    else if (line.key !== MARK && n > mark.lines) batch.push(line)
    bytes += JSON.stringify(line).length
    if (bytes > BYTES || batch.length === PAGE) await send()
  }
  throw refused('expected a complete export, got one without its last line. Run sidejob export again to complete it')
}
