// A new version that is rolled out while there is much to do.

import { afterAll, beforeAll, test } from 'vitest'
import { startState } from '../../kit/index.ts'
import { rollOut, type State } from './rolling.ts'

let state: State
beforeAll(async () => {
  state = await startState()
})
afterAll(() => state.close())

test('while both serve a queue, a thousand jobs are done once each', { timeout: 300_000 }, () => rollOut(state, 1_000))
