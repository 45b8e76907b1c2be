import { useWay, type Way } from '../look.ts'
import { moreText, type Searched, searchedOf } from '../words/further.ts'
import { title } from '../words/text.ts'
import { LinkButton } from './act.tsx'

type FurtherProps = {
  cursor: string | null
  newest?: number
  /** Query parameters that the link changes in addition to the cursor. */
  changes?: Parameters<Way>[0]
  more: string
  rows: number
  limit: number
  searched?: Searched
}

/** With `data-more`, a script continues the search, because the page is not full. */
export function Further({ cursor, newest, changes, more, rows, limit, searched }: FurtherProps) {
  const way = useWay()
  if (cursor === null) return null
  const isFull = rows >= limit
  const { where, done, of } = searched ?? searchedOf({ cursor, newest }) ?? {}
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
            {moreText(rows, where)}
          </span>
        </>
      )}
      <LinkButton to={way({ ...changes, cursor })} small>
        {isFull ? title(more) : `Search ${more}`}
      </LinkButton>
    </div>
  )
}
