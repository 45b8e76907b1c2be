// Flows: which there are, what they have to do, and where values wait.

import type { FlowRow } from '../../../engine/engine.ts'
import { queryWith, useLook } from '../../look.ts'
import { page } from '../../page.ts'
import { StatusMark } from '../../parts/icon.tsx'
import { Card, Empty, Head, To } from '../../parts/layout.tsx'
import { Ago, Since } from '../../parts/moment.tsx'
import { count, many } from '../../words/number.ts'
import { cut, statusOrder, title } from '../../words/text.ts'
import { statusesOf } from './query.ts'

const ROWS = 20

type FlowsData = { flows: FlowRow[]; cursor: string | null }

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

function Table({ flows }: { flows: FlowRow[] }) {
  return (
    <table class="tbl">
      <caption class="vh">Flows, newest first</caption>
      <thead>
        <tr>
          <th scope="col">Flow</th>
          <th scope="col" class="num">
            Nodes with something to do
          </th>
          <th scope="col" class="num">
            Values that wait
          </th>
          <th scope="col" class="num">
            The oldest
          </th>
          <th scope="col" class="num">
            Graph changed
          </th>
        </tr>
      </thead>
      <tbody>
        {flows.map((flow) => (
          <Row flow={flow} />
        ))}
      </tbody>
    </table>
  )
}

function View({ data: { flows, cursor }, query }: { data: FlowsData; query: URLSearchParams }) {
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
      <Card kind="list">
        {flows.length > 0 ? (
          <Table flows={flows} />
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
            {chosen ? `No flow is ${chosen}.` : 'There is no flow yet: make a job of class flow in queue core.'}
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
    </>
  )
}

export const flows = page<FlowsData>({
  path: '/flows',
  nav: 'flows',
  every: 2_000,
  load: ({ engine, query }) =>
    engine.flows({ status: statusesOf(query), cursor: query.get('cursor') ?? undefined, limit: ROWS }),
  title: () => 'Flows',
  View,
})
