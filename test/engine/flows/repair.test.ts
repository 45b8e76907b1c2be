import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Kit, rawCommand, startKit } from '../../kit/index.ts'
import { edge, type Graph, inOf, node, outOf, startFlow, workers } from './kit.ts'

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ hold: true, workers })
})
afterAll(() => kit.close())

const sumDouble: Graph = {
  nodes: { sum: node('sum'), double: node('double') },
  edges: [edge('sum.sum', 'double.in')],
  inports: { in: inOf('sum.in') },
  outports: { out: outOf('double.out') },
}

const documentOf = async (id: number): Promise<Record<string, string>> => {
  const answer = await rawCommand(kit.redis.port, 'GET', kit.store.keys.job(id))
  return JSON.parse(/\{[\s\S]*\}/.exec(answer)![0])
}

async function spoil(id: number, field: string, become: (was: string) => string | undefined) {
  const doc = await documentOf(id)
  expect(doc[field]).toMatch(/^\d+:[io]:/)
  await rawCommand(
    kit.redis.port,
    'SET',
    kit.store.keys.job(id),
    JSON.stringify({ ...doc, [field]: become(doc[field]!) }),
  )
}

async function repairAll() {
  const [repaired, left]: [string[], string[]] = [[], []]
  for (let cursor: string | undefined | null; cursor !== null; ) {
    const slice: Awaited<ReturnType<typeof kit.engine.doctor.repair>> = await kit.engine.doctor.repair(cursor)
    repaired.push(...slice.repaired.map(({ what }) => what))
    left.push(...slice.left.map(({ what }) => what))
    cursor = slice.cursor
  }
  return { repaired, left }
}

type Where = 'of a node' | 'of the flow'
const damages: [string, Where, (was: string) => string | undefined, string][] = [
  ['gone', 'of a node', () => undefined, 'wires from sum.sum: expected double.in, got none'],
  [
    'doubled',
    'of a node',
    (was) => `${was} ${was}`,
    'wires from sum.sum: expected double.in, got double.in, double.in',
  ],
  ['stale', 'of a node', () => '99999:i:in', 'wires from sum.sum: expected double.in, got job 99999.in'],
  ['never laid', 'of a node', () => '!', 'wires from sum.sum: expected double.in, got a call to the flow'],
  ['gone', 'of the flow', () => undefined, 'wires from in: expected sum.in, got none'],
  ['doubled', 'of the flow', (was) => `${was} ${was}`, 'wires from in: expected sum.in, got sum.in, sum.in'],
  ['stale', 'of the flow', () => '99999:i:in', 'wires from in: expected sum.in, got job 99999.in'],
]

test.each(damages)(
  'a wire that is %s, %s, is found, named with its remedy, and repaired',
  async (_, where, become, what) => {
    const [flow, neighbour] = [await startFlow(kit, sumDouble), await startFlow(kit, sumDouble)]
    await flow.run({ in: [[1, 2, 3, 4]] })
    await neighbour.run({ in: [[1, 2]] })
    expect([await flow.take('out'), await neighbour.take('out')]).toEqual([[20], [6]])
    expect(await kit.engine.doctor.verify()).toEqual([])

    if (where === 'of a node') await spoil(Number(await flow.child('sum')), 'wo:sum', become)
    else await spoil(flow.id, 'wi:in', become)
    const fault = {
      kind: 'flow',
      who: String(flow.id),
      what,
      remedy: 'the wires are restored from the graph of the flow; waiting values continue',
      link: `/v1/flows/${flow.id}`,
    }
    expect([await kit.engine.doctor.verify(), await kit.engine.doctor.verify()]).toEqual([[fault], [fault]])
    await neighbour.run({ in: [[3, 4]] })
    expect(await neighbour.take('out')).toEqual([14])

    expect(await repairAll()).toEqual({ repaired: [what], left: [] })
    expect(await kit.engine.doctor.verify()).toEqual([])
    await flow.run({ in: [[5, 6]] })
    expect(await flow.take('out')).toEqual([22])
    expect(await flow.status()).toBe('completed')
  },
)

test('a repair follows a graph that changed after the check', async () => {
  const flow = await startFlow(kit, sumDouble)
  await flow.run({ in: [[1, 2]] })
  expect(await flow.take('out')).toEqual([6])
  await spoil(Number(await flow.child('sum')), 'wo:sum', () => undefined)
  const changed: Graph = { ...sumDouble, edges: [], outports: { out: outOf('sum.sum') } }
  await flow.update(changed)
  expect(await repairAll()).toEqual({ repaired: [], left: [] })
  await flow.run({ in: [[5, 6]] })
  expect(await flow.take('out')).toEqual([11])
})
