import { createHmac } from 'node:crypto'
import { decode, encode } from '@msgpack/msgpack'
import { expect, test } from 'vitest'
import { type Body, type Call, eventually, useServer, useStack } from './kit.ts'

const SECRET = `whsec_${Buffer.from('a secret that only this test knows').toString('base64')}`
const OLD = `whsec_${Buffer.from('the secret that was used before').toString('base64')}`

const stack = useStack({ SIDEJOB_WEBHOOK_SECRET: `${SECRET},${OLD}` })
const { ask, done, make, get, reaches, commit } = stack

const answers: Record<string, (call: Call, response: import('node:http').ServerResponse) => unknown> = {}
const worker = useServer((call, response) => answers[call.path.slice(1)]?.(call, response))

let classes = 0
async function pushed(answer: (typeof answers)[string], definition: object = {}) {
  const name = `p${++classes}`
  answers[name] = answer
  await done(`PUT /v1/workers/${name}/${name}`, { push: { url: `${worker.url}/${name}` }, ...definition })
  return { queue: name, class: name, calls: () => worker.calls.filter(({ path }) => path === `/${name}`) }
}

const status =
  (code: number, headers: Record<string, string> = {}) =>
  (_: Call, response: Body) =>
    response.writeHead(code, headers).end('why not')

/** Does not use the code of sidejob, because the test checks that code. */
const signature = (secret: string, { headers, bytes }: Call) => {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const signed = Buffer.concat([Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.`), bytes])
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
}

const jobOf = ({ queue, class: name }: { queue: string; class: string }, more: object = {}) => ({
  queue,
  class: name,
  ...more,
})

test('a worker receives a signed snapshot, and its changes are committed', async () => {
  const kind = await pushed(
    ({ body }) => ({
      end: 'completed',
      result: { saw: body.in.n.values.map(({ data }: Body) => data) },
      reads: { n: { cursor: body.in.n.cursor, count: 2 } },
      state: { set: { seen: 2 } },
      ops: [{ op: 'write', to: { out: 'm' }, values: [[]] }],
    }),
    { in: { n: {} }, out: { m: {} } },
  )
  const id = await make(jobOf(kind, { args: { list: [] }, inputs: { n: [1, 2] }, keepResult: true }))
  await reaches(id, 'completed')
  const [call] = kind.calls()
  expect(call!.headers['content-type']).toBe('application/json')
  expect(call!.body).toMatchObject({ run: { attempt: 1, reason: 'run' }, job: { id, args: { list: [] }, ranAt: null } })
  expect(call!.headers['webhook-id']).toBe(call!.body.run.token)
  expect(Math.abs(Number(call!.headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(30)
  // The header has more signatures, because each endpoint also has its own secrets.
  expect(call!.headers['webhook-signature']!.split(' ')).toEqual(
    expect.arrayContaining([signature(SECRET, call!), signature(OLD, call!)]),
  )
  expect(await get(id)).toMatchObject({ in: { n: { size: 0, taken: 2 } }, out: { m: { size: 1 } } })
  expect(await done(`GET /v1/jobs/${id}/state`)).toEqual({ seen: 2 })
  expect(await done(`GET /v1/jobs/${id}/result`)).toMatchObject({ type: 'success', result: { saw: [1, 2] } })
})

test('a worker’s own secret replaces ours, and is never shown', async () => {
  const own = `whsec_${Buffer.from('a secret of the worker itself').toString('base64')}`
  const kind = await pushed(() => ({ end: 'completed' }))
  const { push } = await done(`PUT /v1/workers/${kind.queue}/${kind.class}`, {
    push: { url: `${worker.url}/${kind.class}`, secret: own },
  })
  expect(push).toEqual({ url: `${worker.url}/${kind.class}` })
  expect(JSON.stringify(await done('GET /v1/workers'))).not.toContain(own)
  await reaches(await make(jobOf(kind)), 'completed')
  expect(kind.calls()[0]!.headers['webhook-signature']).toBe(signature(own, kind.calls()[0]!))
})

test('an empty 200 completes the job', async () => {
  const kind = await pushed(() => undefined)
  await reaches(await make(jobOf(kind)), 'completed')
})

test('changes may be MessagePack', async () => {
  const kind = await pushed((_, response) =>
    response
      .writeHead(200, { 'content-type': 'application/vnd.msgpack' })
      .end(encode({ end: 'completed', result: { bytes: new Uint8Array([1, 2]) } })),
  )
  const id = await make(jobOf(kind, { keepResult: true }))
  await reaches(id, 'completed')
  const shown = await ask(`GET /v1/jobs/${id}/result`, undefined, { headers: { accept: 'application/msgpack' } })
  expect(shown.body.result.bytes).toEqual(new Uint8Array([1, 2]))
  expect((await done(`GET /v1/jobs/${id}/result`)).result).toEqual({ bytes: { $bin: 'AQI=' } })
})

test('after 202, the worker renews its lease with heartbeats and commits later with the token', async () => {
  let token = ''
  const kind = await pushed(({ body }, response) => {
    token = body.run.token
    response.writeHead(202).end()
  })
  const id = await make(jobOf(kind, { keepResult: true }))
  await eventually(() => expect(token).not.toBe(''))
  await eventually(async () =>
    expect((await ask(`POST /v1/runs/${token}/heartbeat`, { progress: 0.5 })).status).toBe(200),
  )
  expect(await get(id)).toMatchObject({ status: 'running', progress: 0.5 })
  expect((await commit(token, { end: 'completed', result: 'later' })).body).toEqual({ status: 'completed' })
  expect((await done(`GET /v1/jobs/${id}/result`)).result).toBe('later')
})

test.each([400, 401, 403, 404, 410, 422, 301, 302])('%i fails the job without a retry', async (code) => {
  const kind = await pushed(status(code, { location: 'http://127.0.0.1:1/' }))
  const job = await reaches(
    await make(jobOf(kind, { retry: { max: 3, backoff: { base: 0.01, jitter: 0 } } })),
    'failed',
  )
  expect(kind.calls()).toHaveLength(1)
  expect(job.error.message).toContain(String(code))
})

test.each([408, 425, 429, 500, 502, 503])('%i is retried', async (code) => {
  const kind = await pushed((call, response) =>
    kind.calls().length === 1 ? status(code)(call, response) : { end: 'completed' },
  )
  await reaches(await make(jobOf(kind, { retry: { max: 1, backoff: { base: 0.01, jitter: 0 } } })), 'completed')
  expect(kind.calls().map(({ body }) => body.run.attempt)).toEqual([1, 2])
})

test('a retry waits at least for the time in Retry-After', async () => {
  const kind = await pushed(status(503, { 'retry-after': '60' }))
  const id = await make(jobOf(kind, { retry: { max: 1, backoff: { base: 0.01, jitter: 0 } } }))
  await eventually(() => expect(kind.calls()).toHaveLength(1))
  await eventually(async () => {
    const { reasons } = await done(`GET /v1/jobs/${id}/why`)
    expect(reasons[0]).toMatchObject({ code: 'BACKOFF' })
    expect(Date.parse(reasons[0].until) - Date.now()).toBeGreaterThan(50_000)
  })
})

test('a response that exceeds the timeout fails the run with that reason', async () => {
  const kind = await pushed(() => new Promise(() => {}))
  const job = await reaches(await make(jobOf(kind, { timeout: 0.3, keepResult: true, retry: { max: 0 } })), 'failed')
  expect(job.error).toMatchObject({ reason: 'timeout' })
  expect(await done(`GET /v1/jobs/${job.id}/result`)).toMatchObject({ type: 'failure', reason: 'timeout' })
})

test('by default, a failing worker is retried three times, and its failures are kept', async () => {
  const fast = { backoff: { base: 0.001, jitter: 0 } }
  const kind = await pushed(status(500))
  const broken = await make(jobOf(kind, { retry: fast }))
  expect((await reaches(broken, 'failed')).attempt).toBe(4)
  expect((await done(`GET /v1/jobs/${broken}/runs`)).runs).toHaveLength(4)
})

test('an unreachable worker is retried', async () => {
  await done('PUT /v1/workers/gone/gone', { push: { url: 'http://127.0.0.1:9/' } })
  const id = await make({ queue: 'gone', class: 'gone', retry: { max: 1, backoff: { base: 0.01, jitter: 0 } } })
  const job = await reaches(id, 'failed')
  expect(job.error.message).toMatch(/reach/)
  expect(job.attempt).toBe(2)
})

test('a response without changes fails the run with the reason', async () => {
  for (const said of [{ end: 'over' }, { colour: 'red' }, [1]]) {
    const kind = await pushed(() => said)
    const { error } = await reaches(await make(jobOf(kind)), 'failed')
    expect(error.message).toMatch(/^the worker's answer is invalid: /)
  }
})

test('a refused commit fails the run', async () => {
  const kind = await pushed(() => ({ end: 'completed', ops: [{ op: 'write', to: { out: 'nope' }, values: [1] }] }))
  const { error } = await reaches(await make(jobOf(kind, { retry: { max: 3 } })), 'failed')
  expect(error.message).toContain('nope')
})

test.each([
  ['success', { type: 'success', finished_at: '2026-01-01T00:00:00Z', result: [1] }, { type: 'success', result: [1] }],
  [
    'failure',
    {
      type: 'failure',
      reason: 'other',
      should_retry: false,
      error: { n: 1 },
      message: 'no',
      finished_at: '2026-01-01T00:00:00Z',
    },
    { type: 'failure', reason: 'other', message: 'no', error: { n: 1 } },
  ],
])('a worker may answer with the result map of JQ: %s', async (type, map, result) => {
  const kind = await pushed(() => map)
  const id = await make(jobOf(kind, { keepResult: true, retry: { max: 2 } }))
  await reaches(id, type === 'success' ? 'completed' : 'failed')
  expect(await done(`GET /v1/jobs/${id}/result`)).toMatchObject(result)
  expect(kind.calls()).toHaveLength(1)
})

test('a private address that is not allowed is never called', async () => {
  await done('PUT /v1/workers/inside/inside', { push: { url: 'http://169.254.169.254/latest' } }).catch(() => {})
  const answer = await ask('POST /v1/jobs', { queue: 'inside', class: 'inside' })
  if (answer.status === 201) {
    const { error } = await reaches(answer.body.id, 'failed')
    expect(error.message).toContain('in a private network')
  } else expect(answer.status).toBe(422)
})

test('a class can change between push and pull without a change of its callers', async () => {
  const kind = await pushed(() => ({ end: 'completed' }))
  await reaches(await make(jobOf(kind)), 'completed')
  await done(`PUT /v1/workers/${kind.queue}/${kind.class}`, { pull: true })
  const id = await make(jobOf(kind))
  const run = await stack.claim(kind.queue)
  expect(run.job.id).toBe(id)
  await commit(run.run.token, { end: 'completed' })
  const waiting = await make(jobOf(kind))
  await done(`PUT /v1/workers/${kind.queue}/${kind.class}`, { push: { url: `${worker.url}/${kind.class}` } })
  await reaches(waiting, 'completed')
})

test('new jobs of an unregistered class are refused with 422, and waiting jobs stay', async () => {
  const kind = await pushed(() => ({ end: 'completed' }))
  await done(`DELETE /v1/workers/${kind.queue}/${kind.class}`)
  expect((await ask('POST /v1/jobs', jobOf(kind))).status).toBe(422)
})

test('a signed callback reports the end of a job, with the same id at each attempt', async () => {
  const kind = await pushed(() => ({ end: 'completed', result: { n: [] } }))
  const name = 'called-back'
  let tries = 0
  answers[name] = (_, response) => response.writeHead(++tries === 1 ? 500 : 204).end()
  const id = await make(
    jobOf(kind, {
      keepResult: true,
      callback: { url: `${worker.url}/${name}`, retry: [0.05], headers: { 'x-mine': 'yes' } },
    }),
  )
  const calls = () => worker.calls.filter(({ path }) => path === `/${name}`)
  await eventually(() => expect(calls()).toHaveLength(2))
  const [first, second] = calls() as [Call, Call]
  expect(second.headers['webhook-id']).toBe(first.headers['webhook-id'])
  expect(Buffer.compare(first.bytes, second.bytes)).toBe(0)
  expect(first.headers['x-mine']).toBe('yes')
  expect(first.headers['webhook-signature']!.split(' ')[0]).toBe(signature(SECRET, first))
  expect(JSON.stringify(first.body)).toContain(`${id}`)
  await eventually(async () => expect((await get(id)).callback).toMatchObject({ state: 'DELIVERED' }))
  const { callbacks } = await done('GET /v1/callbacks?state=DELIVERED')
  expect(callbacks).toContainEqual(expect.objectContaining({ of: id, state: 'DELIVERED' }))
  await done(`POST /v1/callbacks/${id}/resend`, {})
  await eventually(() => expect(calls()).toHaveLength(3))
})

test('any MessagePack library can decode the examples of the protocol', async () => {
  const kind = await stack.pull()
  await make(jobOf(kind, { args: { n: 1 } }))
  const answer = await fetch(`${stack.url}/v1/queues/${kind.queue}/claim`, {
    method: 'POST',
    headers: { authorization: 'Bearer dev', accept: 'application/msgpack' },
  })
  const { runs } = decode(new Uint8Array(await answer.arrayBuffer())) as Body
  expect(runs[0]).toMatchObject({ job: { args: { n: 1 } }, run: { attempt: 1 } })
})
