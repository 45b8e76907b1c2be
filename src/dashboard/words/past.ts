import { check } from '../../core/issues.ts'
import { type HistoryQuery, historyQuery } from '../../core/schemas/history.ts'
import { isInMap, type Moments, mapsOf, momentOf, stretchIn, tokensOf } from './filter.ts'

/**
 * Accepts the same filters as the API. `since` and `until` refer to the end of a job.
 *
 * @example pastFilter(new URLSearchParams('class=mail&since=6h'), { now }) // { class: 'mail', since: now - 21_600_000 }
 */
export function pastFilter(query: URLSearchParams, moments: Moments): HistoryQuery {
  const given: Record<string, unknown> = mapsOf(query)
  for (const { name, value } of tokensOf(query))
    if (!isInMap(name)) given[name] = name === 'since' || name === 'until' ? (momentOf(value, moments) ?? value) : value
  const { ended, ...rest } = given
  const stretch = stretchIn(query, moments.now)
  return check(historyQuery, {
    ...(stretch ? rest : given),
    ...(stretch && { since: stretch.from }),
    ...(stretch && stretch.to !== Infinity && { until: stretch.to }),
    ...(query.get('cursor') && { cursor: query.get('cursor') }),
  })
}
