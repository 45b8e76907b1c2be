import type { JobRow } from '../../../engine/engine.ts'
import { queryWith } from '../../look.ts'
import { Further } from '../../parts/further.tsx'
import { LabelTags } from '../../parts/label-tags.tsx'
import { Ago, Empty, JobId, Link, Name, NameLink, StatusMark, Tag, To } from '../../parts/layout.tsx'
import { HeadCell } from '../../parts/table.tsx'
import { What } from '../../parts/what.tsx'
import { canSort, isSorted } from '../../words/filter.ts'
import { searchedOf } from '../../words/further.ts'
import { span } from '../../words/text.ts'
import { columnsIn, OwnCell } from './columns.tsx'

/** Red if an attempt failed. */
function Tries({ job: { attempt, status } }: { job: JobRow }) {
  const tries = status === 'failed' ? Math.max(1, attempt) : attempt
  const kind = status === 'failed' || tries > 1 || status === 'queued' ? 'up' : undefined
  return <span class={tries === 0 ? 'dimmer' : kind}>{tries || '–'}</span>
}

type RowProps = { job: JobRow; columns: readonly string[]; isSelected: boolean; paused: ReadonlySet<string> }

function Row({ job, columns, isSelected, paused }: RowProps) {
  const { id, status, group, queue, priority, createdAt, ranAt, endedAt } = job
  return (
    <tr data-row={id} id={`row-${id}`}>
      <td>
        <input
          type="checkbox"
          class="check"
          name="sel"
          value={String(id)}
          form="bulk"
          checked={isSelected}
          aria-label={`Select job ${id}`}
        />
      </td>
      <td>
        <StatusMark status={status} />
      </td>
      <td>
        <JobId id={id} />
      </td>
      <td class="cls">
        <NameLink to={`/jobs/${id}`} of={job.class} most={36} isMain /> {group && <Tag of={group} />}
        <LabelTags labels={job.labels} />
      </td>
      <td class="fill">
        <What job={job} paused={paused} />
      </td>
      <td>
        <Name of={queue} most={24} />
      </td>
      <td class="num">{priority}</td>
      <td class="num">
        <Tries job={job} />
      </td>
      <td class="num">{ranAt !== null && endedAt !== null && endedAt >= ranAt ? span(endedAt - ranAt) : '–'}</td>
      {columns.map((column) => (
        <OwnCell job={job} column={column} />
      ))}
      <td class="num">
        <Ago at={endedAt ?? createdAt} />
      </td>
    </tr>
  )
}

function Moment({ query }: { query: URLSearchParams }) {
  const sorted = isSorted(query)
  const to = `/jobs${queryWith(query.toString(), { sort: sorted ? undefined : 'ended', cursor: undefined })}`
  const text = sorted ? 'Ended ↓' : 'Created or ended'
  return (
    <th scope="col" class="num" aria-sort={sorted ? 'descending' : undefined}>
      {canSort(query) ? (
        <To kind="link" to={to} label={`${text}. Sort by ${sorted ? 'creation time' : 'end time, newest first'}`}>
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
}

function NoJobs({ hasJobs, query }: Pick<RowsProps, 'hasJobs' | 'query'>) {
  if (hasJobs)
    return (
      <Empty>
        No jobs match. This list keeps ended jobs for a day, or 30 days if they failed:{' '}
        <Link to={`/jobs${queryWith(query.toString(), { in: 'history' })}`}>search the history</Link>
      </Empty>
    )
  const make = (
    <To kind="btn" to="/jobs/new">
      New job
    </To>
  )
  return <Empty act={make}>No jobs yet.</Empty>
}

const heads = ['-Status', 'Job', 'Class and group', 'What happened', 'Queue', '#Prio', '#Tries', '#Run']

const JobTable = ({ jobs, query, selected, paused }: Pick<RowsProps, 'jobs' | 'query' | 'selected' | 'paused'>) => (
  <table class="tbl jobs">
    <caption class="vh">{isSorted(query) ? 'Jobs, most recently ended first' : 'Jobs, newest first'}</caption>
    <thead>
      <tr>
        <th scope="col">
          <input type="checkbox" class="check" data-do="select-all" aria-label="Select all on this page" />
        </th>
        {[...heads, ...columnsIn(query)].map((name) => (
          <HeadCell name={name} />
        ))}
        <Moment query={query} />
      </tr>
    </thead>
    <tbody id="rows" data-found>
      {jobs.map((job) => (
        <Row job={job} columns={columnsIn(query)} isSelected={selected.has(String(job.id))} paused={paused} />
      ))}
    </tbody>
    <tbody id="older" data-older data-island />
  </table>
)

export function Rows({ jobs, cursor, newest, limit, query, selected, paused, hasJobs }: RowsProps) {
  const further = cursor === null ? undefined : `/jobs${queryWith(query.toString(), { cursor })}`
  if (jobs.length === 0 && cursor === null) return <NoJobs hasJobs={hasJobs} query={query} />
  return (
    <>
      <button class="newrows" id="new-rows" type="button" hidden>
        <span class="word" />
        <kbd>.</kbd>
      </button>
      <JobTable {...{ jobs, query, selected, paused }} />
      <Further
        to={further}
        more="older jobs"
        rows={jobs.length}
        limit={limit}
        searched={searchedOf({ cursor, newest })}
      />
    </>
  )
}
