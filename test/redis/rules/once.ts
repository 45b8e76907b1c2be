// Rules 31–33: unique jobs, idempotent calls, and reads that scripts skip because nothing is stored.

import { expect } from 'vitest'
import { encodeValue } from '../../../src/core/codec/value.ts'
import { pastRunOf } from '../../../src/redis/record.ts'
import type { Once } from '../../../src/redis/types.ts'
import type { Facts, Making, World } from '../direct.ts'

const unique = (more: object = {}): Making => ({ unique: { key: 'u', ...more } })
const debounced = (making: Making = {}, max?: number): Making => ({
  ...making,
  ...unique({ held: 'started', debounce: { max } }),
  wait: 10_000,
})
const enqueue = async (world: World, making: Making = {}, once?: Once) =>
  (await world.store.enqueue([{ queue: 'q', class: 'plain', known: true, ...making }], once)).made[0]!
const isTaken = async (world: World, making: Making) => (await enqueue(world, making)).existing === true

async function runOne(world: World): Promise<void> {
  await (await world.claimOne()).commit()
}

async function waitFor(world: World, id: number, ms: number): Promise<() => Promise<string>> {
  const channel = world.store.keys.ended(String(id))
  const over = new AbortController()
  const calls = world.client.listen(channel, over.signal)[Symbol.asyncIterator]()
  await calls.next()
  await world.store.change('', [['result', String(id), '1', String(ms)]], {
    key: `wait${id}`,
    period: 1,
    fingerprint: '',
  })
  return async () => {
    await world.client.ask((redis) => redis.publish(channel, 'nothing'))
    const { value } = await calls.next()
    over.abort()
    return value
  }
}

const ends: ((world: World, id: number) => Promise<unknown>)[] = [
  runOne,
  async (world) => (await world.claimOne()).fail(),
  (world, id) => world.change(id, 'terminate', '', ''),
  (world, id) => world.change(id, 'delete', '', '1'),
]

const rule31: Facts = {
  async 'until a job has ended, its unique key returns the job'(world) {
    const { id } = await enqueue(world, unique())
    expect(await enqueue(world, unique())).toEqual({ id, status: 'queued', existing: true })
    const run = await world.claimOne()
    expect(await enqueue(world, unique())).toMatchObject({ id, status: 'running' })
    await run.suspend()
    expect(await enqueue(world, unique())).toMatchObject({ id, status: 'suspended' })
  },
  async 'the first of many requests in one call creates it'(world) {
    const { made } = await world.store.enqueue(Array(3).fill({ queue: 'q', class: 'plain', known: true, ...unique() }))
    expect(new Set(made.map(({ id }) => id)).size).toBe(1)
  },
  async 'every end of the job frees its key'(world) {
    for (const end of ends) {
      const { id, existing } = await enqueue(world, unique())
      expect(existing).toBeUndefined()
      await end(world, id)
    }
  },
  async 'a key can be held until its job is deleted'(world) {
    const { id } = await enqueue(world, unique({ held: 'deleted' }))
    await runOne(world)
    expect(await isTaken(world, unique())).toBe(true)
    await world.change(id, 'delete', '', '1')
    expect(await world.client.ask((redis) => redis.keys(`${world.namespace}unique:*`))).toEqual([])
    expect(await isTaken(world, unique())).toBe(false)
  },
  async 'a key can be held for a period, for any outcome of its job'(world) {
    await enqueue(world, unique({ period: 600_000 }))
    await runOne(world)
    expect(await isTaken(world, unique())).toBe(true)
    const left = await world.client.ask((redis) => redis.pttl(`${world.namespace}unique:q\nplain\nu`))
    expect(left).toBeGreaterThan(590_000)
    expect(left).toBeLessThanOrEqual(600_000)
  },
  async 'a job that ends again does not free a key that another job now holds'(world) {
    const { id } = await enqueue(world, unique())
    await runOne(world)
    const other = await enqueue(world, unique({ at: 0 }))
    await world.change(id, 'run', '', '1', '', '', '')
    for (const run of await world.claim()) if (run.id === id) await run.commit()
    expect(await enqueue(world, unique())).toMatchObject({ id: other.id, existing: true })
  },
  async 'a key held for a period outlasts its job, and reports its outcome'(world) {
    const { id } = await enqueue(world, { ...unique({ period: 600_000 }), retain: 0 })
    await runOne(world)
    const key = `${world.namespace}unique:q\nplain\nu`
    expect(await world.client.ask((redis) => redis.exists(world.store.keys.job(id)))).toBe(0)
    expect(await enqueue(world, unique())).toEqual({ id, status: 'completed', existing: true })
    expect(await world.client.ask((redis) => redis.pttl(key))).toBeGreaterThan(590_000)
    world.advance(600_001)
    const { id: next } = await enqueue(world, unique({ period: 600_000 }))
    expect(next).not.toBe(id)
    await world.change(next, 'delete', '', '1')
    expect(await enqueue(world, unique())).toEqual({ id: next, status: 'terminated', existing: true })
  },
  async 'a waiting debounced job is delayed by a repeated request, with the newest args'(world) {
    const first = await enqueue(world, debounced({ args: encodeValue(1) }))
    world.advance(8_000)
    expect(await enqueue(world, debounced({ args: encodeValue(2) }))).toEqual({ ...first, existing: true })
    world.advance(8_000)
    expect(await world.claim()).toEqual([])
    world.advance(2_001)
    const run = await world.claimOne()
    expect(run.document).toMatchObject({ args: '2' })
    await run.commit()
  },
  async 'the last request of a call decides about a debounced job, for calls of any size'(world) {
    const great = 'x'.repeat(2_000)
    const asked = (args?: string): Making => debounced({ args: args === undefined ? undefined : encodeValue(args) })
    const call = (...all: (string | undefined)[]) =>
      world.store.enqueue(all.map((args) => ({ queue: 'q', class: 'plain', known: true, ...asked(args) })))
    const { made } = await call('first', great)
    expect(made.map(({ existing }) => existing)).toEqual([undefined, true])
    const id = made[0]!.id
    expect((await world.document(id)).args).toBe(encodeValue(great))
    await call('small')
    expect((await world.document(id)).args).toBe(encodeValue('small'))
    expect(await world.client.ask((redis) => redis.keys(`${world.namespace}job:${id}:*`))).toEqual([])
    await call(undefined)
    expect((await world.document(id)).args).toBeUndefined()
  },
  async 'a debounced job is delayed at most by its maximum after its creation'(world) {
    const { id } = await enqueue(world, debounced({}, 26_000))
    for (let n = 0; n < 3; n++) {
      world.advance(8_000)
      expect(await enqueue(world, debounced({ args: encodeValue(n) }, 26_000))).toMatchObject({ id, existing: true })
    }
    world.advance(1_000)
    expect(await world.claim()).toEqual([])
    world.advance(1_001)
    expect((await world.claimOne()).document.args).toBe('2')
  },
  async 'a debounced job that is due and not yet leased is delayed too, wherever it waits'(world) {
    const { id } = await enqueue(world, debounced())
    world.advance(10_001)
    await world.make({ wait: 0 })
    await world.lane().ask({ max: 1, at: 1 })
    expect((await world.document(id)).place).toBeUndefined()
    await enqueue(world, debounced())
    expect((await world.document(id)).place).toBe('t')
    expect(await world.claim()).toEqual([])
  },
  async 'a debounced job past its maximum delay keeps its place, and takes the newest args'(world) {
    const { id } = await enqueue(world, debounced({ args: encodeValue(1) }, 10_000))
    await world.make()
    world.advance(10_001)
    await (await world.claim({ max: 1 }))[0]!.commit()
    const { sequence } = await world.document(id)
    expect(await enqueue(world, debounced({ args: encodeValue(2) }, 10_000))).toMatchObject({ id, existing: true })
    expect(await world.document(id)).toMatchObject({ sequence, args: '2' })
    expect((await world.claimOne()).id).toBe(id)
  },
  async 'a leased debounced job frees its key for the next job'(world) {
    const { id } = await enqueue(world, debounced({ args: encodeValue(1) }))
    world.advance(10_001)
    const run = await world.claimOne()
    const { id: next, existing } = await enqueue(world, debounced({ args: encodeValue(2) }))
    expect({ same: next === id, existing }).toEqual({ same: false, existing: undefined })
    expect((await world.document(id)).args).toBe('1')
    expect(await run.fail({ max: 1 })).toBe('queued')
    expect(await enqueue(world, debounced({ args: encodeValue(3) }))).toMatchObject({ id: next, existing: true })
    expect((await world.document(id)).args).toBe('1')
  },
  async 'a debounced job that waits for a retry is not delayed and keeps its args'(world) {
    const { id } = await enqueue(world, debounced({ args: encodeValue(1) }))
    world.advance(10_001)
    expect(await (await world.claimOne()).fail({ max: 1 })).toBe('queued')
    const { existing } = await enqueue(world, debounced({ args: encodeValue(2) }))
    expect(existing).toBeUndefined()
    expect((await world.document(id)).args).toBe('1')
  },
  async 'a terminating debounced job is not delayed: the next job is created'(world) {
    const { id } = await enqueue(world, debounced({ class: 'closing', shutdown: true }))
    await world.change(id, 'terminate', '', '')
    const { id: next, existing } = await enqueue(world, debounced({ class: 'closing', shutdown: true }))
    expect(existing).toBeUndefined()
    await (await world.claimOne()).commit()
    expect(await enqueue(world, debounced({ class: 'closing' }))).toMatchObject({ id: next, existing: true })
  },
  async 'a job that holds a key by another rule is not delayed'(world) {
    const { id } = await enqueue(world, { ...unique(), args: encodeValue(1) })
    expect(await enqueue(world, debounced({ args: encodeValue(2) }))).toMatchObject({ id, existing: true })
    expect((await world.claimOne()).document.args).toBe('1')
  },
  async 'a debounced job counts against the limits of its newest args'(world) {
    const limit = (key: string) => ({ key, how: 'set' as const, concurrency: 1 })
    const { id } = await enqueue(world, debounced({ group: 'a', limits: [limit('group:a'), limit('one')] }))
    await enqueue(world, debounced({ group: 'b', limits: [limit('group:b'), limit('two')] }))
    expect(await world.document(id)).toMatchObject({ group: 'b', limits: 'group:b\ntwo' })
    world.advance(10_001)
    expect((await world.claimOne()).document.heldLimits).toBe('group:b\ntwo')
  },
  async 'a different queue, class or key is independent'(world) {
    await enqueue(world, unique())
    expect(await isTaken(world, { ...unique(), queue: 'other' })).toBe(false)
    expect(await isTaken(world, { ...unique(), class: 'child' })).toBe(false)
    expect(await isTaken(world, { unique: { key: 'v' } })).toBe(false)
  },
}

const HOUR = 3_600_000
const once = (fingerprint = 'body'): Once => ({ key: 'key', period: HOUR, fingerprint })
const left = (world: World) => world.client.ask((redis) => redis.pttl(world.store.keys.once('key')))
const jobs = async (world: World) => (await world.queueOf()).ready

const rule32: Facts = {
  async 'jobs requested twice under one key are created once'(world) {
    const first = await enqueue(world, {}, once())
    expect(await enqueue(world, {}, once())).toEqual(first)
    expect(await jobs(world)).toBe(1)
  },
  async 'a debounced job requested twice under one key is delayed once'(world) {
    const making = debounced()
    const first = await enqueue(world, making)
    world.advance(5_000)
    const again = await enqueue(world, making, once())
    const { notBefore } = await world.document(first.id)
    world.advance(5_000)
    expect(await enqueue(world, making, once())).toEqual(again)
    expect((await world.document(first.id)).notBefore).toBe(notBefore)
  },
  async 'a key that was used for another body is refused'(world) {
    await enqueue(world, {}, once())
    await expect(enqueue(world, {}, once('other'))).rejects.toMatchObject({ code: 'TAKEN' })
    const id = await world.make({ in: { in: {} } })
    const write = ['write', '', 'i', 'in', '', '1', '=1']
    const key = { ...once(), key: 'other' }
    await world.store.change(String(id), [write], key)
    await expect(world.store.change(String(id), [write], { ...key, fingerprint: 'x' })).rejects.toMatchObject({
      code: 'TAKEN',
    })
  },
  async 'a refused call has no stored answer, and can be repeated'(world) {
    const write = ['write', '', 'i', 'in', '', '1', '=1']
    await expect(world.store.change('1', [write], once())).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const id = await world.make({ in: { in: {} } })
    await world.store.change(String(id), [write], once())
    expect(await world.values(id, 'in', 'in')).toEqual(['1'])
  },
  async 'values that are written or taken twice under one key are written or taken once'(world) {
    const id = await world.make({ in: { in: {} } })
    const write = ['write', '', 'i', 'in', '', '2', '=1', '=2']
    for (let n = 0; n < 2; n++) await world.store.change(String(id), [write], { ...once(), key: 'write' })
    const take = ['take', '', 'i', 'in', '1']
    for (let n = 0; n < 2; n++)
      expect((await world.store.change(String(id), [take], { ...once(), key: 'take' })).answer).toEqual(['', '=1'])
    expect(await world.values(id, 'in', 'in')).toEqual(['2'])
  },
  async 'an answer is kept for the time of its key, and no longer'(world) {
    await enqueue(world, {}, once())
    expect(await left(world)).toBeGreaterThan(HOUR - 10_000)
    expect(await left(world)).toBeLessThanOrEqual(HOUR)
    world.advance(HOUR + 1)
    expect((await enqueue(world, {}, once('other'))).existing).toBeUndefined()
    expect(await jobs(world)).toBe(2)
  },
  async 'internal keys are kept for ten minutes, keys of reads for one minute, keys of callers for a day'(world) {
    const engine = world.engine({ workers: [] })
    await world.store.settings('q', { mode: 'pull' })
    const [{ id } = { id: 0 }] = (await engine.jobs.enqueue([{ queue: 'q', class: 'plain', in: { in: {} } }])).jobs
    await engine.ports.take(String(id), 'in', 'in', { max: 1 })
    await engine.jobs.run(String(id), {}, { key: 'theirs', fingerprint: '' })
    const keys = await world.client.ask((redis) => redis.keys(`${world.namespace}once:*`))
    const times = await Promise.all(keys.map((key) => world.client.ask((redis) => redis.pttl(key))))
    const minutes = times.map((ms) => Math.ceil(ms / 60_000)).sort((a, b) => a - b)
    expect(minutes).toEqual([1, 24 * 60])
    const [shelf] = await world.client.ask((redis) => redis.keys(`${world.namespace}again:*`))
    const line = await world.client.ask((redis) => redis.get<string>(shelf!))
    expect(Math.ceil((Number(line!.slice(0, 13)) - world.now()) / 60_000)).toBe(10)
  },
  async 'a result is taken once, and a caller that lost the answer gets it again'(world) {
    const id = await world.make({ keepResult: HOUR })
    await (await world.claimOne()).commit({ result: encodeValue(42) })
    const take = (key: string) => world.store.change('', [['result', String(id), '', '0']], { ...once(), key })
    const first = (await take('a')).answer
    expect(first[0]).toMatch(/^success\n.*\n42$/)
    expect((await take('a')).answer).toEqual(first)
    expect((await take('b')).answer[0]).toBe('')
  },
  async 'a missing result is not stored as the answer'(world) {
    const id = await world.make({ keepResult: HOUR })
    const take = () => world.store.change('', [['result', String(id), '', '0']], once())
    expect((await take()).answer[0]).toBe('')
    await (await world.claimOne()).commit({ result: encodeValue(42) })
    expect((await take()).answer[0]).toMatch(/42$/)
  },
  async 'a caller waiting for a result is called when the job ends, and not before'(world) {
    const id = await world.make({ keepResult: HOUR })
    const called = await waitFor(world, id, HOUR)
    const run = await world.claimOne()
    await run.commit({ result: encodeValue(42) })
    expect(await called()).toBe('completed')
    expect((await world.document(id)).waitedUntil).toBeUndefined()
  },
  async 'a caller waiting for a job that is deleted at its end is called too'(world) {
    const called = await waitFor(world, await world.make({ retain: 0 }), HOUR)
    await runOne(world)
    expect(await called()).toBe('completed')
  },
  async 'every end of a job calls its waiting callers'(world) {
    for (const end of ends) {
      const id = await world.make()
      const called = await waitFor(world, id, HOUR)
      await end(world, id)
      expect(await called()).not.toBe('nothing')
    }
  },
  async 'a caller past its waiting time is not called'(world) {
    const called = await waitFor(world, await world.make(), 1)
    world.advance(2)
    await runOne(world)
    expect(await called()).toBe('nothing')
  },
  async 'a repeated claim of a pull worker leases once, and stores only the tokens'(world) {
    await world.make({ pull: true, args: encodeValue('secret') })
    await world.make({ pull: true })
    const claim = () =>
      world.store.commit({
        queue: 'q',
        lane: { id: 'key', seq: 1 },
        claim: { max: 1, lease: 45_000, begun: 1, pull: true },
      })
    const tokens = [await claim(), await claim()].map(({ claimed }) => claimed.map(({ document }) => document.token))
    expect(tokens[0]).toEqual(tokens[1])
    expect((await world.queueOf()).leases).toBe(1)
    expect(await world.client.ask((redis) => redis.get(world.store.keys.lane('key')))).not.toContain('secret')
  },
  async 'an empty claim of a pull worker is not stored, so that its repetition can get jobs'(world) {
    const claim = () =>
      world.store.commit({
        queue: 'q',
        lane: { id: 'key', seq: 1 },
        claim: { max: 1, lease: 45_000, begun: 1, pull: true },
      })
    expect((await claim()).claimed).toEqual([])
    await world.make({ pull: true })
    expect((await claim()).claimed).toHaveLength(1)
  },
}

const SIDES = ['children', 'steps', 'waiting', 'runs', 'minute', 'in:in', 'out:out']

/** Gives all keys of a job except its record a wrong type, so that the test fails if a script reads them. */
async function withoutAsking(world: World, id: number, act: () => Promise<void>): Promise<void> {
  const sides = SIDES.map((name) => `${world.store.keys.job(id)}:${name}`)
  await world.client.ask((redis) => redis.mset(Object.fromEntries(sides.map((key) => [key, 'x']))))
  await act().catch((error: Error) => {
    expect(`${error.message} ${error.cause}`).not.toContain('WRONGTYPE')
    throw error
  })
  const untouched = await world.client.ask((redis) => redis.mget<string[]>(...sides))
  expect(untouched).toEqual(sides.map(() => 'x'))
  await world.client.ask((redis) => redis.del(...sides))
}

const rule33: Facts = {
  async 'absent parts of a job are never read, from its creation to its end'(world) {
    const id = await world.make({ in: { in: {} }, out: { out: {} }, history: 0 })
    const claimSound = async () => {
      const run = await world.claimOne()
      expect(run.claimed.fault).toBeUndefined()
      return run
    }
    await withoutAsking(world, id, async () => {
      expect(await (await claimSound()).commit({ end: 'again' })).toBe('queued')
      expect(await (await claimSound()).suspend()).toBe('suspended')
      await world.change(id, 'run', '', '', '', '', '')
      expect(await (await claimSound()).suspend({ waitFor: 'children' })).toBe('queued')
      expect(await (await claimSound()).fail()).toBe('failed')
      await world.change(id, 'terminate', '', '1')
      expect(await world.status(id)).toBe('terminated')
    })
  },
  async 'a job with unreadable values is leased with an error, not without values'(world) {
    const id = await world.make({ in: { in: {} } })
    await world.push(id, 'in', `"${'x'.repeat(600)}"`)
    const list = `${world.store.keys.job(id)}:in:in`
    await world.client.ask(async (redis) => {
      await redis.rename(list, `${list}:away`)
      await redis.set(list, 'no list')
    })
    const run = await world.claimOne()
    expect(run.claimed.fault).toMatchObject({ code: 'INTERNAL' })
    await world.client.ask((redis) => redis.rename(`${list}:away`, list))
    expect(await run.suspend()).toBe('suspended')
  },
  async 'the runaway guard and the last run are in the document, without separate keys'(world) {
    const id = await world.make()
    await (await world.claimOne()).suspend()
    const { runsThisMinute, lastRun } = await world.document(id)
    expect(runsThisMinute).toMatch(/^\d+:1$/)
    expect(lastRun).toMatch(/^\d+,\d+,suspended,1$/)
    expect(await world.client.ask((redis) => redis.keys(`${world.namespace}job:*`))).toEqual([world.store.keys.job(id)])
  },
  async 'a job that keeps runs has its last runs, newest first, however each ended'(world) {
    const id = await world.make({ history: 4 })
    const runs = async () => (await world.store.runs(id)).map(pastRunOf)
    const tokens: string[] = []
    const next = async () => {
      world.advance(60_000)
      await world.tick()
      const run = await world.claimOne({ lease: 5_000 })
      tokens.unshift(run.token)
      return run
    }
    await (await next()).commit({ end: 'again' })
    expect(await runs()).toMatchObject([{ outcome: 'again', attempt: 1, retried: false, token: tokens[0] }])
    await (await next()).fail({ max: 2 }, 'broken')
    await next()
    world.advance(6_000)
    await world.tick()
    await (await next()).release('wait', '1', 'error', '{"message":"unknown"}', '')
    expect((await world.document(id)).historyKept).toBe(4)
    await (await next()).fail({ max: 1 }, 'x'.repeat(9_000))
    expect((await world.document(id)).historyKept).toBe(4)
    const [last, ...others] = await runs()
    expect(last).toMatchObject({ outcome: 'failed', retried: false, attempt: 2 })
    expect(JSON.parse(last!.error!)).toEqual({
      message: expect.stringMatching(/its error is 90\d\d bytes/),
      reason: 'other',
    })
    expect(others).toMatchObject([
      { outcome: 'released', retried: true, error: '{"message":"unknown"}' },
      { outcome: 'lost', retried: true },
      { outcome: 'failed', retried: true, error: '{"message":"broken","reason":"other"}' },
    ])
    expect([last, ...others].map((run) => run!.token)).toEqual(tokens.slice(0, 4))
    expect((await runs()).every(({ startedAt, endedAt }) => startedAt <= endedAt)).toBe(true)
  },
  async 'by default the last ten failed or lost runs are kept, and no successful runs'(world) {
    const id = await world.make()
    const outcomes = async () => (await world.store.runs(id)).map((run) => pastRunOf(run).outcome)
    await (await world.claimOne()).commit({ end: 'again' })
    expect(await outcomes()).toEqual([])
    const next = async () => {
      world.advance(60_000)
      await world.tick()
      return world.claimOne({ lease: 5_000, begun: 1 })
    }
    await (await next()).fail({ max: 20, backoff: { base: 1_000, cap: 1_000 } })
    await next()
    world.advance(6_000)
    await world.tick()
    expect(await outcomes()).toEqual(['lost', 'failed'])
    for (let i = 0; i < 10; i++) await (await next()).fail({ max: 20, backoff: { base: 1_000, cap: 1_000 } })
    expect(await outcomes()).toEqual(Array(10).fill('failed'))
    const none = await world.make({ history: 0 })
    await (await world.claimOne()).fail()
    expect(await world.store.runs(none)).toEqual([])
  },
  async 'the runs of a job are deleted with the job'(world) {
    const keys = (id: number) => world.client.ask((redis) => redis.keys(`${world.store.keys.job(id)}*`))
    for (const retain of [0, 1]) {
      const id = await world.make({ history: 9, retain })
      await (await world.claimOne()).commit({ end: 'again' })
      expect(await keys(id)).toHaveLength(2)
      await (await world.claimOne()).commit()
      world.advance(61_000)
      await world.tick()
      expect(await keys(id)).toEqual([])
    }
  },
  async 'a run whose commit is refused is kept once, as it ended'(world) {
    const id = await world.make({ history: 9 })
    const ops = [{ op: 'write' as const, to: { out: 'none' }, values: [encodeValue(1)] }]
    expect(await (await world.claimOne()).commit({ ops })).toMatch(/^refused/)
    expect((await world.store.runs(id)).map(pastRunOf)).toMatchObject([
      { outcome: 'failed', retried: false, error: expect.stringContaining('none') },
    ])
  },
  async 'values wait in the document while all are small, and keep their order wherever they wait'(world) {
    const id = await world.make({ in: { in: {} } })
    const [large, list] = [`"${'x'.repeat(600)}"`, `${world.store.keys.job(id)}:in:in`]
    const waits = async (...expected: string[]) => {
      const { 'vi:in': own } = await world.document(id)
      expect((await world.store.values(id, 'in', 'in', 1, 9)).map((item) => item.slice(1))).toEqual(expected.slice(1))
      expect(await world.values(id, 'in', 'in')).toEqual(expected)
      return { own: JSON.parse(own ?? '[]').length, listed: await world.client.ask((redis) => redis.llen(list)) }
    }
    const read = (n: number) => world.change(id, 'take', '', 'i', 'in', n)
    await world.push(id, 'in', '1')
    await world.push(id, 'in', '"ü"')
    await world.push(id, 'in', '3')
    expect(await waits('1', '"ü"', '3')).toEqual({ own: 3, listed: 0 })
    await read(1)
    expect(await waits('"ü"', '3')).toEqual({ own: 2, listed: 0 })
    await world.push(id, 'in', large)
    expect(await waits('"ü"', '3', large)).toEqual({ own: 0, listed: 3 })
    await world.push(id, 'in', '5')
    await read(3)
    expect(await waits('5')).toEqual({ own: 0, listed: 1 })
    await read(1)
    await world.push(id, 'in', '6', '7')
    expect(await waits('6', '7')).toEqual({ own: 2, listed: 0 })
    const run = await world.claimOne()
    expect(run.snapshot.in.in!.values.map(({ data }) => data)).toEqual(['6', '7'])
    await run.suspend({ reads: { in: { cursor: 5, count: 2 } } })
    expect(await waits()).toEqual({ own: 0, listed: 0 })
    expect(await world.document(id)).not.toHaveProperty('vi:in')
  },
  async 'flags mark values stored next to a document, and are removed with them'(world) {
    const id = await world.make()
    const spawn = { op: 'spawn' as const, name: 'a', queue: 'q', class: 'child' }
    await (await world.claimOne()).commit({
      end: 'checkpoint',
      ops: [spawn, { op: 'step', name: 's', value: encodeValue(1) }],
    })
    expect(await world.document(id)).toMatchObject({ hasChildren: '1', hasSteps: '1' })
  },
}

/** The store sends the first call alone, and the other calls in one batch. */
const atOnce = (world: World, calls: [making: Making, key: string][]) =>
  Promise.allSettled(calls.map(([making, key]) => enqueue(world, making, { ...once(), key })))
const idsOf = (made: PromiseSettledResult<{ id: number }>[]) =>
  made.map((one) => (one.status === 'fulfilled' ? one.value.id : undefined))

const rule123: Facts = {
  async 'each of several calls gets its own job id, and the same id again under its key'(world) {
    const made = idsOf(
      await atOnce(
        world,
        ['a', 'b', 'c', 'd'].map((key, priority) => [{ priority }, key]),
      ),
    )
    expect(new Set(made).size).toBe(4)
    for (const [i, key] of ['a', 'b', 'c', 'd'].entries()) {
      expect(Number((await world.document(made[i]!)).priority ?? 0)).toBe(i)
      const job = { queue: 'q', class: 'plain', known: true, priority: i }
      const again = await world.store.enqueue([job], { ...once(), key })
      expect(again.made.map(({ id }) => id)).toEqual([made[i]])
    }
    expect(await jobs(world)).toBe(4)
  },
  async 'a repeated call among new calls creates no further job'(world) {
    const { id } = await enqueue(world, {}, { ...once(), key: 'b' })
    const made = idsOf(
      await atOnce(
        world,
        [...'acbd'].map((key) => [{}, key]),
      ),
    )
    expect(made[2]).toBe(id)
    expect(new Set(made).size).toBe(4)
    expect(await jobs(world)).toBe(4)
  },
  async 'a refused call does not affect the other calls'(world) {
    const unknown = { class: 'nobody', known: false }
    const made = await atOnce(
      world,
      [...'abcd'].map((key) => [key === 'c' ? unknown : {}, key]),
    )
    expect(made.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
    expect(await jobs(world)).toBe(3)
  },
  async 'two calls under one key create one job, also among other calls'(world) {
    const made = idsOf(
      await atOnce(
        world,
        [...'abbc'].map((key) => [{}, key]),
      ),
    )
    expect(made[1]).toBe(made[2])
    expect(await jobs(world)).toBe(3)
  },
}

export const oneTime: Record<number, Facts> = { 31: rule31, 32: rule32, 33: rule33, 123: rule123 }
