import type { FlowNodeView, FlowView, WireView } from '../../../engine/engine.ts'
import { useLook } from '../../look.ts'
import { Link, Name, Since, StatusMark, To } from '../../parts/layout.tsx'
import { type Column, DataTable } from '../../parts/table.tsx'
import { nodePath, wirePath } from '../../words/paths.ts'
import { count, cut, plain } from '../../words/text.ts'

/** With more nodes or wires than this, the page first shows lists, with this number of rows. */
const [NODES, WIRES, ROWS] = [300, 1_000, 100]

export const isLarge = ({ nodes, wires }: FlowView): boolean => nodes.length > NODES || wires.length > WIRES

const urgency = ({ status, limit }: FlowNodeView): number =>
  status === 'failed' || status === 'terminated' ? 3 : limit !== null ? 2 : status === 'running' ? 1 : 0

const waits = ({ size, behind }: WireView): number => size + behind

/** The title has the full name, which CSS may shorten. */
const WireName = ({ id }: { id: string }) => <bdi title={plain(id)}>{cut(id, 80)}</bdi>

function Wires({ view: { flow, wires } }: { view: FlowView }) {
  const first = wires.toSorted((a, b) => waits(b) - waits(a) || b.rate - a.rate).slice(0, ROWS)
  const columns: Column<WireView>[] = [
    {
      head: 'Wire',
      kind: 'fill mono',
      cell: ({ id }) => (
        <To kind="link clip" to={wirePath(flow.id, id)}>
          <WireName id={id} />
        </To>
      ),
    },
    { head: '#Wait', cell: (wire) => count(waits(wire)) },
    { head: '#Oldest', cell: ({ oldestAt }) => (oldestAt === null ? '–' : <Since at={oldestAt} />) },
    { head: '#Read per minute', cell: ({ rate }) => count(rate) },
  ]
  const caption = `Wires, most waiting values first: ${count(first.length)} of ${count(wires.length)}`
  return <DataTable caption={caption} isTitled rows={first} columns={columns} />
}

function Nodes({ view: { flow, nodes } }: { view: FlowView }) {
  const first = nodes.toSorted((a, b) => urgency(b) - urgency(a)).slice(0, ROWS)
  const columns: Column<FlowNodeView>[] = [
    {
      head: 'Node',
      kind: 'name',
      cell: ({ name, status }) => (
        <>
          {status && <StatusMark status={status} />}{' '}
          <To to={nodePath(flow.id, name)}>
            <bdi>
              <Name of={name} most={48} />
            </bdi>
          </To>
        </>
      ),
    },
    {
      head: 'Class',
      kind: 'mono',
      cell: ({ queue, class: of }) => (
        <bdi>
          <Name of={`${queue}/${of}`} most={48} />
        </bdi>
      ),
    },
    { head: 'Status', cell: ({ status }) => status ?? 'not started' },
  ]
  const caption = `Nodes, problems first: ${count(first.length)} of ${count(nodes.length)}`
  return <DataTable caption={caption} isTitled rows={first} columns={columns} />
}

export function Large({ view }: { view: FlowView }) {
  const { here } = useLook()
  return (
    <div class="board listed">
      <p class="note body">
        {count(view.nodes.length)} nodes and {count(view.wires.length)} wires: drawing them takes a while.{' '}
        <Link to={`${here}${here.includes('?') ? '&' : '?'}board=1`}>Draw them</Link>
      </p>
      <Wires view={view} />
      <Nodes view={view} />
    </div>
  )
}
