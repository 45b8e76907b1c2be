// Number of random orders per story: 100 with `npm run orders`, fewer in the normal tests.

export const SEEDS = Number(process.env.SIDEJOB_TEST_SEEDS ?? 2)
