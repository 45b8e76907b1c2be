// The filter line, which is the query string, and the views that are shipped.

import type { Status } from '../../../core/job.ts'
import { queryWith, useLook } from '../../look.ts'
import { Icon, StatusMark } from '../../parts/icon.tsx'
import { To } from '../../parts/layout.tsx'
import type { Counted } from '../../words/counts.ts'
import type { Token } from '../../words/filter.ts'
import { count } from '../../words/number.ts'
import { cut } from '../../words/text.ts'

/** Named query strings. */
const views: { name: string; query: string; counts?: Status }[] = [
  { name: 'All', query: '' },
  { name: 'Failed', query: 'status=failed', counts: 'failed' },
  { name: 'Running', query: 'status=running', counts: 'running' },
  { name: 'Ready or later', query: 'status=queued', counts: 'queued' },
  { name: 'At rest', query: 'status=suspended', counts: 'suspended' },
]

export function Views({ counts, query }: { counts: Counted; query: URLSearchParams }) {
  const own = new URLSearchParams(query)
  for (const name of ['cursor', 'bulk']) own.delete(name)
  return (
    <nav class="views" aria-label="Views">
      {views.map(({ name, query, counts: status }) => (
        <To to={`/jobs${query && `?${query}`}`} current={own.toString() === query}>
          {name} {status && <span class="n">{count(counts[status] ?? 0)}</span>}
        </To>
      ))}
    </nav>
  )
}

export function Filter({ tokens }: { tokens: Token[] }) {
  const { base, here } = useLook()
  const search = here.includes('?') ? here.slice(here.indexOf('?')) : ''
  return (
    <form class="filter" action={`${base}/jobs`}>
      <Icon name="filter" size={14} />
      {tokens.map(({ name, value }) => (
        <span class="tok">
          <input type="hidden" name={name} value={value} />
          <span class="kk">{name}</span>
          <span class="vv" title={value}>
            {name === 'status' && <StatusMark status={value as Status} />}
            {cut(value, 32)}
          </span>
          <To
            kind="xx"
            label={`Remove ${name} ${value}`}
            to={`/jobs${queryWith(search, { [name]: undefined, cursor: undefined })}`}
          >
            <Icon name="x" size={12} />
          </To>
        </span>
      ))}
      <input
        name="q"
        aria-label="Filter"
        autocomplete="off"
        placeholder="status, queue:  class:  group:  parent:  alias:  or #id"
      />
      <kbd>/</kbd>
    </form>
  )
}
