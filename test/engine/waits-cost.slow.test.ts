import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createEngine } from '../../src/engine/index.ts'
import { defineWorker } from '../../src/index.ts'
import { type Client, createClient } from '../../src/redis/client.ts'
import { type Kit, kind, startKit } from '../kit/index.ts'
import { type Cost, costOf } from '../redis/commandstats.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const RUNS = 1_000

const turns = defineWorker({
  class: 'turns',
  perform: (job) =>
    job.each('turn', RUNS, async (turn, at) => {
      await at.step('work', () => `turn ${turn} of many`)
      await at.sleep('1 hour')
    }),
})

const counted = defineWorker({
  class: 'counted',
  async perform(job) {
    const turn = job.get<number>('turn') ?? 0
    await job.step(`work ${turn}`, () => `turn ${turn} of many`)
    job.set({ turn: turn + 1 })
    return job.again({ wait: '1 hour' })
  },
})

const plain = defineWorker({
  class: 'plain',
  async perform(job) {
    for (let turn = 0; turn < RUNS; turn++) {
      await job.step(`work ${turn}`, () => `turn ${turn} of many`)
      await job.sleep('1 hour')
    }
  },
})

function weighing(client: Client) {
  let bytes = 0
  const evaluate: Client['evaluate'] = async (script, ...rest) => {
    const answer = await client.evaluate(script, ...rest)
    if (script.name.startsWith('commit')) bytes = Math.max(bytes, JSON.stringify((answer as unknown[])[2]).length)
    return answer
  }
  return { client: { ...client, evaluate }, weigh: () => [bytes, (bytes = 0)][0]! }
}

type Weighed = Pick<Cost, 'calls' | 'billed'> & { bytes: number; through: number; commands: Cost['commands'] }

describe.skipIf(kind === 'embedded')('a run', () => {
  let kit: Kit
  let engine: Kit['engine']
  let weigh: () => number
  beforeAll(async () => {
    kit = await startKit({ workers: [turns, counted, plain], hold: true })
    const scales = weighing(createClient(kit.options))
    engine = createEngine({ ...kit.engineOptions, redis: scales.client })
    weigh = scales.weigh
  })
  afterAll(() => kit.close())

  const run = async () => {
    await kit.advance(HOUR)
    await engine.dispatch('default', '')
  }

  async function weighed(className: string, runs: number[]): Promise<Weighed[]> {
    // Begin a day: its first run costs more (it stores the counts of the day before), and is not measured.
    await kit.advance(DAY - (kit.now() % DAY))
    const { jobs } = await engine.jobs.enqueue([{ queue: 'default', class: className }])
    const answers: Weighed[] = []
    for (let n = 1; n <= runs.at(-1)!; n++) {
      weigh()
      if (!runs.includes(n)) {
        await run()
        continue
      }
      const before = kit.gateway.counters.bytes
      const { calls, billed, commands } = await costOf(kit, run)
      answers.push({ calls, billed, commands, bytes: weigh(), through: kit.gateway.counters.bytes - before })
    }
    await engine.jobs.terminate(String(jobs[0]!.id), {})
    return answers
  }

  test.each(['turns', 'counted'])('number 1,000 of `%s` costs what number 2 did', async (name) => {
    const [second, last] = await weighed(name, [2, RUNS])
    expect({ calls: last!.calls, commands: last!.commands }).toEqual({
      calls: second!.calls,
      commands: second!.commands,
    })
    expect(last!.bytes - second!.bytes).toBeLessThanOrEqual(40)
    expect(second!.through).toBeGreaterThan(1_000)
    expect(last!.through - second!.through).toBeLessThanOrEqual(120)
  })

  test('a function that reads all of its history pays one command, and its claim pays none', async () => {
    const [second, hundredth, last] = await weighed('plain', [2, 40, 300])
    expect(hundredth!.calls).toBe(second!.calls)
    expect(last!.calls).toBe(second!.calls + 1)
    expect(last!.bytes).toBeLessThanOrEqual(second!.bytes + 40)
  })
})
