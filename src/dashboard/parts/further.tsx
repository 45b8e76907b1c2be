// The end of a list that has more: a link to older rows. A script appends them, and continues by itself if there are few.

import { searchedOf } from '../search-on.ts'
import { furtherText } from '../words/further.ts'
import { To } from './layout.tsx'

type FurtherProps = {
  /** Path of the next page, below the base. */
  to: string
  /** Rows on this page, and the number of rows that fill one. */
  rows: number
  limit: number
  cursor: string | null
  newest?: number
}

/** `data-more`: the page is not full, so the script continues. */
export function Further({ to, rows, limit, cursor, newest }: FurtherProps) {
  if (cursor === null) return null
  const far = searchedOf({ cursor, newest })
  return (
    <div
      class="further"
      id="further"
      data-more={rows < limit ? String(limit - rows) : undefined}
      data-limit={limit}
      data-searched={far?.searched}
      data-of={far?.of}
    >
      {far && rows < limit && (
        <>
          <progress max={far.of} value={far.searched} aria-label="Searched" />
          <span class="word" aria-live="polite">
            {furtherText({ rows, ...far })}
          </span>
        </>
      )}
      <To kind="btn small" to={to}>
        {rows < limit ? 'Search older jobs' : 'Older jobs'}
      </To>
    </div>
  )
}
