import { encodedToJson } from '../../core/codec/value.ts'
import { missing } from '../../core/errors.ts'
import { isId } from '../../core/job.ts'
import type { JobView, WaitedLimit } from '../../engine/engine.ts'
import type { Engine } from '../../engine/index.ts'
import type { Act } from '../page.ts'
import { page } from '../page.ts'
import { LinkButton } from '../parts/act.tsx'
import { Code } from '../parts/job-code.tsx'
import { JobForm, jobBody, type Named, refuseMissing } from '../parts/job-form.tsx'
import { Card, Head, Link, NameLink, To } from '../parts/layout.tsx'
import { Search } from '../parts/search.tsx'
import { given, jsonText, labelWords, maybe } from '../words/form.ts'
import { limitOfClass } from '../words/limit.ts'
import { jobLink, limitPath, ofClass, queuePath } from '../words/paths.ts'
import { pausedNames } from '../words/queue.ts'
import { membersOf, readSchema } from '../words/schema.ts'
import { cut, many } from '../words/text.ts'
import { typedAs } from '../words/value-form.ts'
import { byQueue, Classes, type Counted, countedIn, named, todayOf, type Worker } from './workers/classes.tsx'

type Like = Pick<JobView, 'id' | 'queue' | 'class' | 'args' | 'group' | 'priority' | 'labels'>

type NewJobData = {
  workers: Worker[]
  counted: Counted
  paused: ReadonlySet<string>
  limits: readonly WaitedLimit[]
  from?: Like
  queue: string
  class?: string
}

async function bodyIn(form: FormData, engine: Engine): Promise<string> {
  const typed = maybe(form, 'body')
  const json = typed && jsonText(typed, 'body')
  const { queue = 'default', class: name } = json
    ? ((JSON.parse(json) ?? {}) as Partial<Named>)
    : { queue: given(form, 'queue'), class: given(form, 'class') }
  const worker = named((await engine.workers.list()).workers, queue, name)
  const body = json ?? jobBody(form, worker ?? { queue, class: name! })
  return worker ? refuseMissing(form, body, worker) : body
}

async function likeOf(engine: Engine, from: string): Promise<Like | undefined> {
  const alive = await engine.jobs.get(from).catch((error) => {
    if (engine.history.isOn && isId(from)) return missing(error)
    throw error
  })
  return alive ?? (await engine.history.get(from)).ends[0]
}

const typedLike = ({ args, group, priority, labels }: Like, { args: schema }: Worker): URLSearchParams =>
  new URLSearchParams({
    args: args === null ? '' : typedAs(readSchema(schema && encodedToJson(schema)), encodedToJson(args)),
    group: group ?? '',
    priority: String(priority),
    labels: labelWords(labels),
  })

export const make: Act = {
  scope: 'write',
  async does({ form, call, engine }) {
    const { id } = (await call('POST', '/v1/jobs', await bodyIn(form, engine))) as { id: number }
    return {
      say: `Job #${id} created`,
      to: form.get('stay') ? undefined : `/jobs/${id}`,
      link: jobLink(id),
    }
  },
}

const titleOf = ({ from }: NewJobData): string => (from ? `Duplicate #${from.id}` : 'New job')

function takenBy({ in: ports = {}, args }: Worker): string[] {
  const taken = { inputs: Object.keys(ports), args: membersOf(readSchema(args && encodedToJson(args))) }
  return Object.entries(taken).flatMap(([kind, names]) => (names.length > 0 ? `${kind} ${cut(names.join(', '))}` : []))
}

function List({ of, data, data: { counted, paused } }: { of: readonly Worker[]; data: NewJobData }) {
  return byQueue(of, data).map(([queue, own]) => (
    <>
      <h3 class="group">
        Queue {cut(queue)} {paused.has(queue) && <span class="st suspended">paused</span>}
      </h3>
      <ul class="checks next found choose">
        {own.map((worker) => (
          <li>
            <To to={`/jobs/new?${ofClass(queue, worker.class)}`}>
              <b>{cut(worker.class)}</b> <span class="dim">{cut(worker.description ?? '', 200)}</span>
            </To>
            <span class="right">{[...takenBy(worker), todayOf(counted, worker)].filter(Boolean).join(' · ')}</span>
          </li>
        ))}
      </ul>
    </>
  ))
}

function Choose({ data, query }: { data: NewJobData; query: URLSearchParams }) {
  const { queue, class: name, ...known } = data
  const wanted = name ?? query.get('q')?.slice(0, 100) ?? ''
  return (
    <>
      <Head title="New job" note="Choose its class: the function or worker that runs it.">
        <Search at="/jobs/new" label="Search classes" value={wanted} />
      </Head>
      {wanted && (
        <p class="gone">
          {name && `No class "${cut(name)}" in queue ${cut(queue)}. `}
          <Link to="/jobs/new">Show all classes</Link>
        </p>
      )}
      <Classes {...known} wanted={wanted} show={(of) => <List of={of} data={data} />} />
    </>
  )
}

function Wait({ data: { paused, limits }, worker: { queue, class: name } }: { data: NewJobData; worker: Worker }) {
  const key = limitOfClass(queue, name)
  const waiting = limits.find((limit) => limit.key === key)?.waiting ?? 0
  const isPaused = paused.has(queue)
  if (!isPaused && waiting === 0) return null
  const [to, of] = isPaused ? [queuePath(queue), queue] : [limitPath(key), key]
  return (
    <p class="gone">
      {isPaused ? 'Its queue is paused: ' : `${many(waiting, 'job already waits', 'jobs already wait')} for limit `}
      <NameLink kind="link said" to={to} of={of} most={60} />
    </p>
  )
}

function Fill({ data, worker, typed }: { data: NewJobData; worker: Worker; typed: URLSearchParams }) {
  return (
    <>
      <Head title={titleOf(data)} note={cut(`${worker.queue}/${worker.class}`, 60)}>
        <LinkButton to="/jobs/new">Choose another class</LinkButton>
      </Head>
      <Wait data={data} worker={worker} />
      <div class="cols c21">
        <Card>
          {worker.description && <p class="body dim">{cut(worker.description, 1_000)}</p>}
          <JobForm worker={worker} typed={typed} />
        </Card>
        <div class="stack" id="preview" data-island>
          <Code worker={worker} typed={typed} />
        </div>
      </div>
    </>
  )
}

export const newJob = page<NewJobData>({
  path: '/jobs/new',
  nav: 'jobs',
  every: 0,
  async load(asked) {
    const { engine, query, cache } = asked
    const id = query.get('from')
    const [{ workers }, { stats, limits }, counted, from] = await Promise.all([
      engine.workers.list(),
      cache.glance(),
      countedIn(asked),
      id ? likeOf(engine, id) : undefined,
    ])
    const { queue, class: name } = from ?? { queue: query.get('queue') || 'default', class: query.get('class') }
    return { workers, paused: pausedNames(stats), limits, counted, from, queue, class: name || undefined }
  },
  title: titleOf,
  crumbs: (data) => [{ name: titleOf(data) }],
  View({ data, query }) {
    const worker = named(data.workers, data.queue, data.class)
    if (!worker) return <Choose data={data} query={query} />
    return <Fill data={data} worker={worker} typed={data.from ? typedLike(data.from, worker) : query} />
  },
  acts: { make },
})
