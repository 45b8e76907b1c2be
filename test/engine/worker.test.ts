import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import type { Worker } from '../../src/core/worker.ts'
import { defineWorker, type Job, port, type Steps, Terminal } from '../../src/index.ts'
import type { ClaimedJob } from '../../src/redis/types.ts'
import { type Kit, startKit } from '../kit/index.ts'

const MINUTE = 60_000

const workers: Worker[] = []
const define: typeof defineWorker = (definition) => {
  const worker = defineWorker(definition)
  workers.push(worker)
  return worker
}

let kit: Kit
let chances: number[] = []
beforeAll(async () => {
  kit = await startKit({ workers, random: () => chances.shift() ?? 0 })
})
afterAll(() => kit.close())
afterEach(async () => {
  expect(await kit.engine.doctor.verify()).toEqual([])
})

const signal = <T = void>() => Promise.withResolvers<T>()

async function view(id: number) {
  const { error, ...job } = await kit.engine.jobs.get(String(id))
  return { ...job, error: error === null ? null : JSON.parse(error) }
}

async function jobOf(className: string, input: object = {}) {
  const id = await kit.make(className, input)
  await kit.rest(id)
  return view(id)
}

const valuesOf = async (id: number, name = 'out') =>
  (await kit.engine.ports.get(String(id), 'out', name)).values.map(({ data }) => JSON.parse(data))

const state = async (id: number) =>
  Object.fromEntries(
    Object.entries(await kit.engine.jobs.state(String(id))).map(([name, value]) => [name, JSON.parse(value)]),
  )

const write = (id: number, name: string, ...values: unknown[]) =>
  kit.engine.ports.write(
    String(id),
    'in',
    name,
    values.map((value) => JSON.stringify(value)),
  )

const lastRun = async (id: number) => (await kit.engine.jobs.runs(String(id))).runs[0]

const until = (fact: () => Promise<boolean> | boolean) => kit.until(fact)

describe('the life of a job', () => {
  const calls: Record<number, string[]> = {}
  const note = (job: Job, call: string) => {
    calls[job.id] ??= []
    calls[job.id]!.push(call)
  }

  define({
    class: 'living',
    in: { in: {} },
    startup: (job) => note(job, 'startup'),
    async perform(job) {
      note(job, 'perform')
      await job.read('in')
      return job.suspend()
    },
    shutdown: (job) => note(job, 'shutdown'),
  })

  test('startup is called once, before the first run', async () => {
    const { id } = await jobOf('living')
    expect(calls[id]).toEqual(['startup', 'perform'])
    await write(id, 'in', 1)
    await until(() => calls[id]!.length === 3)
    expect(calls[id]).toEqual(['startup', 'perform', 'perform'])
  })

  test('a job that is terminated is shut down, and not performed', async () => {
    const { id } = await jobOf('living')
    expect(await kit.engine.jobs.terminate(String(id), {})).toEqual({ id, status: 'terminating' })
    await kit.rest(id, 'terminated')
    expect(calls[id]).toEqual(['startup', 'perform', 'shutdown'])
  })

  test('a job that has never run is shut down too', async () => {
    const id = await kit.make('living', { wait: MINUTE })
    await kit.engine.jobs.terminate(String(id), {})
    await kit.rest(id, 'terminated')
    expect(calls[id]).toEqual(['shutdown'])
  })

  define({
    class: 'starting',
    retry: { max: 1, backoff: { base: 0 } },
    startup: (job) => note(job, 'startup'),
    perform(job) {
      note(job, 'perform')
      if (job.attempt === 1) throw new Error('not yet')
    },
  })
  test('startup is called again when the first run has failed', async () => {
    const { id, status } = await jobOf('starting')
    expect(status).toBe('completed')
    expect(calls[id]).toEqual(['startup', 'perform', 'startup', 'perform'])
  })

  define({
    class: 'stubborn',
    perform: (job) => job.suspend(),
    shutdown() {
      throw new Error('I will not go')
    },
  })
  test('an error in shutdown does not keep a job alive', async () => {
    const { id } = await jobOf('stubborn')
    await kit.engine.jobs.terminate(String(id), {})
    await kit.rest(id, 'terminated')
    expect((await view(id)).error.message).toBe('I will not go')
  })

  define({ class: 'tidy', result: z.string(), perform: (job) => job.suspend(), shutdown: (job) => job.log('tidied') })
  test('a shutdown without a return value does not fail, even if the class has a result', async () => {
    const { id } = await jobOf('tidy')
    await kit.engine.jobs.terminate(String(id), {})
    await kit.rest(id, 'terminated')
    expect((await view(id)).error).toBeNull()
  })

  define({ class: 'idle', perform: (job) => job.suspend() })
  test('without a shutdown hook a job is terminated at once', async () => {
    const { id } = await jobOf('idle')
    expect(await kit.engine.jobs.terminate(String(id), {})).toEqual({ id, status: 'terminated' })
  })
})

describe('the end of a run', () => {
  const runs: Record<number, number> = {}
  const count = (job: Job) => (runs[job.id] = (runs[job.id] ?? 0) + 1)

  define({ class: 'again now', perform: (job) => (count(job) < 3 ? job.again() : undefined) })
  test('again: the job runs again at once', async () => {
    const { id, status } = await jobOf('again now')
    expect({ status, runs: runs[id] }).toEqual({ status: 'completed', runs: 3 })
  })

  define({
    class: 'again later',
    perform: (job) =>
      count(job) < 2 ? job.again(job.args ?? { at: job.startedAt.getTime() + 10 * MINUTE }) : undefined,
  })
  test.each([
    ['after a time', { args: `{"wait":${10 * MINUTE}}` }],
    ['at a time', {}],
  ])('again %s: the job does not run earlier', async (_, input) => {
    const id = await kit.make('again later', input)
    await until(async () => (await view(id)).status === 'queued' && runs[id] === 1)
    const { runAt, ranAt } = await view(id)
    expect(runAt! - ranAt!).toBeGreaterThanOrEqual(10 * MINUTE)
    expect(runAt! - ranAt!).toBeLessThan(11 * MINUTE)
    await kit.advance(9 * MINUTE)
    expect(runs[id]).toBe(1)
    await kit.advance(2 * MINUTE)
    await kit.engine.tick()
    await kit.rest(id, 'completed')
    expect(runs[id]).toBe(2)
  })

  define({ class: 'answer', perform: (job) => job.args })
  test('a result is kept when the job asks for it, and read once', async () => {
    const { id } = await jobOf('answer', { args: '{"n":1.50}', keepResult: true })
    const { result } = (await kit.engine.jobs.result(String(id), {})) as { result: object }
    expect(result).toEqual({ type: 'success', finishedAt: expect.any(Number), result: '{"n":1.5}' })
    expect(await kit.engine.jobs.result(String(id), { take: true })).toEqual({ ended: true, result })
    expect(await kit.engine.jobs.result(String(id), {})).toEqual({ ended: true, result: null })
  })

  test('a result is kept by default while the job is kept, and not if the job opts out', async () => {
    const resultOf = async (more: object) => {
      const { id } = await jobOf('answer', { args: '1', ...more })
      return kit.engine.jobs.result(String(id), {})
    }
    expect(await resultOf({})).toMatchObject({ ended: true, result: { result: '1' } })
    expect(await resultOf({ keepResult: false })).toEqual({ ended: true, result: null })
    expect(await resultOf({ retain: 300 })).toMatchObject({ result: { result: '1' } })
  })

  test('a result is kept for the time set on the job', async () => {
    const { id } = await jobOf('answer', { args: '1', keepResult: 300 })
    expect(await kit.engine.jobs.result(String(id), {})).toMatchObject({ result: { result: '1' } })
    await until(async () => {
      const { result } = (await kit.engine.jobs.result(String(id), {})) as { result: unknown }
      return result === null
    })
  })

  define({
    class: 'failing',
    perform() {
      throw Object.assign(new Error('no luck'), { detail: { code: 7 } })
    },
  })
  test('a failed job has a result of type failure', async () => {
    const { id, status, error } = await jobOf('failing', { keepResult: true })
    expect(status).toBe('failed')
    expect(error).toMatchObject({ message: 'no luck', reason: 'other', detail: { code: 7 } })
    expect(error.stack).toContain('worker.test.ts')
    expect(await kit.engine.jobs.result(String(id), {})).toMatchObject({
      ended: true,
      result: { type: 'failure', reason: 'other', message: 'no luck', error: '{"code":7}' },
    })
  })

  define({
    class: 'odd error',
    perform() {
      throw Object.assign(new Error('told all the same'), { detail: { self: () => undefined, toJSON: 1n } })
    },
  })
  define({
    class: 'no error',
    perform() {
      throw 'just text'
    },
  })
  test('an error that cannot be stored as a value keeps its message', async () => {
    expect((await jobOf('odd error')).error.message).toBe('told all the same')
    expect((await jobOf('no error')).error.message).toBe('just text')
  })

  define({
    class: 'unholdable',
    perform: () => () => 'a function',
  })
  test('a result that cannot be stored as a value fails the run', async () => {
    const { status, error } = await jobOf('unholdable', { keepResult: true })
    expect(status).toBe('failed')
    expect(error.message).toContain('expected a JSON value')
  })
})

describe('args and results with schemas', () => {
  const args = z.object({ n: z.number(), by: z.number().default(2) })
  define({
    class: 'times',
    args,
    result: z.object({ product: z.number() }),
    perform: ({ args: { n, by } }) => ({ product: n * by }),
  })
  define({ class: 'odd', result: z.number(), perform: () => 'x' as never })
  define({ class: 'caller', perform: (job: Job) => void job.spawn('child', { class: 'times' }, { args: { n: 'x' } }) })

  test('a run gets its args as the schema parses them, with defaults', async () => {
    const { id } = await jobOf('times', { args: '{"n":21}', keepResult: true })
    expect(await kit.engine.jobs.result(String(id), {})).toMatchObject({ result: { result: '{"product":42}' } })
  })

  test('neither a caller nor a run can create a job with invalid args', async () => {
    await expect(kit.make('times', { args: '{"n":"x"}' })).rejects.toThrow(
      'args.n: expected a number, got "x" (args of class times)',
    )
    const job = await jobOf('caller')
    expect(job).toMatchObject({ status: 'failed', children: {} })
    expect(job.error.message).toBe('args.n: expected a number, got "x" (args of class times)')
  })

  test('a run fails if its result does not fit the schema', async () => {
    const job = await jobOf('odd')
    expect(job).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining(`the result of job ${job.id}: `) },
    })
  })

  test('schemas appear in the list of workers as JSON Schema', async () => {
    const { workers: all } = await kit.engine.workers.list()
    const told = all.find(({ class: name }) => name === 'times')!
    expect(JSON.parse(told.args!)).toMatchObject({ required: ['n'], properties: { n: { type: 'number' } } })
    expect(JSON.parse(told.result!)).toMatchObject({ properties: { product: { type: 'number' } } })
  })
})

describe('failures', () => {
  define({
    class: 'broken',
    in: { in: {} },
    out: { out: {} },
    retry: { max: 4, backoff: { base: 1_000, factor: 3, cap: 5_000, jitter: 0.5 } },
    async perform(job) {
      job.write('out', await job.read('in'))
      job.set({ tried: job.attempt })
      job.publish('/none', 1)
      throw new Error(`attempt ${job.attempt}`)
    },
  })

  test('are retried with exponential backoff, a cap and jitter, and have no effects', async () => {
    chances = [0, 0.5, 0, 0.999]
    const id = await kit.make('broken', { inputs: { in: ['1'] } })
    const waits = []
    for (let attempt = 1; attempt <= 4; attempt++) {
      await until(async () => (await view(id)).error?.message === `attempt ${attempt}`)
      waits.push((await view(id)).runAt! - (await lastRun(id))!.endedAt)
      await kit.advance(waits.at(-1)! + 1_000)
    }
    await kit.rest(id, 'failed')
    expect(waits).toEqual([1_000, 3_000 * 1.25, 5_000, Math.round(5_000 * 1.4995)])
    expect(await view(id)).toMatchObject({
      attempt: 5,
      error: { message: 'attempt 5' },
      in: { in: { size: 1, taken: 0 } },
    })
    expect(await valuesOf(id)).toEqual([])
    expect(await state(id)).toEqual({})
  })

  test('a failed job stays failed when input arrives, and restarts on request', async () => {
    const { id } = await jobOf('broken', { retry: { max: 0 } })
    await write(id, 'in', 2)
    expect((await view(id)).status).toBe('failed')
    await kit.engine.jobs.retry(String(id))
    await until(async () => (await lastRun(id))!.attempt === 1 && (await view(id)).status === 'failed')
  })

  define({
    class: 'terminal',
    retry: { max: 5 },
    perform() {
      throw new Terminal('the account is closed', { detail: { account: 7 } })
    },
  })
  test('a Terminal error is not retried', async () => {
    const job = await jobOf('terminal')
    expect(job).toMatchObject({ status: 'failed', attempt: 1 })
    expect(job.error).toMatchObject({ message: 'the account is closed', detail: { account: 7 } })
  })

  const aborted = signal<Error>()
  const late = signal<unknown>()
  define({
    class: 'slow',
    timeout: 50,
    out: { out: {} },
    perform: (job) =>
      new Promise((resolve) => {
        job.signal.addEventListener('abort', () => {
          aborted.resolve(job.signal.reason)
          setImmediate(() => {
            try {
              job.write('out', 1)
              late.resolve('it could be written')
            } catch (error) {
              late.resolve(error)
            }
            resolve(undefined)
          })
        })
      }),
  })
  test('a run is aborted at its timeout with reason timeout, and can no longer write', async () => {
    const { id, status, error } = await jobOf('slow')
    expect(status).toBe('failed')
    expect(error).toMatchObject({ message: 'the run took longer than 50 ms', reason: 'timeout' })
    expect((await aborted.promise).message).toBe('the run took longer than 50 ms')
    expect(await late.promise).toMatchObject({
      message: `the run of job ${id} has ended: nothing more can be read or written`,
    })
    expect(await valuesOf(id)).toEqual([])
  })

  define({
    class: 'patient',
    timeout: 30 * 86_400_000,
    perform: () => new Promise<void>((resolve) => setImmediate(resolve)),
  })
  test('a timeout of a month does not end at once', async () => {
    expect((await jobOf('patient')).status).toBe('completed')
  })

  const ended = signal<Job>()
  define({ class: 'leaking', in: { in: {} }, out: { out: {} }, perform: (job) => ended.resolve(job) })
  test('nothing can be read or written after the end of a run', async () => {
    const { id } = await jobOf('leaking')
    const job = await ended.promise
    const refused = `the run of job ${id} has ended`
    expect(() => job.write('out', 1)).toThrow(refused)
    expect(() => job.set({ n: 1 })).toThrow(refused)
    expect(() => job.spawn('a', { class: 'answer' })).toThrow(refused)
    expect(() => job.publish('/a', 1)).toThrow(refused)
    await expect(job.read('in')).rejects.toThrow(refused)
    await expect(job.checkpoint()).rejects.toThrow(refused)
    await expect(job.step('a', () => 1)).rejects.toThrow(refused)
  })

  define({ class: 'wrong in', retry: { max: 5 }, perform: (job: Job) => job.read('constructor') })
  define({ class: 'wrong out', retry: { max: 5 }, perform: (job: Job) => job.write('gone', 1) })
  test('an unknown port fails the run without a retry', async () => {
    for (const [name, side, gone] of [
      ['wrong in', 'in', 'constructor'],
      ['wrong out', 'out', 'gone'],
    ] as const) {
      const { id, status, attempt, error } = await jobOf(name)
      expect({ status, attempt }).toEqual({ status: 'failed', attempt: 1 })
      expect(error.message).toBe(`job ${id} (${name}) has no ${side}put port "${gone}"`)
    }
  })

  define({
    class: 'typed',
    retry: { max: 5 },
    checked: 'run',
    in: { n: port(z.number()) },
    async perform(job) {
      await job.read('n')
    },
  })
  test('a value that does not fit the schema of its port fails the run, and stays at the port', async () => {
    const { status, attempt, error, in: ports } = await jobOf('typed', { inputs: { n: ['"one"'] } })
    expect({ status, attempt, size: ports.n!.size }).toEqual({ status: 'failed', attempt: 1, size: 1 })
    expect(error.message).toMatch(/^input port "n" of job \d+: /)
  })

  const keys: string[] = []
  define({
    class: 'charging',
    in: { in: {} },
    retry: { max: 1, backoff: { base: 0 } },
    async perform(job) {
      await job.read('in')
      keys.push(job.effectKey('charge'))
      await job.checkpoint()
      if (keys.length === 1) throw new Error('did it get through?')
    },
  })
  test('an effect has the same key in all attempts, and another key in the next run', async () => {
    const { id } = await jobOf('charging')
    expect(keys).toEqual([keys[0], keys[0]])
    await write(id, 'in', 1)
    await until(() => keys.length === 3)
    expect(keys[2]).not.toBe(keys[0])
    expect(keys[2]).toMatch(new RegExp(`^sidejob:${id}-[a-z0-9]{8}:\\d+:charge$`))
    await kit.rest(id, 'completed')
  })
})

describe('checkpoints and steps', () => {
  const saved = signal<Job>()
  const goOn = signal()
  define({
    class: 'saving',
    in: { in: {} },
    out: { out: {} },
    async perform(job) {
      if (!job.get('half')) {
        job.write('out', await job.read('in'))
        job.set({ half: true })
        await job.checkpoint()
        saved.resolve(job)
        await goOn.promise
        await job.checkpoint()
        job.write('out', await job.read('in'))
        job.set({ whole: true })
        throw new Error('after the checkpoint')
      }
      job.write('out', 'again')
    },
  })
  test('a checkpoint stays committed, and the run continues with a new snapshot', async () => {
    const id = await kit.make('saving', { inputs: { in: ['1'] }, retry: { max: 1, backoff: { base: 0 } } })
    await saved.promise
    expect(await valuesOf(id)).toEqual([1])
    await write(id, 'in', 2)
    goOn.resolve()
    await until(async () => (await view(id)).status === 'completed')
    expect(await valuesOf(id)).toEqual([1, 'again'])
    expect(await state(id)).toEqual({ half: true })
    expect((await view(id)).in.in).toMatchObject({ size: 1, taken: 1 })
  })

  const charged: Record<number, number> = {}
  const charge = (job: Job) => (charged[job.id] = (charged[job.id] ?? 0) + 1)
  define({
    class: 'stepping',
    retry: { max: 1, backoff: { base: 0 } },
    async perform(job) {
      const receipt = await job.step('charge', () => ({ n: charge(job), at: new Date(0) }))
      if (job.attempt === 1) throw new Error('after the step')
      return receipt
    },
  })
  test('a step runs once, and returns the same result in every attempt', async () => {
    const { id, status } = await jobOf('stepping', { keepResult: true })
    expect({ status, charged: charged[id] }).toEqual({ status: 'completed', charged: 1 })
    const { result } = (await kit.engine.jobs.result(String(id), {})) as { result: { result: string } }
    expect(JSON.parse(result.result)).toEqual({ n: 1, at: '1970-01-01T00:00:00.000Z' })
  })

  const crashed = signal()
  const hung = signal()
  define({
    class: 'crashing',
    out: { out: {} },
    async perform(job) {
      await job.step('charge', () => charge(job))
      job.write('out', job.lost)
      if (job.lost > 0) return
      crashed.resolve()
      await hung.promise
    },
  })
  test('a step runs once despite a crash, and a lost run has no other effect', async () => {
    const id = await kit.make('crashing', { timeout: 60 * MINUTE })
    await crashed.promise
    await lose(id)
    await kit.rest(id, 'completed')
    hung.resolve()
    expect(charged[id]).toBe(1)
    expect(await view(id)).toMatchObject({ lost: 1 })
    await kit.engine.tick()
    expect(await valuesOf(id)).toEqual([1])
  })

  define({
    class: 'steps at once',
    out: { out: {} },
    retry: { max: 1, backoff: { base: 0 } },
    async perform(job) {
      const letters = ['a', 'b', 'c', 'constructor']
      const all = await Promise.all(
        letters.map((name) =>
          job.step(name, async () => {
            await new Promise(setImmediate)
            job.write('out', name)
            return charge(job)
          }),
        ),
      )
      if (job.attempt === 1) throw new Error('after the steps')
      return all
    },
  })
  test('concurrent steps each run once', async () => {
    const { id, status } = await jobOf('steps at once')
    expect({ status, charged: charged[id] }).toEqual({ status: 'completed', charged: 4 })
    expect((await valuesOf(id)).sort()).toEqual(['a', 'b', 'c', 'constructor'])
  })

  define({
    class: 'one step for all orders',
    perform: (job) => Promise.all([1, 2, 3].map(() => job.step('charge', () => charge(job)))),
  })
  define({
    class: 'one step per branch',
    perform: (job) => job.parallel([1, 2, 3].map(() => (at: Steps) => at.step('charge', () => charge(job)))),
  })
  test('two concurrent steps with one name are refused, and neither runs', async () => {
    const { id, error } = await jobOf('one step for all orders')
    expect(charged[id]).toBeUndefined()
    expect(error).toMatchObject({
      message: 'two concurrent calls of step "charge": give each its own name, or await the first call',
    })
    const branches = await jobOf('one step per branch')
    expect(branches.status).toBe('completed')
    expect(charged[branches.id]).toBe(3)
  })

  define({
    class: 'strange step',
    retry: { max: 1, backoff: { base: 0 } },
    async perform(job) {
      await job.step('__proto__', () => charge(job))
      if (job.attempt === 1) throw new Error('after the step')
    },
  })
  test('a step may be named __proto__', async () => {
    const { id } = await jobOf('strange step')
    expect(charged[id]).toBe(1)
  })

  define({
    class: 'two steps',
    async perform(job) {
      await job.step('one', () => undefined)
      const again = await job.step('one', () => 'done twice')
      return { again, first: await job.step('two', () => undefined) }
    },
  })
  test('a step without a result returns null', async () => {
    const { id } = await jobOf('two steps', { keepResult: true })
    expect(await kit.engine.jobs.result(String(id), {})).toMatchObject({
      result: { result: '{"again":null,"first":null}' },
    })
  })

  const childRan = signal()
  define({ class: 'early child', queue: 'other', perform: () => childRan.resolve() })
  define({
    class: 'early parent',
    async perform(job) {
      if (job.children.a) return
      job.spawn('a', { queue: 'other', class: 'early child' })
      await job.checkpoint()
      await childRan.promise
    },
  })
  test('a child created in a checkpoint runs while its parent continues', async () => {
    expect(await jobOf('early parent')).toMatchObject({ status: 'completed', error: null })
  })

  define({
    class: 'unanswered',
    out: { out: {} },
    async perform(job) {
      job.write('out', 1)
      kit.gateway.faults.drop({ when: ([command]) => command?.includes('checkpoint') ?? false })
      await job.checkpoint()
      job.write('out', 2)
    },
  })
  test('a checkpoint takes effect once even if its answer is lost', async () => {
    const { id, status } = await jobOf('unanswered')
    expect(status).toBe('completed')
    expect(await valuesOf(id)).toEqual([1, 2])
  })

  const refusedWith = signal<unknown>()
  define({
    class: 'refused checkpoint',
    out: { out: {} },
    async perform(job: Job) {
      job.write('out', 1)
      job.write('none', 1)
      await job.checkpoint().catch((error) => refusedWith.resolve(error))
      job.op({ op: 'log', entry: '1' })
    },
  })
  test('a run cannot continue after a refused checkpoint, even if it catches the error', async () => {
    const { id, status, error } = await jobOf('refused checkpoint')
    expect(await refusedWith.promise).toBeInstanceOf(Error)
    expect(status).toBe('failed')
    expect(error.message).toContain('has no output port "none"')
    expect(await valuesOf(id)).toEqual([])
  })
})

async function lose(id: number) {
  await kit.advance(46_000)
  await kit.engine.tick()
  expect(await view(id)).toMatchObject({ lost: 1 })
  await kit.advance(2_000)
}

describe('leases', () => {
  const ready = signal()
  const told = signal<Error>()
  const stopped = signal()
  define({
    class: 'stoppable',
    timeout: 60 * MINUTE,
    out: { out: {} },
    async perform(job) {
      ready.resolve()
      await new Promise((resolve) => job.signal.addEventListener('abort', resolve))
      told.resolve(job.signal.reason)
      await stopped.promise
      job.write('out', 'saved work')
    },
  })
  test('a run never learned that its job was terminated: now its signal aborts, and its end counts', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const id = await kit.make('stoppable')
    await ready.promise
    await kit.engine.jobs.terminate(String(id), {})
    await vi.advanceTimersByTimeAsync(15_000)
    vi.useRealTimers()
    expect((await told.promise).message).toBe('a caller has terminated the job')
    stopped.resolve()
    await kit.rest(id, 'terminated')
    expect(await valuesOf(id)).toEqual(['saved work'])
  })

  const begun = signal()
  const goOn = signal()
  define({
    class: 'long',
    timeout: 60 * MINUTE,
    async perform() {
      begun.resolve()
      await goOn.promise
    },
  })
  test('a long run keeps its lease', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const id = await kit.make('long')
    await begun.promise
    for (let i = 0; i < 4; i++) {
      const { document } = await kit.store.inspect(String(id))
      await kit.advance(30_000)
      vi.advanceTimersByTime(15_000)
      await until(async () => (await kit.store.inspect(String(id))).document.leaseUntil !== document.leaseUntil)
      await kit.engine.tick()
    }
    expect(await view(id)).toMatchObject({ status: 'running', lost: 0 })
    vi.useRealTimers()
    goOn.resolve()
    await kit.rest(id, 'completed')
  })

  const lostRuns: number[] = []
  const hung = signal()
  define({
    class: 'hanging',
    in: { in: {} },
    out: { out: {} },
    timeout: 60 * MINUTE,
    async perform(job) {
      lostRuns.push(job.lost)
      job.write('out', [job.lost, await job.read('in')])
      if (job.lost === 0) await hung.promise
    },
  })
  test('a lost run is repeated, and the effects of the first one are discarded', async () => {
    const id = await kit.make('hanging', { inputs: { in: ['1'] } })
    await until(() => lostRuns.length === 1)
    await lose(id)
    await kit.rest(id, 'completed')
    hung.resolve()
    expect(lostRuns).toEqual([0, 1])
    expect(await valuesOf(id)).toEqual([[1, 1]])
    expect((await view(id)).in.in).toMatchObject({ size: 0, taken: 1 })
  })
})

describe('input', () => {
  const begun = [signal(), signal()]
  const goOn = [signal(), signal()]
  define({
    class: 'taking',
    in: { in: {} },
    out: { out: {} },
    async perform(job) {
      const which = job.args as number
      const value = await job.read('in')
      begun[which]!.resolve()
      await goOn[which]!.promise
      if (value !== undefined) job.write('out', value)
    },
  })

  test('that arrives during a run makes the job run again, even if the run completes it', async () => {
    const id = await kit.make('taking', { args: '0', inputs: { in: ['1'] } })
    await begun[0]!.promise
    await write(id, 'in', 2)
    goOn[0]!.resolve()
    await kit.rest(id, 'completed')
    expect(await valuesOf(id)).toEqual([1, 2])
  })

  test('that another client takes during a run causes a conflict: the run is dropped and repeated', async () => {
    const id = await kit.make('taking', { args: '1', inputs: { in: ['1', '2'] } })
    await begun[1]!.promise
    await kit.engine.ports.take(String(id), 'in', 'in', {})
    goOn[1]!.resolve()
    await kit.rest(id, 'completed')
    expect(await valuesOf(id)).toEqual([2])
    expect(await view(id)).toMatchObject({ attempt: 0, lost: 0, error: null })
  })
})

describe('concurrent reads of one port', () => {
  const numbers = Array.from({ length: 2_500 }, (_, i) => i)
  const inputs = { in: numbers.map(String) }
  define({
    class: 'ten at once',
    in: { in: {} },
    async perform(job) {
      const read: unknown[] = []
      while (job.size('in') > 0) read.push(...(await Promise.all(Array.from({ length: 10 }, () => job.read('in')))))
      return read
    },
  })
  define({
    class: 'reads during checkpoints',
    in: { in: {} },
    async perform(job) {
      const read: unknown[] = []
      while (job.size('in') > 0) {
        const isHundredth = read.length % 100 === 0
        const [value] = await Promise.all([job.read('in'), isHundredth ? job.checkpoint() : undefined])
        read.push(value)
      }
      return read
    },
  })

  test.each(['ten at once', 'reads during checkpoints'])('%s: returns each value once, in order', async (className) => {
    const { id, status } = await jobOf(className, { inputs, keepResult: true, timeout: MINUTE })
    expect(status).toBe('completed')
    const { result } = (await kit.engine.jobs.result(String(id), {})) as { result: { result: string } }
    expect(JSON.parse(result.result)).toEqual(numbers)
  })
})

describe('inputs()', () => {
  const inputs = { in: { left: {}, right: {} }, out: { out: {} } }
  define({
    class: 'zip',
    ...inputs,
    async perform(job) {
      for await (const { left, right } of job.inputs('left', 'right')) job.write('out', [left, right])
    },
  })

  test('returns tuples with one value of each port, as long as there are values', async () => {
    const { id, status } = await jobOf('zip', { inputs: { left: ['1', '2'], right: ['"a"', '"b"'] } })
    expect(status).toBe('completed')
    expect(await valuesOf(id)).toEqual([
      [1, 'a'],
      [2, 'b'],
    ])
  })

  test('suspends the job if only some ports have values, and keeps the values', async () => {
    const { id, status, in: ports } = await jobOf('zip', { inputs: { left: ['1', '2'], right: ['"a"'] } })
    expect({ status, left: ports.left!.size }).toEqual({ status: 'suspended', left: 1 })
    expect(await valuesOf(id)).toEqual([[1, 'a']])
    await write(id, 'right', 'b')
    await kit.rest(id, 'completed')
    expect(await valuesOf(id)).toEqual([
      [1, 'a'],
      [2, 'b'],
    ])
  })

  test('returns nothing and completes if there are no values', async () => {
    const { id, status } = await jobOf('zip')
    expect(status).toBe('completed')
    expect(await valuesOf(id)).toEqual([])
  })

  test('returns the default of a port without values, also null', async () => {
    const { id, status } = await jobOf('zip', {
      in: { right: { default: 'null' } },
      inputs: { left: ['1', '2'], right: ['"a"'] },
    })
    expect(status).toBe('completed')
    expect(await valuesOf(id)).toEqual([
      [1, 'a'],
      [2, null],
    ])
  })

  test('does not count a default alone as input', async () => {
    const { id, status } = await jobOf('zip', { in: { left: { default: '1' } } })
    expect(status).toBe('completed')
    expect(await valuesOf(id)).toEqual([])
  })

  test('reads on if more values wait than a snapshot holds', async () => {
    const numbers = Array.from({ length: 2_300 }, (_, i) => String(i))
    const { id, status } = await jobOf('zip', { in: { right: { default: '0' } }, inputs: { left: numbers } })
    expect(status).toBe('completed')
    expect((await view(id)).out.out!.size).toBe(2_300)
  })

  const defaults = { in: { left: { default: '1' }, right: { default: '"x"' } } }
  const pairsOf: Record<number, unknown[]> = {}
  define({
    class: 'noting',
    ...inputs,
    in: { left: {}, right: {}, run: {} },
    retry: { max: 1, backoff: { base: 0 } },
    async perform(job) {
      pairsOf[job.id] ??= []
      for await (const { left, right } of job.inputs('left', 'right')) {
        pairsOf[job.id]!.push([left, right])
        job.write('out', [left, right])
      }
      await job.read('run')
      if (job.args === 'fail once' && job.attempt === 1) throw new Error('once')
    },
  })

  test('returns defaults alone once after each change, and a written value becomes the default', async () => {
    const { id, out } = await jobOf('noting', defaults)
    expect(out.out).toMatchObject({ size: 0, default: '[1,"x"]' })
    await write(id, 'run', 1)
    await kit.rest(id, 'completed')
    expect(pairsOf[id]).toEqual([[1, 'x']])
    await kit.engine.ports.setDefault(String(id), 'in', 'left', '2')
    await write(id, 'run', 1)
    await until(() => pairsOf[id]!.length === 2)
    await kit.rest(id, 'completed')
    expect(pairsOf[id]).toEqual([
      [1, 'x'],
      [2, 'x'],
    ])
    expect((await view(id)).out.out).toMatchObject({ size: 0, default: '[2,"x"]' })
  })

  test('returns defaults again if the run that used them failed', async () => {
    const { id, status } = await jobOf('noting', { ...defaults, args: '"fail once"' })
    expect(status).toBe('completed')
    expect(pairsOf[id]).toEqual([
      [1, 'x'],
      [1, 'x'],
    ])
  })

  define({
    class: 'leaving',
    ...inputs,
    async perform(job) {
      for await (const _ of job.inputs('left', 'right')) break
      job.write('out', 'a value')
    },
  })
  test('has no further effect if its loop is left early', async () => {
    const { id, out } = await jobOf('leaving', defaults)
    expect(out.out).toMatchObject({ size: 1 })
    expect(out.out!.default).toBe(undefined)
    expect(await valuesOf(id)).toEqual(['a value'])
  })

  define({
    class: 'no ports',
    async perform(job) {
      for await (const _ of job.inputs()) throw new Error('called')
    },
  })
  test('without ports returns nothing', async () => {
    expect((await jobOf('no ports')).status).toBe('completed')
  })
})

describe('children', () => {
  define({
    class: 'double',
    in: { n: port(z.number()) },
    out: { num: port(z.number()) },
    async perform(job) {
      for await (const { n } of job.inputs('n')) job.write('num', n * 2)
    },
  })

  const seen: Record<number, unknown[]> = {}
  define({
    class: 'doubling',
    out: { out: {} },
    async perform(job) {
      if (Object.keys(job.children).length === 0) {
        job.spawn('a', { class: 'double' })
        job.writeChild('a', 'n', 1, 2)
        job.spawn('b', { class: 'double' }, { inputs: { n: [10] } })
        return job.suspend({ waitFor: 'children' })
      }
      seen[job.id] = Object.entries(job.children).map(([name, { status }]) => [name, status])
      job.write('out', await job.readChildren('num'))
      job.write('out', await job.readChildren('num'))
    },
  })
  test('children can be created, receive input, and be read when they have ended', async () => {
    const { id, status } = await jobOf('doubling', {})
    await kit.rest(id, 'completed')
    expect(status).not.toBe('failed')
    expect(seen[id]!.sort()).toEqual([
      ['a', 'completed'],
      ['b', 'completed'],
    ])
    expect(await valuesOf(id)).toEqual([{ a: [2, 4], b: [20] }, {}])
    expect(await lastRun(id)).toMatchObject({ outcome: 'completed' })
  })

  define({
    class: 'piping',
    out: { out: {} },
    async perform(job) {
      if (Object.keys(job.children).length === 0) {
        job.spawn('a', { class: 'double' })
        job.spawn('b', { class: 'double' })
        job.writeChild('a', 'n', 5)
        return job.suspend()
      }
      job.connect({ child: 'a', out: 'num' }, { child: 'b', in: 'n' })
      const { b = [] } = await job.readChildren('num', ['b'])
      for (const value of b) job.write('out', value)
      return b.length ? undefined : job.suspend()
    },
  })
  test('wake their parent when they write and when they end, and can be connected', async () => {
    const id = await kit.make('piping')
    await kit.rest(id, 'completed')
    expect(await valuesOf(id)).toEqual([20])
  })

  const many = 2_500
  define({
    class: 'chatty',
    out: { num: {} },
    perform(job) {
      for (let i = 0; i < many; i++) job.write('num', i)
    },
  })
  const lengths: Record<number, number> = {}
  define({
    class: 'listening',
    async perform(job) {
      if (Object.keys(job.children).length === 0) {
        job.spawn('a', { class: 'chatty' })
        return job.suspend({ waitFor: ['a'] })
      }
      lengths[job.id] = (await job.readChildren('num')).a!.length
    },
  })
  test('are read completely if they wrote more than a page', async () => {
    const id = await kit.make('listening')
    await kit.rest(id, 'completed')
    expect(lengths[id]).toBe(many)
    const { a } = (await view(id)).children
    expect((await view(a!.id)).out.num).toMatchObject({ size: 0, taken: many })
  })

  define({ class: 'imagining', perform: (job) => job.readChildren('num', ['constructor']) })
  test('fail the run that reads them if they do not exist', async () => {
    const { id, status, error } = await jobOf('imagining')
    expect(status).toBe('failed')
    expect(error.message).toBe(`job ${id} had no child constructor when this run last read its children`)
  })

  const refusals: Record<string, (job: Job) => void> = {
    'an undeclared port of a child': (job) => {
      job.spawn('a', { class: 'double' })
      job.writeChild('a', 'none', 1)
    },
    'an unregistered class': (job) => job.spawn('a', { class: 'unheard of' }),
    'a child that is not there': (job) => job.writeChild('nobody', 'n', 1),
    'the name of an existing child': (job) => {
      job.spawn('a', { class: 'double' })
      job.spawn('a', { class: 'double' })
    },
  }
  define({
    class: 'overreaching',
    in: { in: {} },
    out: { out: {} },
    retry: { max: 1, backoff: { base: 0 } },
    async perform(job) {
      job.write('out', await job.read('in'))
      job.set({ n: 1 })
      refusals[job.args as string]!(job)
      job.log('never')
    },
  })
  test.each([
    ['an undeclared port of a child', 1, /^job \d+ \(double\) has no input port "none"$/],
    ['an unregistered class', 1, /^class unheard of is not registered for queue default$/],
    ['a child that is not there', 2, /nobody/],
    ['the name of an existing child', 2, / a /],
  ])('%s fails the run, which then has no effects', async (what, attempts, why) => {
    const id = await kit.make('overreaching', { args: JSON.stringify(what), inputs: { in: ['1'] } })
    await kit.rest(id, 'failed')
    const job = await view(id)
    expect(job.error.message).toMatch(why)
    expect(job).toMatchObject({ attempt: attempts, children: {}, in: { in: { size: 1, taken: 0 } } })
    expect(await valuesOf(id)).toEqual([])
    expect(await state(id)).toEqual({})
  })
})

describe('a job that runs away', () => {
  let runs = 0
  const last = signal()
  define({
    class: 'runaway',
    perform(job) {
      if (++runs === 600) last.resolve()
      return job.again()
    },
  })
  test('is stopped after 600 runs in a minute, and the log has the reason', async () => {
    const { now } = await kit.store.overview()
    await kit.advance(MINUTE - (now % MINUTE))
    const id = await kit.make('runaway')
    await last.promise
    await kit.rest(id, 'terminated')
    expect(runs).toBe(600)
    const { entries } = await kit.engine.log.read({ job: String(id), level: 'error' })
    expect(entries.map(({ entry }) => JSON.parse(entry))).toEqual([
      { error: 'Job was terminated due to being called too rapidly' },
    ])
  }, 60_000)
})

describe('state', () => {
  define({
    class: 'remembering',
    in: { in: {} },
    async perform(job) {
      await job.read('in')
      const before = { n: job.get('n'), own: job.get('constructor') }
      job.set({ n: (job.get<number>('n') ?? 0) + 1, old: true })
      job.unset('old', 'gone')
      job.set({ seen: { before, now: [job.get('n'), job.get('old') ?? null] } })
    },
  })
  define({
    class: 'setting repeatedly',
    perform(job) {
      const large = 'x'.repeat(1_000)
      for (let i = 0; i < 9_000; i++) job.set({ large })
      for (let i = 0; i < 9_000; i++) {
        job.set({ gone: large })
        job.unset('gone')
      }
    },
  })
  test('a field may be set repeatedly: only its last value counts towards the size of a run', async () => {
    const { id, error } = await jobOf('setting repeatedly')
    expect(error).toBeNull()
    expect((await state(id)).large).toHaveLength(1_000)
  })

  test('the state of a run contains the values that earlier runs set', async () => {
    const { id } = await jobOf('remembering')
    expect(await state(id)).toEqual({ n: 1, seen: { before: {}, now: [1, null] } })
    await write(id, 'in', 1)
    await until(async () => (await state(id)).n === 2)
    expect((await state(id)).seen).toEqual({ before: { n: 1 }, now: [2, null] })
    await kit.rest(id, 'completed')
  })
})

describe('isolated workers', () => {
  const isolated = defineWorker({ class: 'heavy', isolate: true, perform: (job) => ({ n: job.args }) })
  const light = defineWorker({ class: 'light', perform: () => undefined })

  test('run in separate invocations, at most 30 for one lane', async () => {
    const calls: ClaimedJob[] = []
    const own = await startKit({
      hold: true,
      workers: [isolated, light],
      isolate: async (claimed) => {
        calls.push(claimed)
        return own.engine.performAlone(claimed)
      },
    })
    try {
      const heavy = Array.from({ length: 40 }, (_, n) => ({
        queue: 'default',
        class: 'heavy',
        args: String(n),
        keepResult: true,
      }))
      const { jobs } = await own.engine.jobs.enqueue([...heavy, { queue: 'default', class: 'light' }])
      expect(await own.engine.dispatch('default', 'first')).toMatchObject({ ended: 'handed on' })
      expect(calls).toHaveLength(30)
      expect(await own.statusOf(jobs[40]!.id)).toBe('completed')
      expect(await own.engine.dispatch('default', 'second')).toMatchObject({ ended: 'empty', runs: 10 })
      expect(calls.map(({ document }) => document.class)).toEqual(Array(40).fill('heavy'))
      expect(await own.engine.jobs.result(String(jobs[39]!.id), {})).toMatchObject({ result: { result: '{"n":39}' } })
      expect(await own.engine.jobs.get(String(jobs[39]!.id))).toMatchObject({ attempt: 0, lost: 0 })
      expect(await own.engine.doctor.verify()).toEqual([])
    } finally {
      await own.close()
    }
  })

  test('run like other workers if no isolated invocation is available', async () => {
    const own = await startKit({ workers: [isolated] })
    try {
      await own.rest(await own.make('heavy'), 'completed')
    } finally {
      await own.close()
    }
  })
})
