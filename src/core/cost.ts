import { SidejobError } from './errors.ts'

export type Prices = { run: number; second: number }

/** Maximum stored runs of a job without a history. */
export const FAILURES_KEPT = 10

/** If `whole` is false, some failed runs are not stored, so `total` is too small. */
export type Spent = { runs: number; total: number; took: number; commits: number | null; whole: boolean }

const expected = 'expected the price of a run and of a second of run time, such as "run=0.00002,second=0.00001"'

export function readPrices(text: string): Prices {
  const prices: Prices = { run: 0, second: 0 }
  for (const part of text.split(',')) {
    const [, name, value] = /^\s*(run|second)\s*=\s*(\d*\.?\d+)\s*$/.exec(part) ?? []
    if (!name) throw new SidejobError('MISCONFIGURED', `SIDEJOB_PRICES: ${expected}, got "${text.slice(0, 60)}"`)
    prices[name as keyof Prices] = Number(value)
  }
  return prices
}

export const priceOf = ({ runs, took }: Pick<Spent, 'runs' | 'took'>, { run, second }: Prices): number =>
  runs * run + (took / 1_000) * second

type Known = { cost?: Pick<Spent, 'whole'>; history: number }

const lacksRuns = ({ cost }: Known): boolean => cost?.whole === false

export const lacksFailedRuns = (job: Known, { length }: { length: number }): boolean =>
  lacksRuns(job) && length >= (job.history || FAILURES_KEPT)
