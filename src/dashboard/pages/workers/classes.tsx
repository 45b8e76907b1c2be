// The list of classes by queue, and the line above it.

import type { WorkerDefinition, WorkerView } from '../../../engine/engine.ts'
import { LinkButton } from '../../parts/act.tsx'
import { Card, Empty, Head, To } from '../../parts/layout.tsx'
import { count, many } from '../../words/number.ts'
import { cut } from '../../words/text.ts'

export type Worker = WorkerView

const at = ({ queue, class: name }: Pick<Worker, 'queue' | 'class'>): string =>
  `/workers/${encodeURIComponent(queue)}/${encodeURIComponent(name)}`

const kindOf = ({ push, pull }: WorkerDefinition): string => (push ? 'push' : pull ? 'pull' : 'function')

/** Classes by queue, those of users before those of sidejob. */
const byQueue = (workers: readonly Worker[]): [string, Worker[]][] =>
  [...Map.groupBy(workers, ({ queue }) => queue)].sort(
    ([a], [b]) => Number(a.startsWith('sidejob')) - Number(b.startsWith('sidejob')) || (a < b ? -1 : 1),
  )

export function Classes({ workers, chosen }: { workers: readonly Worker[]; chosen?: Worker }) {
  return (
    <Card title="Classes" tag={count(workers.length)}>
      {workers.length === 0 && <Empty>No class fits.</Empty>}
      <table class="tbl classes">
        <caption class="vh">Classes by queue</caption>
        {byQueue(workers).map(([queue, own]) => (
          <tbody>
            <tr>
              <th scope="colgroup" colspan={2}>
                {cut(queue, 40)}
              </th>
            </tr>
            {own.map((worker) => (
              <tr aria-selected={worker.queue === chosen?.queue && worker.class === chosen?.class ? 'true' : undefined}>
                <td class="fill">
                  <To to={at(worker)}>
                    <b>{cut(worker.class, 34)}</b>
                  </To>
                </td>
                <td class="num">
                  {worker.pull && worker.seen === null && <span class="note">not heard</span>}{' '}
                  <span class="tag">{kindOf(worker)}</span>
                </td>
              </tr>
            ))}
          </tbody>
        ))}
      </table>
    </Card>
  )
}

export const fits = (wanted: string) => (worker: Worker) =>
  `${worker.queue}/${worker.class} ${Object.keys({ ...worker.in, ...worker.out }).join(' ')}`
    .toLowerCase()
    .includes(wanted)

export function Top({ workers, wanted }: { workers: readonly Worker[]; wanted: string }) {
  const queues = new Set(workers.map(({ queue }) => queue)).size
  return (
    <Head title="Workers" note={`${many(workers.length, 'class', 'classes')} in ${many(queues, 'queue')}`}>
      <form class="filter small">
        <input name="q" type="search" aria-label="Class or port" placeholder="Class or port" value={wanted} />
      </form>
      <LinkButton to="/workers?register" scope="admin" icon="plus" kind="primary">
        Register
      </LinkButton>
    </Head>
  )
}
