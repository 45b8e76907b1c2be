// Leaves jobs of every kind behind, as the version in a folder makes them, and prints everything that is in Redis then:
// what the next version is to carry on. `node test/redis/upgrade/make.ts FOLDER > test/redis/upgrade/data-of-VERSION.jsonl`

import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Redis } from '@upstash/redis'
import type * as CoreModule from '../../../functions/core.ts'
import type * as Library from '../../../src/index.ts'
import type * as KitModule from '../../kit/index.ts'
import { dump } from './dump.ts'
import { workersOf } from './workers.ts'

const HOUR = 3_600_000
const folder = resolve(process.argv[2] ?? '.')
const from = async <T>(path: string): Promise<T> => (await import(pathToFileURL(join(folder, path)).href)) as T

const { startKit } = await from<typeof KitModule>('test/kit/index.ts')
const library = await from<typeof Library>('src/index.ts')
const { core } = await from<typeof CoreModule>('functions/core.ts')

/** A value as callers send it. */
const value = (data: unknown) => JSON.stringify(data) as never

const kit = await startKit({ hold: true, workers: [...workersOf(library), ...core] })
const { engine } = kit
const ids: Record<string, unknown> = {}

async function make(name: string, className: string, more: object = {}): Promise<string> {
  const { jobs } = await engine.jobs.enqueue([{ queue: 'default', class: className, ...more } as never])
  ids[name] = jobs[0]!.id
  return String(jobs[0]!.id)
}
const serve = (queue: string) => engine.dispatch(queue, 'none')

// What has run already: it waits for children, for time, for its next attempt, or keeps what it answered.
await make('parent', 'parent')
await make('pause', 'pause', { keepResult: 24 * HOUR })
await make('brittle', 'brittle', { keepResult: 24 * HOUR })
await make('answered', 'answer', { args: value({ kept: true }), keepResult: 24 * HOUR })
await make('suspended', 'double', { inputs: { in: [value('a')] } })
await make('hourly', 'answer', { args: value('tick'), repeat: { cron: '0 * * * *' }, keepResult: true })
await engine.jobs.setAlias(await make('named', 'double'), 'by-name', 'add')
await make('listens', 'double', { in: { in: { channels: ['/news'] } } })
await serve('default')

// A flow with a value under way in it.
const end = (node: string, port: string) => ({ node, ...(port === 'in' ? { inport: port } : { outport: port }) })
const node = { queue: 'core', class: 'connect' }
await make('flow', 'flow', { queue: 'core' })
const flow = String(ids.flow)
const graph = {
  nodes: { first: node, second: node },
  edges: [{ from: end('first', 'out'), to: end('second', 'in') }],
  inports: { x: end('first', 'in') },
  outports: { y: end('second', 'out') },
}
await engine.ports.write(flow, 'in', '__graph', [value(graph)])
for (let round = 0; round < 3; round++) await serve('core')
await engine.ports.write(flow, 'in', 'x', [value(1), value('x'.repeat(700))])

// Those that pull: one of each is under way and will be committed by its token, the others wait: for nobody, at a limit, for
// the turn of their group.
await engine.queues.update('pull', { mode: 'pull' } as never)
for (const name of ['chore', 'narrow', 'crowd']) await engine.workers.register('pull', name, { pull: true } as never)
await engine.constraints.set('narrow', { match: { class: 'narrow' }, concurrency: 1 })
for (const className of ['chore', 'narrow', 'crowd']) {
  const group = className === 'crowd' ? { id: 'crowd', concurrency: 1 } : undefined
  for (const n of [1, 2, 3]) await make(`${className} ${n}`, className, { queue: 'pull', args: value(n), group })
  const max = className === 'chore' ? 1 : 3
  const runs = await engine.runs.claim('pull', { max, lease: HOUR, names: [className] })
  ids[`tokens of ${className}`] = runs.map(({ run }) => run.token)
}

// A rate: the first has run, the others wait for the next period.
await engine.constraints.set('rated', {
  match: { class: 'answer', args: { rated: true } },
  rate: { limit: 1, period: HOUR },
})
for (const n of [1, 2]) await make(`rated ${n}`, 'answer', { args: value({ rated: true }), keepResult: true })
await serve('default')

// What waits: now, later, at a lock, with values small and large, for a callback.
for (const name of ['ready 1', 'ready 2']) await make(name, 'plain')
await make('urgent', 'plain', { priority: -5 })
await make('later', 'plain', { wait: 2 * HOUR })
await make('unique', 'plain', { unique: 'only-one', wait: 2 * HOUR })
const locked = await make('locked', 'plain')
ids.lock = (await engine.jobs.lock(locked, { ttl: 4 * HOUR })).token
await make('values', 'double', { inputs: { in: [value('b'), value('c'.repeat(600))] }, wait: HOUR })
await make('told', 'answer', { args: value('done'), callback: { url: 'http://127.0.0.1:65535/told' }, wait: HOUR })
ids.apiKey = (await engine.keys.add({ name: 'of before', scopes: ['read'] } as never)).key

const redis = new Redis({ ...kit.options, automaticDeserialization: false })
console.log(JSON.stringify({ made: Date.now(), ids }))
for (const line of await dump(redis)) console.log(JSON.stringify(line))
await kit.close()
