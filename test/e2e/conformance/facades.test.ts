import { decode, encode } from '@msgpack/msgpack'
import { describe, expect, test } from 'vitest'
import { type Body, type Call, eventually, useServer, useStack } from './kit.ts'

const stack = useStack()
const { ask, done, get } = stack

describe('Bedrock::Jobs', () => {
  const run = (name: string, parameters: Body = {}) => ask(`POST /bedrock/${name}`, parameters)
  const status = ({ headers }: { headers: Headers }) => headers.get('x-bedrock-status')

  test('the sample session of its document', async () => {
    const made = await run('CreateJob', { name: 'foo', data: { value: 1 }, repeat: 'finished, +1 minute' })
    expect([made.status, made.body]).toEqual([200, { jobID: expect.any(Number) }])
    const { jobID } = made.body
    expect((await run('GetJob', { name: 'foo' })).body).toMatchObject({ data: { value: 1 }, jobID, name: 'foo' })
    expect(await run('UpdateJob', { jobID, data: { value: 2 } })).toMatchObject({ status: 200 })
    expect((await run('QueryJob', { jobID })).body).toMatchObject({
      data: { value: 2 },
      jobID,
      name: 'foo',
      state: 'RUNNING',
    })
    expect(await run('FinishJob', { jobID, data: { value: 3 } })).toMatchObject({ status: 200 })
    const none = await run('GetJob', { name: 'foo' })
    expect([none.status, none.body.code, status(none)]).toEqual([404, 404, '404 No job found'])
    await done('POST /v1/test/clock', { advance: 61 })
    expect((await run('GetJob', { name: 'foo' })).body).toMatchObject({ data: { value: 3 }, jobID })
  })

  test('parameters may be headers, and upper and lower case do not matter in headers and commands', async () => {
    const headers = { name: 'headers/one', DATA: '{"a":1}', JobPriority: '1000' }
    const made = await ask('POST /bedrock/createjob', undefined, { headers })
    expect(made.status).toBe(200)
    const got = await ask('POST /bedrock/GETJOB', undefined, { headers: { Name: 'headers/*' } })
    expect(got.body).toMatchObject({ jobID: made.body.jobID, data: { a: 1 }, priority: 1000 })
  })

  test.each([
    ['CreateJob', {}, 402, 'Missing name'],
    ['GetJob', {}, 402, 'Missing name'],
    ['QueryJob', {}, 402, 'Missing jobID'],
    ['QueryJob', { jobID: 999999 }, 404, 'No job'],
    ['FinishJob', { jobID: 999999 }, 404, 'No job'],
    ['GetJob', { name: 'nobody' }, 404, 'No job found'],
    ['CreateJob', { name: 'x', data: '[1]' }, 402, 'Data is not a valid JSON Object'],
    ['CreateJob', { name: 'x', repeat: 'sometimes' }, 402, 'Malformed repeat'],
    ['CreateJob', { name: 'x', firstRun: 'soon' }, 402, 'Malformed firstRun'],
  ])('%s %j is %i %s', async (name, parameters, code, text) => {
    const answer = await run(name, parameters)
    expect(answer.status).toBe(code)
    expect(answer.body).toEqual({ code, message: expect.stringContaining(`${code} ${text}`) })
    expect(status(answer)).toContain(`${code} ${text}`)
  })

  test('CreateJobs creates a list, and GetJobs takes several jobs, larger priorities first', async () => {
    const jobs = [0, 500, 1000].map((jobPriority) => ({ name: 'many/x', jobPriority }))
    const { body } = await run('CreateJobs', { jobs })
    expect(body.jobIDs).toHaveLength(3)
    const got = await run('GetJobs', { name: 'many/*', numResults: 2 })
    expect(got.body.jobs.map(({ jobID }: Body) => jobID)).toEqual([body.jobIDs[2], body.jobIDs[1]])
  })

  test('unique returns the existing id, and updates its data', async () => {
    const first = await run('CreateJob', { name: 'unique/x', unique: true, data: { n: 1 } })
    const second = await run('CreateJob', { name: 'unique/x', unique: true, data: { n: 2 } })
    expect(second.body).toEqual(first.body)
    expect((await run('QueryJob', first.body)).body.data).toEqual({ n: 2 })
  })

  test('Connection: wait returns the next job, or 303 if no job arrives', async () => {
    const asked = run('GetJob', { name: 'waited', Connection: 'wait', timeout: 10_000 })
    await new Promise((resolve) => setTimeout(resolve, 300))
    const { body } = await run('CreateJob', { name: 'waited' })
    expect((await asked).body).toMatchObject(body)
    const none = await run('GetJob', { name: 'waited', Connection: 'wait', timeout: 300 })
    expect([none.status, status(none)]).toEqual([303, '303 Timeout'])
  })

  test('a parent waits for its children', async () => {
    const parent = (await run('CreateJob', { name: 'parent' })).body.jobID
    await run('GetJob', { name: 'parent' })
    const child = (await run('CreateJob', { name: 'child', parentJobID: parent })).body.jobID
    expect((await run('QueryJob', { jobID: child })).body.state).toBe('PAUSED')
    await run('FinishJob', { jobID: parent })
    expect((await run('QueryJob', { jobID: parent })).body.state).toBe('PAUSED')
    expect((await run('GetJob', { name: 'child' })).body.jobID).toBe(child)
    await run('FinishJob', { jobID: child })
    const again = await run('GetJob', { name: 'parent' })
    expect(again.body).toMatchObject({ jobID: parent, finishedChildJobs: [expect.objectContaining({ jobID: child })] })
  })

  test('RetryJob delays a job, and FailJob, CancelJob and DeleteJob end it', async () => {
    const make = async () => (await run('CreateJob', { name: 'ends' })).body.jobID
    const jobID = await make()
    await run('GetJob', { name: 'ends' })
    expect((await run('RetryJob', { jobID, delay: 60, data: { again: 1 } })).status).toBe(200)
    expect((await run('GetJob', { name: 'ends' })).status).toBe(404)
    await done('POST /v1/test/clock', { advance: 61 })
    expect((await run('GetJob', { name: 'ends' })).body).toMatchObject({ jobID, data: { again: 1 } })
    expect((await run('FailJob', { jobID })).status).toBe(200)
    expect((await run('QueryJob', { jobID })).body.state).toBe('FAILED')
    expect((await run('DeleteJob', { jobID })).status).toBe(200)
    expect((await run('QueryJob', { jobID })).status).toBe(404)
  })

  test('jobs are ordinary jobs of the queue bedrock', async () => {
    const { jobID } = (await run('CreateJob', { name: 'Seen/x', data: { a: 1 }, jobPriority: 1000 })).body
    expect(await get(jobID)).toMatchObject({ queue: 'bedrock', class: 'Seen/x', args: { a: 1 }, priority: -500 })
  })
})

describe('JQ', () => {
  const answers: Record<string, (call: Call) => unknown> = {}
  const worker = useServer((call, response) =>
    response
      .writeHead(200, { 'content-type': 'application/msgpack' })
      .end(encode(answers[call.path.slice(1)]!({ ...call, body: decode(call.bytes) }))),
  )
  const headers = { 'content-type': 'application/msgpack' }
  const register = async (name: string, answer: (call: Call) => unknown) => {
    answers[name] = answer
    expect((await ask(`PUT /jq/workers/${name}`, { url: `${worker.url}/${name}` }, { headers })).status).toBe(200)
  }
  const push = (job: Body) => ask('POST /jq/jobs', job, { headers })
  const success = (result: unknown) => ({ type: 'success', finished_at: new Date().toISOString(), result })

  test('a pushed job calls its worker, and its result can be read once', async () => {
    let called: Body
    await register('add', ({ body }) => {
      called = body
      return success(body.argument.reduce((a: number, b: number) => a + b))
    })
    const { status, body, headers: given } = await push({ name: 'add', argument: [1, 2, 3], keep_result: true })
    expect([status, body, given.get('content-type')]).toEqual([
      201,
      { id: expect.stringMatching(/^\d+$/) },
      'application/vnd.msgpack',
    ])
    const result = await eventually(async () => {
      const answer = await ask(`GET /jq/jobs/${body.id}/result`)
      expect(answer.status).toBe(200)
      return answer.body
    })
    expect(called).toEqual({ id: body.id, name: 'add', argument: [1, 2, 3], attempt: expect.any(Number), timeout: 30 })
    expect(result).toMatchObject({ type: 'success', result: 6, finished_at: expect.any(String) })
    expect(await ask(`GET /jq/jobs/${body.id}/result`)).toMatchObject({ status: 200, body: null })
  })

  test('a result is 202 until the job ends, and 404 for an unknown job', async () => {
    await register('slow', () => success(1))
    await done('PATCH /v1/queues/jq', { paused: true })
    const { body } = await push({ name: 'slow', argument: null, keep_result: true })
    expect(await ask(`GET /jq/jobs/${body.id}/result`)).toMatchObject({ status: 202, body: { state: 'queued' } })
    await done('PATCH /v1/queues/jq', { paused: false })
    expect((await ask('GET /jq/jobs/999999/result')).status).toBe(404)
  })

  test('a failure is retried max_retry times, or not at all if should_retry is false', async () => {
    let calls = 0
    await register('failing', () => {
      calls += 1
      return {
        type: 'failure',
        reason: 'other',
        finished_at: new Date().toISOString(),
        should_retry: false,
        error: { code: 7 },
        message: 'no',
      }
    })
    const { body } = await push({ name: 'failing', argument: {}, keep_result: true, max_retry: 5 })
    const result = await eventually(async () => {
      const answer = await ask(`GET /jq/jobs/${body.id}/result`)
      expect(answer.status).toBe(200)
      return answer.body
    })
    expect(result).toMatchObject({ type: 'failure', reason: 'other', error: { code: 7 }, message: 'no' })
    expect(calls).toBe(1)
  })

  test('a client can request JSON', async () => {
    await register('json', () => success('text'))
    const { status, body } = await ask('POST /jq/jobs', { name: 'json', argument: { a: [] } })
    expect([status, body]).toEqual([201, { id: expect.stringMatching(/^\d+$/) }])
  })

  test.each<[string, Body, number]>([
    ['an unserved name', { name: 'nobody', argument: 1 }, 422],
    ['no name', { argument: 1 }, 400],
    ['a priority beyond 32 bits', { name: 'json', argument: 1, priority: 2 ** 31 }, 400],
    ['a negative max_retry', { name: 'json', argument: 1, max_retry: -1 }, 400],
  ])('%s is refused', async (_, job, status) => {
    expect((await push(job)).status).toBe(status)
  })

  test('unknown members are ignored', async () => {
    await register('ignoring', () => success(1))
    expect((await push({ name: 'ignoring', argument: 1, colour: 'red' })).status).toBe(201)
  })

  test('a constraint limits the rate of matching jobs', async () => {
    const at: number[] = []
    await register('rated', () => {
      at.push(Date.now())
      return success(1)
    })
    const { status } = await ask(
      'PUT /jq/constraints/rated',
      { match: { name: 'rated', argument: { host: 'a' } }, rate: { limit: 1, period: 1 } },
      { headers },
    )
    expect(status).toBe(200)
    for (let n = 0; n < 2; n++) await push({ name: 'rated', argument: { host: 'a' } })
    await eventually(() => expect(at).toHaveLength(2))
    expect(at[1]! - at[0]!).toBeGreaterThan(900)
    expect((await ask('DELETE /jq/constraints/rated')).status).toBe(200)
  })

  test('clients and workers have OpenAPI documents', async () => {
    for (const path of ['/jq/openapi.json', '/jq/worker.openapi.json'])
      expect((await done(`GET ${path}`, undefined, { headers: { accept: 'application/json' } })).openapi).toBe('3.1.0')
  })
})

describe('Downloader', () => {
  const told: Body[] = []
  const server = useServer((call, response) => {
    if (call.path === '/file')
      return response.writeHead(200, { 'content-type': 'text/plain' }).end('content of the file')
    if (call.path === '/missing') return response.writeHead(404).end()
    told.push(JSON.parse(Buffer.from(call.bytes).toString()))
    return response.end()
  })
  const submit = (more: object = {}) =>
    ask('POST /downloader/download', {
      aggr_id: 'shop',
      aggr_limit: 2,
      url: `${server.url}/file`,
      callback_url: `${server.url}/done`,
      ...more,
    })

  test('a callback contains the address of the file', async () => {
    const { status, body } = await submit({ extra: 'mine' })
    expect([status, body]).toEqual([201, { id: expect.stringMatching(/^[A-Za-z0-9_-]{14}$/) }])
    const call = await eventually(() => {
      const found = told.find(({ job_id }) => job_id === body.id)
      expect(found).toBeDefined()
      return found
    })
    expect(call).toMatchObject({
      success: true,
      error: '',
      extra: 'mine',
      resource_url: `${server.url}/file`,
      response_code: 200,
    })
    expect(await (await fetch(call.download_url)).text()).toBe('content of the file')
  })

  test('a failure sends a callback too', async () => {
    const { body } = await submit({ url: `${server.url}/missing`, max_retries: 0 })
    const call = await eventually(() => {
      const found = told.find(({ job_id }) => job_id === body.id)
      expect(found).toBeDefined()
      return found
    })
    expect(call).toMatchObject({ success: false, response_code: 404, download_url: '' })
    expect(call.error).not.toBe('')
  })

  test.each([
    ['no url', { url: undefined }, 400],
    ['no aggregation', { aggr_id: '' }, 400],
    ['no limit', { aggr_limit: 0 }, 400],
    ['no callback', { callback_url: undefined }, 400],
    ['a proxy', { aggr_proxy: 'http://proxy' }, 400],
    ['a url that is none', { url: 'ftp://x' }, 400],
  ])('%s is refused', async (_, more, status) => {
    const answer = await submit(more)
    expect([answer.status, answer.body]).toEqual([
      status,
      { error: expect.any(String), ...(answer.body.field && { field: expect.any(String) }) },
    ])
  })

  test('hb needs no key, and stats and aggregations are JSON', async () => {
    expect(await ask('GET /downloader/hb', undefined, { key: null })).toMatchObject({ status: 200, body: 'OK' })
    expect((await done('GET /downloader/stats/processor')).alive).toBe(1)
    expect(await done('GET /downloader/dashboard/aggregations')).toEqual(expect.any(Array))
    expect((await ask('GET /downloader/stats/nothing')).status).toBe(404)
    expect((await ask('GET /downloader/download')).status).toBe(405)
  })

  test('a download is a job of the queue downloader', async () => {
    await submit()
    const { jobs } = await done('GET /v1/jobs?queue=downloader&limit=1')
    expect(jobs[0]).toMatchObject({ queue: 'downloader', class: 'download', group: 'shop' })
  })
})
