import type { PastRun } from '../../../core/run.ts'
import type { JobView } from '../../../engine/engine.ts'
import type { Asked } from '../../page.ts'
import { type Fact, Facts } from '../../parts/facts.tsx'
import { Fault } from '../../parts/fault.tsx'
import { Ago, Card, Empty, JobId, Link, Name } from '../../parts/layout.tsx'
import { Json } from '../../parts/value-view.tsx'
import { type Deploy as DeployOfRun, deployOfRun, deployPath } from '../../words/deploy.ts'
import { tookText } from '../../words/job.ts'
import { classJobsPath } from '../../words/paths.ts'
import { readDeploys } from '../jobs/kinds.tsx'

type FailureData = { good?: JobView; deploy?: DeployOfRun }

/** Milliseconds. */
const FRESH = 60_000

const goodJob = ({ engine, cache }: Asked, { queue, class: name }: JobView): Promise<JobView | undefined> =>
  cache.get(`good ${queue}/${name}`, FRESH, async () => {
    const { jobs } = await engine.jobs.list({ queue, class: name, status: 'completed', sort: 'ended', limit: 1 })
    return jobs[0]
  })

export async function failureOf(asked: Asked, job: JobView): Promise<FailureData | undefined> {
  if (job.status !== 'failed') return undefined
  const [good, deploys] = await Promise.all([goodJob(asked, job), readDeploys(asked)])
  return { good, deploy: deployOfRun(deploys, job) }
}

function Deploy({ deploy, version }: { deploy?: FailureData['deploy']; version: string | null }) {
  if (!deploy) return <>{version ?? 'none known'}</>
  return (
    <>
      <Link to={deployPath(deploy)}>{deploy.version ?? 'deploy'}</Link> <Ago at={deploy.at} />
      {deploy.author && (
        <>
          {' '}
          by <Name of={deploy.author} most={40} />
        </>
      )}
    </>
  )
}

function Good({ job, good }: { job: JobView; good?: JobView }) {
  if (!good) return <Empty>No recent jobs of {job.class} have completed.</Empty>
  const facts: Fact[] = [
    [
      'Job',
      <>
        <JobId id={good.id} /> <Ago at={good.endedAt!} />
      </>,
    ],
    ['Ran for', tookText(good)],
    ['Version', good.version && <span class="mono">{good.version}</span>],
  ]
  return (
    <>
      <Facts of={facts} kind="body" />
      {good.args !== null && <Json value={good.args} unlike={job.args} />}
    </>
  )
}

type FailureProps = { job: JobView; runs: readonly PastRun[]; data: FailureData; means?: string | false }

export function Failure({ job, runs, data: { good, deploy }, means }: FailureProps) {
  const last = runs.find(({ error }) => error !== undefined)
  const error = last?.error ?? job.error
  const facts: Fact[] = [
    ['Ran for', tookText(job)],
    ['Deploy', <Deploy deploy={deploy} version={job.version} />],
  ]
  return (
    <Card title="Error" kind="failure" id="failure">
      {error && <Fault error={error} at={last?.endedAt} />}
      {means && (
        <p class="note foot">
          {means} <Link to={classJobsPath(job, 'failed')}>See failed jobs of its class</Link>
        </p>
      )}
      <div class="pair">
        <section aria-label="This job">
          <h3>This job</h3>
          <Facts of={facts} kind="body" />
          {job.args !== null && <Json value={job.args} unlike={good?.args} />}
        </section>
        <section aria-label="Last successful job">
          <h3>
            <Link to={classJobsPath(job, 'completed')}>Last successful job</Link>
          </h3>
          <Good job={job} good={good} />
        </section>
      </div>
    </Card>
  )
}
