import type { Engine } from '../../../engine/index.ts'
import { Card, Link, To } from '../../parts/layout.tsx'
import { many } from '../../words/text.ts'
import { OnlyLastRun, RunRows } from '../job/runs.tsx'

const SHOWN = 20

type Past = Awaited<ReturnType<typeof pastOf>>

export async function pastOf(engine: Engine, job: string) {
  const [{ id, class: name, aliases, history }, { runs }] = await Promise.all([
    engine.jobs.get(job),
    engine.jobs.runs(job, { details: true }),
  ])
  return { id, name: aliases[0] ?? name, history, runs }
}

export function PastRuns({ past: { id, name, history, runs } }: { past: Past }) {
  const more = runs.length - SHOWN
  return (
    <Card title={`Last runs of ${name}`} id="past" right={<Link to="/schedules">Close</Link>}>
      <RunRows id={id} runs={runs.slice(0, SHOWN)} />
      {more > 0 && (
        <p class="body">
          <To kind="link" to={`/jobs/${id}?tab=runs`}>{`${many(more, 'run')} more`}</To>
        </p>
      )}
      <OnlyLastRun history={history} />
    </Card>
  )
}
