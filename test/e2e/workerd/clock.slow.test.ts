import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWorkerd, type Workerd } from './kit.ts'

const DAY = 86_400_000

let kit: Workerd
beforeAll(async () => {
  kit = await startWorkerd()
}, 60_000)
afterAll(() => kit.close())

test.skipIf(process.platform !== 'linux')(
  'a moved clock stays moved after workerd ends',
  async () => {
    const { client, stack } = kit
    const made = async () => {
      const { id } = await client.jobs.enqueue({ class: 'count_words', wait: '10 days' })
      return Date.parse((await client.jobs.get(id)).createdAt)
    }
    const before = await made()
    await client.system.advance({ advance: '2 days' })
    expect((await made()) - before).toBeGreaterThanOrEqual(2 * DAY)
    const { pid } = stack.worker
    process.kill(pid!, 'SIGKILL')
    await expect.poll(() => stack.worker.pid !== pid, { timeout: 20_000 }).toBe(true)
    await expect
      .poll(() => client.system.health().catch(() => undefined), { timeout: 20_000 })
      .toMatchObject({ ok: true })
    expect((await made()) - before).toBeGreaterThanOrEqual(2 * DAY)
  },
  60_000,
)
