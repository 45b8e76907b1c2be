// Workers: classes by queue, one from near, and a form that tries it.

import { encodedToJson } from '../../core/codec/value.ts'
import { SidejobError } from '../../core/errors.ts'
import type { JobRow, WorkerDefinition } from '../../engine/engine.ts'
import { type Act, page } from '../page.ts'
import { Act as Button } from '../parts/act.tsx'
import { StatusPill } from '../parts/icon.tsx'
import { JobForm } from '../parts/job-form.tsx'
import { Card, Empty, Head, JobId, To } from '../parts/layout.tsx'
import { Ago } from '../parts/moment.tsx'

import { count, many } from '../words/number.ts'
import { wordsOf } from '../words/schema.ts'
import { cut } from '../words/text.ts'
import { span } from '../words/time.ts'
import { make } from './new-job.tsx'

type Worker = { queue: string; class: string } & WorkerDefinition
type WorkersData = { workers: Worker[]; wanted: string }
type WorkerData = WorkersData & { worker: Worker; last: JobRow[] }

const at = ({ queue, class: name }: Pick<Worker, 'queue' | 'class'>): string =>
  `/workers/${encodeURIComponent(queue)}/${encodeURIComponent(name)}`

const kindOf = ({ push, pull }: WorkerDefinition): string => (push ? 'push' : pull ? 'pull' : 'function')

/** Classes by queue, those of users before those of sidejob. */
const byQueue = (workers: readonly Worker[]): [string, Worker[]][] =>
  [...Map.groupBy(workers, ({ queue }) => queue)].sort(
    ([a], [b]) => Number(a.startsWith('sidejob')) - Number(b.startsWith('sidejob')) || (a < b ? -1 : 1),
  )

function Classes({ workers, chosen }: { workers: readonly Worker[]; chosen?: Worker }) {
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

const servedBy = ({ push, pull }: WorkerDefinition): string =>
  push?.url ?? (pull ? 'programs that claim it' : 'a function of this deployment')

/** How often it is tried, and after which waits. */
const triesOf = ({ retry }: WorkerDefinition): string => {
  const most = retry?.max === undefined ? 'as usual' : count(retry.max + 1)
  const base = retry?.backoff?.base
  return base === undefined ? most : `${most}: after ${span(base)}, then × ${retry?.backoff?.factor ?? 2}`
}

function About({ worker }: { worker: Worker }) {
  const { queue, class: name, description, concurrency, timeout, retain, history } = worker
  const facts: [string, string][] = [
    ['Served by', servedBy(worker)],
    ...(concurrency === undefined ? [] : [['At once', count(concurrency)] as [string, string]]),
    ['Tries', triesOf(worker)],
    ...(timeout === undefined ? [] : [['Time for a run', span(timeout)] as [string, string]]),
    [
      'Kept after the end',
      `${retain === undefined ? 'as usual' : span(retain)}${history ? `, with the last ${count(history)} runs` : ''}`,
    ],
  ]
  return (
    <Card
      title={cut(name, 40)}
      tag={cut(queue, 24)}
      right={
        <To kind="link" to={`/jobs?queue=${encodeURIComponent(queue)}&class=${encodeURIComponent(name)}`}>
          Its jobs
        </To>
      }
    >
      <div class="wdesc">
        {description && <p>{description.slice(0, 1_000)}</p>}
        <dl class="kv">
          {facts.map(([name, text]) => (
            <>
              <dt>{name}</dt>
              <dd class="clip">{text}</dd>
            </>
          ))}
        </dl>
      </div>
      <div class="foot">
        <Button act="unregister" scope="admin" kind="danger" small>
          Unregister
        </Button>
      </div>
    </Card>
  )
}

function Ports({ worker }: { worker: Worker }) {
  const rows = (['in', 'out'] as const).flatMap((dir) =>
    Object.entries(worker[dir] ?? {}).map(([name, port]) => ({ dir, name, port })),
  )
  return (
    <Card title="Ports">
      {rows.length === 0 && <Empty>It has no ports: its jobs take args.</Empty>}
      <table class="tbl">
        <caption class="vh">Ports</caption>
        <tbody>
          {rows.slice(0, 60).map(({ dir, name, port }) => (
            <tr>
              <td>
                <span class="dirr">{dir}</span>
              </td>
              <td>
                <b class="mono">{cut(name, 24)}</b>
              </td>
              <td class="fill mono dim">
                {wordsOf(port.schema === undefined ? undefined : encodedToJson(port.schema))}
              </td>
              <td class="num">
                {port.default === undefined ? (
                  <span class="note">{dir === 'in' ? 'must come' : ''}</span>
                ) : (
                  <span class="val">{cut(encodedToJson(port.default), 16)}</span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  )
}

function TryIt({ worker, last }: { worker: Worker; last: JobRow[] }) {
  return (
    <Card
      title="Try it"
      right={
        <To
          kind="link"
          to={`/jobs/new?queue=${encodeURIComponent(worker.queue)}&class=${encodeURIComponent(worker.class)}`}
        >
          With everything
        </To>
      }
    >
      <JobForm worker={worker} queue={worker.queue} name={worker.class} classes={[]} stay />
      <div class="got">
        <b>The last that were made</b>
        {last.length === 0 && <p class="note">None yet.</p>}
        <ul class="lasts">
          {last.map(({ id, status, createdAt, message }) => (
            <li>
              <JobId id={id} /> <StatusPill status={status} /> <span class="clip dim">{message}</span>{' '}
              <Ago at={createdAt} />
            </li>
          ))}
        </ul>
      </div>
    </Card>
  )
}

const fits = (wanted: string) => (worker: Worker) =>
  `${worker.queue}/${worker.class} ${Object.keys({ ...worker.in, ...worker.out }).join(' ')}`
    .toLowerCase()
    .includes(wanted)

function Top({ workers, wanted }: WorkersData) {
  const queues = new Set(workers.map(({ queue }) => queue)).size
  return (
    <Head title="Workers" note={`${many(workers.length, 'class', 'classes')} in ${many(queues, 'queue')}`}>
      <form class="filter small">
        <input name="q" type="search" aria-label="Class or port" placeholder="Class or port" value={wanted} />
      </form>
    </Head>
  )
}

const wantedIn = (query: URLSearchParams): string => (query.get('q') ?? '').toLowerCase().slice(0, 100)

export const workers = page<WorkersData>({
  path: '/workers',
  nav: 'workers',
  every: 10_000,
  async load({ engine, query }) {
    const { workers } = await engine.workers()
    return { workers, wanted: wantedIn(query) }
  },
  title: () => 'Workers',
  View: ({ data }) => (
    <>
      <Top {...data} />
      <Classes workers={data.workers.filter(fits(data.wanted))} />
    </>
  ),
})

const unregister: Act = {
  scope: 'admin',
  async confirm({ engine, params }) {
    const { jobs, cursor } = await engine.rows({
      queue: params.queue!,
      class: params.class!,
      status: ['queued', 'running', 'suspended'],
      limit: 1_000,
    })
    return {
      title: `Unregister ${params.class}?`,
      text: [
        `${many(jobs.length, 'open job')}${cursor ? ' and more' : ''} of it: none can run any more until it is registered again.`,
      ],
      verb: 'Unregister it',
      type: params.class!,
    }
  },
  async does({ call, params }) {
    await call('DELETE', `/v1/workers/${encodeURIComponent(params.queue!)}/${encodeURIComponent(params.class!)}`)
    return { say: `${params.class} is unregistered`, to: '/workers' }
  },
}

export const worker = page<WorkerData>({
  path: '/workers/:queue/:class',
  nav: 'workers',
  every: 2_000,
  async load({ engine, params, query }) {
    const [{ workers }, { jobs }] = await Promise.all([
      engine.workers(),
      engine.rows({ queue: params.queue!, class: params.class!, limit: 5 }),
    ])
    const worker = workers.find((one) => one.queue === params.queue && one.class === params.class)
    if (!worker) throw new SidejobError('NOT_FOUND', `There is no class ${params.class} in queue ${params.queue}`)
    return { workers, worker, last: jobs, wanted: wantedIn(query) }
  },
  title: ({ worker }) => `${worker.queue}/${worker.class}`,
  crumbs: ({ worker }) => [{ name: `${worker.queue}/${worker.class}` }],
  View: ({ data }) => (
    <>
      <Top {...data} />
      <div class="wcols">
        <Classes workers={data.workers.filter(fits(data.wanted))} chosen={data.worker} />
        <div class="stack">
          <About worker={data.worker} />
          <Ports worker={data.worker} />
        </div>
        <TryIt worker={data.worker} last={data.last} />
      </div>
    </>
  ),
  acts: { make, unregister },
})
