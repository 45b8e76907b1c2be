import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SidejobError } from '../../src/core/errors.ts'
import { type Kit, startKit } from '../kit/index.ts'
import { BAD_DATA, type Client, family, type Given, NO_JOB, NOT_RUNNING, startBedrock, UNKNOWN } from './bedrock.ts'
import type { World } from './kit.ts'

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ hold: true })
})
afterAll(() => kit.close())

const HOUR = 3_600
const DAY = 24 * HOUR

const scenario = (name: string, act: (client: Client) => Promise<void>) =>
  test(name, async () => {
    const client = await startBedrock(kit)
    await act(client)
    expect(await client.faults()).toEqual([])
  })

describe('create', () => {
  scenario('S1 a new job is queued with the defaults', async ({ create, query }) => {
    const J = await create({ name: 'testCreate' })
    expect(J).toBeGreaterThan(0)
    const job = await query(J)
    expect(Object.keys(job)).toHaveLength(10)
    expect(job).toMatchObject({ state: 'QUEUED', data: {}, priority: 500, repeat: '', lastRun: '', retryAfter: '' })
    expect(job).toMatchObject({ jobID: J, name: 'testCreate' })
    expect(job.nextRun.slice(0, 19)).toBe(job.created)
  })

  scenario('S3 data is stored unchanged, and must be an object', async ({ send, create, query, refused, ask }) => {
    const data = '{ "blabla": "blabla",  "n": 1.50 }'
    const J = await create({ name: 'a', data })
    expect((await query(J)).data).toEqual({ blabla: 'blabla', n: 1.5 })
    const shown = await ask('POST', '/bedrock/QueryJob', { jobID: String(J) })
    expect(await shown.text()).toContain(`"data":${data}`)
    for (const bad of ['blabla', '[]', '7', '{"a":}', '""'])
      await refused('CreateJob', { name: 'a', data: bad }, BAD_DATA)
    expect((await send('CreateJob', { name: 'a', data: '{ }' })).code).toBe(200)
  })

  scenario('S4 there are six priorities, and priority is another name', async ({ create, query, refused }) => {
    for (const jobPriority of [0, 250, 500, 750, 850, 1000])
      expect((await query(await create({ name: 'p', jobPriority }))).priority).toBe(jobPriority)
    expect((await query(await create({ name: 'p', priority: 1000 }))).priority).toBe(1000)
    expect((await query(await create({ name: 'p', priority: 1000, jobPriority: 250 }))).priority).toBe(250)
    await refused('CreateJob', { name: 'p', jobPriority: 111 }, '402 Invalid priority value')
    await refused('CreateJob', { name: 'p', jobPriority: 'abc' }, '402 Invalid priority value')
  })

  scenario('S5 retryAfter must be a modifier', async ({ create, query, refused }) => {
    for (const retryAfter of ['10', 'PT5M', 'START OF HOUR', '+5 MINUTES '.replace(' ', '  ')])
      await refused('CreateJob', { name: 'a', retryAfter }, '402 Malformed retryAfter')
    expect((await query(await create({ name: 'a', retryAfter: '+5 minutes' }))).retryAfter).toBe('+5 minutes')
  })

  scenario('S6 repeat is checked, and stored in capitals', async ({ create, query, refused }) => {
    expect((await query(await create({ name: 'a', repeat: 'finished, +1 minute' }))).repeat).toBe('FINISHED, +1 MINUTE')
    expect((await query(await create({ name: 'a', repeat: 'hourly' }))).repeat).toBe('HOURLY')
    for (const repeat of ['blabla', 'FINISHED', '+1 HOUR', 'FINISHED, 1 HOUR', 'FINISHED, WEEKDAY 7'])
      await refused('CreateJob', { name: 'a', repeat }, '402 Malformed repeat')
    expect((await query(await create({ name: 'a', repeat: '' }))).repeat).toBe('')
  })

  scenario('S7 a unique job is found by its name, and gets the new data', async ({ create, query, at }) => {
    const U = await create({ name: 'blabla', unique: true })
    const first = await query(U)
    await at(5)
    expect(await create({ name: 'blabla', unique: true })).toBe(U)
    expect(await query(U)).toEqual(first)
    expect(await create({ name: 'blabla', unique: true, data: '{"blabla":"test"}' })).toBe(U)
    expect(await query(U)).toEqual({ ...first, data: { blabla: 'test' } })
    expect(await create({ name: 'blabla', unique: true, data: '{"blabla2":"test2"}', overwrite: false })).toBe(U)
    expect(await query(U)).toEqual({ ...first, data: { blabla: 'test' } })
  })

  scenario(
    'S8 the data of a unique job is merged: objects are merged recursively, and null removes a member',
    async ({ create, ask }) => {
      const U = await create({ name: 'm', unique: true, data: '{"a":{"b":1,"c":[1]},"d":2}' })
      await create({ name: 'm', unique: true, data: '{"a":{"b":null,"c":[2]},"e":12345678901234567890}' })
      const shown = await ask('POST', '/bedrock/QueryJob', { jobID: String(U) })
      expect(await shown.text()).toContain('"data":{"a":{"c":[2]},"d":2,"e":12345678901234567890}')
    },
  )

  scenario('S9 a unique job loses its repeat and priority if a call omits them', async ({ create, query }) => {
    const U = await create({ name: 'u', unique: true, repeat: 'HOURLY', jobPriority: 1000 })
    await create({ name: 'u', unique: true, data: '{"n":1}' })
    expect(await query(U)).toMatchObject({ repeat: '', priority: 500, state: 'QUEUED' })
  })

  scenario(
    'S10 CreateJobs creates many jobs in order, and finds unique jobs of the same call',
    async ({ json, send, query }) => {
      const jobs = [
        { name: 'u', unique: true },
        { name: 'u', unique: true },
        { name: 'u' },
        { name: 'v', data: '{"n":1}' },
      ]
      const { jobIDs } = (await json('CreateJobs', { jobs })).body
      expect(jobIDs[1]).toBe(jobIDs[0])
      expect(new Set(jobIDs).size).toBe(3)
      expect((await query(jobIDs[3])).data).toEqual({ n: 1 })
      expect((await send('CreateJobs', { jobs: JSON.stringify(jobs.slice(2)) })).body.jobIDs).toHaveLength(2)
    },
  )

  scenario('S11 CreateJobs requires an array of objects', async ({ refused, send }) => {
    for (const jobs of ['[{"name":"a"}]}', '[]', '[{}]', 'x', '{"name":"a"}', '["a"]'])
      await refused('CreateJobs', { jobs }, '401 Invalid JSON')
    await refused('CreateJobs', {}, '401 Invalid JSON')
    await refused('CreateJobs', { jobs: '[{"data":{"name":1}}]' }, '402 Missing name')
    const half = '[{"name":"fine"},{"name":"bad","repeat":"blabla"}]'
    await refused('CreateJobs', { jobs: half }, '402 Malformed repeat')
    expect((await send('GetJob', { name: '*' })).status).toBe(NO_JOB)
  })

  scenario(
    'S12 a name is required, has a maximum length, and may contain any characters',
    async ({ refused, create, get }) => {
      await refused('CreateJob', {}, '402 Missing name')
      await refused('CreateJob', { name: '' }, '402 Missing name')
      await refused('CreateJob', { name: 'x'.repeat(256) }, '402 Malformed name')
      const J = await create({ name: 'www/a?x=1&é' })
      expect(await get({ name: 'www/*' })).toMatchObject({ jobID: J, name: 'www/a?x=1&é' })
    },
  )

  scenario('firstRun is a time, and is checked', async ({ create, query, refused, time, send }) => {
    const firstRun = time(HOUR)
    const J = await create({ name: 'later', firstRun })
    expect((await query(J)).nextRun).toBe(firstRun)
    expect((await query(await create({ name: 'day', firstRun: '2020-02-29' }))).nextRun).toBe('2020-02-29 00:00:00')
    for (const bad of ['garbage', '2026-02-30', '2026-03-11 02', '17'])
      await refused('CreateJob', { name: 'x', firstRun: bad }, '402 Malformed firstRun')
    expect((await send('GetJob', { name: 'later' })).status).toBe(NO_JOB)
  })
})

describe('take', () => {
  scenario('S13 a job is returned as it was before its delivery', async ({ create, get, query, at, time }) => {
    const J = await create({ name: 'job' })
    const { nextRun, created } = await query(J)
    await at(2)
    expect(await get({ name: 'job' })).toEqual({
      created,
      data: {},
      jobID: J,
      lastRun: '',
      name: 'job',
      nextRun,
      priority: 500,
      repeat: '',
      retryAfter: '',
    })
    expect(await query(J)).toMatchObject({ state: 'RUNNING', lastRun: time(2) })
    expect((await query(J)).nextRun.slice(0, 19)).toBe(nextRun.slice(0, 19))
  })

  scenario('S14 without a job, the answer is 404', async ({ refused, create, get }) => {
    await refused('GetJob', { name: 'job' }, NO_JOB)
    await refused('GetJobs', { name: 'job', numResults: 5 }, NO_JOB)
    await create({ name: 'job' })
    await get({ name: 'job' })
    await refused('GetJob', { name: 'job' }, NO_JOB)
    await refused('GetJob', {}, '402 Missing name')
    await refused('GetJob', { name: 'x'.repeat(12_751) }, '402 Malformed name')
  })

  scenario('S15 numResults belongs to GetJobs, and priorities are checked', async ({ refused, create }) => {
    await create({ name: 'job' })
    await refused('GetJob', { name: 'job', numResults: 20 }, '402 Cannot use numResults with GetJob; try GetJobs')
    await refused('GetJobs', { name: 'job' }, '402 Missing numResults')
    await refused('GetJobs', { name: 'job', numResults: 1, jobPriority: 111 }, '402 Invalid priority value')
  })

  const five = async ({ create, time }: Client) => {
    for (const [name, jobPriority] of [
      ['low_5', 0],
      ['medium_3', 500],
      ['high_1', 1000],
      ['medium_4', 500],
      ['high_2', 1000],
    ])
      await create({ name, jobPriority, firstRun: time(-10) })
  }

  scenario('S16 high priorities start first, then older jobs', async (client) => {
    await five(client)
    const { jobs } = await client.ok('GetJobs', { name: '*', numResults: 9 })
    expect(jobs.map(({ name }: { name: string }) => name)).toEqual([
      'high_1',
      'high_2',
      'medium_3',
      'medium_4',
      'low_5',
    ])
  })

  scenario('S17 due jobs start by priority, then by due time', async ({ create, time, at, send, get }) => {
    const made: [string, number, number][] = [
      ['low', 0, 1],
      ['medium', 500, 4],
      ['high', 1000, 7],
      ['high2', 1000, 15],
      ['medium2', 500, 13],
      ['low2', 0, 10],
    ]
    for (const [name, jobPriority, seconds] of made) await create({ name, jobPriority, firstRun: time(seconds) })
    const seen: string[] = []
    for (let second = 0; second < 8; second++) {
      await at(second)
      const { code, body } = await send('GetJob', { name: '*' })
      seen.push(code === 200 ? body.name : String(code))
    }
    expect(seen).toEqual(['404', 'low', '404', '404', 'medium', '404', '404', 'high'])
    await at(20)
    for (const name of ['high2', 'medium2', 'low2']) expect((await get({ name: '*' })).name).toBe(name)
  })

  scenario('S18 a job that is due again is ordered by its due time', async ({ create, get, at, ok }) => {
    await create({ name: 'again', retryAfter: '+5 SECONDS' })
    await get({ name: 'again' })
    await at(3)
    await create({ name: 'early' })
    await at(8)
    await create({ name: 'late' })
    const { jobs } = await ok('GetJobs', { name: '*', numResults: 3 })
    expect(jobs.map(({ name }: { name: string }) => name)).toEqual(['early', 'again', 'late'])
  })

  scenario('S19 jobPriority restricts a call to one priority', async (client) => {
    await five(client)
    const taken = async (jobPriority: number) =>
      (await client.ok('GetJobs', { name: '*', numResults: 2, jobPriority })).jobs.map((job: Given) => job.name)
    expect(await taken(0)).toEqual(['low_5'])
    expect(await taken(500)).toEqual(['medium_3', 'medium_4'])
    expect(await taken(1000)).toEqual(['high_1', 'high_2'])
  })

  const names = ['foo', 'Foo', 'fooBar', 'www/a?x=1', 'www/aXx=1', 'a[1]', 'a1', 'a,b', 'x*']
  const globs: [string, string[]][] = [
    ['FOO', []],
    ['foo*', ['foo', 'fooBar']],
    ['F*', ['Foo']],
    ['www/a?x=1', ['www/a?x=1', 'www/aXx=1']],
    ['www/a[?]x=1', ['www/a?x=1']],
    ['a[1]', ['a1']],
    ['a[[]1]', ['a[1]']],
    ['x*', ['x*']],
    ['x[*]', ['x*']],
    ['[^f]*', ['Foo', 'www/a?x=1', 'www/aXx=1', 'a[1]', 'a1', 'a,b', 'x*']],
    ['[a-f]*', ['foo', 'fooBar', 'a[1]', 'a1', 'a,b']],
    ['a,b', []],
    ['foo,', []],
    ['foo*,F*', []],
    ['foo, a1', ['foo', 'a1']],
  ]

  scenario(
    'S20 a single name is a glob, and each of several names matches only itself',
    async ({ create, send, ok }) => {
      const ids: Record<number, string> = {}
      for (const name of names) ids[await create({ name })] = name
      for (const [name, found] of globs) {
        const { code, body } = await send('GetJobs', { name, numResults: 20 })
        const taken = code === 200 ? body.jobs.map((job: { jobID: number }) => job.jobID) : []
        expect([name, taken.map((id: number) => ids[id]).sort()]).toEqual([name, [...found].sort()])
        if (taken.length) await ok('RequeueJobs', { jobIDs: taken.join() })
      }
    },
  )

  scenario('S21 if twenty callers ask at once, one gets the job', async ({ create, send }) => {
    await create({ name: 'one' })
    const answers = await Promise.all(Array.from({ length: 20 }, () => send('GetJob', { name: 'one' })))
    expect(answers.filter(({ code }) => code === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === NO_JOB)).toHaveLength(19)
  })

  scenario('S22 a waiting caller gets the next job, or 303 after its timeout', async ({ send, create }) => {
    const waiting = send('GetJob', { name: 'wanted', 'x-bedrock-connection': 'wait', timeout: 10_000 })
    await create({ name: 'wanted' })
    expect((await waiting).body.name).toBe('wanted')
    const vain = await send('GetJob', { name: 'wanted', 'x-bedrock-connection': 'wait', timeout: 60 })
    expect([vain.code, vain.status]).toEqual([303, '303 Timeout'])
  })

  scenario('finds a name after thousands of other names', async ({ json, get, create }) => {
    for (let i = 0; i < 2; i++)
      await json('CreateJobs', { jobs: Array.from({ length: 900 }, () => ({ name: 'many' })) })
    const J = await create({ name: 'rare' })
    expect((await get({ name: 'rare' })).jobID).toBe(J)
  })
})

describe('finish, retry, update', () => {
  scenario('S23 only running jobs can be finished or retried', async ({ create, refused }) => {
    const J = await create({ name: 'job' })
    for (const command of ['FinishJob', 'RetryJob']) {
      await refused(command, { jobID: J + 1 }, UNKNOWN)
      await refused(command, { jobID: J }, NOT_RUNNING)
      await refused(command, {}, '402 Missing jobID')
      for (const jobID of ['abc', '01', '1.0', '+1']) await refused(command, { jobID }, '402 Malformed jobID')
    }
  })

  scenario('S24 a finished job is deleted', async ({ create, get, finish, refused }) => {
    const J = await create({ name: 'job' })
    await get({ name: 'job' })
    await finish(J)
    await refused('QueryJob', { jobID: J }, UNKNOWN)
    await refused('FinishJob', { jobID: J }, UNKNOWN)
  })

  scenario('S25 a job that repeats is queued for its next time', async ({ create, get, finish, query, at, time }) => {
    const J = await create({ name: 'job', repeat: 'STARTED, +1 HOUR' })
    await at(2)
    await get({ name: 'job' })
    await at(5)
    await finish(J, { delay: 5, nextRun: '2030-01-01 00:00:00' })
    expect(await query(J)).toMatchObject({ state: 'QUEUED', nextRun: time(HOUR + 2), lastRun: time(2) })
  })

  scenario(
    'S26 ignoreRepeat ends a job that repeats, and so does delete in its data',
    async ({ create, get, finish, refused }) => {
      for (const more of [{ ignoreRepeat: true }, { ignoreRepeat: 1 }, { data: '{"delete":true}' }]) {
        const J = await create({ name: 'job', repeat: 'STARTED, +1 HOUR' })
        await get({ name: 'job' })
        await finish(J, more)
        await refused('QueryJob', { jobID: J }, UNKNOWN)
      }
    },
  )

  scenario('S27 the next run gets the data of FinishJob', async ({ create, get, finish, at }) => {
    const J = await create({ name: 'job', repeat: 'STARTED, +1 HOUR', data: '{"old":1}' })
    await get({ name: 'job' })
    await finish(J, { data: '{"bar":"foo","foo":"bar"}' })
    await at(HOUR + 5)
    expect((await get({ name: 'job' })).data).toEqual({ bar: 'foo', foo: 'bar' })
  })

  scenario(
    'S28 a retried job is due at nextRun, or after its delay, or at once',
    async ({ create, get, ok, query, time, refused, at }) => {
      const J = await create({ name: 'job' })
      const retried = async (more: Given) => {
        await get({ name: '*' })
        await ok('RetryJob', { jobID: J, ...more })
        return query(J)
      }
      expect((await retried({ nextRun: time(60), delay: 5 })).nextRun).toBe(time(60))
      await at(60)
      expect((await retried({ delay: 30 })).nextRun).toBe(time(90))
      await at(91)
      expect((await retried({ nextRun: '2020-01-01 00:00:00' })).nextRun).toBe('2020-01-01 00:00:00')
      expect(await retried({ name: 'other', jobPriority: 1000 })).toMatchObject({
        name: 'other',
        priority: 1000,
        state: 'QUEUED',
      })
      await get({ name: 'other' })
      await refused('RetryJob', { jobID: J, delay: -1 }, '402 Must specify a non-negative delay when retrying')
      await refused('RetryJob', { jobID: J, delay: 999_999_999 }, '402 Malformed delay')
      await refused('RetryJob', { jobID: J, nextRun: 'soon' }, '402 Malformed nextRun')
    },
  )

  scenario(
    'S29 a retried job that repeats follows its repeat, except with ignoreRepeat',
    async ({ create, get, ok, query, at, time }) => {
      const J = await create({ name: 'job', repeat: 'STARTED, +1 HOUR' })
      await at(2)
      await get({ name: 'job' })
      await ok('RetryJob', { jobID: J, nextRun: '2037-09-07 23:11:11', delay: 5 })
      expect((await query(J)).nextRun).toBe(time(HOUR + 2))
      await at(HOUR + 2)
      await get({ name: 'job' })
      await ok('RetryJob', { jobID: J, nextRun: '2037-04-01 00:00:00', ignoreRepeat: true })
      expect(await query(J)).toMatchObject({
        nextRun: '2037-04-01 00:00:00',
        repeat: 'STARTED, +1 HOUR',
        state: 'QUEUED',
      })
    },
  )

  scenario(
    'S31 jobs with retryAfter and repeat continue independently of each other',
    async ({ create, ok, at, now, noon, time, query, finish }) => {
      const secondsOf = (text: string) => (Date.parse(`${text}Z`) - noon) / 1_000
      const seconds = () => Math.floor((now() - noon) / 1_000)
      const repeats = ['SCHEDULED, +1 HOUR', 'STARTED, +1 DAY', 'FINISHED, +7 DAYS']
      const ids: number[] = []
      for (const repeat of repeats)
        ids.push(await create({ name: 'three', firstRun: time(HOUR), retryAfter: '+5 MINUTES', repeat }))
      await at(HOUR + 5)
      const { jobs } = await ok('GetJobs', { name: 'three', numResults: 5 })
      expect(jobs.map(({ jobID }: Given) => jobID)).toEqual(ids)
      const started = secondsOf((await query(ids[0]!)).lastRun)
      expect(started).toBeGreaterThanOrEqual(HOUR + 5)
      const again = time(started + 300)
      for (const id of ids) expect(await query(id)).toMatchObject({ state: 'RUNQUEUED', nextRun: again })
      await at(HOUR + 10)
      await finish(ids[0]!)
      await finish(ids[1]!)
      const before = seconds()
      await finish(ids[2]!)
      const after = seconds()
      for (const [i, next] of [2 * HOUR, started + DAY].entries())
        expect(await query(ids[i]!)).toMatchObject({ state: 'QUEUED', nextRun: time(next) })
      const { state, nextRun } = await query(ids[2]!)
      expect(state).toBe('QUEUED')
      expect(secondsOf(nextRun)).toBeGreaterThanOrEqual(7 * DAY + before)
      expect(secondsOf(nextRun)).toBeLessThanOrEqual(7 * DAY + after)
    },
  )

  scenario('S32 HOURLY, DAILY and WEEKLY count from the finish', async ({ create, get, finish, query, at, time }) => {
    for (const [repeat, seconds] of [
      ['HOURLY', HOUR],
      ['DAILY', DAY],
      ['WEEKLY', 7 * DAY],
    ] as const) {
      const J = await create({ name: repeat, repeat })
      await get({ name: repeat })
      await finish(J)
      const { lastRun, nextRun } = await query(J)
      expect(Date.parse(`${nextRun}Z`) - Date.parse(`${lastRun}Z`)).toBeLessThanOrEqual((seconds + 1) * 1000)
      expect(Date.parse(`${nextRun}Z`) - Date.parse(`${lastRun}Z`)).toBeGreaterThanOrEqual(seconds * 1000)
    }
    await at(1)
    expect(time(1)).toMatch(/12:00:01$/)
  })

  scenario('S33 missed slots run one after another', async ({ create, get, ok, query, time }) => {
    for (const hours of [5, 1]) {
      const J = await create({
        name: `every${hours}`,
        repeat: `SCHEDULED, +${hours} HOURS`,
        firstRun: time(-10 * HOUR),
      })
      await get({ name: `every${hours}` })
      await ok('RetryJob', { jobID: J })
      expect((await query(J)).nextRun).toBe(time((hours - 10) * HOUR))
    }
  })

  scenario('S34 UpdateJob needs data, and does not change the state', async ({ create, refused, get, ok, query }) => {
    const J = await create({ name: 'job' })
    await refused('UpdateJob', { jobID: J }, '402 Missing data')
    await refused('UpdateJob', { jobID: J, data: 'x' }, BAD_DATA)
    await refused('UpdateJob', { jobID: J + 1, data: '{}' }, UNKNOWN)
    await refused('UpdateJob', { jobID: J, data: '{}', repeat: 'blabla' }, '402 Malformed repeat')
    await refused('UpdateJob', { jobID: J, data: '{}', nextRun: '2026-03-11 02' }, '402 Malformed nextRun')
    await get({ name: 'job' })
    await ok('UpdateJob', { jobID: J, data: '{ "progress": 0.5 }' })
    expect(await query(J)).toMatchObject({ state: 'RUNNING', data: { progress: 0.5 } })
  })

  scenario('S35 UpdateJob stores the given data', async ({ create, ok, query }) => {
    const J = await create({ name: 'job', jobPriority: 500 })
    const given = { data: '{"key":"value"}', repeat: 'HOURLY', jobPriority: 1000, nextRun: '2020-01-01 00:00:00' }
    await ok('UpdateJob', { jobID: J, ...given })
    expect(await query(J)).toMatchObject({
      data: { key: 'value' },
      repeat: 'HOURLY',
      priority: 1000,
      nextRun: '2020-01-01 00:00:00',
      state: 'QUEUED',
    })
  })

  scenario(
    'S36 a new repeat sets a new time at once, and clearing the repeat keeps that time',
    async ({ create, ok, query, time }) => {
      const J = await create({ name: 'job', firstRun: time(HOUR) })
      await ok('UpdateJob', { jobID: J, data: '{}', repeat: 'SCHEDULED, +1 DAY' })
      expect(await query(J)).toMatchObject({ repeat: 'SCHEDULED, +1 DAY', nextRun: time(HOUR + DAY) })
      await ok('UpdateJob', { jobID: J, data: '{}', shouldClearRepeat: 1 })
      expect(await query(J)).toMatchObject({ repeat: '', nextRun: time(HOUR + DAY), state: 'QUEUED' })
    },
  )

  scenario('S37 a string that looks like a number stays a string', async ({ create, ok, ask }) => {
    const J = await create({ name: 'job', data: '{"key":"value","anotherKey":"123"}' })
    await ok('UpdateJob', { jobID: J, data: '{"key":"value","anotherKey":"1234"}' })
    const shown = await (await ask('POST', '/bedrock/QueryJob', { jobID: String(J) })).text()
    expect(shown).toContain('"data":{"key":"value","anotherKey":"1234"}')
  })

  scenario('parameters can be members of a JSON body, which takes precedence', async ({ json, ask }) => {
    const { body } = await json('CreateJob', { name: 'job', data: { n: 1 }, jobPriority: 1000, unique: true })
    const headers = { jobid: '999', 'content-type': 'application/json' }
    const shown = await ask('POST', '/bedrock/queryjob', headers, JSON.stringify({ jobID: body.jobID }))
    expect(await shown.json()).toMatchObject({ name: 'job', data: { n: 1 }, priority: 1000 })
  })

  scenario('a Finish with the token of an older delivery is refused', async ({ create, send, at, refused, ok }) => {
    const J = await create({ name: 'job', retryAfter: '+5 SECONDS' })
    const first = await send('GetJob', { name: 'job' })
    await at(30)
    const second = await send('GetJob', { name: 'job' })
    expect(second.body.jobID).toBe(J)
    await refused('FinishJob', { jobID: J, token: first.token! }, '405 This job has been delivered again since')
    await ok('FinishJob', { jobID: J, token: second.token! })
  })
})

describe('retryAfter, requeue, fail', () => {
  scenario(
    'S38 a job with retryAfter is RUNQUEUED until that time',
    async ({ create, get, query, time, refused, at }) => {
      const J = await create({ name: 'job', retryAfter: '+5 MINUTES' })
      await get({ name: 'job' })
      expect(await query(J)).toMatchObject({ state: 'RUNQUEUED', nextRun: time(300), lastRun: time(0) })
      await at(299)
      await refused('GetJob', { name: 'job' }, NO_JOB)
    },
  )

  scenario(
    'S39 an unfinished job is delivered again, and the delivery is counted',
    async ({ create, get, query, at, refused, finish, time }) => {
      const J = await create({ name: 'job', retryAfter: '+5 SECONDS' })
      expect((await get({ name: 'job' })).data).toEqual({})
      expect(await query(J)).toMatchObject({ state: 'RUNQUEUED', nextRun: time(5) })
      await at(4)
      await refused('GetJob', { name: 'job' }, NO_JOB)
      await at(5.5)
      expect(await get({ name: 'job' })).toMatchObject({ jobID: J, data: { retryAfterCount: 1 }, lastRun: time(0) })
      await finish(J)
      await refused('QueryJob', { jobID: J }, UNKNOWN)
    },
  )

  scenario(
    'S40 a job fails after ten unanswered deliveries',
    async ({ create, get, send, state, query, ok, refused }) => {
      const J = await create({ name: 'job', retryAfter: '+0 SECONDS' })
      for (let n = 0; n < 10; n++)
        expect((await get({ name: 'job' })).data).toEqual(n === 0 ? {} : { retryAfterCount: n })
      expect((await query(J)).data).toEqual({ retryAfterCount: 10 })
      const eleventh = await send('GetJob', { name: 'job' })
      expect([eleventh.code, eleventh.body]).toEqual([200, {}])
      expect(await state(J)).toBe('FAILED')
      await refused('GetJob', { name: 'job' }, NO_JOB)
      const K = await create({ name: 'other', retryAfter: '+0 SECONDS' })
      for (let n = 0; n < 10; n++) await get({ name: 'other' })
      expect(await ok('GetJobs', { name: 'other', numResults: 3 })).toEqual({ jobs: [] })
      expect(await state(K)).toBe('FAILED')
    },
  )

  scenario('S41 FinishJob resets the count of deliveries', async ({ create, get, query, at, finish }) => {
    const J = await create({ name: 'job', retryAfter: '+1 SECOND', repeat: 'SCHEDULED, +1 DAY' })
    for (let n = 0; n < 4; n++) {
      await at(n * 2)
      expect((await get({ name: 'job' })).jobID).toBe(J)
    }
    await finish(J)
    const job = await query(J)
    expect(job.state).toBe('QUEUED')
    expect(job.data).not.toHaveProperty('retryAfterCount')
  })

  scenario(
    'S42 deliveries of manual jobs are neither limited nor counted',
    async ({ create, get, finish, refused }) => {
      const J = await create({ name: 'manual/job', retryAfter: '+0 SECONDS', repeat: 'SCHEDULED, +1 DAY' })
      for (let n = 0; n < 12; n++) expect(await get({ name: 'manual*' })).toMatchObject({ jobID: J, data: {} })
      await finish(J, { ignoreRepeat: true })
      await refused('QueryJob', { jobID: J }, UNKNOWN)
    },
  )

  scenario(
    'S43 the anchor of a repeat is shown in data, and does not drift',
    async ({ create, get, query, at, finish, time }) => {
      const J = await create({
        name: 'job',
        retryAfter: '+5 SECOND',
        repeat: 'SCHEDULED, +10 SECONDS',
        firstRun: time(0),
      })
      await get({ name: 'job' })
      const anchored = { retryAfterCount: 1, originalNextRun: time(0) }
      expect(await query(J)).toMatchObject({ state: 'RUNQUEUED', data: anchored })
      await at(6)
      expect((await get({ name: 'job' })).data).toEqual(anchored)
      await at(7)
      await finish(J, { data: '{"retryAfterCount":7,"originalNextRun":"x","mine":1}' })
      expect(await query(J)).toMatchObject({ state: 'QUEUED', data: { mine: 1 }, nextRun: time(10), lastRun: time(6) })
    },
  )

  scenario(
    'S44 requeued jobs are queued like new jobs, regardless of their history',
    async ({ create, get, ok, state, query, refused, at }) => {
      const J = await create({ name: 'running' })
      const K = await create({ name: 'runqueued', retryAfter: '+5 MINUTES' })
      const L = await create({ name: 'failed' })
      await at(3)
      for (const name of ['running', 'runqueued', 'failed']) await get({ name })
      await ok('FailJob', { jobID: L })
      await ok('RequeueJobs', { jobIDs: `${J}, ${K},${L},999,abc,` })
      for (const id of [J, K, L]) {
        const { nextRun, created } = await query(id)
        expect([await state(id), nextRun]).toEqual(['QUEUED', created])
      }
      await refused('FinishJob', { jobID: J }, NOT_RUNNING)
      expect((await get({ name: 'runqueued' })).data).toEqual({ retryAfterCount: 1 })
      await ok('RequeueJobs', { jobIDs: K, decrementFailures: true, name: 'renamed' })
      expect(await query(K)).toMatchObject({ name: 'renamed', data: { retryAfterCount: 1 }, state: 'QUEUED' })
      expect((await get({ name: 'renamed' })).jobID).toBe(K)
      await ok('RequeueJobs', {})
    },
  )

  scenario('S45 a delivery to a disconnected client does not count', async ({ app, create, get, state }) => {
    const J = await create({ name: 'job', retryAfter: '+0 SECOND' })
    for (let n = 0; n < 15; n++) {
      const gone = new AbortController()
      const headers = { authorization: 'Bearer dev', name: 'job' }
      const request = new Request('http://x/bedrock/GetJob', { method: 'POST', headers, signal: gone.signal })
      const answer = app.fetch(request)
      gone.abort()
      await answer
    }
    expect(await state(J)).toBe('QUEUED')
    expect(await get({ name: 'job' })).toMatchObject({ jobID: J, data: {} })
  })

  scenario(
    'S46 only running jobs can fail; a failed job stays and does not repeat',
    async ({ create, get, ok, query, refused, at }) => {
      const J = await create({ name: 'job', repeat: 'SCHEDULED, +1 HOUR' })
      await refused('FailJob', { jobID: J }, '405 Can only fail RUNNING or RUNQUEUED jobs')
      await get({ name: 'job' })
      await ok('FailJob', { jobID: J, data: '{"why":"broken"}' })
      expect(await query(J)).toMatchObject({ state: 'FAILED', data: { why: 'broken' } })
      await at(2 * HOUR)
      await refused('GetJob', { name: 'job' }, NO_JOB)
      await ok('DeleteJob', { jobID: J })
      await refused('QueryJob', { jobID: J }, UNKNOWN)
    },
  )

  scenario(
    'S47 an invalid time is refused, so no stored time can break a delivery',
    async ({ create, refused, get }) => {
      const J = await create({ name: 'job', retryAfter: '+5 MINUTES', repeat: 'SCHEDULED, +1 MINUTES' })
      await refused('UpdateJob', { jobID: J, data: '{}', nextRun: '2026-03-11 02' }, '402 Malformed nextRun')
      expect((await get({ name: 'job' })).jobID).toBe(J)
    },
  )

  scenario('S48 jobs with crashing names fail instead of being delivered', async ({ create, send, ok, state, get }) => {
    const J = await create({ name: 'bad/one' })
    const K = await create({ name: 'good' })
    await ok('CrashBedrockJob', { names: 'bad/*, worse' })
    expect(await state(J)).toBe('QUEUED')
    const { body } = await send('GetJobs', { name: '*', numResults: 1 })
    expect([body, await state(J)]).toEqual([{ jobs: [] }, 'FAILED'])
    expect((await get({ name: '*' })).jobID).toBe(K)
    await ok('ClearCrashedBedrockJobs')
    expect(await state(J)).toBe('FAILED')
    const L = await create({ name: 'bad/two' })
    expect((await get({ name: 'bad/*' })).jobID).toBe(L)
  })

  scenario('a lease can depend on the date, or end with the next slot', async ({ create, get, query, time, at }) => {
    const J = await create({ name: 'date', retryAfter: '+1 DAY, START OF DAY' })
    await get({ name: 'date' })
    expect((await query(J)).nextRun).toBe(time(12 * HOUR))
    const K = await create({ name: 'slot', retryAfter: '+12 HOURS', repeat: 'STARTED, +1 HOUR' })
    await at(3)
    await get({ name: 'slot' })
    expect(await query(K)).toMatchObject({ state: 'RUNQUEUED', nextRun: time(HOUR + 3) })
  })

  scenario(
    'a run can be finished late unless another worker claimed it',
    async ({ create, get, at, finish, state, refused }) => {
      const J = await create({ name: 'job', retryAfter: '+1 SECOND' })
      await get({ name: 'job' })
      await at(10)
      expect(await state(J)).toBe('RUNQUEUED')
      await finish(J)
      await refused('QueryJob', { jobID: J }, UNKNOWN)
    },
  )
})

describe('parent and child', () => {
  const BAD_PARENT = '405 Can only create child job when parent is RUNNING, RUNQUEUED or PAUSED'

  scenario('S49 children need a parent that runs or waits', async ({ create, refused, get, finish }) => {
    const P = await create({ name: 'parent' })
    await refused('CreateJob', { name: 'c', parentJobID: P }, BAD_PARENT)
    await refused('CreateJob', { name: 'c', parentJobID: 99 }, '404 parentJobID does not exist')
    await get({ name: 'parent' })
    const C = await create({ name: 'c', parentJobID: P })
    await finish(P)
    await get({ name: 'c' })
    await refused('CreateJob', { name: 'grandchild', parentJobID: C }, '405 Cannot create grandchildren')
  })

  scenario('S50 children wait until their parent has finished its run', async (client) => {
    const { state, refused, query, finish } = client
    const { P, C1, C2 } = await family(client)
    expect([await state(P), await state(C1), await state(C2)]).toEqual(['RUNNING', 'PAUSED', 'PAUSED'])
    await refused('GetJob', { name: 'c*' }, NO_JOB)
    await refused('FinishJob', { jobID: C1 }, NOT_RUNNING)
    await finish(P, { data: '{"new":1}' })
    expect(await query(P)).toMatchObject({ state: 'PAUSED', data: { new: 1 } })
    expect([await state(C1), await state(C2)]).toEqual(['QUEUED', 'QUEUED'])
  })

  scenario('S51 a paused parent can be neither finished nor deleted', async (client) => {
    const { state, refused, finish } = client
    const { P, C1, C2 } = await family(client)
    await finish(P)
    expect([await state(P), await state(C1), await state(C2)]).toEqual(['PAUSED', 'QUEUED', 'QUEUED'])
    await refused('FinishJob', { jobID: P }, NOT_RUNNING)
    await refused('DeleteJob', { jobID: P }, "405 Can't delete a parent jobs with children running")
  })

  scenario('S52 a child is returned with its parent, and may create siblings', async (client) => {
    const { get, finish, create, state } = client
    const { P, C1, C2 } = await family(client, { data: '{"of":"parent"}' })
    await finish(P)
    const child = await get({ name: 'c1' })
    expect(child).toMatchObject({ jobID: C1, parentJobID: P, parentData: { of: 'parent' } })
    expect(Object.keys(child)).toHaveLength(11)
    const C3 = await create({ name: 'c3', parentJobID: P })
    expect(await state(C3)).toBe('QUEUED')
    await finish(C1)
    await get({ name: 'c2' })
    await finish(C2)
    expect([await state(P), await state(C1)]).toEqual(['PAUSED', 'FINISHED'])
    await get({ name: 'c3' })
    await finish(C3)
    expect(await state(P)).toBe('QUEUED')
    const parent = await get({ name: 'parent' })
    expect(parent.finishedChildJobs.map(({ jobID }: Given) => jobID)).toEqual([C1, C2, C3])
    await client.refused('CreateJob', { name: 'x', parentJobID: C1 }, BAD_PARENT)
  })

  scenario('S53 a parent is returned with the data of its finished and cancelled children', async (client) => {
    const { get, finish, create, state, ok, refused } = client
    const P = await create({ name: 'parent', data: '{"foo":"bar"}' })
    await get({ name: 'parent' })
    const C1 = await create({ name: 'c1', parentJobID: P })
    const C2 = await create({ name: 'c2', parentJobID: P, data: '{"baz":"foo"}' })
    await finish(P)
    await get({ name: 'c1' })
    await ok('CancelJob', { jobID: C2 })
    expect([await state(C2), await state(P)]).toEqual(['CANCELLED', 'PAUSED'])
    await finish(C1, { data: '{"bar":"baz"}' })
    expect([await state(C1), await state(P)]).toEqual(['FINISHED', 'QUEUED'])
    const parent = await get({ name: 'parent' })
    expect(parent).toMatchObject({
      data: { foo: 'bar' },
      finishedChildJobs: [{ data: { bar: 'baz' }, jobID: C1 }],
      cancelledChildJobs: [{ data: { baz: 'foo' }, jobID: C2 }],
    })
    expect(Object.keys(parent)).toHaveLength(11)
    await finish(P)
    for (const jobID of [P, C1, C2]) await refused('QueryJob', { jobID }, UNKNOWN)
  })

  scenario('S54 cancelling the last child resumes the parent', async (client) => {
    const { ok, finish, get, state } = client
    const { P, C1, C2 } = await family(client)
    await finish(P)
    await get({ name: 'c1' })
    await ok('CancelJob', { jobID: C2 })
    expect(await state(P)).toBe('PAUSED')
    await finish(C1)
    expect(await state(P)).toBe('QUEUED')
    await ok('CancelJob', { jobID: C2 })
    expect([await state(C2), await state(P)]).toEqual(['CANCELLED', 'QUEUED'])
  })

  scenario(
    'S55 CancelJob refuses parents and lone jobs, and does not change children that run, wait or have finished',
    async (client) => {
      const { ok, finish, get, state, refused, create } = client
      const { P, C1, C2 } = await family(client)
      await ok('CancelJob', { jobID: C1 })
      expect(await state(C1)).toBe('PAUSED')
      await finish(P)
      await get({ name: 'c1' })
      await ok('CancelJob', { jobID: C1 })
      expect(await state(C1)).toBe('RUNNING')
      await finish(C1)
      await ok('CancelJob', { jobID: C1 })
      expect(await state(C1)).toBe('FINISHED')
      const alone = await create({ name: 'alone' })
      await refused('CancelJob', { jobID: 999 }, UNKNOWN)
      await refused('CancelJob', { jobID: P }, '404 Invalid jobID - Cannot cancel a job with children')
      await refused('CancelJob', { jobID: alone }, '404 Invalid jobID - Cannot cancel a job without a parent')
      expect(await state(C2)).toBe('QUEUED')
    },
  )

  scenario('S56 a claimed child with retryAfter can be cancelled', async (client) => {
    const { ok, finish, get, state, refused } = client
    const { P, C1, C2 } = await family(client, {}, { retryAfter: '+5 MINUTES' })
    await finish(P)
    await get({ name: 'c1' })
    expect(await state(C1)).toBe('RUNQUEUED')
    await ok('CancelJob', { jobID: C1 })
    expect(await state(C1)).toBe('CANCELLED')
    await refused('FinishJob', { jobID: C1 }, NOT_RUNNING)
    await ok('CancelJob', { jobID: C2 })
    expect(await state(P)).toBe('QUEUED')
  })

  scenario('S57 a unique child belongs to its parent', async ({ create, get, refused, json }) => {
    const [P1, P2] = [await create({ name: 'p1' }), await create({ name: 'p2' })]
    await get({ name: 'p1' })
    await get({ name: 'p2' })
    const C = await create({ name: 'c', unique: true, parentJobID: P1 })
    const tied = '404 Trying to create a child that already exists, but it is tied to a different parent'
    await refused('CreateJobs', { jobs: JSON.stringify([{ name: 'c', unique: true, parentJobID: P2 }]) }, tied)
    await refused('CreateJob', { name: 'c', unique: true }, tied)
    expect((await json('CreateJobs', { jobs: [{ name: 'c', unique: true, parentJobID: P1 }] })).body).toEqual({
      jobIDs: [C],
    })
  })

  scenario('S58 a lost parent with retryAfter is delivered again, and its children wait', async (client) => {
    const { get, at, state, finish } = client
    const { P, C1 } = await family(client, { retryAfter: '+5 SECONDS' })
    await at(6)
    expect(await state(P)).toBe('RUNQUEUED')
    expect((await get({ name: '*' })).jobID).toBe(P)
    expect(await state(C1)).toBe('PAUSED')
    await finish(P)
    expect([await state(P), await state(C1)]).toEqual(['PAUSED', 'QUEUED'])
  })

  scenario('S59 a failed child counts as ended and is shown, and its parent cannot be finished', async (client) => {
    const { get, ok, finish, state, refused, query } = client
    const { P, C1, C2 } = await family(client)
    await finish(P)
    await get({ name: 'c1' })
    await get({ name: 'c2' })
    await ok('FailJob', { jobID: C1, data: '{"why":1}' })
    expect(await state(P)).toBe('PAUSED')
    await finish(C2)
    expect(await state(P)).toBe('QUEUED')
    expect(await get({ name: 'parent' })).toMatchObject({
      finishedChildJobs: [{ jobID: C2 }],
      cancelledChildJobs: [],
      failedChildJobs: [{ jobID: C1, data: { why: 1 } }],
    })
    const before = await query(P)
    await refused('FinishJob', { jobID: P }, '405 Failed to delete a job with outstanding children')
    expect(await query(P)).toEqual(before)
    await ok('RetryJob', { jobID: P })
    expect([await state(P), await state(C1)]).toEqual(['QUEUED', 'FAILED'])
    await refused('QueryJob', { jobID: C2 }, UNKNOWN)
    await get({ name: 'parent' })
    await ok('DeleteJob', { jobID: C1 })
    await finish(P)
    await refused('QueryJob', { jobID: P }, UNKNOWN)
  })

  scenario('S60 a deleted child counts as ended', async (client) => {
    const { ok, finish, state, get } = client
    const { P, C1, C2 } = await family(client)
    await finish(P)
    await get({ name: 'c1' })
    await finish(C1)
    await client.refused('DeleteJob', { jobID: 999 }, UNKNOWN)
    await ok('DeleteJob', { jobID: C2 })
    expect(await state(P)).toBe('QUEUED')
  })

  scenario('a retried parent leaves its children waiting', async (client) => {
    const { ok, state, get, finish } = client
    const { P, C1 } = await family(client)
    await ok('RetryJob', { jobID: P })
    expect([await state(P), await state(C1)]).toEqual(['QUEUED', 'PAUSED'])
    await get({ name: 'parent' })
    await finish(P)
    expect([await state(P), await state(C1)]).toEqual(['PAUSED', 'QUEUED'])
  })

  scenario('a parent that repeats keeps its anchor, even after a pause', async (client) => {
    const { create, get, finish, query, at, time } = client
    const P = await create({ name: 'parent', repeat: 'SCHEDULED, +1 DAY', firstRun: time(HOUR) })
    await at(HOUR + 600)
    await get({ name: 'parent' })
    const C = await create({ name: 'c', parentJobID: P })
    await finish(P)
    await at(HOUR + 700)
    await get({ name: 'c' })
    await finish(C)
    await get({ name: 'parent' })
    await at(HOUR + 800)
    await finish(P)
    expect(await query(P)).toMatchObject({ state: 'QUEUED', nextRun: time(HOUR + DAY) })
  })

  scenario(
    'a parent can have a second generation of children, and children that end at the same time',
    async (client) => {
      const { create, get, finish, state, refused } = client
      const { P, C1, C2 } = await family(client)
      await finish(P)
      for (const [name, id] of [
        ['c1', C1],
        ['c2', C2],
      ] as const) {
        await get({ name })
        await finish(id)
      }
      await get({ name: 'parent' })
      const C3 = await create({ name: 'c3', parentJobID: P })
      expect(await state(C3)).toBe('PAUSED')
      await finish(P)
      await refused('QueryJob', { jobID: C1 }, UNKNOWN)
      expect([await state(P), await state(C3)]).toEqual(['PAUSED', 'QUEUED'])
    },
  )
})

describe('mocked jobs', () => {
  scenario(
    'S61 a mocked job goes only to callers that ask for mocked jobs, and does not repeat',
    async ({ create, refused, get, query }) => {
      const J = await create({ name: 'm', mockRequest: true, repeat: 'HOURLY' })
      await refused('GetJob', { name: 'm' }, NO_JOB)
      expect(await get({ name: 'm', mockRequest: true })).toMatchObject({
        jobID: J,
        data: { mockRequest: true },
        repeat: '',
      })
      expect((await query(J)).repeat).toBe('')
      const K = await create({ name: 'real' })
      expect((await get({ name: '*', getMockedJobs: true })).jobID).toBe(K)
    },
  )

  scenario(
    'S62 the parent decides whether children are mocked, and names of mocked jobs are separate',
    async (client) => {
      const { create, get, query, json } = client
      const real = await create({ name: 'u', unique: true })
      expect(await create({ name: 'u', unique: true, mockRequest: true })).not.toBe(real)
      const P = await create({ name: 'parent', mockRequest: true })
      await get({ name: 'parent', mockRequest: true })
      const { jobIDs } = (await json('CreateJobs', { jobs: [{ name: 'c', parentJobID: P }, { name: 'free' }] })).body
      for (const id of jobIDs) expect((await query(id)).data).toEqual({ mockRequest: true })
    },
  )

  scenario('S63 the mark of a mocked job cannot be overwritten', async ({ create, ok, query, send, refused }) => {
    const J = await create({ name: 'm', mockRequest: true })
    await ok('UpdateJob', { jobID: J, data: '{"key":"value"}' })
    expect((await query(J)).data).toEqual({ key: 'value', mockRequest: true })
    await refused('FinishJob', { jobID: J, data: '{"a":1}' }, '500 Mock Mismatch')
    expect((await send('FinishJob', { jobID: J })).code).toBe(200)
    await refused('QueryJob', { jobID: J }, UNKNOWN)
  })
})

describe('the door', () => {
  scenario('refuses unknown commands and callers without permission', async ({ refused, app }) => {
    await refused('MakeCoffee', {}, '430 Unrecognized command')
    const answer = await app.request('/bedrock/GetJob', { method: 'POST', headers: { name: 'x' } })
    expect([answer.status, await answer.json()]).toEqual([401, { code: 401, message: '401 Unauthorized' }])
  })

  scenario('each command needs its scope', async ({ app, engine, create }: Client & World) => {
    const J = await create({ name: 'job' })
    const needed: Record<string, string> = {
      CreateJob: 'write',
      CreateJobs: 'write',
      GetJob: 'work',
      GetJobs: 'work',
      QueryJob: 'read',
      Query: 'read',
      UpdateJob: 'write',
      RetryJob: 'work',
      FinishJob: 'work',
      CancelJob: 'write',
      FailJob: 'work',
      DeleteJob: 'write',
      RequeueJobs: 'write',
      CrashBedrockJob: 'admin',
      ClearCrashedBedrockJobs: 'admin',
    }
    for (const scope of ['read', 'write', 'work', 'admin'] as const) {
      const { key } = await engine.keys.add({ name: scope, scopes: [scope] })
      for (const [command, need] of Object.entries(needed)) {
        const headers = { authorization: `Bearer ${key}`, jobid: String(J + 100), names: 'x' }
        const { status } = await app.request(`/bedrock/${command}`, { method: 'POST', headers })
        expect([command, scope, status === 403]).toEqual([command, scope, scope !== need && scope !== 'admin'])
      }
    }
  })

  scenario('answers in MessagePack on request', async ({ ask }) => {
    const answer = await ask('POST', '/bedrock/CreateJob', { name: 'job', accept: 'application/msgpack' })
    expect(answer.headers.get('content-type')).toBe('application/vnd.msgpack')
    expect(new Uint8Array(await answer.arrayBuffer())[0]).toBe(0x81)
  })

  scenario('a command repeated with the same key creates one job', async ({ send }) => {
    const first = await send('CreateJob', { name: 'job', 'idempotency-key': 'k' })
    expect((await send('CreateJob', { name: 'job', 'idempotency-key': 'k' })).body).toEqual(first.body)
  })

  scenario('a call repeated after its merge failed lost its data: now it merges the data once', async (client) => {
    const { engine, create, query, send } = client
    const U = await create({ name: 'u', unique: true })
    const { update } = engine.deliveries
    engine.deliveries.update = async () => {
      throw new SidejobError('UNAVAILABLE', 'Redis is restarting')
    }
    const asked = { name: 'u', unique: true, data: '{"n":1}', 'idempotency-key': 'k' }
    expect((await send('CreateJob', asked)).code).toBe(502)
    engine.deliveries.update = update
    expect((await send('CreateJob', asked)).body).toEqual({ jobID: U })
    expect((await query(U)).data).toEqual({ n: 1 })

    await send('CreateJob', { name: 'u', unique: true, data: '{"n":2}' })
    expect((await send('CreateJob', asked)).body).toEqual({ jobID: U })
    expect((await query(U)).data).toEqual({ n: 2 })
  })

  scenario('an answer above a limit had no Retry-After', async ({ engine, ask }) => {
    const { key } = await engine.keys.add({ name: 'client', scopes: ['write'], limits: { jobs: 1 } })
    const create = (name: string) => ask('POST', '/bedrock/CreateJob', { authorization: `Bearer ${key}`, name })
    expect((await create('a')).status).toBe(200)
    const refused = await create('b')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5'])
  })

  scenario('jobs created with an Idempotency-Key count for the quota of their API key', async ({ engine, ask }) => {
    const { id, key } = await engine.keys.add({ name: 'client', scopes: ['write'], limits: { jobs: 2 } })
    const create = async (jobs: Given[], idempotencyKey: string) => {
      const headers = { authorization: `Bearer ${key}`, 'idempotency-key': idempotencyKey }
      const response = await ask('POST', '/bedrock/CreateJobs', headers, JSON.stringify({ jobs }))
      return { status: response.status, body: await response.json() }
    }
    const made = await create([{ name: 'a' }, { name: 'b' }], 'one')
    expect(made.status).toBe(200)
    expect(await engine.jobs.get(String(made.body.jobIDs[0]))).toMatchObject({ by: `key:${id}` })
    expect(await create([{ name: 'c' }], 'two')).toMatchObject({ status: 429 })
  })

  scenario('a repeated call with the same key runs its command once', async (client) => {
    const { create, send, query, state } = client
    const twice = async (command: string, given: Given) => {
      const asked = { ...given, 'idempotency-key': JSON.stringify(given) }
      expect((await send(command, asked)).code).toBe(200)
      expect(await send(command, asked)).toMatchObject({ code: 200, body: {} })
    }
    const gone = async (id: number) => expect((await send('QueryJob', { jobID: id })).code).toBe(404)
    const J = await create({ name: 'job' })
    await twice('UpdateJob', { jobID: J, data: '{"n":1}' })
    await send('GetJob', { name: 'job' })
    await twice('RetryJob', { jobID: J, delay: 0 })
    expect(await query(J)).toMatchObject({ state: 'QUEUED', data: { n: 1 } })
    await send('GetJob', { name: 'job' })
    await twice('FailJob', { jobID: J })
    await twice('RequeueJobs', { jobIDs: String(J) })
    await send('GetJob', { name: 'job' })
    await twice('FinishJob', { jobID: J })
    await gone(J)
    const K = await create({ name: 'other' })
    await twice('DeleteJob', { jobID: K })
    await gone(K)
    const { P, C1 } = await family(client)
    await twice('FinishJob', { jobID: P })
    await twice('CancelJob', { jobID: C1 })
    expect(await Promise.all([state(P), state(C1)])).toEqual(['PAUSED', 'CANCELLED'])
  })

  scenario('after a disconnect, the same key gets the job again', async ({ app, create, send }) => {
    const J = await create({ name: 'job' })
    const gone = new AbortController()
    const key = { 'idempotency-key': 'k' }
    const headers = { authorization: 'Bearer dev', name: 'job', ...key }
    const answer = app.fetch(new Request('http://x/bedrock/GetJob', { method: 'POST', headers, signal: gone.signal }))
    gone.abort()
    await answer
    expect((await send('GetJob', { name: 'job', ...key })).body.jobID).toBe(J)
  })

  scenario('a claim repeated with the same key returns the same jobs', async ({ create, send }) => {
    const ids = [await create({ name: 'job' }), await create({ name: 'job' })]
    const asked = { name: 'job', 'idempotency-key': 'k' }
    const [first, again] = [await send('GetJob', asked), await send('GetJob', asked)]
    expect(again).toEqual(first)
    expect(first.body.jobID).toBe(ids[0])
    expect((await send('GetJob', { name: 'job' })).body.jobID).toBe(ids[1])
  })

  scenario(
    'a key used for a different command is refused; a refused command can be repeated with its key',
    async (client) => {
      const { create, send } = client
      const [J, K] = [await create({ name: 'job' }), await create({ name: 'job' })]
      const key = { 'idempotency-key': 'k' }
      expect((await send('FinishJob', { jobID: J, ...key })).code).toBe(405)
      await send('GetJobs', { name: 'job', numResults: 2 })
      expect((await send('FinishJob', { jobID: J, ...key })).code).toBe(200)
      expect((await send('FinishJob', { jobID: K, ...key })).code).toBe(409)
      expect((await send('CreateJob', { name: 'a', ...key })).code).toBe(200)
      expect((await send('CreateJob', { name: 'b', ...key })).code).toBe(409)
    },
  )
})
