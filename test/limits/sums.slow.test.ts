// Calls each route with the longest lists that fit into a request. sidejob must refuse the call, or run it quickly.

import { afterAll, beforeAll, expect, test } from 'vitest'
import type * as z from 'zod'
import { namesIn } from '../../src/http/openapi.ts'
import type { Route } from '../../src/http/route.ts'
import { list } from '../../src/http/routes.ts'
import { defineWorker } from '../../src/index.ts'
import { type Doors, startDoors } from './kit.ts'

const MOST_BYTES = 10 * 1_048_576 - 4_096
const COUNTS = [10_000, 5_000, 2_000, 1_000, 500, 250, 200, 100, 50, 20, 10, 7, 5, 3, 2, 1]
const TEXTS = ['a', '/a', 'quick', '5m', '2030-01-01T00:00:00Z', 'http://127.0.0.1/a', 'rgb', '{}']

type Def = {
  type: string
  shape: Record<string, z.ZodType>
  options: z.ZodType[]
  element: z.ZodType
  keyType: z.ZodType
  valueType: z.ZodType
  innerType: z.ZodType
  in: z.ZodType
  entries: Record<string, string>
  values: unknown[]
}
const defOf = (schema: z.ZodType): Def => schema._zod.def as unknown as Def
const takes = (schema: z.ZodType, value: unknown): boolean => schema.safeParse(value).success

const OPTIONAL = new Set(['optional', 'default', 'nullable', 'prefault'])
const KNOWN: Record<string, unknown> = { queue: 'default', class: 'quick', end: 'completed' }

const TRIED = 12_345
const leaves = new WeakMap<z.ZodType, (i: number) => unknown>()

function leafOf(schema: z.ZodType): (i: number) => unknown {
  const known = leaves.get(schema)
  if (known) return known
  const ways: ((i: number) => unknown)[] =
    defOf(schema).type === 'number'
      ? [(i) => i + 1, () => 1]
      : TEXTS.flatMap((text) => [(i: number) => `${text}${i}`, () => text])
  const leaf = ways.find((way) => takes(schema, way(TRIED))) ?? (() => 'a')
  leaves.set(schema, leaf)
  return leaf
}

const MAX_DEPTH = 8

function sample(schema: z.ZodType, i: number, depth = 0): unknown {
  const def = defOf(schema)
  if (depth > MAX_DEPTH) return 1
  switch (def.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(def.shape).flatMap(([name, one]) =>
          OPTIONAL.has(defOf(one).type) ? [] : [[name, KNOWN[name] ?? sample(one, i, depth + 1)]],
        ),
      )
    case 'array':
      return [sample(def.element, i, depth + 1)]
    case 'record':
      return { [keyOf(def.keyType, i)]: sample(def.valueType, i, depth + 1) }
    case 'union':
      return sample(def.options[0]!, i, depth + 1)
    case 'pipe':
      return sample(def.in, i, depth + 1)
    case 'number':
      return leafOf(schema)(i)
    case 'boolean':
      return true
    case 'enum':
      return Object.values(def.entries)[0]
    case 'literal':
      return def.values[0]
    case 'string':
      return leafOf(schema)(i)
    default:
      return def.innerType ? sample(def.innerType, i, depth + 1) : 'a'
  }
}

const keyOf = (schema: z.ZodType | undefined, i: number): string => String(schema ? sample(schema, i) : `a${i}`)

function half(around: readonly z.ZodType[], of: (n: number) => unknown): number {
  const most = COUNTS.find((n) => around.every((schema) => takes(schema, of(n)))) ?? 1
  return Math.max(1, Math.floor(most / 2))
}

type Room = { left: number }

const textSize = (value: unknown): number => JSON.stringify(value)?.length ?? 4

function filled(def: Def, n: number, room: Room, one: (i: number) => unknown): unknown {
  const [values, members]: [unknown[], Record<string, unknown>] = [[], {}]
  for (let i = 0; i < n && room.left > 0; i++) {
    if (def.type === 'array') values.push(one(i))
    else {
      const name = keyOf(def.keyType, i)
      room.left -= name.length + 4
      members[name] = one(i)
    }
  }
  return def.type === 'array' ? values : members
}

type Worst = { path: string; value: (i: number, room: Room) => unknown }

const plain =
  (schema: z.ZodType) =>
  (i: number, room: Room): unknown => {
    const value = sample(schema, i)
    room.left -= textSize(value) + 1
    return value
  }

function full(schema: z.ZodType, depth = 0, around: readonly z.ZodType[] = []): Worst['value'] {
  const def = defOf(schema)
  if (depth > MAX_DEPTH) return plain(schema)
  switch (def.type) {
    case 'object': {
      const listed = Object.entries(def.shape).filter(([, one]) => hasLists(one))
      if (listed.length === 0) return plain(schema)
      const members = listed.map(([name, one]) => [name, full(one, depth + 1)] as const)
      const base = plain(schema)
      return (i, room) => ({
        ...(base(i, room) as object),
        ...Object.fromEntries(members.map(([name, value]) => [name, value(i, room)])),
      })
    }
    case 'array':
    case 'record': {
      const n = halfOf(schema, around)
      const one = full(def.type === 'array' ? def.element : def.valueType, depth + 1)
      return (_, room) => filled(def, n, room, (i) => one(i, room))
    }
    case 'union':
      return full(def.options.find((one) => hasLists(one)) ?? def.options[0]!, depth + 1, [schema, ...around])
    case 'pipe':
      return full(def.in, depth + 1, [schema, ...around])
    default:
      return def.innerType ? full(def.innerType, depth + 1, [schema, ...around]) : plain(schema)
  }
}

function hasLists(schema: z.ZodType, depth = 0): boolean {
  const def = defOf(schema)
  if (depth > MAX_DEPTH) return false
  if (def.type === 'array' || def.type === 'record') return true
  const inner = [...Object.values(def.shape ?? {}), ...(def.options ?? []), def.in, def.innerType]
  return inner.some((one) => one !== undefined && hasLists(one, depth + 1))
}

const halves = new WeakMap<z.ZodType, number>()

function halfOf(schema: z.ZodType, around: readonly z.ZodType[]): number {
  const known = halves.get(schema)
  if (known !== undefined) return known
  const def = defOf(schema)
  const element = def.type === 'array' ? def.element : def.valueType
  const n = half([schema, ...around], (many) =>
    filled(def, many, { left: Number.POSITIVE_INFINITY }, (i) => sample(element, i)),
  )
  halves.set(schema, n)
  return n
}

function* worst(schema: z.ZodType, path: string, around: readonly z.ZodType[] = [], depth = 0): Generator<Worst> {
  const def = defOf(schema)
  if (depth > MAX_DEPTH) return
  const outer = [schema, ...around]
  switch (def.type) {
    case 'object': {
      const base = plain(schema)
      for (const [name, member] of Object.entries(def.shape))
        for (const one of worst(member, `${path}.${name}`, [], depth + 1))
          yield {
            path: one.path,
            value: (i, room) => ({ ...(base(i, room) as object), [name]: one.value(i, room) }),
          }
      if (hasLists(schema)) yield { path: `${path}.*`, value: full(schema, depth) }
      return
    }
    case 'array':
    case 'record': {
      const element = def.type === 'array' ? def.element : def.valueType
      const mark = `${path}${def.type === 'array' ? '[]' : '{}'}`
      const n = halfOf(schema, around)
      const inner: Worst[] = [{ path: mark, value: plain(element) }, ...worst(element, mark, [], depth + 1)]
      for (const one of inner)
        yield { path: one.path, value: (_, room) => filled(def, n, room, (i) => one.value(i, room)) }
      return
    }
    case 'union':
      for (const [at, option] of def.options.entries())
        yield* worst(option, def.options.length > 1 ? `${path}|${at}` : path, outer, depth + 1)
      return
    case 'pipe':
      yield* worst(def.in, path, outer, depth + 1)
      return
    default:
      if (def.innerType) yield* worst(def.innerType, path, outer, depth + 1)
  }
}

function shrunk(value: unknown, most: number): unknown {
  if (Array.isArray(value)) return value.slice(0, most).map((one) => shrunk(one, most))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, Math.max(most, 20))
      .map(([name, one]) => [name, shrunk(one, most)]),
  )
}

const LEFT_OUT = new Set(['/v1/test/clock', '/dispatch/:queue'])
const asked = list.filter(({ path, only, body }) => body && !LEFT_OUT.has(path) && !only) as Route[]

const quick = defineWorker({
  class: 'quick',
  in: { in: {} },
  out: { out: {} },
  retain: 1_000,
  perform: () => undefined,
})
let doors: Doors
let job = 0
beforeAll(async () => {
  doors = await startDoors({ workers: [quick] })
  await doors.ask('PATCH', '/v1/queues/pulled', { mode: 'pull' })
})
afterAll(() => doors.close())

async function claimed(): Promise<string> {
  await doors.ask('POST', '/v1/jobs', { queue: 'pulled', class: 'c', in: { in: {} }, out: { out: {} } })
  const { text } = await doors.ask('POST', '/v1/queues/pulled/claim', { max: 1 })
  return JSON.parse(text).runs[0].run.token
}

async function pathOf({ path }: Route): Promise<string> {
  const names: Record<string, string> = { dir: 'in', port: 'in', queue: 'default', class: 'quick' }
  let made = path
  for (const name of namesIn(path)) {
    if (name === 'token') names.token = path.startsWith('/v1/runs') ? await claimed() : 'a'
    if (name === 'job') {
      job = await doors.make('quick', { wait: 36_000_000 })
      names.job = String(job)
    }
    made = made.replace(`:${name}`, encodeURIComponent(names[name] ?? 'a'))
  }
  return made
}

const REDUCTIONS = [1, 0.5, 0.2, 0.05, 0.01]

const reduced = (value: unknown, by: number): unknown => {
  const widest = (one: unknown): number => {
    if (Array.isArray(one)) return Math.max(one.length, ...one.slice(0, 5).map(widest))
    if (typeof one !== 'object' || one === null) return 0
    const values = Object.values(one)
    return Math.max(values.length, ...values.slice(0, 40).map(widest))
  }
  return by === 1 ? value : shrunk(value, Math.max(1, Math.floor(widest(value) * by)))
}

test.each(asked.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s: large lists together do not delay Redis',
  { timeout: 300_000 },
  async (_, route) => {
    const broken: string[] = []
    for (const { path, value } of worst(route.body!, 'body')) {
      const body = value(0, { left: MOST_BYTES })
      for (const by of REDUCTIONS) {
        const one = reduced(body, by)
        const { status, text } = await doors.ask(route.method, await pathOf(route), one)
        if (status >= 500) broken.push(`${status} ${path} ${text.slice(0, 200)}`)
        for (const held of doors.slow()) broken.push(`${path} × ${by} (${status}): ${held}`)
        const runFailed = route.path.startsWith('/v1/runs') && text.includes('TOO_LARGE')
        if (status !== 413 && !runFailed) break
      }
    }
    expect(broken).toEqual([])
  },
)
