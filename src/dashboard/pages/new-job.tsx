import { encodedToJson } from '../../core/codec/value.ts'
import { missing } from '../../core/errors.ts'
import { isId } from '../../core/job.ts'
import type { JobView } from '../../engine/engine.ts'
import type { Engine } from '../../engine/index.ts'
import type { Act } from '../page.ts'
import { page } from '../page.ts'
import { LinkButton } from '../parts/act.tsx'
import { Code } from '../parts/job-code.tsx'
import { JobForm, jobBody } from '../parts/job-form.tsx'
import { Card, Head, Link, To } from '../parts/layout.tsx'
import { Search } from '../parts/search.tsx'
import { First } from '../parts/snippet.tsx'
import { given, jsonText, labelWords, maybe } from '../words/form.ts'
import { jobLink, ofClass } from '../words/paths.ts'
import { membersOf, readSchema } from '../words/schema.ts'
import { cut, many } from '../words/text.ts'
import { typedAs } from '../words/value-form.ts'
import { byQueue, foundIn, type Worker } from './workers/classes.tsx'

type Like = Pick<JobView, 'id' | 'queue' | 'class' | 'args' | 'group' | 'priority' | 'labels'>

type NewJobData = { workers: Worker[]; from?: Like; queue: string; class?: string }

const named = (workers: Worker[], of: { queue: string; class?: string }): Worker | undefined =>
  workers.find((one) => one.queue === of.queue && one.class === of.class)

async function bodyIn(form: FormData, engine: Engine): Promise<string> {
  const body = maybe(form, 'body')
  if (body) return jsonText(body, 'body')
  const of = { queue: given(form, 'queue'), class: given(form, 'class') }
  return jobBody(form, named((await engine.workers.list()).workers, of) ?? of)
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

function takenBy({ in: ports = {}, args }: Worker): string {
  const names = [...Object.keys(ports), ...membersOf(readSchema(args && encodedToJson(args)))]
  return names.length === 0 ? '' : `takes ${cut(names.join(', '))}`
}

function List({ of }: { of: Worker[] }) {
  return byQueue(of).map(([queue, own]) => (
    <>
      <h3 class="group">Queue {cut(queue)}</h3>
      <ul class="checks next found choose">
        {own.map((worker) => (
          <li>
            <To to={`/jobs/new?${ofClass(queue, worker.class)}`}>
              <b>{cut(worker.class)}</b> <span class="dim">{cut(worker.description ?? '', 200)}</span>
            </To>
            <span class="right">{takenBy(worker)}</span>
          </li>
        ))}
      </ul>
    </>
  ))
}

function Choose({ data: { workers, queue, class: name }, query }: { data: NewJobData; query: URLSearchParams }) {
  const wanted = name ?? query.get('q')?.slice(0, 100) ?? ''
  const { own, library } = foundIn(workers, wanted.toLowerCase())
  return (
    <>
      <Head title="New job" note="Choose its class: the function or worker that runs it.">
        <Search at="/jobs/new" label="Search classes" value={wanted} />
      </Head>
      {name && <p class="gone">{`No class "${cut(name)}" in queue ${cut(queue)}.`}</p>}
      <Card>
        {wanted && (
          <p class="body">
            {`${many(own.length + library.length, 'class', 'classes')} with “${cut(wanted)}”. `}
            <Link to="/jobs/new">Show all classes</Link>
          </p>
        )}
        {own.length === 0 && !wanted && <First of="workers" />}
        <List of={own} />
        {library.length > 0 && (
          <details class="foot" open={own.length === 0 || wanted !== ''}>
            <summary>{`Standard library: ${many(library.length, 'class', 'classes')}`}</summary>
            <List of={library} />
          </details>
        )}
      </Card>
    </>
  )
}

function Fill({ data, worker, typed }: { data: NewJobData; worker: Worker; typed: URLSearchParams }) {
  return (
    <>
      <Head title={titleOf(data)} note={cut(`${worker.queue}/${worker.class}`, 60)}>
        <LinkButton to="/jobs/new">Choose another class</LinkButton>
      </Head>
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
  async load({ engine, query }) {
    const id = query.get('from')
    const [{ workers }, from] = await Promise.all([engine.workers.list(), id ? likeOf(engine, id) : undefined])
    const { queue, class: name } = from ?? { queue: query.get('queue') || 'default', class: query.get('class') }
    return { workers, from, queue, class: name || undefined }
  },
  title: titleOf,
  crumbs: (data) => [{ name: titleOf(data) }],
  View({ data, query }) {
    const worker = named(data.workers, data)
    if (!worker) return <Choose data={data} query={query} />
    return <Fill data={data} worker={worker} typed={data.from ? typedLike(data.from, worker) : query} />
  },
  acts: { make },
})
