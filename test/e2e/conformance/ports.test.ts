import { describe, expect, test } from 'vitest'
import { eventually, useStack } from './kit.ts'

const stack = useStack()
const { ask, done, make, get, pull, claim, commit } = stack

const failed = (code: string) => ({ error: expect.objectContaining({ code, message: expect.any(String) }) })
const look = (id: number, port: string, query = '') => done(`GET /v1/jobs/${id}/${port}${query}`)
const datas = ({ values }: { values: { data: unknown }[] }) => values.map(({ data }) => data)

async function rested(definition: object = { in: { a: {} }, out: { b: {} } }, job: object = {}) {
  const kind = await pull(definition)
  const id = await make({ ...kind, ...job })
  await commit((await claim(kind.queue)).run.token, { end: 'suspended' })
  return { kind, id }
}

describe('GET …/in/:port', () => {
  test('shows size, taken, values, default and channels, and takes no value', async () => {
    const kind = await pull({ in: { a: { default: 9, channels: ['/looked'] } } })
    const id = await make({ ...kind, inputs: { a: [1, [], { x: null }] } })
    const seen = { size: 3, taken: 0, default: 9, channels: ['/looked'] }
    expect(await look(id, 'in/a')).toMatchObject(seen)
    expect(datas(await look(id, 'in/a'))).toEqual([1, [], { x: null }])
    expect(datas(await look(id, 'in/a', '?limit=2'))).toEqual([1, []])
    expect(await look(id, 'in/a')).toMatchObject(seen)
  })

  test('reads and writes of a missing port are refused with 422', async () => {
    const { id } = await rested()
    for (const port of ['in/nope', 'out/nope', 'in/b', 'out/a']) {
      expect([port, (await ask(`GET /v1/jobs/${id}/${port}`)).status]).toEqual([port, 422])
      expect([port, (await ask(`POST /v1/jobs/${id}/${port}`, { value: 1 })).status]).toEqual([port, 422])
    }
  })
})

describe('POST …/in/:port', () => {
  test('writes one value or several, and wakes the job', async () => {
    const { id, kind } = await rested()
    expect((await get(id)).status).toBe('suspended')
    await done(`POST /v1/jobs/${id}/in/a`, { value: { n: 1 } })
    expect((await get(id)).status).toBe('queued')
    await done(`POST /v1/jobs/${id}/in/a`, { values: [2, null, false] })
    expect(datas(await look(id, 'in/a'))).toEqual([{ n: 1 }, 2, null, false])
    const run = await claim(kind.queue)
    expect(run.in.a).toMatchObject({ cursor: 0, more: 0 })
    expect(datas(run.in.a)).toEqual([{ n: 1 }, 2, null, false])
  })

  test('notify: false does not wake the job', async () => {
    const { id } = await rested()
    await done(`POST /v1/jobs/${id}/in/a`, { value: 1, notify: false })
    expect(await get(id)).toMatchObject({ status: 'suspended', in: { a: { size: 1 } } })
  })

  test('setDefault: true keeps the last value as the default', async () => {
    const { id } = await rested()
    await done(`POST /v1/jobs/${id}/in/a`, { values: [1, 2], setDefault: true })
    expect(await look(id, 'in/a')).toMatchObject({ default: 2 })
  })

  test('log: false adds no entry to the log', async () => {
    const { id } = await rested()
    await done(`POST /v1/jobs/${id}/in/a`, { value: 'quietly', log: false })
    expect(JSON.stringify(await done('GET /v1/log?limit=100'))).not.toContain('quietly')
  })

  test.each([
    ['neither value nor values', {}],
    ['both', { value: 1, values: [1] }],
    ['values that are no list', { values: 1 }],
    ['an unknown member', { value: 1, colour: 'red' }],
  ])('%s is refused with 400', async (_, body) => {
    const { id } = await rested()
    expect((await ask(`POST /v1/jobs/${id}/in/a`, body)).status).toBe(400)
  })

  test('input wakes a completed job, and waits at a failed job', async () => {
    const kind = await pull({ in: { a: {} } })
    const id = await make(kind)
    await commit((await claim(kind.queue)).run.token, { end: 'completed' })
    await done(`POST /v1/jobs/${id}/in/a`, { value: 1 })
    expect((await get(id)).status).toBe('queued')
    const { run } = await claim(kind.queue)
    await commit(run.token, { end: 'failed', error: { message: 'no' } })
    await done(`POST /v1/jobs/${id}/in/a`, { value: 2 })
    expect(await get(id)).toMatchObject({ status: 'failed', in: { a: { size: 2 } } })
    const { reasons } = await done(`GET /v1/jobs/${id}/why`)
    expect(JSON.stringify(reasons)).toContain('2 values wait on port a')
  })
})

describe('POST …/out/:port', () => {
  test('wakes the parent and publishes', async () => {
    const parent = await rested()
    const child = await make({
      ...parent.kind,
      parent: parent.id,
      name: 'c',
      wait: '1h',
      out: { b: { channels: ['/outs'] } },
    })
    const listener = await rested({ in: { heard: { channels: ['/outs'] } } })
    await done(`POST /v1/jobs/${child}/out/b`, { value: 5 })
    expect((await get(parent.id)).status).toBe('queued')
    expect(datas(await look(listener.id, 'in/heard'))).toEqual([5])
    expect((await get(listener.id)).status).toBe('queued')
    expect(datas(await look(child, 'out/b'))).toEqual([5])
  })
})

describe('POST …/read', () => {
  test('takes one value, or up to max in order, from outputs and inputs', async () => {
    const { id } = await rested()
    await done(`POST /v1/jobs/${id}/out/b`, { values: [1, 2, 3, 4] })
    expect(await done(`POST /v1/jobs/${id}/out/b/read`)).toEqual({ values: [{ data: 1, context: {} }] })
    expect(datas(await done(`POST /v1/jobs/${id}/out/b/read`, { max: 2 }))).toEqual([2, 3])
    expect(datas(await done(`POST /v1/jobs/${id}/out/b/read`, { max: 10 }))).toEqual([4])
    expect(await done(`POST /v1/jobs/${id}/out/b/read`, { max: 10 })).toEqual({ values: [] })
    expect(await look(id, 'out/b')).toMatchObject({ size: 0, taken: 4 })
    await done(`POST /v1/jobs/${id}/in/a`, { values: ['x', 'y'] })
    expect(datas(await done(`POST /v1/jobs/${id}/in/a/read`, { max: 5 }))).toEqual(['x', 'y'])
  })

  test('returns the default as one value if no value waits', async () => {
    const { id } = await rested({ in: { a: { default: [] } } })
    const { values } = await done(`POST /v1/jobs/${id}/in/a/read`, { max: 3 })
    expect(values).toEqual([expect.objectContaining({ data: [], default: true })])
    expect((await look(id, 'in/a')).taken).toBe(0)
  })

  test('defaults can be set and cleared, and null and false are defaults', async () => {
    const { id } = await rested()
    for (const value of [null, false, 0]) {
      await done(`PUT /v1/jobs/${id}/in/a/default`, { value })
      expect((await look(id, 'in/a')).default).toBe(value)
    }
    expect((await ask(`PUT /v1/jobs/${id}/in/a/default`, {})).status).toBe(400)
    await done(`DELETE /v1/jobs/${id}/in/a/default`)
    expect(await look(id, 'in/a')).not.toHaveProperty('default')
  })
})

describe('PUT /v1/jobs/:job/ports', () => {
  test('replaces the ports that the class does not define, and keeps values at remaining ports', async () => {
    const { id } = await rested()
    await done(`PUT /v1/jobs/${id}/ports`, { in: { x: { default: 1 }, y: {} } })
    await done(`POST /v1/jobs/${id}/in/y`, { value: 'kept' })
    const view = await done(`PUT /v1/jobs/${id}/ports`, { in: { y: {} }, out: { z: { channels: ['/z'] } } })
    expect(Object.keys(view.in).sort()).toEqual(['a', 'y'])
    expect(Object.keys(view.out).sort()).toEqual(['b', 'z'])
    expect(view.in.y.size).toBe(1)
  })

  test('a port * accepts writes to any name', async () => {
    const { id } = await rested({ in: { '*': { default: 'd' } } })
    await done(`POST /v1/jobs/${id}/in/any`, { value: 1 })
    expect(await look(id, 'in/any')).toMatchObject({ size: 1, default: 'd' })
  })
})

describe('POST …/connect', () => {
  test('moves waiting values to other ports', async () => {
    const { id } = await rested()
    const other = await rested()
    await done(`POST /v1/jobs/${id}/out/b`, { values: [1, 2] })
    const to = [
      { job: other.id, in: 'a' },
      { job: id, in: 'a' },
    ]
    await done(`POST /v1/jobs/${id}/out/b/connect`, { to })
    expect((await look(id, 'out/b')).size).toBe(0)
    expect(datas(await look(other.id, 'in/a'))).toEqual([1, 2])
    expect(datas(await look(id, 'in/a'))).toEqual([1, 2])
    expect((await get(other.id)).status).toBe('queued')
  })

  test('refuses a missing port, and moves no value', async () => {
    const { id } = await rested()
    await done(`POST /v1/jobs/${id}/out/b`, { values: [1] })
    const to = [
      { job: id, in: 'a' },
      { job: id, in: 'nope' },
    ]
    expect((await ask(`POST /v1/jobs/${id}/out/b/connect`, { to })).status).toBe(422)
    expect((await look(id, 'out/b')).size).toBe(1)
    expect((await look(id, 'in/a')).size).toBe(0)
  })
})

describe('channels', () => {
  test('a message reaches each listener of its channel and of the channels above it once', async () => {
    const own = await rested({ in: { heard: { channels: ['/news/local'] } } })
    const above = await rested({ in: { heard: { channels: ['/news', '/'] } } })
    const beside = await rested({ in: { heard: { channels: ['/news/other'] } } })
    await done('POST /v1/publish', { channel: '/news/local', message: { n: 1 } })
    expect(datas(await look(own.id, 'in/heard'))).toEqual([{ n: 1 }])
    await eventually(async () => expect(datas(await look(above.id, 'in/heard'))).toContainEqual({ n: 1 }))
    expect((await look(beside.id, 'in/heard')).size).toBe(0)
    const [{ context }] = (await look(own.id, 'in/heard')).values
    expect(context).toMatchObject({ channel: '/news/local' })
  })

  test('GET /v1/channels lists listeners', async () => {
    const { id } = await rested({ in: { heard: {} } })
    await done(`PUT /v1/jobs/${id}/in/heard/channels`, { channels: ['/told'] })
    const { channels } = await done('GET /v1/channels')
    expect(channels).toContainEqual({ name: '/told', subscribers: [{ job: id, port: 'heard' }] })
    await done(`PUT /v1/jobs/${id}/in/heard/channels`, { channels: [] })
    expect((await done('GET /v1/channels')).channels.map(({ name }: { name: string }) => name)).not.toContain('/told')
  })

  test('a channel for the port * is refused', async () => {
    const { id } = await rested({ in: { '*': {} } })
    expect((await ask(`PUT /v1/jobs/${id}/in/*/channels`, { channels: ['/a'] })).status).toBeGreaterThanOrEqual(400)
  })

  test.each([
    ['no channel', { message: 1 }],
    ['no message', { channel: '/a' }],
  ])('publishing %s is refused with 400', async (_, body) => {
    expect((await ask('POST /v1/publish', body)).status).toBe(400)
  })

  async function events(path: string, n: number, then: () => Promise<unknown>, headers: Record<string, string> = {}) {
    const gone = new AbortController()
    const answer = await fetch(`${stack.url}${path}`, {
      signal: gone.signal,
      headers: { authorization: 'Bearer dev', ...headers },
    })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      expect.stringContaining('text/event-stream'),
    ])
    const found: unknown[] = []
    let text = ''
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
    text += (await reader.read()).value
    await new Promise((resolve) => setTimeout(resolve, 100))
    await then()
    while (found.length < n) {
      const { value, done: over } = await reader.read()
      if (over) break
      text += value
      const whole = text.split('\n\n')
      text = whole.pop()!
      for (const event of whole) {
        const data = event.split('\n').filter((line) => line.startsWith('data: '))
        if (data.length) found.push(JSON.parse(data.map((line) => line.slice(6)).join('\n')))
      }
    }
    gone.abort()
    return found
  }

  test('GET /v1/subscribe/a/b subscribes to /a/b and its subchannels', async () => {
    const found = await events('/v1/subscribe/sse/a', 2, async () => {
      await done('POST /v1/publish', { channel: '/sse/b', message: 0 })
      await done('POST /v1/publish', { channel: '/sse/a', message: { n: 1 } })
      await done('POST /v1/publish', { channel: '/sse/a/deep', message: 2 })
    })
    expect(found).toEqual([
      { channel: '/sse/a', message: { n: 1 } },
      { channel: '/sse/a/deep', message: 2 },
    ])
  })

  test('a call without a key is refused with 401', async () => {
    expect((await ask('GET /v1/subscribe/a', undefined, { key: null })).status).toBe(401)
  })

  test('subscribers receive the values that a job writes to an output with channels', async () => {
    const { id } = await rested({ out: { b: { channels: ['/sse/out'] } } })
    const found = await events('/v1/subscribe/sse/out', 1, () => done(`POST /v1/jobs/${id}/out/b`, { value: 'said' }))
    expect(found).toEqual([{ channel: '/sse/out', message: 'said' }])
  })
})

describe('a read that waits', () => {
  test('returns the requested values as soon as they arrive', async () => {
    const { id } = await rested({ out: { b: {} } })
    const reading = done(`POST /v1/jobs/${id}/out/b/read`, { max: 2, wait: '20s' })
    await done(`POST /v1/jobs/${id}/out/b`, { value: 1 })
    await done(`POST /v1/jobs/${id}/out/b`, { value: 2 })
    expect(datas(await reading)).toEqual([1, 2])
    expect(datas(await done(`POST /v1/jobs/${id}/out/b/read`, { wait: 0.1 }))).toEqual([])
  })

  test('returns the existing values when the job has ended', async () => {
    const kind = await pull({ out: { b: {} } })
    const id = await make(kind)
    const reading = done(`POST /v1/jobs/${id}/out/b/read`, { max: 3, wait: '60s' })
    const ops = [{ op: 'write', to: { out: 'b' }, values: [7] }]
    await commit((await claim(kind.queue)).run.token, { end: 'completed', ops })
    expect(datas(await reading)).toEqual([7])
    expect(await ask(`POST /v1/jobs/${id}/out/b/read`, { wait: '61s' })).toMatchObject({ status: 400 })
  })
})

describe('log', () => {
  test('entries are written, and listed page by page, newest first', async () => {
    for (let n = 0; n < 3; n++) await done('POST /v1/log', { entry: { page: n } })
    const pages = (entries: { entry: { page?: number } }[]) => entries.map(({ entry }) => entry.page)
    const first = await done('GET /v1/log?limit=2')
    expect(pages(first.entries)).toEqual([2, 1])
    const second = await done(`GET /v1/log?limit=1&cursor=${first.cursor}`)
    expect(pages(second.entries)).toEqual([0])
  })

  test('a failure is in the log with its level', async () => {
    const kind = await pull()
    const id = await make(kind)
    await commit((await claim(kind.queue)).run.token, { end: 'failed', error: { message: 'aloud' } })
    const { entries } = await done(`GET /v1/log?level=error&job=${id}`)
    expect(JSON.stringify(entries)).toContain('aloud')
    expect((await done(`GET /v1/log?level=info&job=${id}`)).entries).toEqual([])
  })

  test('an unknown job is 404', async () => {
    expect(await ask('GET /v1/log?job=999999')).toMatchObject({ status: 404, body: failed('NOT_FOUND') })
  })
})
