import type { Child } from 'hono/jsx'
import { useLook, useWay } from '../../look.ts'
import { Card, Choice, Link, StatusMark, To } from '../../parts/layout.tsx'
import { clock, count, cut, dayOf, percent, round, span } from '../../words/text.ts'
import {
  busyIn,
  CHILDREN,
  type Parts,
  type Row,
  rowsOf,
  type Scale,
  type Stretch,
  scaleOf,
} from '../../words/timeline.ts'
import { OnlyLastRun } from './runs.tsx'

const [MINUTE, DAY] = [60_000, 86_400_000]

const at = (n: number): string => `${round(n)}%`

const kinds: Record<Stretch['kind'], { kind: string; tall: boolean }> = {
  queued: { kind: 'f-queued', tall: false },
  wait: { kind: 'wait', tall: false },
  run: { kind: 'f-completed', tall: true },
  fail: { kind: 'f-fail', tall: true },
  running: { kind: 'f-running', tall: false },
  completed: { kind: 'f-completed', tall: false },
  failed: { kind: 'f-failed', tall: false },
}

/** Minimum width, in percent, of a bar that shows its name. */
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

function Bar({ stretch, scale }: { stretch: Stretch; scale: Scale }) {
  const { kind, tall } = kinds[stretch.kind]
  const from = scale.place(stretch.from)
  const width = Math.max(0.6, scale.place(stretch.to) - from)
  const [y, height] = tall ? [9, 14] : [12, 8]
  const isWait = stretch.kind === 'wait'
  const bar = { x: at(from), y, height, rx: isWait ? 2 : 3 }
  return (
    <RunLink run={stretch.run}>
      {stretch.run !== undefined && <rect class="hit" x={at(from)} y="0" width={at(width)} height="32" />}
      <rect {...bar} class={stretch.share === undefined ? kind : `${kind} ghost`} width={at(width)} />
      {stretch.share !== undefined && <rect {...bar} class={kind} width={at(width * stretch.share)} />}
      {stretch.text && tall && width > ROOM && (
        <text class="t11 t-on" x={at(from)} dx="6" y="20">
          {cut(stretch.text, 10)}
        </text>
      )}
      {stretch.text && isWait && width > 14 && (
        <text class="t11 t-c suspended mid halo" x={at(from + width / 2)} y="20">
          {cut(stretch.text, 26)}
        </text>
      )}
    </RunLink>
  )
}

function Break({ x }: { x: number }) {
  return (
    <svg x={at(x)} y="0" width="12" height="32" overflow="visible" aria-hidden="true">
      <path class="brk" d="M-3 32 1 21-2 11 2 0h6L4 11l3 10L3 32Z" />
      <path class="ln1 s-line2" fill="none" d="M-3 32 1 21-2 11 2 0M3 32l4-11L4 11 8 0" />
    </svg>
  )
}

const isWithin = (at: number, { from, to }: Scale): boolean => at >= from && at <= to

function Track({ row, scale, moment }: { row: Row; scale: Scale; moment?: number }) {
  const end = scale.place(scale.to)
  const x = moment !== undefined && isWithin(moment, scale) ? at(scale.place(moment)) : undefined
  const hasLinks = row.stretches.some(({ run }) => run !== undefined)
  const said = row.stretches.map(({ kind, from, to }) => `${kind} ${span(to - from)}`).join(', ')
  return (
    <div class="trk">
      <svg role={hasLinks ? 'group' : 'img'} aria-label={said.slice(0, 400)}>
        {row.stretches.map((stretch) => (
          <Bar stretch={stretch} scale={scale} />
        ))}
        {scale.breaks.map(({ at }) => (
          <Break x={at} />
        ))}
        <line class="s-accent" x1={at(end)} x2={at(end)} y1="0" y2="32" stroke-width="1" />
        {x && <line class="s-accent" x1={x} x2={x} y1="0" y2="32" stroke-width="1.5" stroke-dasharray="3 2" />}
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

const took = ({ stretches, took }: Row): string => {
  const share = stretches.at(-1)?.share
  return share !== undefined ? percent(share) : took === null ? '–' : span(took)
}

/** Omits marks that would overlap. */
function marksOf({ breaks, edges, place, from }: Scale, isBrief: boolean): { x: number; text: string }[] {
  const marks = breaks.map(({ at, length }) => ({ x: at, text: span(length) }))
  if (isBrief && marks.length === 0) marks.push(...edges.map((at) => ({ x: place(at), text: span(at - from) })))
  return marks.filter(({ x }, i) => x > 9 && x < 86 && (i === 0 || x - marks[i - 1]!.x > 9))
}

/** Below a minute, it shows the time since the start, because all clock times would be equal. */
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
          <text class="t11 t-ink2 mid" x={at(x)} y="19">
            {text}
          </text>
        ))}
        <text class="t11 end t-c accent keep" x={at(scale.place(to))} y="19">
          {text(to)}
        </text>
      </svg>
    </div>
  )
}

type TimelineProps = Parts & { folded: boolean; at?: number }

export function Timeline({ folded, at: moment, ...parts }: TimelineProps) {
  const { now, zone } = useLook()
  const { job, runs } = parts
  const rows = rowsOf(parts, now)
  const to = Math.max(...rows.flatMap(({ stretches }) => stretches.map(({ to }) => to)), job.createdAt + 1)
  const scale = scaleOf(job.createdAt, to, busyIn(rows), folded)
  const more = Object.keys(job.children).length + (job.moreChildren ?? 0) - Math.min(parts.family.length, CHILDREN)
  const way = useWay()
  const right = (
    <>
      <span class="legend wide">
        <span>
          <svg class="hs" width="12" height="8" aria-hidden="true">
            <rect class="wait" width="12" height="8" rx="2" />
          </svg>
          waiting
        </span>
      </span>
      <Choice
        label="Scale"
        options={[
          { text: 'Compact', to: way({ scale: undefined }), on: folded },
          { text: 'To scale', to: way({ scale: 'true' }), on: !folded },
        ]}
      />
    </>
  )
  return (
    <Card title="Timeline" right={right}>
      <div class="wf">
        <div class="lab hd">
          <span class="clip">
            {dayOf(job.createdAt, zone)}, {clock(job.createdAt, zone)}
          </span>
        </div>
        <Axis scale={scale} />
        <div class="dur hd">took</div>
        {rows.map((row) => (
          <>
            <Label row={row} />
            <Track row={row} scale={scale} moment={moment} />
            <div class="dur">{took(row)}</div>
          </>
        ))}
      </div>
      {more > 0 && (
        <p class="note foot">
          <Link to={`/jobs?parent=${job.id}`}>{`${count(more)} more`}</Link>
        </p>
      )}
      {job.cost!.total > runs.length && <OnlyLastRun {...job} />}
    </Card>
  )
}
