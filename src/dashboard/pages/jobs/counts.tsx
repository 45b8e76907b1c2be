import { statuses } from '../../../core/job.ts'
import { queryWith } from '../../look.ts'
import { Shape, To } from '../../parts/layout.tsx'
import { type Counted, sumOf } from '../../words/counts.ts'
import { count, title } from '../../words/text.ts'
import { isPast } from './past.tsx'

const pastStatuses = ['completed', 'failed', 'terminated'] as const

export function Counts({ counts, query }: { counts?: Counted; query: URLSearchParams }) {
  const chosen = query.get('status')
  const to = (status?: string) => `/jobs${queryWith(query, { status, cursor: undefined })}`
  return (
    <nav class="counts" aria-label="Statuses">
      <To to={to()} current={!chosen}>
        {counts && <b>{count(sumOf(counts))}</b>}
        <span>All</span>
      </To>
      {(isPast(query) ? pastStatuses : statuses).map((status) => (
        <To to={to(status)} kind={status} current={chosen === status}>
          {counts && <b>{count(counts[status] ?? 0)}</b>}
          <span class={`st ${status}`}>
            <Shape status={status} spins={Boolean(counts?.[status])} />
            {title(status)}
          </span>
        </To>
      ))}
    </nav>
  )
}
