// In how many orders by chance a story is played: a hundred by `npm run orders`, fewer among all the other tests.

import { kind } from './kit.ts'

export const SEEDS = Number(process.env.SIDEJOB_TEST_SEEDS ?? (kind === 'server' ? 20 : 5))
