import type { FlowNodeView } from '../../../engine/engine.ts'
import { asset as board } from '../../built/board-js.generated.ts'
import { asset as style } from '../../built/flow-css.generated.ts'
import { useLook, useWay } from '../../look.ts'
import { page } from '../../page.ts'
import { Act, LinkButton, More } from '../../parts/act.tsx'
import { Form } from '../../parts/form.tsx'
import { Choice, JobId, StatusPill, To } from '../../parts/layout.tsx'
import { boardWires, CLOSED, factsOf, isUnread, jamText, LARGE, sumOf } from '../../words/flow.ts'
import { jobPath } from '../../words/paths.ts'
import { count } from '../../words/text.ts'
import { acts } from './acts.ts'
import { Board, type Lines } from './board.tsx'
import { Node, Wire } from './inspector.tsx'
import { isLarge, Lists } from './lists.tsx'
import { type FlowData, load } from './load.ts'
import { WhatHappened } from './replay.tsx'

type Props = { data: FlowData }

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
  ['hot', 'moves', 'Values are being read. The label is the number of values read per minute'],
  ['back', 'backing up', 'A value has waited for more than a minute. The label is the number of waiting values'],
]

const WhyOf = ({ node, to }: { node: string; to: string }) => (
  <LinkButton to={to} small>
    Why is {node} waiting?
  </LinkButton>
)

function Explained({ data: { view, jam, limits, isExplaining } }: Props) {
  const { now } = useLook()
  const way = useWay()
  const about = (node: FlowNodeView) => factsOf(node, { limits, wires: view.wires }, now)
  const unread = view.nodes.find((node) => node.name !== jam?.cause.name && isUnread(node, about(node)))
  if (!jam && !unread) return null
  return (
    <p class="jamsaid" role="status">
      {jam && (
        <span>
          {jamText(jam, about(jam.cause))}{' '}
          <WhyOf
            node={jam.cause.name}
            to={jam.cause.job === null ? way({ ...CLOSED, node: jam.cause.name }) : jobPath(jam.cause.job)}
          />{' '}
          <LinkButton to={way({ jam: isExplaining ? undefined : '1', board: '1' })} small>
            {isExplaining ? 'Show all' : 'Highlight this jam'}
          </LinkButton>
        </span>
      )}
      {unread && (
        <span>
          {unread.name} does not read its input. <WhyOf node={unread.name} to={way({ ...CLOSED, node: unread.name })} />
        </span>
      )}
    </p>
  )
}

function Head({ data }: Props) {
  const { view, isBoard } = data
  const { flow, undo } = view
  const way = useWay()
  // Phones show this choice for every flow. Wide screens show it only for large flows.
  const forms = [
    { text: 'List', to: way({ board: undefined, at: undefined, play: undefined }), on: !isBoard },
    { text: 'Board', to: way({ board: '1' }), on: isBoard },
  ]
  return (
    <div class={`flowbar${isLarge(view) ? ' large' : ''}`} id="flowbar">
      <h1>{flow.name}</h1>
      <JobId id={flow.id} />
      <StatusPill status={flow.status} />
      <span class="dim" title="Other nodes wait for input or have ended. Values wait until a node reads them.">
        {sumOf(flow)}
      </span>
      <span id="moment" data-island="moment" />
      <Explained data={data} />
      <div class="right">
        {view.graph && <Choice label="Form" options={forms} />}
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

function Inspector({ data }: Props) {
  const { chosen } = data
  if (chosen?.kind === 'wire') return <Wire data={data} wire={chosen.wire} far={chosen.target} />
  return chosen && <Node data={data} node={chosen.node} />
}

function Drawn({ data }: Props) {
  const { now } = useLook()
  const { view, chosen, isBoard } = data
  const { nodes, wires } = view
  const isDrawn = !isLarge(view) || isBoard
  const isAlone = !chosen && (!isDrawn || nodes.length <= LARGE)
  return (
    <>
      {isDrawn && <div hidden data-brief={asOf(data)} data-flow={JSON.stringify(dataOf(data))} />}
      <time hidden data-clock>
        {String(now)}
      </time>
      <div class={`flowbody${isAlone ? ' alone' : ''}${isBoard ? '' : ' listing'}`}>
        {isDrawn && <Board label={`Graph of the flow: ${nodes.length} nodes, ${wires.length} wires`} lines={LINES} />}
        <Lists data={data} />
        <Inspector data={data} />
      </div>
      {isDrawn && <WhatHappened view={view} />}
    </>
  )
}

const View = (props: Props) => (
  <>
    <Head {...props} />
    {props.data.view.graph ? <Drawn {...props} /> : <Missing id={props.data.view.flow.id} />}
  </>
)

export const flow = page({
  path: '/flows/:job',
  nav: 'flows',
  every: 2_000,
  slim: true,
  scripts: [board.name],
  styles: [style.name],
  load,
  title: ({ view }) => view.flow.name,
  View,
  brief: {
    as: asOf,
    data: dataOf,
    parts: { flowbar: Head, insp: Inspector, lists: Lists },
  },
  acts,
})
