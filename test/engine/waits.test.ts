import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Worker } from '../../src/core/worker.ts'
import { CallFailed, defineWorker, type Job, port, type Steps } from '../../src/index.ts'
import { drain } from '../../src/testing/index.ts'
import { type Kit, startKit } from '../kit/index.ts'

const DAY = 86_400_000

const workers: Worker[] = []
const define: typeof defineWorker = (definition) => {
  const worker = defineWorker(definition)
  workers.push(worker)
  return worker
}

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ workers, hold: true, random: () => 0 })
})
afterAll(() => kit.close())
afterEach(async () => {
  expect(await kit.engine.doctor.verify()).toEqual([])
})

const done: Record<number, string[]> = {}
const note = ({ id }: Pick<Job, 'id'>, what: string) => {
  done[id] = [...(done[id] ?? []), what]
  return what
}

const settle = () => drain(kit.engine, { errors: 'keep' })

async function start(className: string, input: object = {}) {
  const id = await kit.make(className, { keepResult: true, ...input })
  await settle()
  return id
}

async function later(ms: number) {
  await kit.advance(ms)
  return settle()
}

async function resultOf(id: number): Promise<unknown> {
  const kept = await kit.engine.jobs.result(String(id), {})
  if (!kept.ended) return kept.status
  return kept.result?.type === 'success' ? JSON.parse(kept.result.result) : kept.result?.message
}

const view = (id: number) => kit.engine.jobs.get(String(id))

describe('sleep', () => {
  define({
    class: 'sleeper',
    async perform(job) {
      await job.step('before', () => note(job, 'before'))
      await job.sleep('3 days')
      await job.step('between', () => note(job, 'between'))
      await job.sleep(2 * DAY)
      return note(job, 'after')
    },
  })
  test('ends the run, and the function continues after it at the given time', async () => {
    const id = await start('sleeper')
    const { status, runAt } = await view(id)
    expect(status).toBe('queued')
    expect(Math.abs(runAt! - kit.now() - 3 * DAY)).toBeLessThan(1_000)
    expect(await kit.engine.jobs.why(String(id))).toMatchObject({ reasons: [{ code: 'PAUSED_UNTIL' }] })
    await later(3 * DAY - 10_000)
    expect(done[id]).toEqual(['before'])
    await later(10_000)
    expect(done[id]).toEqual(['before', 'between'])
    await later(2 * DAY)
    expect(done[id]).toEqual(['before', 'between', 'after'])
    expect(await resultOf(id)).toBe('after')
  })

  test('is neither shortened nor restarted by a run in between', async () => {
    const id = await start('sleeper')
    await later(2 * DAY)
    await kit.engine.jobs.run(String(id), {})
    await settle()
    expect(done[id]).toEqual(['before'])
    await later(DAY)
    expect(done[id]).toEqual(['before', 'between'])
  })

  test('a completed job that has slept does not run again', async () => {
    const id = await start('sleeper')
    await later(3 * DAY)
    await later(2 * DAY)
    expect(await view(id)).toMatchObject({ status: 'completed', runAt: null })
    await later(30 * 60_000)
    expect(done[id]).toHaveLength(3)
  })

  define({
    class: 'until',
    async perform(job) {
      await job.sleep(new Date(job.args as string))
      return 'awake'
    },
  })
  test('lasts until a moment, and does not wait for a past moment', async () => {
    const early = await start('until', { args: JSON.stringify('2020-01-01T00:00:00Z') })
    expect(await resultOf(early)).toBe('awake')
    const id = await start('until', { args: JSON.stringify(new Date(kit.now() + DAY).toISOString()) })
    expect(await view(id)).toMatchObject({ status: 'queued' })
    await later(DAY + 1_000)
    expect(await resultOf(id)).toBe('awake')
  })

  define({
    class: 'broken sleeper',
    retry: { max: 1, backoff: { base: 1_000 } },
    async perform(job) {
      await job.sleep('1 day')
      note(job, `attempt ${job.attempt}`)
      if (job.attempt === 1) throw new Error('after the sleep')
    },
  })
  test('is not repeated when the next run fails and is retried', async () => {
    const id = await start('broken sleeper')
    await later(DAY)
    await later(60_000)
    expect(done[id]).toEqual(['attempt 1', 'attempt 2'])
    expect(await view(id)).toMatchObject({ status: 'completed' })
  })
})

describe('waitFor', () => {
  define({
    class: 'asking',
    in: { answer: port(z.string()), '*': port() },
    out: { question: port(z.string()) },
    async perform(job) {
      await job.step('ask', () => job.write('question', 'well?'))
      const answer = await job.waitFor('answer', { timeout: '1 week' })
      const again = await job.waitFor('answer', { timeout: '1 day' })
      return { answer, again }
    },
  })
  test('returns the next value of a port, each once, and nothing after the timeout', async () => {
    const id = await start('asking')
    expect((await kit.engine.ports.get(String(id), 'out', 'question')).size).toBe(1)
    await kit.engine.ports.write(String(id), 'in', 'answer', ['"yes"'])
    await settle()
    expect(await view(id)).toMatchObject({ status: 'queued', in: { answer: { size: 0, taken: 1 } } })
    await later(DAY + 1_000)
    expect(await resultOf(id)).toEqual({ answer: 'yes' })
    expect((await kit.engine.ports.get(String(id), 'out', 'question')).size).toBe(1)
  })

  test('takes a value that already waits at once', async () => {
    const id = await start('asking', { inputs: { answer: ['"early"', '"second"'] } })
    expect(await resultOf(id)).toEqual({ answer: 'early', again: 'second' })
  })

  test('waits without an end if it has no timeout', async () => {
    define({
      class: 'patient',
      async perform(job) {
        return job.waitFor('/patience')
      },
    })
    const own = await startKit({ workers: [workers.at(-1)!], hold: true })
    const { jobs } = await own.engine.jobs.enqueue([{ queue: 'default', class: 'patient', keepResult: true }])
    const id = String(jobs[0]!.id)
    await drain(own.engine)
    expect((await own.engine.jobs.get(id)).status).toBe('suspended')
    await own.advance(400 * DAY)
    await drain(own.engine)
    expect((await own.engine.jobs.get(id)).status).toBe('suspended')
    expect(await own.engine.channels.publish('/patience', '"at last"')).toEqual({ subscribers: 1 })
    await drain(own.engine)
    expect(await own.engine.jobs.result(id, {})).toMatchObject({ result: { result: '"at last"' } })
    await own.close()
  })

  define({
    class: 'listening',
    async perform(job) {
      const first = await job.waitFor('/orders/7', { timeout: '1 day' })
      const second = await job.waitFor('/orders/7', { timeout: '1 day' })
      return { first, second }
    },
  })
  test('returns the next message of a channel, and listens only while it waits', async () => {
    const listeners = async () =>
      (await kit.engine.channels.list()).channels
        .filter(({ name }) => name === '/orders/7')
        .flatMap((c) => c.subscribers)
    await kit.engine.channels.publish('/orders/7', '"too early"')
    const id = await start('listening')
    expect(await listeners()).toHaveLength(1)
    await kit.engine.channels.publish('/orders/7', '"one"')
    await kit.engine.channels.publish('/orders/7', '"while nobody looked"')
    await settle()
    expect(await listeners()).toHaveLength(1)
    await kit.engine.channels.publish('/orders/7', '"two"')
    await settle()
    expect(await resultOf(id)).toEqual({ first: 'one', second: 'two' })
    expect(await listeners()).toEqual([])
  })

  test('ignores a message that arrives during another wait', async () => {
    const id = await start('sleeper')
    await kit.engine.channels.publish('/orders/7', '1')
    await settle()
    expect(done[id]).toEqual(['before'])
  })
})

describe('callWorker', () => {
  define({
    class: 'square',
    perform: (job) => (job.args as number) ** 2,
  })
  define({
    class: 'refusing',
    perform() {
      throw new Error('no')
    },
  })
  define({
    class: 'calling',
    async perform(job) {
      const nine = await job.callWorker<number>('square', 3)
      return job.callWorker<number>({ class: 'square' }, nine)
    },
  })
  test('returns the result of a child, and then disowns the child', async () => {
    const id = await start('calling')
    expect(await resultOf(id)).toBe(81)
    expect((await view(id)).children).toEqual({})
    const { jobs } = await kit.engine.jobs.list({ class: 'square' })
    expect(jobs.filter(({ createdBy }) => createdBy === `job:${id}`).map(({ status }) => status)).toEqual([
      'completed',
      'completed',
    ])
  })

  define({
    class: 'catching',
    async perform(job) {
      try {
        await job.callWorker('refusing', null, { name: 'risk' })
      } catch (error) {
        if (!(error instanceof CallFailed)) throw error
        return error.message
      }
    },
  })
  test('throws the error of the child, which can be caught', async () => {
    const id = await start('catching')
    expect(await resultOf(id)).toBe('risk: no')
  })

  define({ class: 'not catching', retry: { max: 3 }, perform: (job) => job.callWorker('refusing') })
  test('does not call a failed child again', async () => {
    const id = await start('not catching')
    expect(await view(id)).toMatchObject({ status: 'failed', attempt: 1 })
  })

  define({ class: 'calling late', perform: (job) => job.callWorker('square', 1, { name: 'late', wait: 1_000 * DAY }) })
  test.each(['terminate', 'remove', 'disown'] as const)('ends when a caller uses %s on its child', async (act) => {
    const id = await start('calling late')
    const child = (await view(id)).children.late!
    if (act === 'terminate') await kit.engine.jobs.terminate(String(child.id), {})
    if (act === 'remove') await kit.engine.jobs.remove(String(child.id), { force: true })
    if (act === 'disown') await kit.engine.jobs.disown(String(id), { name: 'late' })
    await settle()
    expect(await view(id)).toMatchObject({ status: 'failed' })
    expect(JSON.parse((await view(id)).error!).message).toContain('late: ')
  })

  let chatter = 0
  define({
    class: 'chatty',
    out: { out: port() },
    perform(job) {
      job.write('out', ++chatter)
      return chatter < 5 ? job.again() : 'done'
    },
  })
  define({
    class: 'not disturbed',
    async perform(job) {
      note(job, 'run')
      return job.callWorker('chatty')
    },
  })
  test('is not woken by runs of the child before its last run', async () => {
    const id = await start('not disturbed')
    expect(await resultOf(id)).toBe('done')
    expect(done[id]).toEqual(['run', 'run'])
  })
})

describe('branches', () => {
  define({
    class: 'branching',
    async perform(job) {
      return job.parallel([
        async (at) => {
          await at.sleep('1 day')
          return at.step('a', () => note(job, 'a'))
        },
        (at) => at.callWorker<number>('square', 4),
        async (at) => {
          await at.step('slow', async () => {
            await new Promise((resolve) => setTimeout(resolve, 50))
            note(job, 'slow')
          })
          await at.sleep('2 days')
          return 'c'
        },
      ])
    },
  })
  test('continue independently, and a waiting branch does not interrupt a working branch', async () => {
    const id = await start('branching')
    expect(done[id]).toEqual(['slow'])
    await later(DAY)
    expect(done[id]).toEqual(['slow', 'a'])
    await later(DAY)
    expect(await resultOf(id)).toEqual(['a', 16, 'c'])
    expect(done[id]).toEqual(['slow', 'a'])
  })

  let most = 0
  define({
    class: 'limited',
    async perform(job) {
      const branches = Array.from({ length: 10 }, (_, i) => (at: Steps) => at.callWorker<number>('square', i))
      return job.parallel(branches, { limit: 3 })
    },
  })
  test('run at most the limit at once', async () => {
    const id = await kit.make('limited', { keepResult: true })
    for (let i = 0; i < 100; i++) {
      const [ready] = await kit.engine.ready()
      if (!ready) break
      await kit.engine.performOne(ready)
      const { children } = await view(id)
      most = Math.max(most, Object.keys(children).length)
    }
    expect(await resultOf(id)).toEqual([0, 1, 4, 9, 16, 25, 36, 49, 64, 81])
    expect(most).toBe(3)
  })

  define({
    class: 'broken branch',
    async perform(job) {
      await job.parallel([
        (at) => at.sleep('1 day'),
        (at) =>
          at.step('break', () => {
            throw new Error('broken')
          }),
      ])
    },
  })
  test('fail the run at once if one of them throws', async () => {
    const id = await start('broken branch')
    expect(await view(id)).toMatchObject({ status: 'failed' })
  })

  define({
    class: 'falls back',
    async perform(job) {
      const slow = Promise.withResolvers<void>()
      try {
        return await job.parallel([
          (at) => at.step('slow', () => slow.promise),
          (at) =>
            at.step('break', () => {
              throw new Error('broken')
            }),
        ])
      } catch {
        return 'fallback'
      } finally {
        setTimeout(slow.resolve, 50)
      }
    },
  })
  test('that fail can be caught while a step of another branch is running', async () => {
    expect(await resultOf(await start('falls back'))).toBe('fallback')
  })
})

describe('a function that was edited while its job waits', () => {
  let isEdited = false
  define({
    class: 'edited',
    async perform(job) {
      const price = await job.step(isEdited ? 'price in cents' : 'price', () => note(job, 'priced'))
      await job.sleep('3 days')
      await job.step('charge', () => note(job, `charged ${price}`))
    },
  })

  test('fails before it does anything else, why has the reason, and the restored code continues after a retry', async () => {
    isEdited = false
    const id = await start('edited')
    isEdited = true
    await later(3 * DAY)
    const { status, error } = await view(id)
    expect(status).toBe('failed')
    const told = JSON.parse(error!)
    expect(told.message).toContain(
      `job ${id} has stored step "price", but its function now requests step "price in cents"`,
    )
    expect(told.detail).toEqual({ codeChange: { kept: 'step "price"', asked: 'step "price in cents"' } })
    expect((await kit.engine.jobs.why(String(id))).reasons).toMatchObject([
      { code: 'CODE_CHANGED', message: told.message, data: { kept: 'step "price"', asked: 'step "price in cents"' } },
      { code: 'FAILED' },
    ])
    expect((await kit.engine.jobs.steps(String(id))).steps).toMatchObject([{ name: 'price' }])
    expect(done[id]).toEqual(['priced'])
    isEdited = false
    await kit.engine.jobs.retry(String(id))
    await settle()
    expect(await view(id)).toMatchObject({ status: 'completed' })
    expect(done[id]).toEqual(['priced', 'charged priced'])
  })
})

describe('effects outside of steps', () => {
  define({
    class: 'loose',
    in: { in: port() },
    out: { out: port() },
    async perform(job) {
      if (job.args === 'read') await job.read('in')
      if (job.args === 'write') job.write('out', 1)
      if (job.args === 'spawn') job.spawn('a', { class: 'square' })
      if (job.args === 'state') job.set({ at: 'first' })
      if (job.args === 'step') await job.step('both', async () => job.write('out', await job.read('in')))
      await job.sleep('1 day')
    },
  })
  test.each(['read', 'write', 'spawn'])('a %s before a wait is refused, because it would be repeated', async (args) => {
    const id = await start('loose', { args: JSON.stringify(args), inputs: { in: ['1'] } })
    const { status, error, in: ports } = await view(id)
    expect(status).toBe('failed')
    expect(JSON.parse(error!).message).toContain('Move it into a step')
    expect(ports.in).toMatchObject({ size: 1 })
  })

  test.each(['state', 'step'])('%s may come before a wait', async (args) => {
    const id = await start('loose', { args: JSON.stringify(args), inputs: { in: ['1'] } })
    await later(DAY)
    expect(await view(id)).toMatchObject({ status: 'completed', error: null })
    expect((await kit.engine.ports.get(String(id), 'out', 'out')).size).toBe(args === 'step' ? 1 : 0)
  })

  define({
    class: 'ambiguous',
    async perform(job) {
      await job.parallel([
        (at) => at.sleep(1_000, { name: 'same' }),
        () => job.sleep(1_000, { name: 'x' }),
        () => job.sleep(1_000, { name: 'x' }),
      ])
    },
  })
  test('two waits with the same name are refused', async () => {
    const id = await start('ambiguous')
    expect(JSON.parse((await view(id)).error!).message).toContain('two waits in one run are named x')
  })
})

describe('mistakes that used to be silent', () => {
  define({
    class: 'approval',
    checked: 'run',
    in: { decision: port(z.object({ ok: z.boolean(), at: z.coerce.date() })) },
    async perform(job) {
      const answer = await job.waitFor('decision')
      await job.sleep('1h')
      return [answer!.ok, answer!.at.getTime()]
    },
  })
  define({ class: 'writes_text', out: { n: port(z.number()) }, perform: (job) => job.write('n', 'text' as never) })
  define({ class: 'defaults_text', out: { n: port(z.number()) }, perform: (job) => job.setDefault('n', 'x' as never) })
  define({
    class: 'keeps_suspend',
    in: { in: port() },
    perform(job) {
      job.suspend()
    },
  })
  define({
    class: 'leaves_step',
    perform(job) {
      job.step('charge', () => 1)
    },
  })

  test('values of waitFor must match the schema of its port, in every run', async () => {
    const id = await start('approval')
    await kit.engine.ports.write(String(id), 'in', 'decision', ['{"ok":true,"at":"2027-01-01T00:00:00Z"}' as never])
    await settle()
    await later(3_600_001)
    expect(await resultOf(id)).toEqual([true, Date.UTC(2027, 0, 1)])
    const wrong = await start('approval')
    await kit.engine.ports.write(String(wrong), 'in', 'decision', ['{"ok":"yes","at":"2027-01-01T00:00:00Z"}' as never])
    await settle()
    expect(await kit.statusOf(wrong)).toBe('failed')
    expect(await resultOf(wrong)).toBe(`input port "decision" of job ${wrong} at ok: expected true or false, got "yes"`)
  })

  test('values written to an output port must match the schema of the port', async () => {
    for (const className of ['writes_text', 'defaults_text']) {
      const id = await start(className)
      expect(await resultOf(id)).toBe(
        `output port "n" of job ${id}: expected a number, got "${className === 'writes_text' ? 'text' : 'x'}"`,
      )
    }
  })

  test('suspend that is not returned, and a step that is not awaited, fail with what to write instead', async () => {
    expect(await resultOf(await start('keeps_suspend', { inputs: { in: ['1'] } }))).toBe(
      'job.suspend(…) was called and not returned: expected "return job.suspend(…)"',
    )
    expect(await resultOf(await start('leaves_step'))).toBe(
      'step "charge" was not awaited: its work would be lost; expected "await job.step(…)"',
    )
  })
})

describe('why a function waits', () => {
  define({
    class: 'asks_port',
    in: { decision: port() },
    perform: (job) => job.waitFor('decision', { timeout: '3 days' }),
  })
  define({ class: 'asks_channel', perform: (job) => job.waitFor('/orders/7') })
  define({ class: 'never_ends', in: { in: port() }, perform: (job) => job.suspend() })
  define({ class: 'calls', perform: (job) => job.callWorker('never_ends') })
  define({
    class: 'goes_ways',
    in: { a: port() },
    perform: (job) => job.parallel([(at) => at.callWorker('never_ends'), (at) => at.waitFor('a')]),
  })
  const reasons = async (id: number) => (await kit.engine.jobs.why(String(id))).reasons

  test('the port and the timeout of waitFor are shown', async () => {
    const id = await start('asks_port')
    const [reason, ...others] = await reasons(id)
    expect(reason).toMatchObject({ code: 'INPUT', key: 'decision', until: expect.any(Number) })
    expect(reason!.message).toMatch(/^its function waits for input on port decision, until 20/)
    expect(others).toEqual([])
  })

  test('the channel of waitFor, the child of callWorker and the branches of parallel are shown', async () => {
    expect(await reasons(await start('asks_channel'))).toMatchObject([
      { code: 'MESSAGE', key: '/orders/7', message: 'its function waits for a message on channel /orders/7' },
    ])
    const id = await start('calls')
    expect(await reasons(id)).toMatchObject([
      {
        code: 'CHILDREN',
        key: 'never_ends#1',
        job: id + 1,
        message: `its function waits for child never_ends#1 (job ${id + 1}, suspended) to end`,
      },
    ])
    expect((await reasons(await start('goes_ways'))).map(({ code }) => code)).toEqual(['CHILDREN', 'INPUT'])
  })
})
