import { afterAll, beforeAll, expect, test } from 'vitest'
import type * as z from 'zod'
import { namesIn } from '../../src/http/openapi.ts'
import { isSigned, type Route } from '../../src/http/route.ts'
import { list } from '../../src/http/routes.ts'
import { defineWorker } from '../../src/index.ts'
import { type Doors, startDoors } from './kit.ts'

type Def = {
  type: string
  shape: Record<string, z.ZodType>
  options: z.ZodType[]
  element: z.ZodType
  valueType: z.ZodType
  innerType: z.ZodType
  in: z.ZodType
  entries: Record<string, string>
  values: unknown[]
}
const defOf = (schema: z.ZodType): Def => schema._zod.def as unknown as Def

const NUMBERS = [0, -1, Number.MAX_SAFE_INTEGER, 1e16, 1e308]
const TEXTS = [
  ...['held', 'waiting', 'window', 'ready', 'f:a'].map((suffix) => `tenant:${suffix}`),
  '__proto__',
  'constructor',
  '',
  '*'.repeat(255),
  'x'.repeat(255),
  'é'.repeat(200),
  'a\u0000b\n',
  '9999999999999999',
  '-1',
]

const OPTIONAL = new Set(['optional', 'default', 'nullable', 'prefault'])

function sample(schema: z.ZodType, depth = 0): unknown {
  const def = defOf(schema)
  if (depth > 6) return 1
  switch (def.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(def.shape).flatMap(([name, one]) =>
          OPTIONAL.has(defOf(one).type)
            ? []
            : [[name, name === 'queue' ? 'default' : name === 'class' ? 'quick' : sample(one, depth + 1)]],
        ),
      )
    case 'array':
      return [sample(def.element, depth + 1)]
    case 'record':
      return { a: sample(def.valueType, depth + 1) }
    case 'union':
      return sample(def.options[0]!, depth + 1)
    case 'pipe':
      return sample(def.in, depth + 1)
    case 'number':
      return 1
    case 'boolean':
      return true
    case 'enum':
      return Object.values(def.entries)[0]
    case 'literal':
      return def.values[0]
    default:
      return def.innerType ? sample(def.innerType, depth + 1) : 'a'
  }
}

function* worst(schema: z.ZodType, depth = 0): Generator<unknown> {
  const def = defOf(schema)
  if (depth > 5) return
  switch (def.type) {
    case 'object':
      for (const [name, one] of Object.entries(def.shape))
        for (const bad of worst(one, depth + 1)) yield { ...(sample(schema) as object), [name]: bad }
      return
    case 'array':
      yield Array.from({ length: 20_000 }, () => 'a')
      for (const bad of worst(def.element, depth + 1)) yield [bad]
      return
    case 'record':
      yield Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`a${i}`, sample(def.valueType)]))
      for (const name of TEXTS) yield { [name]: sample(def.valueType) }
      for (const bad of worst(def.valueType, depth + 1)) yield { a: bad }
      return
    case 'union':
      for (const option of def.options) yield* worst(option, depth + 1)
      return
    case 'pipe':
      yield* worst(def.in, depth + 1)
      return
    case 'number':
      yield* NUMBERS
      return
    case 'string':
      yield* TEXTS
      return
    default:
      if (def.innerType) yield* worst(def.innerType, depth + 1)
  }
}

// These routes stay open, move the clock, or exist only for tests.
const LEFT_OUT = new Set(['/v1/subscribe/:channel', '/v1/test/clock', '/tick', '/dispatch/:queue', '/v1/doctor'])
const asked = list.filter(({ path, only, scope }) => !LEFT_OUT.has(path) && !only && !isSigned({ scope })) as Route[]

const quick = defineWorker({ class: 'quick', in: { in: {} }, perform: () => undefined })
let doors: Doors
let job = 0
beforeAll(async () => {
  doors = await startDoors({ hold: false, workers: [quick, { ...quick, queue: 'calm' }] })
  job = await doors.make('quick', { wait: 36_000_000 })
})
afterAll(() => doors.close())

const pathOf = (path: string, bad?: [string, string]): string =>
  namesIn(path).reduce((made, name) => {
    const names: Record<string, string> = { job: String(job), dir: 'in', port: 'in', queue: 'default', class: 'quick' }
    const usual = names[name] ?? 'a'
    return made.replace(`:${name}`, encodeURIComponent(bad?.[0] === name ? bad[1] : usual))
  }, path)

type Asking = { path: string; body?: unknown }
function* askings({ method, path, query, body }: Route): Generator<Asking> {
  const usual = body && sample(body)
  for (const name of namesIn(path))
    for (const text of TEXTS) if (text) yield { path: pathOf(path, [name, text]), body: usual }
  for (const [name, one] of Object.entries(query ? defOf(query).shape : {}))
    for (const bad of [...NUMBERS.map(String), ...TEXTS])
      if (one) yield { path: `${pathOf(path)}?${name}=${encodeURIComponent(bad)}`, body: usual }
  if (body && method !== 'GET' && method !== 'DELETE')
    for (const bad of worst(body)) yield { path: pathOf(path), body: bad }
}

test.each(asked.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s has no slow or failing call for extreme input',
  { timeout: 60_000 },
  async (_, route) => {
    const broken: string[] = []
    const all = [...askings(route)]
    const neighbour = await doors.make('quick', { queue: 'calm', retain: 3_600_000 })
    const send = async ({ path, body }: Asking) =>
      doors.app.fetch(
        new Request(`http://inside.test${path}`, {
          method: route.method,
          headers: { authorization: 'Bearer key', 'content-type': 'application/json' },
          body:
            body === undefined || route.method === 'GET' || route.method === 'DELETE'
              ? undefined
              : JSON.stringify(body),
        }),
      )
    await doors.watched(route.path, async () => {
      for (let at = 0; at < all.length; at += 20) {
        await Promise.all(
          all.slice(at, at + 20).map(async (asking) => {
            const { status } = await send(asking)
            if (status === 500 || status === 503)
              broken.push(`${status} ${asking.path} ${JSON.stringify(asking.body)?.slice(0, 200)}`)
          }),
        )
      }
    })
    expect(broken).toEqual([])
    // Calls that were slow together may be fast alone.
    if (doors.slow().length > 0) for (const asking of all) await doors.watched(asking.path, () => send(asking))
    expect(doors.slow()).toEqual([])
    await doors.rest(neighbour, 'completed')
    expect(await doors.engine.doctor.verify()).toEqual([])
  },
)
