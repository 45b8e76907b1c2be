import type { Child } from 'hono/jsx'
import type { CurrentRun, ProcessView, WorkerDefinition, WorkerView } from '../../../engine/engine.ts'
import { useLook } from '../../look.ts'
import type { Asked } from '../../page.ts'
import { Ago, Card, Empty, Name, NameLink, Zero } from '../../parts/layout.tsx'
import { First } from '../../parts/snippet.tsx'
import { Bars } from '../../parts/spark.tsx'
import { Table } from '../../parts/table.tsx'
import type { ClassRow } from '../../words/failing.ts'
import { classJobsPath, queuePath, workerPath } from '../../words/paths.ts'
import { isBuiltIn } from '../../words/queue.ts'
import { about, count, cut, jobsWait, many, short } from '../../words/text.ts'
import { byClass } from '../jobs/by-class.tsx'

export type Worker = WorkerView

export const kindOf = ({ push, pull }: WorkerDefinition): string => (push ? 'push' : pull ? 'pull' : 'function')

const isLibrary = ({ queue, push, pull }: Worker): boolean => isBuiltIn(queue) && !push && !pull

export const named = (workers: readonly Worker[], queue?: string | null, name?: string | null): Worker | undefined =>
  workers.find((one) => one.queue === queue && one.class === name)

export const nameOf = (queue: string, name: string | null): string => `${queue}\n${name ?? ''}`
export type Counted = ReadonlyMap<string, ClassRow>

export const countsOf = (counted: Counted, { queue, class: name }: Worker) =>
  counted.get(nameOf(queue, name))?.counts ?? { runs: 0, failed: 0 }

export function todayOf(counted: Counted, worker: Worker): string {
  const { runs, failed } = countsOf(counted, worker)
  if (runs === 0) return ''
  return `${many(runs, 'run')} today${failed > 0 ? `, ${many(failed, 'failed job')}` : ''}`
}

export function byQueue(workers: readonly Worker[], { counted, paused }: Known): [string, Worker[]][] {
  const compare = (a: Worker, b: Worker): number => {
    const [one, other] = [countsOf(counted, a), countsOf(counted, b)]
    return (
      other.failed - one.failed ||
      other.runs - one.runs ||
      Number(paused.has(b.queue)) - Number(paused.has(a.queue)) ||
      (nameOf(a.queue, a.class) < nameOf(b.queue, b.class) ? -1 : 1)
    )
  }
  return [...Map.groupBy(workers.toSorted(compare), ({ queue }) => queue)]
}

const LATER = 10_000

export async function countedIn(asked: Asked): Promise<Counted> {
  const { classes } = await byClass(asked, { hours: true }, LATER)
  return new Map(classes.map((row) => [nameOf(row.queue, row.class), row]))
}

export function Hours({ hours = [] }: Pick<ClassRow, 'hours'>) {
  const [runs, failed] = [Array.from({ length: 24 }, () => 0), [] as number[]]
  for (const { at, runs: n, errors } of hours) {
    const hour = new Date(at).getUTCHours()
    runs[hour] = n
    failed[hour] = errors
  }
  const said = runs.flatMap((n, hour) => (n > 0 ? [`${count(n)} at ${hour}:00`] : [])).join(', ') || 'none'
  return (
    <span title={`Runs per hour, UTC: ${said}`}>
      <span class="vh">{said}</span>
      <Bars values={runs} failed={failed} tone="f-done" />
    </span>
  )
}

type Known = { counted: Counted; paused: ReadonlySet<string>; running?: ReadonlySet<string> }

export const states = ['failed today', 'no claims yet', 'paused'] as const

export function statesOf(worker: Worker, { counted, paused, running }: Known): (typeof states)[number][] {
  const { queue, class: name, pull, seen } = worker
  const { runs, failed } = countsOf(counted, worker)
  const isUnclaimed = pull === true && seen === null && runs === 0 && !running?.has(nameOf(queue, name))
  const has = [failed > 0, isUnclaimed, paused.has(queue)]
  return states.filter((_, i) => has[i])
}

function Row({ worker, ...known }: Known & { worker: Worker }) {
  const { queue, class: name, description } = worker
  const { runs, failed } = countsOf(known.counted, worker)
  const { took, hours } = known.counted.get(nameOf(queue, name)) ?? {}
  return (
    <tr>
      <td class="fill" title={description}>
        <NameLink to={workerPath(queue, name)} of={name} most={34} isMain />{' '}
        {description && <span class="sub clip">{cut(description, 400)}</span>}
      </td>
      <td>
        {known.running?.has(nameOf(queue, name)) && <span class="st running">running</span>}{' '}
        {statesOf(worker, known).includes('no claims yet') && <span class="st suspended">no claims yet</span>}{' '}
        <span class="tag">{kindOf(worker)}</span>
      </td>
      <td class="num wide">{hours && <Hours hours={hours} />}</td>
      <td class="num" data-head="Ended runs">
        <Zero n={runs} text={short(runs)} />
      </td>
      <td class="num" data-head="Failed jobs">
        <Zero n={failed} to={classJobsPath(worker, 'failed')} kind="up" text={short(failed)} />
      </td>
      <td
        class={took ? 'num dim' : 'num dimmer'}
        data-head="p95"
        title={
          took ? `95% of runs took at most this long; mean ${about(took.mean)}, median ${about(took.p50)}` : undefined
        }
      >
        {took ? `≤ ${about(took.p95)}` : '–'}
      </td>
    </tr>
  )
}

export type Program = Extract<ProcessView, { kind: 'pull' }>

export const programsIn = (processes: readonly ProcessView[], queue?: string): Program[] =>
  processes.filter((one): one is Program => one.kind === 'pull' && (!queue || one.queues.includes(queue)))

/** `pulls`: the number of jobs in each queue that wait for a pull worker. */
type Pulling = {
  programs?: readonly Program[]
  unnamed?: readonly CurrentRun[]
  pulls?: ReadonlyMap<string, number>
}

const SHOWN = 5
/** Milliseconds. */
const SILENT = 120_000

const isSilent = (seenAt: number): boolean => useLook().now - seenAt > SILENT

export function Seen({ at }: { at: number }) {
  return isSilent(at) ? (
    <span class="st suspended">
      <span>
        <Ago at={at} word="last seen" />
      </span>
    </span>
  ) : (
    <Ago at={at} word="seen" />
  )
}

function PullWorkers({ queue, programs = [], unnamed = [], pulls }: Pulling & { queue: string }) {
  const own = programsIn(programs, queue)
  const waiting = pulls?.get(queue) ?? 0
  const runs = (of: readonly CurrentRun[]) => many(of.filter((run) => run.queue === queue).length, 'job')
  return (
    <>
      {own.slice(0, SHOWN).map(({ id, live, signal, runs: held, seenAt }) => (
        <span class="note listener">
          <span class={live && !isSilent(seenAt) ? 'st completed' : 'st suspended'}>
            <Name of={id} most={28} />
          </span>{' '}
          {runs(held)}, <Seen at={seenAt} /> {signal && <span class="tag">{signal}</span>}
        </span>
      ))}
      {own.length > SHOWN && <span class="note listener">{count(own.length - SHOWN)} more</span>}
      {unnamed.some((run) => run.queue === queue) && (
        <span class="note listener">{`${runs(unnamed)} of unnamed pull workers`}</span>
      )}
      {waiting > 0 && (
        <>
          <span class="st suspended listener">{jobsWait(waiting)} for a pull worker</span>{' '}
          {own.length === 0 && <NameLink kind="link said" to="/workers?register" of="Create a pull worker" />}
        </>
      )}
    </>
  )
}

function Paused({ waiting = 0 }: { waiting?: number }) {
  return <span class="st suspended">{`paused${waiting > 0 ? `, ${jobsWait(waiting)}` : ''}`}</span>
}

type TableProps = Known & Pulling & { workers: readonly Worker[] }

const heads = ['Queue and class', '-Kind', '##Runs per hour', '#Ended runs', '#Failed jobs', '#p95'] as const

export function ClassTable({ workers, programs, unnamed, pulls, ...known }: TableProps) {
  return (
    <Table caption="Classes by queue, with their counts since midnight UTC" heads={heads} kind="classes lined split">
      {byQueue(workers, known).map(([queue, own]) => (
        <>
          <tr class="of">
            <th scope="rowgroup" colspan={heads.length}>
              <NameLink to={queuePath(queue)} of={queue} most={40} kind="said" />{' '}
              {known.paused.has(queue) && <Paused waiting={pulls?.get(queue)} />}{' '}
              <PullWorkers
                {...{ queue, programs, unnamed }}
                pulls={own.some(({ pull }) => pull) && !known.paused.has(queue) ? pulls : undefined}
              />
            </th>
          </tr>
          {own.map((worker) => (
            <Row worker={worker} {...known} />
          ))}
        </>
      ))}
    </Table>
  )
}

type ClassesProps = Known & { workers: readonly Worker[]; wanted: string; show: (of: readonly Worker[]) => Child }

export function Classes({ workers, wanted, show, ...known }: ClassesProps) {
  const found = workers.filter((worker) => {
    const { queue, class: name, description = '', in: ins, out } = worker
    const ports = Object.keys({ ...ins, ...out })
    return [`${queue}/${name}`, ...ports, description, kindOf(worker), ...statesOf(worker, known)]
      .join(' ')
      .toLowerCase()
      .includes(wanted.toLowerCase())
  })
  const { own = [], library = [] } = Object.groupBy(found, (worker) => (isLibrary(worker) ? 'library' : 'own'))
  return (
    <Card title="Classes" tag={count(found.length)} right="most failed jobs today, UTC, first; then most runs">
      {found.length === 0 && <Empty>No classes match.</Empty>}
      {own.length === 0 && !wanted && <First of="workers" />}
      {own.length > 0 && show(own)}
      {library.length > 0 && (
        <details open={own.length === 0 || wanted !== ''}>
          <summary class="body">{`Standard library: ${many(library.length, 'class', 'classes')}`}</summary>
          {show(library)}
        </details>
      )}
    </Card>
  )
}
