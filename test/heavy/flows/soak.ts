import { encodeValue } from '../../../src/core/codec/value.ts'
import { readGraph } from '../../../src/core/graph.ts'
import type { Engine } from '../../../src/engine/index.ts'
import { createEngine } from '../../../src/engine/index.ts'
import { type Client, createClient } from '../../../src/redis/client.ts'
import { chain, edge, type Graph, inOf, node, outOf, startFlow, workers } from '../../engine/flows/kit.ts'
import { type Kit, startKit } from '../../kit/index.ts'
import { type Random, seeded } from '../chaos/random.ts'

const dead = () => new Error('this invocation has died')

/** A client that dies at request number `at`. `reaches`: Redis still performs this request. */
function mortal(client: Client, { at, reaches }: { at: number; reaches: boolean }) {
  let requests = 0
  let died = false
  const carry = async <T>(send: () => Promise<T>): Promise<T> => {
    if (died) throw dead()
    if (++requests === at) {
      died = true
      if (reaches) await send()
      throw dead()
    }
    return send()
  }
  const wrapped: Client = {
    ...client,
    evaluate: (script, keys, args, rest) => carry(() => client.evaluate(script, keys, args, rest)),
    ask: (work) => carry(() => client.ask(work)),
  }
  return { client: wrapped, hasDied: () => died }
}

const LONGER_THAN_A_LEASE = 60_000

const outputOf = async (engine: Pick<Engine, 'ports'>, ref: string): Promise<number[]> => {
  const { values } = await engine.ports.take(ref, 'out', 'y', { max: 10_000 })
  return values.filter((value) => !value.default).map(({ data }) => Number(data))
}

export type Killed = { values: number[]; kills: number; dispatches: number; faults: unknown[] }

export async function underKills({
  values,
  nodes,
  kills,
  seed,
}: {
  values: number
  nodes: number
  kills: number
  seed: number
}): Promise<Killed> {
  const random = seeded(seed)
  const kit = await startKit({ hold: true, workers })
  try {
    const flow = await startFlow(kit, chain(nodes, 'pass'))
    const out: number[] = []
    let written = 0
    let killed = 0
    let dispatches = 0
    const perKill = Math.ceil(values / (kills + 1))
    while (out.length < values) {
      if (dispatches > 100 * (kills + values))
        throw new Error(`${out.length} of ${values} came out, and the rest are lost`)
      const batch = Math.min(1 + random.int(20), values - written)
      if (batch > 0)
        await kit.engine.ports.write(
          flow.ref,
          'in',
          'x',
          Array.from({ length: batch }, (_, i) => String(written + i)),
        )
      written += Math.max(0, batch)
      const dies = killed < kills && written >= perKill * (killed + 1)
      const at = dies ? 1 + random.int(2 * nodes) : Number.POSITIVE_INFINITY
      const connection = mortal(createClient(kit.options), { at, reaches: random.chance(0.5) })
      const engine = createEngine({ ...kit.engineOptions, redis: connection.client })
      await engine.dispatch('core', `bell${dispatches++}`).catch((error) => {
        if (!connection.hasDied()) throw error
      })
      if (connection.hasDied()) killed++
      // Leases of dead lanes must end before the next runs can start.
      if (connection.hasDied() || written === values) {
        await kit.advance(LONGER_THAN_A_LEASE)
        await kit.engine.tick()
      }
      out.push(...(await outputOf(kit.engine, flow.ref)))
    }
    return { values: out, kills: killed, dispatches, faults: await kit.engine.doctor.verify() }
  } finally {
    await kit.close()
  }
}

const graphOf = (names: string[]): Graph => ({
  nodes: Object.fromEntries(names.map((name) => [name, node('pass')])),
  edges: names.slice(1).map((name, i) => edge(`${names[i]}.out`, `${name}.in`)),
  inports: { x: inOf(`${names[0]}.in`) },
  outports: { y: outOf(`${names.at(-1)}.out`) },
})

function edited(names: string[], n: number, random: Random): string[] {
  const at = random.int(names.length)
  const kind = names.length < 4 ? 'insert' : names.length > 12 ? 'remove' : random.pick(['insert', 'remove', 'rewire'])
  if (kind === 'insert') return names.toSpliced(at, 0, `n${n}`)
  if (kind === 'remove') return names.toSpliced(at, 1)
  const other = random.int(names.length)
  return names.with(at, names[other]!).with(other, names[at]!)
}

export type Edited = {
  edits: { made: number; started: number; stopped: number; rewired: number }
  out: number
  left: number
  missing: number[]
  doubled: number[]
  faults: unknown[]
}

async function leftIn(kit: Kit, flow: number): Promise<number[]> {
  const left: number[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await kit.engine.jobs.list({ limit: 500, ...(cursor ? { cursor } : {}) })
    for (const job of page.jobs)
      for (const dir of ['in', 'out'] as const)
        for (const [port, { size }] of Object.entries(job[dir]))
          if (size > 0 && !(job.id === flow && port === 'y')) {
            const { values } = await kit.engine.ports.get(String(job.id), dir, port, 1_000)
            if (values.length < size) throw new Error(`${size} values in one port: more than are looked at`)
            left.push(...values.map(({ data }) => Number(data)))
          }
    if (!page.cursor) return left
    cursor = page.cursor
  }
}

export async function underEdits({
  values,
  edits,
  seed,
}: {
  values: number
  edits: number
  seed: number
}): Promise<Edited> {
  const random = seeded(seed)
  const kit = await startKit({ workers })
  try {
    let names = ['n-a', 'n-b', 'n-c', 'n-d', 'n-e']
    const flow = await startFlow(kit, graphOf(names))
    const made = { made: 0, started: 0, stopped: 0, rewired: 0 }
    let written = 0
    const stream = async () => {
      while (written < values) {
        // Write several values at once: a node that runs more than 600 times per minute is terminated.
        const batch = Math.min(1 + random.int(40), values - written)
        await kit.engine.ports.write(
          flow.ref,
          'in',
          'x',
          Array.from({ length: batch }, (_, i) => String(written + i)),
        )
        written += batch
      }
    }
    const edit = async () => {
      for (let n = 0; n < edits; n++) {
        await kit.until(() => written >= (values * n) / edits, 600_000)
        names = edited(names, n, random)
        const { start, stop, wires } = await kit.engine.flows.setGraph(
          flow.ref,
          readGraph(encodeValue(graphOf(names))),
          {},
        )
        made.made++
        made.started += start.length
        made.stopped += stop.length
        made.rewired += wires.added.length
      }
    }
    await Promise.all([stream(), edit()])
    await kit
      .until(async () => (await kit.statusOf(flow.id)) === 'completed', 120_000)
      .catch(async () => Promise.reject(new Error(JSON.stringify(await kit.engine.jobs.get(flow.ref)))))
    await kit.until(
      async () => (await kit.engine.queues.list()).queues.every(({ counts }) => counts.queued + counts.running === 0),
      60_000,
    )
    const out = await outputOf(kit.engine, flow.ref)
    const left = await leftIn(kit, flow.id)
    const seen = new Map<number, number>()
    for (const value of [...out, ...left]) seen.set(value, (seen.get(value) ?? 0) + 1)
    return {
      edits: made,
      out: out.length,
      left: left.length,
      missing: Array.from({ length: values }, (_, i) => i).filter((value) => !seen.has(value)),
      doubled: [...seen].filter(([, times]) => times > 1).map(([value]) => value),
      faults: await kit.engine.doctor.verify(),
    }
  } finally {
    await kit.close()
  }
}
