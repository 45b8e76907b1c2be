import type { Child } from 'hono/jsx'
import { sum } from '../words/counts.ts'
import { pct, round } from '../words/text.ts'

export type Tone = 'queued' | 'running' | 'suspended' | 'completed' | 'failed' | 'accent'

const [WIDTH, HEIGHT] = [200, 34]

type SparkProps = {
  values: readonly number[]
  tone: Tone
  others?: readonly number[]
  label?: string
}

export function Spark({ values, tone, others = [], label }: SparkProps) {
  const most = Math.max(1, ...values, ...others)
  const lineOf = (list: readonly number[]): string => {
    const step = WIDTH / Math.max(1, list.length - 1)
    const points = list.map((value, i) => `${round(i * step)} ${round(HEIGHT - 3 - (value / most) * (HEIGHT - 7))}`)
    return points.length > 1 ? `M${points.join('L')}` : `M0 ${HEIGHT - 3}H${WIDTH}`
  }
  return (
    <svg
      class="spark"
      width="100%"
      height={HEIGHT}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role={label && 'img'}
      aria-label={label}
      aria-hidden={label ? undefined : 'true'}
    >
      <path class={`f-${tone} area`} d={`${lineOf(values)}V${HEIGHT}H0Z`} />
      <path class={`ln s-${tone}`} d={lineOf(values)} />
      {others.length > 0 && <path class="ln s-suspended" d={lineOf(others)} />}
    </svg>
  )
}

const [BARS_WIDTH, BARS_HEIGHT] = [96, 18]

type BarsProps = { values: readonly number[]; failed?: readonly number[]; tone: string }

export function Bars({ values, failed = [], tone }: BarsProps) {
  const most = Math.max(1, ...values)
  const step = BARS_WIDTH / Math.max(1, values.length)
  function bar(i: number, n: number, kind: string) {
    const height = Math.max(1.5, (n / most) * BARS_HEIGHT)
    const [x, y] = [round(i * step), round(BARS_HEIGHT - height)]
    return <rect class={kind} x={x} y={y} width={round(step * 0.75)} height={round(height)} rx=".75" />
  }
  return (
    <svg width={BARS_WIDTH} height={BARS_HEIGHT} viewBox={`0 0 ${BARS_WIDTH} ${BARS_HEIGHT}`} aria-hidden="true">
      {values.map((value, i) => [
        bar(i, value, value === 0 ? 'f-line2' : tone),
        failed[i] ? bar(i, failed[i], 'f-failed') : null,
      ])}
    </svg>
  )
}

export function Shares({ of, label }: { of: readonly { n: number; kind: string }[]; label: string }) {
  const all = sum(of, ({ n }) => n)
  let x = 0
  return (
    <div class="shares">
      <svg width="100%" height="10" role="img" aria-label={label}>
        {of.map(({ n, kind }) => {
          const width = all === 0 ? 0 : (n / all) * 100
          const at = x
          x += width
          return (
            width > 0 && (
              <rect class={`f-${kind}`} x={pct(at)} width={pct(Math.max(0.4, width - 0.4))} height="10" rx="2" />
            )
          )
        })}
      </svg>
    </div>
  )
}

export function Meter({ share, tone = 'running' }: { share: number; tone?: Tone }) {
  const width = 56
  const part = Math.max(0, Math.min(1, share))
  return (
    <svg width={width} height="6" aria-hidden="true">
      <rect class="f-line2 ghost" width={width} height="6" rx="3" />
      <rect class={`f-${tone}`} width={round(width * part)} height="6" rx="3" />
    </svg>
  )
}

export function Pips({ on, of }: { on: number; of: number }) {
  return (
    <span class="lanes">
      {Array.from({ length: Math.min(of, 12) }, (_, i) => (
        <i class={i < on ? 'pip on' : 'pip'} />
      ))}
    </span>
  )
}

export function Legend({ of, children }: { of: readonly (readonly [kind: string, text: Child])[]; children?: Child }) {
  return (
    <span class="legend">
      {of.map(([kind, text]) => (
        <span>
          <i class={kind} />
          {text}
        </span>
      ))}
      {children}
    </span>
  )
}
