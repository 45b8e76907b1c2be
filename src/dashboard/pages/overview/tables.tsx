import type { Point } from '../../../core/series.ts'
import type { CurrentRun, WaitedLimit } from '../../../engine/engine.ts'
import { useLook } from '../../look.ts'
import { Pause } from '../../parts/act.tsx'
import { Card, Icon, Link, NameLink, Shape, StatusMark, StatusText, To, Zero } from '../../parts/layout.tsx'
import { runColumns } from '../../parts/runs.tsx'
import { Bars, Pips, Shares } from '../../parts/spark.tsx'
import { type Column, DataTable } from '../../parts/table.tsx'
import { sum } from '../../words/counts.ts'
import { isSlow } from '../../words/needs.ts'
import { jobsPath, pullersPath, queuePath } from '../../words/paths.ts'
import { byTrouble, isInUse, pausedIn, type Queue, readyIn, startableIn } from '../../words/queue.ts'
import { columnsOf, type Range } from '../../words/series.ts'
import { about, count, cut, many } from '../../words/text.ts'

type Part = {
  text: string
  n: number
  kind: string
  to: string
  icon?: string
  status?: 'queued' | 'running' | 'suspended' | 'scheduled'
}

/** `limits` does not contain the limits of groups. */
function limitText(limits: readonly WaitedLimit[], limited: number): string {
  const [most] = limits.toSorted((a, b) => b.waiting - a.waiting)
  if (!most?.waiting) return 'Waiting for a limit'
  return `Waiting for ${cut(most.key, 26)}${most.waiting < limited ? ' and other limits' : ''}`
}

function partsOf(queues: readonly Queue[], limits: readonly WaitedLimit[]): Part[] {
  const of = (name: keyof Queue['counts']): number => sum(queues, ({ counts }) => counts[name])
  const open = queues.filter(({ paused }) => !paused)
  const pulled = sum(open, ({ counts }) => counts.pull)
  const part = (text: string, n: number, kind: Exclude<Part['status'], undefined>): Part => {
    const status = kind === 'scheduled' ? 'queued' : kind
    return { text, n, kind: status, status: kind, to: `/jobs?status=${status}` }
  }
  return [
    part('Suspended: waiting for input, a child or a run', of('suspended'), 'suspended'),
    part('Scheduled', of('scheduled'), 'scheduled'),
    part('Ready, waiting for a lane', sum(queues, readyIn) - pulled, 'queued'),
    { text: 'Waiting for a pull worker', n: pulled, kind: 'suspended', icon: 'workers', to: '/workers' },
    { text: limitText(limits, of('limited')), n: of('limited'), kind: 'accent', icon: 'limits', to: '/limits' },
    { text: 'In paused queues', n: sum(queues, pausedIn), kind: 'terminating', icon: 'pause', to: '/queues' },
    part('Running', of('running'), 'running'),
  ]
}

export function Where({ queues, limits }: { queues: Queue[]; limits: WaitedLimit[] }) {
  const parts = partsOf(queues, limits)
  const all = sum(parts, ({ n }) => n)
  return (
    <Card title={`Status of ${count(all)} open jobs`} kind="where">
      <Shares of={parts} label="Share of each status" />
      <ul>
        {parts.map(({ text, n, kind, to, icon, status }) => (
          <li>
            <To to={to}>
              <span class={`st ${kind}`}>
                {icon ? <Icon name={icon} size={14} /> : <Shape status={status!} spins={n > 0} />}
              </span>
              <span>{text}</span>
              <span class="n">{count(n)}</span>
            </To>
          </li>
        ))}
      </ul>
    </Card>
  )
}

type QueueEnds = { of: Readonly<Record<string, Point[]>>; range: Range }

const BARS = 24

function EndsOf({ name, ends: { of, range } }: { name: string; ends: QueueEnds }) {
  const { now } = useLook()
  const points = columnsOf(of[name] ?? [], { ...range, columns: Math.min(BARS, range.columns) }, now)
  const [completed, failed] = [sum(points, (point) => point.completed), sum(points, (point) => point.failed)]
  const summary = `${count(completed)} completed, ${count(failed)} failed`
  return (
    <span title={summary}>
      <span class="vh">{summary}</span>
      <Bars
        values={points.map(({ completed, failed }) => completed + failed)}
        failed={points.map(({ failed }) => failed)}
        tone="f-done"
      />
    </span>
  )
}

const number = (head: string, cell: Column<Queue>['cell'], kind?: Column<Queue>['kind']): Column<Queue> => ({
  head: `#${head}`,
  kind,
  cell,
})

function ServedBy({ queue, canResume }: { queue: Queue; canResume: boolean }) {
  const { name, mode, paused, lanes, maxLanes, pulled, counts } = queue
  if (paused)
    return (
      <>
        <StatusText status="suspended">paused</StatusText>{' '}
        {canResume && <Pause paused scope="admin" fields={{ queue: name }} small />}
      </>
    )
  return (
    <>
      {mode === 'push' && (lanes > 0 || pulled + counts.pull === 0) && (
        <span class="listener dim">
          <Pips on={lanes} of={maxLanes} /> {`${lanes} of ${many(maxLanes, 'lane')}`}
        </span>
      )}{' '}
      {pulled > 0 && <span class="listener dim">{`pull workers: ${many(pulled, 'run')}`}</span>}{' '}
      {counts.pull > 0 && (
        <To kind="listener st suspended" to={pullersPath(name)}>
          {many(counts.pull, 'waits', 'wait')} for a pull worker
        </To>
      )}
    </>
  )
}

function queueColumns(now: number, canResume: boolean): Column<Queue>[] {
  return [
    {
      head: 'Queue',
      cell: ({ name, mode }) => (
        <>
          <NameLink to={queuePath(name)} of={name} most={28} isMain />{' '}
          {mode === 'pull' && <span class="tag">pull</span>}
        </>
      ),
    },
    {
      head: 'Served by',
      kind: 'wraps',
      cell: (queue) => <ServedBy queue={queue} canResume={canResume} />,
    },
    {
      ...number('Ready', (queue) => <Zero n={startableIn(queue)} />),
      title: ({ paused }) => (paused ? 'Jobs start when the queue is resumed.' : undefined),
    },
    number(
      'Oldest',
      ({ oldestReady }) => (oldestReady === null ? '–' : about(now - oldestReady)),
      (queue) => (isSlow(queue, now) ? 'up' : 'dim'),
    ),
    number('At limits', ({ counts }) => <Zero n={counts.limited} to="/limits" />),
    number('Running', ({ counts }) => <Zero n={counts.running} />),
    number('Later', ({ counts }) => <Zero n={counts.scheduled} />, 'dim'),
    {
      ...number('Failed', ({ name, counts }) => (
        <Zero n={counts.failed} to={jobsPath({ status: 'failed', queue: name })} kind="up" />
      )),
      title: () => 'all stored failed jobs',
    },
  ]
}

type QueueTableProps = { queues: Queue[]; ends?: QueueEnds; canResume?: boolean }

export function QueueTable({ queues, ends, canResume = false }: QueueTableProps) {
  const { now } = useLook()
  const columns = queueColumns(now, canResume)
  if (ends)
    columns.push({ head: `##Ended, ${ends.range.text}`, cell: ({ name }) => <EndsOf name={name} ends={ends} /> })
  return <DataTable caption="Queues" rows={queues} columns={columns} kind="lined split" />
}

const SHOWN = 8

export function Queues({ queues, ends }: { queues: Queue[]; ends: QueueEnds }) {
  const used = queues.filter(isInUse).sort(byTrouble)
  return (
    <Card title="Queues" right={<Link to="/queues">{`All ${count(queues.length)}`}</Link>}>
      <QueueTable queues={used.slice(0, SHOWN)} ends={ends} />
    </Card>
  )
}

/** Share of the lease after which a run is shown as late. */
const LATE = 0.8

const running: readonly Column<CurrentRun>[] = [
  { head: 'Status', cell: () => <StatusMark status="running" /> },
  ...runColumns((share) => (share > LATE ? 'suspended' : 'running')),
]

export const RunningLongest = ({ runs }: { runs: CurrentRun[] }) => (
  <Card title="Running longest" right="elapsed share of the lease">
    <DataTable caption="Longest-running jobs" empty="No jobs are running." rows={runs} columns={running} isPlain />
  </Card>
)
