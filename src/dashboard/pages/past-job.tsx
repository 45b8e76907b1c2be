import { isId } from '../../core/job.ts'
import type { PastRun } from '../../core/run.ts'
import type { HistoryJob, HistoryRun } from '../../engine/engine.ts'
import type { Engine } from '../../engine/index.ts'
import { useLook } from '../look.ts'
import { page } from '../page.ts'
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

/** `found` is missing if the deployment has no history. */
type PastJob = { id: number; found?: Awaited<ReturnType<Engine['history']['get']>> }

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
    ['Attempts', lost === 0 && count(attempts)],
    ['Lost runs', lost > 0 && count(lost)],
    ['Version', version && <span class="mono">{version}</span>],
  ]
}

function End({ end }: { end: HistoryJob }) {
  const { zone } = useLook()
  const { status, endedAt, args, result, error } = end
  return (
    <Card title={<StatusPill status={status} />} right={<Ago at={endedAt} />}>
      <Facts of={factsOf(end, zone)} kind="body" />
      {error !== null && <Fault error={error} />}
      <Values args={args} result={status === 'completed' ? result : undefined} />
    </Card>
  )
}

export const pastJob = page<PastJob>({
  path: '/jobs/:job/history',
  nav: 'jobs',
  every: 0,
  async load({ engine, params }) {
    const id = isId(params.job!) ? Number(params.job) : 0
    return { id, ...(engine.history.isOn && { found: await engine.history.get(String(id)) }) }
  },
  title: ({ id }) => `History of job ${id}`,
  crumbs: ({ id }) => [{ name: `History of job ${id}` }],
  View: ({ data: { id, found } }) => (
    <>
      <Head
        title={
          <>
            <Name of={found?.ends[0]?.class ?? 'Job'} most={60} /> <span class="id">#{id}</span>
          </>
        }
        note={found && 'from the history'}
      >
        {found && (
          <>
            <LinkButton to={jobPath(id)}>Current state</LinkButton>
            <LinkButton to={`/jobs/new?from=${id}`} scope="write" icon="copy" hotkey="e">
              Duplicate
            </LinkButton>
          </>
        )}
      </Head>
      {!found && <NoHistory />}
      <div class="stack">
        {found?.ends.map((end) => (
          <End end={end} />
        ))}
        {found && found.runs.length > 0 && (
          <Card title="Stored runs">
            <RunRows id={id} runs={found.runs.map(runOf)} />
          </Card>
        )}
      </div>
    </>
  ),
})
