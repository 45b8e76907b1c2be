// A wire that is open: what waits on it, what came and went, and why its far end does not run.

import { endText } from '../../../../core/wires.ts'
import type { WireView } from '../../../../engine/engine.ts'
import { Icon, StatusPill } from '../../../parts/icon.tsx'
import { Since } from '../../../parts/moment.tsx'
import { Value } from '../../../parts/value.tsx'
import { growthOf } from '../../../words/flow.ts'
import { count } from '../../../words/number.ts'
import type { FlowData, Near } from '../load.ts'
import type { Chosen } from '../query.ts'
import { Close, WhySaid } from './shared.tsx'
import { Traffic } from './traffic.tsx'
import { WireActs } from './wire-acts.tsx'

function Stats({ wire }: { wire: WireView }) {
  const growth = growthOf(wire)
  return (
    <section>
      <div class="stats">
        <div>
          <b>{count(wire.size + wire.behind)}</b>
          <span>{wire.size + wire.behind === 1 ? 'value waits' : 'values wait'}</span>
        </div>
        <div>
          <b>{wire.oldestAt === null ? '–' : <Since at={wire.oldestAt} />}</b>
          <span>the oldest</span>
        </div>
        <div>
          <b class={growth > 0 ? 'up' : undefined}>{growth > 0 ? `+${count(growth)}` : count(growth)}</b>
          <span>a minute</span>
        </div>
      </div>
    </section>
  )
}

function Values({ wire, near: { port } }: { wire: WireView; near: Near }) {
  const values = port?.values ?? []
  const more = wire.size - values.length
  return (
    <section>
      <div class="row">
        <h3>Values, oldest first</h3>
      </div>
      {values.length === 0 && <p class="note">Nothing waits at its far end.</p>}
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

export function Wire({
  data,
  chosen: { wire, far },
  near,
}: {
  data: FlowData
  chosen: Extract<Chosen, { kind: 'wire' }>
  near: Near
}) {
  return (
    <aside class="insp" aria-label="The wire that is selected">
      <header>
        <p class="note">Wire</p>
        <p class="title mono">
          <span class="clip">{endText(wire.from)}</span>
          <Icon name="arrow" size={14} />
          <span class="clip">{endText(wire.to)}</span>
          <span class="grow" />
          <Close flow={data.view.flow.id} />
        </p>
      </header>
      <Stats wire={wire} />
      <Traffic wire={wire} />
      <Values wire={wire} near={near} />
      <WireActs data={data} wire={wire} near={near} />
      {far && (
        <section>
          <div class="row">
            <h3>Far end: {far.name}</h3>
            <span class="grow" />
            {far.status && <StatusPill status={far.status} />}
          </div>
          <WhySaid near={near} />
        </section>
      )}
    </aside>
  )
}
