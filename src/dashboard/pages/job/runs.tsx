// The runs of a job: how each ended, how long it waited and worked; and one of them from near.

import type { PastRun, PortDeed } from '../../../core/run.ts'
import type { PastRunView } from '../../../core/schemas.ts'
import type { JobView } from '../../../engine/engine.ts'
import { useLook, useWay } from '../../look.ts'
import { Empty, JobId, To } from '../../parts/layout.tsx'
import { LogLines } from '../../parts/log.tsx'
import { Ago } from '../../parts/moment.tsx'
import { Name } from '../../parts/name.tsx'
import { Table } from '../../parts/table.tsx'
import { messageOf } from '../../words/job.ts'
import { count, many } from '../../words/number.ts'
import { cut } from '../../words/text.ts'
import { span } from '../../words/time.ts'

function Outcome({ outcome, error }: Pick<PastRun, 'outcome' | 'error'>) {
  return (
    <>
      <span class={outcome === 'failed' || outcome === 'lost' ? 'st failed' : undefined}>{outcome}</span>
      {error !== undefined && <span class="dim">: {messageOf(error)}</span>}
    </>
  )
}

function Ports({ job, deeds }: { job: JobView; deeds: readonly PortDeed[] }) {
  if (deeds.length === 0) return <>none</>
  return deeds.map(({ job: whose, dir, port, values }, i) => (
    <>
      {i > 0 && ', '}
      {many(values, 'value')} {whose === job.id ? '' : <JobId id={whose} />}{' '}
      <span class="mono">{`${dir} ${cut(port, 30)}`}</span>
    </>
  ))
}

function Deeds({ job, run }: { job: JobView; run: PastRunView }) {
  const { readyAt, startedAt, endedAt, commits, reads, writes, published, made, more, version } = run
  return (
    <dl class="kv">
      <dt>Ready</dt>
      <dd>
        <Ago at={readyAt!} />, waited {span(startedAt - readyAt!)}
      </dd>
      <dt>Ran</dt>
      <dd>
        <Ago at={startedAt} />, for {span(endedAt - startedAt)}
      </dd>
      <dt>Ended as</dt>
      <dd>
        <Outcome {...run} />
      </dd>
      {version && (
        <>
          <dt>Version</dt>
          <dd class="mono">{version}</dd>
        </>
      )}
      <dt>Committed</dt>
      <dd>{many(commits!, 'time')}</dd>
      <dt>Read</dt>
      <dd>
        <Ports job={job} deeds={reads} />
      </dd>
      <dt>Wrote</dt>
      <dd>
        <Ports job={job} deeds={writes} />
      </dd>
      {published.length > 0 && (
        <>
          <dt>Published</dt>
          <dd>{published.map(({ channel, messages }) => `${count(messages)} to ${cut(channel, 40)}`).join(', ')}</dd>
        </>
      )}
      {made.length > 0 && (
        <>
          <dt>Made</dt>
          <dd>
            {made.map(({ id, name }) => (
              <>
                <Name of={name} most={30} /> <JobId id={id} />{' '}
              </>
            ))}
          </dd>
        </>
      )}
      {more > 0 && (
        <>
          <dt>Besides</dt>
          <dd>{many(more, 'read or write', 'reads and writes')} of which nothing more is kept</dd>
        </>
      )}
    </dl>
  )
}

function One({ job, run }: { job: JobView; run: PastRunView }) {
  const { base } = useLook()
  const way = useWay()
  return (
    <section class="body" id="run" aria-label={`Run ${run.n}`}>
      <p>
        <b>Run {count(run.n!)}</b>{' '}
        <a class="link" href={`${base}${way({ run: undefined })}#tabs`}>
          Close
        </a>
      </p>
      <Deeds job={job} run={run} />
      <LogLines entries={run.log.entries} of={String(job.id)} />
      {run.log.cursor !== null && <p class="note">There is more in its log.</p>}
    </section>
  )
}

function Open({ job, run }: { job: JobView; run?: PastRunView | null }) {
  if (run === undefined) return null
  return run === null ? <Empty>That run is not kept.</Empty> : <One job={job} run={run} />
}

function Row({ id, run, open }: { id: number; run: PastRun; open?: number }) {
  const { n, readyAt, startedAt, endedAt, attempt, by, version } = run
  return (
    <tr>
      <td>
        {n === undefined ? (
          '–'
        ) : (
          <To kind="link" to={`/jobs/${id}?tab=runs&run=${n}#run`} current={n === open}>
            Run {count(n)}
          </To>
        )}
      </td>
      <td>
        <Ago at={startedAt} />
      </td>
      <td class="fill">
        <Outcome {...run} />
      </td>
      <td class="dim">{by ?? '–'}</td>
      <td class="dim mono">{version ?? '–'}</td>
      <td class="num">{count(attempt)}</td>
      <td class="num">{readyAt === undefined ? '–' : span(startedAt - readyAt)}</td>
      <td class="num">{span(endedAt - startedAt)}</td>
    </tr>
  )
}

export function RunRows({ id, runs, open }: { id: number; runs: readonly PastRun[]; open?: number }) {
  if (runs.length === 0) return <Empty>It has not run yet.</Empty>
  return (
    <Table
      caption="Runs, newest first"
      heads={['Run', 'Began', 'Ended as', 'By', 'Version', '#Attempt', '#Waited', '#Took']}
    >
      {runs.map((run) => (
        <Row id={id} run={run} open={open} />
      ))}
    </Table>
  )
}

export function Runs(props: { job: JobView; runs: readonly PastRun[]; open?: PastRunView | null }) {
  const { job, runs, open } = props
  return (
    <>
      <Open job={job} run={open} />
      <RunRows id={job.id} runs={runs} open={open?.n} />
      {job.history === 0 && runs.length > 0 && (
        <p class="note foot">
          Only the last run and failed runs are known. <code>history: 20</code> on the worker keeps 20.
        </p>
      )}
    </>
  )
}
