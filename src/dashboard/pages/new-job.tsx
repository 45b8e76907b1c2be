import { type Encoded, encodedToJson } from '../../core/codec/value.ts'
import { missing } from '../../core/errors.ts'
import { isId } from '../../core/job.ts'
import { REDACTED } from '../../core/redact.ts'
import type { JobView } from '../../engine/engine.ts'
import type { Engine } from '../../engine/index.ts'
import { type Act, type Asked, page } from '../page.ts'
import { LinkButton } from '../parts/act.tsx'
import { Code } from '../parts/job-code.tsx'
import { isRequired, JobForm, jobBody, type Named, PORT, portsOf, refuseMissing } from '../parts/job-form.tsx'
import { Card, Head, Link, NameLink, To } from '../parts/layout.tsx'
import { Search } from '../parts/search.tsx'
import { sum } from '../words/counts.ts'
import { sampleGraph } from '../words/flow.ts'
import { given, jsonText, labelWords, maybe, objectOf } from '../words/form.ts'
import { limitOfClass } from '../words/limit.ts'
import { isFlow, jobLink, jobPath, limitPath, newJobPath, queuePath } from '../words/paths.ts'
import { pausedNames } from '../words/queue.ts'
import { membersOf, readSchema } from '../words/schema.ts'
import { cut, many } from '../words/text.ts'
import { fieldsFor } from '../words/value-form.ts'
import { byQueue, Classes, countedIn, named, todayOf, type Worker } from './workers/classes.tsx'

type Like = Pick<JobView, 'id' | 'queue' | 'class' | 'args' | 'group' | 'priority' | 'labels'> &
  Partial<Pick<JobView, 'in'>>

/** Values that wait at input ports, as JSON. */
type Inputs = Record<string, string[]>

const GRAPH = `${PORT}__graph`

/** A form holds at most this many ports, values of a port, and characters of all values. */
const [PORTS, VALUES, LENGTH] = [10, 20, 4_000]

type NewJobData = Awaited<ReturnType<typeof load>>

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

/** Returns undefined if a form has no room for the values, or may not show them. */
async function waitingIn(engine: Engine, { id, in: ports }: JobView): Promise<Inputs | undefined> {
  const waiting = Object.entries(ports).filter(([, { size }]) => size > 0)
  if (waiting.length > PORTS || waiting.some(([, { size }]) => size > VALUES)) return undefined
  const found = await Promise.all(
    waiting.map(async ([name]) => {
      const { values } = await engine.ports.get(String(id), 'in', name, VALUES)
      return [name, values.map(({ data }) => encodedToJson(data))] as const
    }),
  )
  const json = found.flatMap(([, values]) => values).join()
  return json.length > LENGTH || json.includes(REDACTED) ? undefined : Object.fromEntries(found)
}

async function likeOf(engine: Engine, from: string): Promise<{ from?: Like; inputs?: Inputs }> {
  const alive = await engine.jobs.get(from).catch((error) => {
    if (engine.history.isOn && isId(from)) return missing(error)
    throw error
  })
  if (alive) return { from: alive, inputs: await waitingIn(engine, alive) }
  return { from: (await engine.history.get(from)).ends[0] }
}

const typedOf = (schema: Encoded | undefined, field: string, json: string): Record<string, string> =>
  fieldsFor(readSchema(schema && encodedToJson(schema)), field, json)

function typedInputs(inputs: Inputs, ports: Worker['in'] = {}): Record<string, string> {
  const waiting = Object.entries(inputs)
  if (waiting.every(([name, values]) => values.length === 1 && ports[name]))
    return Object.assign({}, ...waiting.map(([name, [json]]) => typedOf(ports[name]!.schema, PORT + name, json!)))
  return { inputs: objectOf(Object.fromEntries(waiting.map(([name, values]) => [name, `[${values}]`]))) }
}

/** True if the job never had values for the required inputs that its duplicate lacks. */
function isWithout({ in: ports }: Like, inputs: Inputs, worker: Worker): boolean {
  const missing = portsOf(worker).filter(([name, port]) => isRequired(port) && !inputs[name])
  return (
    ports !== undefined && missing.length > 0 && missing.every(([name]) => !ports[name]?.size && !ports[name]?.taken)
  )
}

function typedLike(from: Like, inputs: Inputs, worker: Worker): URLSearchParams {
  const { args, group, priority, labels } = from
  return new URLSearchParams({
    ...(args !== null && typedOf(worker.args, 'args', encodedToJson(args))),
    group: group ?? '',
    priority: String(priority),
    labels: labelWords(labels),
    ...typedInputs(inputs, worker.in),
    ...(isWithout(from, inputs, worker) && { later: 'on' }),
  })
}

/** @return the sample graph if the address of a new flow contains no graph */
function typedIn(query: URLSearchParams, of: Partial<Named>): URLSearchParams {
  if (!isFlow(of) || query.has(GRAPH)) return query
  return new URLSearchParams([...query, [GRAPH, JSON.stringify(sampleGraph, null, 2)]])
}

export const make: Act = {
  scope: 'write',
  async does({ form, call, engine }) {
    const body = await bodyIn(form, engine)
    const { id } = await call<{ id: number }>('POST', '/v1/jobs', body)
    return {
      say: `Job #${id} created`,
      to: form.get('stay') ? undefined : isFlow(JSON.parse(body)) ? `/flows/${id}` : jobPath(id),
      link: jobLink(id),
    }
  },
}

async function load(asked: Asked) {
  const { engine, query, cache } = asked
  const id = query.get('from')
  const [{ workers }, { stats, limits }, counted, { from, inputs }] = await Promise.all([
    engine.workers.list(),
    cache.glance(),
    countedIn(asked),
    id ? likeOf(engine, id) : { from: undefined, inputs: undefined },
  ])
  const { queue, class: name } = from ?? { queue: query.get('queue') || 'default', class: query.get('class') }
  return { workers, paused: pausedNames(stats), limits, counted, from, inputs, queue, class: name || undefined }
}

const titleOf = ({ from, ...of }: NewJobData): string =>
  from ? `Duplicate #${from.id}` : isFlow(of) ? 'New flow' : 'New job'

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
            <To to={newJobPath(worker)}>
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
      <Head title="New job" note="Choose a class: the function or worker that runs the job.">
        <Search label="Search classes" value={wanted} />
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
      {isPaused ? 'The queue is paused: ' : `${many(waiting, 'job already waits', 'jobs already wait')} for limit `}
      <NameLink kind="link said" to={to} of={of} most={60} />
    </p>
  )
}

function NotCopied({ data: { from, inputs }, worker }: { data: NewJobData; worker: Worker }) {
  if (!from) return null
  const hasRead = from.in ? sum(Object.values(from.in), ({ taken }) => taken) > 0 : worker.in !== undefined
  const left = [
    ...(from.in && !inputs ? ['values that wait at its input ports'] : []),
    ...(hasRead ? ['values that its runs have read'] : []),
  ]
  return left.length > 0 && <p class="gone">Not copied: {left.join(', ')}.</p>
}

function Fill({ data, worker, typed }: { data: NewJobData; worker: Worker; typed: URLSearchParams }) {
  return (
    <>
      <Head title={titleOf(data)} note={cut(`${worker.queue}/${worker.class}`, 60)}>
        <LinkButton to="/jobs/new">Choose another class</LinkButton>
      </Head>
      <Wait data={data} worker={worker} />
      <NotCopied data={data} worker={worker} />
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

export const newJob = page({
  path: '/jobs/new',
  nav: 'jobs',
  navOf: (data) => (isFlow(data) ? 'flows' : 'jobs'),
  every: 0,
  load,
  title: titleOf,
  View({ data, query }) {
    const worker = named(data.workers, data.queue, data.class)
    if (!worker) return <Choose data={data} query={query} />
    const { from, inputs = {} } = data
    return <Fill data={data} worker={worker} typed={from ? typedLike(from, inputs, worker) : typedIn(query, worker)} />
  },
  acts: { make },
})
