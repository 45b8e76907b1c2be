import type { Child } from 'hono/jsx'
import type { JobRow } from '../../../engine/engine.ts'
import { queryWith } from '../../look.ts'
import { LinkButton } from '../../parts/act.tsx'
import { Further } from '../../parts/further.tsx'
import { LabelTags } from '../../parts/label-tags.tsx'
import { Ago, Empty, JobId, Link, Name, NameLink, StatusMark, Tag, To } from '../../parts/layout.tsx'
import { type Column, DataTable } from '../../parts/table.tsx'
import { What } from '../../parts/what.tsx'
import { canSort, isSorted } from '../../words/filter.ts'
import { failedRuns, tookText } from '../../words/job.ts'
import { ownColumns } from './columns.tsx'

function failuresOf(job: JobRow): Child {
  const failures = job.status === 'failed' ? Math.max(1, job.attempt) : failedRuns(job)
  return failures > 0 ? <span class="up">{failures}</span> : '–'
}

type Common = Pick<JobRow, 'id' | 'status' | 'class' | 'group' | 'labels' | 'queue'> & Partial<Pick<JobRow, 'name'>>

export function columnsWith<Job extends Common>(what: Column<Job>['cell'], also?: string): Column<Job>[] {
  return [
    { head: '-Status', cell: ({ status }) => <StatusMark status={status} /> },
    { head: 'Job', cell: ({ id }) => <JobId id={id} /> },
    {
      head: 'Class and group',
      kind: 'cls',
      cell: ({ id, class: of, name, group, labels }) => (
        <>
          <NameLink to={`/jobs/${id}`} of={of} most={36} isMain />{' '}
          {name && name !== of && <Name of={name} most={24} kind="dimmer" />} {group && <Tag of={group} />}
          <LabelTags labels={labels} also={also} />
        </>
      ),
    },
    { head: 'What happened', kind: 'fill', cell: what },
    { head: 'Queue', cell: ({ queue }) => <Name of={queue} most={24} /> },
  ]
}

export const WhatHappened = ({ job, paused }: { job: JobRow; paused?: ReadonlySet<string> }) =>
  job.status === 'completed' && job.ranAt !== null ? (
    <>completed in {tookText(job)}</>
  ) : (
    <What job={job} paused={paused} />
  )

function Moment({ query }: { query: URLSearchParams }) {
  const sorted = isSorted(query)
  const to = `/jobs${queryWith(query, { sort: sorted ? undefined : 'ended', cursor: undefined })}`
  const text = sorted ? 'Ended ↓' : query.get('status') === 'failed' ? 'Ended' : 'Created or ended'
  return (
    <th scope="col" class="num" aria-sort={sorted ? 'descending' : undefined}>
      {canSort(query) ? (
        <To kind="link" to={to} label={`${text}. Sort by ${sorted ? 'creation time' : 'end time'}`}>
          {text}
        </To>
      ) : (
        text
      )}
    </th>
  )
}

type RowsProps = {
  jobs: JobRow[]
  cursor: string | null
  newest?: number
  limit: number
  hasJobs: boolean
  query: URLSearchParams
  selected: ReadonlySet<string>
  paused: ReadonlySet<string>
  total?: string
}

function NoJobs({ hasJobs, query }: Pick<RowsProps, 'hasJobs' | 'query'>) {
  if (hasJobs)
    return (
      <Empty>
        No jobs match. This list keeps most ended jobs for a day, and failed jobs for 30 days:{' '}
        <Link to={`/jobs${queryWith(query, { in: 'history' })}`}>search the history</Link>, or{' '}
        <Link to="/jobs">show all jobs</Link>
      </Empty>
    )
  return <Empty act={<LinkButton to="/jobs/new">New job</LinkButton>}>No jobs yet.</Empty>
}

function JobTable({ jobs, query, selected, paused }: Pick<RowsProps, 'jobs' | 'query' | 'selected' | 'paused'>) {
  const all = (
    <th scope="col">
      <input type="checkbox" class="check" data-do="select-all" aria-label="Select all on this page" />
    </th>
  )
  const select = ({ id }: JobRow) => (
    <input
      type="checkbox"
      class="check"
      name="sel"
      value={String(id)}
      form="bulk"
      checked={selected.has(String(id))}
      aria-label={`Select job ${id}`}
    />
  )
  return (
    <DataTable
      caption={isSorted(query) ? 'Jobs, most recently ended first' : 'Jobs, newest first'}
      kind="jobs"
      id="rows"
      grows
      isList
      idOf={({ id }) => id}
      rows={jobs}
      columns={[
        { head: all, cell: select },
        ...columnsWith<JobRow>((job) => <WhatHappened job={job} paused={paused} />),
        { head: '#Failures in a row', cell: failuresOf },
        { head: '#Took', cell: tookText },
        ...ownColumns(query),
        {
          head: <Moment query={query} />,
          kind: 'num',
          cell: ({ endedAt, createdAt }) => <Ago at={endedAt ?? createdAt} />,
        },
      ]}
    />
  )
}

export function Rows({ jobs, cursor, newest, limit, query, selected, paused, hasJobs, total }: RowsProps) {
  if (jobs.length === 0 && cursor === null) return <NoJobs hasJobs={hasJobs} query={query} />
  return (
    <>
      <button class="btn small newrows" id="new-rows" type="button" data-total={total} hidden>
        <span class="word" />
        <kbd>.</kbd>
      </button>
      <label class="btn small phone">
        <input type="checkbox" class="check" id="selecting" /> Select
      </label>
      <JobTable {...{ jobs, query, selected, paused }} />
      <Further
        cursor={cursor}
        newest={newest}
        changes={{ sel: undefined }}
        more="older jobs"
        rows={jobs.length}
        limit={limit}
      />
    </>
  )
}
