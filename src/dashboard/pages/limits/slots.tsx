import type { Child } from 'hono/jsx'
import type { Holder, LimitRow } from '../../../engine/engine.ts'
import { useLook } from '../../look.ts'
import { colourOf, hasFreeSlots, periodOf, slotsText } from '../../words/limit.ts'
import { clock, count, pct, span } from '../../words/text.ts'

/** Maximum cells. If a limit has more slots, each cell shows several slots. */
const CELLS = 60

function Cells({ of, on, kinds, height }: { of: number; on: number; kinds: string[]; height: number }) {
  const cells = Math.min(of, CELLS)
  const filled = Math.round((on / of) * cells)
  const width = 100 / cells
  return (
    <svg class="bar" width="100%" height={height} aria-hidden="true">
      {Array.from({ length: cells }, (_, i) => (
        <rect
          class={i < filled ? `g ${kinds[i] ?? kinds.at(-1) ?? ''}` : 'f-line'}
          x={pct(i * width)}
          width={pct(width * 0.88)}
          height={height}
          rx="3"
        />
      ))}
    </svg>
  )
}

export const Bar = ({ kind, height, children }: { kind: string; height: number; children?: Child }) => (
  <svg class="bar" width="100%" height={height} aria-hidden="true">
    <rect class={kind} width="100%" height={height} rx="3" />
    {children}
  </svg>
)

function Starts({ starts, period, height }: { starts: readonly number[]; period: number; height: number }) {
  const { now } = useLook()
  return (
    <Bar kind="f-line" height={height}>
      {starts.map((at) => (
        <rect
          class="f-running"
          x={pct(Math.max(0, Math.min(99.5, 100 - ((now - at) / period) * 100)))}
          width="2"
          height={height}
        />
      ))}
    </Bar>
  )
}

type SlotsProps = {
  limit: Partial<LimitRow> & Pick<LimitRow, 'concurrency' | 'running'>
  holders?: readonly Holder[]
  small?: boolean
}

const hasRoom = ({ rate, started, ...slots }: SlotsProps['limit']): boolean =>
  hasFreeSlots(slots) && (!rate || (started !== undefined && started < rate.limit))

function nowOf(limit: SlotsProps['limit'], now: number, zone: string): string {
  const { concurrency, shutUntil } = limit
  if (shutUntil && shutUntil > now) return `not called until ${clock(shutUntil, zone)}`
  return `${slotsText(limit)}${concurrency === null ? ' running' : ''}`
}

export function Slots({ limit, holders, small }: SlotsProps) {
  const { now, zone } = useLook()
  const { concurrency, running, shutUntil, paused, rate, started, starts, fullSince } = limit
  const kinds = holders?.map(({ group }) => colourOf(group)).sort() ?? ['g0']
  const isShut = (shutUntil !== undefined && shutUntil !== null && shutUntil > now) || paused
  const height = small ? 10 : 18
  return (
    <div>
      {isShut ? (
        <Bar kind="wait" height={height} />
      ) : rate && starts ? (
        <Starts starts={starts} period={rate.period} height={height} />
      ) : concurrency === null ? (
        <Bar kind="f-line" height={height} />
      ) : (
        <Cells of={concurrency} on={running} kinds={small ? [''] : kinds} height={height} />
      )}
      {!small && (
        <span class="sub">
          {nowOf(limit, now, zone)}
          {rate &&
            started !== undefined &&
            `; ${count(started)} of ${count(rate.limit)} started in the last ${periodOf(rate.period)}`}
          {fullSince && !hasRoom(limit) && `; full for ${span(now - fullSince)}`}
        </span>
      )}
    </div>
  )
}
