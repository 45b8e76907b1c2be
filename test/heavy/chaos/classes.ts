import { writeJson } from '../../../src/core/codec/json-writer.ts'
import type { PortSpecs, WorkerDefinition } from '../../../src/engine/engine.ts'
import { limitsOf } from '../../../src/engine/jobs/new-job.ts'
import type { Registered, Registry } from '../../../src/engine/jobs/registry.ts'
import type { NewJob } from '../../../src/redis/new-job.ts'
import type { JobRecord } from '../../../src/redis/record.ts'
import { seeded } from './random.ts'

const retry = { max: 2, backoff: { base: 3_000, factor: 2 } }
const one: PortSpecs = { in: {} }
const out: PortSpecs = { out: {} }

export const NEWS = '/news'

export const QUEUES = ['a', 'b']
export const CALLBACKS = 'sidejob'
const CALLBACK = 'callback'
export const callback = { spec: '{"url":"https://example.com/hook"}', host: 'example.com' }

export const isCallback = ({ doc }: { doc: JobRecord }): boolean => doc.callbackOf !== undefined

/** The simulation lowers this limit by one for a while. */
export const BOUNDED = { queue: 'b', class: 'timer', concurrency: 2 }

export const limits: Record<string, { concurrency?: number; rate?: { limit: number; period: number } }> = {
  narrow: { concurrency: 1 },
  wide: { concurrency: 2 },
  paced: { rate: { limit: 2, period: 6_000 } },
  [`worker:${BOUNDED.queue}/${BOUNDED.class}`]: { concurrency: BOUNDED.concurrency },
  'group:g': { concurrency: 1 },
  'group:h': { concurrency: 2 },
  'group:callback:example.com': { concurrency: 8 },
}

const limited = (...keys: string[]) => keys.map((key) => ({ key, ...limits[key] }))

export const classes: Record<string, WorkerDefinition> = {
  stream: { in: one, out, retry },
  parent: { in: one, out, retry, shutdown: true },
  timer: { in: one, out, retry, shutdown: true },
  plain: { in: {}, out: {}, retry, retain: 120_000 },
  brief: { in: {}, out, retain: 0 },
  alike: { in: {}, out: {}, retain: 120_000 },
  ported: { in: one, out },
  reader: { in: { in: { channels: [NEWS] } }, out, retry },
  herald: { in: one, out: { out: { channels: [NEWS] } }, retry },
  wild: { in: { '*': {} }, out: { '*': {} }, retry },
  hand: { in: one, out, retry, pull: true },
  narrow: { in: one, out, retry, limits: limited('narrow', 'wide') },
  paced: { in: one, out, retry, limits: limited('paced', 'wide') },
  ward: { in: one, out, retry, pull: true },
  [CALLBACK]: { in: {}, out: {}, retry },
}

export function definitionIn(queue: string, name: string, less = 0) {
  const { pull = false } = classes[name]!
  const isBounded = queue === BOUNDED.queue && name === BOUNDED.class
  const concurrency = isBounded ? BOUNDED.concurrency - less : undefined
  return {
    name,
    definition: writeJson({ pull, concurrency }),
    serves: pull ? ('pull' as const) : ('push' as const),
    concurrency,
  }
}

/** Jobs of these classes are created in bulk, and Redis stores several of them in one record. */
export const isPacked = (name: string): boolean => name === 'alike' || name === 'ported'

export const classNames = Object.keys(classes).filter((name) => name !== CALLBACK)

/** Pairs of classes with the same ports: a job can change to the other class. */
export const renames: Record<string, string> = { stream: 'hand', hand: 'stream', plain: 'brief', brief: 'plain' }

export const TAG = 'rare'

export const DELIVERIES = 2
const redeliver = { after: '+8 SECONDS', ms: 8_000, max: DELIVERIES }

const registered = (name: string): Registered => ({
  definition: classes[name]!,
})

export const registry = {
  local: () => undefined,
  find: async (_queue: string, name: string) => registered(name),
} as unknown as Registry

export type Group = 'g' | 'h'

export const limitKeysOf = (queue: string, name: string, group?: Group) =>
  limitsOf(registered(name), {
    queue,
    class: name,
    ...(group ? { group: { id: group, ...limits[`group:${group}`] } } : {}),
  })

export function jobOf(queue: string, name: string, group?: Group): NewJob {
  const { in: inports, out: outports, shutdown, retain } = classes[name]!
  return {
    queue,
    class: name,
    known: false,
    in: inports as PortSpecs,
    out: outports as PortSpecs,
    shutdown,
    retain,
    limits: limitKeysOf(queue, name, group),
    ...(name === 'ward' ? { redeliver } : {}),
    ...(group ? { group } : {}),
  }
}

export type Setting = { lanes: number; batch: number; pull: boolean }

export function settingsOf(seed: number): Record<string, Setting> {
  const random = seeded(seed ^ 0x0e7)
  return {
    a: { lanes: 1 + random.int(3), batch: 1 + random.int(4), pull: false },
    b: { lanes: 1 + random.int(2), batch: 1 + random.int(3), pull: random.chance(0.3) },
    [CALLBACKS]: { lanes: 1 + random.int(2), batch: 1 + random.int(3), pull: false },
  }
}
