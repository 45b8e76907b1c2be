import { LinkButton } from '../../../parts/act.tsx'
import { Ago, JobId, StatusPill, To } from '../../../parts/layout.tsx'
import { wirePath } from '../../../words/paths.ts'
import { count } from '../../../words/text.ts'
import type { FlowData } from '../load.ts'
import type { Chosen } from '../query.ts'
import { Close, WhySaid } from './shared.tsx'

const WIRES = 100

function Ports({ data, name }: { data: FlowData; name: string }) {
  const { flow, wires } = data.view
  const own = wires.filter(({ from, to }) => from.node === name || to.node === name)
  return (
    <section>
      <div class="row">
        <h3>Wires</h3>
      </div>
      <ul class="diff">
        {own.slice(0, WIRES).map(({ id, size, behind, rate }) => (
          <li>
            <To kind="link clip grow mono" to={wirePath(flow.id, id)}>
              {id}
            </To>
            <span class="num dim">{size + behind > 0 ? `${count(size + behind)} waiting` : `${count(rate)}/min`}</span>
          </li>
        ))}
      </ul>
      {own.length > WIRES && <p class="note">{count(own.length - WIRES)} more</p>}
    </section>
  )
}

export function Node({ data, chosen: { node } }: { data: FlowData; chosen: Extract<Chosen, { kind: 'node' }> }) {
  const { name, queue, class: of, job, status, lastRun } = node
  return (
    <aside class="insp" id="insp" aria-label="Selected node">
      <header>
        <p class="note">Node</p>
        <p class="title">
          <span class="clip">{name}</span>
          {status && <StatusPill status={status} />}
          <span class="grow" />
          <Close flow={data.view.flow.id} />
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
      <Ports data={data} name={name} />
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
