// Rule 111: a job with a history keeps its own log.

import { expect } from 'vitest'
import type { Encoded } from '../../../src/core/codec/value.ts'
import type { Op } from '../../../src/core/run.ts'
import { pastRunOf } from '../../../src/redis/record.ts'
import type { Facts, World } from '../direct.ts'

const says = (word: string): Op => ({ op: 'log', entry: JSON.stringify({ message: word }) as Encoded })

const own = (world: World, id: number) => world.client.ask((redis) => redis.xlen(world.store.keys.jobLog(id)))

async function said(world: World, id?: number): Promise<string[]> {
  const entries = await world.store.readLog('+', 1_000, id)
  const texts = entries.map(({ fields }) => fields[id === undefined ? 'entry' : 'did']!)
  if (id !== undefined) for (const text of texts) expect(text).toMatch(/^(info|error)\n/)
  return texts.map((text) => JSON.parse(text.slice(text.indexOf('{')))).map(({ message, error }) => message ?? error)
}

const rule111: Facts = {
  async 'log entries of a job with a history are in a log of its own, too'(world) {
    const id = await world.make({ history: 3 })
    await (await world.claimOne()).suspend({ ops: [says('one'), says('two')] })
    await world.change(id, 'run', '', '', '', '', '')
    await (await world.claimOne()).fail({}, 'three')
    expect(await said(world, id)).toEqual(['three', 'two', 'one'])
    expect(await said(world)).toEqual(['three', 'two', 'one'])
  },
  async 'the row of a lost run and the log have the reason; a run that had not begun logs nothing'(world) {
    const id = await world.make({ history: 3 })
    const other = await world.make()
    await world.claim({ begun: 1 })
    world.advance(45_001)
    await world.tick()
    const [run] = (await world.store.runs(id)).map(pastRunOf)
    const why = 'no commit before its lease ended'
    expect(run).toMatchObject({ outcome: 'lost', error: expect.stringContaining(why) })
    expect(await said(world, id)).toEqual([expect.stringContaining(why)])
    expect(await said(world)).toHaveLength(1)
    expect((await world.document(other)).lostRuns).toBeUndefined()
  },
  async 'other jobs have no cost for logs of jobs'(world) {
    for (const history of [undefined, 0]) {
      const id = await world.make({ history })
      await (await world.claimOne()).suspend({ ops: [says('one')] })
      expect(await own(world, id)).toBe(0)
    }
    expect(await said(world)).toEqual(['one', 'one'])
  },
  async 'the log of a job holds 8 MiB of large entries'(world) {
    const id = await world.make({ history: 1 })
    const ops = Array.from({ length: 200 }, () => says('x'.repeat(16_000)))
    for (let i = 0; i < 4; i++) await (await world.claimOne()).commit({ end: 'again', ops })
    expect(await own(world, id)).toBeLessThanOrEqual(540)
    expect(await own(world, id)).toBeGreaterThan(500)
    expect(await world.client.ask((redis) => redis.xlen(world.store.keys.log))).toBe(800)
  },
  async 'the log of a job is deleted with the job, even at its end'(world) {
    const kept = await world.make({ history: 1 })
    await (await world.claimOne()).commit({ ops: [says('one')] })
    await world.change(kept, 'terminate', '', '')
    await world.change(kept, 'delete', '')
    const brief = await world.make({ history: 1, retain: 0 })
    await (await world.claimOne()).commit({ ops: [says('two')] })
    const ended = await world.make({ history: 1, retain: 0 })
    const run = await world.claimOne()
    await world.change(ended, 'terminate', '', '')
    await run.fail({}, 'three')
    for (const id of [kept, brief, ended]) expect(await own(world, id)).toBe(0)
    expect(await said(world)).toEqual(['three', 'two', 'one'])
  },
}

export const logged: Record<number, Facts> = { 111: rule111 }
