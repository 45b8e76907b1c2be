// Cost of a job: number and duration of its runs, at the prices of a deployment.

import { SidejobError } from './errors.ts'

/** In any currency. */
export type Prices = { run: number; second: number }

/** Milliseconds; `commits` is null if the recorded runs lack it; `whole` is true if no run is missing. */
export type Spent = { runs: number; took: number; commits: number | null; whole: boolean }

const expected = 'expected prices of a run and of a second of it, such as "run=0.00002,second=0.00001"'

/**
 * Omitted prices are zero.
 *
 * @example readPrices('run=0.00002, second=0.00001') // { run: 0.00002, second: 0.00001 }
 */
export function readPrices(text: string): Prices {
  const prices: Prices = { run: 0, second: 0 }
  for (const part of text.split(',')) {
    const [, name, value] = /^\s*(run|second)\s*=\s*(\d*\.?\d+)\s*$/.exec(part) ?? []
    if (!name) throw new SidejobError('MISCONFIGURED', `SIDEJOB_PRICES: ${expected}, got "${text.slice(0, 60)}"`)
    prices[name as keyof Prices] = Number(value)
  }
  return prices
}

/** @example priceOf({ runs: 2, took: 3_000 }, { run: 0.1, second: 0.01 }) // 0.23 */
export const priceOf = ({ runs, took }: Pick<Spent, 'runs' | 'took'>, { run, second }: Prices): number =>
  runs * run + (took / 1_000) * second
