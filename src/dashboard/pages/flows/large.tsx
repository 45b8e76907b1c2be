// A large graph: lists first, the drawing on request.

import type { FlowNodeView, FlowView, WireView } from '../../../engine/engine.ts'
import { useLook } from '../../look.ts'
import { StatusMark } from '../../parts/icon.tsx'
import { To } from '../../parts/layout.tsx'
import { Since } from '../../parts/moment.tsx'
import { Name } from '../../parts/name.tsx'
import { Table } from '../../parts/table.tsx'
import { plain } from '../../words/json.ts'
import { count } from '../../words/number.ts'
import { cut } from '../../words/text.ts'

/** Above this number of nodes or wires the page starts with lists, of this many rows. */
const [NODES, WIRES, ROWS] = [300, 1_000, 100]

export const isLarge = ({ nodes, wires }: FlowView): boolean => nodes.length > NODES || wires.length > WIRES

const urgency = ({ status, limit }: FlowNodeView): number =>
  status === 'failed' || status === 'terminated' ? 3 : limit !== null ? 2 : status === 'running' ? 1 : 0

const waits = ({ size, behind }: WireView): number => size + behind

/** CSS may cut a long name, so the full name is the title. */
const WireName = ({ id }: { id: string }) => <bdi title={plain(id)}>{cut(id, 80)}</bdi>

function Wires({ view: { flow, wires } }: { view: FlowView }) {
  const first = wires.toSorted((a, b) => waits(b) - waits(a) || b.rate - a.rate).slice(0, ROWS)
  return (
    <Table
      caption={`Wires, most waiting values first: ${count(first.length)} of ${count(wires.length)}`}
      isTitled
      heads={['Wire', '#Wait', '#The oldest', '#A minute']}
    >
      {first.map((wire) => (
        <tr>
          <td class="fill mono">
            <To kind="link clip" to={`/flows/${flow.id}?wire=${encodeURIComponent(wire.id)}`}>
              <WireName id={wire.id} />
            </To>
          </td>
          <td class="num">{count(waits(wire))}</td>
          <td class="num">{wire.oldestAt === null ? '–' : <Since at={wire.oldestAt} />}</td>
          <td class="num">{count(wire.rate)}</td>
        </tr>
      ))}
    </Table>
  )
}

function Nodes({ view: { flow, nodes } }: { view: FlowView }) {
  const first = nodes.toSorted((a, b) => urgency(b) - urgency(a)).slice(0, ROWS)
  return (
    <Table
      caption={`Nodes, problems first: ${count(first.length)} of ${count(nodes.length)}`}
      isTitled
      heads={['Node', 'Class', 'Status']}
    >
      {first.map(({ name, queue, class: of, status }) => (
        <tr>
          <td class="name">
            {status && <StatusMark status={status} />}{' '}
            <To kind="main" to={`/flows/${flow.id}?node=${encodeURIComponent(name)}`}>
              <bdi>
                <Name of={name} most={48} />
              </bdi>
            </To>
          </td>
          <td class="mono">
            <bdi>
              <Name of={`${queue}/${of}`} most={48} />
            </bdi>
          </td>
          <td>{status ?? 'not started'}</td>
        </tr>
      ))}
    </Table>
  )
}

export function Large({ view }: { view: FlowView }) {
  const { here } = useLook()
  return (
    <div class="board listed">
      <p class="note body">
        {count(view.nodes.length)} nodes and {count(view.wires.length)} wires: drawing them takes a while.{' '}
        <To kind="link" to={`${here}${here.includes('?') ? '&' : '?'}board=1`}>
          Draw them
        </To>
      </p>
      <Wires view={view} />
      <Nodes view={view} />
    </div>
  )
}
