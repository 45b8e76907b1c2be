import { describe, expect, test } from 'vitest'
import { type Body, useStack } from './kit.ts'

const stack = useStack()
const { ask, done, make, get, pull, claim, commit } = stack

const failed = (code: string) => ({ error: expect.objectContaining({ code, message: expect.any(String) }) })
const datas = ({ values }: { values: { data: unknown }[] }) => values.map(({ data }) => data)
const nothing = async (queue: string) => expect((await ask(`POST /v1/queues/${queue}/claim`, {})).status).toBe(204)
const next = async (queue: string) => (await claim(queue)).run.token as string

describe('claim', () => {
  test('a snapshot has the fields of the protocol', async () => {
    const kind = await pull({ in: { left: {}, right: { default: 'x' } }, out: { pair: { channels: ['/pairs'] } } })
    const parent = await make(await pull())
    const id = await make({ ...kind, parent, name: 'z', args: [1], alias: ['snapped'], inputs: { left: [1, 2] } })
    const { body } = await ask(`POST /v1/queues/${kind.queue}/claim`, { max: 5 })
    const snapshot = body.runs.find(({ job }: Body) => job.id === id)
    expect(snapshot).toMatchObject({
      run: {
        token: expect.stringMatching(new RegExp(`^${id}\\.`)),
        attempt: 1,
        lost: 0,
        reason: 'run',
        timeout: 30_000,
        leaseUntil: expect.any(Number),
      },
      job: {
        id,
        ...kind,
        args: [1],
        name: 'z',
        createdAt: expect.any(Number),
        createdBy: expect.any(String),
        ranAt: null,
        parent: { id: parent, name: 'z' },
        aliases: ['snapped'],
      },
      state: {},
      in: {
        left: { cursor: 0, more: 0 },
        right: { cursor: 0, values: [], more: 0, default: { data: 'x' } },
      },
      out: { pair: { size: 0, channels: ['/pairs'] } },
      children: {},
    })
    expect(datas(snapshot.in.left)).toEqual([1, 2])
    expect(snapshot.run.leaseUntil - Date.now()).toBeGreaterThan(50_000)
    expect(snapshot.run.leaseUntil - Date.now()).toBeLessThanOrEqual(60_000)
    expect((await get(id)).status).toBe('running')
  })

  test('no job is 204', async () => {
    const { queue } = await pull()
    const { status, body } = await ask(`POST /v1/queues/${queue}/claim`, {})
    expect([status, body]).toEqual([204, undefined])
    expect((await ask(`POST /v1/queues/${queue}/claim`)).status).toBe(204)
  })

  test('returns at most max jobs, and no job twice', async () => {
    const kind = await pull()
    await done(
      'POST /v1/jobs',
      Array.from({ length: 5 }, () => kind),
    )
    const claims = await Promise.all([1, 2, 3].map(() => ask(`POST /v1/queues/${kind.queue}/claim`, { max: 2 })))
    const found = claims.flatMap(({ body }) => body?.runs ?? []).map(({ job }: Body) => job.id)
    expect(found).toHaveLength(5)
    expect(new Set(found).size).toBe(5)
  })

  test('names can be patterns', async () => {
    const queue = 'globs'
    for (const name of ['mail/send', 'mail/read', 'print'])
      await done(`PUT /v1/workers/${queue}/${encodeURIComponent(name)}`, { pull: true })
    await done(
      'POST /v1/jobs',
      ['mail/send', 'print', 'mail/read'].map((name) => ({ queue, class: name })),
    )
    const named = async (names: string[]) =>
      ((await ask(`POST /v1/queues/${queue}/claim`, { names, max: 9 })).body?.runs ?? []).map(
        ({ job }: Body) => job.class,
      )
    expect(await named(['nope*'])).toEqual([])
    expect(await named(['pri?t'])).toEqual(['print'])
    expect(await named(['mail/*', 'x'])).toEqual(['mail/send', 'mail/read'])
  })

  test('wait holds the call until a job matches', async () => {
    const kind = await pull()
    const asked = ask(`POST /v1/queues/${kind.queue}/claim`, { wait: 10, names: [`${kind.class}*`] })
    await new Promise((resolve) => setTimeout(resolve, 300))
    const at = Date.now()
    const id = await make(kind)
    expect((await asked).body.runs[0].job.id).toBe(id)
    expect(Date.now() - at).toBeLessThan(2_000)
  })

  test('a call with wait returns when a job becomes due, and when the queue is resumed', async () => {
    const kind = await pull()
    const id = await make({ ...kind, wait: 0.5 })
    expect((await claim(kind.queue, { wait: 10 })).job.id).toBe(id)
    await done(`PATCH /v1/queues/${kind.queue}`, { paused: true })
    const other = await make(kind)
    const asked = claim(kind.queue, { wait: 10 })
    await new Promise((resolve) => setTimeout(resolve, 300))
    await done(`PATCH /v1/queues/${kind.queue}`, { paused: false })
    expect((await asked).job.id).toBe(other)
  })

  test('a call with wait ends with 204 if no job arrives', async () => {
    const { queue } = await pull()
    const at = Date.now()
    expect((await ask(`POST /v1/queues/${queue}/claim`, { wait: 0.5 })).status).toBe(204)
    expect(Date.now() - at).toBeGreaterThanOrEqual(450)
    expect(Date.now() - at).toBeLessThan(5_000)
  })

  test('a run without a commit within its lease is lost and leased again', async () => {
    const kind = await pull()
    const id = await make(kind)
    const run = await claim(kind.queue, { lease: 0.3 })
    expect(run.run.leaseUntil - Date.now()).toBeLessThanOrEqual(300)
    await new Promise((resolve) => setTimeout(resolve, 400))
    expect(await commit(run.run.token, { end: 'completed' })).toMatchObject({ status: 410, body: failed('LOST') })
    expect((await ask(`POST /v1/runs/${run.run.token}/heartbeat`, {})).status).toBe(410)
    await ask(`POST /v1/queues/${kind.queue}/claim`, {})
    expect(await get(id)).toMatchObject({ lost: 1, status: expect.stringMatching(/queued|running/) })
  })

  test.each([
    ['max below 1', { max: 0 }],
    ['max over 1,000', { max: 1_001 }],
    ['names that are no list', { names: 'a' }],
    ['a wait that is none', { wait: 'soon' }],
    ['an unknown member', { queue: 'x' }],
  ])('%s is refused with 400', async (_, body) => {
    expect((await ask('POST /v1/queues/any/claim', body)).status).toBe(400)
  })

  test('a queue in mode pull accepts classes that are not registered', async () => {
    expect((await ask('POST /v1/jobs', { queue: 'pulls', class: 'anything' })).status).toBe(422)
    await done('PATCH /v1/queues/pulls', { mode: 'pull' })
    const id = await make({ queue: 'pulls', class: 'any thing/at:all' })
    expect((await claim('pulls')).job.id).toBe(id)
  })
})

describe('commit', () => {
  test.each([
    ['completed', { end: 'completed' }, 'completed'],
    ['suspended', { end: 'suspended' }, 'suspended'],
    ['failed', { end: 'failed', error: { message: 'no' } }, 'failed'],
    ['again', { end: 'again' }, 'queued'],
    ['again later', { end: 'again', wait: 60_000 }, 'queued'],
    ['again at', { end: 'again', at: Date.now() + 60_000 }, 'queued'],
    ['suspended for no children', { end: 'suspended', waitFor: 'children' }, 'queued'],
  ])('%s', async (_, changes, status) => {
    const kind = await pull()
    const id = await make(kind)
    expect(await commit(await next(kind.queue), changes)).toMatchObject({ status: 200, body: { status } })
    expect((await get(id)).status).toBe(status)
  })

  test('reads, writes and state take effect together', async () => {
    const kind = await pull({ in: { a: {} }, out: { b: {} } })
    const id = await make({ ...kind, inputs: { a: [1, 2, 3] } })
    const { run, in: inputs } = await claim(kind.queue)
    const { status } = await commit(run.token, {
      end: 'completed',
      reads: { a: { cursor: inputs.a.cursor, count: 2 } },
      state: { set: { n: 1, list: [] } },
      ops: [
        { op: 'write', to: { out: 'b' }, values: [[1, 'x'], 2] },
        { op: 'default', of: { out: 'b' }, value: 9 },
        { op: 'alias', add: 'committed' },
        { op: 'publish', channel: '/committed', message: 1 },
      ],
    })
    expect(status).toBe(200)
    expect(await get('committed')).toMatchObject({
      id,
      in: { a: { size: 1, taken: 2 } },
      out: { b: { size: 2, default: 9 } },
    })
    expect(await done(`GET /v1/jobs/${id}/state`)).toEqual({ n: 1, list: [] })
    expect(datas(await done(`GET /v1/jobs/${id}/in/a`))).toEqual([3])
  })

  test('a repeated commit returns the first answer, and another commit with the token is refused', async () => {
    const kind = await pull({ out: { b: {} } })
    const id = await make(kind)
    const token = await next(kind.queue)
    const changes = { end: 'completed', ops: [{ op: 'write', to: { out: 'b' }, values: [1] }] }
    const first = await commit(token, changes)
    const again = await commit(token, changes)
    expect([again.status, again.body]).toEqual([first.status, first.body])
    expect((await get(id)).out.b.size).toBe(1)
    expect((await commit(token, { ...changes, n: 1 })).status).toBe(410)
    await done(`POST /v1/jobs/${id}/run`, {})
    await claim(kind.queue)
    expect(await commit(token, changes)).toMatchObject({ status: 200, body: first.body })
  })

  test('if another client took a value, the commit that reads it is 409 CONFLICT and has no effect', async () => {
    const kind = await pull({ in: { a: {} }, out: { b: {} } })
    const id = await make({ ...kind, inputs: { a: [1, 2] } })
    const { run, in: inputs } = await claim(kind.queue)
    await done(`POST /v1/jobs/${id}/in/a/read`)
    const answer = await commit(run.token, {
      end: 'completed',
      reads: { a: { cursor: inputs.a.cursor, count: 1 } },
      ops: [{ op: 'write', to: { out: 'b' }, values: [1] }],
    })
    expect(answer).toMatchObject({ status: 409, body: failed('CONFLICT') })
    expect(await get(id)).toMatchObject({ status: 'queued', in: { a: { size: 1 } }, out: { b: { size: 0 } } })
    expect((await claim(kind.queue)).run.attempt).toBe(1)
  })

  test.each<[string, object]>([
    ['an unknown port', { op: 'write', to: { out: 'nope' }, values: [1] }],
    ['an unknown child', { op: 'write', to: { child: 'nope', in: 'a' }, values: [1] }],
    ['an unregistered class', { op: 'spawn', name: 'x', queue: 'nowhere', class: 'nope' }],
    ['an alias that is taken', { op: 'alias', add: 'refused_taken' }],
    ['a job that is not there', { op: 'run', job: 999999 }],
  ])('%s is 422, and the run fails with this error', async (_, op) => {
    const kind = await pull({ out: { b: {} } })
    await ask('POST /v1/jobs', { ...kind, alias: ['refused_taken'], wait: '1h' })
    const id = await make(kind)
    const token = await next(kind.queue)
    const answer = await commit(token, {
      end: 'completed',
      state: { set: { a: 1 } },
      ops: [{ op: 'write', to: { out: 'b' }, values: [1] }, op],
    })
    expect(answer).toMatchObject({ status: 422, body: failed('REFUSED') })
    const job = await get(id)
    expect(job).toMatchObject({ status: 'failed', out: { b: { size: 0 } }, error: { message: expect.any(String) } })
    expect(await done(`GET /v1/jobs/${id}/state`)).toEqual({})
    expect((await commit(token, { end: 'completed', n: 5 })).status).toBe(410)
  })

  test('invalid changes are refused with 400, and the run continues', async () => {
    const kind = await pull()
    await make(kind)
    const token = await next(kind.queue)
    for (const changes of [
      {},
      { end: 'over' },
      { end: 'completed', ops: [{ op: 'fly' }] },
      { end: 'completed', colour: 1 },
    ])
      expect((await commit(token, changes)).status).toBe(400)
    expect((await commit(token, { end: 'completed' })).status).toBe(200)
  })

  test('input that arrives during a run queues the job again, unless the run fails', async () => {
    const kind = await pull({ in: { a: {} } })
    const id = await make(kind)
    const token = await next(kind.queue)
    await done(`POST /v1/jobs/${id}/in/a`, { value: 1 })
    expect((await commit(token, { end: 'completed' })).body).toEqual({ status: 'queued' })
    const again = await claim(kind.queue)
    expect(datas(again.in.a)).toEqual([1])
    await done(`POST /v1/jobs/${id}/in/a`, { value: 2 })
    expect((await commit(again.run.token, { end: 'failed', error: { message: 'no' } })).body).toEqual({
      status: 'failed',
    })
  })

  test('a run that is requested during a run follows it', async () => {
    const kind = await pull()
    const id = await make(kind)
    const token = await next(kind.queue)
    await done(`POST /v1/jobs/${id}/run`, {})
    expect((await commit(token, { end: 'suspended' })).body).toEqual({ status: 'queued' })
  })

  test('a failure is retried with the job’s backoff, and the last one fails the job', async () => {
    const kind = await pull()
    const id = await make({ ...kind, priority: 3, retry: { max: 1, backoff: { base: 2, jitter: 0 } } })
    expect((await commit(await next(kind.queue), { end: 'failed', error: { message: 'one' } })).body).toEqual({
      status: 'queued',
    })
    await nothing(kind.queue)
    expect((await done(`GET /v1/jobs/${id}/why`)).reasons[0].code).toBe('BACKOFF')
    const second = await claim(kind.queue, { wait: 5 })
    expect(second.run.attempt).toBe(2)
    expect((await commit(second.run.token, { end: 'failed', error: { message: 'two' } })).body).toEqual({
      status: 'failed',
    })
    expect(await get(id)).toMatchObject({ priority: 3, error: { message: 'two' } })
  })

  test('retry: false fails the job at once', async () => {
    const kind = await pull()
    await make({ ...kind, retry: { max: 5 } })
    const answer = await commit(await next(kind.queue), { end: 'failed', error: { message: 'no', retry: false } })
    expect(answer.body).toEqual({ status: 'failed' })
  })

  test('backoff is 10 s by default, plus up to 20%', async () => {
    const kind = await pull()
    const id = await make({ ...kind, retry: { max: 1 } })
    const at = Date.now()
    await commit(await next(kind.queue), { end: 'failed', error: { message: 'no' } })
    const { until } = (await done(`GET /v1/jobs/${id}/why`)).reasons[0]
    const wait = Date.parse(until) - at
    expect(wait).toBeGreaterThanOrEqual(10_000)
    expect(wait).toBeLessThan(13_000)
  })
})

describe('checkpoints and steps', () => {
  test('a checkpoint commits the work so far, and returns a new snapshot', async () => {
    const kind = await pull({ in: { a: {} }, out: { b: {} } })
    const id = await make({ ...kind, inputs: { a: [1, 2] } })
    const { run } = await claim(kind.queue, { lease: 30 })
    const first = await commit(run.token, {
      end: 'checkpoint',
      n: 0,
      reads: { a: { cursor: 0, count: 1 } },
      state: { set: { done: 1 } },
      ops: [
        { op: 'write', to: { out: 'b' }, values: ['one'] },
        { op: 'step', name: 'charge', value: { paid: true } },
      ],
    })
    expect(first.status).toBe(200)
    expect(first.body).toMatchObject({
      status: 'running',
      snapshot: {
        run: { token: run.token },
        state: { done: 1 },
        in: { a: { cursor: 1 } },
        steps: { charge: { paid: true } },
      },
    })
    expect(datas(first.body.snapshot.in.a)).toEqual([2])
    expect((await get(id)).out.b.size).toBe(1)
    const last = await commit(run.token, { end: 'completed', n: 1, reads: { a: { cursor: 1, count: 1 } } })
    expect(last.body).toEqual({ status: 'completed' })
  })

  test('steps are kept after a failure, and removed after success', async () => {
    const kind = await pull()
    const id = await make({ ...kind, retry: { max: 1, backoff: { base: 0.01, jitter: 0 } } })
    const { run } = await claim(kind.queue)
    await commit(run.token, { end: 'checkpoint', n: 0, ops: [{ op: 'step', name: 's', value: 7 }] })
    await commit(run.token, { end: 'failed', n: 1, error: { message: 'later' } })
    const again = await claim(kind.queue, { wait: 5 })
    expect(again.steps).toEqual({ s: 7 })
    await commit(again.run.token, { end: 'completed' })
    await done(`POST /v1/jobs/${id}/run`, {})
    expect((await claim(kind.queue)).steps ?? {}).toEqual({})
  })
})

describe('heartbeat and release', () => {
  test('a heartbeat renews the lease and reports progress', async () => {
    const kind = await pull()
    const id = await make(kind)
    const { run } = await claim(kind.queue, { lease: 2 })
    const { leaseUntil } = await done(`POST /v1/runs/${run.token}/heartbeat`, { progress: { percent: 40 } })
    expect(leaseUntil).toBeGreaterThan(run.leaseUntil)
    expect((await get(id)).progress).toEqual({ percent: 40 })
    expect((await ask(`POST /v1/runs/${run.token}/heartbeat`)).status).toBe(200)
  })

  test('a released job is as if it had not been claimed', async () => {
    const kind = await pull({ in: { a: {} } })
    const id = await make({ ...kind, inputs: { a: [1] } })
    const { run } = await claim(kind.queue)
    expect(await ask(`POST /v1/runs/${run.token}/release`)).toMatchObject({ status: 200, body: { status: 'queued' } })
    expect((await commit(run.token, { end: 'completed' })).status).toBe(410)
    const again = await claim(kind.queue)
    expect(again).toMatchObject({ job: { id }, run: { attempt: 1, lost: 0 } })
    expect(again.run.token).not.toBe(run.token)
  })
})

describe('paging of ports', () => {
  test('values beyond 1,000 are read with the token, page by page', async () => {
    const kind = await pull({ in: { a: {} } })
    await make({ ...kind, inputs: { a: Array.from({ length: 1_500 }, (_, n) => n) } })
    const { run, in: inputs } = await claim(kind.queue)
    expect(inputs.a.values).toHaveLength(1_000)
    expect(inputs.a.more).toBe(500)
    const page = await done(`GET /v1/runs/${run.token}/in/a?after=1000`)
    expect(datas(page)).toEqual(Array.from({ length: 500 }, (_, n) => 1_000 + n))
    expect(page.more).toBe(0)
    const answer = await commit(run.token, { end: 'completed', reads: { a: { cursor: 0, count: 1_500 } } })
    expect(answer.body).toEqual({ status: 'completed' })
    expect((await ask(`GET /v1/runs/${run.token}/in/a?after=0`)).status).toBe(410)
  })
})

describe('children', () => {
  test('a parent that spawns, writes to, connects and awaits its children needs two runs', async () => {
    const kind = await pull({ in: { n: {} }, out: { m: {} } })
    const id = await make(kind)
    const first = await commit(await next(kind.queue), {
      end: 'suspended',
      waitFor: ['a', 'b'],
      ops: [
        { op: 'spawn', name: 'a', ...kind, args: 'a' },
        { op: 'spawn', name: 'b', ...kind, args: 'b' },
        { op: 'write', to: { child: 'a', in: 'n' }, values: [5] },
        { op: 'write', to: { out: 'm' }, values: ['x', 'y'] },
        { op: 'connect', from: { out: 'm' }, to: [{ child: 'b', in: 'n' }] },
      ],
    })
    expect(first).toMatchObject({ status: 200, body: { status: 'suspended' } })
    expect((await get(id)).waitingFor).toEqual(['a', 'b'])
    const { body } = await ask(`POST /v1/queues/${kind.queue}/claim`, { max: 5 })
    const [a, b] = body.runs
    expect([a.job.args, b.job.args, a.job.createdBy]).toEqual(['a', 'b', `job:${id}`])
    expect([datas(a.in.n), datas(b.in.n)]).toEqual([[5], ['x', 'y']])
    await commit(a.run.token, { end: 'completed', reads: { n: { cursor: 0, count: 1 } } })
    await nothing(kind.queue)
    await commit(b.run.token, { end: 'failed', error: { message: 'no' } })
    const parent = await claim(kind.queue)
    expect(parent.job.id).toBe(id)
    expect(parent.children).toMatchObject({ a: { id: a.job.id, status: 'completed' }, b: { status: 'failed' } })
    expect(parent.family).toMatchObject({
      finished: [expect.objectContaining({ name: 'a' })],
      failed: [expect.objectContaining({ name: 'b' })],
      cancelled: [],
    })
  })

  test('each run of a child wakes its parent', async () => {
    const kind = await pull()
    const id = await make(kind)
    await commit(await next(kind.queue), { end: 'suspended', ops: [{ op: 'spawn', name: 'c', ...kind }] })
    const child = await claim(kind.queue)
    await commit(child.run.token, { end: 'suspended' })
    const parent = await claim(kind.queue)
    expect([parent.job.id, parent.children.c.status]).toEqual([id, 'suspended'])
  })

  test('a parent can read a child’s output, and adopt, disown, terminate and delete children', async () => {
    const kind = await pull({ out: { m: {} } })
    const id = await make(kind)
    const child = await make({ ...kind, parent: id, name: 'c', wait: '1h' })
    const stray = await make({ ...kind, wait: '1h' })
    await done(`POST /v1/jobs/${child}/out/m`, { values: [1, 2], notify: false })
    const answer = await commit(await next(kind.queue), {
      end: 'completed',
      ops: [
        { op: 'read', from: { child: 'c', out: 'm' }, cursor: 0, count: 2 },
        { op: 'adopt', job: stray, name: 'stray' },
        { op: 'terminate', child: 'c', recursive: true },
        { op: 'delete', child: 'c' },
        { op: 'run', child: 'stray' },
      ],
    })
    expect([answer.status, answer.body.error]).toEqual([200, undefined])
    expect((await ask(`GET /v1/jobs/${child}`)).status).toBe(404)
    expect((await get(stray)).parent).toEqual({ id, name: 'stray' })
  })
})
