// The list of flows: busy nodes and waiting values.

import type { FlowRow } from '../../../engine/engine.ts'
import type { Engine } from '../../../engine/index.ts'
import { queryWith, useLook } from '../../look.ts'
import { type Act as DoesAct, page } from '../../page.ts'
import { Act } from '../../parts/act.tsx'
import { StatusMark } from '../../parts/icon.tsx'
import { Card, Empty, Head, To } from '../../parts/layout.tsx'
import { Ago, Since } from '../../parts/moment.tsx'
import { Name } from '../../parts/name.tsx'
import { Table } from '../../parts/table.tsx'
import { given } from '../../words/form.ts'
import { count, many } from '../../words/number.ts'
import { cut, statusOrder, title } from '../../words/text.ts'
import { statusesOf } from './query.ts'

const ROWS = 20

type Graphs = Awaited<ReturnType<Engine['graphs']['list']>>
type FlowsData = { flows: FlowRow[]; cursor: string | null; stored: Graphs }

const FRESH = 60_000

function Row({ flow }: { flow: FlowRow }) {
  const { id, name, status, nodes, active, values, oldestAt, changedAt, createdAt } = flow
  return (
    <tr data-row id={`row-${id}`}>
      <td class="name">
        <StatusMark status={status} />{' '}
        <To kind="main" to={`/flows/${id}`}>
          <b title={name}>{cut(name, 48)}</b>
        </To>{' '}
        <span class="id">#{id}</span>
      </td>
      <td class="num">
        {count(active)} <span class="dimmer">of {count(nodes)}</span>
      </td>
      <td class="num">{count(values)}</td>
      <td class="num">{oldestAt === null ? <span class="dimmer">–</span> : <Since at={oldestAt} />}</td>
      <td class="num">
        <Ago at={changedAt ?? createdAt} />
      </td>
    </tr>
  )
}

function FlowTable({ flows }: { flows: FlowRow[] }) {
  return (
    <Table
      caption="Flows, newest first"
      heads={['Flow', '#Busy nodes', '#Values that wait', '#The oldest', '#Graph changed']}
    >
      {flows.map((flow) => (
        <Row flow={flow} />
      ))}
    </Table>
  )
}

function Stored({ stored: { graphs, cursor }, search }: { stored: Graphs; search: string }) {
  if (graphs.length === 0) return null
  return (
    <Card title="Stored graphs">
      <Table caption="Stored graphs" heads={['Graph', 'Size', 'Acts']} isPlain>
        {graphs.map(({ name, nodes = 0, edges = 0 }) => (
          <tr>
            <td class="fill">
              <b>
                <Name of={name} most={48} />
              </b>
            </td>
            <td class="num dim">
              {many(nodes, 'node')}, {many(edges, 'edge')}
            </td>
            <td class="num">
              <Act act="begin" scope="write" fields={{ graph: name }} small label={`Make a flow of ${name}`}>
                Make a flow
              </Act>
            </td>
          </tr>
        ))}
      </Table>
      {cursor && (
        <p class="note body">
          <To kind="link" to={`/flows${queryWith(search, { graphs: cursor })}`}>
            More graphs
          </To>
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
    return { say: `Flow #${id} was made of ${graph}`, to, link: { text: `#${id}`, to } }
  },
}

function View({ data: { flows, cursor, stored }, query }: { data: FlowsData; query: URLSearchParams }) {
  const { here } = useLook()
  const search = here.includes('?') ? here.slice(here.indexOf('?')) : ''
  const chosen = query.get('status')
  return (
    <>
      <Head title="Flows" note={`${many(flows.length, 'flow')} on this page`} />
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
            <FlowTable flows={flows} />
          ) : (
            <Empty
              act={
                chosen ? (
                  <To kind="link" to="/flows">
                    Show all
                  </To>
                ) : undefined
              }
            >
              {chosen ? `No flow is ${chosen}.` : 'There is no flow yet: create a job of class flow in queue core.'}
            </Empty>
          )}
          {cursor && (
            <p class="note body">
              <To kind="link" to={`/flows${queryWith(search, { cursor })}`}>
                Older flows
              </To>
            </p>
          )}
        </Card>
        <Stored stored={stored} search={search} />
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
