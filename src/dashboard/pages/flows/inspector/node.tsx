import { LinkButton } from '../../../parts/act.tsx'
import { Ago, JobId, StatusPill } from '../../../parts/layout.tsx'
import { count } from '../../../words/text.ts'
import { Wires } from '../lists.tsx'
import type { Chosen, FlowData } from '../load.ts'
import { Close, WhySaid } from './shared.tsx'

export function Node({ data, chosen: { node } }: { data: FlowData; chosen: Extract<Chosen, { kind: 'node' }> }) {
  const { name, queue, class: of, job, status, lastRun } = node
  return (
    <aside class="insp" id="insp" aria-label="Selected node">
      <header>
        <p class="note">Node</p>
        <p class="row title">
          <span class="clip">{name}</span>
          {status && <StatusPill status={status} />}
          <span class="grow" />
          <Close />
        </p>
        <p class="note mono">
          {queue}/{of} {job !== null && <JobId id={job} />}
        </p>
      </header>
      <section>
        <WhySaid near={data.near} />
      </section>
      {lastRun && (
        <section>
          <div class="row">
            <h3>Last run</h3>
            <span class="grow" />
            <Ago at={lastRun.endedAt} />
          </div>
          <p class="note">
            {lastRun.outcome}, attempt {count(lastRun.attempt)}
            {lastRun.by ? `, ${lastRun.by}` : ''}
            {lastRun.version ? `, version ${lastRun.version}` : ''}
          </p>
        </section>
      )}
      <Wires wires={data.view.wires.filter(({ from, to }) => from.node === name || to.node === name)} />
      {job !== null && (
        <section class="row">
          <LinkButton to={`/jobs/${job}`} small>
            Open job
          </LinkButton>
          <LinkButton to={`/jobs/${job}?tab=log`} small>
            Open log
          </LinkButton>
        </section>
      )}
    </aside>
  )
}
