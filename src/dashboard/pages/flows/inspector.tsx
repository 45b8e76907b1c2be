import type { Child } from 'hono/jsx'
import { encodedToJson } from '../../../core/codec/value.ts'
import { endText } from '../../../core/wires.ts'
import type { FlowNodeView, WireView } from '../../../engine/engine.ts'
import { useLook, useWay } from '../../look.ts'
import { Act, LinkButton, PlainButtons, useRefusal } from '../../parts/act.tsx'
import { Form, type FormProps } from '../../parts/form.tsx'
import { Ago, Icon, JobId, Since, StatusPill, To } from '../../parts/layout.tsx'
import { Listen, LOG } from '../../parts/listen.tsx'
import { Legend, Spark } from '../../parts/spark.tsx'
import { ValueFields } from '../../parts/value-fields.tsx'
import { Value } from '../../parts/value-view.tsx'
import { sum } from '../../words/counts.ts'
import { CLOSED, drainTime, growthOf, onWire } from '../../words/flow.ts'
import { count, many } from '../../words/text.ts'
import { cellsOf } from '../../words/why.ts'
import { CellText } from '../job/why.tsx'
import { Wires } from './lists.tsx'
import type { FlowData, Near } from './load.ts'

type PanelProps = { of: 'Node' | 'Wire'; title: Child; below?: Child; children: Child }

function Panel({ of, title, below, children }: PanelProps) {
  return (
    <aside class="insp" id="insp" aria-label={`Selected ${of.toLowerCase()}`}>
      <header>
        <p class="note">{of}</p>
        <p class="row title">
          {title}
          <span class="grow" />
          <To kind="btn small icon quiet" label="Close" to={useWay()(CLOSED)}>
            <Icon name="x" size={14} />
          </To>
        </p>
        {below}
      </header>
      {children}
    </aside>
  )
}

function Part({ title, right, children }: { title: string; right: Child; children?: Child }) {
  return (
    <section>
      <div class="row">
        <h3>{title}</h3>
        <span class="grow" />
        {right}
      </div>
      {children}
    </section>
  )
}

function WhySaid({ near }: { near: Near }) {
  const { now, zone } = useLook()
  if (!near.why) return <p class="note">No value has reached this node yet, so it has no job.</p>
  const cells = cellsOf(near.why, near.job ? [near.job] : [], { now, zone })
  if (cells.length === 0) return <p class="note">Idle: all values are processed.</p>
  return (
    <>
      {cells.map((cell) => (
        <>
          <p>
            <CellText cell={cell} kind="link" /> {cell.sub && <span class="dim">{cell.sub}</span>}
          </p>
          <div class="row below">
            <PlainButtons of={cell.remedies} />
          </div>
        </>
      ))}
    </>
  )
}

export function Node({ data, node }: { data: FlowData; node: FlowNodeView }) {
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

function Traffic({ wire }: { wire: WireView }) {
  const { in: came, out } = wire
  // Sums all minutes, because the current minute is incomplete and the last minute may be empty.
  const [inAll, outAll] = [sum(came), sum(out)]
  const time = drainTime(wire)
  return (
    <Part
      title="Last 10 minutes"
      right={
        <Legend
          of={[
            ['accent', `arrived ${count(inAll)}`],
            ['suspended', `read ${count(outAll)}`],
          ]}
        />
      }
    >
      <Spark
        values={came}
        others={out}
        tone="accent"
        label={`In the last ten minutes, ${many(inAll, 'value')} arrived and ${count(outAll)} were read`}
      />
      {time && <p class="note">Without new values, it would drain in {time}.</p>}
    </Part>
  )
}

const TARGETS = 500

type OpensProps = Pick<FormProps, 'act' | 'at' | 'fields' | 'children'> & {
  verb: string
  icon: string
  hotkey?: string
}

function Opens({ verb, icon, hotkey, ...form }: OpensProps) {
  const off = useRefusal('write')
  const inside = (
    <>
      <Icon name={icon} size={12} />
      {verb}
    </>
  )
  if (off)
    return (
      <button class="btn small" type="button" disabled title={off}>
        {inside}
      </button>
    )
  return (
    <details class="more opens">
      <summary class="btn small" data-hotkey={hotkey}>
        {inside}
        {hotkey && <kbd>{hotkey}</kbd>}
      </summary>
      <Form {...form} scope="write" press={verb.replace(/ to…$/, '')} kind="menu ask" />
    </details>
  )
}

function WireActs({ data, wire }: { data: FlowData; wire: WireView }) {
  const { flow, wires } = data.view
  const of = { at: `/flows/${flow.id}`, fields: { wire: wire.id } }
  const schema = data.near.job?.in[wire.to.port]?.schema
  return (
    <section>
      <div class="acts4">
        <Opens {...of} act="inject" verb="Inject" icon="plus" hotkey="i">
          <ValueFields name="value" label="Value" schema={schema && encodedToJson(schema)} isNeeded path="values" />
        </Opens>
        <Opens {...of} act="move" verb="Move to…" icon="move">
          <label>
            <span class="fieldname">To the end of</span>
            <select class="field mono" name="to">
              {wires
                .filter(({ id }) => id !== wire.id)
                .slice(0, TARGETS)
                .map(({ id }) => (
                  <option value={id}>{id}</option>
                ))}
            </select>
          </label>
        </Opens>
        <Act
          {...of}
          act="drain"
          scope="write"
          icon="drain"
          kind="danger"
          small
          off={onWire(wire) === 0 ? 'no values are waiting' : undefined}
        >
          Drain…
        </Act>
      </div>
    </section>
  )
}

function Stats({ wire }: { wire: WireView }) {
  const growth = growthOf(wire, useLook().now)
  return (
    <section>
      <div class="stats">
        <div>
          <b>{count(onWire(wire))}</b>
          <span>{onWire(wire) === 1 ? 'value waiting' : 'values waiting'}</span>
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

export function Wire({ data, wire, far }: { data: FlowData; wire: WireView; far?: FlowNodeView | undefined }) {
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
