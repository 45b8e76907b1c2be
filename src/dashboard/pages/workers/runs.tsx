import { MINUTE } from '../../../core/units.ts'
import type { JobRow } from '../../../engine/engine.ts'
import { Ago, Card, Empty, JobId, Link, StatusPill, To } from '../../parts/layout.tsx'
import { Shares } from '../../parts/spark.tsx'
import { What } from '../../parts/what.tsx'
import type { Step } from '../../search-on.ts'
import { type Deploy, deployName, deployPath } from '../../words/deploy.ts'
import { furtherText, searchedOf } from '../../words/further.ts'
import { happened } from '../../words/happened.ts'
import { neighbours } from '../../words/neighbours.ts'
import { classJobsPath } from '../../words/paths.ts'
import { about, count, many, span } from '../../words/text.ts'
import type { ClassRow } from '../jobs/by-class.tsx'
import type { KindsData } from '../jobs/kinds.tsx'
import { Hours, type Worker } from './classes.tsx'

export const NEWEST = 8

type TodayProps = { worker: Worker; of?: ClassRow; kinds: KindsData; deploys: readonly Deploy[] }

function Began({ kinds: { kinds }, deploys }: { kinds: KindsData; deploys: readonly Deploy[] }) {
  if (kinds.length === 0) return null
  const at = Math.min(...kinds.map(({ firstAt }) => firstAt))
  const deploy = deploys.find((one) => one.at <= at)
  return (
    <p class="st failed">
      <span>
        Errors began <Ago at={at} />
        {deploy && (
          <>
            , {at - deploy.at < MINUTE ? 'with' : `${span(at - deploy.at)} after`} the{' '}
            <To kind="link said" to={deployPath(deploy)}>
              {deployName(deploy)}
            </To>
          </>
        )}
      </span>
    </p>
  )
}

export function Today({ worker, of, kinds, deploys }: TodayProps) {
  const { runs = 0, failed = 0, completed = 0 } = of?.counts ?? {}
  return (
    <Card
      title="Today, UTC"
      right={
        <span>
          {many(runs, 'run')},{' '}
          <To kind={failed > 0 ? 'link up' : 'link'} to={classJobsPath(worker, 'failed')}>
            {count(failed)} failed
          </To>
        </span>
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
      {of?.took ? (
        <div class="body row">
          <div class="grow">
            <Began kinds={kinds} deploys={deploys} />
            <p class="dim">{`Half of the runs took at most ${about(of.took.p50)}, 95% at most ${about(of.took.p95)}.`}</p>
          </div>
          <Hours hours={of.hours} />
        </div>
      ) : (
        <Empty>No runs since midnight UTC.</Empty>
      )}
    </Card>
  )
}

type NewestProps = { worker: Worker; last: Step<JobRow>; paused: ReadonlySet<string> }

/** Jobs that wait for the same reason share a row, unless they wait for a time. */
function reasonOf(job: JobRow, paused: ReadonlySet<string>): string {
  const { text, at } = happened(job, paused)
  return job.status === 'queued' && !at ? text : String(job.id)
}

export function Newest({ worker, last, paused }: NewestProps) {
  const searched = searchedOf(last)
  const { rows } = last
  return (
    <Card title="Newest jobs" right={<Link to={classJobsPath(worker)}>All jobs</Link>}>
      {rows.length === 0 && <p class="note foot">{searched ? furtherText(0, searched.where) : 'None yet.'}</p>}
      <ul class="lasts body">
        {neighbours(rows, (job) => reasonOf(job, paused)).map(([job, ...more]) => (
          <li>
            <JobId id={job.id} /> <StatusPill status={job.status} />{' '}
            <span class="clip dim">
              <What job={job} paused={paused} />
            </span>{' '}
            <span class="right note">
              {more.length > 0 && `${count(more.length)} more like this `}
              {job.ranAt !== null && job.endedAt !== null && `took ${span(job.endedAt - job.ranAt)}`}
            </span>
            <Ago at={job.createdAt} />
          </li>
        ))}
      </ul>
    </Card>
  )
}
