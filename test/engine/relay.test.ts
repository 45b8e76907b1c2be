import { expect, test } from 'vitest'
import { createRelay } from '../../src/engine/remote/relay.ts'

const claimed = (id: number) => ({ id, document: { token: `${id}.1.a` } }) as never

test('a relay pauses four times as long as its last step took', async () => {
  let now = 0
  const rests: number[] = []
  const relay = createRelay({
    elapsed: () => now,
    rest: async (ms) => {
      rests.push(ms)
      now += ms
    },
  })
  await relay(claimed(1))
  now += 30
  await relay(claimed(1))
  expect(rests).toEqual([120])
  await relay(claimed(2))
  now += 10_000
  await relay(claimed(1))
  expect(rests).toEqual([120])
})
