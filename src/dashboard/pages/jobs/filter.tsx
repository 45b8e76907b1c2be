// The filter line, which is the query string.

import type { Status } from '../../../core/job.ts'
import { queryWith, useLook } from '../../look.ts'
import { Icon, StatusMark } from '../../parts/icon.tsx'
import { To } from '../../parts/layout.tsx'
import type { Token } from '../../words/filter.ts'
import { cut } from '../../words/text.ts'

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
