import type { PastRun, PortEffect } from '../../../core/run.ts'
import type { PastRunView } from '../../../core/schemas.ts'
import type { JobView } from '../../../engine/engine.ts'
import { useWay } from '../../look.ts'
import { type Fact, Facts } from '../../parts/facts.tsx'
import { Fault, hasDetails } from '../../parts/fault.tsx'
import { Ago, Empty, JobId, Link, Name, To } from '../../parts/layout.tsx'
import { LogLines } from '../../parts/log.tsx'
import { type Column, DataTable } from '../../parts/table.tsx'
import { isBad, messageOf } from '../../words/job.ts'
import { count, cut, many, span } from '../../words/text.ts'

function Outcome({ outcome, error }: Pick<PastRun, 'outcome' | 'error'>) {
  return (
    <>
      <span class={isBad(outcome) ? 'st failed' : undefined}>{outcome}</span>
      {error !== undefined && <span class="dim">: {messageOf(error)}</span>}
    </>
  )
}

function Ports({ job, effects }: { job: JobView; effects: readonly PortEffect[] }) {
  if (effects.length === 0) return <>none</>
  return effects.map(({ job: whose, dir, port, values }, i) => (
    <>
      {i > 0 && ', '}
      {many(values, 'value')} {whose === job.id ? '' : <JobId id={whose} />}{' '}
      <span class="mono">{`${dir} ${cut(port, 30)}`}</span>
    </>
  ))
}

function Effects({ job, run }: { job: JobView; run: PastRunView }) {
  const { readyAt, startedAt, endedAt, commits, reads, writes, published, made, more, version } = run
  const facts: Fact[] = [
    [
      'Ready',
      <>
        <Ago at={readyAt!} />, waited {span(startedAt - readyAt!)}
      </>,
    ],
    [
      'Ran',
      <>
        <Ago at={startedAt} />, for {span(endedAt - startedAt)}
      </>,
    ],
    ['Outcome', <Outcome {...run} />],
    ['Version', version && <span class="mono">{version}</span>],
    ['Committed', many(commits!, 'time')],
    ['Read', <Ports job={job} effects={reads} />],
    ['Wrote', <Ports job={job} effects={writes} />],
    ['Published', published.map(({ channel, messages }) => `${count(messages)} to ${cut(channel, 40)}`).join(', ')],
    [
      'Created',
      made.length > 0 &&
        made.map(({ id, name }) => (
          <>
            <Name of={name} most={30} /> <JobId id={id} />{' '}
          </>
        )),
    ],
    ['Others', more > 0 && `${many(more, 'read or write', 'reads and writes')} without details`],
  ]
  return <Facts of={facts} />
}

function Open({ job, run }: { job: JobView; run?: PastRunView | null }) {
  const way = useWay()
  if (run === undefined) return null
  if (run === null) return <Empty>This run is not stored.</Empty>
  return (
    <section class="body" id="run" aria-label={`Run ${run.n}`}>
      <p>
        <b>Run {count(run.n!)}</b> <Link to={`${way({ run: undefined })}#tabs`}>Close</Link>
      </p>
      <Effects job={job} run={run} />
      <LogLines entries={run.log.entries} of={String(job.id)} />
      {run.log.cursor !== null && <p class="note">Open the log of the job for more lines.</p>}
    </section>
  )
}

export function RunRows({ id, runs, open }: { id: number; runs: readonly PastRun[]; open?: number }) {
  const columns: Column<PastRun>[] = [
    {
      head: 'Run',
      cell: ({ n }) =>
        n === undefined ? (
          '–'
        ) : (
          <To kind="link" to={`/jobs/${id}?tab=runs&run=${n}#run`} current={n === open}>
            Run {count(n)}
          </To>
        ),
    },
    { head: 'Started', cell: ({ startedAt }) => <Ago at={startedAt} /> },
    { head: 'Outcome', kind: 'fill wraps', cell: (run) => <Outcome {...run} /> },
    { head: 'By', label: true, kind: 'dim', cell: ({ by }) => by ?? '–' },
    { head: 'Version', label: true, kind: 'dim mono', cell: ({ version }) => version ?? '–' },
    { head: '#Attempt', cell: ({ attempt }) => count(attempt) },
    {
      head: '#Waited',
      cell: ({ readyAt, startedAt }) => (readyAt === undefined ? '–' : span(startedAt - readyAt)),
    },
    { head: '#Took', cell: ({ startedAt, endedAt }) => span(endedAt - startedAt) },
  ]
  return (
    <DataTable
      caption="Runs, newest first"
      empty="The job has not run yet."
      rows={runs}
      columns={columns}
      kind="lined"
    />
  )
}

export const OnlyLastRun = ({ history }: Pick<JobView, 'history'>) =>
  history === 0 ? (
    <p class="note foot">
      Only the last run and the last ten failed or lost runs are stored. To keep 20 runs, set <code>history: 20</code>{' '}
      on the worker.
    </p>
  ) : null

export function Runs(props: { job: JobView; runs: readonly PastRun[]; open?: PastRunView | null }) {
  const { job, runs, open } = props
  return (
    <>
      <Open job={job} run={open} />
      <RunRows id={job.id} runs={runs} open={open?.n} />
      {job.cost!.total > runs.length && <OnlyLastRun {...job} />}
      {runs.map(
        ({ n, error, endedAt }) =>
          error !== undefined && (n === undefined || hasDetails(error)) && <Fault error={error} at={endedAt} run={n} />,
      )}
    </>
  )
}
