import type { Child } from 'hono/jsx'
import type { Status } from '../../../core/job.ts'
import { type End, endText } from '../../../core/wires.ts'
import type { FlowNodeView, FlowView, WireView } from '../../../engine/engine.ts'
import { useLook, useWay } from '../../look.ts'
import { Ago, Name, Since, StatusMark, To } from '../../parts/layout.tsx'
import { CLOSED, factOf, factsOf, LARGE, markOf, onWire, waitingAt } from '../../words/flow.ts'
import { count } from '../../words/text.ts'
import type { FlowData } from './load.ts'

/** With more nodes or wires than this, the board is drawn only on request. */
const [NODES, WIRES] = [300, 1_000]
const ROWS = 100

export const isLarge = ({ nodes, wires }: FlowView): boolean => nodes.length > NODES || wires.length > WIRES

type RowProps = { to: string; mark?: Status | undefined; name: Child; waiting: number; children?: Child }

function Row({ to, mark, name, waiting, children }: RowProps) {
  return (
    <li>
      <To to={to}>
        <bdi class="clip">
          <b>{name}</b>
        </bdi>
        <span class="row">
          {mark && <StatusMark status={mark} />}
          {waiting > 0 && `${count(waiting)} waiting`}
        </span>
        <small>{children}</small>
      </To>
    </li>
  )
}

function List({ title, of, order, children }: { title: string; of: number; order: string; children: Child }) {
  return (
    <section>
      <div class="row">
        <h3>{title}</h3>
        <span class="note">{of > ROWS ? `${order}: ${count(ROWS)} of ${count(of)}` : count(of)}</span>
      </div>
      <ul>{children}</ul>
    </section>
  )
}

function Fact({ node, fact, error }: { node: FlowNodeView; fact: string; error?: string | undefined }) {
  const { status, ranAt, lastRun } = node
  if (status === 'running' && ranAt !== null)
    return (
      <>
        running for <Since at={ranAt} />
      </>
    )
  if (status === 'failed' && lastRun)
    return (
      <>
        failed <Ago at={lastRun.endedAt} />
        {error && `: ${error}`}
      </>
    )
  return <span>{status === 'completed' ? 'idle' : fact}</span>
}

function Nodes({ data: { view, limits, errors } }: { data: FlowData }) {
  const { nodes, wires } = view
  const way = useWay()
  const { now } = useLook()
  const rows = nodes.map((node) => {
    const facts = factsOf(node, { limits, wires }, now)
    const [mark, waiting] = [markOf(node, facts), waitingAt(node.name, wires)]
    const isBad = mark === 'failed' || mark === 'terminated'
    const rank = isBad ? 3 : node.limit !== null ? 2 : mark || waiting > 0 ? 1 : 0
    return { node, mark, waiting, rank, fact: factOf(node, facts) }
  })
  return (
    <List title="Nodes" of={nodes.length} order="problems first">
      {rows
        .toSorted((a, b) => b.rank - a.rank)
        .slice(0, ROWS)
        .map(({ node, mark, waiting, fact }) => (
          <Row
            to={way({ ...CLOSED, node: node.name })}
            name={<Name of={node.name} most={80} />}
            waiting={waiting}
            mark={mark}
          >
            <Fact node={node} fact={fact} error={errors.get(node.job ?? 0)} />
          </Row>
        ))}
    </List>
  )
}

const EndName = ({ of }: { of: End }) => <Name of={endText(of)} most={60} />

export function Wires({ wires }: { wires: readonly WireView[] }) {
  const way = useWay()
  return (
    <List title="Wires" of={wires.length} order="most waiting values first">
      {wires
        .toSorted((a, b) => onWire(b) - onWire(a) || b.rate - a.rate)
        .slice(0, ROWS)
        .map((wire) => (
          <Row
            to={way({ ...CLOSED, wire: wire.id })}
            waiting={onWire(wire)}
            name={
              <code>
                <EndName of={wire.from} /> → <EndName of={wire.to} />
              </code>
            }
          >
            {count(wire.rate)} read per minute
            {wire.oldestAt !== null && (
              <>
                , oldest value <Since at={wire.oldestAt} short />
              </>
            )}
          </Row>
        ))}
    </List>
  )
}

/** On wide screens, only screen readers read the lists of a small flow, because its board shows everything. */
export function Lists({ data }: { data: FlowData }) {
  const { view, chosen, isBoard } = data
  const isDrawn = !isLarge(view) || isBoard
  if (chosen && isDrawn) return null
  const isSmall = isDrawn && view.nodes.length <= LARGE
  return (
    <nav class={`insp lists${isSmall ? ' small' : ''}`} id="lists" aria-label="Nodes and wires">
      <Nodes data={data} />
      <Wires wires={view.wires} />
    </nav>
  )
}
