import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defineWorker } from '../../src/index.ts'
import { type Kit, kind, startKit } from '../kit/index.ts'
import { type Cost, costOf } from './commandstats.ts'

const noop = defineWorker({ class: 'noop', retain: 0, perform() {} })
const JOBS = 3_000

// The embedded Redis does not count commands.
describe.skipIf(kind === 'embedded')('the cost of 3,000 jobs', () => {
  let kit: Kit
  let alone: Cost

  async function run(): Promise<Cost> {
    const jobs = Array.from({ length: 1_000 }, () => ({ queue: 'default', class: 'noop' }))
    await kit.engine.queues.update('default', { paused: true, lanes: 1 })
    return costOf(kit, async () => {
      for (let made = 0; made < JOBS; made += jobs.length) await kit.engine.jobs.enqueue(jobs)
      await kit.engine.queues.update('default', { paused: false })
      await kit.until(async () => (await kit.engine.queues.get('default')).counts.queued === 0)
    })
  }

  const listen = (...channels: string[]) =>
    kit.store.change('', [['listen', '600000', String(channels.length), ...channels]])

  /** Omits the commands of polling, because their number varies. */
  const worth = ({ commands }: Cost) =>
    Object.entries(commands).reduce((sum, [name, n]) => (/^(time|evalsha|mget|zcard)$/.test(name) ? sum : sum + n), 0)

  beforeAll(async () => {
    // `short` makes every batch count as fast, so that the size of a claim does not depend on the machine.
    kit = await startKit({ workers: [noop], lane: { short: Number.POSITIVE_INFINITY } })
    await run()
    alone = await run()
  })
  afterAll(() => kit.close())

  test('with a subscriber to another job, to another channel and to an empty log: no extra command', async () => {
    await listen('/sidejob/job/999999', '/orders/7', '/sidejob/children/999999')
    const { commands } = await run()
    expect(commands.publish ?? 0).toBe(0)
    const heard = await run()
    console.log(`3,000 no-op jobs: ${alone.billed} commands alone, ${heard.billed} with a listener on another job`)
    expect(worth(heard)).toBeLessThanOrEqual(worth(alone) * 1.1 + 5)
  })

  test('with a subscriber to one job: the messages of this job are published, and other jobs cost the same', async () => {
    const next = (await kit.store.lastId()) + 1_500
    await listen(`/sidejob/job/${next}`)
    const heard = await run()
    expect(heard.commands.publish).toBe(4)
    expect(worth(heard)).toBeLessThanOrEqual(worth(alone) * 1.1 + 60)
  })
})
