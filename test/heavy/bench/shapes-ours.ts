import { connect, text } from '../../../infra/stand-ins/resp.ts'
import { commandStats } from '../../redis/commandstats.ts'
import { chunksOf, inTurns, lone, trickle } from './load.ts'
import { type Measured, until } from './stack.ts'
import type { Side } from './workloads.ts'

const QUEUE = 'default'
const UNCOUNTED_COMMANDS = ['info', 'type', 'get']
const MEBIBYTE = 1_048_576
const MILLION = 1_000_000

type Input = { class: string; [option: string]: unknown }

export async function startOurs(stack: Measured) {
  const { client } = stack
  const redis = await connect(stack.redis)

  async function completed(): Promise<number> {
    const document = await redis.call('GET', `sidejob:queue:${QUEUE}`)
    if (document === null) return 0
    return (JSON.parse(text(document)) as { c?: { completed?: number } }).c?.completed ?? 0
  }

  async function ended(n: number, make: () => Promise<unknown>): Promise<number> {
    const before = await completed()
    const began = performance.now()
    await make()
    await until(async () => (await completed()) - before >= n, 300_000, 2)
    return performance.now() - began
  }

  const expected = new Map<number, (at: number) => void>()
  let isLooking = false

  /** One loop polls the jobs of all callers, so that they do not slow each other down. */
  async function look(): Promise<void> {
    if (isLooking) return
    isLooking = true
    while (expected.size > 0) {
      const ids = [...expected.keys()]
      const types = await Promise.all(ids.map((id) => redis.call('TYPE', `sidejob:job:${id}`)))
      const at = performance.now()
      for (const [i, id] of ids.entries()) {
        if (text(types[i]!) !== 'none') continue
        expected.get(id)!(at)
        expected.delete(id)
      }
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    isLooking = false
  }

  async function one(): Promise<number> {
    const began = performance.now()
    const { id } = await client.jobs.enqueue({ class: 'noop' })
    const gone = new Promise<number>((resolve) => expected.set(id, resolve))
    void look()
    return (await gone) - began
  }

  const enqueue = (jobs: Input[]) => client.jobs.enqueue(jobs as Parameters<typeof client.jobs.enqueue>[0])
  const made = (inputs: Input[], size = 1_000): Promise<void> => inTurns(chunksOf(inputs, size), 1, enqueue)

  const many = (n: number, input: (i: number) => Input): Input[] => Array.from({ length: n }, (_, i) => input(i))

  const side: Side = {
    lone: (n) => lone(n, one),
    trickle: (rate, seconds) => trickle(rate, seconds, one),
    withArgs(n, bytes) {
      const args = 'x'.repeat(bytes - 2)
      const size = Math.min(1_000, Math.floor((4 * MEBIBYTE) / bytes))
      return ended(n, () =>
        made(
          many(n, () => ({ class: 'noop', args })),
          size,
        ),
      )
    },
    readAndWrite: (n) => ended(n, () => made(many(n, (i) => ({ class: 'pass_on', inputs: { n: [i] } })))),
    fanOut: (n) => ended(n + 1, () => made([{ class: 'fan_out', args: { n } }])),
    chain: (n) => ended(n, () => made([{ class: 'countdown', args: { left: n - 1 } }])),
    limited: (n, concurrency) =>
      ended(n, () => made(many(n, () => ({ class: 'noop', group: { id: 'bench', concurrency } })))),
    async delayed(n, ms) {
      // QStash delivers at whole seconds, which is 500 ms late on average. So these jobs are due 500 ms before one.
      const at = Math.ceil((Date.now() + ms) / 1_000) * 1_000 - 500
      await ended(n, () => made(many(n, () => ({ class: 'noop', at: new Date(at).toISOString() }))))
      return Date.now() - at
    },
  }

  return {
    ...side,
    async cost() {
      const counted = [...(await commandStats(stack))].filter(([name]) => !UNCOUNTED_COMMANDS.includes(name))
      return {
        billed: counted.reduce((sum, [, calls]) => sum + calls, 0),
        messages: (await stack.counts()).published,
      }
    },
    async million(): Promise<string> {
      await client.queues.patch(QUEUE, { paused: true })
      const began = performance.now()
      const chunk = many(1_000, () => ({ class: 'noop' }))
      const chunks = Array.from({ length: MILLION / 1_000 }, () => chunk)
      await inTurns(chunks, 4, enqueue)
      const madeIn = performance.now() - began
      const before = await completed()
      await client.queues.patch(QUEUE, { paused: false })
      const rates: number[] = []
      for (const from of [0, 475_000, 950_000]) {
        await until(async () => (await completed()) - before >= from, 600_000, 2)
        const [start, then] = [await completed(), performance.now()]
        await until(async () => (await completed()) - start >= 45_000, 600_000, 2)
        rates.push((((await completed()) - start) / (performance.now() - then)) * 1_000)
      }
      await until(async () => (await completed()) - before >= MILLION, 600_000, 5)
      const whole = (n: number) => Math.round(n).toLocaleString('en')
      return `a million waiting: made ${whole((MILLION / madeIn) * 1_000)} a second; run ${rates.map(whole).join(', ')} a second at the start, in the middle, at the end`
    },
    close: () => redis.close(),
  }
}
