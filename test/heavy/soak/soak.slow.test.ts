import { expect, test } from 'vitest'
import { kind } from '../../kit/index.ts'
import { families } from './families.ts'
import { limits } from './limits.ts'
import { repeats } from './repeats.ts'
import { tableOf } from './show.ts'
import { timers } from './timers.ts'

test.skipIf(kind === 'embedded').each([
  ['limits', limits, { jobs: 300, crashes: 1 }],
  ['families', families, { trees: 1 }],
  ['repeats', repeats, { jobs: 40, days: 12, from: 79 }],
  ['timers', timers, { jobs: 1_000, seconds: 5, lead: 5 }],
])('%s, at a small size', { timeout: 120_000 }, async (_, show, sizes) => {
  const rows = await show.run(sizes)
  console.log(tableOf(rows).join('\n'))
  expect(rows.filter(({ met }) => !met)).toEqual([])
})
