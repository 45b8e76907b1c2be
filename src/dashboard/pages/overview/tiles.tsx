import type { Point } from '../../../core/series.ts'
import { waitBelow, waitEnds } from '../../../core/waits.ts'
import { Shape, To } from '../../parts/layout.tsx'
import { Spark } from '../../parts/spark.tsx'
import { sum } from '../../words/counts.ts'
import { type Queue, readyIn } from '../../words/queue.ts'
import type { Range } from '../../words/series.ts'
import { about, count, percent, short } from '../../words/text.ts'

type TilesProps = {
  data: {
    queues: Queue[]
    points: Point[]
    range: Range
    stats: { waits: Record<string, number[]> }
  }
}

function Waiting({ data: { queues, points } }: TilesProps) {
  const ready = sum(queues, readyIn)
  const limited = sum(queues, ({ counts }) => counts.limited)
  const paused = sum(queues, (queue) => (queue.paused ? readyIn(queue) : 0))
  return (
    <To kind="tile" to="/jobs?status=queued">
      <span class="dt">Waiting to start</span>
      <span class="big">{short(ready + limited)}</span>
      <span class="sub">
        {count(limited)} at limits, {count(paused)} paused
      </span>
      <Spark values={points.map(({ longestWait }) => longestWait)} tone="suspended" />
    </To>
  )
}

function Running({ data: { queues, points } }: TilesProps) {
  const lanes = sum(queues, ({ lanes }) => lanes)
  const most = sum(queues, ({ maxLanes }) => maxLanes)
  const pulled = sum(queues, ({ pulled }) => pulled)
  return (
    <To kind="tile" to="/jobs?status=running">
      <span class="dt">
        <span class="st running">
          <Shape status="running" />
        </span>
        Running
      </span>
      <span class="big">{short(sum(queues, ({ counts }) => counts.running))}</span>
      <span class="sub">
        in {count(lanes)} of {count(most)} lanes, {count(pulled)} pulled
      </span>
      <Spark values={points.map(({ runs }) => runs)} tone="running" />
    </To>
  )
}

function Ended({ data: { points, range } }: TilesProps) {
  const all = sum(points, ({ completed, failed, terminated }) => completed + failed + terminated)
  const minute = all / (range.span / 60_000)
  return (
    <To kind="tile" to="/jobs?status=completed">
      <span class="dt">Ended</span>
      <span class="big">
        {minute < 10 && minute > 0 ? minute.toFixed(1) : short(Math.round(minute))}
        <small>per minute</small>
      </span>
      <span class="sub">
        {count(all)} in {range.text}
      </span>
      <Spark values={points.map(({ completed }) => completed)} tone="completed" />
    </To>
  )
}

function Failed({ data: { queues, points, range } }: TilesProps) {
  const failed = sum(points, (point) => point.failed)
  const ended = sum(points, (point) => point.failed + point.completed)
  return (
    <To kind="tile" to="/jobs?status=failed">
      <span class="dt">Failed for good</span>
      <span class="big">{short(sum(queues, ({ counts }) => counts.failed))}</span>
      <span class="sub">
        {ended === 0 ? (
          'no jobs ended'
        ) : (
          <span class={failed / ended > 0.01 ? 'up' : undefined}>{percent(failed / ended)}</span>
        )}{' '}
        in {range.text}
      </span>
      <Spark values={points.map(({ failed }) => failed)} tone="failed" />
    </To>
  )
}

function Waits({ data: { stats, points } }: TilesProps) {
  const all = waitEnds.map((_, i) => sum(Object.values(stats.waits), (own) => own[i] ?? 0))
  const [half, most] = [waitBelow(all, 0.5), waitBelow(all, 0.95)]
  return (
    <To kind="tile wide2" to="/queues">
      <span class="dt">Time to start, p50 and p95</span>
      <span class="big">
        {half === undefined ? '–' : `≤ ${about(half)}`}
        {most !== half && (
          <>
            <i class="or" />
            {most === undefined ? '–' : `≤ ${about(most)}`}
          </>
        )}
      </span>
      <span class="sub">{count(sum(all, (n) => n))} runs since midnight UTC</span>
      <Spark values={points.map(({ longestWait }) => longestWait)} tone="accent" />
    </To>
  )
}

export function Tiles(props: TilesProps) {
  return (
    <div class="tiles">
      <Waiting {...props} />
      <Running {...props} />
      <Ended {...props} />
      <Failed {...props} />
      <Waits {...props} />
    </div>
  )
}
