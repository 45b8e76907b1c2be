import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Came, type Receiver, startReceiver } from '../../kit/receiver.ts'
import { startWorkerd, type Workerd } from './kit.ts'

const JOBS = 200
const LANES = 8
const CALLS = 4
const LEASE = 8_000

/** The id of a call is the token of its run, which contains the lane. */
const laneOf = ({ headers }: Came): string => headers['webhook-id']!.split('.')[2]!.slice(0, 6)
const open: Record<string, number> = {}
let most = 0

/** The first calls take longer than a lease, so their runs would be lost without renewals. */
const timeOf = (): number => (receiver.came.length <= LANES * CALLS ? LEASE + 4_000 : 3_000)

let workerd: Workerd
let receiver: Receiver
beforeAll(async () => {
  receiver = await startReceiver((came, response) => {
    const lane = laneOf(came)
    open[lane] = (open[lane] ?? 0) + 1
    most = Math.max(most, open[lane])
    response.once('close', () => open[lane]!--)
    setTimeout(() => response.end(), timeOf())
  })
  workerd = await startWorkerd({ plan: 'payg', vars: { SIDEJOB_LANE_LEASE: `${LEASE}ms` } })
})
afterAll(async () => {
  await workerd?.close()
  await receiver?.close()
})

test('200 jobs of 3 s are called once each, at most four at once in a lane, and no lease is lost', async () => {
  const { client, stack } = workerd
  await client.workers.register('slow', 'call', { push: { url: `${receiver.url}/` }, timeout: 60 })
  const input = { queue: 'slow', class: 'call', retain: 3_600 }
  const made = await Promise.all(Array.from({ length: JOBS }, () => client.jobs.enqueue(input)))
  const all = async () => Promise.all(made.map(({ id }) => client.jobs.get(id)))
  const left = async () => (await all()).filter(({ status }) => status !== 'completed').length
  await expect.poll(left, { timeout: 90_000, interval: 2_000 }).toBe(0)

  expect(receiver.came).toHaveLength(JOBS)
  expect(most).toBe(CALLS)
  expect(Object.keys(open).length).toBeGreaterThanOrEqual(LANES)
  expect(receiver.most()).toBeGreaterThan(2 * CALLS)
  for (const { id } of made) {
    const { runs } = await client.jobs.runs(id)
    expect(runs.map(({ outcome, attempt }) => ({ outcome, attempt }))).toEqual([{ outcome: 'completed', attempt: 1 }])
  }
  for (const { lost } of await all()) expect(lost).toBe(0)
  expect(await keysLike(stack, '*breaker*')).toEqual([])
  expect(workerd.printed).toEqual([])
}, 120_000)

async function keysLike({ gateway, note }: Workerd['stack'], glob: string): Promise<unknown> {
  const answer = await fetch(gateway.url, {
    method: 'POST',
    headers: { authorization: `Bearer ${note.gateway.token}` },
    body: JSON.stringify(['KEYS', glob]),
  })
  return ((await answer.json()) as { result: unknown }).result
}
