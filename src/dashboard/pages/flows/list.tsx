import type { FlowRow } from '../../../engine/engine.ts'
import type { Engine } from '../../../engine/index.ts'
import { useWay } from '../../look.ts'
import { type Act as DoesAct, page } from '../../page.ts'
import { Act } from '../../parts/act.tsx'
import { Ago, Card, Empty, Head, Link, Name, Since, StatusMark, To } from '../../parts/layout.tsx'
import { First } from '../../parts/snippet.tsx'
import { type Column, DataTable } from '../../parts/table.tsx'
import { given } from '../../words/form.ts'
import { count, cut, many, statusOrder, title } from '../../words/text.ts'
import { statusesOf } from './query.ts'

const ROWS = 20

type Graphs = Awaited<ReturnType<Engine['graphs']['list']>>
type FlowsData = { flows: FlowRow[]; cursor: string | null; stored: Graphs }

const FRESH = 60_000

const columns: readonly Column<FlowRow>[] = [
  {
    head: 'Flow',
    kind: 'name',
    cell: ({ id, name, status }) => (
      <>
        <StatusMark status={status} />{' '}
        <To to={`/flows/${id}`}>
          <b title={name}>{cut(name, 48)}</b>
        </To>{' '}
        <span class="id">#{id}</span>
      </>
    ),
  },
  { head: '#Running nodes', label: 'running', cell: ({ nodes, running }) => `${count(running)} of ${count(nodes)}` },
  { head: '#Queued nodes', label: 'queued', cell: ({ queued }) => count(queued) },
  { head: '#Waiting values', label: 'values', cell: ({ values }) => count(values) },
  {
    head: '#Oldest',
    label: 'oldest',
    cell: ({ oldestAt }) => (oldestAt === null ? <span class="dimmer">–</span> : <Since at={oldestAt} />),
  },
  { head: '#Graph changed', label: 'changed', cell: ({ changedAt, createdAt }) => <Ago at={changedAt ?? createdAt} /> },
]

const storedColumns: readonly Column<Graphs['graphs'][number]>[] = [
  {
    head: 'Graph',
    kind: 'fill',
    cell: ({ name }) => (
      <b>
        <Name of={name} most={48} />
      </b>
    ),
  },
  { head: '#Size', kind: 'dim', cell: ({ nodes = 0, edges = 0 }) => `${many(nodes, 'node')}, ${many(edges, 'edge')}` },
  {
    head: '#Acts',
    cell: ({ name }) => (
      <Act act="begin" scope="write" fields={{ graph: name }} small label={`Create flow from ${name}`}>
        Create flow
      </Act>
    ),
  },
]

function Stored({ stored: { graphs, cursor } }: { stored: Graphs }) {
  const way = useWay()
  if (graphs.length === 0) return null
  return (
    <Card title="Stored graphs">
      <DataTable caption="Stored graphs" rows={graphs} columns={storedColumns} isPlain />
      {cursor && (
        <p class="note body">
          <Link to={way({ graphs: cursor })}>More graphs</Link>
        </p>
      )}
    </Card>
  )
}

const begin: DoesAct = {
  scope: 'write',
  async does({ form, call }) {
    const graph = given(form, 'graph')
    const { id } = (await call('POST', '/v1/jobs', { queue: 'core', class: 'flow', args: [graph] })) as { id: number }
    const to = `/flows/${id}`
    return { say: `Flow #${id} created from ${graph}`, to, link: { text: `#${id}`, to } }
  },
}

function View({ data: { flows, cursor, stored }, query }: { data: FlowsData; query: URLSearchParams }) {
  const way = useWay()
  const chosen = query.get('status')
  if (flows.length + stored.graphs.length === 0 && query.size === 0)
    return (
      <>
        <Head title="Flows" />
        <Card>
          <First of="flows" />
        </Card>
      </>
    )
  return (
    <>
      <Head
        title="Flows"
        note={`${many(flows.length, 'flow')}${cursor || query.has('cursor') ? ' on this page' : ''}`}
      />
      <nav class="views" aria-label="Statuses">
        <To to="/flows" current={!chosen}>
          All
        </To>
        {statusOrder.map((status) => (
          <To to={`/flows?status=${status}`} current={chosen === status}>
            {title(status)}
          </To>
        ))}
      </nav>
      <div class="stack">
        <Card kind="list">
          {flows.length > 0 ? (
            <DataTable
              caption="Flows, newest first"
              rows={flows}
              columns={columns}
              idOf={({ id }) => id}
              kind="lined"
            />
          ) : (
            <Empty act={chosen && <Link to="/flows">Show all</Link>}>
              {chosen ? `No flows are ${chosen}.` : 'No flows.'}
            </Empty>
          )}
          {cursor && (
            <p class="note body">
              <Link to={way({ cursor })}>Older flows</Link>
            </p>
          )}
        </Card>
        <Stored stored={stored} />
      </div>
    </>
  )
}

export const flows = page<FlowsData>({
  path: '/flows',
  nav: 'flows',
  every: 2_000,
  async load({ engine, query, cache }) {
    const after = query.get('graphs') ?? undefined
    const [page, stored] = await Promise.all([
      engine.flows.list({ status: statusesOf(query), cursor: query.get('cursor') ?? undefined, limit: ROWS }),
      cache.get(`graphs after ${after ?? ''}`, FRESH, () => engine.graphs.list({ after, details: true })),
    ])
    return { ...page, stored }
  },
  title: () => 'Flows',
  View,
  acts: { begin },
})
