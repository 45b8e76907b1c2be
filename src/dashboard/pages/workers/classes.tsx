import type { WorkerDefinition, WorkerView } from '../../../engine/engine.ts'
import type { Asked } from '../../page.ts'
import { LinkButton } from '../../parts/act.tsx'
import { Card, Empty, Head, NameLink, Zero } from '../../parts/layout.tsx'
import { Search } from '../../parts/search.tsx'
import { First } from '../../parts/snippet.tsx'
import { ofClass, queuePath, workerPath } from '../../words/paths.ts'
import { isBuiltIn } from '../../words/queue.ts'
import { about, count, cut, many, short } from '../../words/text.ts'
import { byClass, type ClassRow } from '../jobs/by-class.tsx'

export type Worker = WorkerView

export const kindOf = ({ push, pull }: WorkerDefinition): string => (push ? 'push' : pull ? 'pull' : 'function')

/** Users may add classes to any queue. */
const isLibrary = ({ queue, push, pull }: Worker): boolean => isBuiltIn(queue) && !push && !pull

export const byQueue = (workers: readonly Worker[]): [string, Worker[]][] => [
  ...Map.groupBy(
    workers.toSorted((a, b) => (`${a.queue}\n${a.class}` < `${b.queue}\n${b.class}` ? -1 : 1)),
    ({ queue }) => queue,
  ),
]

export const nameOf = (queue: string, name: string | null): string => `${queue}\n${name ?? ''}`
export type Counted = ReadonlyMap<string, ClassRow>

const LATER = 10_000

export async function countedIn(asked: Asked): Promise<Counted> {
  const { classes } = await byClass(asked, {}, LATER)
  return new Map(classes.map((row) => [nameOf(row.queue, row.class), row]))
}

const heads = ['Runs', 'Failed jobs', 'p95'] as const

function Numbers({ of, at }: { of?: ClassRow; at: string }) {
  const { runs = 0, failed = 0 } = of?.counts ?? {}
  return (
    <>
      <td class="num" data-head="Runs">
        <Zero n={runs} text={short(runs)} />
      </td>
      <td class="num" data-head="Failed jobs">
        <Zero n={failed} to={`/jobs?status=failed&${at}`} kind="up" text={short(failed)} />
      </td>
      <td class={of?.took ? 'num dim' : 'num dimmer'} data-head="p95" title={of?.took ? spread(of.took) : undefined}>
        {of?.took ? about(of.took.p95) : '–'}
      </td>
    </>
  )
}

const spread = ({ mean, p50 }: NonNullable<ClassRow['took']>): string =>
  `95% of runs took at most this long; mean ${about(mean)}, median ${about(p50)}`

type RowProps = { worker: Worker; of?: ClassRow; isChosen: boolean; isWide: boolean }

function Row({ worker, of, isChosen, isWide }: RowProps) {
  const { queue, class: name, description } = worker
  return (
    <tr aria-selected={isChosen ? 'true' : undefined}>
      <td class="fill">
        <NameLink to={workerPath(queue, name)} of={name} most={34} isMain />{' '}
        {isWide && description && <span class="sub clip">{cut(description, 400)}</span>}
      </td>
      <td>
        {isWide && worker.pull && worker.seen === null && !of?.counts.runs && <span class="note">no claims yet</span>}{' '}
        <span class="tag">{kindOf(worker)}</span>
      </td>
      <Numbers of={of} at={ofClass(queue, name)} />
    </tr>
  )
}

type TableProps = { workers: readonly Worker[]; counted: Counted; chosen?: Worker }

function ClassTable({ workers, counted, chosen }: TableProps) {
  return (
    <table class="tbl classes lined">
      <caption class="vh">Classes by queue, with their counts since midnight UTC</caption>
      <thead>
        <tr>
          <th scope="col" colspan={2}>
            Queue and class
          </th>
          {heads.map((head) => (
            <th scope="col" class="num">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      {byQueue(workers).map(([queue, own]) => (
        <tbody>
          <tr class="of">
            <th scope="colgroup" colspan={5}>
              <NameLink to={queuePath(queue)} of={queue} most={40} />
            </th>
          </tr>
          {own.map((worker) => (
            <Row
              worker={worker}
              of={counted.get(nameOf(queue, worker.class))}
              isWide={!chosen}
              isChosen={worker.queue === chosen?.queue && worker.class === chosen?.class}
            />
          ))}
        </tbody>
      ))}
    </table>
  )
}

export function foundIn(all: readonly Worker[], wanted: string) {
  const found = all.filter(({ queue, class: name, description = '', in: ins, out }) =>
    `${queue}/${name} ${Object.keys({ ...ins, ...out }).join(' ')} ${description}`.toLowerCase().includes(wanted),
  )
  const { own = [], library = [] } = Object.groupBy(found, (worker) => (isLibrary(worker) ? 'library' : 'own'))
  return { own, library }
}

type ClassesProps = TableProps & { wanted: string }

export function Classes({ workers: all, wanted, ...shown }: ClassesProps) {
  const { own, library } = foundIn(all, wanted)
  return (
    <Card title="Classes" tag={count(own.length + library.length)} right="today, UTC">
      {own.length + library.length === 0 && <Empty>No classes match.</Empty>}
      {own.length === 0 && !wanted && <First of="workers" />}
      <ClassTable workers={own} {...shown} />
      {library.length > 0 && (
        <details open={own.length === 0 || wanted !== '' || (shown.chosen && isLibrary(shown.chosen))}>
          <summary class="body">{`Standard library: ${many(library.length, 'class', 'classes')}`}</summary>
          <ClassTable workers={library} {...shown} />
        </details>
      )}
    </Card>
  )
}

export function Top({ workers, wanted }: { workers: readonly Worker[]; wanted: string }) {
  const queues = new Set(workers.map(({ queue }) => queue)).size
  return (
    <Head title="Workers" note={`${many(workers.length, 'class', 'classes')} in ${many(queues, 'queue')}`}>
      <Search at="/workers" label="Class or port" value={wanted} />
      <LinkButton to="/workers?register" scope="admin" icon="plus" kind="primary">
        Register class
      </LinkButton>
    </Head>
  )
}
