import { furtherText, type Searched } from '../words/further.ts'
import { title } from '../words/text.ts'
import { To } from './layout.tsx'

type FurtherProps = {
  to?: string
  more: string
  rows: number
  limit: number
  searched?: Searched
}

/** With `data-more`, a script continues the search, because the page is not full. */
export function Further({ to, more, rows, limit, searched }: FurtherProps) {
  if (to === undefined) return null
  const isFull = rows >= limit
  const { where, done, of } = searched ?? {}
  return (
    <div
      class="further"
      id="further"
      data-more={isFull ? undefined : String(limit - rows)}
      data-limit={limit}
      data-where={where}
      data-done={done}
    >
      {where !== undefined && !isFull && (
        <>
          {of !== undefined && <progress max={of} value={done} aria-label="Searched" />}
          <span class="word" aria-live="polite">
            {furtherText(rows, where)}
          </span>
        </>
      )}
      <To kind="btn small" to={to}>
        {isFull ? title(more) : `Search ${more}`}
      </To>
    </div>
  )
}
