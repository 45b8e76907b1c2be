import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Worker } from '../../src/core/worker.ts'
import { createEngine } from '../../src/engine/index.ts'
import { defineWorker } from '../../src/index.ts'
import { drain } from '../../src/testing/index.ts'
import { type Kit, kind, startKit } from '../kit/index.ts'
import { costOf } from '../redis/commandstats.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

let kit: Kit
beforeEach(async () => {
  kit = await startKit({ hold: true })
  await kit.advance(DAY - (kit.now() % DAY) + 4 * HOUR)
})
afterEach(() => kit.close())

async function deploy(version: string, broken = false) {
  const resize = defineWorker({
    class: 'resize',
    retry: { max: 0 },
    perform() {
      if (broken) throw new Error(`no memory in ${version}`)
    },
  })
  const engine = createEngine({ ...kit.engineOptions, workers: [resize as Worker], version, author: 'Ann' })
  await engine.tick()
  return {
    engine,
    async run(n: number): Promise<void> {
      const jobs = Array.from({ length: n }, () => ({ queue: 'default', class: 'resize' }))
      await engine.jobs.enqueue(jobs as never)
      await drain(engine, { errors: 'keep' })
    },
  }
}

const only = async () => (await kit.engine.deployments.list()).deployments[0]!

test('a deployment lists its deploys with their versions, newest first, also if no class changed', async () => {
  const at: number[] = []
  for (const version of ['v1', 'v2', 'v2', 'v3']) {
    await kit.advance(HOUR)
    await deploy(version)
    at.push(kit.now())
  }
  const { version, deploys } = await only()
  expect(version).toBe('v3')
  expect(deploys.map((one) => one.version)).toEqual(['v3', 'v2', 'v1'])
  expect(deploys.map(({ author }) => author)).toEqual(['Ann', 'Ann', 'Ann'])
  for (const [i, expected] of [at[3]!, at[1]!, at[0]!].entries())
    expect(Math.abs(deploys[i]!.at - expected)).toBeLessThan(5_000)
})

test('the time before and after a deploy is compared by class, and new kinds of errors are listed', async () => {
  await (await deploy('v1')).run(5)
  await kit.advance(HOUR)
  const broken = await deploy('v2', true)
  await broken.run(3)
  await kit.advance(HOUR)
  const { id, deploys } = await only()
  const bad = await kit.engine.deployments.compare(id)
  expect(bad).toMatchObject({
    deployment: id,
    version: 'v2',
    at: deploys[0]!.at,
    isWhole: true,
    more: false,
    before: { version: 'v1', to: deploys[0]!.at },
    after: { version: 'v2', from: deploys[0]!.at },
    classes: [
      {
        queue: 'default',
        class: 'resize',
        before: { counts: { made: 5, runs: 5, completed: 5, failed: 0, errors: 0 } },
        after: { counts: { made: 3, runs: 3, completed: 0, failed: 3, errors: 3 } },
      },
    ],
    errors: [{ class: 'resize', count: 3, example: 'no memory in v2' }],
  })
  expect(bad.classes[0]!.before!.took!.buckets.reduce((a, b) => a + b)).toBe(5)
  expect(bad.classes[0]!.after!.took!.buckets.reduce((a, b) => a + b)).toBe(3)
  expect(Math.abs(bad.after.to - kit.now())).toBeLessThan(5_000)

  await (await deploy('v3')).run(2)
  const repaired = await kit.engine.deployments.compare(id)
  expect(repaired).toMatchObject({ version: 'v3', before: { from: deploys[0]!.at }, errors: [] })
  expect(repaired.classes[0]).toMatchObject({
    before: { counts: { made: 3, failed: 3 } },
    after: { counts: { made: 2, failed: 0, completed: 2 } },
  })
  expect(await kit.engine.deployments.compare(id, { at: deploys[0]!.at })).toMatchObject({
    version: 'v2',
    classes: bad.classes,
    errors: [{ example: 'no memory in v2' }],
    after: { to: (await only()).deploys[0]!.at },
  })
})

test('the time before the second deploy begins with the first deploy, not at midnight of the day before', async () => {
  const first = await deploy('v1')
  await first.run(3)
  await kit.advance(60_000)
  await (await deploy('v2')).run(1)
  const { id, deploys } = await only()
  const { before, classes } = await kit.engine.deployments.compare(id)
  expect(before).toEqual({ version: 'v1', from: deploys[1]!.at, to: deploys[0]!.at })
  expect(classes[0]!.before!.counts.made).toBe(3)
})

test('a comparison over midnight adds up both days; longer comparisons begin a day before their end', async () => {
  await deploy('v0')
  const { id } = await only()
  await (await deploy('v1')).run(1)
  await kit.advance(18 * HOUR)
  const second = await deploy('v2')
  await second.run(2)
  await kit.advance(4 * HOUR)
  await second.run(4)
  const made = async () => {
    const { classes, before, after } = await kit.engine.deployments.compare(id)
    return [classes[0]!.before?.counts.made, classes[0]!.after?.counts.made, before.from, after.from]
  }
  const { deploys } = await only()
  expect(await made()).toEqual([1, 6, deploys[1]!.at, deploys[0]!.at])
  await kit.advance(2 * DAY)
  await second.run(8)
  await kit.advance(DAY)
  await second.run(16)
  const midnight = kit.now() - (kit.now() % DAY)
  expect(await made()).toEqual([1, 24, deploys[1]!.at, midnight - DAY])
})

test('an unknown deployment or deploy is refused with the call that lists the known ones', async () => {
  await deploy('v1')
  const { id } = await only()
  await expect(kit.engine.deployments.compare('other')).rejects.toMatchObject({
    code: 'NOT_FOUND',
    message: 'there is no deployment other: GET /v1/deployments lists them',
  })
  await expect(kit.engine.deployments.compare(id, { at: DAY })).rejects.toMatchObject({
    code: 'NOT_FOUND',
    message: `deployment ${id} has no deploy at 1970-01-02T00:00:00.000Z: only its last 20 deploys are kept`,
  })
})

test('only the last 20 deploys are kept', async () => {
  for (let i = 0; i < 24; i++) {
    await kit.advance(HOUR)
    await deploy(`v${i}`)
  }
  const { id, deploys } = await only()
  expect(deploys.map(({ version }) => version)).toEqual(Array.from({ length: 20 }, (_, i) => `v${23 - i}`))
  const kept = await kit.store.deploys(id, [deploys[19]!.at, deploys[19]!.at - HOUR])
  expect(kept.map((text) => text !== null)).toEqual([true, false])
})

test.skipIf(kind === 'embedded')(
  'a deploy costs nine commands, four more ten minutes later, and then none',
  async () => {
    const TICK = 2
    const cost = async () => (await costOf(kit, () => deploy('v2'))).billed - TICK
    await deploy('v1')
    await kit.advance(HOUR)
    expect(await cost()).toBeLessThanOrEqual(9)
    expect(await cost()).toBeLessThanOrEqual(1)
    await kit.advance(HOUR)
    expect(await cost()).toBeLessThanOrEqual(4)
    expect(await cost()).toBeLessThanOrEqual(0)
  },
)
