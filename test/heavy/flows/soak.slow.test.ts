import { expect, test } from 'vitest'
import { kind } from '../../kit/index.ts'
import { underEdits, underKills } from './soak.ts'

const range = (n: number) => Array.from({ length: n }, (_, i) => i)

test('200 values pass 10 nodes while lanes die 5 times: each arrives once, in order', {
  timeout: 120_000,
}, async () => {
  const { values, kills, faults } = await underKills({ values: 200, nodes: 10, kills: 5, seed: 1 })
  expect(values).toEqual(range(200))
  expect({ kills, faults }).toEqual({ kills: 5, faults: [] })
})

// This takes minutes with the embedded Redis.
test.skipIf(kind === 'embedded')(
  '500 values stream while the graph changes 10 times: no value is lost',
  { timeout: 120_000 },
  async () => {
    const { edits, out, left, ...rest } = await underEdits({ values: 500, edits: 10, seed: 1 })
    expect(rest).toEqual({ missing: [], doubled: [], faults: [] })
    expect(edits.made).toBe(10)
    expect(out + left).toBe(500)
  },
)
