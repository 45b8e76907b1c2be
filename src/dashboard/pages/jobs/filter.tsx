import { type Status, statuses } from '../../../core/job.ts'
import type { JobFilter } from '../../../engine/engine.ts'
import { queryWith, useLook, useWay } from '../../look.ts'
import type { Asked } from '../../page.ts'
import { Hidden } from '../../parts/act.tsx'
import { Icon, Name, Shape, StatusMark, To } from '../../parts/layout.tsx'
import { type Counted, sumOf } from '../../words/counts.ts'
import { DEPLOY, filterOf, type Token } from '../../words/filter.ts'
import { count, title } from '../../words/text.ts'
import { FRESH, readDeploys } from './kinds.tsx'
import { isPast } from './past.tsx'

export async function filterFor(asked: Asked): Promise<JobFilter> {
  const { query, look } = asked
  const isSince = ['since', 'until'].some((name) => query.get(name) === DEPLOY)
  const deployedAt = isSince ? (await readDeploys(asked))[0]?.at : undefined
  const filter = filterOf(query, { now: look.now, deployedAt })
  if (filter.class === undefined || filter.queue !== undefined || filter.parent !== undefined) return filter
  const queue = await queueOf(asked, filter.class)
  return queue === undefined ? filter : { ...filter, queue }
}

export const classesToday = ({ engine, cache }: Asked) =>
  cache.get('classes today', FRESH, () => engine.stats.classes({}))

export const knownWorkers = ({ engine, cache }: Asked) => cache.get('workers', FRESH, () => engine.workers.list())

async function queueOf(asked: Asked, name: string): Promise<string | undefined> {
  const [{ workers }, { classes }] = await Promise.all([knownWorkers(asked), classesToday(asked)])
  const queues = new Set([...workers, ...classes].filter((one) => one.class === name).map(({ queue }) => queue))
  return queues.size === 1 ? [...queues][0] : undefined
}

type FilterProps = { tokens: Token[]; query: URLSearchParams; completions: readonly string[]; error?: string | null }

export function Filter({ tokens, query, completions, error }: FilterProps) {
  const { base } = useLook()
  const way = useWay()
  return (
    <form class="filter" action={`${base}/jobs`}>
      <Icon name="filter" size={14} />
      <Hidden of={[...query].filter(([name]) => ['sort', 'in', 'columns'].includes(name))} />
      {tokens.map(({ name, value }) => (
        <span class="tok">
          <input type="hidden" name={name} value={value} />
          <span class="kk">{name}</span>
          <span class="vv" title={value}>
            {name === 'status' && statuses.includes(value as Status) && <StatusMark status={value as Status} />}
            <Name of={(name === 'error' && error) || value} most={32} />
          </span>
          <To
            kind="xx"
            label={`Remove ${name} ${value}`}
            to={way({ [name]: undefined, cursor: undefined, sel: undefined })}
          >
            <Icon name="x" size={12} />
          </To>
        </span>
      ))}
      <input
        name="q"
        aria-label="Filter"
        autocomplete="off"
        list="completions"
        placeholder="status, queue:  class:  group:  tag:  text:  args.id:  labels.customer:  since:6h  longer:1m  or #id"
      />
      <datalist id="completions">
        {completions.map((text) => (
          <option value={text} />
        ))}
      </datalist>
      <kbd>/</kbd>
    </form>
  )
}

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
