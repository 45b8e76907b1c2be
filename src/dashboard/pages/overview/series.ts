import type { Asked } from '../../page.ts'
import type { Range } from '../../words/series.ts'

const FRESH = 10_000

export const seriesOf = ({ engine, cache }: Asked, { step }: Range) =>
  cache.get(`series ${step}`, FRESH, () => engine.stats.series({ step, details: true }))
