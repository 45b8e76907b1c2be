import { describe, expect, test } from 'vitest'
import { type Body, useStack } from './kit.ts'

const stack = useStack()
const { ask, done, make, get, pull, claim, commit } = stack

const failed = (code: string) => ({ error: expect.objectContaining({ code, message: expect.any(String) }) })
const ISO = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const idsOf = async (queue: string, options: object = {}): Promise<number[]> =>
  ((await ask(`POST /v1/queues/${queue}/claim`, { max: 100, ...options })).body?.runs ?? []).map(
    ({ job }: Body) => job.id,
  )

describe('workers', () => {
  const definition = {
    in: { left: {}, right: { default: 'x', schema: { type: 'string' } } },
    out: { pair: { channels: ['/pairs'] } },
    pull: true,
    description: 'Pairs',
  }

  test('registering returns the stored definition, and the list contains it', async () => {
    const { status, body } = await ask('PUT /v1/workers/core/pairs', {
      ...definition,
      retry: { max: 2, backoff: '1m' },
      timeout: '1m',
      retain: '2 days',
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({ ...definition, retry: { max: 2 } })
    const { workers } = await done('GET /v1/workers')
    expect(workers).toContainEqual(expect.objectContaining({ queue: 'core', class: 'pairs', description: 'Pairs' }))
  })

  test('the classes of the standard library are listed', async () => {
    const { workers } = await done('GET /v1/workers')
    expect(workers).toContainEqual(
      expect.objectContaining({ queue: 'default', class: 'count_words', in: { text: expect.anything() } }),
    )
  })

  test('a job has the ports of its class', async () => {
    await done('PUT /v1/workers/core/pairs', definition)
    const job = await get(await make({ queue: 'core', class: 'pairs' }))
    expect(job.in).toMatchObject({ left: { size: 0 }, right: { default: 'x' } })
    expect(job.out).toMatchObject({ pair: { channels: ['/pairs'] } })
  })

  test('new jobs of an unregistered class are refused', async () => {
    const kind = await pull()
    expect((await ask(`DELETE /v1/workers/${kind.queue}/${kind.class}`)).status).toBe(200)
    expect(await ask('POST /v1/jobs', kind)).toMatchObject({ status: 422, body: failed('REFUSED') })
    expect((await ask(`DELETE /v1/workers/${kind.queue}/${kind.class}`)).status).toBe(200)
  })

  test.each([
    ['an unknown member', { pull: true, colour: 'red' }],
    ['a bad port', { pull: true, in: { 'a-b': {} } }],
    ['a push without an address', { push: {} }],
    ['an address that is none', { push: { url: 'ftp://x' } }],
    ['push and pull', { push: { url: 'https://example.com/' }, pull: true }],
  ])('%s is refused with 400', async (_, body) => {
    expect((await ask('PUT /v1/workers/bad/bad', body)).status).toBe(400)
  })
})

describe('queues', () => {
  test('GET shows counts by status, settings and the oldest ready job', async () => {
    const kind = await pull()
    for (let n = 0; n < 3; n++) await make(kind)
    await make({ ...kind, wait: '1h' })
    await commit((await claim(kind.queue)).run.token, { end: 'completed' })
    await claim(kind.queue)
    const { queues } = await done('GET /v1/queues')
    expect(queues.find(({ name }: Body) => name === kind.queue)).toMatchObject({
      name: kind.queue,
      paused: false,
      lanes: expect.any(Number),
      counts: {
        queued: 2,
        scheduled: 1,
        running: 1,
        completed: 1,
        failed: 0,
        suspended: 0,
        terminating: 0,
        terminated: 0,
      },
      oldestReady: ISO,
    })
  })

  test('PATCH changes lanes, batch and paused', async () => {
    const kind = await pull()
    expect(await done(`PATCH /v1/queues/${kind.queue}`, { lanes: 2, batch: 10, paused: true })).toMatchObject({
      name: kind.queue,
      paused: true,
      batch: 10,
    })
    await make(kind)
    expect(await idsOf(kind.queue)).toEqual([])
    await done(`PATCH /v1/queues/${kind.queue}`, { paused: false })
    expect(await idsOf(kind.queue)).toHaveLength(1)
  })

  test('a change of the mode moves waiting jobs', async () => {
    await done('PATCH /v1/queues/modes', { mode: 'pull' })
    const ids: number[] = []
    for (let n = 0; n < 3; n++) ids.push(await make({ queue: 'modes', class: 'noop' }))
    await done('PUT /v1/workers/modes/noop', { push: { url: 'http://127.0.0.1:9/' } })
    await done('PATCH /v1/queues/modes', { mode: 'push', paused: true })
    expect((await done(`GET /v1/jobs/${ids[0]}/why`)).reasons.map(({ code }: Body) => code)).not.toContain('PULL')
    await done('PATCH /v1/queues/modes', { mode: 'pull', paused: false })
    expect(await idsOf('modes')).toEqual(ids)
  })

  test.each([[{ lanes: 0 }], [{ batch: 0 }], [{ paused: 'yes' }], [{ mode: 'other' }], [{ colour: 1 }]])(
    '%j is 400',
    async (body) => {
      expect((await ask('PATCH /v1/queues/any', body)).status).toBe(400)
    },
  )
})

describe('limits and groups', () => {
  test('PUT, GET and DELETE set, show and remove a limit', async () => {
    const shown = {
      key: 'k',
      concurrency: 2,
      rate: { limit: 5, period: 60 },
      paused: false,
      running: 0,
      waiting: 0,
    }
    const made = await done('PUT /v1/limits/k', { concurrency: 2, rate: { limit: 5, period: '1m' } })
    expect(made).toMatchObject(shown)
    expect(await done('GET /v1/limits/k')).toEqual(made)
    expect((await done('GET /v1/limits')).limits).toContainEqual(made)
    await done('DELETE /v1/limits/k')
    expect((await ask('GET /v1/limits/k')).status).toBe(404)
  })

  test('a limit of a class applies to all its jobs', async () => {
    const kind = await pull({ limits: [{ key: 'shared', concurrency: 2 }] })
    for (let n = 0; n < 5; n++) await make(kind)
    expect(await idsOf(kind.queue)).toHaveLength(2)
    expect(await done('GET /v1/limits/shared')).toMatchObject({ concurrency: 2, running: 2, waiting: 3 })
    await done('PUT /v1/limits/shared', { concurrency: 4 })
    expect(await idsOf(kind.queue)).toHaveLength(2)
  })

  test('the first job of a group sets the limit of the group', async () => {
    const kind = await pull()
    const group = { id: 'boutique', concurrency: 1 }
    const first = await make({ ...kind, group })
    const second = await make({ ...kind, group })
    const other = await make({ ...kind, group: { id: 'other' } })
    const { body } = await ask(`POST /v1/queues/${kind.queue}/claim`, { max: 10 })
    expect(body.runs.map(({ job }: Body) => job.id)).toEqual([first, other])
    expect(await done('GET /v1/groups/boutique')).toMatchObject({
      id: 'boutique',
      concurrency: 1,
      running: 1,
      waiting: 1,
    })
    expect((await done('GET /v1/groups')).groups).toContainEqual(expect.objectContaining({ id: 'boutique' }))
    await commit(body.runs[0].run.token, { end: 'completed' })
    expect(await idsOf(kind.queue)).toEqual([second])
    expect((await ask('GET /v1/groups/nobody')).status).toBe(404)
  })

  test('PATCH /v1/groups/:id changes its limit, pauses and resumes it', async () => {
    const kind = await pull()
    const group = { id: 'patched', concurrency: 1 }
    for (let n = 0; n < 4; n++) await make({ ...kind, group })
    await done('PATCH /v1/groups/patched', { paused: true })
    expect(await idsOf(kind.queue)).toEqual([])
    await done('PATCH /v1/groups/patched', { paused: false, concurrency: 3 })
    expect(await idsOf(kind.queue)).toHaveLength(3)
  })

  test('a rate is a maximum of starts per period', async () => {
    const kind = await pull({ limits: [{ rate: { limit: 2, period: 2 } }] })
    for (let n = 0; n < 4; n++) await make(kind)
    expect(await idsOf(kind.queue)).toHaveLength(2)
    expect(await idsOf(kind.queue)).toHaveLength(0)
    expect(await idsOf(kind.queue, { wait: 10 })).toHaveLength(2)
  })

  test('the slot of a crashed run is free when its lease ends', async () => {
    const kind = await pull({ limits: [{ key: 'crash', concurrency: 1 }] })
    for (let n = 0; n < 2; n++) await make(kind)
    await claim(kind.queue, { lease: 0.3 })
    expect(await idsOf(kind.queue)).toEqual([])
    await new Promise((resolve) => setTimeout(resolve, 400))
    expect(await idsOf(kind.queue)).toHaveLength(1)
  })

  test.each([[{ concurrency: 0 }], [{ rate: { limit: 1 } }], [{ rate: { limit: 0, period: 1 } }], [{ colour: 1 }]])(
    'a limit of %j is 400',
    async (body) => {
      expect((await ask('PUT /v1/limits/bad', body)).status).toBe(400)
    },
  )
})

describe('constraints', () => {
  test('apply to matching jobs, including waiting jobs', async () => {
    const kind = await pull()
    const jobs = ['a.com', 'a.com', 'a.com', 'b.com'].map((host) => ({ ...kind, args: { host } }))
    await done('POST /v1/jobs', jobs)
    const definition = { match: { queue: kind.queue, args: { host: 'a.com' } }, concurrency: 1 }
    expect(await done('PUT /v1/constraints/one-a', definition)).toMatchObject({ name: 'one-a', ...definition })
    expect(await done('GET /v1/constraints/one-a')).toMatchObject({ name: 'one-a', ...definition })
    expect((await done('GET /v1/constraints')).constraints).toContainEqual(expect.objectContaining({ name: 'one-a' }))
    const { body } = await ask(`POST /v1/queues/${kind.queue}/claim`, { max: 10, wait: 1 })
    expect(body.runs.map(({ job }: Body) => job.args.host).sort()).toEqual(['a.com', 'b.com'])
    await done('DELETE /v1/constraints/one-a')
    expect((await ask('GET /v1/constraints/one-a')).status).toBe(404)
    expect(await idsOf(kind.queue, { wait: 1 })).toHaveLength(2)
  })

  test('match classes by a pattern', async () => {
    const queue = 'constrained'
    await done(`PATCH /v1/queues/${queue}`, { mode: 'pull' })
    await done('PUT /v1/constraints/mails', { match: { queue, class: 'mail*' }, concurrency: 1 })
    await done(
      'POST /v1/jobs',
      ['mail1', 'mail2', 'print'].map((name) => ({ queue, class: name })),
    )
    expect(await idsOf(queue)).toHaveLength(2)
    await done('DELETE /v1/constraints/mails')
  })
})

describe('schedules', () => {
  test('POST creates a job that repeats, and GET shows its next five times', async () => {
    const kind = await pull()
    const { status, body } = await ask('POST /v1/schedules', { ...kind, repeat: { cron: '0 * * * *', tz: 'UTC' } })
    expect([status, body]).toEqual([201, { id: expect.any(Number), status: 'queued' }])
    const shown = await done(`GET /v1/schedules/${body.id}`)
    expect(shown).toMatchObject({ job: body.id, paused: false, repeat: { cron: '0 * * * *', tz: 'UTC' } })
    expect(shown.next).toHaveLength(5)
    for (const slot of shown.next) expect(new Date(slot).getUTCMinutes()).toBe(0)
    expect((await done('GET /v1/schedules')).schedules).toContainEqual(shown)
  })

  test('a schedule without repeat is refused with 400', async () => {
    expect((await ask('POST /v1/schedules', await pull())).status).toBe(400)
  })

  test('a schedule can be paused, resumed, run now, changed and removed', async () => {
    const kind = await pull()
    const { id } = await done('POST /v1/schedules', { ...kind, repeat: { cron: '0 0 1 1 *' } })
    expect(await done(`POST /v1/schedules/${id}/pause`, {})).toMatchObject({ paused: true, next: [] })
    expect(await done(`POST /v1/schedules/${id}/resume`, {})).toMatchObject({ paused: false })
    const { next } = await done(`GET /v1/schedules/${id}`)
    expect(await done(`POST /v1/schedules/${id}/run`, {})).toMatchObject({ id, status: 'queued' })
    const { run } = await claim(kind.queue)
    expect((await commit(run.token, { end: 'completed' })).body).toEqual({ status: 'queued' })
    expect((await done(`GET /v1/schedules/${id}`)).next).toEqual(next)
    expect(await done(`PATCH /v1/schedules/${id}`, { repeat: { cron: '0 12 * * *' } })).toMatchObject({
      repeat: { cron: '0 12 * * *' },
    })
    await done(`DELETE /v1/schedules/${id}`)
    expect((await ask(`GET /v1/schedules/${id}`)).status).toBe(404)
    expect((await get(id)).repeat).toBeNull()
  })

  test('a failed job still repeats', async () => {
    const kind = await pull()
    const id = await make({ ...kind, repeat: 'FINISHED, +1 HOUR' })
    expect(
      (await commit((await claim(kind.queue)).run.token, { end: 'failed', error: { message: 'no' } })).body,
    ).toEqual({ status: 'queued' })
    expect((await get(id)).runAt).toEqual(ISO)
  })
})

describe('numbers', () => {
  test('GET /v1/stats lists queues', async () => {
    expect(await done('GET /v1/stats')).toMatchObject({ queues: expect.any(Array) })
  })
})
