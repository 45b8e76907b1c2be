// Rules 104–106: jobs with ports can be stored together, in pieces. The runs of a piece end together if they read all
// their input, and changed nothing but output ports.

import { expect } from 'vitest'
import type { NewJob } from '../../../src/redis/new-job.ts'
import type { Facts, Run, World } from '../direct.ts'

const MONTH = 2_592_000_000
const IN = { n: {}, free: {} }
const OUT = { n: {}, also: {} }

type Did = Partial<Parameters<Run['settled']>[0]>

async function pack(world: World, job: Partial<NewJob> = {}, values = 1): Promise<number[]> {
  const made = Array.from({ length: 12 }, (_, i) => ({
    queue: 'q',
    class: 'plain',
    known: true,
    in: IN,
    out: OUT,
    inputs: { n: Array.from({ length: values }, (_, k) => `=${100 * k + i}`) },
    ...job,
  }))
  return (await world.store.enqueue(made)).made.map(({ id }) => id)
}

const hasDocument = async (world: World, id: number): Promise<boolean> =>
  (await world.client.ask((redis) => redis.exists(world.store.keys.job(id)))) === 1

async function expectOut(world: World, ids: number[], out: number[]): Promise<void> {
  for (const id of ids) expect([id, await hasDocument(world, id)]).toEqual([id, out.includes(id)])
  expect(await world.faults()).toEqual([])
}

const passed = (count: number, values: string[], port = 'n'): Did => ({
  reads: { n: { cursor: 0, count } },
  ops: [{ op: 'write', to: { out: port }, values }] as unknown as Did['ops'],
})

async function run(world: World, did: (i: number) => Did) {
  const lane = world.lane()
  const { runs } = await lane.ask()
  const { answers } = await lane.ask({ runs: await Promise.all(runs.map((one, i) => one.settled(did(i)))) })
  return answers
}

const waiting: Facts = {
  async 'each packed job has its own values, whether it is read, leased, or has left its piece'(world) {
    const ids = await pack(world)
    expect(await world.values(ids[7]!, 'in', 'n')).toEqual(['7'])
    await expectOut(world, ids, [])
    await world.push(ids[3]!, 'n', '33')
    await world.change(ids[4]!, 'set', 'n', '1')
    await expectOut(world, ids, [ids[3]!, ids[4]!])
    expect(await world.values(ids[3]!, 'in', 'n')).toEqual(['3', '33'])
    const { runs } = await world.lane().ask()
    const seen = Object.fromEntries(runs.map(({ id, claimed }) => [ids.indexOf(id), claimed.inputs.n]))
    expect(seen).toEqual({ ...Object.fromEntries(ids.map((_, i) => [i, [`=${i}`]])), 3: ['=3', '=33'] })
  },
  async 'a value written to a job in the call in which it leaves its piece is read at once'(world) {
    const ids = await pack(world)
    const { runs } = await world.lane().ask({ max: 3 })
    expect(runs.map(({ claimed }) => claimed.inputs)).toEqual([{ n: ['=0'] }, { n: ['=1'] }, { n: ['=2'] }])
    await expectOut(world, ids, ids.slice(0, 3))
  },
  async 'jobs that cannot wait in pieces have their values too, counted once'(world) {
    await world.change('', 'listen', '60000', '1', '/sidejob/job')
    const ids = await pack(world, {}, 2)
    await expectOut(world, ids, ids)
    expect(await world.values(ids[7]!, 'in', 'n')).toEqual(['7', '107'])
    expect((await world.document(ids[7]!))['i:n']).toBe('2,0')
  },
  async 'a job with different ports, numbers of values, large values or a channel has its own document'(world) {
    const many = Array.from({ length: 12 }, (_, i) => ({
      queue: 'q',
      class: 'plain',
      known: true,
      in: IN,
      out: OUT,
      inputs: { n: Array.from({ length: 1 + (i % 2) }, () => '=1') },
    }))
    const mixed = (await world.store.enqueue(many)).made.map(({ id }) => id)
    if (world.way === 'as it comes') await expectOut(world, mixed, mixed)
    for (const job of [{ inputs: { n: [`="${'x'.repeat(600)}"`] } }, { in: { n: { channels: ['/a'] } } }]) {
      const ids = await pack(world, job)
      await expectOut(world, ids, ids)
    }
    await expect(pack(world, { in: {} })).rejects.toThrow('has no input port "n"')
  },
}

const together: Facts = {
  async 'jobs that read their input and wrote an equal number of values end together'(world) {
    const ids = await pack(world)
    const answers = await run(world, (i) => passed(1, [`${i}`, `${i + 50}`]))
    expect(new Set(answers)).toEqual(new Set(['completed']))
    await expectOut(world, ids, [])
    expect(await world.document(ids[7]!)).toMatchObject({ place: 'c', 'i:n': '1,1', 'o:n': '2,0' })
    expect(await world.document(ids[7]!)).not.toHaveProperty('vi:n')
    expect(await world.values(ids[7]!, 'in', 'n')).toEqual([])
    expect(await world.values(ids[7]!, 'out', 'n')).toEqual(['7', '57'])
    expect((await world.queueOf()).settings.counts).toMatchObject({ runs: 12, completed: 12 })
  },
  async 'jobs that only read, or only write, end together'(world) {
    const reading = await pack(world)
    await run(world, () => ({ reads: { n: { cursor: 0, count: 1 } } }))
    const writing = await pack(world, {}, 0)
    await run(world, (i) => passed(0, [`${i}`], 'also'))
    await expectOut(world, [...reading, ...writing], [])
    expect((await world.document(reading[7]!))['i:n']).toBe('1,1')
    expect(await world.values(writing[7]!, 'out', 'also')).toEqual(['7'])
  },
  async 'outputs can be taken from each packed job, and a write to a job wakes it'(world) {
    const ids = await pack(world)
    await run(world, (i) => passed(1, [`${i}`]))
    expect((await world.change(ids[7]!, 'take', '', 'o', 'n', 5))[0]).toBeDefined()
    expect(await world.values(ids[7]!, 'out', 'n')).toEqual([])
    await world.push(ids[8]!, 'n', '1')
    expect(await world.status(ids[8]!)).toBe('queued')
    await expectOut(world, ids, [ids[7]!, ids[8]!])
  },
  async 'ended packed jobs are kept like jobs that input can wake, or by their retain'(world) {
    const ids = await pack(world)
    await run(world, () => passed(1, ['1']))
    const none = await pack(world, { retain: 0 })
    await run(world, () => passed(1, ['1']))
    await expect(world.document(none[3]!)).rejects.toThrow()
    world.advance(MONTH - 60_000)
    await world.tick()
    expect(await world.status(ids[3]!)).toBe('completed')
    world.advance(120_000)
    await world.tick()
    await expect(world.document(ids[3]!)).rejects.toThrow()
  },
}

const apart: Facts = {
  async 'jobs with other reads, other writes or new input leave their piece; the remaining jobs end together'(world) {
    const ids = await pack(world, {}, 2)
    const lane = world.lane()
    const { runs } = await lane.ask()
    await world.push(ids[4]!, 'n', '44')
    const others: Record<number, Did> = {
      0: passed(1, ['0']),
      1: passed(2, ['1'], 'also'),
      2: passed(2, ['2', '2']),
      3: {},
    }
    const did = (i: number) => others[i] ?? passed(2, [`${i}`])
    const { answers } = await lane.ask({ runs: await Promise.all(runs.map((one, i) => one.settled(did(i)))), max: 0 })
    expect(answers.map((answer, i) => [i, answer])).toEqual(ids.map((_, i) => [i, i === 4 ? 'queued' : 'completed']))
    await expectOut(world, ids, ids.slice(0, 5))
    expect(await world.values(ids[0]!, 'in', 'n')).toEqual(['100'])
    expect(await world.values(ids[1]!, 'out', 'also')).toEqual(['1'])
    expect(await world.values(ids[2]!, 'out', 'n')).toEqual(['2', '2'])
    expect(await world.values(ids[3]!, 'in', 'n')).toEqual(['3', '103'])
    expect(await world.values(ids[4]!, 'in', 'n')).toEqual(['44'])
    expect(await world.values(ids[4]!, 'out', 'n')).toEqual(['4'])
    expect(await world.values(ids[5]!, 'out', 'n')).toEqual(['5'])
  },
  async 'no value is lost if all jobs read less'(world) {
    const ids = await pack(world, {}, 2)
    expect(new Set(await run(world, () => passed(1, ['1'])))).toEqual(new Set(['completed']))
    await expectOut(world, ids, ids)
    expect(await world.values(ids[7]!, 'in', 'n')).toEqual(['107'])
    expect(await world.values(ids[7]!, 'out', 'n')).toEqual(['1'])
    const unread = await pack(world)
    await run(world, () => passed(0, ['1']))
    expect(await world.values(unread[7]!, 'in', 'n')).toEqual(['7'])
    expect(await world.values(unread[7]!, 'out', 'n')).toEqual(['1'])
  },
  async 'each run is refused separately if a port is missing'(world) {
    await pack(world)
    const answers = await run(world, () => passed(1, ['1'], 'none'))
    for (const answer of answers) expect(answer).toMatch(/^refused:/)
    expect((await world.queueOf()).settings.counts).not.toHaveProperty('completed')
  },
  async 'a listener of the log receives the reads and writes of each packed job'(world) {
    const ids = await pack(world)
    await world.change('', 'listen', '60000', '1', '/sidejob/log')
    await run(world, (i) => passed(1, [`${i}`]))
    await expectOut(world, ids, ids)
    expect(await world.values(ids[7]!, 'out', 'n')).toEqual(['7'])
  },
  async 'a token that no longer ends the piece has no effect on ports'(world) {
    const ids = await pack(world)
    const lane = world.lane()
    const { runs } = await lane.ask()
    const did = await Promise.all(runs.map((one, i) => one.settled(passed(1, [`${i}`]))))
    world.advance(45_001)
    expect(new Set((await lane.ask({ runs: did, max: 0 })).answers)).toEqual(new Set(['lost']))
    expect(await world.values(ids[7]!, 'in', 'n')).toEqual(['7'])
    expect(await world.values(ids[7]!, 'out', 'n')).toEqual([])
  },
}

export const ported: Record<number, Facts> = { 104: waiting, 105: together, 106: apart }
