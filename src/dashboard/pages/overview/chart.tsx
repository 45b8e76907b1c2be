// Ends a minute: completed above the line, failed below it on a scale of its own.

import type { Point } from '../../../core/series.ts'
import { useLook } from '../../look.ts'
import { Icon } from '../../parts/icon.tsx'
import { Card } from '../../parts/layout.tsx'
import { count } from '../../words/number.ts'
import { niceTop, perOf, type Range } from '../../words/series.ts'
import { dayOf, hourOf } from '../../words/time.ts'

/** Where the line is, and how high the chart. */
const [LINE, HEIGHT, WIDTH] = [168.5, 225, 1000]
const GAP = 0.14
const LABELS = 6

const round = (n: number): number => Math.round(n * 100) / 100

function Column({ point, i, of, top, low }: { point: Point; i: number; of: number; top: number; low: number }) {
  const width = (WIDTH / of) * (1 - GAP)
  const x = round((WIDTH / of) * i)
  const up = round((point.completed / top) * (LINE - 9.5))
  const down = round((point.failed / low) * (HEIGHT - LINE - 2))
  return (
    <>
      {up > 0 && <rect class="f-done" x={x} y={round(LINE - up)} width={round(width)} height={up} rx="1.5" />}
      {down > 0 && (
        <rect class="f-failed" x={x} y={LINE + 0.5} width={round(width)} height={Math.max(1, down)} rx="1.5" />
      )}
    </>
  )
}

function Legend({ hasDeploys }: { hasDeploys: boolean }) {
  return (
    <span class="legend">
      <span>
        <i class="done" />
        completed
      </span>
      <span>
        <i class="failed" />
        failed
      </span>
      {hasDeploys && (
        <span>
          <Icon name="deploy" size={12} />
          deploy
        </span>
      )}
    </span>
  )
}

/** Where a moment is between the first column and the end of the last. */
function Deploy({ at, points }: { at: number; points: Point[] }) {
  const from = points[0]!.at
  const span = (points[1]!.at - from) * points.length
  const x = round(((at - from) / span) * WIDTH)
  return (
    <path class="deploy" d={`M${x} 0V${HEIGHT}`}>
      <title>deploy</title>
    </path>
  )
}

export function Ends({ points, range, deploys }: { points: Point[]; range: Range; deploys: number[] }) {
  const { zone } = useLook()
  const per = perOf(range)
  const top = niceTop(Math.max(...points.map(({ completed }) => completed)) / per) * per
  const low = niceTop(Math.max(...points.map(({ failed }) => failed)) / per) * per
  const completed = points.reduce((sum, point) => sum + point.completed, 0)
  const failed = points.reduce((sum, point) => sum + point.failed, 0)
  const told =
    deploys.length > 0 ? `; classes were deployed at ${deploys.map((at) => hourOf(at, zone)).join(', ')}` : ''
  const said = `${count(completed)} jobs completed and ${count(failed)} failed in the last ${range.text}${told}`
  const marks = Array.from(
    { length: LABELS },
    (_, i) => points[Math.floor((i * (points.length - 1)) / (LABELS - 1))]!.at,
  )
  return (
    <Card
      title={range.step === 'minute' ? 'Ends a minute' : 'Ends an hour'}
      right={<Legend hasDeploys={deploys.length > 0} />}
    >
      <div class="plot">
        <span class="ylab y1" aria-hidden="true">
          {count(top / per)}
        </span>
        <span class="ylab y2" aria-hidden="true">
          {count(low / per)} failed
        </span>
        <svg height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={said}>
          {[9.5, 62.17, 114.83, 224.5].map((y) => (
            <path class="ln1 s-line" d={`M0 ${y}H${WIDTH}`} />
          ))}
          <path class="ln1 s-line2" d={`M0 ${LINE}H${WIDTH}`} />
          {points.map((point, i) => (
            <Column point={point} i={i} of={points.length} top={top} low={low} />
          ))}
          {deploys.map((at) => (
            <Deploy at={at} points={points} />
          ))}
        </svg>
        <div class="axis" aria-hidden="true">
          {marks.map((at) => (
            <span>{range.span > 86_400_000 ? dayOf(at, zone) : hourOf(at, zone)}</span>
          ))}
        </div>
      </div>
      <details class="foot" id="table">
        <summary class="link">Show as table</summary>
        <table class="tbl">
          <caption class="vh">{said}</caption>
          <thead>
            <tr>
              <th scope="col">From</th>
              <th scope="col" class="num">
                Completed
              </th>
              <th scope="col" class="num">
                Failed
              </th>
            </tr>
          </thead>
          <tbody>
            {points
              .filter(({ completed, failed }) => completed + failed > 0)
              .map((point) => (
                <tr>
                  <td>{`${dayOf(point.at, zone)} ${hourOf(point.at, zone)}`}</td>
                  <td class="num">{count(point.completed)}</td>
                  <td class="num">{count(point.failed)}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </details>
    </Card>
  )
}
