import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encodeValue } from '../../src/core/codec/value.ts'
import { type Kit, kind, startKit } from '../kit/index.ts'
import { BAD_DATA, type Client, family, type Given, NO_JOB, NOT_RUNNING, startBedrock, UNKNOWN } from './bedrock.ts'

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ hold: true })
})
afterAll(() => kit.close())

const HOUR = 3_600

const scenario = (name: string, act: (client: Client) => Promise<void>, options: { timeout?: number } = {}) =>
  test(name, options, async () => {
    const client = await startBedrock(kit)
    await act(client)
    expect(await client.faults()).toEqual([])
  })

const MANY = kind === 'embedded' ? { timeout: 120_000 } : {}

const BAD_REPEAT = '402 Malformed repeat'
const COLUMNS = 'created, jobID, state, name, nextRun, lastRun, repeat, data, priority, parentJobID, retryAfter'
const BAD_PRIORITY = '402 Invalid priority value'
const BAD_PARENT = '405 Can only create child job when parent is RUNNING, RUNQUEUED or PAUSED'

const textOf = async ({ ask }: Client, jobID: number) => {
  const shown = await (await ask('POST', '/bedrock/QueryJob', { jobID: String(jobID) })).text()
  return /"data":(.*),"jobID"/.exec(shown)![1]
}

describe('all commands', () => {
  scenario('every command requires a valid jobID of an existing job', async ({ create, refused }) => {
    const J = await create({ name: 'job' })
    const commands = ['QueryJob', 'UpdateJob', 'RetryJob', 'FinishJob', 'CancelJob', 'FailJob', 'DeleteJob']
    for (const command of commands) {
      for (const given of [{}, { jobID: '' }]) await refused(command, { data: '{}', ...given }, '402 Missing jobID')
      for (const jobID of ['abc', '01', '1.0', '+1', '1abc', '-0'])
        await refused(command, { data: '{}', jobID }, '402 Malformed jobID')
      for (const jobID of [J + 1, 0, -1, '99999999999999999999']) await refused(command, { data: '{}', jobID }, UNKNOWN)
    }
  })

  scenario('jobs of other queues are unknown to Bedrock’s commands', async ({ engine, refused }) => {
    await engine.queues.update('other', { mode: 'pull' })
    const { jobs } = await engine.jobs.enqueue([{ queue: 'other', class: 'job' }])
    for (const command of ['QueryJob', 'FinishJob', 'DeleteJob'])
      await refused(command, { jobID: jobs[0]!.id }, UNKNOWN)
  })

  scenario('commands without a result return 200 OK and an empty object', async ({ create, send, get }) => {
    const jobID = await create({ name: 'job' })
    await get({ name: 'job' })
    for (const [command, more] of [
      ['UpdateJob', { data: '{}' }],
      ['RetryJob', {}],
      ['RequeueJobs', {}],
      ['CrashBedrockJob', {}],
      ['ClearCrashedBedrockJobs', {}],
      ['DeleteJob', {}],
    ] as const)
      expect([command, await send(command, { jobID, ...more })]).toMatchObject([
        command,
        { code: 200, status: '200 OK', body: {} },
      ])
  })

  scenario('QueryJob returns ten keys in order, without the parent', async (client) => {
    const { C1 } = await family(client)
    expect(Object.keys(await client.query(C1))).toEqual([
      'created',
      'data',
      'jobID',
      'lastRun',
      'name',
      'nextRun',
      'priority',
      'repeat',
      'retryAfter',
      'state',
    ])
  })
})

describe('CreateJob', () => {
  scenario('reports the first of several errors in Bedrock’s order', async (client) => {
    const { C1 } = await family(client)
    await client.create({ name: 'tied', unique: true })
    const faults: [string, unknown, string, unknown][] = [
      ['name', '', '402 Missing name', 'tied'],
      ['jobPriority', 111, BAD_PRIORITY, 500],
      ['data', '[]', BAD_DATA, '{}'],
      ['retryAfter', '10', '402 Malformed retryAfter', '+1 HOUR'],
      ['parentJobID', 999, '404 parentJobID does not exist', C1],
    ]
    const given = Object.fromEntries(faults.map(([name, wrong]) => [name, wrong]))
    const all: Given = { ...given, repeat: 'blabla' }
    for (const [name, , status, right] of faults) {
      await client.refused('CreateJob', all, status)
      all[name] = right
    }
    // A waiting child cannot be a parent. Bedrock reports this error before it checks the repeat.
    await client.refused('CreateJob', all, BAD_PARENT)
  })

  scenario('a name has at most 255 bytes, not characters', async ({ create, json, refused, query }) => {
    const name = 'é'.repeat(127)
    expect((await query(await create({ name: 'n'.repeat(255) }))).name).toHaveLength(255)
    const { body } = await json('CreateJob', { name })
    expect((await query(body.jobID)).name).toBe(name)
    expect((await json('CreateJob', { name: `${name}éé` })).status).toBe('402 Malformed name')
    await refused('CreateJob', { name: 'n'.repeat(256) }, '402 Malformed name')
  })

  scenario('empty fields count as missing, except data', async ({ create, query, refused }) => {
    const J = await create({ name: 'job', firstRun: '', repeat: '', retryAfter: '', parentJobID: '', jobPriority: '' })
    expect(await query(J)).toMatchObject({ state: 'QUEUED', repeat: '', retryAfter: '', priority: 500 })
    await refused('CreateJob', { name: 'job', data: '' }, BAD_DATA)
  })

  scenario('a parentJobID that is 0 or not a number counts as absent', async ({ create, state }) => {
    for (const parentJobID of [0, 'abc', ''])
      expect(await state(await create({ name: 'job', parentJobID }))).toBe('QUEUED')
  })

  scenario('a retryAfter that ends at once makes the job ready at once', async ({ create, get, query, time }) => {
    const J = await create({ name: 'job', retryAfter: '-5 MINUTES' })
    for (let n = 0; n < 3; n++) expect((await get({ name: 'job' })).jobID).toBe(J)
    expect(await query(J)).toMatchObject({ state: 'RUNQUEUED', nextRun: time(-300), data: { retryAfterCount: 3 } })
  })

  scenario('firstRun is a date, a date and a time, or ISO 8601', async ({ create, get, finish, query }) => {
    for (const [name, firstRun, first, next] of [
      ['date', '2026-03-11', '2026-03-11 00:00:00', '2026-03-12 00:00:00'],
      ['both', '2026-03-11 02:00:00', '2026-03-11 02:00:00', '2026-03-12 02:00:00'],
      ['iso', '2026-03-11T02:00:00Z', '2026-03-11 02:00:00', '2026-03-12 02:00:00'],
      ['parts', '2026-03-11 13:00:00.750', '2026-03-11 13:00:00.750', '2026-03-12 13:00:00'],
    ] as const) {
      const J = await create({ name, firstRun, repeat: 'SCHEDULED, +1 DAY' })
      expect((await query(J)).nextRun).toBe(first)
      await get({ name })
      await finish(J)
      expect(await query(J)).toMatchObject({ state: 'QUEUED', nextRun: next })
    }
  })

  scenario('only the value true makes a job unique', async ({ create, json }) => {
    const ids = new Set<number>()
    for (const unique of ['1', 'TRUE', 'false', '']) ids.add(await create({ name: 'job', unique }))
    expect(ids.size).toBe(4)
    const first = (await json('CreateJob', { name: 'other', unique: true })).body
    expect((await json('CreateJob', { name: 'other', unique: true })).body).toEqual(first)
  })

  scenario('a unique job is found in every state, and keeps its state', async (client) => {
    const { create, get, ok, finish, query } = client
    const unique = (name: string, more: Given = {}) => create({ name, unique: true, ...more })
    const [running, runqueued, failed] = [
      await unique('running'),
      await unique('runqueued', { retryAfter: '+1 HOUR' }),
      await unique('failed'),
    ]
    for (const name of ['running', 'runqueued', 'failed']) await get({ name })
    await ok('FailJob', { jobID: failed })
    const P = await create({ name: 'parent' })
    await get({ name: 'parent' })
    const child = { parentJobID: P }
    const [finished, cancelled, waiting] = [
      await unique('finished', child),
      await unique('cancelled', child),
      await unique('waiting', child),
    ]
    expect((await query(waiting)).state).toBe('PAUSED')
    await finish(P)
    await get({ name: 'finished' })
    await finish(finished)
    await ok('CancelJob', { jobID: cancelled })
    for (const [name, id, state, more] of [
      ['running', running, 'RUNNING', {}],
      ['runqueued', runqueued, 'RUNQUEUED', {}],
      ['failed', failed, 'FAILED', {}],
      ['finished', finished, 'FINISHED', child],
      ['cancelled', cancelled, 'CANCELLED', child],
      ['waiting', waiting, 'QUEUED', child],
    ] as const) {
      const before = await query(id)
      expect([name, before.state]).toEqual([name, state])
      expect(await unique(name, { ...more, data: '{"n":1}' })).toBe(id)
      expect(await query(id)).toEqual({ ...before, data: { ...before.data, n: 1 } })
    }
  })

  scenario(
    'overwrite may be true, empty or absent; with any other value, nothing changes',
    async ({ create, query }) => {
      const U = await create({ name: 'u', unique: true })
      const given = (n: number, overwrite?: string) =>
        create({ name: 'u', unique: true, data: `{"n":${n}}`, ...(overwrite === undefined ? {} : { overwrite }) })
      for (const [n, overwrite] of [
        [1, 'true'],
        [2, ''],
        [3, undefined],
      ] as const) {
        expect(await given(n, overwrite)).toBe(U)
        expect((await query(U)).data).toEqual({ n })
      }
      for (const overwrite of ['false', '0', 'TRUE', '1']) {
        expect(await given(9, overwrite)).toBe(U)
        expect((await query(U)).data).toEqual({ n: 3 })
      }
    },
  )

  scenario(
    'if several jobs have a name, one of them holds it; the name is free when that job is deleted',
    async (client) => {
      const { create, ok } = client
      const ids = [await create({ name: 'u' }), await create({ name: 'u' })]
      const found = await create({ name: 'u', unique: true })
      expect(found).toBe(ids[0])
      await ok('DeleteJob', { jobID: found })
      expect(ids).not.toContain(await create({ name: 'u', unique: true }))
    },
  )

  scenario('the same data does not change the repeat and priority of a unique job', async ({ create, query }) => {
    const given = { name: 'u', unique: true, data: '{"n":1}' }
    const U = await create({ ...given, repeat: 'HOURLY', jobPriority: 1000 })
    expect(await create(given)).toBe(U)
    expect(await query(U)).toMatchObject({ repeat: 'HOURLY', priority: 1000 })
  })

  scenario(
    'a unique job without a parent is updated by a caller with a parent, and stays without a parent',
    async (client) => {
      const { create, get, query } = client
      const U = await create({ name: 'u', unique: true })
      const P = await create({ name: 'parent' })
      await get({ name: 'parent' })
      expect(await create({ name: 'u', unique: true, parentJobID: P, data: '{"n":1}' })).toBe(U)
      expect(await query(U)).toMatchObject({ state: 'QUEUED', data: { n: 1 } })
      expect(await get({ name: 'u' })).not.toHaveProperty('parentJobID')
    },
  )

  scenario('retryAfter can be combined with unique and with repeat', async ({ create, query }) => {
    const given = { name: 'u', unique: true, retryAfter: '+1 HOUR', repeat: 'HOURLY' }
    const U = await create(given)
    expect(await create(given)).toBe(U)
    expect(await query(U)).toMatchObject({ retryAfter: '+1 HOUR', repeat: 'HOURLY' })
  })

  scenario('a parent that is not mocked has no mocked children', async ({ create, get, query }) => {
    const P = await create({ name: 'parent' })
    await get({ name: 'parent' })
    const C = await create({ name: 'c', parentJobID: P, mockRequest: true })
    expect((await query(C)).data).toEqual({})
  })

  const malformed = [
    'blabla',
    'FINISHED',
    'FINISHED,',
    '+1 HOUR',
    'EVERY, +1 DAY',
    'CREATED, +1 DAY',
    'MONTHLY',
    'HOURLY ',
    'FINISHED; +1 DAY',
    'FINISHED , +1 HOUR',
    'FINISHED, +1 HOUR , START OF DAY',
    'FINISHED, 1 HOUR',
    'FINISHED, + 1 HOUR',
    'FINISHED, +1  HOUR',
    'FINISHED, +1.5 HOURS',
    'FINISHED, +1 WEEK',
    'FINISHED, +1 FORTNIGHT',
    'FINISHED, +1 HOURSS',
    'FINISHED, +1000 HOURS',
    'FINISHED, +999999999 SECONDS',
    'FINISHED, WEEKDAY 7',
    'FINISHED, WEEKDAY  1',
    'FINISHED, START OF WEEK',
    'FINISHED, START  OF DAY',
    'FINISHED, +01:00',
    'FINISHED, localtime',
    'FINISHED, unixepoch',
  ]

  scenario('every command refuses a malformed repeat', async ({ create, json }) => {
    const jobID = await create({ name: 'job' })
    for (const repeat of malformed)
      for (const [command, given] of [
        ['CreateJob', { name: 'x', repeat }],
        ['CreateJobs', { jobs: [{ name: 'x', repeat }] }],
        ['UpdateJob', { jobID, data: {}, repeat }],
      ] as const)
        expect([command, repeat, (await json(command, given)).status]).toEqual([command, repeat, BAD_REPEAT])
  })
})

describe('CreateJobs', () => {
  scenario('each job has the parameters of CreateJob, and mockRequest applies to all jobs', async (client) => {
    const { json, query } = client
    const jobs = [
      { name: 'a', data: { n: 1 }, jobPriority: 1000, retryAfter: '+1 HOUR', mockRequest: true },
      { name: 'b', data: '{"n":2}', priority: '250', firstRun: '2020-01-01', repeat: 'hourly' },
    ]
    const made = (await json('CreateJobs', { jobs })).body.jobIDs
    expect(await query(made[0])).toMatchObject({ name: 'a', data: { n: 1 }, priority: 1000, retryAfter: '+1 HOUR' })
    expect(await query(made[1])).toMatchObject({ name: 'b', data: { n: 2 }, priority: 250, repeat: 'HOURLY' })
    const { jobIDs } = (await json('CreateJobs', { jobs, mockRequest: true })).body
    expect((await query(jobIDs[0])).data).toEqual({ n: 1, mockRequest: true })
    expect(await query(jobIDs[1])).toMatchObject({ data: { n: 2, mockRequest: true }, repeat: '' })
  })

  scenario('null counts as absent', async ({ json, query }) => {
    const none = { data: null, firstRun: null, repeat: null, jobPriority: null, retryAfter: null, parentJobID: null }
    const { body } = await json('CreateJobs', { jobs: [{ name: 'job', unique: null, overwrite: null, ...none }] })
    expect(await query(body.jobIDs[0])).toMatchObject({ state: 'QUEUED', data: {}, priority: 500, repeat: '' })
  })

  scenario('if one job is refused, all jobs of the call are refused', async (client) => {
    const { json, send } = client
    const P = await client.create({ name: 'parent', firstRun: '2099-01-01' })
    for (const [wrong, status] of [
      [{}, '401 Invalid JSON'],
      [{ data: {} }, '402 Missing name'],
      [{ name: 'x'.repeat(256) }, '402 Malformed name'],
      [{ name: 'x', data: [] }, BAD_DATA],
      [{ name: 'x', jobPriority: 111 }, BAD_PRIORITY],
      [{ name: 'x', retryAfter: '10' }, '402 Malformed retryAfter'],
      [{ name: 'x', parentJobID: 999 }, '404 parentJobID does not exist'],
      [{ name: 'x', parentJobID: P }, BAD_PARENT],
    ] as const)
      expect((await json('CreateJobs', { jobs: [{ name: 'fine' }, wrong] })).status).toBe(status)
    expect((await send('GetJob', { name: '*' })).status).toBe(NO_JOB)
  })

  scenario('mocked and real parents in one call are refused', async ({ create, get, json }) => {
    const real = await create({ name: 'real' })
    await get({ name: 'real' })
    const mocked = await create({ name: 'mocked', mockRequest: true })
    await get({ name: 'mocked', mockRequest: true })
    const jobs = [real, mocked].map((parentJobID) => ({ name: 'c', parentJobID }))
    const { status } = await json('CreateJobs', { jobs })
    expect(status).toBe('405 Parent and child jobs must have matching mockRequest setting')
  })
})

describe('GetJob and GetJobs', () => {
  scenario('numResults counts as 1 if it is below 1 or not a number', async ({ create, ok }) => {
    for (let n = 0; n < 4; n++) await create({ name: 'job' })
    for (const numResults of ['0', '-5', 'abc', ''])
      expect((await ok('GetJobs', { name: 'job', numResults })).jobs).toHaveLength(1)
  })

  scenario('priority has an effect only in CreateJob, and an invalid jobPriority is refused', async (client) => {
    await client.create({ name: 'job', jobPriority: 1000 })
    await client.refused('GetJob', { name: 'job', jobPriority: 111 }, BAD_PRIORITY)
    await client.refused('GetJob', { name: 'job', jobPriority: 0 }, NO_JOB)
    expect((await client.get({ name: 'job', priority: 0 })).priority).toBe(1000)
  })

  scenario('waiting, running and ended jobs are never returned', async (client) => {
    const { P, C1, C2 } = await family(client)
    await client.refused('GetJob', { name: '*' }, NO_JOB)
    await client.finish(P)
    await client.get({ name: 'c1' })
    await client.ok('CancelJob', { jobID: C2 })
    await client.ok('FailJob', { jobID: C1 })
    expect([await client.state(C1), await client.state(C2)]).toEqual(['FAILED', 'CANCELLED'])
    expect((await client.get({ name: '*' })).jobID).toBe(P)
    await client.refused('GetJobs', { name: '*', numResults: 9 }, NO_JOB)
  })

  scenario('a caller that asks for mocked jobs also gets real jobs', async ({ create, ok }) => {
    const ids = [await create({ name: 'm', mockRequest: true }), await create({ name: 'm' })]
    const { jobs } = await ok('GetJobs', { name: 'm', numResults: 5, getMockedJobs: 1 })
    expect(jobs.map(({ jobID }: Given) => jobID)).toEqual(ids)
  })

  scenario('a job with a crashing name fails, and the call returns no other job instead', async (client) => {
    const { create, ok, state, refused } = client
    const ids = [await create({ name: 'bad/1' }), await create({ name: 'bad/2' }), await create({ name: 'good' })]
    await ok('CrashBedrockJob', { names: 'bad/*' })
    expect(await ok('GetJob', { name: '*' })).toEqual({})
    expect(await Promise.all(ids.map(state))).toEqual(['FAILED', 'QUEUED', 'QUEUED'])
    const { jobs } = await ok('GetJobs', { name: '*', numResults: 2 })
    expect(jobs.map(({ jobID }: Given) => jobID)).toEqual([ids[2]])
    expect(await state(ids[1]!)).toBe('FAILED')
    await refused('GetJob', { name: '*' }, NO_JOB)
  })
})

describe('UpdateJob', () => {
  scenario(
    'data is required, must be an object of at most a mebibyte, and is stored without white space',
    async (client) => {
      const J = await client.create({ name: 'job', data: '{ "old" : 1 }' })
      expect(await textOf(client, J)).toBe('{ "old" : 1 }')
      await client.refused('UpdateJob', { jobID: J, data: '' }, '402 Missing data')
      const most = JSON.stringify({ a: 'x'.repeat(1_048_576 - 8) })
      expect((await client.json('UpdateJob', { jobID: J, data: most })).status).toBe('200 OK')
      expect((await client.json('UpdateJob', { jobID: J, data: `${most} ` })).status).toBe('402 Malformed data')
      await client.ok('UpdateJob', { jobID: J, data: '{ "progress" : 0.50, "text": "a  b" }' })
      expect(await textOf(client, J)).toBe('{"progress":0.50,"text":"a  b"}')
    },
  )

  scenario('Bedrock’s internal marks are removed from data, and deliveries are counted from zero', async (client) => {
    const { create, get, ok, query } = client
    const J = await create({ name: 'job', retryAfter: '-1 SECOND', repeat: 'SCHEDULED, +1 DAY' })
    for (let n = 0; n < 3; n++) await get({ name: 'job' })
    expect((await query(J)).data).toMatchObject({ retryAfterCount: 3 })
    await ok('UpdateJob', { jobID: J, data: '{"mockRequest":true,"retryAfterCount":9,"originalNextRun":"x","mine":1}' })
    expect((await query(J)).data).toEqual({ mine: 1 })
    await get({ name: 'job' })
    expect((await query(J)).data).toMatchObject({ retryAfterCount: 1 })
  })

  scenario('the changes that RetryJob makes are checked as in CreateJob', async ({ create, ok, query, refused }) => {
    const J = await create({ name: 'job', repeat: 'HOURLY', jobPriority: 250 })
    const update = { jobID: J, data: '{}' }
    await refused('UpdateJob', { ...update, jobPriority: 111 }, BAD_PRIORITY)
    await refused('UpdateJob', { ...update, repeat: 'STARTED, +1 HOUR' }, BAD_REPEAT)
    await ok('UpdateJob', { ...update, repeat: '', priority: 1000, name: 'other', retryAfter: '+1 HOUR' })
    expect(await query(J)).toMatchObject({ name: 'job', repeat: 'HOURLY', priority: 250, retryAfter: '' })
    await ok('UpdateJob', { ...update, shouldClearRepeat: 'true' })
    expect((await query(J)).repeat).toBe('HOURLY')
    await ok('UpdateJob', { ...update, repeat: 'finished, +1 hour', nextRun: '2020-01-01 00:00:00' })
    expect(await query(J)).toMatchObject({ repeat: 'FINISHED, +1 HOUR', nextRun: '2020-01-01 00:00:00' })
  })

  scenario('a requeued job that repeats waits for a nextRun that is set later', async (client) => {
    const { create, ok, get, refused } = client
    const jobID = await create({ name: 'job', repeat: 'HOURLY', firstRun: '2099-01-01' })
    await ok('RequeueJobs', { jobIDs: jobID })
    await ok('UpdateJob', { jobID, data: '{}', nextRun: '2099-01-01 00:00:00' })
    await refused('GetJob', { name: 'job' }, NO_JOB)
    await ok('RequeueJobs', { jobIDs: jobID })
    expect(await get({ name: 'job' })).toMatchObject({ jobID })
  })

  scenario('a job can be updated in every state, and keeps its state', async (client) => {
    const { P, C1, C2 } = await family(client)
    const states = async () => Promise.all([P, C1, C2].map(client.state))
    const update = async () => {
      for (const jobID of [P, C1, C2]) await client.ok('UpdateJob', { jobID, data: '{"n":1}' })
    }
    for (const step of [
      () => client.finish(P),
      () => client.get({ name: 'c1' }),
      () => client.finish(C1),
      () => client.ok('CancelJob', { jobID: C2 }),
    ]) {
      const before = await states()
      await update()
      expect(await states()).toEqual(before)
      await step()
    }
    await update()
    expect(await states()).toEqual(['QUEUED', 'FINISHED', 'CANCELLED'])
  })
})

describe('FinishJob and RetryJob', () => {
  const BAD_FAMILY = '405 Can only retry/finish child job when parent is PAUSED'

  scenario('a child ends only while its parent is PAUSED', async (client) => {
    const { P, C1 } = await family(client)
    await client.finish(P)
    await client.get({ name: 'c1' })
    await client.ok('RequeueJobs', { jobIDs: P })
    for (const command of ['FinishJob', 'RetryJob']) await client.refused(command, { jobID: C1 }, BAD_FAMILY)
    expect(await client.state(C1)).toBe('RUNNING')
    await client.get({ name: 'parent' })
    await client.finish(P)
    await client.finish(C1)
    expect([await client.state(P), await client.state(C1)]).toEqual(['PAUSED', 'FINISHED'])
  })

  scenario('a parent waits for a repeating child until the first finished run of the child', async (client) => {
    const { create, get, finish, state, query, time } = client
    const P = await create({ name: 'parent' })
    await get({ name: 'parent' })
    const C = await create({ name: 'c', parentJobID: P, repeat: 'STARTED, +1 HOUR' })
    await finish(P)
    expect([await state(P), await state(C)]).toEqual(['PAUSED', 'QUEUED'])
    await get({ name: 'c' })
    await finish(C)
    expect([await state(P), await query(C)]).toMatchObject(['QUEUED', { state: 'QUEUED', nextRun: time(HOUR) }])
  })

  scenario('the nextRun of a waiting parent is the time of its last run', async (client) => {
    const { P } = await family(client, { firstRun: client.time(-60) })
    const { lastRun } = await client.query(P)
    await client.at(30)
    await client.finish(P)
    expect(await client.query(P)).toMatchObject({ state: 'PAUSED', nextRun: lastRun, lastRun })
  })

  scenario('a failed child blocks the waiting parents at every level', async (client) => {
    const { engine, create, get, finish, ok, refused, state } = client
    const P = await create({ name: 'parent' })
    await get({ name: 'parent' })
    const C = await create({ name: 'child', parentJobID: P })
    await finish(P)
    await get({ name: 'child' })
    // Bedrock does not allow grandchildren, but the engine does.
    const { jobs } = await engine.jobs.enqueue([
      { queue: 'bedrock', class: 'grandchild', parent: String(C), joins: true },
    ])
    await finish(C)
    await get({ name: 'grandchild' })
    await ok('FailJob', { jobID: jobs[0]!.id })
    await get({ name: 'child' })
    await refused('FinishJob', { jobID: C }, '405 Failed to delete a job with outstanding children')
    await ok('DeleteJob', { jobID: jobs[0]!.id })
    await finish(C)
    expect(await state(P)).toBe('QUEUED')
  })

  scenario(
    'FinishJob reads only the parameters data, ignoreRepeat and token',
    async ({ create, get, finish, query, time }) => {
      const J = await create({ name: 'job', repeat: 'STARTED, +1 HOUR', jobPriority: 250 })
      await get({ name: 'job' })
      await finish(J, { name: 'other', jobPriority: 111, priority: 0, delay: 'x', nextRun: 'y', ignoreRepeat: 0 })
      expect(await query(J)).toMatchObject({ name: 'job', priority: 250, nextRun: time(HOUR), state: 'QUEUED' })
    },
  )

  scenario('invalid data is refused, and ends no job', async ({ create, get, state, refused }) => {
    const J = await create({ name: 'job' })
    await get({ name: 'job' })
    for (const command of ['FinishJob', 'RetryJob', 'FailJob'])
      await refused(command, { jobID: J, data: '[]' }, BAD_DATA)
    expect(await state(J)).toBe('RUNNING')
  })

  scenario('a repeat without a next time does not change the run', async ({ create, get, send, query }) => {
    const J = await create({ name: 'job', repeat: `FINISHED${', +999 YEARS'.repeat(9)}` })
    await get({ name: 'job' })
    const before = await query(J)
    for (const command of ['FinishJob', 'RetryJob']) {
      const { code, body } = await send(command, { jobID: J })
      expect([code, body]).toEqual([400, { code: 400, message: expect.stringContaining('before the year 10000') }])
    }
    expect(await query(J)).toEqual(before)
  })

  scenario(
    'the member delete in data ends the repeat of a finished job, and has no effect on a retried job',
    async (client) => {
      const { create, get, ok, query, time, refused, finish } = client
      const J = await create({ name: 'job', repeat: 'STARTED, +1 HOUR' })
      await get({ name: 'job' })
      await ok('RetryJob', { jobID: J, data: '{"delete":true}', delay: 60 })
      expect(await query(J)).toMatchObject({ state: 'QUEUED', nextRun: time(60), repeat: 'STARTED, +1 HOUR' })
      await client.at(61)
      await get({ name: 'job' })
      await finish(J, { data: '{"delete":"true"}' })
      await refused('QueryJob', { jobID: J }, UNKNOWN)
    },
  )

  scenario('an invalid delay counts as absent, and a delay has at most eight digits', async (client) => {
    const { create, get, ok, query, refused, time } = client
    const J = await create({ name: 'job' })
    for (const [delay, seconds] of [
      ['abc', 0],
      ['', 0],
      ['30abc', 30],
    ] as const) {
      await get({ name: 'job' })
      await ok('RetryJob', { jobID: J, delay })
      expect((await query(J)).nextRun).toBe(time(seconds))
    }
    await client.at(31)
    await get({ name: 'job' })
    await refused('RetryJob', { jobID: J, delay: 100_000_000 }, '402 Malformed delay')
    await ok('RetryJob', { jobID: J, delay: 99_999_999 })
    expect((await query(J)).nextRun).toBe(time(31 + 99_999_999))
  })

  scenario(
    'a retry changes name and jobPriority but not priority, and resets the count of deliveries',
    async (client) => {
      const { create, get, ok, query, refused } = client
      const J = await create({ name: 'job', retryAfter: '-1 SECOND' })
      await get({ name: 'job' })
      await get({ name: 'job' })
      await refused('RetryJob', { jobID: J, jobPriority: 111 }, BAD_PRIORITY)
      await ok('RetryJob', { jobID: J, name: 'other', priority: 1000, data: '{"n":1}' })
      expect(await query(J)).toMatchObject({ name: 'other', priority: 500, data: { n: 1 }, state: 'QUEUED' })
      await get({ name: 'other' })
      await ok('RetryJob', { jobID: J, jobPriority: 850 })
      expect((await query(J)).priority).toBe(850)
    },
  )
})

describe('RequeueJobs, FailJob, CancelJob, DeleteJob', () => {
  scenario('RequeueJobs accepts jobs in any state, even in a family', async (client) => {
    const { ok, get, finish, query } = client
    const { P, C1, C2 } = await family(client)
    const queued = async (jobID: number) => {
      await ok('RequeueJobs', { jobIDs: jobID })
      const { state, nextRun, created } = await query(jobID)
      expect([state, nextRun.slice(0, 19)]).toEqual(['QUEUED', created])
    }
    await queued(C1)
    await finish(P)
    await queued(P)
    await get({ name: 'parent' })
    await finish(P)
    await get({ name: 'c1' })
    await finish(C1)
    await queued(C1)
    await ok('CancelJob', { jobID: C2 })
    expect((await query(C2)).state).toBe('CANCELLED')
    await queued(C2)
  })

  scenario('RequeueJobs renames all listed jobs', async ({ create, ok, query }) => {
    const ids = [await create({ name: 'a' }), await create({ name: 'b', firstRun: '2099-01-01' })]
    await ok('RequeueJobs', { jobIDs: ids.join(), name: 'new' })
    for (const id of ids) expect(await query(id)).toMatchObject({ name: 'new', state: 'QUEUED' })
  })

  scenario('a job with retryAfter can fail too, and keeps its count', async (client) => {
    const { create, get, ok, query, refused } = client
    const J = await create({ name: 'job', retryAfter: '+1 HOUR' })
    await get({ name: 'job' })
    await ok('FailJob', { jobID: J })
    expect(await query(J)).toMatchObject({ state: 'FAILED', data: { retryAfterCount: 1 } })
    await refused('FailJob', { jobID: J }, '405 Can only fail RUNNING or RUNQUEUED jobs')
    for (const command of ['FinishJob', 'RetryJob']) await refused(command, { jobID: J }, NOT_RUNNING)
  })

  scenario('a failed or cancelled child can be cancelled', async (client) => {
    const { P, C1, C2 } = await family(client)
    await client.finish(P)
    await client.get({ name: 'c1' })
    await client.ok('FailJob', { jobID: C1 })
    for (let n = 0; n < 2; n++) {
      await client.ok('CancelJob', { jobID: C1 })
      expect([await client.state(C1), await client.state(P)]).toEqual(['CANCELLED', 'PAUSED'])
    }
    await client.get({ name: 'c2' })
    await client.finish(C2)
    expect(await client.get({ name: 'parent' })).toMatchObject({
      finishedChildJobs: [{ jobID: C2 }],
      cancelledChildJobs: [{ jobID: C1 }],
    })
  })

  scenario('a parent of ended children still counts as a parent and cannot be cancelled', async (client) => {
    const { P, C1, C2 } = await family(client)
    await client.finish(P)
    for (const name of ['c1', 'c2']) await client.get({ name })
    for (const jobID of [C1, C2]) await client.finish(jobID)
    await client.refused('CancelJob', { jobID: P }, '404 Invalid jobID - Cannot cancel a job with children')
  })

  scenario('DeleteJob accepts jobs that neither run nor wait', async (client) => {
    const { create, get, ok, refused, finish } = client
    const gone = async (jobID: number) => {
      await ok('DeleteJob', { jobID })
      await refused('QueryJob', { jobID }, UNKNOWN)
    }
    const [queued, runqueued, failed, running] = [
      await create({ name: 'queued' }),
      await create({ name: 'runqueued', retryAfter: '+1 HOUR' }),
      await create({ name: 'failed' }),
      await create({ name: 'running' }),
    ]
    for (const name of ['runqueued', 'failed', 'running']) await get({ name })
    await ok('FailJob', { jobID: failed })
    await refused('DeleteJob', { jobID: running }, "405 Can't delete a RUNNING job")
    for (const jobID of [queued, runqueued, failed]) await gone(jobID)
    const { P, C1, C2 } = await family(client)
    await refused('DeleteJob', { jobID: C1 }, "405 Can't delete a parent jobs with children running")
    await finish(P)
    await get({ name: 'c1' })
    await finish(C1)
    await gone(C1)
    await ok('CancelJob', { jobID: C2 })
    await gone(C2)
    expect(await client.state(P)).toBe('QUEUED')
  })
})

describe('Query', () => {
  const rowsOf = async ({ ok }: Client, query: string) => (await ok('Query', { query })).rows
  const idsOf = async (client: Client, where: string) =>
    (await rowsOf(client, `SELECT jobID FROM jobs WHERE ${where};`)).flat()

  scenario('returns the columns of the table for select * from jobs, newest first', async (client) => {
    const { create, get, ok, time } = client
    await client.engine.queues.update('other', { mode: 'pull' })
    await client.engine.jobs.enqueue([{ queue: 'other', class: 'foo' }])
    const A = await create({ name: 'foo', data: '{"value":2}', repeat: 'finished, +1 minute', firstRun: time(0) })
    const B = await create({ name: 'bar', firstRun: time(5), jobPriority: 1000, retryAfter: '+5 MINUTES' })
    await get({ name: 'foo' })
    const C = await create({ name: 'child', parentJobID: A, firstRun: time(7) })
    const { headers, rows, more } = await ok('Query', { query: 'select * from jobs;' })
    expect(headers.join()).toBe('created,jobID,state,name,nextRun,lastRun,repeat,data,priority,parentJobID,retryAfter')
    const day = time(0).slice(0, 10)
    const brief = (row: unknown[]) => row.map((cell) => (String(cell).startsWith(day) ? 'time' : cell))
    expect([rows.map(brief), more]).toEqual([
      [
        ['time', C, 'PAUSED', 'child', 'time', '', '', {}, 500, A, ''],
        ['time', B, 'QUEUED', 'bar', time(5), '', '', {}, 1000, 0, '+5 MINUTES'].map((cell) =>
          cell === time(5) ? 'time' : cell,
        ),
        ['time', A, 'RUNNING', 'foo', 'time', 'time', 'FINISHED, +1 MINUTE', { value: 2 }, 500, 0, ''],
      ],
      undefined,
    ])
  })

  scenario('finds jobs by every column except data, and continues after the last result', async (client) => {
    const { create, get, ok, finish, time } = client
    const mails: number[] = []
    for (let n = 0; n < 5; n++)
      mails.push(await create({ name: `mail/${n}`, firstRun: time(n - 10), jobPriority: 750 }))
    const [M0, M1, M2, M3, M4] = mails
    const other = await create({ name: "it's", retryAfter: '+1 HOUR' })
    for (const name of ['mail/0', 'mail/1', "it's"]) await get({ name })
    await ok('FailJob', { jobID: M0 })
    expect(await idsOf(client, "name GLOB 'mail/*' AND state = 'QUEUED'")).toEqual([M4, M3, M2])
    expect(await idsOf(client, "name like 'MAIL/_'")).toEqual([M4, M3, M2, M1, M0])
    expect(await idsOf(client, "state IN ('FAILED','RUNNING')")).toEqual([M1, M0])
    expect(await idsOf(client, "state='FAILED'")).toEqual([M0])
    expect(await idsOf(client, "state = 'FAILED' AND name = 'mail/1'")).toEqual([])
    expect(await idsOf(client, "name = 'it''s'")).toEqual([other])
    expect(await idsOf(client, "state == 'RUNQUEUED' and retryAfter <> ''")).toEqual([other])
    expect(await idsOf(client, `jobID >= ${M1} AND jobID < ${M4} AND jobID != ${M2}`)).toEqual([M3, M1])
    expect(await idsOf(client, `jobID = ${M2}`)).toEqual([M2])
    expect(await idsOf(client, `priority > 500 AND nextRun <= '${time(-7)}'`)).toEqual([M3, M2, M1, M0])
    const page = await ok('Query', { query: 'SELECT name, jobID FROM jobs ORDER BY jobID DESC LIMIT 2;' })
    expect(page).toEqual({
      headers: ['name', 'jobID'],
      rows: [
        ["it's", other],
        ['mail/4', M4],
      ],
      more: `jobID < ${M4}`,
    })
    expect(await idsOf(client, `${page.more} AND state = 'QUEUED'`)).toEqual([M3, M2])
    await finish(other)
    expect(await idsOf(client, `jobID = ${other}`)).toEqual([])
  })

  scenario(
    'reads at most ten thousand jobs, and returns where it stopped',
    async (client) => {
      const { engine, ok, create } = client
      const first = await create({ name: 'needle' })
      const many = Array.from({ length: 1_000 }, () => ({ queue: 'bedrock', class: 'hay' }))
      for (let n = 0; n < 11; n++) await engine.jobs.enqueue(many)
      const { rows, more } = await ok('Query', { query: "SELECT jobID FROM jobs WHERE name LIKE 'need%';" })
      expect([rows, more]).toEqual([[], `jobID < ${first + 1_001}`])
      expect(await idsOf(client, `name LIKE 'need%' AND ${more}`)).toEqual([first])
      const all = await ok('Query', { query: 'SELECT jobID FROM jobs;' })
      expect([all.rows.length, all.more]).toEqual([1_000, `jobID < ${first + 10_001}`])
    },
    MANY,
  )

  scenario('refuses unsupported queries and gives the reason', async ({ refused, create, query }) => {
    const jobID = await create({ name: 'job' })
    const faults: [unknown, string][] = [
      ['', '402 Missing query'],
      ['x'.repeat(8_193), '402 Malformed query'],
      ['SELECT * FROM jobs', '502 Query Missing Semicolon'],
      ['DELETE FROM jobs;', '402 Bad query: expected SELECT, got DELETE'],
      ["UPDATE jobs SET state = 'QUEUED' WHERE jobID = 1;", '402 Bad query: expected SELECT, got UPDATE'],
      ['SELECT count(*) FROM jobs;', `402 Bad query: expected * or a column (${COLUMNS}), got count`],
      ['SELECT * FROM stuff;', '402 Bad query: expected JOBS, got stuff'],
      ['SELECT * FROM jobs WHERE;', `402 Bad query: expected * or a column (${COLUMNS}), got ;`],
      [
        "SELECT * FROM jobs WHERE data = '';",
        '402 Bad query: expected a condition on another column than data, got data',
      ],
      ["SELECT * FROM jobs WHERE jobID = '1a';", '402 Bad query: expected a whole number for jobID, got 1a'],
      ["SELECT * FROM jobs WHERE state LIKE 'Q%';", '402 Bad query: expected LIKE for name only, got state'],
      [
        `SELECT * FROM jobs WHERE name GLOB '${'*a'.repeat(26)}';`,
        '402 Bad query: expected a pattern of at most 50 characters, got 52',
      ],
      ["SELECT * FROM jobs WHERE name = 'a' OR name = 'b';", '402 Bad query: expected ;, got OR'],
      ['SELECT * FROM jobs ORDER BY name;', '402 Bad query: expected JOBID, got name'],
      ['SELECT * FROM jobs LIMIT 0;', '402 Bad query: expected a number of rows, from 1, got 0'],
      ["SELECT * FROM jobs WHERE name = 'a;", "402 Bad query: expected SQL, got 'a;"],
      ['SELECT * FROM jobs; SELECT * FROM jobs;', '402 Bad query: expected one SELECT, got SELECT'],
    ]
    for (const [given, status] of faults) await refused('Query', { query: given }, status)
    expect((await query(jobID)).state).toBe('QUEUED')
  })
})

describe('a name that is registered with schemas', () => {
  const to = { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] }
  const sent = { type: 'object', properties: { sent: { type: 'boolean' } }, required: ['sent'] }
  const register = ({ engine }: Client, name = 'mail') =>
    engine.workers.register('bedrock', name, { pull: true, args: encodeValue(to), result: encodeValue(sent) })
  const NO_TO = '402 data.to: is missing (args of class mail)'
  const NO_SENT = '402 data.sent: is missing (result of class mail)'
  const good = '{"to":"a@example.com"}'

  scenario('refuses to create, update, retry or rename a job with data that does not match', async (client) => {
    const { create, refused, get, query } = client
    await register(client)
    await refused('CreateJob', { name: 'mail', data: '{}' }, NO_TO)
    const jobID = await create({ name: 'mail', data: good })
    await refused(
      'UpdateJob',
      { jobID, data: '{"to":1}' },
      '402 data.to: expected a string, got 1 (args of class mail)',
    )
    await get({ name: 'mail' })
    await refused('RetryJob', { jobID, data: '{}' }, NO_TO)
    await refused('FailJob', { jobID, data: '{}' }, NO_TO)
    expect(await query(jobID)).toMatchObject({ state: 'RUNNING', data: { to: 'a@example.com' } })
    const other = await create({ name: 'other' })
    await get({ name: 'other' })
    await refused('RetryJob', { jobID: other, name: 'mail' }, NO_TO)
    await refused('RequeueJobs', { jobIDs: other, name: 'mail' }, NO_TO)
    expect(await query(other)).toMatchObject({ state: 'RUNNING', name: 'other' })
  })

  scenario('accepts only a valid result from the last FinishJob, and the run continues until then', async (client) => {
    const { create, refused, get, finish, query, P, C1 } = { ...client, ...(await family(client)) }
    await register(client, 'c1')
    await finish(P)
    await get({ name: 'c1' })
    await refused(
      'FinishJob',
      { jobID: C1, data: '{"sent":"yes"}' },
      '402 data.sent: expected true or false, got "yes" (result of class c1)',
    )
    await refused('FinishJob', { jobID: C1, data: good }, NO_SENT.replace('mail', 'c1'))
    expect((await query(C1)).state).toBe('RUNNING')
    await finish(C1, { data: '{"sent":true}' })
    expect(await query(C1)).toMatchObject({ state: 'FINISHED', data: { sent: true } })
    expect(await create({ name: 'other' })).toBeGreaterThan(0)
  })

  scenario('checks the data of a FinishJob of a repeating job as args of its next run', async (client) => {
    const { create, refused, get, finish, query } = client
    await register(client)
    const jobID = await create({ name: 'mail', data: good, repeat: 'FINISHED, +1 HOUR' })
    await get({ name: 'mail' })
    await refused('FinishJob', { jobID, data: '{"sent":true}' }, NO_TO)
    await refused('FinishJob', { jobID, data: good, ignoreRepeat: true }, NO_SENT)
    await finish(jobID, { data: '{"to":"b@example.com"}' })
    expect(await query(jobID)).toMatchObject({ state: 'QUEUED', data: { to: 'b@example.com' } })
  })
})
