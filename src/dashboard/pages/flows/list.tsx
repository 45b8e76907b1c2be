import { check } from '../../../core/issues.ts'
import { jobQuery } from '../../../core/schemas/job-rows.ts'
import type { FlowRow, FlowView, LimitView } from '../../../engine/engine.ts'
import type { Engine } from '../../../engine/index.ts'
import { useLook, useWay } from '../../look.ts'
import { type Act as DoesAct, page } from '../../page.ts'
import { Act, LinkButton } from '../../parts/act.tsx'
import { Ago, Card, Empty, Head, Link, Name, NameLink, Since, StatusPill, To, Zero } from '../../parts/layout.tsx'
import { First } from '../../parts/snippet.tsx'
import { type Column, DataTable } from '../../parts/table.tsx'
import { factOf, factsOf, isLate, jamOf } from '../../words/flow.ts'
import { given } from '../../words/form.ts'
import { newJobPath } from '../../words/paths.ts'
import { many, title } from '../../words/text.ts'
import { roomsOf } from './load.ts'

const ROWS = 20

type Graphs = Awaited<ReturnType<Engine['graphs']['list']>>
type Row = FlowRow & { held?: { name: string; fact: string } | undefined }
type FlowsData = { flows: Row[]; cursor: string | null; stored: Graphs }

const FRESH = 60_000

const views: Record<string, string> = {
  All: '',
  Open: 'queued,running,suspended,terminating',
  Failed: 'failed',
  Ended: 'completed,terminated',
}

const nodesIn = (status: 'running' | 'queued' | 'failed'): Column<Row> => ({
  head: `#${title(status)}`,
  kind: ({ [status]: n }) => (status === 'failed' && n > 0 ? 'up' : ''),
  cell: ({ id, [status]: n }) => <Zero n={n} to={`/jobs?parent=${id}&status=${status}`} />,
})

/** The node for which the most values have waited for more than a minute, and the reason. */
function heldBy(view: FlowView, limits: readonly LimitView[], now: number): Row['held'] {
  const cause = jamOf(view.nodes, view.wires, now)?.cause
  const data = { limits: roomsOf(view, limits), wires: view.wires }
  return cause && { name: cause.name, fact: factOf(cause, factsOf(cause, data, now)) }
}

function Oldest({ row }: { row: FlowRow }) {
  const { oldestAt } = row
  if (oldestAt === null) return <span class="dimmer">–</span>
  return (
    <span class={isLate(row, useLook().now) ? 'st suspended' : undefined}>
      <Since at={oldestAt} />
    </span>
  )
}

const columns: readonly Column<Row>[] = [
  {
    head: 'Flow',
    kind: 'name',
    cell: ({ id, name }) => (
      <>
        <NameLink to={`/flows/${id}`} of={name} most={48} isMain /> <span class="id">#{id}</span>
      </>
    ),
  },
  { head: 'Status', cell: ({ status }) => <StatusPill status={status} /> },
  { head: '#Nodes', cell: ({ nodes }) => <Zero n={nodes} /> },
  nodesIn('running'),
  nodesIn('queued'),
  nodesIn('failed'),
  {
    head: '#Idle or ended',
    kind: 'dim',
    title: () => 'These nodes wait for input or have ended.',
    cell: ({ nodes, running, queued, failed }) => <Zero n={nodes - running - queued - failed} />,
  },
  { head: '#Waiting values', cell: ({ values }) => <Zero n={values} /> },
  { head: '#Oldest value', cell: (row) => <Oldest row={row} /> },
  {
    head: 'Held by',
    kind: 'wraps',
    label: true,
    cell: ({ id, held }) =>
      held ? (
        <>
          <Link to={`/flows/${id}?jam=1`}>{held.name}</Link> <span class="dim">{held.fact}</span>
        </>
      ) : (
        <span class="dimmer">–</span>
      ),
  },
  { head: '##Graph changed', kind: 'wide', cell: ({ changedAt, createdAt }) => <Ago at={changedAt ?? createdAt} /> },
]

const storedColumns: readonly Column<Graphs['graphs'][number]>[] = [
  { head: 'Graph', kind: 'fill', cell: ({ name }) => <Name of={name} most={48} isMain /> },
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
    const { id } = await call<{ id: number }>('POST', '/v1/jobs', { queue: 'core', class: 'flow', args: [graph] })
    const to = `/flows/${id}`
    return { say: `Flow #${id} created from ${graph}`, to, link: { text: `#${id}`, to } }
  },
}

const NewFlow = () => (
  <LinkButton to={newJobPath({ queue: 'core', class: 'flow' })} scope="write" icon="plus" kind="primary" hotkey="c">
    New flow
  </LinkButton>
)

function View({ data: { flows, cursor, stored }, query }: { data: FlowsData; query: URLSearchParams }) {
  const way = useWay()
  const chosen = query.get('status') ?? ''
  if (flows.length + stored.graphs.length === 0 && query.size === 0)
    return (
      <>
        <Head title="Flows">
          <NewFlow />
        </Head>
        <Card>
          <First of="flows" />
        </Card>
      </>
    )
  return (
    <>
      <Head title="Flows" note={`${many(flows.length, 'flow')}${cursor || query.has('cursor') ? ' on this page' : ''}`}>
        <NewFlow />
      </Head>
      <nav class="views" aria-label="States">
        {Object.entries(views).map(([name, status]) => (
          <To to={`/flows${status && `?status=${status}`}`} current={chosen === status}>
            {name}
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
              No flows.{chosen && ` This list shows flows that are ${chosen.replaceAll(',', ' or ')}.`}
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

export const flows = page({
  path: '/flows',
  nav: 'flows',
  every: 2_000,
  async load({ engine, query, cache, look: { now } }) {
    const after = query.get('graphs') ?? undefined
    const { status } = check(jobQuery, { status: query.get('status') || undefined })
    const [{ flows: views, cursor }, stored] = await Promise.all([
      engine.flows.views({ status, cursor: query.get('cursor') ?? undefined, limit: ROWS }),
      cache.get(`graphs after ${after ?? ''}`, FRESH, () => engine.graphs.list({ after, details: true })),
    ])
    const { limits } = views.some(({ flow }) => isLate(flow, now)) ? await cache.bounds() : { limits: [] }
    return { flows: views.map((view) => ({ ...view.flow, held: heldBy(view, limits, now) })), cursor, stored }
  },
  View,
  acts: { begin },
})
