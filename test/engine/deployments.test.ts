import { Client } from '@upstash/qstash'
import { afterEach, describe, expect, test } from 'vitest'
import type { Worker } from '../../src/core/worker.ts'
import type { Engine } from '../../src/engine/index.ts'
import { createEngine } from '../../src/engine/index.ts'
import { createRegistry } from '../../src/engine/jobs/registry.ts'
import { createPlaces } from '../../src/http/places.ts'
import { defineWorker } from '../../src/index.ts'
import { drain } from '../../src/testing/index.ts'
import { type Kit, kind, rawCommand, startKit } from '../kit/index.ts'
import { costOf } from '../redis/commandstats.ts'

const worker = (name: string, queue = 'default') =>
  defineWorker({ class: name, queue, perform: (job) => void ran.push(job.id) })
let ran: number[] = []

let kit: Kit
afterEach(() => kit.close())

const isolate = (workers: Worker[], at = kit.engineOptions.qstash.publicUrl) =>
  createEngine({ ...kit.engineOptions, workers, qstash: { ...kit.engineOptions.qstash, publicUrl: at } })

const whole = (engine: Engine) =>
  createPlaces(engine, (tenant) => ({
    engine: createEngine({ ...kit.engineOptions, namespace: `sidejob:t:${tenant}:`, tenant }),
    publicUrl: kit.engineOptions.qstash.publicUrl,
  }))

async function bells(): Promise<string[]> {
  const document = await rawCommand(kit.redis.port, 'GET', kit.store.keys.queue('default'))
  return [...document.matchAll(/"(b\w+)":\d{13}/g)].map(([, bell]) => bell!)
}

async function replaced(tick: () => Promise<unknown>): Promise<void> {
  await kit.advance(601_000)
  await tick()
}

const classes = async (queue = 'default') => Object.keys(await kit.store.definitions(queue)).sort()

const HOUR = 3_600_000

describe.skipIf(kind === 'embedded')('a day on which nothing happens', () => {
  test('costs 3 commands a tick and 144 messages a day with a new isolate for every tick (measured for six hours)', async () => {
    const queues = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((queue) => worker('work', queue))
    kit = await startKit({ workers: queues })
    await kit.advance(45 * HOUR - (kit.now() % (24 * HOUR)))
    await kit.engine.tick()
    const { url, token } = kit.qstash
    const client = new Client({ baseUrl: url, token, devMode: false, enableTelemetry: false })
    const destination = `${kit.engineOptions.qstash.publicUrl}/tick`
    await client.schedules.create({ destination, cron: '*/10 * * * *', retries: 0, method: 'POST' })
    const before = kit.qstash.counts.scheduled
    const { billed, messages, commands } = await costOf(kit, async () => {
      for (let minute = 0; minute < 360; minute++) {
        await kit.advance(60_000)
        await whole(isolate(queues)).tick()
      }
    })
    const scheduled = kit.qstash.counts.scheduled - before
    expect(scheduled + messages).toBeGreaterThan(34)
    expect(scheduled + messages).toBeLessThanOrEqual(38)
    expect(billed, JSON.stringify(commands)).toBeLessThanOrEqual(360 * 3 + scheduled * 2)
  }, 120_000)

  test('costs 1 command a tick, and 2 every second tick, in a warm isolate that finds due work', async () => {
    kit = await startKit({ workers: [worker('work')], hold: true })
    const [one, other] = [whole(kit.engine), whole(isolate([worker('work')]))]
    await one.tick()
    const idle = await costOf(kit, one.tick)
    expect([idle.calls, idle.billed]).toEqual([1, 1])
    await kit.advance(120_000)
    const noted = await costOf(kit, one.tick)
    expect([noted.calls, noted.billed]).toEqual([1, 2])
    // A tick does more work if a job is due within the next 15 minutes.
    await kit.engine.jobs.enqueue([{ queue: 'default', class: 'work', runAt: kit.now() + 14 * 60_000 } as never])
    await one.tick()
    expect((await costOf(kit, one.tick)).billed).toBe(4)

    await kit.engine.tenants.set('acme', {})
    const { engine: acme } = (await other.open('acme'))!
    await acme.jobs.enqueue([{ queue: 'default', class: 'work', runAt: kit.now() + 60_000 } as never])
    await kit.advance(120_000)
    const bells = kit.qstash.counts.published
    await one.tick()
    expect(kit.qstash.counts.published).toBeGreaterThan(bells)
  })

  test('starts with one command before the first claim of an isolate, for any number of queues', async () => {
    const queues = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((queue) => worker('work', queue))
    kit = await startKit({ workers: queues, hold: true })
    await kit.engine.tick()
    const { jobs } = await kit.engine.jobs.enqueue([
      { queue: 'a', class: 'work', runAt: kit.now() + 3_600_000 } as never,
    ])
    await kit.engine.jobs.run(String(jobs[0]!.id), { at: kit.now() + 7_200_000 })
    const cold = isolate(queues)
    const { calls } = await costOf({ ...kit, until: async () => undefined }, () =>
      cold.jobs.run(String(jobs[0]!.id), { at: kit.now() + 7_200_000 }),
    )
    expect(calls).toBe(2)
  })
})

describe('two deployments on one namespace', () => {
  test('each keep their classes for ten minutes, and lose only classes that they remove themselves', async () => {
    kit = await startKit({ workers: [worker('shared'), worker('ours')] })
    const theirs = [worker('shared'), worker('theirs')]
    const at = 'https://other.example.com'
    for (let minute = 0; minute < 10; minute++) {
      await isolate([worker('shared'), worker('ours')]).tick()
      await isolate(theirs, at).tick()
      expect(await classes()).toEqual(expect.arrayContaining(['ours', 'shared', 'theirs']))
      await kit.advance(60_000)
    }
    await isolate([worker('theirs')], at).tick()
    expect(await classes()).toEqual(['ours', 'shared', 'theirs'])
    await isolate([worker('shared')]).tick()
    await replaced(() => isolate([worker('shared')]).tick())
    expect(await classes()).toEqual(['shared', 'theirs'])
  })
})

test('a class shows which deployments have its function', async () => {
  kit = await startKit({ workers: [worker('shared'), worker('ours')] })
  await kit.engine.tick()
  await kit.advance(60_000)
  await isolate([worker('shared')], 'https://other.example.com').tick()
  const { deployments } = await kit.engine.deployments.list()
  const [later, earlier] = deployments.map(({ id, at, version }) => ({ id, at, version }))
  expect(later!.at - earlier!.at).toBeGreaterThanOrEqual(60_000)
  const served = async (name: string) =>
    (await kit.engine.workers.list()).workers.find((one) => one.queue === 'default' && one.class === name)
  expect(await served('shared')).toMatchObject({ seen: null, servedBy: [later, earlier] })
  expect(await served('ours')).toMatchObject({ seen: null, servedBy: [earlier] })
})

describe('PUT /v1/workers for a function of a deployment', () => {
  const message =
    'class theirs of queue default is defined in the code of a deployment: change it there, or register under another queue or class. If the deployment no longer exists, send DELETE /v1/workers/default/theirs first'
  const refused = { code: 'REFUSED', message }

  test('is refused for a function of any deployment, and the jobs of the function still run', async () => {
    kit = await startKit({ workers: [worker('ours')], hold: true })
    const theirs = isolate([worker('theirs')], 'https://other.example.com')
    await theirs.tick()
    for (const definition of [{ pull: true }, { push: { url: 'https://w.example.com/' } }, {}]) {
      await expect(kit.engine.workers.register('default', 'theirs', definition)).rejects.toMatchObject(refused)
      await expect(
        kit.engine.workers.register('default', 'theirs', definition, { preview: true }),
      ).rejects.toMatchObject(refused)
    }
    // The call is refused although this deployment has not registered its function yet.
    await expect(kit.engine.workers.register('default', 'ours', { pull: true })).rejects.toMatchObject({
      code: 'REFUSED',
    })
    const [job] = (await kit.engine.jobs.enqueue([{ queue: 'default', class: 'theirs' }])).jobs
    await drain(theirs)
    expect(await kit.engine.jobs.get(String(job!.id))).toMatchObject({ status: 'completed' })
  })

  test('succeeds after the function is removed with DELETE', async () => {
    kit = await startKit()
    await isolate([worker('theirs')], 'https://other.example.com').tick()
    await kit.engine.workers.unregister('default', 'theirs')
    await kit.engine.workers.register('default', 'theirs', { pull: true })
    expect(await classes()).toEqual(['theirs'])
  })
})

test('a function that was removed with DELETE is back after the next start of its deployment', async () => {
  kit = await startKit()
  await isolate([worker('theirs')]).tick()
  await kit.engine.workers.unregister('default', 'theirs')
  expect(await classes()).toEqual([])
  await isolate([worker('theirs')]).tick()
  expect(await classes()).toEqual(['theirs'])
})

describe('an isolate that has announced its classes', () => {
  const bounded = defineWorker({
    class: 'bounded',
    concurrency: 2,
    cron: { expression: '0 2 * * *' },
    perform: () => undefined,
  })
  const limits = async () => (await kit.engine.limits.list({})).limits.map(({ key }) => key)
  const empty = () => rawCommand(kit.redis.port, 'FLUSHALL')

  test('announces them again at the first tick after Redis was emptied, with limits and schedules', async () => {
    kit = await startKit({ workers: [bounded], hold: true })
    const standing = async () => [
      await classes(),
      await limits(),
      (await kit.engine.schedules.list({})).schedules.length,
    ]
    const all = [['bounded'], ['worker:default/bounded'], 1]
    await kit.engine.tick()
    expect(await standing()).toEqual(all)
    await empty()
    expect(await standing()).toEqual([[], [], 0])
    await kit.engine.tick()
    expect(await standing()).toEqual(all)
    await kit.engine.jobs.enqueue(Array.from({ length: 9 }, () => ({ queue: 'default', class: 'bounded' })) as never)
    const claim = { max: 9, lease: 60_000, begun: 9 }
    expect((await kit.store.commit({ queue: 'default', claim })).claimed).toHaveLength(2)
  })

  test('announces them again after Redis was restored from older data', async () => {
    kit = await startKit({ workers: [worker('old')], hold: true })
    const isolated = isolate([worker('old'), worker('new')])
    await kit.engine.tick()
    const [head, deployed] = await Promise.all([kit.store.announced(), kit.store.deployments()])
    await isolated.tick()
    expect(await classes()).toEqual(['new', 'old'])
    await empty()
    await isolate([worker('old')]).tick()
    expect([await kit.store.announced(), Object.keys(await kit.store.deployments())]).toEqual([
      head,
      Object.keys(deployed),
    ])
    await isolated.tick()
    expect(await classes()).toEqual(['new', 'old'])
  })

  test('does not change the classes of a newer version, and keeps its own while it lives', async () => {
    kit = await startKit({ hold: true })
    const lingering = isolate([worker('stays'), worker('goes')])
    await lingering.tick()
    await isolate([worker('stays'), worker('comes')]).tick()
    const fresh = () => isolate([worker('stays'), worker('comes')]).tick()
    for (let minute = 0; minute < 20; minute++) {
      await kit.advance(60_000)
      await lingering.tick()
      await fresh()
      expect(await classes()).toEqual(['comes', 'goes', 'stays'])
    }
    await replaced(fresh)
    expect(await classes()).toEqual(['comes', 'stays'])
  })
})

describe('a deployment that is rolled out', () => {
  const old = () => isolate([worker('stays'), worker('goes')])
  const fresh = () => isolate([worker('stays'), worker('comes')])

  test('keeps the classes of both versions while isolates of the old version may still run', async () => {
    kit = await startKit()
    await old().tick()
    expect(await classes()).toEqual(['goes', 'stays'])
    await fresh().tick()
    for (let second = 0; second < 5; second++) {
      await old().tick()
      expect(await classes()).toEqual(['comes', 'goes', 'stays'])
    }
    await replaced(() => fresh().tick())
    expect(await classes()).toEqual(['comes', 'stays'])
  })

  test('and rolled back has the old version as its newest after ten minutes', async () => {
    kit = await startKit()
    await old().tick()
    await fresh().tick()
    await replaced(() => old().tick())
    expect(await classes()).toEqual(['comes', 'goes', 'stays'])
    await replaced(() => old().tick())
    expect(await classes()).toEqual(['goes', 'stays'])
    await old().tick()
    expect(await classes()).toEqual(['goes', 'stays'])
  })

  test('accepts an isolate of the version before the last, started right after the next deploy', async () => {
    kit = await startKit({ workers: [worker('first')], hold: true })
    await kit.engine.tick()
    const second = isolate([worker('second')])
    await second.tick()
    await replaced(() => isolate([worker('second')]).tick())
    await isolate([worker('third')]).tick()
    await isolate([worker('first')]).tick()
    expect(await classes()).toEqual(['first', 'second', 'third'])
  })

  test('with 1,000 jobs in flight loses none and runs none twice', async () => {
    ran = []
    kit = await startKit({ hold: true })
    const [first, second] = [old(), fresh()]
    await first.tick()
    const make = async (engine: typeof first, name: string, n: number) =>
      (await engine.jobs.enqueue(Array(n).fill({ queue: 'default', class: name, args: '1', retain: 3_600_000 }))).jobs
    const made = [...(await make(first, 'stays', 400)), ...(await make(first, 'goes', 200))]
    await second.tick()
    made.push(...(await make(second, 'stays', 200)), ...(await make(second, 'comes', 200)))
    for (let round = 0; ran.length < made.length && round < 50; round++) {
      const rung = await bells()
      await Promise.all(rung.map((bell, i) => [first, second][(round + i) % 2]!.dispatch('default', bell)))
      await kit.advance(11_000)
      await [first, second][round % 2]!.tick()
    }
    expect(ran.toSorted((a, b) => a - b)).toEqual(made.map(({ id }) => id))
  }, 60_000)
})

describe('a version that is not in the registry', () => {
  const bounded = defineWorker({
    class: 'bounded',
    concurrency: 2,
    cron: { expression: '0 2 * * *' },
    perform: () => undefined,
  })
  const newest = () => isolate([bounded, worker('shared')])
  const unknown = () => isolate([worker('shared'), worker('old')])
  const kept = async () => [
    await classes(),
    (await kit.engine.limits.list({})).limits.map(({ key }) => key),
    (await kit.engine.schedules.list({})).schedules.map(({ paused }) => paused),
  ]
  const limit = ['worker:default/bounded']
  async function running(): Promise<number> {
    const jobs = Array.from({ length: 9 }, () => ({ queue: 'default', class: 'bounded' }))
    await kit.engine.jobs.enqueue(jobs as never)
    return (await kit.store.commit({ queue: 'default', claim: { max: 99, lease: 60_000, begun: 9 } })).claimed.length
  }

  test('removes no class, limit or schedule of a newer version that still serves', async () => {
    kit = await startKit({ hold: true })
    await newest().tick()
    await kit.engine.schedules.pause('cron:default/bounded')
    for (let minute = 0; minute < 30; minute++) {
      await unknown().tick()
      await newest().tick()
      await kit.advance(60_000)
      expect(await kept()).toEqual([['bounded', 'old', 'shared'], limit, [true]])
    }
    expect(await running()).toBe(2)
  })

  test('keeps newer classes after a rollback while their isolates are seen, then removes them', async () => {
    kit = await startKit({ hold: true })
    const versions = Array.from({ length: 12 }, (_, i) => () => isolate([bounded, worker('shared'), worker(`v${i}`)]))
    await unknown().tick()
    for (const version of versions) await replaced(() => version().tick())
    await replaced(() => versions.at(-1)!().tick())
    expect(await kept()).toEqual([['bounded', 'shared', 'v11'], limit, [false]])
    await replaced(() => unknown().tick())
    expect(await kept()).toEqual([['bounded', 'old', 'shared', 'v11'], limit, [false]])
    expect(await running()).toBe(2)
    await kit.advance(300_000)
    await versions.at(-1)!().tick()
    await kit.advance(400_000)
    await unknown().tick()
    expect(await kept()).toEqual([['bounded', 'old', 'shared', 'v11'], limit, [false]])
    await replaced(() => unknown().tick())
    expect(await kept()).toEqual([['old', 'shared'], [], []])
  })
})

test('two Workers with one name keep the classes, limits and schedules of both', async () => {
  kit = await startKit({ hold: true })
  const nightly = (name: string) =>
    defineWorker({ class: name, concurrency: 1, cron: { expression: '0 2 * * *' }, perform: () => undefined })
  const [one, other] = [
    () => isolate([worker('shared'), nightly('one')]),
    () => isolate([worker('shared'), nightly('other')]),
  ]
  const jobs = async () => (await kit.engine.schedules.list({})).schedules.map(({ job }) => job).sort()
  await one().tick()
  await other().tick()
  const both = await jobs()
  expect(both).toHaveLength(2)
  for (let minute = 0; minute < 45; minute++) {
    await kit.advance(60_000)
    await one().tick()
    await other().tick()
    expect(await classes()).toEqual(['one', 'other', 'shared'])
    expect(await jobs()).toEqual(both)
  }
  expect((await kit.engine.limits.list({})).limits.map(({ key }) => key).sort()).toEqual([
    'worker:default/one',
    'worker:default/other',
  ])
  await replaced(() => other().tick())
  await replaced(() => other().tick())
  expect(await classes()).toEqual(['other', 'shared'])
})

test('a local stack, which has one process, forgets a removed class at once', async () => {
  kit = await startKit({ hold: true })
  const local = (name: string) => createEngine({ ...kit.engineOptions, workers: [worker(name)], grace: 0 })
  for (const name of ['a', 'b', 'a']) {
    await local(name).tick()
    expect(await classes()).toEqual([name])
  }
})

describe('a newly registered class', () => {
  const push = { push: { url: 'http://127.0.0.1:9/' }, in: {}, out: {} }

  test('is known at once, even if its queue’s classes are being read at that moment', async () => {
    kit = await startKit({ hold: true })
    let goOn = () => {}
    const read = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const slow = {
      ...kit.store,
      async definitions(queue: string) {
        const found = await kit.store.definitions(queue)
        await read
        return found
      },
    }
    const registry = createRegistry({ store: slow, workers: [] })
    const reading = registry.find('called', 'before')
    await registry.put('called', 'new', push)
    goOn()
    expect(await reading).toBeUndefined()
    expect(await registry.find('called', 'new')).toMatchObject({ definition: push })
  })

  test('is known a second later in other isolates, which have asked for its queue’s classes before', async () => {
    kit = await startKit({ hold: true })
    const [one, other] = [kit.store, kit.store].map((store) => createRegistry({ store, workers: [], now: kit.now }))
    expect(await other!.find('called', 'new')).toBeUndefined()
    await one!.put('called', 'new', push)
    await kit.advance(1_000)
    expect(await other!.find('called', 'new')).toMatchObject({ definition: push })
  })
})

describe('a function with a cron', () => {
  const NIGHTLY = { expression: '0 2 * * *', tz: 'Europe/Berlin', missed: 'run' } as const
  let slots: number[] = []
  const report = (cron?: Worker['cron'], args?: unknown) =>
    defineWorker({
      class: 'report',
      cron: cron && { ...cron, args },
      perform: (job) => void slots.push(Number(job.scheduledFor)),
    })
  const schedules = async () => (await kit.engine.schedules.list({})).schedules
  const nightly = () => kit.engine.schedules.get('cron:default/report')

  test('a schedule in code starts as one job, no matter how often its class is announced', async () => {
    kit = await startKit({ workers: [report(NIGHTLY)] })
    slots = []
    await Promise.all([kit.engine.tick(), isolate([report(NIGHTLY)]).tick()])
    await isolate([report(NIGHTLY), worker('other')]).tick()
    const [only, ...others] = await schedules()
    expect(others).toEqual([])
    expect(only).toMatchObject({ class: 'report', aliases: ['cron:default/report'], paused: false })
    expect(JSON.parse(only!.repeat)).toEqual({ cron: '0 2 * * *', tz: 'Europe/Berlin', missed: 'run' })
    await kit.advance(only!.next[1]! - kit.now() + 1_000)
    await kit.engine.tick()
    await kit.until(() => slots.length === 2)
    expect(slots).toEqual(only!.next.slice(0, 2))
  })

  test('a schedule in code is updated by a version with another definition, and otherwise stays paused', async () => {
    kit = await startKit({ workers: [report(NIGHTLY)] })
    await kit.engine.tick()
    const { job } = await nightly()
    await kit.engine.schedules.pause(String(job))
    await isolate([report(NIGHTLY), worker('other')]).tick()
    expect(await nightly()).toMatchObject({ job, paused: true })
    await isolate([report({ expression: '30 3 * * *' }, { deep: true })]).tick()
    const changed = await nightly()
    expect(JSON.parse(changed.repeat)).toEqual({ cron: '30 3 * * *' })
    expect(await kit.engine.jobs.get('cron:default/report')).toMatchObject({ args: '{"deep":true}' })
  })

  test('a schedule in code is removed with its job by a version without the schedule', async () => {
    kit = await startKit({ workers: [report(NIGHTLY)] })
    await kit.engine.tick()
    const { job } = await nightly()
    await isolate([report()]).tick()
    expect(await schedules()).toEqual([])
    await expect(kit.engine.jobs.get(String(job))).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await isolate([report(NIGHTLY)]).tick()
    await kit.advance(11 * 60_000)
    await isolate([report(NIGHTLY)]).tick()
    expect(await schedules()).toMatchObject([{ class: 'report' }])
  })

  test('a schedule in code leaves nothing behind when its class is removed', async () => {
    kit = await startKit({ workers: [report(NIGHTLY), worker('other')] })
    await kit.engine.tick()
    await isolate([worker('other')]).tick()
    expect(await schedules()).toHaveLength(1)
    await replaced(() => isolate([worker('other')]).tick())
    expect(await schedules()).toEqual([])
    expect(await classes()).toEqual(['other'])
  })

  test('is shown with its class, and a wrong pattern is refused at once', async () => {
    kit = await startKit({ workers: [report(NIGHTLY)] })
    expect((await kit.engine.workers.list()).workers).toContainEqual(
      expect.objectContaining({ class: 'report', cron: NIGHTLY }),
    )
    expect(() => isolate([report({ expression: 'at night' })])).toThrow(/^class report of queue default: cron: /)
    expect(() => isolate([report({ expression: '0 2 * * *', tz: 'Mars' })])).toThrow(
      /^class report of queue default: cron: /,
    )
  })
})
