import { endText } from '../../../../core/wires.ts'
import type { WireView } from '../../../../engine/engine.ts'
import { useLook, useWay } from '../../../look.ts'
import { LinkButton } from '../../../parts/act.tsx'
import { Icon, Since, StatusPill } from '../../../parts/layout.tsx'
import { Listen, LOG } from '../../../parts/listen.tsx'
import { Value } from '../../../parts/value-view.tsx'
import { growthOf } from '../../../words/flow.ts'
import { count } from '../../../words/text.ts'
import type { Chosen, FlowData } from '../load.ts'
import { Close, WhySaid } from './shared.tsx'
import { Traffic } from './traffic.tsx'
import { WireActs } from './wire-acts.tsx'

function Stats({ wire }: { wire: WireView }) {
  const growth = growthOf(wire, useLook().now)
  return (
    <section>
      <div class="stats">
        <div>
          <b>{count(wire.size + wire.behind)}</b>
          <span>{wire.size + wire.behind === 1 ? 'value waiting' : 'values waiting'}</span>
        </div>
        <div>
          <b>{wire.oldestAt === null ? '–' : <Since at={wire.oldestAt} />}</b>
          <span>oldest</span>
        </div>
        <div title="Arrivals minus reads">
          <b class={growth > 0 ? 'up' : undefined}>{growth > 0 ? `+${count(growth)}` : count(growth)}</b>
          <span>growth/min</span>
        </div>
      </div>
    </section>
  )
}

function Watch({ data: { view, isWatched } }: { data: FlowData }) {
  const { flow, nodes } = view
  const jobs = [flow.id, ...nodes.map(({ job }) => job)].filter((id) => id !== null)
  return (
    <>
      <LinkButton
        to={useWay()({ watch: isWatched ? undefined : '1' })}
        icon={isWatched ? 'pause' : 'play'}
        label={isWatched ? 'Stop watching' : 'Watch the values'}
        small
      >
        {isWatched ? 'Stop' : 'Watch'}
      </LinkButton>
      {isWatched && <Listen to={[`/sidejob/children/${flow.id}`, LOG]} of={jobs} />}
    </>
  )
}

function Values({ wire, data }: { wire: WireView; data: FlowData }) {
  const values = data.near.port?.values ?? []
  const more = wire.size - values.length
  return (
    <section>
      <div class="row">
        <h3>Values, oldest first</h3>
        <span class="grow" />
        <Watch data={data} />
      </div>
      {data.isWatched && (
        <p class="note">While you watch, runs publish all their reads and writes, which slows the system down.</p>
      )}
      {values.length === 0 && <p class="note">No values are waiting.</p>}
      <ol class="vlist">
        {values.map(({ data }, i) => (
          <li>
            <span class="dimmer">{i + 1}</span>
            <code>
              <Value value={data} />
            </code>
            {i === 0 && wire.oldestAt !== null && (
              <span class="id">
                <Since at={wire.oldestAt} short />
              </span>
            )}
          </li>
        ))}
      </ol>
      {more > 0 && values.length > 0 && <p class="note">{count(more)} more</p>}
    </section>
  )
}

export function Wire({ data, chosen: { wire, far } }: { data: FlowData; chosen: Extract<Chosen, { kind: 'wire' }> }) {
  return (
    <aside class="insp" id="insp" aria-label="Selected wire">
      <header>
        <p class="note">Wire</p>
        <p class="row title mono">
          <span class="clip">{endText(wire.from)}</span>
          <Icon name="arrow" size={14} />
          <span class="clip">{endText(wire.to)}</span>
          <span class="grow" />
          <Close />
        </p>
      </header>
      {far && (
        <section>
          <div class="row">
            <h3>Other end: {far.name}</h3>
            <span class="grow" />
            {far.status && <StatusPill status={far.status} />}
          </div>
          <WhySaid near={data.near} />
        </section>
      )}
      <Stats wire={wire} />
      <Values wire={wire} data={data} />
      <WireActs data={data} wire={wire} />
      <Traffic wire={wire} />
    </aside>
  )
}
