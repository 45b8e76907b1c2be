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
import { pastFilter } from '../../words/past.ts'
import { count, moment, span } from '../../words/text.ts'
import { deploymentsOf, lastDeploy } from './kinds.tsx'

const ROWS = 50
/** Milliseconds between searches of an open page. D1 bills the rows that it reads. */
const FRESH = 30_000

/** `found` is missing if the deployment has no history. */
export type PastData = { found?: Awaited<ReturnType<Engine['history']['list']>> }

export const isPast = (query: URLSearchParams): boolean => query.get('in') === 'history'

export async function pastJobs(asked: Asked): Promise<PastData> {
  const { engine, query, look, cache } = asked
  if (!engine.history.isOn) return {}
  const deployedAt = query.get('since') === DEPLOY ? lastDeploy(await deploymentsOf(asked))?.at : undefined
  const name = `history ${query}`
  const found = () => engine.history.list({ ...pastFilter(query, { now: look.now, deployedAt }), limit: ROWS })
  return { found: await cache.get(name, FRESH, found) }
}

const columns: readonly Column<HistoryJob>[] = [
  {
    head: 'Class and group',
    cell: ({ id, status, class: name, group, labels }) => (
      <>
        <StatusMark status={status} /> <NameLink to={`/jobs/${id}`} of={name} most={36} isMain /> <JobId id={id} />{' '}
        {group && <Tag of={group} />}
        <LabelTags labels={labels} also="in=history" />
      </>
    ),
  },
  {
    head: 'Error',
    kind: ({ error }) => (error === null ? 'fill dimmer' : 'fill'),
    cell: ({ error }) => error && messageOf(error),
  },
  { head: 'Queue', kind: 'dim', cell: ({ queue }) => <Name of={queue} most={24} /> },
  { head: '#Attempts', label: 'attempts', cell: ({ attempts }) => count(attempts) },
  { head: '#Run', label: 'ran', cell: ({ took }) => (took === null ? '–' : span(took)) },
  { head: '#Ended', label: 'ended', cell: ({ endedAt }) => <Ago at={endedAt} /> },
]

export const NoHistory = () => (
  <Empty>
    This deployment has no history. Redis keeps ended jobs for a day and failed jobs for 30 days, unless their class
    sets another time. To keep ended jobs for 90 days, bind a D1 database as <code>HISTORY</code>, then deploy.
  </Empty>
)

export function Past({ data: { found }, query }: { data: PastData; query: URLSearchParams }) {
  const { zone } = useLook()
  if (!found) return <NoHistory />
  const { jobs, cursor, searchedTo } = found
  if (jobs.length === 0 && cursor === null) return <Empty>No ended jobs match.</Empty>
  return (
    <Card kind="list">
      <DataTable
        caption="Ended jobs, most recently ended first"
        kind="lined"
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
