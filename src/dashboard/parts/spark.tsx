import type { Child } from 'hono/jsx'
import { round } from '../words/text.ts'

export type Tone = 'queued' | 'running' | 'suspended' | 'completed' | 'failed' | 'accent'

const [WIDTH, HEIGHT] = [200, 34]

export function Spark({ values, tone }: { values: readonly number[]; tone: Tone }) {
  const most = Math.max(1, ...values)
  const step = WIDTH / Math.max(1, values.length - 1)
  const points = values.map((value, i) => `${round(i * step)} ${round(HEIGHT - 3 - (value / most) * (HEIGHT - 7))}`)
  const line = points.length > 1 ? `M${points.join('L')}` : `M0 ${HEIGHT - 3}H${WIDTH}`
  return (
    <svg
      class="spark"
      width={WIDTH}
      height={HEIGHT}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path class={`f-${tone} area`} d={`${line}V${HEIGHT}H0Z`} />
      <path class={`ln s-${tone}`} d={line} />
    </svg>
  )
}

export function Bars({
  values,
  tone,
  width = 96,
  height = 18,
}: {
  values: readonly number[]
  tone: string
  width?: number
  height?: number
}) {
  const most = Math.max(1, ...values)
  const step = width / Math.max(1, values.length)
  return (
    <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      {values.map((value, i) => {
        const tall = value === 0 ? 1.5 : Math.max(1.5, (value / most) * height)
        return (
          <rect
            class={value === 0 ? 'f-line2' : tone}
            x={round(i * step)}
            y={round(height - tall)}
            width={round(step * 0.75)}
            height={round(tall)}
            rx=".75"
          />
        )
      })}
    </svg>
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

export function Pips({ on, of, title }: { on: number; of: number; title: string }) {
  return (
    <span class="lanes" title={title}>
      <span class="vh">{title}</span>
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
