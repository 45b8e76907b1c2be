import { parseJson } from '../../../src/core/codec/json.ts'
import { type Encoded, encodeValue } from '../../../src/core/codec/value.ts'
import type { Worker } from '../../../src/core/worker.ts'
import type { PortSpecs } from '../../../src/engine/engine.ts'
import { createEngine, type EngineOptions } from '../../../src/engine/index.ts'
import { type Client, createClient } from '../../../src/redis/client.ts'
import { jobFields, keysOf } from '../../../src/redis/keys.ts'
import { drain, type Order, runInline } from '../../../src/testing/index.ts'
import { type Kit, startKit } from '../../kit/index.ts'

export type Dir = 'in' | 'out'
type Specs = Record<string, { default?: unknown; channels?: string[] }>
export type Making = {
  args?: unknown
  in?: Specs
  out?: Specs
  inputs?: Record<string, unknown[]>
  parent?: number
  [other: string]: unknown
}
type Writing = { notify?: boolean; log?: boolean; setDefault?: boolean; context?: object }

const wired = (specs: Specs = {}): PortSpecs =>
  Object.fromEntries(
    Object.entries(specs).map(([port, { default: value, ...spec }]) => [
      port,
      { ...spec, ...(value === undefined ? {} : { default: encodeValue(value) }) },
    ]),
  )

const plain = (value: Encoded): unknown => JSON.parse(value)

const withoutTime = (entry: unknown) => {
  const { timestamp, ...rest } = entry as { timestamp: number }
  return rest
}

type Below = { client: Client; namespace: string; clock: () => number }

function deskOf(engine: ReturnType<typeof createEngine>, { client, namespace, clock }: Below) {
  const make = async (className: string, { args, parent, inputs, ...input }: Making = {}): Promise<number> => {
    const made = {
      queue: 'default',
      class: className,
      ...input,
      ...(args === undefined ? {} : { args: encodeValue(args) }),
      ...(parent === undefined ? {} : { parent: String(parent) }),
      ...(input.in ? { in: wired(input.in) } : {}),
      ...(input.out ? { out: wired(input.out) } : {}),
      ...(inputs
        ? { inputs: Object.fromEntries(Object.entries(inputs).map(([port, list]) => [port, list.map(encodeValue)])) }
        : {}),
    }
    const { jobs } = await engine.jobs.enqueue([made as never])
    return jobs[0]!.id
  }

  const view = (id: number) => engine.jobs.get(String(id))
  const look = async (id: number, dir: Dir, port: string) => {
    const { values, ...rest } = await engine.ports.get(String(id), dir, port)
    return { ...rest, values: values.map(({ data }) => plain(data)) }
  }

  return {
    engine,
    make,
    view,
    look,
    status: async (id: number) => (await view(id)).status,
    error: async (id: number) => {
      const { error } = await view(id)
      return error && (plain(error) as { message: string }).message
    },
    put: (id: number, port: string, ...values: unknown[]) =>
      engine.ports.write(String(id), 'in', port, values.map(encodeValue)),
    write: (id: number, dir: Dir, port: string, values: unknown[], { context, ...options }: Writing = {}) =>
      engine.ports.write(String(id), dir, port, values.map(encodeValue), {
        ...options,
        ...(context ? { context: encodeValue(context) } : {}),
      }),
    read: async (id: number, dir: Dir, port: string) => {
      const { values } = await engine.ports.take(String(id), dir, port, {})
      return values.length ? plain(values[0]!.data) : undefined
    },
    drainPort: async (id: number, dir: Dir, port: string) => {
      const { size } = await engine.ports.get(String(id), dir, port, 1)
      if (size === 0) return []
      const { values } = await engine.ports.take(String(id), dir, port, { max: size })
      return values.map(({ data }) => plain(data))
    },
    values: async (id: number, port: string, dir: Dir = 'out') => (await look(id, dir, port)).values,
    size: async (id: number, dir: Dir, port: string) => (await look(id, dir, port)).size,
    defaultOf: async (id: number, dir: Dir, port: string) => {
      const { default: value } = await look(id, dir, port)
      return value === undefined ? undefined : plain(value)
    },
    setDefault: (id: number, dir: Dir, port: string, value?: unknown) =>
      engine.ports.setDefault(String(id), dir, port, value === undefined ? undefined : encodeValue(value)),
    ports: (id: number, specs: { in?: Specs; out?: Specs }) =>
      engine.ports.define(String(id), {
        ...(specs.in ? { in: wired(specs.in) } : {}),
        ...(specs.out ? { out: wired(specs.out) } : {}),
      }),
    connect: (id: number, dir: Dir, port: string, ...to: { job: number; in?: string; out?: string }[]) =>
      engine.ports.connect(String(id), dir, port, to.map((one) => ({ ...one, job: String(one.job) })) as never),
    publish: (channel: string, message: unknown, context?: object) =>
      engine.channels.publish(channel, encodeValue(message), context ? { context: encodeValue(context) } : {}),
    state: async (id: number) =>
      Object.fromEntries(
        Object.entries(await engine.jobs.state(String(id))).map(([field, value]) => [field, plain(value)]),
      ),
    set: (id: number, set: Record<string, unknown>, unset: string[] = []) =>
      engine.jobs.setState(String(id), {
        set: Object.fromEntries(Object.entries(set).map(([field, value]) => [field, encodeValue(value)])),
        unset,
      }),
    run: (id: number, options: Parameters<typeof engine.jobs.run>[1] = {}) => engine.jobs.run(String(id), options),
    once: (id: number, { force = true } = {}) => runInline(engine, id, { force, errors: 'keep' }),
    drain: (order?: Order, errors: 'throw' | 'keep' = 'throw') => drain(engine, { order, errors }),
    terminate: (id: number, recursive = false) => engine.jobs.terminate(String(id), { recursive }),
    remove: (id: number) => engine.jobs.remove(String(id), {}),
    now: () => Date.now() + clock(),
    async ranThisMinute(id: number, n: number): Promise<void> {
      const key = keysOf(namespace).job(id)
      const stored = JSON.parse((await client.ask((redis) => redis.get<string>(key)))!)
      const minute = Math.floor((Date.now() + clock()) / 60_000)
      await client.ask((redis) =>
        redis.set(key, JSON.stringify({ ...stored, [jobFields.runsThisMinute[0]]: `${minute}:${n}` })),
      )
    },
    keys: async (pattern: string) => client.ask((redis) => redis.keys(`${namespace}${pattern}`)),
    ready: async () => (await engine.ready()).map(({ id }) => id).sort((a, b) => a - b),
    ear: (...channels: string[]) => make('deaf', { in: { ear: { channels } } }),
    async heard(ear: number): Promise<unknown[]> {
      const { size } = await engine.ports.get(String(ear), 'in', 'ear', 1)
      if (size === 0) return []
      const { values } = await engine.ports.take(String(ear), 'in', 'ear', { max: size })
      return values
        .map(({ data }) => parseJson(data) as unknown)
        .map((value) => (isEntry(value) ? withoutTime(value) : value))
    },
  }
}

const isEntry = (value: unknown): boolean => typeof value === 'object' && value !== null && 'timestamp' in value

export type Desk = ReturnType<typeof deskOf>

const MINUTE = 60_000

export async function startDesks(workers: Worker[], options: Partial<EngineOptions> = {}) {
  const kit: Kit = await startKit({ workers, hold: true })
  const client = createClient(kit.options)
  const engines: ReturnType<typeof createEngine>[] = []
  async function verify(): Promise<void> {
    for (const engine of engines.splice(0)) {
      const faults = await engine.doctor.verify()
      if (faults.length) throw new Error(`left behind: ${JSON.stringify(faults)}`)
    }
  }
  return {
    kit,
    desk(): Desk {
      const ahead = MINUTE - (Date.now() % MINUTE)
      const clock = () => ahead
      const namespace = `${crypto.randomUUID().slice(0, 8)}:`
      const engine = createEngine({ ...kit.engineOptions, ...options, clock, namespace })
      engines.push(engine)
      return deskOf(engine, { client, namespace, clock })
    },
    verify,
    close: () => verify().finally(kit.close),
  }
}
