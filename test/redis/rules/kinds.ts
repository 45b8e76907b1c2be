// Rule 133: the index by kind of error contains exactly the failed jobs, and lists use it.

import { expect } from 'vitest'
import { createErrors } from '../../../src/engine/api/errors.ts'
import type { Context } from '../../../src/engine/context.ts'
import { kindOfFailed } from '../../../src/engine/jobs/kind.ts'
import type { JobRecord } from '../../../src/redis/record.ts'
import { createStore } from '../../../src/redis/store.ts'
import type { Facts, Making, World } from '../direct.ts'

const MINUTE = 60_000

async function fail(
  world: World,
  message: string,
  { retainMs, ...making }: Making & { retainMs?: number } = {},
): Promise<number> {
  const id = await world.make(making)
  const { queue = 'q' } = making
  if (retainMs !== undefined) await world.change(id, 'patch', 1, 'rf', retainMs)
  await (await world.claimOne({ queue })).fail({}, message)
  return id
}

const errorsOf = (world: World) => createErrors({ store: world.store, now: world.now } as Context)

const failedOf = async (world: World, queue = 'q') =>
  (await world.store.list({ mode: 'ended', status: 'failed', queue, limit: 1_000 })).jobs

const kindOf = (document: JobRecord): string => kindOfFailed(document).fingerprint

type Lines = Record<string, { class: string; minutes: string }>

async function textOf(world: World, queue = 'q'): Promise<Lines> {
  const text = await world.client.ask((redis) => redis.get<string>(world.store.keys.kinds(queue)))
  const lines = (text ?? '').split('\n').flatMap((line) => (line.length > 1 ? [line.split('\t')] : []))
  return Object.fromEntries(lines.map(([kind, name, , , minutes]) => [kind!, { class: name!, minutes: minutes! }]))
}

const membersOf = (world: World, queue = 'q'): Promise<string[]> =>
  world.client.ask((redis) => redis.zrange(`${world.store.keys.queue(queue)}:errors`, 0, -1))

async function sameAsScan(world: World, queue = 'q'): Promise<void> {
  const failed = await failedOf(world, queue)
  const members = failed.map(({ id, document }) => `${kindOf(document)}:${String(id).padStart(16, '0')}`)
  expect(await membersOf(world, queue)).toEqual(members.sort())
  const counts: Lines = {}
  for (const [kind, own] of Map.groupBy(failed, ({ document }) => kindOf(document))) {
    const minutes = Map.groupBy(own, ({ document }) => Math.floor(document.endedAt! / MINUTE))
    const words = [...minutes].sort(([a], [b]) => a - b).map(([minute, jobs]) => `${minute}:${jobs.length}`)
    counts[kind] = { class: own[0]!.document.class, minutes: words.join(' ') }
  }
  const known = Object.entries(await textOf(world, queue)).filter(([, { minutes }]) => minutes !== '')
  expect(Object.fromEntries(known)).toEqual(counts)
}

const lookingAt = (maxIds: number, { client, namespace, now }: World) =>
  createStore({
    client: {
      ...client,
      evaluate: (script, keys, args, rest) =>
        client.evaluate(script, keys, script.name === 'list' ? { ...args, scan: maxIds } : args, rest),
    },
    namespace,
    clock: () => now() - Date.now(),
  })

async function pagesOf(
  store: World['store'],
  filter: { class?: string; kind?: string; group?: string; limit: number },
) {
  const ids: number[] = []
  let before: string | undefined
  for (let page = 0; page < 20; page++) {
    const { jobs, cursor } = await store.list({ mode: 'all', status: 'failed', before, ...filter })
    ids.push(...jobs.map(({ id }) => id))
    if (!cursor) break
    before = cursor
  }
  return ids
}

const rule133: Facts = {
  async 'jobs without retries left are in the index by kind, class and minute'(world) {
    await fail(world, 'card 1 declined')
    await fail(world, 'card 2 declined')
    world.advance(2 * MINUTE)
    await fail(world, 'card 3 declined')
    await fail(world, 'timeout')
    await fail(world, 'timeout', { class: 'child' })
    await sameAsScan(world)
    expect(Object.values(await textOf(world)).map((line) => line.class)).toEqual(['plain', 'plain', 'child'])
  },
  async 'neither a job that will be retried nor a job that is deleted when it fails is in the index'(world) {
    const id = await world.make()
    await (await world.claimOne()).fail({ max: 2 })
    expect(await world.status(id)).toBe('queued')
    await fail(world, 'broken', { retainMs: 0 })
    expect([await membersOf(world), await textOf(world)]).toEqual([[], {}])
  },
  async 'a job that is retried, requeued, terminated or deleted leaves the index'(world) {
    const ids: number[] = []
    for (let i = 0; i < 6; i++) ids.push(await fail(world, `card ${i} declined`))
    const [retried, requeued, deleted, forced, renamed] = ids as [number, number, number, number, number]
    world.advance(3 * MINUTE)
    await world.change('', 'retry', retried)
    await sameAsScan(world)
    await world.change('', 'requeue', requeued, '')
    await sameAsScan(world)
    await world.change('', 'delete', deleted, '1')
    await sameAsScan(world)
    await world.change(forced, 'run', '', '1', '', '', '')
    await sameAsScan(world)
    await world.change(renamed, 'rename', 'child')
    expect(await world.store.list({ mode: 'all', status: 'failed', class: 'child', limit: 9 })).toMatchObject({
      jobs: [{ id: renamed }],
    })
    await errorsOf(world).list({})
    await sameAsScan(world)
    expect(await membersOf(world)).toHaveLength(2)
  },
  async 'a job whose retention ends leaves the index'(world) {
    await fail(world, 'card 1 declined', { retainMs: MINUTE })
    await fail(world, 'card 2 declined')
    world.advance(2 * MINUTE)
    await world.tick()
    await sameAsScan(world)
    expect(await membersOf(world)).toHaveLength(1)
  },
  async 'a job that fails again is counted in its last minute only'(world) {
    const id = await fail(world, 'card 1 declined')
    world.advance(5 * MINUTE)
    await world.change('', 'retry', id)
    await (await world.claimOne()).fail({}, 'card 1 declined')
    await sameAsScan(world)
  },
  async 'jobs of the last half hour are counted by minute, and by quarter of an hour for six hours'(world) {
    world.advance(15 * MINUTE - (world.now() % (15 * MINUTE)))
    const ids: number[] = []
    for (let i = 0; i < 4; i++) {
      ids.push(await fail(world, 'broken'))
      world.advance(MINUTE)
    }
    const minutes = async () =>
      Object.values(await textOf(world)).flatMap((line) => line.minutes.split(' ').map((word) => word.split(':')[1]))
    expect(await minutes()).toEqual(['1', '1', '1', '1'])
    world.advance(60 * MINUTE)
    await fail(world, 'broken')
    expect(await minutes()).toEqual(['4', '1'])
    await world.change('', 'retry', ids[2]!)
    expect(await minutes()).toEqual(['3', '1'])
    world.advance(6 * 60 * MINUTE)
    await (await world.claimOne()).fail({}, 'broken')
    expect(await minutes()).toEqual(['1'])
    expect((await errorsOf(world).list({})).errors).toMatchObject([{ count: 5 }])
  },
  async 'a job that leaves the index is subtracted from its quarter of an hour'(world) {
    world.advance(15 * MINUTE - (world.now() % (15 * MINUTE)))
    const ids: number[] = []
    for (let i = 0; i < 4; i++) {
      ids.push(await fail(world, 'broken'))
      world.advance(MINUTE)
    }
    world.advance(60 * MINUTE)
    ids.push(await fail(world, 'broken'))
    for (const id of [ids[4]!, ids[2]!]) await world.change('', 'retry', id)
    expect(Object.values(await textOf(world)).map(({ minutes }) => minutes.split(':')[1])).toEqual(['3'])
  },
  async 'a job that fails without a commit has no kind until kinds are listed'(world) {
    const id = await world.make({ maxLost: 1 })
    await world.claimOne({ lease: 5_000 })
    world.advance(6_000)
    await world.tick()
    expect(await world.status(id)).toBe('failed')
    expect(await membersOf(world)).toEqual([`:${String(id).padStart(16, '0')}`])
    const { jobs } = await world.store.list({ mode: 'all', status: 'failed', kind: '-', limit: 9 })
    const error = kindOf(jobs[0]!.document)
    expect(await world.store.list({ mode: 'all', status: 'failed', kind: error, limit: 9 })).toMatchObject({ jobs })
    expect(await errorsOf(world).list({})).toMatchObject({ errors: [{ error, count: 1, jobs: [id] }], cursor: null })
    await sameAsScan(world)
  },
  async 'a refused run fails with the kind of its error'(world) {
    const id = await world.make()
    const run = await world.claimOne()
    await run.commit({ ops: [{ op: 'terminate', job: 999 }] })
    expect(await world.status(id)).toBe('failed')
    await errorsOf(world).list({})
    await sameAsScan(world)
  },
  async 'a list of a kind has exactly its jobs, newest first, and their number'(world) {
    const cards: number[] = []
    for (let i = 0; i < 5; i++) {
      cards.unshift(await fail(world, `card ${i} declined`))
      await fail(world, 'timeout')
    }
    const other = await fail(world, 'card 9 declined', { queue: 'other' })
    const { jobs } = await world.store.list({ mode: 'all', queue: 'other', status: 'failed', limit: 1 })
    const kind = kindOf(jobs[0]!.document)
    const page = (before?: string, more: object = {}) =>
      world.store.list({ mode: 'all', status: 'failed', kind, before, limit: 4, ...more })
    const first = await page()
    expect([first.jobs.map(({ id }) => id), first.total]).toEqual([[other, ...cards.slice(0, 3)], 6])
    const rest = await page(first.cursor!)
    expect([rest.jobs.map(({ id }) => id), rest.cursor]).toEqual([cards.slice(3), null])
    expect((await page(undefined, { queue: 'q' })).jobs.map(({ id }) => id)).toEqual(cards.slice(0, 4))
  },
  async 'pages of a kind show each of its jobs once, even if a page reads only three jobs'(world) {
    const ids: number[] = []
    for (let i = 0; i < 8; i++) {
      ids.unshift(await fail(world, 'card declined'))
      await fail(world, 'timeout')
    }
    const kind = kindOf(await world.document(ids[0]!))
    expect(await pagesOf(lookingAt(3, world), { kind, limit: 2 })).toEqual(ids)
  },
  async 'a filtered list of a class is newest first, even if the class has more failed jobs than a page reads'(world) {
    const failed = { class: 'child', group: 'shop' }
    const older = await fail(world, 'timeout', { ...failed, queue: 'q0' })
    for (let i = 1; i < 55; i++) await fail(world, 'timeout', { class: 'child', queue: `q${i}` })
    const newer = await fail(world, 'timeout', failed)
    for (let i = 0; i < 89; i++) await fail(world, 'timeout', { class: 'child' })
    expect(await pagesOf(world.store, { class: 'child', group: 'shop', limit: 50 })).toEqual([newer, older])
  },
  async 'a list of failed jobs of a class reads its kinds'(world) {
    const ids: number[] = []
    for (let i = 0; i < 3; i++) {
      ids.unshift(await fail(world, `${'abc'[i]} is broken`, { class: 'child' }))
      await fail(world, 'timeout')
    }
    const found = await world.store.list({ mode: 'all', status: 'failed', class: 'child', limit: 9 })
    expect([found.jobs.map(({ id }) => id), found.total, found.cursor]).toEqual([ids, 3, null])
  },
  async 'the hundred most recent kinds are kept, and lists include jobs of older kinds'(world) {
    const name = (n: number) => `${String.fromCharCode(97 + Math.floor(n / 26))}${String.fromCharCode(97 + (n % 26))}`
    const ids: number[] = []
    for (let i = 0; i < 101; i++) {
      ids.push(await fail(world, `${name(i)} is broken`))
      world.advance(1)
    }
    const kinds = Object.keys(await textOf(world))
    expect(kinds).toHaveLength(100)
    expect(kinds).not.toContain(kindOf(await world.document(ids[0]!)))
    const { errors, looked } = await errorsOf(world).list({})
    expect([errors.length, looked]).toEqual([100, 101])
    const found = await world.store.list({ mode: 'all', status: 'failed', class: 'plain', limit: 1_000 })
    expect(found.jobs).toHaveLength(101)
  },
  async 'a list of a kind has exactly its jobs, even if more queues have failed jobs than a page reads indexes'(world) {
    for (let i = 0; i < 60; i++) await fail(world, 'timeout', { queue: `q${i}` })
    const id = await fail(world, 'broken')
    const kind = kindOf(await world.document(id))
    expect(await pagesOf(world.store, { kind, limit: 9 })).toEqual([id])
  },
  async 'a repair adds a missing job, and removes other entries'(world) {
    const id = await fail(world, 'broken')
    const key = `${world.store.keys.queue('q')}:errors`
    const [member] = await membersOf(world)
    await world.client.ask((redis) => redis.del(key, world.store.keys.kinds('q')))
    expect(await world.faults()).toEqual([
      `${id} has failed, but is missing from the index of errors`,
      'q has 0 entries in the index of errors, but 1 failed job',
    ])
    await world.store.repair([{ kind: 'job', who: String(id) }])
    expect([await membersOf(world), await world.faults()]).toEqual([[member], []])
    await sameAsScan(world)
    await world.client.ask((redis) => redis.zadd(key, { score: 0, member: 'ab:0000000000000999' }))
    expect(await world.faults()).toEqual(['q has 2 entries in the index of errors, but 1 failed job'])
    await world.store.repair([{ kind: 'queue', who: 'q' }])
    expect([await membersOf(world), await world.faults()]).toEqual([[member], []])
    await sameAsScan(world)
  },
}

export const kinds: Record<number, Facts> = { 133: rule133 }
