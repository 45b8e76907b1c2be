// Tables of Overview: open jobs, queues and longest runs.

import type { Point } from '../../../core/series.ts'
import type { QueueView, RunUnderWay } from '../../../engine/engine.ts'
import { useLook } from '../../look.ts'
import { Icon, Shape, StatusMark } from '../../parts/icon.tsx'
import { Card, Empty, To } from '../../parts/layout.tsx'
import { NameLink } from '../../parts/name.tsx'
import { RunRow } from '../../parts/run-row.tsx'
import { Bars, Pips } from '../../parts/spark.tsx'
import { Table } from '../../parts/table.tsx'
import { count } from '../../words/number.ts'
import { readyIn } from '../../words/queue.ts'
import { columnsOf, type Range } from '../../words/series.ts'
import { about } from '../../words/time.ts'

type Part = {
  text: string
  n: number
  kind: string
  to: string
  icon?: string
  status?: 'queued' | 'running' | 'suspended' | 'scheduled'
}

export function partsOf(queues: readonly QueueView[], limited: number): Part[] {
  const sum = (of: (queue: QueueView) => number) => queues.reduce((all, queue) => all + of(queue), 0)
  const later = sum(({ counts }) => counts.scheduled)
  const paused = sum((queue) => (queue.paused ? readyIn(queue) : 0))
  const queued = sum((queue) => (queue.paused ? 0 : readyIn(queue)))
  return [
    {
      text: 'At rest: for input, children or a run',
      n: sum(({ counts }) => counts.suspended),
      kind: 'suspended',
      status: 'suspended',
      to: '/jobs?status=suspended',
    },
    { text: 'Wait for their time', n: later, kind: 'queued', status: 'scheduled', to: '/jobs?status=queued' },
    {
      text: 'Ready, wait for a lane',
      n: queued,
      kind: 'queued',
      status: 'queued',
      to: '/jobs?status=queued',
    },
    { text: 'Wait at a limit', n: limited, kind: 'accent', icon: 'limits', to: '/limits' },
    { text: 'In paused queues', n: paused, kind: 'terminating', icon: 'pause', to: '/queues' },
    {
      text: 'Running',
      n: sum(({ counts }) => counts.running),
      kind: 'running',
      status: 'running',
      to: '/jobs?status=running',
    },
  ]
}

const round = (n: number): number => Math.round(n * 100) / 100

export function Where({ queues, limited }: { queues: QueueView[]; limited: number }) {
  const parts = partsOf(queues, limited)
  const all = parts.reduce((sum, { n }) => sum + n, 0)
  let x = 0
  return (
    <Card title={`Status of ${count(all)} open jobs`} kind="where">
      <div class="bar">
        <svg width="100%" height="10" role="img" aria-label="Share of each, of all open jobs">
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

function EndsCell({ name, ends: { of, range } }: { name: string; ends: Ends }) {
  const { now } = useLook()
  const points = columnsOf(of[name] ?? [], { ...range, columns: Math.min(BARS, range.columns) }, now)
  const sum = (what: 'completed' | 'failed') => points.reduce((all, point) => all + point[what], 0)
  return (
    <td class="num wide" title={`${count(sum('completed'))} completed, ${count(sum('failed'))} failed`}>
      <span class="vh">{`${count(sum('completed'))} completed, ${count(sum('failed'))} failed`}</span>
      <Bars values={points.map(({ completed, failed }) => completed + failed)} tone="f-done" />
    </td>
  )
}

function QueueRow({ queue, ends }: { queue: QueueView; ends?: Ends }) {
  const { now } = useLook()
  const { name, paused, mode, lanes, maxLanes, counts, oldestReady } = queue
  const wait = oldestReady === null ? null : now - oldestReady
  const zero = (n: number) => (n === 0 ? <span class="dimmer">0</span> : count(n))
  const way = encodeURIComponent(name)
  return (
    <tr>
      <td>
        <NameLink to={`/queues/${way}`} of={name} most={28} isMain /> {mode === 'pull' && <span class="tag">pull</span>}
      </td>
      <td>
        {paused ? (
          <span class="st suspended">
            <Shape status="suspended" />
            paused
          </span>
        ) : (
          <Pips on={lanes} of={maxLanes} title={`${lanes} of ${maxLanes} lanes are open`} />
        )}
      </td>
      <td class="num" data-head="Ready">
        {zero(readyIn(queue))}
      </td>
      <td class={`num ${wait === null ? 'dimmer' : wait > 60_000 ? 'up' : 'dim'}`} data-head="Oldest">
        {wait === null ? '–' : about(wait)}
      </td>
      <td class="num" data-head="At limits">
        {counts.limited === 0 ? (
          zero(0)
        ) : (
          <To kind="up" to="/limits">
            {count(counts.limited)}
          </To>
        )}
      </td>
      <td class="num" data-head="Running">
        {zero(counts.running)}
      </td>
      <td class="num dim" data-head="Later">
        {zero(counts.scheduled)}
      </td>
      <td class="num" data-head="Failed">
        {counts.failed === 0 ? (
          zero(0)
        ) : (
          <To kind="up" to={`/jobs?status=failed&queue=${way}`}>
            {count(counts.failed)}
          </To>
        )}
      </td>
      {ends && <EndsCell name={name} ends={ends} />}
    </tr>
  )
}

const heads = ['Queue', 'Lanes', '#Ready', '#Oldest', '#At limits', '#Running', '#Later', '#Failed']

export function QueueTable({ queues, ends }: { queues: QueueView[]; ends?: Ends }) {
  return (
    <Table caption="Queues" heads={[...heads, ...(ends ? [`##Ends, ${ends.range.text}`] : [])]} kind="lined">
      {queues.map((queue) => (
        <QueueRow queue={queue} ends={ends} />
      ))}
    </Table>
  )
}

const SHOWN = 8

export function Queues({ queues, ends }: { queues: QueueView[]; ends: Ends }) {
  const busy = queues.toSorted((a, b) => b.counts.queued + b.counts.running - a.counts.queued - a.counts.running)
  return (
    <Card title="Queues" right={<To kind="link" to="/queues">{`All ${count(queues.length)}`}</To>}>
      {queues.length === 0 ? (
        <Empty>There is no queue yet: the first job creates one.</Empty>
      ) : (
        <QueueTable queues={busy.slice(0, SHOWN)} ends={ends} />
      )}
    </Card>
  )
}

/** Share of a lease after which a run needs attention. */
const LATE = 0.8

export function RunningLongest({ runs }: { runs: RunUnderWay[] }) {
  return (
    <Card title="Running longest" right="of the lease">
      {runs.length === 0 && <Empty>Nothing runs.</Empty>}
      <Table caption="What runs longest" heads={['Status', 'Class and job', 'Runs for', 'Lease']} isPlain>
        {runs.map((run) => (
          <RunRow
            run={run}
            mark={<StatusMark status="running" />}
            tone={(share) => (share > LATE ? 'suspended' : 'running')}
          />
        ))}
      </Table>
    </Card>
  )
}
