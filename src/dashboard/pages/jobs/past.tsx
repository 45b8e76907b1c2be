import type { HistoryJob } from '../../../engine/engine.ts'
import type { Engine } from '../../../engine/index.ts'
import { queryWith, useLook } from '../../look.ts'
import type { Asked } from '../../page.ts'
import { Further } from '../../parts/further.tsx'
import { LabelTags } from '../../parts/label-tags.tsx'
import { Ago, Card, Empty, JobId, Name, NameLink, StatusMark, Tag } from '../../parts/layout.tsx'
import { type Column, DataTable } from '../../parts/table.tsx'
import { DEPLOY } from '../../words/filter.ts'
import { messageOf } from '../../words/job.ts'
import { textOf } from '../../words/json.ts'
import { pastFilter } from '../../words/past.ts'
import { count, moment, span } from '../../words/text.ts'
import { deploymentsOf, lastDeploy } from './kinds.tsx'

const ROWS = 50
/** Milliseconds between searches of an open page. D1 bills the rows that it reads. */
const FRESH = 30_000

/** `found` is missing if the deployment has no history. */
export type PastData = { found?: Awaited<ReturnType<Engine['history']['list']>>; days?: number | null }

export const isPast = (query: URLSearchParams): boolean => query.get('in') === 'history'

export async function pastJobs(asked: Asked): Promise<PastData> {
  const { engine, query, look, cache } = asked
  if (!engine.history.isOn) return {}
  const deployedAt = query.get('since') === DEPLOY ? lastDeploy(await deploymentsOf(asked))?.at : undefined
  const filter = { ...pastFilter(query, { now: look.now, deployedAt }), limit: ROWS }
  const [found, { keptDays: days }] = await Promise.all([
    cache.get(`history ${query}`, FRESH, () => engine.history.list(filter)),
    cache.get('history', FRESH, () => engine.history.status()),
  ])
  return { found, days }
}

/** The columns of current jobs, so that both lists look the same. */
const columns: readonly Column<HistoryJob>[] = [
  { head: '-', cell: () => '' },
  { head: '-Status', cell: ({ status }) => <StatusMark status={status} /> },
  { head: 'Job', cell: ({ id }) => <JobId id={id} /> },
  {
    head: 'Class and group',
    kind: 'cls',
    cell: ({ id, class: name, group, labels }) => (
      <>
        <NameLink to={`/jobs/${id}`} of={name} most={36} isMain /> {group && <Tag of={group} />}
        <LabelTags labels={labels} also="in=history" />
      </>
    ),
  },
  {
    head: 'What happened',
    kind: 'fill',
    cell: ({ error, result }) => (error ? messageOf(error) : result && textOf(result).text),
  },
  { head: 'Queue', cell: ({ queue }) => <Name of={queue} most={24} /> },
  { head: '#Prio', cell: ({ priority }) => priority },
  { head: '#Runs', cell: ({ attempts }) => count(attempts) },
  { head: '#Run', cell: ({ took }) => (took === null ? '–' : span(took)) },
  { head: '#Ended', cell: ({ endedAt }) => <Ago at={endedAt} /> },
]

export const NoHistory = () => (
  <Empty>
    This deployment has no history. Redis keeps ended jobs for a day and failed jobs for 30 days, unless their class
    sets another time. To keep ended jobs for 90 days, bind a D1 database as <code>HISTORY</code>, then deploy.
  </Empty>
)

export function Past({ data: { found, days }, query }: { data: PastData; query: URLSearchParams }) {
  const { zone } = useLook()
  if (!found) return <NoHistory />
  const { jobs, cursor, searchedTo } = found
  return (
    <Card kind="list">
      <p class="note body">
        Jobs that ended{days && ` in the last ${days} days`}. Search by <code>labels.customer:7</code>,{' '}
        <code>args.order.id:42</code>, <code>text:declined</code> (errors and args), <code>longer:1m</code> or{' '}
        <code>since:7d</code>.
      </p>
      {jobs.length === 0 && cursor === null && <Empty>No ended jobs match.</Empty>}
      <DataTable
        caption="Ended jobs, most recently ended first"
        kind="jobs"
        id="rows"
        grows
        rows={jobs}
        columns={columns}
        idOf={({ id, endedAt }) => `row-${id}-${endedAt}`}
      />
      <Further
        to={cursor === null ? undefined : `/jobs${queryWith(query.toString(), { cursor })}`}
        more="older jobs"
        rows={jobs.length}
        limit={ROWS}
        searched={searchedTo === null ? undefined : { where: `the jobs that ended since ${moment(searchedTo, zone)}` }}
      />
    </Card>
  )
}
