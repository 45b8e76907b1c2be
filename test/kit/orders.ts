// Number of random orders for each scenario. `npm run orders` sets 100.

export const SEEDS = Number(process.env.SIDEJOB_TEST_SEEDS ?? 2)
