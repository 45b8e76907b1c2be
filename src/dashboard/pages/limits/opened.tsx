import type { Holder, LimitWaiter, RoomView } from '../../../engine/engine.ts'
import { useLook } from '../../look.ts'
import { Ago, JobId, Name, NameLink, Since } from '../../parts/layout.tsx'
import { type Column, DataTable } from '../../parts/table.tsx'
import { colourOf } from '../../words/limit.ts'
import { groupPath, jobPath } from '../../words/paths.ts'
import { clock, count, many } from '../../words/text.ts'

export type Near = { limit: RoomView; holders: Holder[]; waiting: LimitWaiter[] }

/** Maximum holders and waiting jobs that a page reads. */
export const READ = 100
const GROUPS = 8

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

const job: Column<Listed> = {
  head: 'Job',
  kind: ({ group }) => colourOf(group),
  cell: ({ job, class: name }) => (
    <>
      <span class="gd inline" /> <NameLink to={jobPath(job)} of={name} most={24} /> <JobId id={job} />
    </>
  ),
}

const holderColumns: readonly Column<Holder>[] = [
  job,
  { head: 'Held by', kind: 'dim', cell: ({ process }) => (process ? <Name of={process} most={24} /> : '–') },
  { head: '#For', label: 'for', cell: ({ startedAt }) => startedAt !== null && <Since at={startedAt} /> },
  { head: '#Lease ends', label: 'lease ends', kind: 'dim', cell: ({ leaseUntil }) => <Ago at={leaseUntil} /> },
]

const waiterColumns: readonly Column<LimitWaiter>[] = [
  { head: '#Place', kind: 'dim wide', cell: (_, i) => i + 1 },
  job,
  { head: '#Waits', label: 'waits', cell: ({ since }) => <Since at={since} /> },
]

type RowsProps<Row> = { caption: string; rows: readonly Row[]; columns: readonly Column<Row>[]; all: number }

function Rows<Row extends Listed>({ caption, rows, columns, all }: RowsProps<Row>) {
  if (rows.length === 0) return null
  return (
    <>
      <Groups of={rows} all={all} />
      <div class="scroll">
        <DataTable caption={caption} rows={rows} columns={columns} kind="lined" />
        {all > rows.length && <p class="note">{`The page lists the first ${count(rows.length)} of ${count(all)}.`}</p>}
      </div>
    </>
  )
}

/** The event that makes room for the next job. */
function roomText({ limit: { paused, nextRoom }, holders }: Near, zone: string): string {
  if (paused) return 'New runs are blocked until an operator allows them: press “Change”.'
  if (nextRoom === null) return ''
  const last = holders.find(({ leaseUntil }) => leaseUntil === nextRoom)
  return last
    ? `A slot becomes free when one of these runs ends, or at ${clock(nextRoom, zone)}, when the lease of #${last.job} ends.`
    : `The next job can start at ${clock(nextRoom, zone)}.`
}

export function Opened({ near, order = 'groups take turns' }: { near: Near; order?: string }) {
  const { zone } = useLook()
  const { limit, holders, waiting } = near
  const { running, concurrency } = limit
  return (
    <div class="open">
      <div>
        <h3>{`${count(running)}${concurrency === null ? '' : ` of ${count(concurrency)}`} slots are held`}</h3>
        <p class="note">{roomText(near, zone)}</p>
        <Rows caption="Holders of slots" rows={holders} columns={holderColumns} all={running} />
      </div>
      {limit.waiting > 0 && (
        <div>
          <h3>{many(limit.waiting, 'job waits', 'jobs wait')}</h3>
          <p class="note">{`In starting order: ${order}.`}</p>
          <Rows caption="Waiting jobs" rows={waiting} columns={waiterColumns} all={limit.waiting} />
        </div>
      )}
    </div>
  )
}
