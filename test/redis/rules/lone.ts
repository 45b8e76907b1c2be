// Rule 131: a job on which nothing hangs is lent and ended by its text alone, and all else is as with any other job.

import { expect } from 'vitest'
import { createStats } from '../../../src/engine/api/stats.ts'
import type { Context } from '../../../src/engine/context.ts'
import type { JobRecord } from '../../../src/redis/record.ts'
import type { Facts, Making, World } from '../direct.ts'

const LEASE = 45_000
const DAY = 86_400_000

/** Those with a key of their own wait in no piece. */
let keys = 0
const single = (): Making => ({ unique: { key: `${++keys}` } })

const entries = (world: World, index: string) =>
  world.client.ask((redis) => redis.zrange<string[]>(`${world.store.keys.queue('q')}:${index}`, 0, -1))

/** More leases than stand in the document of a queue. */
const many = async (world: World): Promise<string[]> => {
  const ids = []
  for (let i = 0; i < 20; i++) ids.push(String(await world.make(single())))
  return ids
}

export const lone: Record<number, Facts> = {
  131: {
    async 'it is left as one that somebody touched during its run'(world) {
      const ids = [await world.make(single()), await world.make(single())]
      const runs = await world.claim()
      await world.change(ids[1]!, 'alias', 'touched')
      expect(await Promise.all(runs.map((run) => run.commit()))).toEqual(['completed', 'completed'])
      const [left, touched] = await Promise.all(ids.map((id) => world.document(id)))
      const { aliases: __, ...rest } = touched!
      const alike = (doc: object) => Object.keys(doc).toSorted()
      expect(alike(left!)).toEqual(alike(rest))
      for (const name of ['startedUp', 'runNumber', 'place', 'runsThisMinute'] as const)
        expect([name, left![name]]).toEqual([name, touched![name]])
      expect(await world.faults()).toEqual([])
    },
    async 'those of one commit leave the indexes where they were, and are in those where they belong'(world) {
      const ids = await many(world)
      const runs = await world.claim()
      expect(await entries(world, 'ready')).toEqual([])
      expect((await entries(world, 'leases')).toSorted()).toEqual(ids.toSorted())
      expect(await world.faults()).toEqual([])
      const outcomes = await Promise.all(runs.map((run) => run.settled({})))
      const { answers } = await world.store.commit({ queue: 'q', runs: outcomes })
      expect(new Set(answers)).toEqual(new Set(['completed']))
      expect(await entries(world, 'leases')).toEqual([])
      expect((await entries(world, 'completed')).toSorted()).toEqual(ids.toSorted())
      expect(await world.faults()).toEqual([])
    },
    async 'its end is counted'(world) {
      await world.make(single())
      await (await world.claimOne()).commit()
      expect((await world.queueOf()).settings.counts).toMatchObject({ runs: 1, completed: 1 })
    },
    async 'its key is free when it has ended'(world) {
      const job: Making = { unique: { key: 'again' } }
      const first = await world.make(job)
      await (await world.claimOne()).commit()
      expect(await world.make(job)).not.toBe(first)
    },
    async 'whatever its class and its key are called'(world) {
      for (const [cls, key] of [
        ['plain', 'https://a.b/"c"\\\n\t<é>'],
        ['a/b<"c"', 'again'],
      ] as const) {
        const job: Making = { class: cls, unique: { key } }
        const first = await world.make(job)
        await (await world.claimOne()).commit()
        expect(await world.status(first)).toBe('completed')
        expect(await world.make(job)).not.toBe(first)
        await (await world.claimOne()).commit()
      }
      expect(await world.faults()).toEqual([])
    },
    async 'each of two classes is counted as its own, and kept as long as it is to be'(world) {
      const names = ['one', 'two', 'one', 'two']
      const ids: number[] = []
      for (const name of names)
        ids.push(await world.make({ ...single(), class: name, retain: name === 'one' ? 1000 : DAY }))
      const runs = await world.claim()
      const outcomes = await Promise.all(runs.map((run) => run.settled({})))
      await world.store.commit({ queue: 'q', runs: outcomes })
      expect(await world.faults()).toEqual([])
      const { classes } = await createStats({ store: world.store } as Context).classes({ queue: 'q' })
      expect(Object.fromEntries(classes.map((of) => [of.class, of.counts.completed]))).toEqual({ one: 2, two: 2 })
      world.advance(1001)
      await world.tick()
      for (const [i, id] of ids.entries())
        if (names[i] === 'one') await expect(world.status(id)).rejects.toThrow()
        else expect(await world.status(id)).toBe('completed')
    },
    async 'one that has a parent is told of there'(world) {
      const parent = await world.make()
      await (await world.claimOne()).suspend()
      const child = await world.make({ ...single(), parent: String(parent) })
      const runs = await world.claim()
      expect(runs.map(({ id }) => id)).toEqual([child])
      await runs[0]!.commit()
      expect(await world.status(parent)).toBe('queued')
      expect(await world.faults()).toEqual([])
    },
    async 'what stands beside it comes with it'(world) {
      await world.make({ ...single(), args: `=${'x'.repeat(600)}` })
      expect((await world.claimOne()).document.args).toContain('x'.repeat(600))
    },
    async 'whatever stands in it, and at the end of it'(world) {
      const marks = [
        '"',
        ',',
        '",',
        '","',
        ',"',
        '":"',
        '\\',
        '\\"',
        '\\\\',
        '}',
        '"}',
        '","k":"1',
        '{"z":"l","tk":"',
        '^',
        '=',
      ]
      const texts = marks.flatMap((mark) => [mark, `a${mark}`, `${mark}a`, `a${mark}b${mark}`])
      const makings: Making[] = texts.flatMap((text) => [
        { ...single(), args: `=${text}` },
        { ...single(), createdBy: text },
        { ...single(), createdBy: text, args: `=${text}`, class: `c${text}` },
        { unique: { key: text }, class: 'keyed' },
        { unique: { key: text }, createdBy: text },
      ])
      const ids: number[] = []
      for (const making of makings) ids.push(await world.make(making))
      const before = await Promise.all(ids.map((id) => world.document(id)))
      for (let done = 0; done < ids.length; ) {
        const runs = await world.claim()
        expect(runs).not.toEqual([])
        const outcomes = await Promise.all(runs.map((run) => run.settled({})))
        const { answers } = await world.store.commit({ queue: 'q', runs: outcomes })
        expect(new Set(answers)).toEqual(new Set(['completed']))
        done += runs.length
      }
      const told = ({ args, createdBy, class: name, uniqueScope }: JobRecord) => ({
        args,
        createdBy,
        name,
        uniqueScope,
      })
      for (const [i, id] of ids.entries()) expect(told(await world.document(id))).toEqual(told(before[i]!))
      for (const making of makings.slice(-5)) expect(ids).not.toContain(await world.make(making))
      expect(await world.faults()).toEqual([])
    },
    async 'whatever it ends with'(world) {
      for (const createdBy of ['"', '",', 'a",', '","', '\\', '\\"', '"}', '",}']) {
        const id = await world.make(single())
        const { createdBy: _, ...doc } = await world.document(id)
        await world.restore(id, { ...doc, createdBy })
        await (await world.claimOne()).commit()
        expect(await world.document(id)).toMatchObject({ place: 'c', createdBy })
      }
      expect(await world.faults()).toEqual([])
    },
    async 'it ends once: the same again is answered the same, and changes nothing'(world) {
      const id = await world.make(single())
      const run = await world.claimOne()
      const outcome = await run.settled({})
      const { answers } = await world.store.commit({ queue: 'q', runs: [outcome, outcome] })
      expect(answers).toEqual(['completed', 'completed'])
      expect((await world.document(id)).runNumber).toBe(2)
      expect((await world.queueOf()).settings.counts).toMatchObject({ runs: 1, completed: 1 })
    },
    async 'it comes back when its lease is over, and who had it has lost it'(world) {
      const id = await world.make(single())
      const run = await world.claimOne()
      world.advance(LEASE + 1)
      expect(await run.commit()).toBe('lost')
      await world.claim()
      expect(await world.status(id)).toBe('queued')
    },
    async 'it goes when its time is over'(world) {
      const id = await world.make(single())
      await (await world.claimOne()).commit()
      world.advance(DAY + 1)
      await world.tick()
      await expect(world.status(id)).rejects.toThrow()
    },
    async 'one that counts against a limit is asked for room'(world) {
      for (let i = 0; i < 2; i++)
        await world.make({ ...single(), limits: [{ key: 'narrow', how: 'set', concurrency: 1 }] })
      expect(await world.claim()).toHaveLength(1)
    },
    async 'a queue that bans its class has it fail'(world) {
      const id = await world.make(single())
      await world.store.settings('q', {}, { ban: ['plain'] })
      expect(await world.claim()).toEqual([])
      expect(await world.status(id)).toBe('failed')
    },
  },
}
