// Rules 85–88: jobs that are created in one call and differ only in their args are stored in pieces of up to 100 jobs.
// These jobs wait, run and end in their piece. Any other event moves a job to its own record.

import { expect } from 'vitest'
import type { NewJob } from '../../../src/redis/new-job.ts'
import { encodeRecord, type Facts, type Run, type World } from '../direct.ts'

const DAY = 86_400_000
const LEASE = 45_000

async function pack(world: World, n: number, job: Partial<NewJob> = {}): Promise<number[]> {
  const jobs = Array.from({ length: n }, (_, i) => ({ args: `{"n":${i}}`, ...job }))
  const { made } = await world.store.enqueue(jobs.map((one) => ({ queue: 'q', class: 'plain', known: true, ...one })))
  return made.map(({ id }) => id)
}

const pieceOf = (id: number) => Math.floor(id / 100)

async function maskOf(world: World, id: number): Promise<string | null> {
  const text = await world.client.ask((redis) => redis.get<string>(world.store.keys.piece(pieceOf(id))))
  return text?.split('\n')[0] ?? null
}

const hasDocument = async (world: World, id: number): Promise<boolean> =>
  (await world.client.ask((redis) => redis.exists(world.store.keys.job(id)))) === 1

const entries = (world: World, index: string, queue = 'q') =>
  world.client.ask((redis) => redis.zrange<string[]>(`${world.store.keys.queue(queue)}:${index}`, 0, -1))

async function expectOut(world: World, ids: number[], out: number[]): Promise<void> {
  const mask = (await maskOf(world, ids[0]!)) ?? ''
  for (const id of ids) expect([id, mask[id % 100] === '1']).toEqual([id, !out.includes(id)])
  for (const id of out) expect([id, await hasDocument(world, id)]).toEqual([id, true])
  expect(await world.faults()).toEqual([])
}

const settled = (runs: readonly Run[]) => Promise.all(runs.map((run) => run.settled({})))
const counted = async (world: World) => (await world.queueDocument()).at

async function mend(world: World, tries = 5): Promise<number> {
  const found = []
  for (let from: number | null | undefined; from !== null; ) {
    const slice: Awaited<ReturnType<typeof world.store.verify>> = await world.store.verify(from)
    found.push(...slice.faults)
    from = slice.next
  }
  if (found.length === 0 || tries === 0) return found.length
  await world.store.repair(found)
  return found.length + (await mend(world, tries - 1))
}

const making: Facts = {
  async 'a thousand packed jobs are ten entries, and each job is counted'(world) {
    const ids = await pack(world, 1_000)
    expect(await entries(world, 'ready')).toHaveLength(10)
    expect(await counted(world)).toEqual({ r: 1_000 })
    expect(await world.queueOf()).toMatchObject({ ready: 1_000, settings: { counts: { made: 1_000 } } })
    expect(ids).toEqual(Array.from({ length: 1_000 }, (_, i) => ids[0]! + i))
    expect(ids[0]! % 100).toBe(0)
  },
  async 'each packed job has its own args and time, and the options of its piece'(world) {
    const [first] = await pack(world, 15, { priority: 3, createdBy: 'me', timeout: 9 })
    const twelfth = await world.document(first! + 12)
    expect(twelfth).toMatchObject({
      args: '{"n":12}',
      class: 'plain',
      queue: 'q',
      priority: 3,
      createdBy: 'me',
      timeout: 9,
    })
    const since = async () => {
      const sequences = [first!, first! + 12].map(async (id) => (await world.document(id)).sequence)
      const [one, other] = await Promise.all(sequences)
      return Number.parseInt(other!, 16) - Number.parseInt(one!, 16)
    }
    // While the piece waits, all its jobs have the same sequence number.
    expect(await since()).toBe(0)
    await world.lane().ask()
    expect(await since()).toBe(12)
    expect(await hasDocument(world, first! + 12)).toBe(false)
  },
  async 'jobs after packed jobs have their own ids'(world) {
    const [first] = await pack(world, 12)
    expect(await world.make({ unique: { key: 'u' } })).toBe(first! + 12)
    const [next] = await pack(world, 12)
    expect(next).toBe(first! + 100)
    expect(await world.status(first! + 12)).toBe('queued')
  },
  async 'single jobs, jobs with separate values, waiting and pulled jobs have their own documents'(world) {
    for (const job of [
      { wait: 5_000 },
      { keepResult: 5 },
      { in: { a: { channels: ['/a'] } } },
      { group: 'g' },
      { queue: 'p' },
    ]) {
      if (job.queue) await world.store.settings('p', { mode: 'pull' })
      const ids = await pack(world, 12, job)
      expect([job, await hasDocument(world, ids[0]!)]).toEqual([job, true])
      expect(ids[11]).toBe(ids[0]! + 11)
      expect((await world.document(ids[11]!)).args).toBe('{"n":11}')
    }
    expect((await hasDocument(world, (await pack(world, 5))[0]!)) || (await maskOf(world, 100)) !== null).toBe(true)
  },
  async 'packed jobs start by their priority among other jobs, and with ageing by their time'(world) {
    const late = await world.make({ priority: 5 })
    const ids = await pack(world, 12)
    const urgent = await world.make({ priority: -5 })
    expect((await world.lane().ask()).ids).toEqual([urgent, ...ids, late])
    await world.store.settings('q', { ageing: 60_000 })
    const old = await world.make({ priority: 1 })
    world.advance(3_600_000)
    const young = await pack(world, 12)
    expect((await world.lane().ask()).ids).toEqual([old, ...young])
  },
  async 'jobs are not packed while a listener receives all jobs'(world) {
    await world.change('', 'listen', '60000', '1', '/sidejob/job')
    const ids = await pack(world, 12)
    expect(await hasDocument(world, ids[3]!)).toBe(true)
  },
  async 'a refused call creates no packed job'(world) {
    const job = { queue: 'q', class: 'plain', known: true }
    const jobs = [...Array(12).fill(job), { ...job, class: 'child', parent: '999999', name: 'x' }]
    await expect(world.store.enqueue(jobs)).rejects.toThrow('does not exist')
    expect((await world.store.list({ mode: 'all', limit: 99 })).jobs).toEqual([])
  },
  async 'the quota of an API key counts each packed job until it ends'(world) {
    const quota = { by: 'key:ab', jobs: 20, bytes: 1_000_000 }
    const make = () => pack(world, 12, { by: 'key:ab', quota, retain: 0 })
    await make()
    await expect(make()).rejects.toMatchObject({ code: 'LIMITED' })
    const lane = world.lane()
    const { runs } = await lane.ask()
    await lane.ask({ runs: await settled(runs) })
    expect(await make()).toHaveLength(12)
  },
  async 'a client that knows ids of an emptied database packs jobs'(world) {
    const [first] = await pack(world, 12)
    const clear = () => world.client.ask(async (redis) => redis.del(...(await redis.keys(`${world.namespace}*`))))
    await clear()
    const [next] = await pack(world, 12)
    expect(next).toBeGreaterThan(first!)
    expect(await hasDocument(world, next!)).toBe(false)
  },
}

const lending: Facts = {
  async 'a lane gets a whole piece, and each job has its own token'(world) {
    const ids = await pack(world, 100)
    const { runs } = await world.lane().ask()
    expect(runs.map(({ id }) => id)).toEqual(ids)
    expect(new Set(runs.map(({ token }) => token)).size).toBe(100)
    for (const { id, token } of runs) expect(token.startsWith(`${id}.`)).toBe(true)
    expect(runs[7]!.snapshot.job).toMatchObject({ id: ids[7], args: '{"n":7}', ranAt: null })
    expect(await entries(world, 'leases')).toEqual([`p${pieceOf(ids[0]!)}`])
    expect(await counted(world)).toEqual({ l: 100 })
    expect(await world.document(ids[7]!)).toMatchObject({ place: 'l', token: runs[7]!.token, begun: '1' })
  },
  async 'runs that completed without other effects end together, and their jobs are kept in one piece'(world) {
    const ids = await pack(world, 100)
    const lane = world.lane()
    const { runs } = await lane.ask()
    const { answers } = await lane.ask({ runs: await settled(runs) })
    expect(new Set(answers)).toEqual(new Set(['completed']))
    expect(answers).toHaveLength(100)
    expect(await counted(world)).toEqual({ c: 100 })
    expect(await world.queueOf()).toMatchObject({ completed: 100, settings: { counts: { runs: 100, completed: 100 } } })
    const token = runs[3]!.token
    expect(await world.document(ids[3]!)).toMatchObject({
      place: 'c',
      runNumber: 2,
      startedUp: '1',
      lastCommit: expect.stringContaining(`${token}|`),
    })
    expect(await world.document(ids[3]!)).not.toHaveProperty('token')
    await expectOut(world, ids, [])
  },
  async 'ended packed jobs are removed after a day, or after their retain, or at once'(world) {
    const [day, hour] = [await pack(world, 12), await pack(world, 12, { retain: 3_600_000 })]
    const none = await pack(world, 12, { retain: 0 })
    const lane = world.lane()
    for (let left = 3, runs: Run[] = []; left >= 0; left--) runs = (await lane.ask({ runs: await settled(runs) })).runs
    expect([await maskOf(world, none[0]!), await counted(world)]).toEqual([null, { c: 24 }])
    world.advance(3_600_001)
    await world.tick()
    expect([await maskOf(world, hour[0]!), await counted(world)]).toEqual([null, { c: 12 }])
    world.advance(DAY)
    await world.tick()
    expect([await maskOf(world, day[0]!), await counted(world)]).toEqual([null, {}])
  },
  async 'the same request again gets the same answers and the same runs'(world) {
    await pack(world, 100)
    const second = await pack(world, 100)
    const lane = world.lane()
    const { runs } = await lane.ask()
    const ended = await settled(runs)
    const once = await lane.ask({ runs: ended })
    const again = await lane.ask({ runs: ended, at: 2 })
    expect([again.answers, again.ids]).toEqual([once.answers, second])
    expect((await world.queueOf()).settings.counts).toMatchObject({ completed: 100 })
  },
  async 'a run of a piece committed again alone gets the same answer'(world) {
    await pack(world, 12)
    const lane = world.lane()
    const { runs } = await lane.ask()
    await lane.ask({ runs: await settled(runs) })
    expect(await runs[4]!.commit()).toBe('completed')
    expect((await world.queueOf()).settings.counts).toMatchObject({ completed: 12 })
  },
  async 'an expired lease is lost for each packed job, and the former lane cannot commit'(world) {
    const ids = await pack(world, 12)
    const lane = world.lane()
    const { runs } = await lane.ask()
    world.advance(LEASE + 1)
    const { answers } = await lane.ask({ runs: await settled(runs), max: 0 })
    expect(new Set(answers)).toEqual(new Set(['lost']))
    await world.tick()
    expect(await world.queueOf()).toMatchObject({ timers: 12, leases: 0, settings: { counts: { lost: 12 } } })
    expect(await world.document(ids[5]!)).toMatchObject({ lostInARow: 1, place: 't' })
    await expectOut(world, ids, ids)
  },
  async 'a lane that commits some packed jobs late, and claims, leaves none of them behind'(world) {
    const ids = await pack(world, 12)
    const lane = world.lane()
    const { runs } = await lane.ask()
    world.advance(LEASE + 1)
    const { answers } = await lane.ask({ runs: (await settled(runs)).slice(3, 6) })
    expect(answers).toEqual(['lost', 'lost', 'lost'])
    await world.tick()
    expect(await world.queueOf()).toMatchObject({ timers: 12, leases: 0, settings: { counts: { lost: 12 } } })
    await expectOut(world, ids, ids)
  },
  async 'a lane that commits packed jobs after the tick has taken them back leaves none behind'(world) {
    const ids = await pack(world, 12)
    const lane = world.lane()
    const { runs } = await lane.ask()
    world.advance(LEASE + 1)
    await world.tick()
    expect(await world.queueOf()).toMatchObject({ timers: 12, leases: 0, settings: { counts: { lost: 12 } } })
    expect(new Set((await lane.ask({ runs: await settled(runs), max: 0 })).answers)).toEqual(new Set(['lost']))
    await expectOut(world, ids, ids)
  },
  async 'a continuing lane renews the lease of its whole piece'(world) {
    const ids = await pack(world, 12)
    const lane = world.lane()
    const { runs } = await lane.ask()
    world.advance(LEASE - 1_000)
    expect(await world.store.renew('q', [runs[3]!.token], LEASE, lane.id)).toEqual({ ending: [], lost: [] })
    world.advance(2_000)
    await world.tick()
    expect((await lane.ask({ runs: await settled(runs) })).answers[7]).toBe('completed')
    await expectOut(world, ids, [])
  },
  async 'an expired lease cannot continue, nor can another token'(world) {
    await pack(world, 12)
    const lane = world.lane()
    const { runs } = await lane.ask()
    const other = runs[3]!.token.replace(/\.[^.]*$/, '.other')
    expect((await world.store.renew('q', [other], LEASE, lane.id)).lost).toEqual([other])
    world.advance(LEASE + 1)
    expect((await world.store.renew('q', [runs[4]!.token], LEASE, lane.id)).lost).toHaveLength(1)
  },
  async 'tokens of a changed piece end no run'(world) {
    const ids = await pack(world, 12)
    const { runs } = await world.lane().ask()
    const ended = (await settled(runs)).map((run) => ({ ...run, token: `${run.token}x` }))
    expect(new Set((await world.lane().ask({ runs: ended })).answers)).toEqual(new Set(['lost']))
    expect(await world.status(ids[0]!)).toBe('running')
  },
  async 'a claim smaller than a piece gets a part of the piece, and later claims get the remaining jobs'(world) {
    const ids = await pack(world, 150)
    const [one, other] = [world.lane(), world.lane()]
    expect((await one.ask({ max: 30 })).ids).toEqual(ids.slice(0, 30))
    await expectOut(world, ids.slice(0, 100), ids.slice(0, 30))
    expect((await other.ask({ max: 100 })).ids).toEqual(ids.slice(30, 100))
    expect((await other.ask({ max: 100 })).ids).toEqual(ids.slice(100))
    expect(await counted(world)).toEqual({ l: 150 })
  },
  async 'a claim leases a whole piece, of which only the requested number of jobs begin at once'(world) {
    const ids = await pack(world, 12)
    const claim = { max: 100, lease: LEASE, begun: 5 }
    const { claimed } = await world.store.commit({ queue: 'q', lane: { id: 'l', seq: 1 }, claim })
    expect(claimed.map(({ document }) => document.begun)).toEqual(ids.map((_, i) => (i < 5 ? '1' : undefined)))
  },
  async 'a lane with short runs gets up to six pieces at once, and ends all of them in one commit'(world) {
    await world.store.settings('q', { lanes: 9 })
    const ids = await pack(world, 750)
    const lane = world.lane()
    const first = await lane.ask({ wide: 1_000 })
    expect(first.ids).toEqual(ids.slice(0, 600))
    expect(await entries(world, 'leases')).toHaveLength(6)
    const next = await lane.ask({ runs: await settled(first.runs), wide: 300 })
    expect(new Set(next.answers)).toEqual(new Set(['completed']))
    expect([next.answers.length, next.ids]).toEqual([600, ids.slice(600)])
    expect(await counted(world)).toEqual({ l: 150, c: 600 })
    await expectOut(world, ids, [])
  },
  async 'single jobs do not exceed the requested number, and are not skipped'(world) {
    const ids = await pack(world, 100)
    const alone = [await world.make(), await world.make()]
    for (const id of alone) await world.restore(id, await world.document(id))
    const behind = await pack(world, 100)
    const lane = world.lane()
    expect((await lane.ask({ wide: 300 })).ids).toEqual(ids)
    expect((await lane.ask({ wide: 300 })).ids).toEqual([...alone, ...behind])
    await expectOut(world, behind, [])
  },
  async 'jobs of a piece with a listener do not exceed the requested number'(world) {
    const ids = await pack(world, 100)
    const heard = await pack(world, 100)
    await world.change('', 'listen', '60000', '1', `/sidejob/job/${heard[3]}`)
    expect((await world.lane().ask({ wide: 300 })).ids).toEqual(ids)
    await expectOut(world, heard, [])
  },
  async 'a queue with a batch size gets no larger batches'(world) {
    const ids = await pack(world, 250)
    await world.store.settings('q', { batch: 100 })
    expect((await world.lane().ask({ wide: 300 })).ids).toEqual(ids.slice(0, 100))
  },
  async 'a lost lane costs waiting jobs no attempt unless their lease was renewed'(world) {
    const ids = await pack(world, 300)
    const lane = world.lane()
    const { runs } = await lane.ask({ wide: 300 })
    const begun = async () =>
      (await Promise.all([0, 100, 200].map((i) => world.document(ids[i]!)))).map((document) => document.begun)
    expect(await begun()).toEqual(['1', undefined, undefined])
    await world.store.renew('q', [runs[200]!.token], LEASE, lane.id)
    expect(await begun()).toEqual(['1', undefined, '1'])
    world.advance(LEASE + 1)
    await world.tick()
    const lost = await Promise.all([0, 100, 200].map((i) => world.document(ids[i]!)))
    expect(lost.map(({ lostInARow, place }) => [lostInARow, place])).toEqual([
      [1, 't'],
      [0, undefined],
      [1, 't'],
    ])
  },
  async 'bells ring for jobs, not for pieces'(world) {
    const jobs = Array.from({ length: 301 }, () => ({ queue: 'q', class: 'plain', known: true }))
    expect((await world.store.enqueue(jobs)).rings).toHaveLength(4)
    world.advance(21_000)
    expect(await world.tick()).toHaveLength(4)
  },
}

const runsOfAll = async (world: World, n = 12) => {
  const ids = await pack(world, n)
  const lane = world.lane()
  const { runs } = await lane.ask()
  return { ids, lane, runs, one: runs[4]!, id: ids[4]! }
}

const leaving: Facts = {
  async 'a job changed from outside leaves its piece'(world) {
    const ids = await pack(world, 12)
    await world.change(ids[2]!, 'set', 'n', '1')
    await world.change(ids[3]!, 'alias', 'other')
    await expectOut(world, ids, [ids[2]!, ids[3]!])
    expect(await world.document(ids[2]!)).toMatchObject({ 's:n': '1', args: '{"n":2}' })
    expect(await counted(world)).toEqual({ r: 12 })
    expect((await world.lane().ask()).ids.toSorted((a, b) => a - b)).toEqual(ids)
  },
  async 'a job that is only read stays in its piece'(world) {
    const ids = await pack(world, 12)
    await world.document(ids[2]!)
    await world.store.list({ mode: 'all', limit: 99 })
    await world.faults()
    await expectOut(world, ids, [])
  },
  async 'a job with a refused change stays in its piece'(world) {
    const ids = await pack(world, 12)
    await expect(world.change(ids[2]!, 'push', 'none', '1')).rejects.toThrow()
    await expectOut(world, ids, [])
  },
  async 'a change that one run was refused is possible for another run of the same commit'(world) {
    const [refused, other] = [await world.make({ priority: -1 }), await world.make({ priority: -1 })]
    const lane = world.lane()
    const { runs } = await lane.ask()
    expect(runs.map(({ id }) => id)).toEqual([refused, other])
    const ids = await pack(world, 12)
    const changes = [
      {
        ops: [
          { op: 'alias', add: 'a' },
          { op: 'write', to: { job: ids[3]!, in: 'none' }, values: ['1'] },
        ],
      },
      { ops: [{ op: 'terminate', job: ids[3]! }] },
    ] as Partial<Parameters<Run['settled']>[0]>[]
    const ended = await Promise.all(runs.map((run, i) => run.settled(changes[i]!)))
    const { answers } = await lane.ask({ runs: ended, max: 0 })
    expect(answers).toEqual([expect.stringMatching(/^refused:/), 'completed'])
    expect(await world.status(ids[3]!)).toBe('terminated')
    await expectOut(world, ids, [ids[3]!])
  },
  async 'a terminated or deleted job leaves its piece, ready or leased'(world) {
    const { ids, lane, runs, one, id } = await runsOfAll(world)
    await world.change(id, 'terminate', '', '')
    const waiting = await pack(world, 12)
    await world.change(waiting[0]!, 'terminate', '', '')
    expect(await world.status(waiting[0]!)).toBe('terminated')
    await world.change(waiting[0]!, 'delete', '', '')
    const { answers } = await lane.ask({ runs: await settled(runs), max: 0 })
    expect(answers.map((answer, i) => [ids[i], answer])).toEqual(
      ids.map((other) => [other, other === one.id ? 'terminated' : 'completed']),
    )
    await expectOut(world, ids, [id])
    expect((await maskOf(world, waiting[0]!))![0]).toBe('0')
  },
  async 'failed jobs leave their piece, and the remaining jobs end together'(world) {
    const { ids, lane, runs, id } = await runsOfAll(world)
    const ended = await Promise.all(
      runs.map((run) => run.settled(run.id === id ? { end: 'failed', error: { message: 'broken' } } : {})),
    )
    const { answers } = await lane.ask({ runs: ended })
    expect(answers.map((answer, i) => [ids[i], answer])).toEqual(
      ids.map((other) => [other, other === id ? 'failed' : 'completed']),
    )
    await expectOut(world, ids, [id])
    expect(await counted(world)).toEqual({ c: 11, f: 1 })
  },
  async 'a job that suspends, repeats, returns a result or has effects leaves its piece'(world) {
    const changes = [
      { end: 'suspended' },
      { end: 'again', wait: 60_000 },
      { state: { set: { n: '1' } } },
      { ops: [{ op: 'spawn', name: 'a', queue: 'other', class: 'child' }] },
      { ops: [{ op: 'alias', add: 'me' }] },
    ] as Partial<Parameters<Run['settled']>[0]>[]
    const { ids, lane, runs } = await runsOfAll(world)
    const ended = await Promise.all(runs.map((run, i) => run.settled(changes[i] ?? {})))
    const { answers } = await lane.ask({ runs: ended })
    expect(answers.slice(0, 6)).toEqual(['suspended', 'queued', 'completed', 'completed', 'completed', 'completed'])
    await expectOut(world, ids, ids.slice(0, changes.length))
  },
  async 'a job committed separately, or with a checkpoint, leaves its piece'(world) {
    const { ids, lane, runs } = await runsOfAll(world)
    expect(await runs[0]!.commit()).toBe('completed')
    expect(await runs[1]!.commit({ end: 'checkpoint', n: 0, state: { set: { n: '1' } } })).toBe('running')
    expect(await runs[2]!.release()).toBe('queued')
    expect(await runs[3]!.extend()).not.toBeNull()
    await expectOut(world, ids, ids.slice(0, 4))
    const { answers } = await lane.ask({ runs: await settled(runs.slice(4)), max: 0 })
    expect(new Set(answers)).toEqual(new Set(['completed']))
    await expectOut(world, ids, ids.slice(0, 4))
  },
  async 'jobs that end before the other jobs of their piece leave the piece'(world) {
    const { ids, lane, runs } = await runsOfAll(world)
    await lane.ask({ runs: await settled(runs.slice(0, 5)), max: 0 })
    await expectOut(world, ids, ids.slice(0, 5))
    await lane.ask({ runs: await settled(runs.slice(5)), max: 0 })
    expect(await counted(world)).toEqual({ c: 12 })
  },
  async 'jobs of pull workers and of claims without a lane leave their piece'(world) {
    const ids = await pack(world, 12)
    expect((await world.claimOne({ max: 1 })).id).toBe(ids[0])
    expect((await world.claimOne({ only: ids[5] })).id).toBe(ids[5])
    await expectOut(world, ids, [ids[0]!, ids[5]!])
    await world.store.settings('q', { mode: 'pull' })
    expect(await world.queueOf()).toMatchObject({ ready: 0, pull: 10 })
    expect((await world.claim({ pull: true })).map(({ id }) => id)).toEqual(
      ids.filter((id) => id !== ids[0] && id !== ids[5]),
    )
  },
  async 'a job with a listener leaves its piece, and is reported'(world) {
    const ids = await pack(world, 12)
    await world.change('', 'listen', '60000', '1', `/sidejob/job/${ids[3]}`)
    const lane = world.lane()
    const { runs } = await lane.ask()
    expect(runs).toHaveLength(12)
    expect(await hasDocument(world, ids[3]!)).toBe(true)
  },
  async 'a later listener receives the end of each packed job'(world) {
    const { ids, lane, runs } = await runsOfAll(world)
    await world.change('', 'listen', '60000', '1', '/sidejob/job')
    await lane.ask({ runs: await settled(runs) })
    await expectOut(world, ids, ids)
  },
  async 'packed jobs are leased one by one if their class has a new limit'(world) {
    const ids = await pack(world, 12)
    await world.store.register('q', [{ name: 'plain', definition: '{}', serves: 'call', concurrency: 3 } as never])
    const { runs } = await world.lane().ask()
    expect(runs.map(({ id }) => id)).toEqual(ids.slice(0, 3))
  },
  async 'each packed job fails if its class is banned'(world) {
    const ids = await pack(world, 12)
    await world.store.settings('q', {}, { ban: ['plain'] })
    expect((await world.lane().ask()).runs).toEqual([])
    expect(await world.status(ids[11]!)).toBe('failed')
  },
  async 'packed jobs tagged by older constraints are tagged again'(world) {
    const ids = await pack(world, 12)
    await world.store.constraint('c', '{"class":"plain","key":"k","concurrency":1}')
    const { claimed, stale } = await world.store.commit({
      queue: 'q',
      lane: { id: 'l', seq: 1 },
      claim: { max: 99, lease: LEASE, begun: 99 },
    })
    expect([claimed, stale.map(({ id }) => id)]).toEqual([[], ids])
  },
  async 'a job that is changed while it waits in a piece keeps its place'(world) {
    const touches: ((id: number) => Promise<unknown>)[] = [
      (id) => world.change(id, 'patch', '1', 'a', '{"n":"other"}'),
      (id) => world.change(id, 'set', 'n', '1'),
      (id) => world.change(id, 'alias', `job ${id}`),
      (id) => world.change(id, 'run', '', '', '', '', ''),
      (id) => world.change(id, 'run', '', '1', '', '', ''),
    ]
    for (const touch of touches) {
      const ids = await pack(world, 40)
      const before = await pack(world, 12, { priority: -1 })
      const behind = await pack(world, 12)
      for (const id of ids.slice(0, 3)) await touch(id)
      const lane = world.lane()
      const order: number[] = []
      for (let n = 0; n < 14; n++) order.push(...(await lane.ask({ max: 5 })).ids)
      expect(order).toEqual([...before, ...ids, ...behind])
      await lane.ask({ leave: true })
      for (const id of order) await world.change(id, 'delete', '', '1')
    }
  },
  async 'a ready packed job that is requested at once keeps its place'(world) {
    for (const pull of [false, true]) {
      const ids = [await world.make({ pull }), await world.make({ pull }), await world.make({ pull })]
      await world.change(ids[0]!, 'run', '', '', '', '', '')
      await world.change(ids[1]!, 'run', '', '1', '', '', '')
      expect((await world.claim({ pull })).map(({ id }) => id)).toEqual(ids)
    }
  },
}

const looking: Facts = {
  async 'lists, counts and pages show each packed job'(world) {
    const ids = await pack(world, 30)
    const listed = async (filter: object) =>
      (await world.store.list({ mode: 'all', limit: 50, ...filter })).jobs.map(({ id }) => id)
    expect(await listed({})).toEqual(ids.toReversed())
    expect(await listed({ queue: 'q', status: 'queued' })).toEqual(ids.toReversed())
    expect((await world.store.list({ mode: 'all', limit: 5, queue: 'q', status: 'completed' })).total).toBe(0)
    const near = await world.store.near('q', 9)
    expect(near!.next.map(({ job }) => job)).toEqual(ids.slice(0, 9))
    await world.lane().ask()
    expect((await world.store.near('q', 9))!.runs.map(({ job }) => job)).toEqual(ids.slice(0, 9))
    expect((await world.store.atWork(5)).runs).toHaveLength(5)
    expect((await world.store.list({ mode: 'all', limit: 5, queue: 'q', status: 'running' })).jobs).toHaveLength(5)
  },
  async 'the number of jobs ahead counts jobs, not pieces'(world) {
    const ids = await pack(world, 250)
    const ahead = async (id: number) => (await world.store.inspect(String(id))).ahead
    expect([await ahead(ids[0]!), await ahead(ids[150]!), await ahead(ids[249]!)]).toEqual([0, 150, 249])
    await world.change(ids[10]!, 'set', 'n', '1')
    expect(await ahead(ids[249]!)).toBe(249)
  },
  async 'a piece without an entry, or with a wrong entry, is found and repaired'(world) {
    const ids = await pack(world, 12)
    const ready = `${world.store.keys.queue('q')}:ready`
    const [entry] = await entries(world, 'ready')
    await world.client.ask((redis) => redis.zrem(ready, entry!))
    expect(await mend(world)).toBeGreaterThan(11)
    expect(await counted(world)).toEqual({ r: 12 })
    expect((await world.lane().ask()).ids.toSorted((a, b) => a - b)).toEqual(ids)
  },
  async 'an entry of a missing piece is found and repaired'(world) {
    const ids = await pack(world, 12)
    await world.client.ask((redis) => redis.del(world.store.keys.piece(pieceOf(ids[0]!))))
    expect(await mend(world)).toBeGreaterThan(0)
    expect([await entries(world, 'ready'), await counted(world)]).toEqual([[], {}])
  },
  async 'every reader skips an entry of a missing piece'(world) {
    const ids = await pack(world, 12)
    await world.client.ask((redis) => redis.del(world.store.keys.piece(pieceOf(ids[0]!))))
    const other = await world.make()
    expect((await world.lane().ask()).ids).toEqual([other])
    expect(await mend(world)).toBeGreaterThan(0)
    expect(await counted(world)).toEqual({ l: 1 })
  },
  async 'a job with a document that is also in a piece is found, and leaves the piece'(world) {
    const ids = await pack(world, 12)
    const text = encodeRecord(await world.document(ids[3]!))
    await world.client.ask((redis) => redis.set(world.store.keys.job(ids[3]!), text))
    expect(await mend(world)).toBeGreaterThan(0)
    await expectOut(world, ids, [ids[3]!])
    expect(await counted(world)).toEqual({ r: 12 })
  },
  async 'a wrong count is found and repaired'(world) {
    await pack(world, 12)
    const document = await world.queueDocument()
    const key = world.store.keys.queue('q')
    await world.client.ask((redis) => redis.set(key, JSON.stringify({ ...document, pk: { r: 7 }, at: { r: 8 } })))
    expect(await mend(world)).toBeGreaterThan(0)
    expect(await counted(world)).toEqual({ r: 12 })
  },
}

export const packed: Record<number, Facts> = { 85: making, 86: lending, 87: leaving, 88: looking }
