// Simulates clients and workers whose calls reach Redis in a random order, and checks Redis after each call. Each test
// run uses the same seeds. `npm run chaos` uses other seeds.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunningRedis, startRedis } from '../../../infra/stand-ins/redis.ts'
import { kind } from '../../kit/index.ts'
import { type Played, play } from './interleavings.ts'
import { directClient } from './redis.ts'

const INTERLEAVINGS = kind === 'server' ? 24 : 20
/** A busy machine runs fewer interleavings in this time. */
const ENOUGH_MS = 15_000

let redis: RunningRedis
beforeAll(async () => {
  redis = await startRedis({ force: kind, persist: false })
})
afterAll(() => redis.close())

const shown = ({ seed, violations }: Played): string[] =>
  violations.map(({ fault, detail }) => `npm run chaos -- --seed ${seed} --trace: ${fault}: ${detail}`)

test('nothing is lost, doubled, overtaken or left behind in any interleaving', { timeout: 60_000 }, async () => {
  const until = performance.now() + ENOUGH_MS
  const faults: string[] = []
  let next = 1
  async function playOn(): Promise<void> {
    const direct = await directClient(redis)
    while (next <= INTERLEAVINGS && performance.now() < until)
      faults.push(...shown(await play({ seed: next++, redis: direct })))
    await direct.close()
  }
  await Promise.all(Array.from({ length: 4 }, playOn))
  expect(faults).toEqual([])
  expect(next).toBeGreaterThan(1)
})
