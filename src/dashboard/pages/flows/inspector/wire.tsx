import type { Child } from 'hono/jsx'
import { endText } from '../../../../core/wires.ts'
import type { WireView } from '../../../../engine/engine.ts'
import { useLook, useWay } from '../../../look.ts'
import { Icon, Since, StatusPill, To } from '../../../parts/layout.tsx'
import { Listen, LOG } from '../../../parts/listen.tsx'
import { Value } from '../../../parts/value-view.tsx'
import { growthOf } from '../../../words/flow.ts'
import { count } from '../../../words/text.ts'
import type { FlowData, Near } from '../load.ts'
import type { Chosen } from '../query.ts'
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

const watches = (here: string): boolean => new URLSearchParams(here.slice(here.indexOf('?'))).has('watch')

function Watch({ data }: { data: FlowData }) {
  const { here } = useLook()
  const { flow, nodes } = data.view
  const isOn = watches(here)
  const jobs = [flow.id, ...nodes.map(({ job }) => job)].filter((id) => id !== null)
  return (
    <>
      <To
        kind={`btn small${isOn ? ' on' : ''}`}
        to={useWay()({ watch: isOn ? undefined : '1' })}
        label={isOn ? 'Stop watching' : 'Watch the values'}
      >
        <Icon name={isOn ? 'pause' : 'play'} size={12} />
        {isOn ? 'Stop' : 'Watch'}
      </To>
      {isOn && <Listen to={[`/sidejob/children/${flow.id}`, LOG]} of={jobs} />}
    </>
  )
}

function Values({ wire, near: { port }, watch }: { wire: WireView; near: Near; watch: Child }) {
  const { here } = useLook()
  const isWatched = watches(here)
  const values = port?.values ?? []
  const more = wire.size - values.length
  return (
    <section>
      <div class="row">
        <h3>Values, oldest first</h3>
        <span class="grow" />
        {watch}
      </div>
      {isWatched && (
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
      <Values wire={wire} near={data.near} watch={<Watch data={data} />} />
      <WireActs data={data} wire={wire} />
      <Traffic wire={wire} />
    </aside>
  )
}
