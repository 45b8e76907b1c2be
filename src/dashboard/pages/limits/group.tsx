import { groupKey } from '../../../core/constraint.ts'
import type { GroupView, JobRow } from '../../../engine/engine.ts'
import { asset as style } from '../../built/limits-css.generated.ts'
import { type Asked, page } from '../../page.ts'
import { LinkButton, Pause } from '../../parts/act.tsx'
import { Further } from '../../parts/further.tsx'
import { Ago, Card, Empty, Head, JobId, Link, Name, NameLink, StatusMark, Zero } from '../../parts/layout.tsx'
import { type Column, DataTable } from '../../parts/table.tsx'
import { searchRows } from '../../search-on.ts'
import { boundOf, colourOf, elsewhereIn, slotsText } from '../../words/limit.ts'
import { changeLimitPath, jobPath, jobsPath, limitPath } from '../../words/paths.ts'
import { count, cut, many } from '../../words/text.ts'
import { WhatHappened } from '../jobs/rows.tsx'
import { acts } from './acts.ts'
import { type Near, nearOf, Opened } from './opened.tsx'
import { Slots } from './slots.tsx'

type GroupData = Awaited<ReturnType<typeof load>>

const JOBS = 10

const columns: readonly Column<JobRow>[] = [
  {
    head: 'Job',
    kind: 'name',
    cell: ({ id, status, class: name }) => (
      <>
        <StatusMark status={status} /> <NameLink to={jobPath(id)} of={name} most={36} isMain /> <JobId id={id} />
      </>
    ),
  },
  { head: 'What happened', kind: 'fill dim', cell: (job) => <WhatHappened job={job} /> },
  { head: '#When', label: false, cell: ({ endedAt, createdAt }) => <Ago at={endedAt ?? createdAt} /> },
]

function Note({ data: { id, near } }: { data: GroupData }) {
  if (!near) return <>no unfinished jobs</>
  const { running, waiting } = near.limit
  const elsewhere = elsewhereIn({ ...near.limit, jobs: near.jobs })
  return (
    <>
      {`${many(running, 'job is', 'jobs are')} running, ${many(waiting, 'waits', 'wait')} for this limit, `}
      <Zero n={elsewhere} text={many(elsewhere, 'waits', 'wait')} to={jobsPath({ status: 'queued', group: id })} />
      {' elsewhere'}
    </>
  )
}

const Bound = ({ near }: { near: Near }) => (
  <Card title="Limit" right={boundOf(near.limit)}>
    <div class="body">
      <Slots limit={near.limit} holders={near.holders} />
    </div>
    <Opened near={near} order="by priority, then by waiting time" />
  </Card>
)

function Jobs({ data: { id, jobs, cursor, newest } }: { data: GroupData }) {
  return (
    <Card title="Newest jobs" right={<Link to={jobsPath({ group: id })}>Open as list</Link>}>
      {jobs.length === 0 && cursor === null && <Empty>No jobs.</Empty>}
      <DataTable caption="Newest jobs" rows={jobs} columns={columns} idOf={({ id }) => id} kind="lined" grows />
      <Further cursor={cursor} newest={newest} more="older jobs" rows={jobs.length} limit={JOBS} />
    </Card>
  )
}

async function load(asked: Asked) {
  const { params, query } = asked
  const id = params.id!
  const [near, { rows: jobs, ...more }] = await Promise.all([
    nearOf(asked, groupKey(id)),
    searchRows(asked, { group: id, limit: JOBS, cursor: query.get('cursor') ?? undefined }),
  ])
  return { id, near, jobs, ...more }
}

export const group = page({
  path: '/groups/:id',
  nav: 'limits',
  every: 2_000,
  load,
  title: ({ id }) => `Group ${cut(id, 60)}`,
  crumbs: ({ id }) => [{ name: cut(id, 60) }],
  View: ({ data }) => (
    <>
      <Head
        title={
          <>
            Group <Name of={data.id} most={60} />
          </>
        }
        note={<Note data={data} />}
      >
        <LinkButton to={changeLimitPath(groupKey(data.id))} scope="admin">
          Change limit
        </LinkButton>
        <Pause paused={data.near?.limit.paused ?? false} scope="admin" fields={{ key: groupKey(data.id) }} />
      </Head>
      <div class="stack">
        {data.near && <Bound near={data.near} />}
        <Jobs data={data} />
      </div>
    </>
  ),
  acts: { pause: acts.pause, resume: acts.resume },
  styles: [style.name],
})

const SHOWN = 60

const groupColumns: readonly Column<GroupView>[] = [
  {
    head: 'Group',
    cell: ({ id, paused }) => (
      <>
        <NameLink to={limitPath(groupKey(id))} of={id} most={28} isMain /> {paused && <span class="tag">paused</span>}
      </>
    ),
  },
  {
    head: 'Share',
    kind: 'fill',
    cell: ({ id, concurrency, running }) => (
      <div class={colourOf(id)}>
        <Slots limit={{ concurrency, running }} small />
      </div>
    ),
  },
  { head: '#Running', cell: slotsText },
  { head: '#Wait for limit', kind: 'dim', cell: ({ waiting }) => count(waiting) },
  { head: '#Wait elsewhere', kind: 'dim', cell: (group) => count(elsewhereIn(group)) },
  {
    head: '-Acts',
    cell: ({ id }) => (
      <LinkButton to={changeLimitPath(groupKey(id))} scope="admin" small label={`Change group ${id}`}>
        Change
      </LinkButton>
    ),
  },
]

const byUse = (a: GroupView, b: GroupView): number => b.jobs - a.jobs || b.running - a.running || (a.id < b.id ? -1 : 1)

export function Groups({ groups }: { groups: GroupView[] }) {
  return (
    <Card title="Groups" right={groups.length > SHOWN && `the first ${SHOWN} of ${count(groups.length)}`}>
      <DataTable
        caption="Groups"
        empty="No group has queued or running jobs."
        rows={groups.toSorted(byUse).slice(0, SHOWN)}
        columns={groupColumns}
        kind="lined"
      />
    </Card>
  )
}
