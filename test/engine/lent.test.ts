// What a lane notes of jobs that come with calls.

import { expect, test } from 'vitest'
import { createLent } from '../../src/engine/lane/lent.ts'
import type { ClaimedJob } from '../../src/redis/types.ts'

const lentUnder = (token: string): ClaimedJob => ({ document: { token } }) as unknown as ClaimedJob

test('what comes while Redis is being told of others is told of with the next request', () => {
  const lent = createLent()
  lent.byCall([lentUnder('1.1.a')], 0)
  const told = lent.heard()
  lent.byCall([lentUnder('2.1.a')], 5)
  lent.told(told.length)
  expect(lent.heard()).toEqual(['2.1.a'])
})
