// Number of random orders per scenario: 100 with `npm run orders`, fewer in normal tests.

export const SEEDS = Number(process.env.SIDEJOB_TEST_SEEDS ?? 2)
