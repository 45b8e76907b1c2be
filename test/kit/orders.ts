// In how many orders by chance a story is played: a hundred by `npm run orders`, fewer among all the other tests.

export const SEEDS = Number(process.env.SIDEJOB_TEST_SEEDS ?? 2)
