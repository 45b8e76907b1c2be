import { randomBytes } from 'node:crypto'
import { Redis } from '@upstash/redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Worker } from '../../src/core/worker.ts'
import { createEngine } from '../../src/engine/index.ts'
import { defineWorker, port } from '../../src/index.ts'
import { exported, imported, type Line } from '../../src/redis/backup.ts'
import { createClient } from '../../src/redis/client.ts'
import { drain } from '../../src/testing/drain.ts'
import { rehearse } from '../../src/testing/index.ts'
import { clientOf } from '../kit/client.ts'
import { type Kit, startKit } from '../kit/index.ts'
import { startReceiver } from '../kit/receiver.ts'

const MARK = 'M4rk3r'
const mark = (what: string) => `${MARK} ${what}`
const long = (what: string) => ({ [what]: mark(what).repeat(90) })

const [first, second] = [randomBytes(32), randomBytes(32)]

const seen: Record<string, unknown> = {}
const busy = defineWorker({
  class: 'busy',
  in: {
    cards: port(),
    more: port(undefined, { default: mark('default') }),
    heard: port(undefined, { channels: ['news'] }),
  },
  out: { done: port(), sent: port(undefined, { channels: ['results'] }) },
  history: 5,
  retry: { max: 3, backoff: { base: 1 } },
  async perform(job) {
    if (job.get('small') !== undefined) return long('result')
    if (job.attempt === 1) throw Object.assign(new Error(mark('error')), { detail: mark('detail') })
    seen.args = job.args
    seen.step = await job.step('charge', () => mark('step'))
    seen.card = await job.read('cards')
    seen.more = await job.read('more')
    job.set({ small: mark('state'), large: long('state') })
    job.write('done', mark('written'))
    job.write('sent', mark('published'))
    job.log({ note: mark('logged') })
    job.spawn('child', { class: 'echo' }, { args: mark('child args'), inputs: { in: [mark('child input')] } })
    job.progress(mark('progress'))
    return long('result')
  },
})
const echo = defineWorker({
  class: 'echo',
  in: { in: port() },
  out: { out: port() },
  async perform(job) {
    if (job.hasData('in')) job.write('out', await job.read('in'))
    return job.args
  },
})
const waiting = defineWorker({
  class: 'waiting',
  async perform(job) {
    await job.step('kept', () => mark('step that is kept'))
    await job.sleep('1 day')
  },
})

const workers = [busy, echo, waiting]

let kit: Kit
let redis: Redis
beforeAll(async () => {
  kit = await startKit({ workers, encryptionKeys: [first] })
  redis = new Redis({ ...kit.options, automaticDeserialization: false })
})
afterAll(() => kit.close())

async function linesOf(namespace: string): Promise<Line[]> {
  const lines: Line[] = []
  for await (const line of exported({ client: createClient(kit.options), namespace })) lines.push(line)
  return lines
}

const everything = async () => JSON.stringify(await linesOf(''))
const textOf = (value: unknown) => JSON.parse(String(value)) as unknown

const withKeys = (...encryptionKeys: Uint8Array[]) => createEngine({ ...kit.engineOptions, workers, encryptionKeys })

test('users’ values are unreadable in Redis, and readable by permitted callers', async () => {
  const { engine } = kit
  const receiver = await startReceiver()
  const heard: string[] = []
  const listening = new AbortController()
  const stream = (async () => {
    for await (const { message } of await engine.channels.subscribe(['/sidejob/log', 'results'], listening.signal))
      heard.push(message)
  })().catch(() => undefined)
  await kit.until(async () => (await redis.get(kit.store.keys.listened)) !== null)
  const id = await kit.make('busy', {
    args: JSON.stringify({ card: mark('args'), ...long('args') }),
    inputs: { cards: [JSON.stringify(mark('input')), JSON.stringify(long('input'))] },
    callback: { url: `${receiver.url}/hook`, headers: { 'x-token': mark('header') }, secret: mark('secret') },
    keepResult: true,
  })
  const sleeping = await kit.make('waiting')
  await kit.until(async () => (await engine.jobs.get(String(sleeping))).runAt !== null)
  await kit.rest(id, 'completed')
  const job = String(id)
  expect(seen).toEqual({
    args: { card: mark('args'), ...long('args') },
    step: mark('step'),
    card: mark('input'),
    more: mark('default'),
  })
  await kit.until(() => receiver.came.length > 0)
  const asked = await kit.make('echo', { args: JSON.stringify(long('result')), keepResult: true })
  await kit.rest(asked, 'completed')
  const made = await kit.make('echo', { at: Date.now() + 1e8 })
  const later = String(made)
  await engine.channels.publish('results', JSON.stringify(mark('message')))
  await engine.channels.publish('till', JSON.stringify(mark('kept message')), { keep: 1 })
  await engine.jobs.setState(later, { set: { by_hand: JSON.stringify(mark('by hand')) } })
  await engine.jobs.update(later, { args: JSON.stringify({ patched: mark('patched') }) })
  await engine.ports.write(later, 'in', 'in', [JSON.stringify(mark('late input'))])
  await engine.ports.setDefault(later, 'in', 'in', JSON.stringify(mark('other default')))
  await engine.log.write(JSON.stringify(mark('by a caller')))

  expect(await everything()).not.toContain(MARK)

  const till = (await engine.channels.list({ last: true })).channels.find(({ name }) => name === 'till')!
  expect(textOf(till.last!.message)).toBe(mark('kept message'))
  const changed = await engine.jobs.get(later)
  expect(textOf(changed.args)).toEqual({ patched: mark('patched') })
  expect(textOf(changed.in.in!.default)).toBe(mark('other default'))
  expect(textOf((await engine.jobs.state(later)).by_hand)).toBe(mark('by hand'))
  const view = await engine.jobs.get(job)
  const state = await engine.jobs.state(job)
  expect(textOf(state.small)).toBe(mark('state'))
  expect(textOf(state.large)).toEqual(long('state'))
  const { values: written } = await engine.ports.get(job, 'out', 'done')
  expect(textOf(written[0]!.data)).toBe(mark('written'))
  const { values: left } = await engine.ports.take(job, 'in', 'cards', { max: 1 })
  expect(textOf(left[0]!.data)).toEqual(long('input'))
  const child = view.children.child!.id
  expect(textOf((await engine.jobs.get(String(child))).args)).toBe(mark('child args'))
  const { runs } = await engine.jobs.runs(job)
  expect(JSON.stringify(runs)).toContain(mark('error'))
  const { entries } = await engine.log.read({})
  for (const what of ['logged', 'error', 'by a caller'])
    expect(entries.map(({ entry }) => entry).join()).toContain(mark(what))
  const answer = await engine.jobs.result(String(asked), { take: true })
  expect(answer.ended && answer.result?.type === 'success' && textOf(answer.result.result)).toEqual(long('result'))
  expect(JSON.stringify(receiver.came[0]!.body)).toContain(mark('result'))
  expect(receiver.came[0]!.headers['x-token']).toBe(mark('header'))
  await kit.until(() => heard.join().includes(mark('logged')))
  const logged = heard.map((text) => textOf(text) as Record<string, unknown>)
  expect(logged).toContainEqual({ timestamp: expect.any(Number), job: id, note: mark('logged') })
  expect(logged).toContainEqual(expect.objectContaining({ job: id, error: mark('error') }))
  expect(heard.join()).toContain(mark('published'))
  listening.abort()
  await stream
  await receiver.close()
})

test('a manual run reports its error as it was thrown', async () => {
  const failing = defineWorker({ class: 'failing', perform: () => Promise.reject(new Error(mark('by hand'))) })
  const alone = await startKit({ workers: [failing], encryptionKeys: [first], hold: true })
  await alone.make('failing')
  await expect(drain(alone.engine, { errors: 'keep' })).resolves.toMatchObject([
    { status: 'failed', error: { message: mark('by hand') } },
  ])
  await alone.close()
})

describe('after a change of keys', () => {
  test('old values are readable while their key exists, and new values use the first key', async () => {
    const id = await kit.make('echo', { args: JSON.stringify(mark('old')), at: Date.now() + 1e8 })
    const rotated = withKeys(second, first)
    expect(textOf((await rotated.jobs.get(String(id))).args)).toBe(mark('old'))
    await rotated.jobs.update(String(id), { args: JSON.stringify(mark('new')) })
    await expect(kit.engine.jobs.get(String(id))).resolves.toMatchObject({
      args: expect.stringMatching(/^\{"\$sealed":"~f/),
    })
    expect(textOf((await withKeys(second).jobs.get(String(id))).args)).toBe(mark('new'))
  })

  test('values stored before the first key are read unchanged', async () => {
    const id = await createEngine({ ...kit.engineOptions, workers, encryptionKeys: [] })
      .jobs.enqueue([{ queue: 'default', class: 'echo', args: JSON.stringify('open'), at: Date.now() + 1e8 } as never])
      .then(({ jobs }) => jobs[0]!.id)
    expect(textOf((await kit.engine.jobs.get(String(id))).args)).toBe('open')
  })
})

describe('without a key', () => {
  test('a run with sealed values fails and names the setting, and other runs are not affected', async () => {
    const other = withKeys(second)
    const make = async (engine: typeof other) =>
      (
        await engine.jobs.enqueue([
          { queue: 'default', class: 'echo', args: JSON.stringify(mark('x')), retry: { max: 0 } } as never,
        ])
      ).jobs[0]!.id
    const [theirs, ours] = [await make(other), await make(kit.engine)]
    await kit.rest(theirs, 'failed')
    await kit.rest(ours, 'completed')
    const { error } = await kit.engine.jobs.get(String(theirs))
    expect(textOf(error)).toMatchObject({
      message: expect.stringMatching(
        /this value was encrypted with key [\w-]{8}: expected that key in SIDEJOB_ENCRYPTION_KEY, got only [\w-]{8}$/,
      ),
    })
    expect(textOf((await other.jobs.get(String(theirs))).args)).toBe(mark('x'))
  })
})

test('why and the steps of a job whose key is missing answer with the cause instead of 422', async () => {
  const id = await kit.make('waiting', { args: JSON.stringify(mark('args')) })
  await kit.until(async () => (await kit.engine.jobs.get(String(id))).runAt !== null)
  const later = await kit.make('echo', { args: JSON.stringify(mark('args')), at: Date.now() + 1e8 })
  const other = clientOf(withKeys(second))
  const encrypted = (what: string) => ({
    code: 'ENCRYPTED',
    message: expect.stringMatching(
      new RegExp(`^its ${what} were encrypted with key [\\w-]{8}, which is missing; add it to SIDEJOB_ENCRYPTION_KEY$`),
    ),
  })
  expect((await other.jobs.why(id)).reasons).toMatchObject([{ code: 'PAUSED_UNTIL' }, encrypted('steps')])
  expect((await other.jobs.why(later)).reasons).toMatchObject([{ code: 'DUE' }, encrypted('args')])
  expect((await clientOf(kit.engine).jobs.why(later)).reasons).toMatchObject([{ code: 'DUE' }])
  expect((await other.jobs.steps(id)).steps).toMatchObject([{ name: 'kept' }])
})

test('a rehearsal names sealed values that the server cannot open, and judges no function that reads them', async () => {
  const id = await kit.make('waiting', { args: JSON.stringify(mark('args')) })
  await kit.until(async () => (await kit.engine.jobs.get(String(id))).runAt !== null)
  const { jobs } = await clientOf(withKeys(second)).waiting.list({ class: 'waiting' })
  const job = jobs.find(({ snapshot }) => snapshot.job.id === id)!
  expect(job.masked).toEqual(expect.arrayContaining(['args', 'steps.kept']))
  expect(JSON.stringify(jobs)).not.toContain(MARK)
  const reading = defineWorker({ class: 'waiting', perform: (job) => job.step(String(job.args), () => 1) })
  expect(await rehearse(reading as Worker, job)).toEqual({ is: 'unjudged', why: 'it reads args, which is masked' })
  expect(await rehearse(waiting as Worker, job)).toEqual({
    is: 'unjudged',
    why: expect.stringMatching(/^it reads steps\.(kept|~sleep#1), which is masked$/),
  })
})

test('a reader without the key sees everything else, and copies no sealed value', async () => {
  const { jobs } = await kit.engine.jobs.enqueue([
    {
      queue: 'default',
      class: 'echo',
      args: JSON.stringify(mark('x')),
      callback: { url: 'http://127.0.0.1:9/hook' },
    } as never,
  ])
  const job = String(jobs[0]!.id)
  await kit.rest(jobs[0]!.id, 'completed')
  const other = withKeys(second)
  await kit.until(async () => (await other.callbacks.list({})).callbacks.length > 0)
  expect((await other.callbacks.list({})).callbacks[0]).toMatchObject({ url: '' })
  expect((await other.jobs.list({})).jobs.map(({ id }) => String(id))).toContain(job)
  expect((await other.jobs.rows({})).jobs.length).toBeGreaterThan(0)
  expect((await other.errors.list({})).looked).toBeGreaterThanOrEqual(0)
  await expect(other.jobs.copy(job, {})).rejects.toMatchObject({
    code: 'REFUSED',
    message: `the args of job ${job} cannot be decrypted: add the key that encrypted them to SIDEJOB_ENCRYPTION_KEY`,
  })
  await kit.engine.jobs.terminate(job, { recursive: true }).catch(() => undefined)
})

test('an export is unreadable, and its import is opened by the same key', async () => {
  const id = await kit.make('echo', { args: JSON.stringify(mark('exported')), at: Date.now() + 1e8 })
  const lines = await linesOf('sidejob:')
  expect(JSON.stringify(lines)).not.toContain(MARK)
  await imported(
    { client: createClient(kit.options), namespace: 'copy:' },
    (async function* () {
      yield* lines
    })(),
  )
  const copy = createEngine({ ...kit.engineOptions, workers, namespace: 'copy:' })
  expect(textOf((await copy.jobs.get(String(id))).args)).toBe(mark('exported'))
})

test('a value sealed by one tenant cannot be opened as another tenant', async () => {
  const tenant = (name: string) => createEngine({ ...kit.engineOptions, workers, namespace: 'shared:', tenant: name })
  const { jobs } = await tenant('acme').jobs.enqueue([
    { queue: 'default', class: 'echo', args: JSON.stringify(mark('theirs')), at: Date.now() + 1e8 } as never,
  ])
  expect(textOf((await tenant('acme').jobs.get(String(jobs[0]!.id))).args)).toBe(mark('theirs'))
  expect((await tenant('beta').jobs.get(String(jobs[0]!.id))).args).toMatch(/^\{"\$sealed":"~f/)
})

describe.each([
  ['without a key', []],
  ['with a key', [first]],
])('users’ values that look sealed, %s', (_, encryptionKeys) => {
  const LIKE = '~fAAAAAAAA.abcdef'
  const likely = defineWorker({
    class: 'likely',
    in: { a: port() },
    out: { b: port() },
    retry: { max: 0 },
    async perform(job) {
      if (!job.hasData('a')) return job.suspend()
      await job.step('kept', () => LIKE)
      const value = await job.read('a')
      job.write('b', value)
      job.set({ [LIKE]: LIKE })
      job.log({ $sealed: LIKE, text: LIKE })
      if ((job.args as { fails?: boolean }).fails) throw new Error(LIKE)
      return LIKE
    },
  })
  let own: Kit
  beforeAll(async () => {
    own = await startKit({ workers: [likely], encryptionKeys })
  })
  afterAll(() => own.close())

  test('are stored unchanged in values, names, steps, contexts, results and logs', async () => {
    const { engine } = own
    const id = await own.make('likely', {
      args: JSON.stringify({ x: LIKE, list: [LIKE] }),
      alias: [LIKE],
      createdBy: LIKE,
      keepResult: true,
    })
    const job = String(id)
    await engine.ports.write(job, 'in', 'a', [JSON.stringify(LIKE)], { context: JSON.stringify({ by: LIKE }) as never })
    await own.rest(id, 'completed')
    const view = await engine.jobs.get(LIKE)
    expect([view.id, view.aliases, view.createdBy]).toEqual([id, [LIKE], LIKE])
    expect(textOf(view.args)).toEqual({ x: LIKE, list: [LIKE] })
    expect(textOf((await engine.jobs.state(job))[LIKE])).toBe(LIKE)
    expect(textOf((await engine.ports.get(job, 'out', 'b')).values[0]!.data)).toBe(LIKE)
    const answer = await engine.jobs.result(job, {})
    expect(answer.ended && answer.result?.type === 'success' && textOf(answer.result.result)).toBe(LIKE)
    const { entries } = await engine.log.read({ job })
    expect(entries.map(({ entry }) => textOf(entry))).toContainEqual(
      expect.objectContaining({ $sealed: LIKE, text: LIKE }),
    )
  })

  test('are stored unchanged in errors', async () => {
    const id = await own.make('likely', { args: '{"fails":true}', inputs: { a: ['1'] } })
    await own.rest(id, 'failed')
    const { error } = await own.engine.jobs.get(String(id))
    expect(textOf(error)).toMatchObject({ message: LIKE })
  })
})

describe('a person who can read Redis and use the API cannot open a sealed value', () => {
  const SECRET = '4111-SECRET'
  const hidden = defineWorker({
    class: 'hidden',
    in: { in: port(), kept: port() },
    out: { out: port() },
    redact: ['args', 'in', 'out', 'result', 'error', 'state', 'progress'],
    retry: { max: 0 },
    async perform(job) {
      if (job.args === 'fail') throw new Error(SECRET)
      job.write('out', await job.read('in'))
      job.set({ secret: SECRET })
      job.progress(SECRET)
      await job.step('step', () => SECRET)
      job.log({ note: SECRET })
      return SECRET
    },
  })
  const repeating = defineWorker({
    class: 'repeating',
    in: { in: port(undefined, { channels: ['/heard'] }) },
    perform: (job) => {
      if (job.hasData('in')) job.suspend()
      return job.args
    },
  })
  let own: Kit
  let raw: Redis
  let sealed: string[]
  beforeAll(async () => {
    own = await startKit({ workers: [hidden, repeating], encryptionKeys: [first] })
    raw = new Redis({ ...own.options, automaticDeserialization: false })
    const value = JSON.stringify(SECRET)
    await own.rest(await own.make('hidden', { args: '"fail"' }), 'failed')
    const id = await own.make('hidden', { args: value, inputs: { in: [value], kept: [value] }, keepResult: true })
    await own.rest(id, 'completed')
    const lines: Line[] = []
    for await (const line of exported({ client: createClient(own.options), namespace: '' })) lines.push(line)
    sealed = [...new Set(JSON.stringify(lines).match(/~f[\w-]{8}\.[\w-]+/g))]
    expect(sealed.length).toBeGreaterThan(9)
  })
  afterAll(() => own.close())

  test('by an entry of the log', async () => {
    await own.engine.log.write(JSON.stringify({ m: sealed }))
    for (const one of sealed) await own.engine.log.write(JSON.stringify(one))
    const { entries } = await own.engine.log.read({ limit: 1 + sealed.length })
    expect(entries.map(({ entry }) => textOf(entry)).reverse()).toEqual([
      { m: sealed },
      ...sealed.map((message) => ({ message })),
    ])
  })

  test('by a message of a channel, or by a context or the name of a channel in an entry of /sidejob/log', async () => {
    const heard: { channel: string; message: string }[] = []
    const listening = new AbortController()
    const channels = ['/sidejob/log', '/heard', '/']
    const stream = (async () => {
      for await (const one of await own.engine.channels.subscribe(channels, listening.signal)) heard.push(one)
    })().catch(() => undefined)
    await own.until(async () => (await raw.get(own.store.keys.listened)) !== null)
    const job = String(await own.make('repeating', { at: Date.now() + 1e8 }))
    await own.engine.channels.publish('/heard', JSON.stringify({ m: sealed }))
    await own.engine.channels.publish('/sidejob/log', JSON.stringify({ error: sealed }))
    for (const one of sealed) {
      await own.engine.channels.publish(`/heard/${one.slice(0, 200)}`, '1')
      const context = { $sealed: one, error: one, read: [{ data: [one] }], deep: `"${one}"` }
      await own.engine.ports.write(job, 'in', 'in', ['7'], { context: JSON.stringify(context) as never })
      await own.until(() =>
        heard.some(({ channel, message }) => channel === '/sidejob/log' && message.includes('deep')),
      )
      const last = heard.splice(0)
      expect(JSON.stringify(last)).not.toContain(SECRET)
      const entry = last.find(({ message }) => message.includes('deep'))!
      expect(JSON.parse(entry.message)).toMatchObject({ ...context, read: [], write: [{ data: [7] }] })
    }
    listening.abort()
    await stream
  })

  test('by a result, kept or waited for', async () => {
    const id = await own.make('repeating', { args: JSON.stringify({ m: sealed }), keepResult: true })
    const answer = await own.engine.jobs.result(String(id), { wait: 5_000 })
    expect(answer.ended && answer.result?.type === 'success' && textOf(answer.result.result)).toEqual({ m: sealed })
  })

  test('by a definition of a class', async () => {
    for (const one of sealed) {
      await own.engine.workers.register('default', 'described', {
        pull: true,
        description: one,
        in: { n: { default: JSON.stringify(one) } },
        args: JSON.stringify({ const: one }),
      } as never)
      const found = JSON.stringify(await own.engine.workers.list())
      expect(found).toContain(one)
      expect(found).not.toContain(SECRET)
    }
  })

  test('by moving it to a key with another purpose in Redis', async () => {
    const id = await own.make('repeating', { at: Date.now() + 1e8 })
    const key = own.store.keys.job(id)
    const text = (await raw.get<string>(key))!
    const other = await own.make('hidden', { args: JSON.stringify(SECRET), at: Date.now() + 1e8 })
    const args = JSON.parse((await raw.get<string>(own.store.keys.job(other)))!).a as string
    await raw.set(key, JSON.stringify({ ...JSON.parse(text), 's:field': args, pg: args, 'di:in': `=${args}` }))
    const { progress, in: ports } = await own.engine.jobs.get(String(id))
    const { field } = await own.engine.jobs.state(String(id))
    expect([progress, ports.in!.default, field].map(textOf)).toEqual(Array(3).fill({ $sealed: args }))
  })
})
