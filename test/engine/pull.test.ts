import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encodeValue } from '../../src/core/codec/value.ts'
import type { Changes, Op, Snapshot } from '../../src/core/run.ts'
import { createApp } from '../../src/http/app.ts'
import { type Kit, startKit } from '../kit/index.ts'

const MINUTE = 60_000

let kit: Kit
let queues = 0
beforeAll(async () => {
  kit = await startKit({ random: () => 0 })
})
afterAll(() => kit.close())

async function queueOf(...classes: string[]): Promise<string> {
  const queue = `pull${queues++}`
  for (const name of classes)
    await kit.engine.workers.register(queue, name, {
      in: { in: {} },
      out: { out: {} },
      pull: true,
      retry: { max: 1, backoff: { base: 5_000 } },
    })
  return queue
}

async function claimed(input: object = {}, options: { lease?: number } = {}) {
  const queue = await queueOf('work')
  const id = await kit.make('work', { queue, ...input })
  const [run] = await kit.engine.runs.claim(queue, options)
  return { queue, id, run: run!, token: run!.run.token }
}

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => 'taken',
    ({ code, message, path }) => ({ code, message, path }),
  )

const number = encodeValue({ type: 'number' })

async function describedQueue(): Promise<string> {
  const queue = `pull${queues++}`
  await kit.engine.workers.register(queue, 'double', {
    args: encodeValue({ type: 'object', properties: { by: { type: 'integer' } }, required: ['by'] }),
    in: { n: { schema: number } },
    out: { doubled: { schema: number } },
    result: encodeValue({ type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] }),
    pull: true,
  })
  return queue
}

describe('a class of pull workers with JSON Schemas', () => {
  const args = encodeValue({ by: 2 })

  test('accepted jobs with input or args of a wrong type, which failed later: now it refuses them', async () => {
    const queue = await describedQueue()
    const make = (input: object) => refusal(kit.make('double', { queue, args, ...input }))
    expect(await make({ inputs: { n: [encodeValue(1), encodeValue('x')] } })).toEqual({
      code: 'REFUSED',
      message: 'inputs.n[1]: expected a number, got "x" (input port "n" of class double)',
      path: ['inputs', 'n', 1],
    })
    expect(await make({ args: encodeValue({ by: 1.5 }) })).toMatchObject({
      message: 'args.by: expected a whole number, got 1.5 (args of class double)',
      path: ['args', 'by'],
    })
    expect(await make({ args: undefined })).toMatchObject({
      message: expect.stringContaining('expected an object, got null'),
    })
    expect(await kit.engine.jobs.list({ queue })).toMatchObject({ jobs: [] })
    const answer = await ask('/v1/jobs', { class: 'double', queue, args: {} })
    expect(answer).toMatchObject({ status: 422, body: { error: { code: 'REFUSED', path: ['args', 'by'] } } })
  })

  test('refuses args of a wrong type for existing jobs and schedules too', async () => {
    const queue = await describedQueue()
    const id = await kit.make('double', { queue, args })
    const patch = (by: unknown) => refusal(kit.engine.jobs.update(String(id), { args: encodeValue({ by }) }))
    expect(await patch('x')).toMatchObject({ code: 'REFUSED', path: ['args', 'by'] })
    expect(await patch(3)).toBe('taken')
    expect(JSON.parse((await view(id)).args!)).toEqual({ by: 3 })
    const repeat = { cron: '0 * * * *' }
    const set = (by: unknown) =>
      kit.engine.schedules.set(queue, { queue, class: 'double', args: encodeValue({ by }), repeat })
    await set(4)
    expect(await refusal(set('x'))).toMatchObject({ code: 'REFUSED', path: ['args', 'by'] })
    expect(JSON.parse((await view((await kit.engine.schedules.get(queue)).job)).args!)).toEqual({ by: 4 })
  })

  test('refuses values and defaults of a wrong type', async () => {
    const queue = await describedQueue()
    const id = String(await kit.make('double', { queue, args }))
    expect(await refusal(kit.engine.ports.write(id, 'in', 'n', [encodeValue(true)]))).toMatchObject({
      code: 'REFUSED',
      path: ['values', 0],
    })
    expect(await refusal(kit.engine.ports.setDefault(id, 'in', 'n', encodeValue('x')))).toMatchObject({
      path: ['value'],
    })
    await kit.engine.ports.write(id, 'in', 'n', [encodeValue(1)])
    expect(await kit.engine.ports.get(id, 'in', 'n')).toMatchObject({ size: 1 })
  })

  test.each([
    ['result', { end: 'completed', result: encodeValue({ sum: 'x' }) }, 'result.sum: expected a number, got "x"'],
    [
      'output',
      { end: 'completed', ops: [{ op: 'write', to: { out: 'doubled' }, values: [encodeValue(2), encodeValue('x')] }] },
      'ops[0].values[1]: expected a number, got "x"',
    ],
  ] as [string, Changes, string][])(
    'fails a run whose %s has a wrong type, and its worker learns the reason',
    async (_, changes, message) => {
      const queue = await describedQueue()
      const id = await kit.make('double', { queue, args, retry: { max: 3 } })
      const [run] = await kit.engine.runs.claim(queue, {})
      expect(await refusal(commit(run!.run.token, changes))).toMatchObject({
        code: 'REFUSED',
        message: `${message}; the run has failed`,
      })
      const { status, error } = await view(id)
      expect({ status, error: JSON.parse(error!) }).toMatchObject({ status: 'failed', error: { message } })
    },
  )

  test('commits a run with valid values', async () => {
    const queue = await describedQueue()
    const id = await kit.make('double', { queue, args, inputs: { n: [encodeValue(1)] }, keepResult: true })
    const [run] = await kit.engine.runs.claim(queue, {})
    const ops: Changes['ops'] = [{ op: 'write', to: { out: 'doubled' }, values: [encodeValue(2)] }]
    await commit(run!.run.token, { end: 'completed', ops, result: encodeValue({ sum: 2 }) })
    expect(await kit.engine.jobs.result(String(id), {})).toMatchObject({ ended: true, result: { result: '{"sum":2}' } })
  })

  test('is not registered with an invalid schema', async () => {
    const register = (schema: unknown) =>
      refusal(kit.engine.workers.register('pull', 'odd', { in: { n: { schema: encodeValue(schema) } }, pull: true }))
    expect(await register({ properties: { a: { type: 'text' } } })).toMatchObject({
      code: 'BAD_REQUEST',
      path: ['in', 'n', 'schema', 'properties', 'a', 'type'],
    })
    expect(await register({ enum: ['x'.repeat(70_000)] })).toMatchObject({
      message: expect.stringContaining('at most 65536 bytes'),
    })
  })
})

const write = (value: string): Changes['ops'] => [{ op: 'write', to: { out: 'out' }, values: [value] }]

const outOf = async (id: number) =>
  (await kit.engine.ports.get(String(id), 'out', 'out')).values.map(({ data }) => data)

const view = (id: number) => kit.engine.jobs.get(String(id))
const commit = (token: string, changes: Changes) => kit.engine.runs.commit(token, changes)
const idsOf = (runs: Snapshot[]) => runs.map(({ job }) => job.id)

async function ask(path: string, body: object, headers: Record<string, string> = {}) {
  const app = createApp({
    engine: kit.engine,
    verify: async () => false,
    publicUrl: 'http://sidejob.test',
  })
  const response = await app.fetch(
    new Request(`http://sidejob.test${path}`, {
      method: 'POST',
      headers: { authorization: 'Bearer dev', 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    }),
  )
  return { status: response.status, body: response.status === 204 ? null : await response.json() }
}

describe('a claim', () => {
  test('alone starts jobs of a pull class', async () => {
    const queue = await queueOf('work')
    const id = await kit.make('work', { queue, inputs: { in: ['1'] } })
    expect(await kit.engine.jobs.why(String(id))).toMatchObject({ reasons: [{ code: 'PULL' }] })
    const [run] = await kit.engine.runs.claim(queue, {})
    expect(run).toMatchObject({
      job: { id, class: 'work' },
      in: { in: { cursor: 0, values: [{ data: '1' }], more: 0 } },
    })
    expect(await view(id)).toMatchObject({ status: 'running' })
  })

  test('returns up to `max` jobs, the oldest first', async () => {
    const queue = await queueOf('work')
    const ids = []
    for (let i = 0; i < 4; i++) ids.push(await kit.make('work', { queue }))
    expect(idsOf(await kit.engine.runs.claim(queue, { max: 3 }))).toEqual(ids.slice(0, 3))
    expect(idsOf(await kit.engine.runs.claim(queue, { max: 3 }))).toEqual(ids.slice(3))
    expect(await kit.engine.runs.claim(queue, { max: 3 })).toEqual([])
  })

  test.each([
    ['image_*', ['image_crop', 'image_resize']],
    ['*', ['image_crop', 'image_resize', 'mail', 'a.b']],
    ['*_*e', ['image_resize']],
    ['m??l', ['mail']],
    ['a.b', ['a.b']],
    ['a?b', ['a.b']],
    ['mai', []],
    ['ail', []],
    ['.*', []],
    ['[m]ail', []],
    ['%a*', []],
  ])('matches class names with %s', async (glob, wanted) => {
    const classes = ['image_crop', 'image_resize', 'mail', 'a.b']
    const queue = await queueOf(...classes)
    for (const name of classes) await kit.make(name, { queue })
    const runs = await kit.engine.runs.claim(queue, { names: [glob], max: 10 })
    expect(runs.map(({ job }) => job.class)).toEqual(wanted)
  })

  test('finds a job after more than 1,000 unclaimed jobs', async () => {
    const queue = await queueOf('unwanted', 'wanted')
    const before = Array.from({ length: 1_001 }, () => ({ queue, class: 'unwanted', priority: -1 }))
    await kit.engine.jobs.enqueue(before)
    const id = await kit.make('wanted', { queue })
    const [run] = await kit.engine.runs.claim(queue, { names: ['wanted'] })
    expect(run!.job.id).toBe(id)
    await kit.engine.runs.commit(run!.run.token, { end: 'completed' })
  })

  test('returns jobs that match any of several names', async () => {
    const queue = await queueOf('a', 'b', 'c')
    for (const name of ['a', 'b', 'c']) await kit.make(name, { queue })
    const runs = await kit.engine.runs.claim(queue, { names: ['c', 'a*'], max: 10 })
    expect(runs.map(({ job }) => job.class)).toEqual(['a', 'c'])
  })

  test('is fast for a name with many stars', async () => {
    const long = 'a'.repeat(250)
    const queue = await queueOf(long)
    await kit.make(long, { queue })
    expect(await kit.engine.runs.claim(queue, { names: [`${'*a'.repeat(60)}*b`] })).toEqual([])
  })

  test('leases for the given time, a minute by default', async () => {
    const { run } = await claimed()
    expect(run.run.leaseUntil - run.run.startedAt).toBe(MINUTE)
    const { run: long } = await claimed({}, { lease: 10 * MINUTE })
    expect(long.run.leaseUntil - long.run.startedAt).toBe(10 * MINUTE)
  })

  test('with `wait` is held until a job comes', async () => {
    const queue = await queueOf('work')
    const claim = kit.engine.runs.claim(queue, { wait: 10 * MINUTE })
    const id = await kit.make('work', { queue })
    expect(idsOf(await claim)).toEqual([id])
  })

  test('with `wait` is held until a delayed job is due', async () => {
    const queue = await queueOf('work')
    const id = await kit.make('work', { queue, wait: 60 * MINUTE })
    const claim = kit.engine.runs.claim(queue, { wait: 120 * MINUTE })
    await kit.advance(60 * MINUTE)
    expect(idsOf(await claim)).toEqual([id])
  })

  test('with `wait` is held while the queue is paused', async () => {
    const queue = await queueOf('work')
    const id = await kit.make('work', { queue })
    await kit.engine.queues.update(queue, { paused: true })
    const claim = kit.engine.runs.claim(queue, { wait: 10 * MINUTE })
    await kit.engine.queues.update(queue, { paused: false })
    expect(idsOf(await claim)).toEqual([id])
  })

  test('with `wait` ends empty at its timeout, or when its caller disconnects', async () => {
    const queue = await queueOf('work')
    const claim = kit.engine.runs.claim(queue, { wait: 10 * MINUTE })
    await kit.advance(10 * MINUTE)
    expect(await claim).toEqual([])
    const caller = new AbortController()
    const other = kit.engine.runs.claim(queue, { wait: 10 * MINUTE }, { signal: caller.signal })
    caller.abort()
    expect(await other).toEqual([])
  })

  test('gives back its jobs and stops waiting when its caller disconnects', async () => {
    const queue = await queueOf('work')
    const gone = new AbortController()
    const left = kit.engine.runs.claim(queue, { wait: 20_000 }, { signal: gone.signal })
    await new Promise((resolve) => setTimeout(resolve, 100))
    gone.abort()
    expect(await left).toEqual([])
    const stays = kit.engine.runs.claim(queue, { wait: 20_000 })
    await new Promise((resolve) => setTimeout(resolve, 100))
    const id = await kit.make('work', { queue })
    const started = Date.now()
    const [run] = await stays
    expect([run?.job.id, Date.now() - started < 5_000]).toEqual([id, true])
    await kit.engine.runs.release(run!.run.token)
    const late = kit.engine.runs.claim(queue, {}, { signal: AbortSignal.abort() })
    expect(await late).toEqual([])
    expect(await view(id)).toMatchObject({ status: 'queued', attempt: 0, lost: 0 })
  })

  test('left its jobs leased for a minute if Redis failed while the limits of other jobs changed: now it gives them back', async () => {
    const queue = await queueOf('bounded')
    const old = await kit.make('bounded', { queue })
    await kit.engine.constraints.set('bounded', { match: { class: 'bounded' }, concurrency: 100 })
    const fresh = await kit.make('bounded', { queue })
    kit.gateway.faults.refuse(429, { when: ([command]) => command?.includes('tag') ?? false })
    await expect(kit.engine.runs.claim(queue, { max: 10 })).rejects.toMatchObject({ code: 'FULL' })
    expect(await kit.engine.jobs.get(String(fresh))).toMatchObject({ status: 'queued' })
    const claim = async () => (await kit.engine.runs.claim(queue, { max: 10 })).map(({ job }) => job.id)
    expect([await claim(), await claim()]).toEqual([[fresh], [old]])
    await kit.engine.constraints.remove('bounded')
  })

  test('returns 204 over HTTP without runs, and 200 with runs', async () => {
    const queue = await queueOf('work')
    expect(await ask(`/v1/queues/${queue}/claim`, {})).toEqual({ status: 204, body: null })
    const id = await kit.make('work', { queue })
    expect(await ask(`/v1/queues/${queue}/claim`, { lease: '5m' })).toMatchObject({
      status: 200,
      body: { runs: [{ job: { id } }] },
    })
  })

  test('returns the same runs again for the same Idempotency-Key', async () => {
    const queue = await queueOf('work')
    const ids = []
    for (let i = 0; i < 3; i++) ids.push(await kit.make('work', { queue }))
    const claim = (key: string) =>
      ask(`/v1/queues/${queue}/claim`, { max: 2 }, { 'idempotency-key': key }) as Promise<{
        body: { runs: Snapshot[] }
      }>
    const first = await claim('one')
    expect(idsOf(first.body.runs)).toEqual(ids.slice(0, 2))
    expect(await claim('one')).toEqual(first)
    expect(idsOf((await claim('two')).body.runs)).toEqual(ids.slice(2))
  })

  test('with a key and `wait` sees jobs that arrive while it waits', async () => {
    const queue = await queueOf('work')
    const claim = kit.engine.runs.claim(queue, { wait: 10 * MINUTE }, { key: 'waiting' })
    const id = await kit.make('work', { queue })
    const first = await claim
    expect(idsOf(first)).toEqual([id])
    expect(await kit.engine.runs.claim(queue, {}, { key: 'waiting' })).toEqual(first)
  })
})

describe('a commit by token', () => {
  test('applies the changes of the run', async () => {
    const { id, token } = await claimed({ inputs: { in: ['1', '2'] }, keepResult: true })
    const reads = { in: { cursor: 0, count: 1 } }
    const changes: Changes = { end: 'completed', reads, ops: write('"a"'), result: '7' }
    expect(
      await ask(`/v1/runs/${token}/commit`, {
        ...changes,
        ops: [{ op: 'write', to: { out: 'out' }, values: ['a'] }],
        result: 7,
      }),
    ).toEqual({
      status: 200,
      body: { status: 'completed' },
    })
    expect(await outOf(id)).toEqual(['"a"'])
    expect((await view(id)).in.in).toMatchObject({ size: 1, taken: 1 })
    expect(await kit.engine.jobs.result(String(id), {})).toMatchObject({ result: { type: 'success', result: '7' } })
  })

  test('gets the first answer when it is repeated, also after another claim of the job', async () => {
    const { queue, id, token } = await claimed()
    const changes: Changes = { end: 'again', ops: write('1') }
    expect(await commit(token, changes)).toEqual({ status: 'queued' })
    const [next] = await kit.engine.runs.claim(queue, {})
    expect(next!.job.id).toBe(id)
    expect(await commit(token, changes)).toEqual({ status: 'queued' })
    expect(await outOf(id)).toEqual(['1'])
  })

  test.each<[string, Changes]>([
    ['nothing', { end: 'completed' }],
    ['a failure', { end: 'failed', error: { message: 'no', retry: false } }],
    ['ops', { end: 'completed', ops: [{ op: 'log', entry: '1' }] }],
  ])('gets the first answer when it is repeated, for a minute after the job is gone (%s)', async (_, changes) => {
    const { id, token } = await claimed()
    const first = await commit(token, changes)
    await kit.engine.jobs.remove(String(id), { force: true })
    await expect(view(id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await commit(token, changes)).toEqual(first)
  })

  test('with a failure retries the job with the backoff of its class, then fails it', async () => {
    const { queue, id, token, run } = await claimed()
    const failure: Changes = { end: 'failed', error: { message: 'no', detail: '{"code":7}' } }
    expect(run.run.attempt).toBe(1)
    expect(await commit(token, failure)).toEqual({ status: 'queued' })
    expect(await kit.engine.runs.claim(queue, {})).toEqual([])
    await kit.advance(5_000)
    const [second] = await kit.engine.runs.claim(queue, {})
    expect(second!.run.attempt).toBe(2)
    expect(await commit(second!.run.token, failure)).toEqual({ status: 'failed' })
    expect(JSON.parse((await view(id)).error!)).toMatchObject({ message: 'no', detail: { code: 7 } })
  })

  test('that is refused fails the run with 422, and changes nothing', async () => {
    const { id, token } = await claimed()
    const ops = [
      { op: 'write', to: { out: 'out' }, values: [1] },
      { op: 'write', to: { out: 'none' }, values: [1] },
    ]
    expect(await ask(`/v1/runs/${token}/commit`, { end: 'completed', ops })).toMatchObject({
      status: 422,
      body: { error: { code: 'REFUSED', message: expect.stringContaining('has no output port "none"') } },
    })
    expect(await view(id)).toMatchObject({ status: 'failed' })
    expect(await outOf(id)).toEqual([])
  })

  test('is a conflict if another client took from a port that it read: 409, and the job runs again', async () => {
    const { queue, id, token } = await claimed({ inputs: { in: ['1', '2'] } })
    expect(await kit.engine.ports.take(String(id), 'in', 'in', {})).toMatchObject({ values: [{ data: '1' }] })
    const changes = { end: 'completed', reads: { in: { cursor: 0, count: 1 } }, state: { set: { n: 1 } } }
    expect(await ask(`/v1/runs/${token}/commit`, changes)).toMatchObject({
      status: 409,
      body: { error: { code: 'CONFLICT' } },
    })
    expect(await kit.engine.jobs.state(String(id))).toEqual({})
    const [again] = await kit.engine.runs.claim(queue, {})
    expect(again).toMatchObject({ run: { attempt: 1 }, in: { in: { cursor: 1, values: [{ data: '2' }] } } })
  })

  test('can be a checkpoint: it returns a new snapshot, and the run continues', async () => {
    const { id, token } = await claimed({ inputs: { in: ['1'] } })
    await kit.engine.ports.write(String(id), 'in', 'in', ['2'])
    const reads = { in: { cursor: 0, count: 1 } }
    const first: Changes = { end: 'checkpoint', reads, state: { set: { n: '1' } }, ops: write('1') }
    const answer = await commit(token, first)
    expect(answer).toMatchObject({
      status: 'running',
      snapshot: {
        run: { token },
        state: { n: '1' },
        in: { in: { cursor: 1, values: [{ data: '2' }] } },
        out: { out: { size: 1 } },
      },
    })
    expect(await commit(token, first)).toMatchObject({ status: 'running', snapshot: { run: { token } } })
    expect(await commit(token, { end: 'completed', n: 1, ops: write('2') })).toEqual({ status: 'queued' })
    expect(await outOf(id)).toEqual(['1', '2'])
  })

  test('with an older number is refused as lost', async () => {
    const { id, token } = await claimed()
    await commit(token, { end: 'checkpoint', ops: write('1') })
    await commit(token, { end: 'checkpoint', n: 1, ops: write('2') })
    await expect(commit(token, { end: 'completed', ops: write('3') })).rejects.toMatchObject({ code: 'LOST' })
    expect(await outOf(id)).toEqual(['1', '2'])
  })
})

describe('a run that is held for longer than its lease', () => {
  test('does not count after a second run began: it gets 410 lost', async () => {
    const { queue, id, token } = await claimed({ inputs: { in: ['1'] } })
    await kit.advance(MINUTE + 1)
    await kit.engine.tick()
    await kit.advance(1_000)
    const [second] = await kit.engine.runs.claim(queue, {})
    expect(second).toMatchObject({ job: { id }, run: { attempt: 1, lost: 1 }, in: { in: { values: [{ data: '1' }] } } })
    const changes = (value: number) => ({
      end: 'completed',
      reads: { in: { cursor: 0, count: 1 } },
      ops: [{ op: 'write', to: { out: 'out' }, values: [value] }],
    })
    const late = { status: 410, body: { error: { code: 'LOST' } } }
    expect(await ask(`/v1/runs/${token}/commit`, changes(1))).toMatchObject(late)
    expect(await ask(`/v1/runs/${second!.run.token}/commit`, changes(2))).toMatchObject({ status: 200 })
    expect(await ask(`/v1/runs/${token}/commit`, changes(1))).toMatchObject(late)
    expect(await ask(`/v1/runs/${token}/heartbeat`, {})).toMatchObject(late)
    expect(await ask(`/v1/runs/${token}/release`, {})).toMatchObject(late)
    expect(await outOf(id)).toEqual(['2'])
    expect((await view(id)).in.in).toMatchObject({ size: 0, taken: 1 })
  })

  test('is lost even before it is claimed again', async () => {
    const { id, token } = await claimed()
    await kit.advance(MINUTE + 1)
    await expect(commit(token, { end: 'completed', ops: write('1') })).rejects.toMatchObject({ code: 'LOST' })
    expect(await outOf(id)).toEqual([])
  })

  test('is not lost while it sends heartbeats: each renews its lease', async () => {
    const lease = 10 * MINUTE
    const { id, token, run } = await claimed({}, { lease })
    let last = run.run.leaseUntil
    for (let i = 1; i <= 3; i++) {
      await kit.advance(lease - 1_000)
      const { leaseUntil } = await kit.engine.runs.heartbeat(token, { progress: `${i}` })
      expect(leaseUntil).toBeGreaterThanOrEqual(last + lease - 1_000)
      last = leaseUntil
      await kit.engine.tick()
    }
    expect(await view(id)).toMatchObject({ status: 'running', progress: '3', lost: 0 })
    expect(await commit(token, { end: 'completed' })).toEqual({ status: 'completed' })
  })
})

describe('a process that claims under a name', () => {
  const processOf = async (id: string) => (await kit.engine.processes.list()).processes.find((one) => one.id === id)

  test('is shown with its work, and named in the history of the job', async () => {
    const queue = await queueOf('work')
    const id = await kit.make('work', { queue, history: 5 })
    const [run] = await kit.engine.runs.claim(queue, { process: 'host:1' })
    expect(await processOf('host:1')).toMatchObject({
      kind: 'pull',
      queues: [queue],
      live: true,
      signal: null,
      runs: [{ job: id, queue, class: 'work', by: 'pull', leaseUntil: run!.run.leaseUntil }],
    })
    await commit(run!.run.token, { end: 'completed' })
    expect(await processOf('host:1')).toMatchObject({ runs: [] })
    expect(await kit.engine.jobs.runs(String(id))).toMatchObject({ runs: [{ by: 'host:1' }] })
  })

  test('appears at the pull classes of the queues that it claims from, with the time of its last contact', async () => {
    const queue = await queueOf('work')
    const seen = async () => (await kit.engine.workers.list()).workers.find((one) => one.queue === queue)
    expect(await seen()).toMatchObject({ class: 'work', pull: true, seen: null, servedBy: [] })
    await kit.engine.runs.claim(await queueOf('work'), { process: 'host:elsewhere' })
    expect(await seen()).toMatchObject({ seen: null })
    await kit.engine.runs.claim(queue, { process: 'host:8' })
    await kit.engine.runs.claim(queue, { process: 'host:9' })
    const { seenAt } = (await processOf('host:9')) as { seenAt: number }
    expect(seenAt).toBeGreaterThan(0)
    expect(await seen()).toMatchObject({ seen: seenAt, servedBy: [] })
  })

  test('learns with its next claim to take no new jobs, and other programs get them', async () => {
    const queue = await queueOf('work')
    await ask(`/v1/queues/${queue}/claim`, { process: 'host:2' })
    expect(await ask('/v1/processes/host:2/signal', { signal: 'quiet' })).toEqual({ status: 200, body: {} })
    const id = await kit.make('work', { queue })
    const claim = await ask(`/v1/queues/${queue}/claim`, { process: 'host:2' })
    expect(claim).toEqual({ status: 200, body: { runs: [], signal: 'quiet' } })
    expect(idsOf(await kit.engine.runs.claim(queue, { process: 'host:3' }))).toEqual([id])
    await ask('/v1/processes/host:2/signal', { signal: null })
    const next = await kit.make('work', { queue })
    expect(idsOf(await kit.engine.runs.claim(queue, { process: 'host:2' }))).toEqual([next])
  })

  test('learns to stop with a heartbeat, and its claims return at once', async () => {
    const queue = await queueOf('work')
    await kit.make('work', { queue })
    const [run] = await kit.engine.runs.claim(queue, { process: 'host:4' })
    await kit.engine.processes.signal('host:4', 'stop')
    const beat = await ask(`/v1/runs/${run!.run.token}/heartbeat`, {})
    expect(beat).toMatchObject({ status: 200, body: { signal: 'stop' } })
    const claim = await ask(`/v1/queues/${queue}/claim`, { process: 'host:4', wait: '60s' })
    expect(claim).toEqual({ status: 200, body: { runs: [], signal: 'stop' } })
    expect(await commit(run!.run.token, { end: 'completed' })).toEqual({ status: 'completed' })
  })

  test('learns of the termination of its job with a heartbeat and a checkpoint, and its end counts', async () => {
    const queue = await queueOf('work')
    const begun = async () => {
      const id = await kit.make('work', { queue })
      const [run] = await kit.engine.runs.claim(queue, {})
      await kit.engine.jobs.terminate(String(id), {})
      return { id, token: run!.run.token }
    }
    const [beating, checking] = [await begun(), await begun()]
    const beat = await ask(`/v1/runs/${beating.token}/heartbeat`, {})
    expect([beat.status, (beat.body as { error: object }).error]).toEqual([
      410,
      {
        code: 'LOST',
        message: `job ${beating.id} was terminated: commit the run to apply its changes`,
        doc_url: 'http://sidejob.test/docs/errors#LOST',
      },
    ])
    const state = { set: { saved: encodeValue(true) } }
    await commit(beating.token, { end: 'completed', state })
    expect(await kit.engine.jobs.state(String(beating.id))).toEqual({ saved: 'true' })
    expect(await refusal(commit(checking.token, { end: 'checkpoint', n: 1, state }))).toMatchObject({
      code: 'LOST',
      message: `job ${checking.id} was terminated: the changes of this commit were not applied`,
    })
    expect(await kit.engine.jobs.state(String(checking.id))).toEqual({})
    for (const { id } of [beating, checking]) expect((await view(id)).status).toBe('terminated')
  })

  test('is dead after a minute without requests and runs, and not shown after ten', async () => {
    const queue = await queueOf('work')
    await kit.engine.runs.claim(queue, { process: 'host:5' })
    await kit.advance(2 * MINUTE)
    expect(await processOf('host:5')).toMatchObject({ live: false })
    await kit.advance(10 * MINUTE)
    expect(await processOf('host:5')).toBeUndefined()
  })

  test('is unknown before its first claim', async () => {
    expect(await ask('/v1/processes/host:6/signal', { signal: 'stop' })).toMatchObject({
      status: 404,
      body: { error: { message: expect.stringContaining('no pull worker named "host:6" has claimed jobs') } },
    })
    expect((await ask('/v1/processes/host:6/signal', { signal: 'die' })).status).toBe(400)
  })

  test('runs of unnamed programs are shown separately', async () => {
    const { id, token } = await claimed()
    const { others, more } = await kit.engine.processes.list()
    expect(others).toContainEqual(expect.objectContaining({ job: id, by: 'pull' }))
    expect(more).toBe(false)
    await commit(token, { end: 'completed' })
  })
})

describe('a release', () => {
  test('gives the run back as if it had not been claimed', async () => {
    const { queue, id, token } = await claimed({ inputs: { in: ['1'] } })
    expect(await ask(`/v1/runs/${token}/release`, {})).toEqual({ status: 200, body: { status: 'queued' } })
    const [again] = await kit.engine.runs.claim(queue, {})
    expect(again).toMatchObject({ job: { id }, run: { attempt: 1, lost: 0 }, in: { in: { values: [{ data: '1' }] } } })
    await expect(commit(token, { end: 'completed' })).rejects.toMatchObject({ code: 'LOST' })
  })

  test('after a checkpoint keeps the checkpoint', async () => {
    const { queue, id, token } = await claimed()
    await commit(token, { end: 'checkpoint', ops: write('1') })
    expect(await kit.engine.runs.release(token)).toEqual({ status: 'queued' })
    expect(idsOf(await kit.engine.runs.claim(queue, {}))).toEqual([id])
    expect(await outOf(id)).toEqual(['1'])
  })
})

test('values beyond a thousand are read page by page', async () => {
  const values = Array.from({ length: 2_500 }, (_, i) => String(i))
  const { run, token } = await claimed({ inputs: { in: values } })
  const { cursor, values: first, more } = run.in.in!
  const seen = first.map(({ data }) => data)
  expect({ cursor, length: seen.length, more }).toEqual({ cursor: 0, length: 1_000, more: 1_500 })
  for (let left = more; left > 0; ) {
    const page = await kit.engine.runs.values(token, 'in', seen.length)
    seen.push(...page.values.map(({ data }) => data))
    left = page.more
  }
  expect(seen).toEqual(values)
})

test.each(['x', '1', '1.1', '0.1.abc', '7.1.abc', 'nightly.1.abc', '1..', '9999999.1.abc'])(
  'any request with an unknown token (%s) is refused as lost',
  async (token) => {
    await kit.make('work', { queue: await queueOf('work') })
    for (const [verb, body] of Object.entries({ commit: { end: 'failed' }, heartbeat: {}, release: {} }))
      expect(await ask(`/v1/runs/${token}/${verb}`, body)).toMatchObject({
        status: 410,
        body: { error: { code: 'LOST' } },
      })
  },
)

test('a pull worker can make a patch with a step, as docs/waits.md shows', async () => {
  const queue = await queueOf('order')
  const effects: number[] = []
  const one = encodeValue(1)
  async function serve(isEdited: boolean): Promise<void> {
    const [run] = await kit.engine.runs.claim(queue, {})
    const {
      job,
      steps = {},
      run: { token },
    } = run!
    const kept = steps['patched:check']
    const isPatched = isEdited && (kept === undefined ? !steps.reserve : kept === encodeValue(true))
    if (isPatched && !steps.check) effects.push(job.id)
    const ops: Op[] = ['reserve', ...(isPatched ? ['check'] : [])].map((name) => ({ op: 'step', name, value: one }))
    if (isEdited) ops.unshift({ op: 'step', name: 'patched:check', value: encodeValue(isPatched) })
    const pause = { until: kit.now() + MINUTE }
    await kit.engine.runs.commit(token, steps.reserve ? { end: 'completed' } : { end: 'suspended', pause, ops })
  }
  const old = await kit.make('order', { queue })
  await serve(false)
  const fresh = await kit.make('order', { queue })
  await serve(true)
  await kit.advance(MINUTE)
  for (let n = 0; n < 2; n++) await serve(true)
  expect(await Promise.all([old, fresh].map(kit.statusOf))).toEqual(['completed', 'completed'])
  expect(effects).toEqual([fresh])
})
