import { describe, expect, test } from 'vitest'
import { type Body, useStack } from './kit.ts'

const stack = useStack()
const { ask, done, make, get, pull, claim, commit, reaches } = stack

const failed = (code: string) => ({ error: expect.objectContaining({ code, message: expect.any(String) }) })
const ISO = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const soon = (ms: number) => new Date(Date.now() + ms)
const ids = (jobs: { id: number }[]) => jobs.map(({ id }) => id)

describe('POST /v1/jobs', () => {
  test('one job returns 201 { id, status }', async () => {
    const kind = await pull()
    expect(await ask('POST /v1/jobs', kind)).toMatchObject({
      status: 201,
      body: { id: expect.any(Number), status: 'queued' },
    })
  })

  test('a list returns 201 { jobs: [{ id, status }] }, with ids in order', async () => {
    const kind = await pull()
    const { status, body } = await ask('POST /v1/jobs', [kind, kind, kind])
    expect(status).toBe(201)
    const [first] = body.jobs
    expect(body).toEqual({ jobs: [0, 1, 2].map((n) => ({ id: first.id + n, status: 'queued' })) })
  })

  test('a list of one job returns a list', async () => {
    const kind = await pull()
    expect((await done('POST /v1/jobs', [kind])).jobs).toHaveLength(1)
  })

  test('a job accepts all options', async () => {
    const kind = await pull({ in: { a: {} }, out: { b: {} } })
    const parent = await make(kind)
    const said = {
      ...kind,
      args: { n: 1 },
      name: 'child',
      parent,
      in: { more: { default: 5, channels: ['/said'] } },
      out: { gives: { channels: ['/given'] } },
      inputs: { a: [1, 2] },
      wait: '1h',
      priority: -3,
      group: { id: 'said', concurrency: 2 },
      retry: { max: 3, backoff: { base: 1, factor: 3, cap: '1h' } },
      timeout: '1m',
      keepResult: '2h',
      unique: 'said',
      alias: ['said_one', 'said_two'],
      createdBy: 'somebody',
    }
    const id = await make(said)
    expect(await get(id)).toMatchObject({
      id,
      ...kind,
      status: 'queued',
      args: { n: 1 },
      name: 'child',
      parent: { id: parent, name: 'child' },
      aliases: expect.arrayContaining(['said_one', 'said_two']),
      priority: -3,
      group: 'said',
      createdBy: 'somebody',
      runAt: ISO,
      in: { a: { size: 2 }, more: { size: 0, default: 5, channels: ['/said'] } },
      out: { b: { size: 0 }, gives: { channels: ['/given'] } },
    })
    expect((await get(parent)).children).toEqual({ child: { id, class: kind.class, status: 'queued' } })
  })

  test('a tag is refused unless the class has pull workers', async () => {
    const kind = await pull()
    const { id } = await done('POST /v1/jobs', { ...kind, tag: 'gpu' })
    expect((await ask(`POST /v1/queues/${kind.queue}/claim`, {})).status).toBe(204)
    const claimed = await done(`POST /v1/queues/${kind.queue}/claim`, { tags: ['gpu'] })
    expect(claimed.runs[0].job.id).toBe(id)
    await done(`PUT /v1/workers/${kind.queue}/called`, { push: { url: 'http://127.0.0.1:9/' } })
    const refused = await ask('POST /v1/jobs', { ...kind, class: 'called', tag: 'gpu' })
    expect([refused.status, refused.body.error]).toMatchObject([422, { code: 'REFUSED', path: ['tag'] }])
  })

  test('a job with a history shows its last runs, newest first, and any other job its last run', async () => {
    const kind = await pull({ retry: { max: 2, backoff: 0 } })
    const past: Record<string, unknown[]> = {}
    for (const history of [2, 0]) {
      const id = await make({ ...kind, history })
      for (const end of ['again', 'failed', 'completed'])
        await commit((await claim(kind.queue)).run.token, {
          end,
          ...(end === 'failed' && { error: { message: 'no' } }),
        })
      past[history] = (await done(`GET /v1/jobs/${id}/runs`)).runs
    }
    const times = { startedAt: ISO, endedAt: ISO }
    const told = { ...times, token: expect.any(String), by: 'pull' }
    expect(past[2]).toEqual([
      { ...told, outcome: 'completed', attempt: 2, retried: false },
      { ...told, outcome: 'failed', attempt: 1, retried: true, error: { message: 'no', reason: 'other' } },
    ])
    expect(past[0]).toEqual([{ ...times, outcome: 'completed', attempt: 2 }])
  })

  test('a second job with a unique key returns 200 and the first job, until the first job has ended', async () => {
    const kind = await pull()
    const first = await ask('POST /v1/jobs', { ...kind, unique: 'u' })
    const hit = await ask('POST /v1/jobs', { ...kind, unique: 'u' })
    expect([first.status, hit.status, hit.body]).toEqual([201, 200, { ...first.body, existing: true }])
    const listed = await ask('POST /v1/jobs', [
      { ...kind, unique: 'u' },
      { ...kind, unique: 'v' },
    ])
    expect(listed.status).toBe(201)
    expect(listed.body.jobs[0]).toEqual({ ...first.body, existing: true })
    expect(listed.body.jobs[1].existing).toBeUndefined()
    const run = await claim(kind.queue)
    await commit(run.run.token, { end: 'completed' })
    expect((await ask('POST /v1/jobs', { ...kind, unique: 'u' })).status).toBe(201)
  })

  test.each([
    ['ISO 8601', () => soon(3_600_000).toISOString()],
    [
      'ISO 8601 with an offset',
      () => `${new Date(Date.now() + 7_200_000 + 3_600_000).toISOString().slice(0, 19)}+02:00`,
    ],
    ['epoch milliseconds', () => soon(3_600_000).getTime()],
  ])('at is %s', async (_, at) => {
    const kind = await pull()
    const given = at()
    const { runAt, status } = await get(await make({ ...kind, at: given }))
    expect([status, runAt]).toEqual(['queued', new Date(given).toISOString()])
  })

  test.each([
    ['seconds', 90, 90_000],
    ['seconds as text', '90', 90_000],
    ["'5m'", '5m', 300_000],
    ["'1h30m'", '1h30m', 5_400_000],
  ])('wait is %s', async (_, wait, ms) => {
    const kind = await pull()
    const { runAt, createdAt } = await get(await make({ ...kind, wait }))
    expect(Date.parse(runAt) - Date.parse(createdAt)).toBe(ms)
  })

  test('small priorities run first, and equal priorities in the order in which the jobs became ready', async () => {
    const kind = await pull()
    const made: number[] = []
    for (const priority of [0, 5, -5, 0, -2147483648, 2147483647]) made.push(await make({ ...kind, priority }))
    const { body } = await ask(`POST /v1/queues/${kind.queue}/claim`, { max: 10 })
    const [zero, five, minus, again, least, most] = made
    expect(body.runs.map(({ job }: Body) => job.id)).toEqual([least, minus, zero, again, five, most])
  })

  test.each([
    ['a parent that is not there', { parent: 999999, name: 'x' }, 404, 'NOT_FOUND'],
    ['at and wait', { at: 0, wait: 1 }, 400, 'BAD_REQUEST'],
    ['a repeat that is none', { repeat: 'now and then' }, 400, 'BAD_REQUEST'],
    ['a cron that is none', { repeat: { cron: '99 * * * *' } }, 400, 'BAD_REQUEST'],
    ['a zone that is none', { repeat: { cron: '* * * * *', tz: 'Mars/Olympus' } }, 400, 'BAD_REQUEST'],
    ['a callback inside the network', { callback: { url: 'http://169.254.169.254/' } }, 422, 'REFUSED'],
    ['retries below 0', { retry: { max: -1 } }, 400, 'BAD_REQUEST'],
    ['no time to run in', { timeout: 0 }, 400, 'BAD_REQUEST'],
  ])('%s is refused', async (_, job, status, code) => {
    const kind = await pull()
    const answer = await ask('POST /v1/jobs', { ...kind, ...job })
    expect([answer.status, answer.body]).toEqual([status, failed(code)])
  })

  test('an alias of another job is refused with 409', async () => {
    const kind = await pull()
    await make({ ...kind, alias: ['taken'] })
    expect(await ask('POST /v1/jobs', { ...kind, alias: ['taken'] })).toMatchObject({
      status: 409,
      body: failed('TAKEN'),
    })
  })

  test('a name of another child is refused with 409', async () => {
    const kind = await pull()
    const parent = await make(kind)
    await make({ ...kind, parent, name: 'n' })
    expect(await ask('POST /v1/jobs', { ...kind, parent, name: 'n' })).toMatchObject({
      status: 409,
      body: failed('TAKEN'),
    })
  })

  test('repeat can be text or a cron pattern', async () => {
    const kind = await pull()
    const daily = await get(await make({ ...kind, repeat: { cron: '0 9 * * *', tz: 'Europe/Berlin' } }))
    expect(daily.repeat).toEqual({ cron: '0 9 * * *', tz: 'Europe/Berlin' })
    const berlin = new Date(daily.runAt).toLocaleTimeString('en-GB', {
      timeZone: 'Europe/Berlin',
      hour: '2-digit',
      minute: '2-digit',
    })
    expect(berlin).toBe('09:00')
    expect((await get(await make({ ...kind, repeat: 'finished, +5 minutes' }))).status).toBe('queued')
    expect((await get(await make({ ...kind, repeat: { cron: '*/10 * * * * *' } }))).status).toBe('queued')
  })
})

describe('GET /v1/jobs/:job', () => {
  test('a new job has every field, and missing times are null', async () => {
    const kind = await pull({ in: { a: {}, b: { default: 1 } }, out: { c: {} } })
    expect(await get(await make(kind))).toEqual({
      id: expect.any(Number),
      ...kind,
      status: 'queued',
      args: null,
      name: null,
      parent: null,
      aliases: [],
      priority: 0,
      group: null,
      attempt: expect.any(Number),
      lost: 0,
      pinnedTo: null,
      createdAt: ISO,
      createdBy: expect.any(String),
      by: expect.stringMatching(/^key:/),
      ranAt: null,
      endedAt: null,
      runAt: null,
      waitingFor: null,
      error: null,
      progress: null,
      repeat: null,
      callback: null,
      in: {
        a: { size: 0, taken: 0, channels: [] },
        b: { size: 0, taken: 0, default: 1, channels: [] },
      },
      out: { c: { size: 0, taken: 0, channels: [] } },
      children: {},
      limits: [],
      waitingAt: null,
      labels: {},
      tag: null,
      retry: null,
      timeout: null,
      retain: null,
      keepResult: null,
      history: 0,
      unique: null,
      lockedUntil: null,
      run: null,
      version: null,
      keptUntil: null,
    })
  })

  test('options are returned unchanged', async () => {
    const kind = await pull()
    const asked = { retry: { max: 3 }, timeout: 20, retain: 3_600, keepResult: 60, history: 2 }
    const group = { id: 'asked', concurrency: 1 }
    const id = await make({ ...kind, ...asked, unique: 'once', group })
    const about = { ...asked, unique: { key: 'once', until: 'ended' }, limits: ['group:asked'], run: null }
    expect(await get(id)).toMatchObject(about)
    await claim(kind.queue)
    const second = await make({ ...kind, group })
    expect(await get(id)).toMatchObject({ run: { startedAt: ISO, leaseUntil: ISO, process: null } })
    expect(await get(second)).toMatchObject({ waitingAt: 'group:asked', run: null })
  })

  test('a failed job shows its reason', async () => {
    const kind = await pull()
    const id = await make(kind)
    const run = await claim(kind.queue)
    await commit(run.run.token, { end: 'failed', error: { message: 'no', reason: 'other', detail: { n: 1 } } })
    const job = await get(id)
    expect(job).toMatchObject({ status: 'failed', ranAt: ISO, endedAt: ISO, error: { message: 'no', reason: 'other' } })
  })

  test('every route accepts an alias as :job', async () => {
    const kind = await pull({ in: { a: {} } })
    const id = await make({ ...kind, alias: ['everywhere'] })
    for (const path of ['', '/state', '/why', '/runs', '/log', '/tree', '/in/a', '/result'])
      expect([path, (await ask(`GET /v1/jobs/everywhere${path}`)).status]).toEqual([
        path,
        path === '/result' ? 202 : 200,
      ])
    expect((await done('POST /v1/jobs/everywhere/run', {})).id).toBe(id)
  })
})

describe('GET /v1/jobs', () => {
  test('lists jobs page by page, newest first', async () => {
    const kind = await pull()
    const made: number[] = []
    for (let n = 0; n < 5; n++) made.push(await make(kind))
    const first = await done(`GET /v1/jobs?queue=${kind.queue}&limit=2`)
    expect(ids(first.jobs)).toEqual([made[4], made[3]])
    const second = await done(`GET /v1/jobs?queue=${kind.queue}&limit=2&cursor=${first.cursor}`)
    expect(ids(second.jobs)).toEqual([made[2], made[1]])
    const last = await done(`GET /v1/jobs?queue=${kind.queue}&limit=2&cursor=${second.cursor}`)
    expect(ids(last.jobs)).toEqual([made[0]])
    const over = last.cursor ? (await done(`GET /v1/jobs?queue=${kind.queue}&limit=2&cursor=${last.cursor}`)).jobs : []
    expect(over).toEqual([])
  })

  test('lists jobs of one status newest first too, in any order of arrival', async () => {
    const kind = await pull({ in: { a: {} } })
    const made = ids(
      (
        await done(
          'POST /v1/jobs',
          Array.from({ length: 12 }, () => kind),
        )
      ).jobs,
    )
    const { body } = await ask(`POST /v1/queues/${kind.queue}/claim`, { max: 20 })
    for (const { run } of body.runs.reverse()) await commit(run.token, { end: 'completed' })
    const listed = async (query: string) => done(`GET /v1/jobs?queue=${kind.queue}&status=completed&${query}`)
    const first = await listed('limit=7')
    const second = await listed(`limit=7&cursor=${first.cursor}`)
    expect(ids([...first.jobs, ...second.jobs])).toEqual(made.reverse())
  })

  test('filters jobs', async () => {
    const kind = await pull()
    const other = await pull()
    const parent = await make({ ...kind, alias: ['filters'] })
    const child = await make({ ...kind, parent, name: 'c', wait: 60 })
    const grouped = await make({ ...other, group: { id: 'filters' } })
    const run = await claim(kind.queue)
    await commit(run.run.token, { end: 'completed' })
    const found = async (query: string) => ids((await done(`GET /v1/jobs?${query}`)).jobs)
    expect(await found(`queue=${kind.queue}`)).toEqual([child, parent])
    expect(await found(`class=${other.class}`)).toEqual([grouped])
    expect(await found(`queue=${kind.queue}&status=completed`)).toEqual([parent])
    expect(await found(`queue=${kind.queue}&status=queued`)).toEqual([child])
    expect(await found(`status=completed&class=${kind.class}`)).toEqual([parent])
    expect(await found(`parent=${parent}`)).toEqual([child])
    expect(await found('alias=filters')).toEqual([parent])
    expect(await found('alias=nobody')).toEqual([])
    expect(await found('group=filters')).toEqual([grouped])
    expect(await found(`parent=${parent}&queue=${other.queue}`)).toEqual([])
    expect((await ask('GET /v1/jobs?cursor=nonsense')).status).toBe(400)
  })
})

describe('PATCH /v1/jobs/:job', () => {
  test('changes the fields that may be changed', async () => {
    const kind = await pull()
    const id = await make(kind)
    const at = soon(60_000).toISOString()
    const patched = await done(`PATCH /v1/jobs/${id}`, {
      priority: 7,
      args: [1],
      retry: { max: 2 },
      timeout: 5,
      runAt: at,
      group: { id: 'patched', concurrency: 3 },
    })
    expect(patched).toMatchObject({ id, priority: 7, args: [1], runAt: at, group: 'patched' })
    expect(await done(`PATCH /v1/jobs/${id}`, { repeat: 'hourly', runAt: null })).toMatchObject({ repeat: 'HOURLY' })
    expect(await done(`PATCH /v1/jobs/${id}`, { repeat: null })).toMatchObject({ repeat: null })
  })

  test('runAt: null runs the job now', async () => {
    const kind = await pull()
    const id = await make({ ...kind, wait: '1h' })
    await done(`PATCH /v1/jobs/${id}`, { runAt: null })
    expect((await claim(kind.queue)).job.id).toBe(id)
  })

  test.each([
    ['status', { status: 'completed' }],
    ['id', { id: 1 }],
    ['a repeat that is none', { repeat: 'sometimes' }],
  ])('%s is refused with 400', async (_, patch) => {
    const kind = await pull()
    expect((await ask(`PATCH /v1/jobs/${await make(kind)}`, patch)).status).toBe(400)
  })
})

describe('run, terminate, retry, cancel, delete', () => {
  test('run returns { id, status }', async () => {
    const kind = await pull()
    const id = await make({ ...kind, wait: '1h' })
    expect(await done(`POST /v1/jobs/${id}/run`, {})).toEqual({ id, status: 'queued' })
    expect((await claim(kind.queue)).job.id).toBe(id)
  })

  test('run needs no body', async () => {
    const kind = await pull()
    const id = await make({ ...kind, wait: '1h' })
    expect(await done(`POST /v1/jobs/${id}/run`)).toEqual({ id, status: 'queued' })
  })

  test('run reports that failed and terminated jobs do not run, and force runs them', async () => {
    const kind = await pull()
    const id = await make(kind)
    await commit((await claim(kind.queue)).run.token, { end: 'failed', error: { message: 'no' } })
    expect(await done(`POST /v1/jobs/${id}/run`, {})).toEqual({ id, status: 'failed', ran: false })
    await done(`POST /v1/jobs/${id}/terminate`, {})
    expect(await done(`POST /v1/jobs/${id}/run`, {})).toEqual({ id, status: 'terminated', ran: false })
    expect(await done(`POST /v1/jobs/${id}/run`, { force: true })).toEqual({ id, status: 'queued' })
  })

  test('run can start later, with at or wait', async () => {
    const kind = await pull()
    const id = await make(kind)
    await commit((await claim(kind.queue)).run.token, { end: 'suspended' })
    expect(await done(`POST /v1/jobs/${id}/run`, { wait: '10m' })).toEqual({ id, status: 'queued' })
    expect((await get(id)).runAt).toEqual(ISO)
    expect((await ask(`POST /v1/queues/${kind.queue}/claim`, {})).status).toBe(204)
  })

  test('run parent: true runs the parent', async () => {
    const kind = await pull()
    const parent = await make(kind)
    await commit((await claim(kind.queue)).run.token, { end: 'suspended' })
    const child = await make({ ...kind, parent, name: 'c', wait: '1h' })
    expect(await done(`POST /v1/jobs/${child}/run`, { parent: true })).toMatchObject({ id: parent, status: 'queued' })
  })

  test('run is refused if the class is no longer registered, and the job is terminated', async () => {
    const kind = await pull()
    const id = await make(kind)
    await done(`DELETE /v1/workers/${kind.queue}/${kind.class}`)
    expect(await ask(`POST /v1/jobs/${id}/run`, {})).toMatchObject({ status: 422, body: failed('REFUSED') })
    expect((await get(id)).status).toBe('terminated')
  })

  test('terminate ends a job at once, and with recursive all jobs below it', async () => {
    const kind = await pull()
    const parent = await make(kind)
    const child = await make({ ...kind, parent, name: 'c' })
    expect(await done(`POST /v1/jobs/${parent}/terminate`, {})).toEqual({ id: parent, status: 'terminated' })
    expect((await get(child)).status).toBe('queued')
    await done(`POST /v1/jobs/${parent}/terminate`, { recursive: true })
    expect((await get(child)).status).toBe('terminated')
  })

  test('a job whose class has a shutdown runs it before the job is terminated', async () => {
    const kind = await pull({ shutdown: true })
    const id = await make(kind)
    expect(await done(`POST /v1/jobs/${id}/terminate`, {})).toEqual({ id, status: 'terminating' })
    const run = await claim(kind.queue)
    expect(run.run.reason).toBe('shutdown')
    expect((await commit(run.run.token, { end: 'completed' })).body).toEqual({ status: 'terminated' })
  })

  test('a running job is terminating until its run ends', async () => {
    const kind = await pull()
    const id = await make(kind)
    const { run } = await claim(kind.queue)
    expect(await done(`POST /v1/jobs/${id}/terminate`, {})).toEqual({ id, status: 'terminating' })
    await commit(run.token, { end: 'completed' })
    expect((await get(id)).status).toBe('terminated')
  })

  test('retry runs only failed jobs again', async () => {
    const kind = await pull()
    const id = await make(kind)
    await commit((await claim(kind.queue)).run.token, { end: 'failed', error: { message: 'no' } })
    expect(await done(`POST /v1/jobs/${id}/retry`, {})).toEqual({ id, status: 'queued' })
    const again = await claim(kind.queue)
    expect(again.run.attempt).toBe(1)
    await commit(again.run.token, { end: 'completed' })
    expect(await ask(`POST /v1/jobs/${id}/retry`, {})).toMatchObject({ status: 409, body: failed('WRONG_STATUS') })
  })

  test('cancel terminates a job, and why returns CANCELLED', async () => {
    const kind = await pull()
    const id = await make(kind)
    expect(await done(`POST /v1/jobs/${id}/cancel`, {})).toEqual({ id, status: 'terminated' })
    expect((await done(`GET /v1/jobs/${id}/why`)).reasons[0].code).toBe('CANCELLED')
  })

  test('delete is refused with 409 unless the job and all jobs below it are terminated', async () => {
    const kind = await pull()
    const parent = await make(kind)
    const child = await make({ ...kind, parent, name: 'c' })
    expect(await ask(`DELETE /v1/jobs/${parent}`)).toMatchObject({ status: 409, body: failed('WRONG_STATUS') })
    await done(`POST /v1/jobs/${parent}/terminate`, {})
    expect(await ask(`DELETE /v1/jobs/${parent}`)).toMatchObject({ status: 409 })
    await done(`POST /v1/jobs/${child}/terminate`, {})
    expect((await ask(`DELETE /v1/jobs/${parent}`)).status).toBe(200)
    for (const id of [parent, child]) expect((await ask(`GET /v1/jobs/${id}`)).status).toBe(404)
  })

  test('delete with force returns 200 if the job is deleted, and 202 if a run must end first', async () => {
    const kind = await pull()
    const idle = await make(kind)
    expect((await ask(`DELETE /v1/jobs/${idle}?force=true`)).status).toBe(200)
    const busy = await make(kind)
    const { run } = await claim(kind.queue)
    expect((await ask(`DELETE /v1/jobs/${busy}?force=true`)).status).toBe(202)
    await commit(run.token, { end: 'completed' })
    expect((await ask(`GET /v1/jobs/${busy}`)).status).toBe(404)
  })
})

describe('state', () => {
  test('is a map, and PATCH changes only the given fields', async () => {
    const kind = await pull()
    const id = await make(kind)
    expect(await done(`GET /v1/jobs/${id}/state`)).toEqual({})
    await done(`PATCH /v1/jobs/${id}/state`, { set: { a: 1, b: { c: [] } } })
    expect(await done(`PATCH /v1/jobs/${id}/state`, { set: { d: null }, unset: ['a'] })).toEqual({
      b: { c: [] },
      d: null,
    })
    expect(await done(`GET /v1/jobs/${id}/state`)).toEqual({ b: { c: [] }, d: null })
  })
})

describe('result', () => {
  test('a result can be read any number of times and taken once, and is then null', async () => {
    const kind = await pull()
    const id = await make({ ...kind, keepResult: true })
    expect(await ask(`GET /v1/jobs/${id}/result`)).toMatchObject({ status: 202, body: { status: 'queued' } })
    await commit((await claim(kind.queue)).run.token, { end: 'completed', result: { n: [] } })
    const envelope = { type: 'success', finishedAt: ISO, result: { n: [] } }
    expect((await ask(`GET /v1/jobs/${id}/result`)).body).toEqual(envelope)
    expect((await ask(`HEAD /v1/jobs/${id}/result`)).status).toBe(200)
    expect(await ask(`POST /v1/jobs/${id}/result/take`, {})).toMatchObject({ status: 200, body: envelope })
    expect(await ask(`GET /v1/jobs/${id}/result`)).toMatchObject({ status: 200, body: null })
  })

  test('a failed job has an error as its result', async () => {
    const kind = await pull()
    const id = await make({ ...kind, keepResult: true })
    await commit((await claim(kind.queue)).run.token, {
      end: 'failed',
      error: { message: 'no', reason: 'timeout', detail: { n: 1 } },
    })
    expect(await done(`GET /v1/jobs/${id}/result`)).toEqual({
      type: 'failure',
      reason: 'timeout',
      finishedAt: ISO,
      message: 'no',
      error: { n: 1 },
    })
  })

  test('is kept by default, also after it was read, and is null with keepResult: false', async () => {
    const kind = await pull()
    const [id, unkept] = [await make(kind), await make({ ...kind, keepResult: false })]
    for (const _ of [id, unkept]) await commit((await claim(kind.queue)).run.token, { end: 'completed', result: 1 })
    for (const _ of [1, 2])
      expect(await ask(`GET /v1/jobs/${id}/result`)).toMatchObject({ status: 200, body: { result: 1 } })
    expect(await ask(`GET /v1/jobs/${unkept}/result`)).toMatchObject({ status: 200, body: null })
  })

  test('an unknown job: 404', async () => {
    expect((await ask('GET /v1/jobs/999999/result')).status).toBe(404)
  })

  test('wait holds the call until the job has a result, or until the time is over', async () => {
    const kind = await pull()
    const id = await make({ ...kind, keepResult: true })
    const at = Date.now()
    expect((await ask(`GET /v1/jobs/${id}/result?wait=0.3`)).status).toBe(202)
    expect(Date.now() - at).toBeGreaterThan(250)
    const asked = ask(`GET /v1/jobs/${id}/result?wait=10s`)
    await commit((await claim(kind.queue)).run.token, { end: 'completed', result: 'late' })
    expect((await asked).body).toMatchObject({ result: 'late' })
  })
})

describe('why', () => {
  const why = async (id: number) => {
    const { running, reasons } = await done(`GET /v1/jobs/${id}/why`)
    for (const reason of reasons)
      expect(reason).toMatchObject({ code: expect.any(String), message: expect.any(String) })
    return { running, codes: reasons.map(({ code }: Body) => code), reasons }
  }

  test('explains a job that runs', async () => {
    const kind = await pull()
    const id = await make(kind)
    await claim(kind.queue)
    expect(await why(id)).toMatchObject({ running: true, reasons: [] })
  })

  test('explains a job that waits for input', async () => {
    const kind = await pull({ in: { a: {}, b: { default: 1 } } })
    const id = await make(kind)
    await commit((await claim(kind.queue)).run.token, { end: 'suspended' })
    expect((await why(id)).reasons[0]).toMatchObject({ message: expect.stringContaining('input on port a') })
  })

  test('a job after other jobs', async () => {
    const kind = await pull()
    for (let n = 0; n < 3; n++) await make(kind)
    expect((await why(await make(kind))).reasons[0].message).toContain('jobs ahead of it: 3')
  })

  test('explains a job that is due later', async () => {
    const kind = await pull()
    const at = soon(3_600_000).toISOString()
    expect((await why(await make({ ...kind, at }))).reasons[0]).toMatchObject({ until: at })
  })

  test('explains a paused queue', async () => {
    const kind = await pull()
    await done(`PATCH /v1/queues/${kind.queue}`, { paused: true })
    expect((await why(await make(kind))).codes).toContain('PAUSED')
  })

  test('a limit that is full', async () => {
    const kind = await pull()
    const group = { id: 'why', concurrency: 1 }
    await make({ ...kind, group })
    await claim(kind.queue)
    expect((await why(await make({ ...kind, group }))).reasons[0]).toMatchObject({
      key: expect.stringContaining('why'),
    })
  })

  test('a parent that waits for its children', async () => {
    const kind = await pull()
    const id = await make(kind)
    await commit((await claim(kind.queue)).run.token, {
      end: 'suspended',
      waitFor: 'children',
      ops: [{ op: 'spawn', name: 'a', ...kind, wait: 3_600_000 }],
    })
    expect((await why(id)).codes[0]).toBe('CHILDREN')
    expect((await get(id)).waitingFor).toBe('children')
  })
})

describe('runs, log, tree', () => {
  test('runs are listed with their outcome', async () => {
    const kind = await pull()
    const id = await make(kind)
    expect(await done(`GET /v1/jobs/${id}/runs`)).toEqual({ runs: [] })
    await commit((await claim(kind.queue)).run.token, { end: 'completed' })
    const { runs } = await done(`GET /v1/jobs/${id}/runs`)
    expect(runs[0]).toMatchObject({ startedAt: ISO, endedAt: ISO, outcome: 'completed', attempt: 1 })
  })

  test('the log of a job', async () => {
    const kind = await pull()
    const id = await make(kind)
    const entry = { message: 'here', list: [] }
    await commit((await claim(kind.queue)).run.token, { end: 'completed', ops: [{ op: 'log', entry }] })
    const { entries, cursor } = await done(`GET /v1/jobs/${id}/log`)
    expect(entries).toContainEqual({
      id: expect.any(String),
      at: ISO,
      job: id,
      level: 'info',
      class: kind.class,
      entry,
    })
    expect(cursor).toBeNull()
    expect((await done(`GET /v1/log?job=${id}`)).entries).toEqual(entries)
  })

  test('one call returns the tree', async () => {
    const kind = await pull()
    const root = await make(kind)
    const a = await make({ ...kind, parent: root, name: 'a' })
    const b = await make({ ...kind, parent: a, name: 'b' })
    expect(await done(`GET /v1/jobs/${root}/tree`)).toMatchObject({
      id: root,
      class: kind.class,
      status: 'queued',
      children: { a: { id: a, children: { b: { id: b, children: {} } } } },
    })
  })
})

describe('families and names', () => {
  test('a job can be adopted and disowned', async () => {
    const kind = await pull()
    const parent = await make(kind)
    const child = await make(kind)
    await done(`POST /v1/jobs/${parent}/adopt`, { job: child, name: 'mine' })
    expect((await get(child)).parent).toEqual({ id: parent, name: 'mine' })
    expect(await ask(`POST /v1/jobs/${parent}/adopt`, { job: child, name: 'again' })).toMatchObject({ status: 409 })
    expect(await ask(`POST /v1/jobs/${child}/adopt`, { job: parent, name: 'cycle' })).toMatchObject({ status: 422 })
    const other = await make(kind)
    expect(await ask(`POST /v1/jobs/${parent}/adopt`, { job: other, name: 'mine' })).toMatchObject({
      status: 409,
      body: failed('TAKEN'),
    })
    await done(`POST /v1/jobs/${parent}/disown`, { name: 'mine' })
    expect((await get(child)).parent).toBeNull()
    expect((await ask(`POST /v1/jobs/${parent}/disown`, { name: 'mine' })).status).toBe(404)
  })

  test('aliases can be added and removed', async () => {
    const kind = await pull()
    const [one, other] = [await make(kind), await make(kind)]
    await done(`PUT /v1/jobs/${one}/aliases/my%20name`, {})
    expect((await get('my%20name')).id).toBe(one)
    await done(`PUT /v1/jobs/${one}/aliases/my%20name`)
    expect(await ask(`PUT /v1/jobs/${other}/aliases/my%20name`)).toMatchObject({ status: 409, body: failed('TAKEN') })
    expect((await ask(`PUT /v1/jobs/${other}/aliases/7up`)).status).toBe(400)
    await done(`DELETE /v1/jobs/${one}/aliases/my%20name`)
    expect((await ask('GET /v1/jobs/my%20name')).status).toBe(404)
  })
})

describe('locks', () => {
  test('a locked job is not claimed until it is unlocked', async () => {
    const kind = await pull()
    const id = await make(kind)
    const { token } = await done(`POST /v1/jobs/${id}/lock`, { ttl: 60 })
    expect(token).toEqual(expect.any(String))
    expect((await ask(`POST /v1/queues/${kind.queue}/claim`, {})).status).toBe(204)
    expect(await ask(`POST /v1/jobs/${id}/lock`, { ttl: 60 })).toMatchObject({ status: 409 })
    expect((await ask(`POST /v1/jobs/${id}/lock/refresh`, { ttl: 60, token })).status).toBe(200)
    expect((await ask(`POST /v1/jobs/${id}/lock/refresh`, { ttl: 60, token: 'other' })).status).toBe(409)
    expect((await ask(`POST /v1/jobs/${id}/unlock`, { token: 'other' })).status).toBe(409)
    await done(`POST /v1/jobs/${id}/unlock`, { token })
    expect((await claim(kind.queue)).job.id).toBe(id)
  })

  test('a lock is refused with 400 without ttl, and with 409 on a running job', async () => {
    const kind = await pull()
    const id = await make(kind)
    expect((await ask(`POST /v1/jobs/${id}/lock`, {})).status).toBe(400)
    await claim(kind.queue)
    expect(await ask(`POST /v1/jobs/${id}/lock`, { ttl: 1 })).toMatchObject({ status: 409 })
  })

  test('a lock ends after its ttl', async () => {
    const kind = await pull()
    const id = await make(kind)
    await done(`POST /v1/jobs/${id}/lock`, { ttl: 0.2 })
    const { status, body } = await ask(`POST /v1/queues/${kind.queue}/claim`, { wait: 5 })
    expect([status, body?.runs?.[0].job.id]).toEqual([200, id])
  })
})

describe('local functions', () => {
  test('a job of the standard library runs without a worker', async () => {
    const id = await make({ class: 'count_words', inputs: { text: ['a b a'] } })
    await reaches(id, 'completed')
    expect((await done(`POST /v1/jobs/${id}/out/counts/read`, {})).values[0].data).toEqual({ a: 2, b: 1 })
  })
})
