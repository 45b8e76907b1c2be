import { missing } from '../../../core/errors.ts'
import type { Holder, LimitWaiter, RoomView } from '../../../engine/engine.ts'
import { useLook } from '../../look.ts'
import type { Asked } from '../../page.ts'
import { Ago, JobId, Link, Name, NameLink, Since } from '../../parts/layout.tsx'
import { type Column, DataTable } from '../../parts/table.tsx'
import { colourOf, isFull, slotsText } from '../../words/limit.ts'
import { groupPath, jobPath, jobsPath } from '../../words/paths.ts'
import { isLong, timesLonger, usualOf } from '../../words/stuck.ts'
import { about, clock, count, cut, jobsWait } from '../../words/text.ts'
import { byClass } from '../jobs/by-class.tsx'

/** The newest holder of the limit. `usual`: 95% of its class's runs today took at most this many milliseconds. */
type Stuck = Holder & { usual?: number }
/** `jobs`: number of queued and running jobs of a group. */
export type Near = { limit: RoomView; jobs: number; holders: Holder[]; waiting: LimitWaiter[]; stuck?: Stuck }

const READ = 100
const GROUPS = 8
/** Rows on phones. Wide screens show 8. */
const FEW = 3

/** Assumed milliseconds of a run if no run of its class has ended today. */
const UNKNOWN = 30_000
const FRESH = 60_000

async function stuckIn(asked: Asked, { limit, holders }: Near): Promise<Stuck | undefined> {
  const [newest] = holders.toSorted((a, b) => (b.startedAt ?? 0) - (a.startedAt ?? 0))
  if (!isFull(limit) || holders.length < limit.running || !newest?.startedAt) return undefined
  const { queue, class: name, startedAt } = newest
  const { now } = asked.look
  if (!isLong({ startedAt }, now)) return undefined
  const { classes } = await byClass(asked, { queue, class: name }, FRESH)
  const usual = usualOf(newest, classes)
  return timesLonger({ startedAt }, usual ?? UNKNOWN, now) === undefined ? undefined : { ...newest, usual }
}

export async function nearOf(asked: Asked, key: string): Promise<Near | undefined> {
  const near = await asked.engine.limits.usage(key, { holders: READ, waiting: READ }).catch(missing)
  return near && { ...near, stuck: await stuckIn(asked, near) }
}

type Listed = Holder | LimitWaiter

function Groups({ of, all }: { of: readonly Listed[]; all: number }) {
  const groups = [...Map.groupBy(of, ({ group }) => group)].sort(([, a], [, b]) => b.length - a.length)
  if (groups.length < 2) return null
  return (
    <p class="shares-of">
      {groups.slice(0, GROUPS).map(([group, own]) => (
        <span class={colourOf(group)}>
          <span class="gd" />
          {group === null ? 'no group' : <NameLink to={groupPath(group)} of={group} most={24} />} {count(own.length)}
        </span>
      ))}
      {all > of.length && <span>of the first {count(of.length)}</span>}
    </p>
  )
}

const jobColumn: Column<Listed> = {
  head: 'Job',
  kind: ({ group }) => colourOf(group),
  cell: ({ job, class: name }) => (
    <>
      <span class="gd" /> <NameLink to={jobPath(job)} of={name} most={24} /> <JobId id={job} />
    </>
  ),
}

const holderColumns: readonly Column<Holder>[] = [
  jobColumn,
  { head: 'Held by', kind: 'dim', cell: ({ process }) => (process ? <Name of={process} most={24} /> : '–') },
  { head: '#For', cell: ({ startedAt }) => startedAt !== null && <Since at={startedAt} /> },
  { head: '#Lease ends', kind: 'dim', cell: ({ leaseUntil }) => <Ago at={leaseUntil} /> },
]

const waiterColumns: readonly Column<LimitWaiter>[] = [
  { head: '#Place', kind: 'dim wide', cell: (_, i) => i + 1 },
  jobColumn,
  { head: '#Waits', cell: ({ since }) => <Since at={since} /> },
]

type RowsProps<Row> = { caption: string; rows: readonly Row[]; columns: readonly Column<Row>[]; all: number }

function Rows<Row extends Listed>({ caption, rows, columns, all }: RowsProps<Row>) {
  if (rows.length === 0) return null
  return (
    <>
      <Groups of={rows} all={all} />
      <div class="few">
        <DataTable caption={caption} rows={rows} columns={columns} kind="lined" />
        {rows.length > FEW && (
          <details>
            <summary>Show all {count(rows.length)}</summary>
          </details>
        )}
        {all > rows.length && <p class="note">{`The page lists the first ${count(rows.length)} of ${count(all)}.`}</p>}
      </div>
    </>
  )
}

function roomText({ limit: { paused, nextRoom }, holders }: Near, zone: string): string {
  if (paused) return 'It is paused, so no new runs start. To resume it, press “Change”.'
  if (nextRoom === null) return ''
  const last = holders.find(({ leaseUntil }) => leaseUntil === nextRoom)
  return last
    ? `A slot becomes free when one of these runs ends, or at ${clock(nextRoom, zone)}, when the lease of #${last.job} ends.`
    : `The next job can start at ${clock(nextRoom, zone)}.`
}

function StuckText({ of: { class: name, process, startedAt, usual } }: { of: Stuck }) {
  return (
    <p class="note">
      <b class="up">Stuck:</b> no run has ended for <Since at={startedAt!} />.{' '}
      {usual && `Runs of ${cut(name)} usually take up to ${about(usual)}. `}
      Check {process ? `worker ${cut(process)}` : 'the workers'} and the{' '}
      <Link to={jobsPath({ status: 'running', class: name })}>running jobs</Link>. To start more jobs now, raise the
      limit.
    </p>
  )
}

export function Opened({ near, order = 'groups take turns' }: { near: Near; order?: string }) {
  const { zone } = useLook()
  const { limit, holders, waiting, stuck } = near
  return (
    <div class="open">
      <div>
        <h3>{slotsText(limit)} slots are held</h3>
        <p class="note">{roomText(near, zone)}</p>
        {stuck && <StuckText of={stuck} />}
        <Rows caption="Holders of slots" rows={holders} columns={holderColumns} all={limit.running} />
      </div>
      {limit.waiting > 0 && (
        <div>
          <h3>{jobsWait(limit.waiting)}</h3>
          <p class="note">{`Jobs start in this order: ${order}.`}</p>
          <Rows caption="Waiting jobs" rows={waiting} columns={waiterColumns} all={limit.waiting} />
        </div>
      )}
    </div>
  )
}
