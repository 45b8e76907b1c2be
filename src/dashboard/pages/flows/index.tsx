import type { FlowView } from '../../../engine/engine.ts'
import { asset as board } from '../../built/board-js.generated.ts'
import { asset as style } from '../../built/flow-css.generated.ts'
import { useLook } from '../../look.ts'
import { page } from '../../page.ts'
import { Act, LinkButton, More } from '../../parts/act.tsx'
import { Form } from '../../parts/form.tsx'
import { JobId, Link, StatusPill, To } from '../../parts/layout.tsx'
import { boardWires, jamSaid, sumOf, wireSaid } from '../../words/flow.ts'
import { jobPath, nodePath, wirePath } from '../../words/paths.ts'
import { count } from '../../words/text.ts'
import { acts } from './acts.ts'
import { Drawing } from './drawing.tsx'
import { Node } from './inspector/node.tsx'
import { Wire } from './inspector/wire.tsx'
import { isLarge, Large } from './large.tsx'
import { Legend, type Lines } from './legend.tsx'
import { type FlowData, load } from './load.ts'
import { WhatHappened } from './replay.tsx'
import { Tools } from './tools.tsx'

const dataOf = ({ view: { flow, hash, nodes, wires }, limits, deploys, chosen, jam, isExplaining }: FlowData) => ({
  job: flow.id,
  hash: hash ?? '',
  nodes,
  limits,
  deploys,
  wires: boardWires(wires),
  ...(jam && isExplaining ? { lit: { nodes: jam.nodes, wires: jam.wires } } : {}),
  ...(chosen?.kind === 'node' ? { node: chosen.node.name } : {}),
  ...(chosen?.kind === 'wire' ? { wire: chosen.wire.id } : {}),
})

const asOf = ({ view: { hash, record }, chosen, isExplaining }: FlowData): string =>
  JSON.stringify([hash, record, isExplaining, chosen?.kind === 'node' ? chosen.node.name : chosen?.wire.id])

const LINES: Lines = [
  ['', 'idle', 'No value was read in the last minute'],
  ['hot', 'moves', 'Values are read: the label is their number per minute'],
  ['back', 'backing up', 'A value has waited for more than a minute: the label is the number of waiting values'],
]

function Explained({ data: { view, jam, limits, isExplaining } }: { data: FlowData }) {
  const { now } = useLook()
  if (!jam) return null
  if (!isExplaining) return <LinkButton to={`/flows/${view.flow.id}?jam=1`}>Explain this jam</LinkButton>
  const { cause } = jam
  const room = cause.limit === null ? undefined : limits[cause.limit]
  return (
    <p class="jamsaid" role="status">
      {jamSaid(jam, { now, room, wires: view.wires })}{' '}
      <Link to={cause.job === null ? nodePath(view.flow.id, cause.name) : jobPath(cause.job)}>
        Why does {cause.name} not continue?
      </Link>{' '}
      <To to={`/flows/${view.flow.id}`}>Show all</To>
    </p>
  )
}

function Head({ data }: { data: FlowData }) {
  const { view } = data
  const { flow, undo } = view
  return (
    <div class="flowbar" id="flowbar">
      <h1>{flow.name}</h1>
      <JobId id={flow.id} />
      <StatusPill status={flow.status} />
      <span class="dim" title="Other nodes wait for input or have ended. Values wait until a node reads them.">
        {sumOf(flow)}
      </span>
      <Explained data={data} />
      <div class="right">
        <LinkButton to={`/flows/${flow.id}/edit`} scope="write" icon="pencil" hotkey="e">
          Edit graph
        </LinkButton>
        <Act
          act="undo"
          at={`/flows/${flow.id}`}
          scope="write"
          icon="undo"
          off={undo === 0 ? 'there is no earlier graph' : undefined}
        >
          Undo <span class="dimmer">{count(undo)}</span>
        </Act>
        <More label="More">
          <To to={`/jobs/${flow.id}`}>Open the job of the flow</To>
          <To to={`/v1/flows/${flow.id}/graph`}>Open the graph as JSON</To>
          <To to={`/v1/flows/${flow.id}/history`}>Open the change history</To>
        </More>
      </div>
    </div>
  )
}

/** For screen readers, and for browsers without scripts. */
function Listed({ view: { flow, nodes, wires } }: { view: FlowView }) {
  const { now } = useLook()
  return (
    <nav class="vh listed" aria-label="Nodes and wires">
      <ul>
        {nodes.map(({ name, queue, class: of, status }) => (
          <li>
            <To to={nodePath(flow.id, name)}>
              {name}, {queue}/{of}, {status ?? 'not started'}
            </To>
          </li>
        ))}
        {boardWires(wires).map((wire) => (
          <li>
            <To to={wirePath(flow.id, wire.id)}>{wireSaid(wire, now)}</To>
          </li>
        ))}
      </ul>
    </nav>
  )
}

function Missing({ id }: { id: number }) {
  return (
    <Form act="graph" scope="write" press="Start with this graph" at={`/flows/${id}`} kind="card body ask">
      <p>
        This flow is waiting for its graph on port <code>__graph</code>.
      </p>
      <label>
        <span class="fieldname">Graph</span>
        <textarea class="field mono" name="graph" rows={12} spellcheck={false} required data-path="*" />
      </label>
    </Form>
  )
}

const Inspector = ({ data }: { data: FlowData }) =>
  data.chosen?.kind === 'wire' ? (
    <Wire data={data} chosen={data.chosen} />
  ) : (
    data.chosen && <Node data={data} chosen={data.chosen} />
  )

function Board({ data }: { data: FlowData }) {
  const { view } = data
  return (
    <div class="board" data-island="board">
      <Drawing label={`Graph of the flow: ${view.nodes.length} nodes, ${view.wires.length} wires`} />
      <Legend lines={LINES} />
      <Tools />
    </div>
  )
}

function View({ data, query }: { data: FlowData; query: URLSearchParams }) {
  const { now } = useLook()
  const { view, chosen } = data
  const isDrawn = !isLarge(view) || query.has('board')
  if (!view.graph)
    return (
      <>
        <Head data={data} />
        <Missing id={view.flow.id} />
      </>
    )
  return (
    <>
      <Head data={data} />
      {isDrawn && <div hidden data-brief={asOf(data)} data-flow={JSON.stringify(dataOf(data))} />}
      <time hidden data-clock>
        {String(now)}
      </time>
      <div class={`flowbody${chosen ? '' : ' alone'}`}>
        {isDrawn ? <Board data={data} /> : <Large view={view} />}
        <Inspector data={data} />
      </div>
      {isDrawn && <WhatHappened view={view} />}
      {isDrawn && !isLarge(view) && <Listed view={view} />}
    </>
  )
}

export const flow = page<FlowData>({
  path: '/flows/:job',
  nav: 'flows',
  every: 2_000,
  slim: true,
  scripts: [board.name],
  styles: [style.name],
  load,
  title: ({ view }) => view.flow.name,
  crumbs: ({ view }) => [{ name: view.flow.name }],
  View,
  brief: {
    as: asOf,
    data: dataOf,
    parts: {
      flowbar: Head,
      insp: Inspector,
    },
  },
  acts,
})
