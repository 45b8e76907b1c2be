import type { Child } from 'hono/jsx'
import { DAY, MINUTE } from '../../../core/units.ts'
import { useLook, useWay } from '../../look.ts'
import { Card, Link, StatusMark, To } from '../../parts/layout.tsx'
import { clock, count, cut, dayOf, pct, span } from '../../words/text.ts'
import {
  busyIn,
  CHILDREN,
  isBusy,
  type Parts,
  type Row,
  rowsOf,
  type Scale,
  type Stretch,
  type StretchKind,
  scaleOf,
} from '../../words/timeline.ts'
import { OnlyLastRun } from './runs.tsx'

const kinds: Record<StretchKind, { fill: string; name: string }> = {
  queued: { fill: 'f-queued', name: 'queued' },
  waiting: { fill: 'wait', name: 'waiting' },
  unstored: { fill: 'unstored', name: 'runs not stored' },
  done: { fill: 'f-completed', name: 'ran' },
  failed: { fill: 'f-fail', name: 'failed run' },
  running: { fill: 'f-running', name: 'running' },
}

const ROOM = 7.5

function RunLink({ run, children }: { run?: number; children: Child }) {
  const way = useWay()
  if (run === undefined) return <>{children}</>
  return (
    <To to={`${way({ tab: 'runs', run: String(run) })}#run`} label={`Run ${run}`}>
      {children}
    </To>
  )
}

const nameOf = ({ kind, from, to }: Stretch): string => `${kinds[kind].name} ${span(to - from)}`

function Bar({ stretch, scale }: { stretch: Stretch; scale: Scale }) {
  const { kind, run } = stretch
  const { fill } = kinds[kind]
  const isRun = isBusy(stretch)
  const from = scale.place(stretch.from)
  const width = Math.max(0.6, scale.place(stretch.to) - from)
  const [y, height] = isRun ? [9, 14] : [12, 8]
  const bar = { x: pct(from), y, height, rx: isRun ? 3 : 2 }
  return (
    <RunLink run={run}>
      <title>{nameOf(stretch)}</title>
      {run !== undefined && <rect class="hit" x={pct(from)} y="0" width={pct(width)} height="32" />}
      <rect {...bar} class={fill} width={pct(width)} />
    </RunLink>
  )
}

function BarText({ stretch, scale }: { stretch: Stretch; scale: Scale }) {
  const { from, to, text } = stretch
  const x = scale.place(from)
  const width = scale.place(to) - x
  if (text === undefined || width < (isBusy(stretch) ? ROOM : 14)) return null
  return isBusy(stretch) ? (
    <text class="t11 t-on" x={pct(x)} dx="6" y="20">
      {cut(text, 10)}
    </text>
  ) : (
    <text class="t11 t-ink2 halo" x={pct(x)} dx="6" y="20">
      {cut(text, 26)}
    </text>
  )
}

function Track({ row, scale }: { row: Row; scale: Scale }) {
  const end = scale.place(scale.to)
  const hasLinks = row.stretches.some(({ run }) => run !== undefined)
  const said = row.stretches.map(nameOf).join(', ')
  return (
    <div class="trk">
      <svg role={hasLinks ? 'group' : 'img'} aria-label={said.slice(0, 400)}>
        {row.stretches.map((stretch) => (
          <Bar stretch={stretch} scale={scale} />
        ))}
        {scale.breaks.map((one) => (
          <use href="#break" x={pct(one.at)} />
        ))}
        {row.stretches.map((stretch) => (
          <BarText stretch={stretch} scale={scale} />
        ))}
        <line class="s-accent" x1={pct(end)} x2={pct(end)} y1="0" y2="32" stroke-width="1" />
      </svg>
    </div>
  )
}

function Label({ row }: { row: Row }) {
  return (
    <div class={`lab${row.depth ? ` d${row.depth}` : ''}`}>
      {row.status && <StatusMark status={row.status} />}
      <span class="clip">{row.job ? <To to={`/jobs/${row.job}`}>{row.name}</To> : <b>{row.name}</b>}</span>
      <span class="kind">{row.note}</span>
    </div>
  )
}

function marksOf({ breaks, edges, place, from }: Scale, isBrief: boolean): { x: number; text: string }[] {
  const marks = breaks.map(({ at, length }) => ({ x: at, text: `${span(length)} shortened` }))
  if (isBrief && marks.length === 0) marks.push(...edges.map((at) => ({ x: place(at), text: span(at - from) })))
  return marks.filter(({ x }, i) => x > 20 && x < 76 && (i === 0 || x - marks[i - 1]!.x > 20))
}

/** An axis of less than a minute shows the time since the start, because all clock times would be equal. */
function Axis({ scale }: { scale: Scale }) {
  const { zone } = useLook()
  const { from, to } = scale
  const isBrief = to - from < MINUTE
  const text = (at: number) => (isBrief ? span(at - from) : to - from > DAY ? dayOf(at, zone) : clock(at, zone))
  return (
    <div class="trk hd">
      <svg aria-hidden="true">
        <text class="t11 keep" x="0.6%" y="19">
          {isBrief ? '0' : text(from)}
        </text>
        {marksOf(scale, isBrief).map(({ x, text }) => (
          <text class="t11 t-ink2 mid" x={pct(x)} y="19">
            {text}
          </text>
        ))}
        <text class="t11 end t-c accent keep" x={pct(scale.place(to))} y="19">
          {text(to)}
        </text>
      </svg>
    </div>
  )
}

function Legend({ rows, hasBreaks }: { rows: readonly Row[]; hasBreaks: boolean }) {
  const shown = new Set(rows.flatMap(({ stretches }) => stretches.map(({ kind }) => kind)))
  return (
    <p class="legend foot">
      {Object.entries(kinds).map(
        ([kind, { fill, name }]) =>
          shown.has(kind as StretchKind) && (
            <span>
              <svg width="14" height="8" aria-hidden="true">
                <rect class={fill} width="14" height="8" rx="2" />
              </svg>
              {name}
            </span>
          ),
      )}
      {hasBreaks && (
        <span>
          <svg width="14" height="12" viewBox="-6 -4 16 40" aria-hidden="true">
            <use href="#break" />
          </svg>
          shortened: not to scale
        </span>
      )}
    </p>
  )
}

export function Timeline(parts: Parts) {
  const { now, zone } = useLook()
  const { job, runs } = parts
  const rows = rowsOf(parts, now)
  const to = Math.max(...rows.flatMap(({ stretches }) => stretches.map(({ to }) => to)), job.createdAt + 1)
  const scale = scaleOf(job.createdAt, to, busyIn(rows))
  const more = Object.keys(job.children).length + (job.moreChildren ?? 0) - Math.min(parts.family.length, CHILDREN)
  return (
    <Card title="Timeline">
      <div class="wf">
        <div class="lab hd">
          <span class="clip">
            {dayOf(job.createdAt, zone)}, {clock(job.createdAt, zone)}
          </span>
        </div>
        <Axis scale={scale} />
        <div class="dur hd">elapsed</div>
        {rows.map((row) => (
          <>
            <Label row={row} />
            <Track row={row} scale={scale} />
            <div class="dur">{row.took === null ? '–' : span(row.took)}</div>
          </>
        ))}
      </div>
      <Legend rows={rows} hasBreaks={scale.breaks.length > 0} />
      {more > 0 && (
        <p class="note foot">
          <Link to={`/jobs?parent=${job.id}`}>{`${count(more)} more`}</Link>
        </p>
      )}
      {job.cost!.total > runs.length && <OnlyLastRun {...job} />}
    </Card>
  )
}
