// What is open of a flow: a wire with what waits on it, or a node with why it does not run.

import type { Child } from 'hono/jsx'
import type { WireView } from '../../../engine/engine.ts'
import { useLook } from '../../look.ts'
import { Act, LinkButton, refusal, Sent } from '../../parts/act.tsx'
import { Icon, StatusPill } from '../../parts/icon.tsx'
import { JobId, To } from '../../parts/layout.tsx'
import { Ago, Since } from '../../parts/moment.tsx'
import { Value } from '../../parts/value.tsx'
import { drainTime, endText, growthOf } from '../../words/flow.ts'
import { count, many } from '../../words/number.ts'
import { choicesOf, kindOf, wordsOf } from '../../words/schema.ts'
import { cellsOf } from '../../words/why.ts'
import type { FlowData, Near } from './load.ts'
import type { Chosen } from './query.ts'

type Of<K extends Chosen['kind']> = Extract<Chosen, { kind: K }>

function Close({ flow }: { flow: number }) {
  return (
    <To kind="btn small icon quiet" label="Close" to={`/flows/${flow}`}>
      <Icon name="x" size={14} />
    </To>
  )
}

const [WIDTH, HEIGHT, FLOOR] = [300, 58, 54] as const

/** What came and what went, minute by minute. */
function Traffic({ wire }: { wire: WireView }) {
  const { in: came, out } = wire
  const most = Math.max(1, ...came, ...out)
  const points = (list: readonly number[]) =>
    list
      .map((n, i) => `${((WIDTH * i) / (list.length - 1)).toFixed(1)} ${(FLOOR - (n / most) * (FLOOR - 7)).toFixed(1)}`)
      .join('L')
  const said = `In ten minutes ${many(
    came.reduce((a, b) => a + b, 0),
    'value',
  )} came and ${count(out.reduce((a, b) => a + b, 0))} went`
  return (
    <section>
      <div class="row">
        <h3>Last 10 minutes</h3>
        <span class="grow" />
        <span class="legend">
          <span>
            <i class="accent" />
            came {count(came.at(-2)!)}
          </span>
          <span>
            <i class="suspended" />
            went {count(out.at(-2)!)}
          </span>
        </span>
      </div>
      <svg
        width="100%"
        height={HEIGHT}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={said}
      >
        <path class="ln1 s-line" d={`M0 ${FLOOR}H${WIDTH}`} />
        <path class="f-accent area" d={`M${points(came)}L${WIDTH} ${FLOOR}L0 ${FLOOR}Z`} />
        <path class="ln s-accent" d={`M${points(came)}`} />
        <path class="ln s-suspended" d={`M${points(out)}`} />
      </svg>
      <Drains wire={wire} />
    </section>
  )
}

function Drains({ wire }: { wire: WireView }) {
  const time = drainTime(wire)
  return time ? <p class="note">It would drain in {time} if nothing more came.</p> : null
}

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

/** A field for one value, by what the far port expects. */
function ValueField({ schema }: { schema: string | undefined }) {
  const kind = kindOf(schema)
  const choices = kind === 'boolean' ? ['true', 'false'] : choicesOf(schema)
  return (
    <label>
      <span class="fieldname">
        Value <span class="note">{kind === 'json' ? `JSON; ${wordsOf(schema)}` : wordsOf(schema)}</span>
      </span>
      <input type="hidden" name="kind" value={kind} />
      {kind === 'choice' || kind === 'boolean' ? (
        <select class="field" name="value">
          {choices.map((one) => (
            <option value={one}>{one}</option>
          ))}
        </select>
      ) : kind === 'json' ? (
        <textarea class="field mono" name="value" rows={3} spellcheck={false} required />
      ) : (
        <input
          class="field"
          name="value"
          type={kind === 'number' ? 'number' : 'text'}
          step={kind === 'number' ? 'any' : undefined}
          autocomplete="off"
          required={kind === 'number'}
        />
      )}
    </label>
  )
}

/** A button that opens a form; without a script it opens as well. */
function Opens(props: {
  act: string
  flow: number
  wire: string
  verb: string
  icon: string
  hotkey?: string
  children: Child
}) {
  const { act, flow, wire, verb, icon, hotkey, children } = props
  const { base, who } = useLook()
  const off = refusal(who.scopes, 'write')
  if (off)
    return (
      <button class="btn small" type="button" disabled title={off}>
        <Icon name={icon} size={12} />
        {verb}
      </button>
    )
  return (
    <details class="more opens">
      <summary class="btn small" data-hotkey={hotkey}>
        <Icon name={icon} size={12} />
        {verb}
      </summary>
      <form class="menu ask" method="post" action={`${base}/flows/${flow}`} data-act={act}>
        <Sent act={act} />
        <input type="hidden" name="wire" value={wire} />
        {children}
        <button class="btn primary" type="submit">
          {verb.replace(/ to…$/, '')}
        </button>
      </form>
    </details>
  )
}

function WireActs({ data, wire, near }: { data: FlowData; wire: WireView; near: Near }) {
  const { flow, wires } = data.view
  const waits = wire.size + wire.behind
  const schema = near.job?.in[wire.to.port]?.schema
  return (
    <section>
      <div class="acts4">
        <Opens act="inject" flow={flow.id} wire={wire.id} verb="Inject" icon="plus" hotkey="i">
          <ValueField schema={schema} />
        </Opens>
        <Opens act="move" flow={flow.id} wire={wire.id} verb="Move to…" icon="move">
          <label>
            <span class="fieldname">To the far end of</span>
            <select class="field mono" name="to">
              {wires
                .filter(({ id }) => id !== wire.id)
                .map(({ id }) => (
                  <option value={id}>{id}</option>
                ))}
            </select>
          </label>
        </Opens>
        <Act
          act="drain"
          at={`/flows/${flow.id}`}
          scope="write"
          fields={{ wire: wire.id }}
          icon="drain"
          kind="danger"
          small
          off={waits === 0 ? 'nothing waits there' : undefined}
        >
          Drain…
        </Act>
      </div>
    </section>
  )
}

/** Why the job of a node does not run, in sentences. */
function WhySaid({ near }: { near: Near }) {
  const { now, zone } = useLook()
  if (!near.why) return <p class="note">Nothing has reached it yet: it has no job.</p>
  const cells = cellsOf(near.why, near.job ? [near.job] : [], { now, zone })
  if (cells.length === 0) return <p class="note">It rests: all that came is done.</p>
  return (
    <>
      {cells.map(({ text, sub, limit }) => (
        <p>
          {limit ? text.slice(0, text.indexOf(limit)) : text}
          {limit && (
            <To kind="link" to={`/limits?open=${encodeURIComponent(limit)}`}>
              {limit}
            </To>
          )}
          {limit && text.slice(text.indexOf(limit) + limit.length)} {sub && <span class="dim">{sub}</span>}
        </p>
      ))}
    </>
  )
}

function Wire({ data, chosen: { wire, far }, near }: { data: FlowData; chosen: Of<'wire'>; near: Near }) {
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

function Ports({ data, name }: { data: FlowData; name: string }) {
  const { flow, wires } = data.view
  const own = wires.filter(({ from, to }) => from.node === name || to.node === name)
  return (
    <section>
      <div class="row">
        <h3>Wires</h3>
      </div>
      <ul class="diff">
        {own.map(({ id, size, behind, rate }) => (
          <li>
            <To kind="link clip grow mono" to={`/flows/${flow.id}?wire=${encodeURIComponent(id)}`}>
              {id}
            </To>
            <span class="num dim">{size + behind > 0 ? `${count(size + behind)} wait` : `${count(rate)}/min`}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Node({ data, chosen: { node }, near }: { data: FlowData; chosen: Of<'node'>; near: Near }) {
  const { name, queue, class: of, job, status, lastRun } = node
  return (
    <aside class="insp" aria-label="The node that is selected">
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
        <WhySaid near={near} />
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
          </p>
        </section>
      )}
      <Ports data={data} name={name} />
      {job !== null && (
        <section class="row">
          <LinkButton to={`/jobs/${job}`} small>
            Its job
          </LinkButton>
          <LinkButton to={`/jobs/${job}?tab=log`} small>
            Its log
          </LinkButton>
        </section>
      )}
    </aside>
  )
}

export function Inspector({ data, chosen }: { data: FlowData; chosen: Chosen }) {
  return chosen.kind === 'wire' ? (
    <Wire data={data} chosen={chosen} near={data.near} />
  ) : (
    <Node data={data} chosen={chosen} near={data.near} />
  )
}
