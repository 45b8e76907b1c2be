import { missing, SidejobError } from '../../core/errors.ts'
import { ended, isId } from '../../core/job.ts'
import type { PastRun } from '../../core/run.ts'
import type { HistoryJob, HistoryRun, JobView } from '../../engine/engine.ts'
import { useLook } from '../look.ts'
import { type Asked, page } from '../page.ts'
import { LinkButton } from '../parts/act.tsx'
import { type Fact, Facts } from '../parts/facts.tsx'
import { Fault } from '../parts/fault.tsx'
import { LabelTags } from '../parts/label-tags.tsx'
import { Ago, Card, Head, JobId, Link, Name, StatusPill } from '../parts/layout.tsx'
import { jobPath } from '../words/paths.ts'
import { count, moment, span } from '../words/text.ts'
import { RunRows } from './job/runs.tsx'
import { Values } from './job/values.tsx'
import { NoHistory } from './jobs/past.tsx'

type PastJob = Awaited<ReturnType<typeof load>>

const runOf = ({ version, by, error, ...run }: HistoryRun): PastRun => ({
  ...run,
  ...(version !== null && { version }),
  ...(by !== null && { by }),
  ...(error !== null && { error }),
})

function factsOf(end: HistoryJob, zone: string): Fact[] {
  const { queue, class: name, group, labels, parent, took, waited, attempts, lost, version, createdAt, createdBy } = end
  return [
    ['Queue', queue],
    ['Class', <Link to={`/jobs?${new URLSearchParams({ in: 'history', class: name })}`}>{name}</Link>],
    ['Group', group],
    ['Labels', Object.keys(labels).length > 0 && <LabelTags labels={labels} also="in=history" />],
    ['Name', parent?.name],
    ['Parent', parent && <JobId id={parent.id} />],
    ['Created', `${moment(createdAt, zone)}${createdBy && ` by ${createdBy}`}`],
    ['Ended', moment(end.endedAt, zone)],
    ['Waited', waited !== null && span(waited)],
    ['Ran for', took !== null && span(took)],
    ['Runs', `${count(attempts)}${lost > 0 ? `, ${count(lost)} lost` : ''}`],
    ['Version', version && <span class="mono">{version}</span>],
  ]
}

function Ended({ found, id, job }: Omit<PastJob, 'isOn'>) {
  const { ends, runs } = found!
  const { zone } = useLook()
  const [last] = ends
  return (
    <>
      <Head
        title={
          <>
            <Name of={last?.class ?? 'Job'} most={60} /> <span class="id">#{id}</span>
          </>
        }
        note={`from the history${job ? '' : '; Redis no longer has the job'}`}
      >
        {job && <LinkButton to={jobPath(id)}>Current state</LinkButton>}
        <LinkButton to={`/jobs/new?from=${id}`} scope="write" icon="copy" hotkey="e">
          Duplicate
        </LinkButton>
      </Head>
      <div class="jobcols">
        <div class="stack">
          {ends.map(({ status, endedAt, args, result, error }) => (
            <Card title={<StatusPill status={status} />} right={<Ago at={endedAt} />}>
              {error !== null && <Fault error={error} />}
              <Values args={args} result={status === 'completed' ? result : undefined} />
            </Card>
          ))}
          {runs.length > 0 && (
            <Card title="Stored runs">
              <RunRows id={id} runs={runs.map(runOf)} />
            </Card>
          )}
        </div>
        {last && (
          <aside class="rail">
            <Card title="Details">
              <Facts of={factsOf(last, zone)} kind="body" />
            </Card>
          </aside>
        )}
      </div>
    </>
  )
}

const stateOf = ({ status }: JobView): string =>
  ended.has(status) ? ' has ended, and Redis still has it' : ` has not ended: it is ${status}`

async function load({ engine, params }: Asked) {
  const id = isId(params.job!) ? Number(params.job) : 0
  const { isOn } = engine.history
  const [found, job] = await Promise.all([
    isOn ? engine.history.get(String(id)).catch(missing) : undefined,
    engine.jobs.get(String(id)).catch(missing),
  ])
  if (isOn && !found && !job) throw new SidejobError('NOT_FOUND', `the history has no job ${id}`)
  return { id, isOn, found, job }
}

export const pastJob = page({
  path: '/jobs/:job/history',
  nav: 'jobs',
  every: 0,
  load,
  title: ({ id }) => `History of job ${id}`,
  View: ({ data, data: { found, id, job, isOn } }) =>
    found ? (
      <Ended {...data} />
    ) : (
      <>
        <Head title={`Job #${id}${job ? stateOf(job) : ''}`}>
          {job && (
            <LinkButton to={jobPath(id)} kind="primary">
              Open job #{id}
            </LinkButton>
          )}
        </Head>
        {!isOn && <NoHistory />}
      </>
    ),
})
