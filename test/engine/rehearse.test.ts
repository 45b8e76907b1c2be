import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import type { Worker } from '../../src/core/worker.ts'
import { defineWorker, type Job, port } from '../../src/index.ts'
import { drain, type RehearsalOptions, rehearse } from '../../src/testing/index.ts'
import { clientOf } from '../kit/client.ts'
import { type Kit, startKit } from '../kit/index.ts'

type Perform = (job: Job) => Promise<unknown>

const versions: Record<string, Perform> = {}
const workers: Worker[] = []

function define(name: string, perform: Perform, options: Partial<Worker> = {}): Worker {
  versions[name] = perform
  const worker = { class: name, ...options, perform: (job: Job) => versions[name]!(job) } as Worker & { class: string }
  workers.push(defineWorker(worker as never) as Worker)
  return workers.at(-1)!
}

const done: string[] = []
const does = (text: string) => () => void done.push(text)

const order = define('order', async (job) => {
  const price = await job.step('price', () => 10)
  await job.sleep('3 days')
  await job.step('charge', does(`charge ${price}`))
})
const swapped = define('swapped', async (job) => {
  await job.sleep('14 days')
  await job.sleep('1 hour')
})
const secret = define(
  'secret',
  async (job) => {
    await job.step('look', () => 1)
    job.set({ card: '4111', name: 'ann' })
    await job.sleep('1 day')
  },
  { redact: ['args.card', 'state.card'] },
)
define(
  'child',
  async (job) => {
    await job.sleep('1 day')
    return { pin: 1234 }
  },
  { redact: ['result.pin'] },
)
const parent = define('parent', async (job) => {
  await job.callWorker('child', { n: 1 })
  await job.step('after', does('after'))
})
define(
  'large child',
  async (job) => {
    await job.sleep('1 day')
    return { pin: 1234 }
  },
  { redact: ['args.pin', 'result.pin'] },
)
define('crowd', async (job) => {
  const args = { pin: 1234, text: 'x'.repeat(900_000) }
  await Promise.all([1, 2, 3, 4, 5, 6].map(() => job.callWorker('large child', args)))
})
const many = define(
  'many',
  async (job) => {
    for (let i = 0; i < 150; i++) await job.step(`step ${i}`, () => i)
    await job.waitFor('go')
  },
  { in: { go: port() } },
)
define('plain', async (job) => job.suspend())
const patched = define('patched', async (job) => {
  if (await job.patched('soon')) await job.sleep('1 hour', { name: 'soon' })
  await job.step('charge', does('charge'))
})

let kit: Kit
let client: ReturnType<typeof clientOf>
beforeAll(async () => {
  kit = await startKit({ workers, hold: true, random: () => 0 })
  client = clientOf(kit.engine)
})
afterAll(() => kit.close())
afterEach(() => {
  expect(done.splice(0)).toEqual([])
})

async function waits(name: string, input: object = {}) {
  const id = await kit.make(name, input)
  await drain(kit.engine, { errors: 'keep' })
  return id
}

const seen = async (name: string, id: number) => {
  const { jobs } = await client.waiting.list({ class: name })
  return jobs.find(({ snapshot }) => snapshot.job.id === id)!
}

async function judged(worker: Worker, perform: Perform | undefined, options: Partial<Worker> & RehearsalOptions = {}) {
  const { env, patience, ...more } = options
  const id = await waits(worker.class)
  const edited = { ...worker, ...more, perform: perform ?? versions[worker.class]! } as Worker
  return rehearse(edited, await seen(worker.class, id), { env, patience })
}

describe('the list of waiting jobs', () => {
  test('has what the next run would read, at the time of that run', async () => {
    const id = await waits('order', { args: { amount: 1 } })
    const { status, snapshot, masked } = await seen('order', id)
    expect({ status, masked }).toEqual({ status: 'queued', masked: [] })
    expect(snapshot.job).toMatchObject({ id, class: 'order', args: { amount: 1 } })
    expect(snapshot.steps).toMatchObject({ price: 10, '~sleep#1': { kind: 'sleep', ms: 259_200_000 } })
    const { runAt } = await client.jobs.get(id)
    expect(snapshot.run.startedAt).toBe(Date.parse(runAt!))
  })

  test('leaves out jobs that do not wait inside a function', async () => {
    await waits('plain')
    expect((await client.waiting.list({ class: 'plain' })).jobs).toEqual([])
  })

  test('has pages, and can show the jobs of one deployment', async () => {
    const ids = [await waits('swapped'), await waits('swapped'), await waits('swapped')]
    const pages: number[][] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await client.waiting.list({ class: 'swapped', limit: 2, ...(cursor ? { cursor } : {}) })
      pages.push(page.jobs.map(({ snapshot }) => snapshot.job.id))
      cursor = page.cursor
    }
    expect(pages.flat()).toEqual(ids.toReversed())
    expect(pages[0]).toHaveLength(2)
    const { deployments } = await client.deployments.list()
    const own = await client.waiting.list({ class: 'swapped', deployment: deployments[0]!.id })
    expect(own.jobs).toHaveLength(3)
    expect(await client.waiting.list({ deployment: 'another' })).toEqual({ jobs: [], cursor: null })
  })

  test('masks values that the class redacts, and names them', async () => {
    const id = await waits('secret', { args: { card: '4111', name: 'ann' } })
    const { snapshot, masked } = await seen('secret', id)
    expect(masked).toEqual(['args', 'state.card'])
    expect(snapshot.job.args).toEqual({ card: '[redacted]', name: 'ann' })
    expect(snapshot.state).toEqual({ card: '[redacted]', name: 'ann' })
    expect(JSON.stringify(snapshot)).not.toContain('4111')
  })

  test('names masked results of children', async () => {
    const id = await waits('parent')
    expect((await seen('parent', id)).masked).toEqual([])
    await kit.advance(86_400_000)
    await kit.engine.tick()
    const { jobs } = await kit.engine.jobs.list({ class: 'child', parent: String(id) })
    await kit.engine.performOne((await kit.engine.ready()).find((one) => one.id === jobs[0]!.id)!)
    const { snapshot, masked } = await seen('parent', id)
    expect({ masked, left: snapshot.family?.finished[0]?.result }).toEqual({
      masked: ['child.child#1'],
      left: { pin: '[redacted]' },
    })
    expect(await rehearse(parent, await seen('parent', id))).toEqual({
      is: 'unjudged',
      why: 'it reads child.child#1, which is masked',
    })
    await drain(kit.engine)
    expect(done.splice(0)).toEqual(['after'])
  })

  test('showed masked values of children whose records have more than 4 MiB together', async () => {
    const id = await waits('crowd')
    const ended = async () => (await seen('crowd', id)).snapshot.family?.finished ?? []
    await kit.advance(86_400_000)
    await kit.engine.tick()
    const children = Object.values((await kit.engine.jobs.get(String(id))).children)
    for (const child of children)
      await kit.engine.performOne((await kit.engine.ready()).find((one) => one.id === child.id)!)
    expect(await ended()).toHaveLength(6)
    for (const { args, result } of await ended())
      expect([args, result]).toMatchObject([{ pin: '[redacted]' }, { pin: '[redacted]' }])
    await drain(kit.engine)
  })

  test('gives more steps than fit in a snapshot page by page', async () => {
    const id = await waits('many')
    const { snapshot } = await seen('many', id)
    expect(snapshot).toMatchObject({ moreSteps: true })
    const { steps } = await client.waiting.steps(id)
    expect(Object.keys(steps)).toHaveLength(151)
    const worker = { ...many, perform: versions.many } as Worker
    expect(await rehearse(worker, await seen('many', id))).toMatchObject({ is: 'unjudged' })
    const all = async () => (await client.waiting.steps(id)).steps
    expect(await rehearse(worker, await seen('many', id), { steps: all })).toEqual({
      is: 'continues',
      next: 'the same wait',
    })
  })
})

const renamed: Perform = async (job) => {
  const price = await job.step('price in cents', () => {
    done.push('priced again')
    return 1_000
  })
  await job.step('audit', does('audit'))
  await job.sleep('1 hour')
  await job.sleep('3 days')
  await job.step('charge', does(`charge ${price}`))
}
const reversed: Perform = async (job) => {
  await job.sleep('1 hour')
  await job.sleep('14 days')
}

describe('a rehearsal', () => {
  test('continues with unchanged code, and ends before the next step', async () => {
    expect(await judged(order, undefined)).toEqual({ is: 'continues', next: 'step "charge"' })
  })

  test.each(['fail', 'warn', 'ignore'] as const)(
    'finds a step that would be repeated (onCodeChange: %s)',
    async (onCodeChange) => {
      expect(await judged(order, renamed, { onCodeChange })).toEqual({
        is: 'repeats',
        change: { kept: 'step "price"', asked: 'step "price in cents"' },
        fails: onCodeChange === 'fail',
      })
    },
  )

  test.each(['fail', 'warn', 'ignore'] as const)(
    'finds a sleep of another length (onCodeChange: %s)',
    async (onCodeChange) => {
      expect(await judged(swapped, reversed, { onCodeChange })).toEqual({
        is: 'waits',
        change: {
          kept: 'sleep#1 (sleep of 14d)',
          asked: 'sleep#1 (sleep of 1h)',
          longer: 3_600_000 - 14 * 86_400_000,
        },
        fails: onCodeChange === 'fail',
      })
    },
  )

  test('finds a function that ends without its kept steps and waits', async () => {
    expect(await judged(order, async () => 'done')).toMatchObject({
      is: 'skips',
      change: { kept: expect.stringMatching(/step "price"|sleep#1/), asked: null },
    })
  })

  test('finds a function that throws, and args that no longer fit', async () => {
    const throws: Perform = async (job) => {
      await job.step('price', () => 10)
      await job.sleep('3 days')
      throw new Error('not ready for three days')
    }
    expect(await judged(order, throws)).toEqual({ is: 'fails', message: 'not ready for three days' })
    const reads: Perform = async (job) => job.step(`pay ${String(job.args)}`, does('pay'))
    expect(await judged(order, reads, { args: z.object({ amount: z.number() }) })).toMatchObject({
      is: 'fails',
      message: expect.stringContaining('args of job'),
    })
  })

  test.each<[string, Perform]>([
    ['a sleep', (job) => job.sleep('5 days', { as: 'more' })],
    ['a child', (job) => job.callWorker('child')],
    ['a wait for a channel', (job) => job.waitFor('/news')],
    ['a commit', (job) => job.checkpoint()],
    ['a step of a branch', (job) => job.parallel([(at) => at.step('pay', does('pay'))])],
    ['a step of a turn', (job) => job.each('pay', 3, (_, at) => at.step('pay', does('pay')))],
  ])('ends before %s that is new', async (_, next) => {
    const perform: Perform = async (job) => {
      await job.step('price', () => 10)
      await job.sleep('3 days')
      await next(job)
      done.push('went on')
    }
    expect(await judged(order, perform)).toMatchObject({ is: 'continues' })
  })

  test('decides a new patch, and keeps the stored decision of an earlier patch', async () => {
    const patched: Perform = async (job) => {
      await job.step('price', () => 10)
      if (await job.patched('audit')) await job.step('audit', does('audit'))
      await job.sleep('3 days')
      if (await job.patched('receipt')) await job.step('receipt', does('receipt'))
      await job.step('charge', does('charge'))
    }
    expect(await judged(order, patched)).toEqual({ is: 'continues', next: 'step "receipt"' })
  })

  test('finds jobs with a patch that the code lacks, as before a rollback', async () => {
    const lacks: Perform = async (job) => {
      await job.sleep('3 days')
      await job.step('charge', does('charge'))
    }
    expect(await judged(patched, lacks)).toMatchObject({
      is: 'waits',
      change: { kept: 'soon (sleep of 1h)', asked: 'sleep#1 (sleep of 3d)' },
      fails: true,
    })
  })

  test('continues to wait for a value, and ends before the commit that takes it', async () => {
    const id = await waits('many')
    const all = async () => (await client.waiting.steps(id)).steps
    await client.ports.write(id, 'in', 'go', { values: [1] })
    expect(await rehearse(many, await seen('many', id), { steps: all })).toEqual({ is: 'continues', next: 'a commit' })
  })

  test('does not judge a function that reads a masked value', async () => {
    const input = { args: { card: '4111', name: 'ann' } }
    const one = await seen('secret', await waits('secret', input))
    const as = (perform: Perform) => rehearse({ ...secret, perform } as Worker, one)
    const asks: Perform = async (job) => {
      await job.step('look', () => 1)
      await job.sleep('1 day')
    }
    expect(await as(asks)).toEqual({ is: 'continues', next: 'its end' })
    const why = (part: string) => ({ is: 'unjudged', why: `it reads ${part}, which is masked` })
    expect(await as(async (job) => asks(job).then(() => job.args))).toEqual(why('args'))
    expect(await as(async (job) => asks(job).then(() => job.get('card')))).toEqual(why('state.card'))
    expect(await as(async (job) => asks(job).then(() => job.get('name')))).toEqual({ is: 'continues', next: 'its end' })
  })

  test('refuses requests outside of steps, also if the function catches that, and restores fetch', async () => {
    const { fetch } = globalThis
    const caught: Perform = async (job) => {
      await globalThis.fetch('http://127.0.0.1:1').catch(() => undefined)
      await job.step('price', () => 10)
    }
    expect(await judged(order, caught)).toEqual({ is: 'unjudged', why: 'it makes a request outside of a step' })
    expect(globalThis.fetch).toBe(fetch)
  })

  test('does not judge a function that uses an unknown member of job.env', async () => {
    const uses: Perform = async (job) => {
      const { GREETING, DB } = job.env as unknown as { GREETING: string; DB: { get: (name: string) => unknown } }
      await job.step('price', () => DB.get('price'))
      await job.sleep('3 days')
      return GREETING === 'hello' ? 'done' : DB.get('x')
    }
    expect(await judged(order, uses, { env: { GREETING: 'hello' } })).toEqual({ is: 'continues', next: 'its end' })
    expect(await judged(order, uses, { env: { GREETING: '' } })).toEqual({ is: 'unjudged', why: 'it uses job.env.DB' })
  })

  test('does not wait for a function that never reaches a step', async () => {
    expect(await judged(order, () => new Promise(() => undefined), { patience: 50 })).toEqual({
      is: 'unjudged',
      why: 'it ran longer than 0.05 s outside of steps',
    })
  })
})
