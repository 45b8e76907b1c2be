// Number of random orders of a story: a hundred by `npm run orders`, fewer among all tests.

export const SEEDS = Number(process.env.SIDEJOB_TEST_SEEDS ?? 2)
