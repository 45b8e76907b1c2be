import { classEnds } from '../../../core/class-counts.ts'
import { Card, Empty } from '../../parts/layout.tsx'
import { Bars } from '../../parts/spark.tsx'
import { about, count, many, short } from '../../words/text.ts'
import type { ClassRow } from '../jobs/by-class.tsx'

const upTo = (end: number): string => (Number.isFinite(end) ? about(end) : 'longer')

const STEP = 2

function Took({ buckets }: { buckets: readonly number[] }) {
  const said = buckets.flatMap((n, i) => (n === 0 ? [] : [`${many(n, 'run')} up to ${upTo(classEnds[i]!)}`]))
  return (
    <div class="plot wideplot">
      <span class="vh">{said.join(', ')}</span>
      <Bars values={buckets} tone="f-done" width={420} height={52} />
      <div class="axis" aria-hidden="true">
        {classEnds.map((end, i) => i % STEP === 0 && <span>{upTo(end)}</span>)}
        <span>longer</span>
      </div>
    </div>
  )
}

export function Runs({ of }: { of?: ClassRow }) {
  const { runs = 0, failed = 0 } = of?.counts ?? {}
  return (
    <Card
      title="Run times today"
      right={
        <>
          {many(runs, 'run')}, <span title={count(failed)}>{short(failed)} failed</span>
        </>
      }
    >
      {of?.took ? <Took buckets={of.took.buckets} /> : <Empty>No runs since midnight UTC.</Empty>}
    </Card>
  )
}
