// Each scenario runs its jobs in this number of random orders. `npm run orders` sets 100.

export const SEEDS = Number(process.env.SIDEJOB_TEST_SEEDS ?? 2)
