import type { Child } from 'hono/jsx'
import type { Point } from '../../../core/series.ts'
import { MINUTE } from '../../../core/units.ts'
import { waitBucketEnds, waitPercentile } from '../../../core/waits.ts'
import { Shape, To } from '../../parts/layout.tsx'
import { Spark, type Tone } from '../../parts/spark.tsx'
import { sum } from '../../words/counts.ts'
import { pausedIn, type Queue, waitingIn } from '../../words/queue.ts'
import type { Range } from '../../words/series.ts'
import { about, count, percent, short } from '../../words/text.ts'
import { jobsIn } from './chart.tsx'

type TilesProps = {
  data: {
    queues: Queue[]
    points: Point[]
    range: Range
    stats: { waits: Record<string, number[]> }
  }
}

type TileProps = {
  to: string
  head: Child
  big: Child
  sub: Child
  points: Point[]
  of: 'completed' | 'failed' | 'runs' | 'longestWait'
  tone: Tone
  isWide?: boolean
}

const Tile = ({ to, head, big, sub, points, of, tone, isWide }: TileProps) => (
  <To kind={isWide ? 'tile wide2' : 'tile'} to={to}>
    <span class="dt">{head}</span>
    <span class="big">{big}</span>
    <span class="sub">{sub}</span>
    <Spark values={points.map((point) => point[of])} tone={tone} />
  </To>
)

function EndTiles({ data: { points, range } }: TilesProps) {
  const failed = sum(points, (point) => point.failed)
  const all = sum(points, ({ completed, failed, terminated }) => completed + failed + terminated)
  const minute = all / (range.span / MINUTE)
  const share = failed / all
  const ended = `${count(all)} ended in ${range.text}`
  const endsIn = (status: string) => jobsIn(points[0]!, { ...range, columns: 1 }, status)
  return (
    <>
      <Tile
        to={endsIn('completed,failed,terminated')}
        head="Ended"
        big={
          <>
            {minute > 0 && '≈ '}
            {minute < 10 && minute > 0 ? minute.toFixed(1) : short(Math.round(minute))}
            <small>per minute</small>
          </>
        }
        sub={ended}
        points={points}
        of="completed"
        tone="completed"
      />
      <Tile
        to={endsIn('failed')}
        head="Failed"
        big={short(failed)}
        sub={
          <>
            {`of ${ended}`}
            {all > 0 && ', '}
            {all > 0 && <span class={share > 0.01 ? 'up' : undefined}>{percent(share)}</span>}
          </>
        }
        points={points}
        of="failed"
        tone="failed"
      />
    </>
  )
}

function WaitTile({ data: { stats, points } }: TilesProps) {
  const all = waitBucketEnds.map((_, i) => sum(Object.values(stats.waits), (own) => own[i] ?? 0))
  const [half, most] = [0.5, 0.95].map((share) => waitPercentile(all, share))
  const text = (ms?: number): string => (ms === undefined ? '–' : `≤ ${about(ms)}`)
  const rest = most !== half && (
    <>
      <i class="or" />
      {text(most)}
    </>
  )
  return (
    <Tile
      isWide
      to="/queues"
      head={`Time to start today, ${rest ? 'p50 and p95' : 'p95'}`}
      big={
        <>
          {text(half)}
          {rest}
        </>
      }
      sub={`${count(sum(all))} runs since midnight UTC`}
      points={points}
      of="longestWait"
      tone="accent"
    />
  )
}

export function Tiles({ data }: TilesProps) {
  const { queues, points } = data
  const [paused, pulled] = [sum(queues, pausedIn), sum(queues, ({ pulled }) => pulled)]
  const limited = sum(queues, ({ counts }) => counts.limited)
  const [lanes, most] = [sum(queues, ({ lanes }) => lanes), sum(queues, ({ maxLanes }) => maxLanes)]
  return (
    <div class="tiles">
      <Tile
        to="/jobs?status=queued"
        head="Waiting to start"
        big={short(sum(queues, waitingIn))}
        sub={`${count(limited)} at limits, ${count(paused)} paused`}
        points={points}
        of="longestWait"
        tone="suspended"
      />
      <Tile
        to="/jobs?status=running"
        head={
          <>
            <span class="st running">
              <Shape status="running" />
            </span>
            Running
          </>
        }
        big={short(sum(queues, ({ counts }) => counts.running))}
        sub={`${count(pulled)} in pull workers, ${count(lanes)} of ${count(most)} lanes open`}
        points={points}
        of="runs"
        tone="running"
      />
      <EndTiles data={data} />
      <WaitTile data={data} />
    </div>
  )
}
