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
import { Panel, Part, WhySaid } from './shared.tsx'
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
    <Part title="Values, oldest first" right={<Watch data={data} />}>
      {data.isWatched && (
        <p class="note">While you watch, runs publish all their reads and writes, which slows the system down.</p>
      )}
      {values.length === 0 && <p class="note">No values are waiting.</p>}
      <ol class="vlist">
        {values.map(({ data }, i) => (
          <li>
            <span class="dimmer">{i + 1}</span>
            <code class="clip">
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
    </Part>
  )
}

export function Wire({ data, chosen: { wire, far } }: { data: FlowData; chosen: Extract<Chosen, { kind: 'wire' }> }) {
  return (
    <Panel
      of="Wire"
      title={
        <>
          <code class="clip">{endText(wire.from)}</code>
          <Icon name="arrow" size={14} />
          <code class="clip">{endText(wire.to)}</code>
        </>
      }
    >
      {far && (
        <Part title={`Other end: ${far.name}`} right={far.status && <StatusPill status={far.status} />}>
          <WhySaid near={data.near} />
        </Part>
      )}
      <Stats wire={wire} />
      <Values wire={wire} data={data} />
      <WireActs data={data} wire={wire} />
      <Traffic wire={wire} />
    </Panel>
  )
}
