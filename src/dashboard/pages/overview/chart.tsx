import type { Point } from '../../../core/series.ts'
import { DAY } from '../../../core/units.ts'
import { useLook, useWay } from '../../look.ts'
import { Card, Icon, Link, To } from '../../parts/layout.tsx'
import { Legend } from '../../parts/spark.tsx'
import { type Column, DataTable } from '../../parts/table.tsx'
import { sum } from '../../words/counts.ts'
import { type Deploy, deployName, deployPath } from '../../words/deploy.ts'
import { stretchText } from '../../words/filter.ts'
import { jobsPath } from '../../words/paths.ts'
import { endOf, niceTop, perOf, type Range } from '../../words/series.ts'
import { count, dayOf, hourOf, many, round } from '../../words/text.ts'

const [TOP, BOTTOM, HEIGHT, WIDTH] = [9.5, 223, 225, 1000]
const GAP = 0.14
const LABELS = 6
const NAMED = 2
const FEW = 6

export const jobsIn = ({ at }: Point, { span, columns }: Range, status: string, queue?: string): string =>
  jobsPath({ status, queue, ended: stretchText({ from: at, to: at + span / columns }) })

const hasEnds = ({ completed, failed }: Point): boolean => completed + failed > 0

type PlotColumnProps = {
  point: Point
  i: number
  of: number
  line: number
  perJob: number
  to: (status: Ended) => string
}
type Ended = 'completed' | 'failed'

function PlotColumn({ point, i, of, line, perJob, to }: PlotColumnProps) {
  const width = (WIDTH / of) * (1 - GAP)
  const x = round((WIDTH / of) * i)
  const up = round(point.completed * perJob)
  const down = round(point.failed * perJob)
  const pressed = (status: Ended, y: number, height: number) => (
    <rect class="hit" x={x} y={y} width={round(width)} height={height} data-to={to(status)}>
      <title>
        {many(point[status], 'job')} {status}
      </title>
    </rect>
  )
  return (
    <>
      {up > 0 && <rect class="f-done" x={x} y={round(line - up)} width={round(width)} height={up} rx="1.5" />}
      {down > 0 && (
        <rect class="f-failed" x={x} y={line + 0.5} width={round(width)} height={Math.max(2, down)} rx="1.5" />
      )}
      {up > 0 && pressed('completed', 0, line)}
      {down > 0 && pressed('failed', line, round(HEIGHT - line))}
    </>
  )
}

const LEGEND = [
  ['done', 'completed'],
  ['failed', 'failed'],
] as const

function Steps({ range }: { range: Range }) {
  const { now } = useLook()
  const end = endOf(range, now)
  const begin = end - range.span
  const way = useWay()
  const to = (from?: number, to?: number): string => way({ from: from?.toFixed(), to: to?.toFixed() })
  return (
    <>
      {range.to !== undefined && (
        <>
          <Link to={to(begin - range.span, begin)}>Earlier</Link>
          {end < now && <Link to={to(end, end + range.span)}>Later</Link>}
          <Link to={to()}>Show all</Link>
        </>
      )}
      {range.columns > FEW && (
        <To kind="link" to={to(end - range.span / 4, end)} label="Zoom in to the last quarter of the chart">
          Zoom in
        </To>
      )}
    </>
  )
}

function Mark({ deploy, points }: { deploy: Deploy; points: Point[] }) {
  const from = points[0]!.at
  const span = (points[1]!.at - from) * points.length
  const x = round(((deploy.at - from) / span) * WIDTH)
  return (
    <path class="ln deploy" d={`M${x} 0V${HEIGHT}`}>
      <title>{deployName(deploy)}</title>
    </path>
  )
}

function Numbers({ points, said, to }: { points: Point[]; said: string; to: (point: Point, status: Ended) => string }) {
  const { zone } = useLook()
  const number = (head: string, status: Ended): Column<Point> => ({
    head,
    cell: (point) => (point[status] === 0 ? count(0) : <To to={to(point, status)}>{count(point[status])}</To>),
  })
  return (
    <details class="foot" id="table">
      <summary class="link">Show as table</summary>
      <DataTable
        caption={said}
        rows={points.filter(hasEnds)}
        columns={[
          { head: 'From', cell: ({ at }) => `${dayOf(at, zone)} ${hourOf(at, zone)}` },
          number('#Completed', 'completed'),
          number('#Failed', 'failed'),
        ]}
      />
    </details>
  )
}

type EndsProps = { points: Point[]; range: Range; deploys: Deploy[]; queue?: string }

type PlotProps = Omit<EndsProps, 'queue'> & { said: string; to: (point: Point, status: Ended) => string }

function Plot({ points, range, deploys, said, to }: PlotProps) {
  const { zone, now } = useLook()
  const end = endOf(range, now)
  const per = perOf(range)
  const most = (status: Ended): number => niceTop(Math.max(...points.map((point) => point[status])) / per) * per
  const top = Math.max(most('completed'), most('failed') / 10)
  const low = Math.max(most('failed'), top / 10)
  const perJob = (BOTTOM - TOP) / (top + low)
  const line = round(TOP + top * perJob)
  const marks = Array.from(
    { length: LABELS },
    (_, i) => points[Math.floor((i * (points.length - 1)) / (LABELS - 1))]!.at,
  )
  return (
    <div class="plot">
      <span class="ylab y1" aria-hidden="true">
        {count(top / per)}
      </span>
      <span class="ylab y2" aria-hidden="true">
        {count(low / per)} failed
      </span>
      <svg
        height={HEIGHT}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={said}
        data-from={end - range.span}
        data-to={end}
      >
        {[TOP, TOP + (line - TOP) / 3, line - (line - TOP) / 3, HEIGHT - 0.5].map(round).map((y) => (
          <path class="ln1 s-line" d={`M0 ${y}H${WIDTH}`} />
        ))}
        <path class="ln1 s-line2" d={`M0 ${line}H${WIDTH}`} />
        {points.map((point, i) => (
          <PlotColumn
            point={point}
            i={i}
            of={points.length}
            line={line}
            perJob={perJob}
            to={(status) => to(point, status)}
          />
        ))}
        {deploys.map((deploy) => (
          <Mark deploy={deploy} points={points} />
        ))}
      </svg>
      <div class="axis" aria-hidden="true">
        {marks.map((at) => (
          <span>{range.span > DAY ? dayOf(at, zone) : hourOf(at, zone)}</span>
        ))}
      </div>
    </div>
  )
}

export function Ends({ points, range, deploys, queue }: EndsProps) {
  const { zone } = useLook()
  const jobs = (point: Point, status: Ended) => jobsIn(point, range, status, queue)
  const completed = sum(points, (point) => point.completed)
  const failed = sum(points, (point) => point.failed)
  const deployText = deploys.map((one) => `; ${deployName(one)} at ${hourOf(one.at, zone)}`).join('')
  const time = range.to === undefined ? `the last ${range.text}` : `${range.text} from ${hourOf(points[0]!.at, zone)}`
  const said = `${count(completed)} jobs completed and ${count(failed)} failed in ${time}${deployText}`
  return (
    <Card
      title={range.step === 'minute' ? 'Ended per minute' : 'Ended per hour'}
      right={
        <span class="legend">
          <Legend of={LEGEND}>
            {deploys.slice(0, NAMED).map((one) => (
              <To to={deployPath(one)}>
                <Icon name="deploy" size={12} />
                {`${deployName(one)}, ${hourOf(one.at, zone)}`}
              </To>
            ))}
          </Legend>
          <Steps range={range} />
        </span>
      }
    >
      {points.some(hasEnds) ? (
        <>
          <Plot {...{ points, range, deploys, said }} to={jobs} />
          <Numbers points={points} said={said} to={jobs} />
        </>
      ) : (
        <p class="body dim">No job ended in {time}.</p>
      )}
    </Card>
  )
}
