import { classEnds } from '../../../core/class-counts.ts'
import { Card, Empty, Zero } from '../../parts/layout.tsx'
import { Bars, Shares } from '../../parts/spark.tsx'
import { ofClass } from '../../words/paths.ts'
import { about, count, many } from '../../words/text.ts'
import type { ClassRow } from '../jobs/by-class.tsx'
import type { Worker } from './classes.tsx'

const upTo = (end: number): string => (Number.isFinite(end) ? about(end) : 'longer')

const STEP = 2

function Took({ buckets }: { buckets: readonly number[] }) {
  const said = buckets.flatMap((n, i) => (n === 0 ? [] : [`${many(n, 'run')} up to ${upTo(classEnds[i]!)}`]))
  return (
    <div class="plot wideplot">
      <span class="vh">{said.join(', ')}</span>
      <Bars values={buckets} tone="f-running" width={420} height={52} />
      <div class="axis" aria-hidden="true">
        {classEnds.map((end, i) => i % STEP === 0 && <span>{upTo(end)}</span>)}
        <span>longer</span>
      </div>
    </div>
  )
}

export function Runs({ worker: { queue, class: name }, of }: { worker: Worker; of?: ClassRow }) {
  const { runs = 0, failed = 0, completed = 0 } = of?.counts ?? {}
  return (
    <Card
      title="Run times today"
      right={
        <>
          {many(runs, 'run')},{' '}
          <span>
            <Zero n={failed} to={`/jobs?status=failed&${ofClass(queue, name)}`} kind="up" /> failed
          </span>
        </>
      }
    >
      {completed + failed > 0 && (
        <Shares
          label={`${many(completed, 'job')} completed, ${count(failed)} failed`}
          of={[
            { n: completed, kind: 'done' },
            { n: failed, kind: 'failed' },
          ]}
        />
      )}
      {of?.took ? <Took buckets={of.took.buckets} /> : <Empty>No runs since midnight UTC.</Empty>}
    </Card>
  )
}
