import * as z from 'zod'
import { core } from '../../../functions/core.ts'
import { decodeValue, encodeValue } from '../../../src/core/codec/value.ts'
import type { graph } from '../../../src/core/graph.ts'
import type { Worker } from '../../../src/core/worker.ts'
import { defineWorker, type Job, port, Terminal } from '../../../src/index.ts'
import { drain, type Order } from '../../../src/testing/index.ts'
import type { Kit } from '../../kit/index.ts'

export type Graph = (typeof graph)['_zod']['input']

const of = (className: string, perform: (job: Job) => unknown, ins: string[], out: string): Worker =>
  defineWorker({
    queue: 'core',
    class: className,
    in: Object.fromEntries(ins.map((name) => [name, port()])),
    out: { [out]: port() },
    perform,
  })

export const acted: unknown[] = []

export const workers: Worker[] = [
  ...core,
  of(
    'double',
    async (job) => {
      for await (const { in: n } of job.inputs('in')) job.write('out', (n as number) * 2)
    },
    ['in'],
    'out',
  ),
  of(
    'pass',
    async (job) => {
      for await (const { in: value } of job.inputs('in')) job.write('out', value)
    },
    ['in'],
    'out',
  ),
  of(
    'sum',
    async (job) => {
      for await (const { in: list } of job.inputs('in'))
        job.write(
          'sum',
          (list as number[]).reduce((a, b) => a + b, 0),
        )
    },
    ['in'],
    'sum',
  ),
  of(
    'add',
    async (job) => {
      for await (const { x, y } of job.inputs('x', 'y')) job.write('sum', (x as number) + (y as number))
    },
    ['x', 'y'],
    'sum',
  ),
  of(
    'brittle',
    async (job) => {
      for await (const { in: value } of job.inputs('in')) {
        if (value === 'bad') throw new Terminal('that was bad')
        job.write('out', value)
      }
    },
    ['in'],
    'out',
  ),
  defineWorker({
    queue: 'core',
    class: 'careful',
    redact: ['out.out.card'],
    in: { in: port(z.number()) },
    out: { out: port() },
    async perform(job: Job) {
      const n = (await job.read('in')) as number
      job.write('out', { n, card: 'secret' })
      if (n === 1) await job.step('charge', () => acted.push(n))
      if (n === 2) acted.push((job.env as Record<string, string>).KEY!.trim())
      if (n === 3) throw new Error('three is too many')
      if (n === 4) await job.checkpoint()
      acted.push(n)
    },
  }),
  defineWorker({
    queue: 'core',
    class: 'asker',
    in: { in: port() },
    out: { out: port() },
    perform: (job) => job.suspend(),
  }),
]

export const node = (className: string, more: object = {}) => ({ queue: 'core', class: className, ...more })
export const edge = (from: string, to: string) => ({ from: outOf(from), to: inOf(to) })
export const outOf = (end: string) => ({ node: end.split('.')[0]!, outport: end.split('.')[1]! })
export const inOf = (end: string) => ({ node: end.split('.')[0]!, inport: end.split('.')[1]! })

export function chain(n: number, className = 'connect'): Graph {
  const names = Array.from({ length: n }, (_, i) => `n${i + 1}`)
  return {
    nodes: Object.fromEntries(names.map((name) => [name, node(className)])),
    edges: names.slice(1).map((name, i) => edge(`${names[i]}.out`, `${name}.in`)),
    inports: { x: inOf('n1.in') },
    outports: { y: outOf(`n${n}.out`) },
  }
}

export async function startFlow(kit: Kit, graph?: Graph, order: Order = 'fifo', more: object = {}) {
  const id = await kit.make('flow', {
    queue: 'core',
    ...(graph ? { inputs: { __graph: [encodeValue(graph)] } } : {}),
    ...more,
  })
  const ref = String(id)
  const settle = () => drain(kit, { order, errors: 'keep' })
  const view = () => kit.engine.jobs.get(ref)
  return {
    id,
    ref,
    settle,
    view,
    async give(port: string, ...values: unknown[]) {
      await kit.engine.ports.write(ref, 'in', port, values.map(encodeValue))
    },
    async run(inputs: Record<string, unknown[]> = {}) {
      for (const [port, values] of Object.entries(inputs))
        await kit.engine.ports.write(ref, 'in', port, values.map(encodeValue))
      return settle()
    },
    async update(graph: Graph) {
      await kit.engine.ports.write(ref, 'in', '__graph', [encodeValue(graph)])
      return settle()
    },
    async take(port: string): Promise<unknown[]> {
      const { out } = await view()
      if (!out[port]) return []
      const { values } = await kit.engine.ports.take(ref, 'out', port, { max: 10_000 })
      return values.filter((value) => !value.default).map(({ data }) => decodeValue(data))
    },
    status: async () => (await view()).status,
    error: async () => {
      const { error } = await view()
      return error === null ? undefined : (decodeValue(error) as { message: string }).message
    },
    children: async () => (await view()).children,
    child: async (name: string) => String((await view()).children[name]!.id),
  }
}

export type Flow = Awaited<ReturnType<typeof startFlow>>
