import { LinkButton } from '../../../parts/act.tsx'
import { Ago, JobId, StatusPill } from '../../../parts/layout.tsx'
import { count } from '../../../words/text.ts'
import { Wires } from '../lists.tsx'
import type { Chosen, FlowData } from '../load.ts'
import { Panel, Part, WhySaid } from './shared.tsx'

export function Node({ data, chosen: { node } }: { data: FlowData; chosen: Extract<Chosen, { kind: 'node' }> }) {
  const { name, queue, class: of, job, status, lastRun } = node
  return (
    <Panel
      of="Node"
      title={
        <>
          <span class="clip">{name}</span>
          {status && <StatusPill status={status} />}
        </>
      }
      below={
        <p class="note mono">
          {queue}/{of} {job !== null && <JobId id={job} />}
        </p>
      }
    >
      <section>
        <WhySaid near={data.near} />
      </section>
      {lastRun && (
        <Part title="Last run" right={<Ago at={lastRun.endedAt} />}>
          <p class="note">
            {lastRun.outcome}, attempt {count(lastRun.attempt)}
            {lastRun.by ? `, ${lastRun.by}` : ''}
            {lastRun.version ? `, version ${lastRun.version}` : ''}
          </p>
        </Part>
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
    </Panel>
  )
}
