import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encodeValue } from '../../src/core/codec/value.ts'
import { SidejobError } from '../../src/core/errors.ts'
import type { RunHook, RunReport } from '../../src/engine/run/report.ts'
import { defineWorker, type Job } from '../../src/index.ts'
import { type Client, createClient } from '../../src/redis/client.ts'
import { drain } from '../../src/testing/index.ts'
import { type Kit, startKit } from '../kit/index.ts'

const MIB = 1_048_576
const large = (bytes: number) => 'x'.repeat(bytes)
const retry = { max: 1, backoff: { base: 0 } }

const workers = [
  defineWorker({
    class: 'throws',
    perform(job: Job) {
      job.log('charging')
      job.log({ message: 'card', last4: '4242' })
      throw new Error('declined')
    },
  }),
  defineWorker({ class: 'spawns', perform: (job: Job) => job.spawn('mail', 'send-mail' as never, { args: 1 }) }),
  defineWorker({ class: 'nowhere', perform: (job: Job) => job.op({ op: 'write', to: {}, values: ['1'] } as never) }),
  defineWorker({
    class: 'late',
    timeout: 50,
    async perform(job: Job) {
      job.log('waiting')
      await new Promise((resolve) => setTimeout(resolve, 500))
    },
  }),
  defineWorker({
    class: 'talks',
    perform(job: Job) {
      for (let n = 0; n < 1_500; n++) job.log(`line ${n}`)
      throw new Error('enough')
    },
  }),
  defineWorker({
    class: 'refused',
    perform(job: Job) {
      job.log('before')
      job.publish('/x', 1)
      job.op({ op: 'write', to: { job: 999_999, in: 'in' }, values: [encodeValue(1)] })
      job.log('after')
    },
  }),
  defineWorker({ class: 'big state', retry, perform: (job: Job) => job.set({ page: large(2 * MIB) }) }),
  defineWorker({ class: 'big result', retry, perform: () => large(2 * MIB) }),
  defineWorker({
    class: 'big port',
    retry,
    out: { pages: {} },
    perform: (job: Job) => job.write('pages', large(2 * MIB)),
  }),
  defineWorker({
    class: 'big sum',
    retry,
    perform(job: Job) {
      for (let n = 0; n < 12; n++) job.set({ [`f${n}`]: large(800_000 + n) })
    },
  }),
  defineWorker({ class: 'good', perform: (job: Job) => job.set({ done: true }) }),
  defineWorker({ class: 'poison', retry, perform: (job: Job) => job.set({ what: 'POISON' }) }),
  defineWorker({
    class: 'pest',
    retry,
    perform() {
      throw new Error('PEST')
    },
  }),
  defineWorker({ class: 'plague', retry, perform: (job: Job) => job.set({ what: 'PLAGUE' }) }),
]

let kit: Kit
let inner: Client
let spoiled: (script: string, words: string) => boolean = () => false
const fault = () =>
  new SidejobError('INTERNAL', 'a script failed in Redis', {
    cause: new Error(`ERR lib/runtime/numbers.lua:14: table index is NaN near "what a user gave" ${large(2_000)}`),
  })
const client: Client = {
  async evaluate(script, keys, args, rest) {
    if (script.name.startsWith('commit') && spoiled(script.name, rest.join('\n'))) throw fault()
    return inner.evaluate(script, keys, args, rest)
  },
  listen: (...given) => inner.listen(...given),
  ask: (...given) => inner.ask(...given),
}

beforeAll(async () => {
  kit = await startKit({ workers, hold: true, redis: client })
  inner = createClient(kit.options)
})
afterAll(() => kit.close())

const play = () => drain(kit.engine, { errors: 'keep' })

async function logOf(id: number): Promise<unknown[]> {
  const { entries } = await kit.engine.log.read({ job: String(id) })
  return entries.map(({ level, entry }) => [level, JSON.parse(entry)]).reverse()
}

const errorOf = async (id: number) =>
  JSON.parse(((await kit.engine.jobs.get(String(id))) as { error?: string }).error ?? 'null')

describe('a failing run keeps its log entries', () => {
  test('from before it threw', async () => {
    const id = await kit.make('throws')
    await play()
    expect(await logOf(id)).toMatchObject([
      ['info', { message: 'charging' }],
      ['info', { message: 'card', last4: '4242' }],
      ['error', { error: 'declined' }],
    ])
  })

  test('from before its timeout', async () => {
    const id = await kit.make('late')
    await play()
    expect(await logOf(id)).toMatchObject([
      ['info', { message: 'waiting' }],
      ['error', {}],
    ])
  })

  test('up to the last 1,000 entries', async () => {
    const id = await kit.make('talks', { history: 5 })
    await play()
    const entries = await logOf(id)
    expect(entries.slice(-2)).toMatchObject([
      ['info', { message: 'line 1499' }],
      ['error', { error: 'enough' }],
    ])
  })

  test('if Redis refuses its changes', async () => {
    const id = await kit.make('refused')
    await play()
    expect(await kit.statusOf(id)).toBe('failed')
    const entries = (await logOf(id)).map((entry) => JSON.stringify(entry)).sort()
    expect(entries).toEqual([
      expect.stringContaining('"error"'),
      expect.stringContaining('"after"'),
      expect.stringContaining('"before"'),
    ])
  })

  test('if a pull worker reports the failure', async () => {
    await kit.engine.workers.register('pulled', 'work', { pull: true })
    const id = await kit.make('work', { queue: 'pulled' })
    const [run] = await kit.engine.runs.claim('pulled', {})
    const ops = [{ op: 'log' as const, entry: encodeValue({ message: 'from afar' }) }]
    await kit.engine.runs.commit(run!.run.token, { end: 'failed', error: { message: 'no', retry: false }, ops })
    expect(await logOf(id)).toMatchObject([
      ['info', { message: 'from afar' }],
      ['error', { error: 'no' }],
    ])
  })
})

describe('a run with too many changes', () => {
  test.each([
    ['big state', 'state field "page": expected at most 1048576 bytes, got 2097154'],
    ['big result', 'the result: expected at most 1048576 bytes, got 2097154'],
    ['big port', 'output port "pages": expected at most 1048576 bytes, got 2097154'],
    ['big sum', /changes of at most 8388608 bytes in all, got \d+; the largest is state field "f\d+" with 80\d+/],
  ])('%s fails at its first attempt, and its error names the part and the maximum', async (name, says) => {
    const id = await kit.make(name, { keepResult: true })
    await play()
    const { message } = await errorOf(id)
    expect(message).toMatch(/^the changes of this run are too large: /)
    if (typeof says === 'string') expect(message).toContain(says)
    else expect(message).toMatch(says)
    expect(await kit.engine.jobs.get(String(id))).toMatchObject({ status: 'failed', attempt: 1 })
  })
})

describe('a schedule whose run cannot be committed ran again at once, without end', () => {
  test.each(['big state', 'poison'])('%s: it fails once, and waits for its next slot', async (name) => {
    spoiled = (_, words) => words.includes('POISON')
    const id = await kit.make(name, { repeat: 'HOURLY', retry: { max: 0 } })
    const job = String(id)
    await kit.engine.dispatch('default', '')
    expect(await kit.engine.jobs.get(job)).toMatchObject({ status: 'queued', attempt: 0 })
    const after = await kit.engine.schedules.get(job)
    expect(after).toMatchObject({ failing: true })
    expect(after.nextAt).toBeGreaterThan(kit.now())
    await kit.engine.schedules.end(job)
    await kit.engine.jobs.remove(job, { force: true })
  })
})

describe('a call without a required argument was lost ten times', () => {
  test.each([
    ['spawns', 'spawn: worker: expected a worker or { queue, class }, got "send-mail"'],
    ['nowhere', 'a change of this run lacks a required argument'],
  ])('%s: the run fails with the reason, and the other runs complete', async (name, says) => {
    const good = await kit.make('good')
    const id = await kit.make(name, { retry: { max: 0 } })
    await play()
    expect(await kit.statusOf(good)).toBe('completed')
    expect(await kit.engine.jobs.get(String(id))).toMatchObject({ status: 'failed', attempt: 1, lost: 0 })
    expect((await errorOf(id)).message).toBe(says)
  })
})

describe('a script that fails as a whole', () => {
  test('fails its run with the reason and without values, and the other runs of the batch complete', async () => {
    spoiled = (_, words) => words.includes('POISON')
    const good = await Promise.all(Array.from({ length: 9 }, () => kit.make('good')))
    const id = await kit.make('poison')
    await play()
    expect(await Promise.all(good.map(kit.statusOf))).toEqual(good.map(() => 'completed'))
    const { message } = await errorOf(id)
    expect(message).toMatch(/^A script failed in Redis: ERR lib\/runtime\/numbers\.lua:14: table index is NaN near "…"/)
    expect(message.length).toBeLessThan(400)
    expect(message).not.toContain('a user')
    const errors = (await logOf(id)).filter((entry) => JSON.stringify(entry).includes('table index is NaN'))
    expect(errors).toHaveLength(2)
    expect(await kit.engine.jobs.get(String(id))).toMatchObject({ status: 'failed', attempt: 2 })
  })

  test('for each failure of a run fails the job with the reason, and the log has the run’s error', async () => {
    spoiled = (_, words) => /failed\n\d+\n\d+\nerror\n\{"message":"PEST/.test(words)
    const good = await kit.make('good')
    const id = await kit.make('pest')
    await play()
    expect(await kit.statusOf(good)).toBe('completed')
    expect(await errorOf(id)).toMatchObject({ message: expect.stringContaining('table index is NaN') })
    expect(JSON.stringify(await logOf(id))).toContain('PEST')
    expect(await kit.statusOf(id)).toBe('failed')
  })

  test('in every commit of a run is named in the log, and the other runs complete', async () => {
    const good = await kit.make('good')
    const id = await kit.make('plague')
    const token = new RegExp(`^${id}\\.`, 'm')
    spoiled = (_, words) => token.test(words)
    await kit.engine.dispatch('default', '')
    expect(await kit.statusOf(good)).toBe('completed')
    expect(await logOf(id)).toMatchObject([
      ['error', { error: expect.stringMatching(/^the run could not be committed: A script failed in Redis: ERR lib/) }],
    ])
    spoiled = () => false
    await kit.advance(60_000)
    await kit.engine.tick()
    expect((await logOf(id)).at(-1)).toMatchObject(['error', { message: expect.stringContaining('run lost') }])
    await play()
  })
})

test('if Redis refuses the commit of a run, its hook is called again with the error', async () => {
  const reports: RunReport[] = []
  const hook: RunHook = async (_, perform) => {
    const report = await perform()
    if (report) reports.push(report)
  }
  const other = await startKit({ workers, hook })
  try {
    const { jobs } = await other.engine.jobs.enqueue([{ queue: 'default', class: 'refused', retry: { max: 0 } }])
    const id = jobs[0]!.id
    await other.until(async () => (await other.statusOf(id)) === 'failed')
    await other.until(() => reports.length === 2)
    expect(reports).toMatchObject([
      { job: id, outcome: 'completed' },
      { job: id, outcome: 'failed', error: { message: expect.stringContaining('999999') } },
    ])
  } finally {
    await other.close()
  }
})
