import type { Child } from 'hono/jsx'
import { isOurs } from '../../../core/callback.ts'
import type { Point } from '../../../core/series.ts'
import type { RunUnderWay } from '../../../engine/engine.ts'
import { useLook } from '../../look.ts'
import { Card, Icon, Link, NameLink, Shape, StatusMark, StatusText, To, Zero } from '../../parts/layout.tsx'
import { runColumns } from '../../parts/runs.tsx'
import { Bars, Pips } from '../../parts/spark.tsx'
import { type Column, DataTable } from '../../parts/table.tsx'
import { sum } from '../../words/counts.ts'
import { queuePath } from '../../words/paths.ts'
import { type Queue, readyIn } from '../../words/queue.ts'
import { columnsOf, type Range } from '../../words/series.ts'
import { about, count, round } from '../../words/text.ts'

type Part = {
  text: string
  n: number
  kind: string
  to: string
  icon?: string
  status?: 'queued' | 'running' | 'suspended' | 'scheduled'
}

function partsOf(queues: readonly Queue[]): Part[] {
  const of = (name: keyof Queue['counts']): number => sum(queues, ({ counts }) => counts[name])
  const ready = (paused: boolean): number => sum(queues, (queue) => (queue.paused === paused ? readyIn(queue) : 0))
  const part = (text: string, n: number, kind: Exclude<Part['status'], undefined>): Part => {
    const status = kind === 'scheduled' ? 'queued' : kind
    return { text, n, kind: status, status: kind, to: `/jobs?status=${status}` }
  }
  return [
    part('Suspended: waiting for input, a child or a run', of('suspended'), 'suspended'),
    part('Scheduled', of('scheduled'), 'scheduled'),
    part('Ready, waiting for a lane', ready(false), 'queued'),
    { text: 'Waiting for a limit', n: of('limited'), kind: 'accent', icon: 'limits', to: '/limits' },
    { text: 'In paused queues', n: ready(true), kind: 'terminating', icon: 'pause', to: '/queues' },
    part('Running', of('running'), 'running'),
  ]
}

export function Where({ queues }: { queues: Queue[] }) {
  const parts = partsOf(queues)
  const all = sum(parts, ({ n }) => n)
  let x = 0
  return (
    <Card title={`Status of ${count(all)} open jobs`} kind="where">
      <div class="bar">
        <svg width="100%" height="10" role="img" aria-label="Share of each status">
          {parts.map(({ n, kind }) => {
            const width = all === 0 ? 0 : (n / all) * 100
            const at = x
            x += width
            return (
              width > 0 && (
                <rect
                  class={`f-${kind}`}
                  x={`${round(at)}%`}
                  width={`${round(Math.max(0.4, width - 0.4))}%`}
                  height="10"
                  rx="2"
                />
              )
            )
          })}
        </svg>
      </div>
      <ul>
        {parts.map(({ text, n, kind, to, icon, status }) => (
          <li>
            <To to={to}>
              <span class={`st ${kind}`}>
                {icon ? <Icon name={icon} size={14} /> : <Shape status={status!} spins={n > 0} />}
              </span>
              <span class="clip">{text}</span>
              <span class="n">{count(n)}</span>
            </To>
          </li>
        ))}
      </ul>
    </Card>
  )
}

export type Ends = { of: Readonly<Record<string, Point[]>>; range: Range }

const BARS = 24

function EndsOf({ name, ends: { of, range } }: { name: string; ends: Ends }) {
  const { now } = useLook()
  const points = columnsOf(of[name] ?? [], { ...range, columns: Math.min(BARS, range.columns) }, now)
  const [completed, failed] = [sum(points, (point) => point.completed), sum(points, (point) => point.failed)]
  const said = `${count(completed)} completed, ${count(failed)} failed`
  return (
    <span title={said}>
      <span class="vh">{said}</span>
      <Bars values={points.map(({ completed, failed }) => completed + failed)} tone="f-done" />
    </span>
  )
}

const number = (head: string, cell: (queue: Queue) => Child, kind?: string): Column<Queue> => ({
  head: `#${head}`,
  label: head,
  kind,
  cell,
})

function queueColumns(now: number): Column<Queue>[] {
  const waitOf = ({ oldestReady }: Queue): number | null => (oldestReady === null ? null : now - oldestReady)
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
      head: 'Lanes',
      cell: ({ mode, paused, lanes, maxLanes, pulled }) => (
        <>
          {paused ? (
            <StatusText status="suspended">paused</StatusText>
          ) : (
            mode === 'push' && <Pips on={lanes} of={maxLanes} title={`${lanes} of ${maxLanes} lanes are open`} />
          )}{' '}
          {(mode === 'pull' || pulled > 0) && <span class="dim">{count(pulled)} pulled</span>}
        </>
      ),
    },
    number('Ready', (queue) => <Zero n={readyIn(queue)} />),
    {
      head: '#Oldest',
      label: 'Oldest',
      kind: (queue) => (queue.oldestReady === null ? 'dimmer' : waitOf(queue)! > 60_000 ? 'up' : 'dim'),
      cell: (queue) => (queue.oldestReady === null ? '–' : about(waitOf(queue)!)),
    },
    number('At limits', ({ counts }) => <Zero n={counts.limited} to="/limits" />),
    number('Running', ({ counts }) => <Zero n={counts.running} />),
    number('Later', ({ counts }) => <Zero n={counts.scheduled} />, 'dim'),
    {
      ...number('Failed', ({ name, counts }) => (
        <Zero n={counts.failed} to={`/jobs?status=failed&queue=${encodeURIComponent(name)}`} kind="up" />
      )),
      title: () => 'all failed jobs that are stored',
    },
  ]
}

export function QueueTable({ queues, ends }: { queues: Queue[]; ends?: Ends }) {
  const { now } = useLook()
  const columns = queueColumns(now)
  if (ends)
    columns.push({ head: `##Ended, ${ends.range.text}`, cell: ({ name }) => <EndsOf name={name} ends={ends} /> })
  return <DataTable caption="Queues" rows={queues} columns={columns} kind="lined" />
}

const SHOWN = 8

export function Queues({ queues, ends }: { queues: Queue[]; ends: Ends }) {
  const isUsed = ({ name, counts }: Queue) =>
    !isOurs(name) || counts.queued + counts.running + counts.suspended + counts.failed > 0
  const busy = queues
    .filter(isUsed)
    .sort((a, b) => b.counts.queued + b.counts.running - a.counts.queued - a.counts.running)
  return (
    <Card title="Queues" right={<Link to="/queues">{`All ${count(queues.length)}`}</Link>}>
      <QueueTable queues={busy.slice(0, SHOWN)} ends={ends} />
    </Card>
  )
}

/** Share of the lease after which a run is shown as late. */
const LATE = 0.8

const running: readonly Column<RunUnderWay>[] = [
  { head: 'Status', cell: () => <StatusMark status="running" /> },
  ...runColumns((share) => (share > LATE ? 'suspended' : 'running')),
]

export const RunningLongest = ({ runs }: { runs: RunUnderWay[] }) => (
  <Card title="Running longest" right="share of the lease">
    <DataTable caption="Longest-running jobs" empty="No jobs are running." rows={runs} columns={running} isPlain />
  </Card>
)
