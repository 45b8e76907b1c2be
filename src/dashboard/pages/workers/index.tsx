import type { WaitedLimit } from '../../../engine/engine.ts'
import { queryWith } from '../../look.ts'
import { type Act, type Asked, page } from '../../page.ts'
import { Act as Button, LinkButton } from '../../parts/act.tsx'
import { Choice, Head, Name, NameLink, To } from '../../parts/layout.tsx'
import { Search } from '../../parts/search.tsx'
import { searchRows } from '../../search-on.ts'
import { limitOfClass, slotsText } from '../../words/limit.ts'
import { limitPath, queuePath, workerPath } from '../../words/paths.ts'
import { pausedNames, runsIn } from '../../words/queue.ts'
import { count, jobsWait, many, title } from '../../words/text.ts'
import { Kinds, kindsOf, readDeploys } from '../jobs/kinds.tsx'
import { make } from '../new-job.tsx'
import { Change, change, found, Register, register } from './change.tsx'
import {
  Classes,
  ClassTable,
  countedIn,
  kindOf,
  named,
  nameOf,
  programsIn,
  states,
  statesOf,
  type Worker,
} from './classes.tsx'
import { draftOfChange, draftOfNew } from './draft.tsx'
import { About, NEWEST, Newest, Ports, Today, TryIt } from './one.tsx'

type WorkersData = Awaited<ReturnType<typeof loadAll>>

async function loadAll(asked: Asked) {
  const [{ workers }, counted, draft, { processes, others, stats }] = await Promise.all([
    asked.engine.workers.list(),
    countedIn(asked),
    draftOfNew(asked),
    asked.cache.glance('minute'),
  ])
  return {
    workers,
    counted,
    running: new Set(runsIn({ processes, others }).map((run) => nameOf(run.queue, run.class))),
    programs: programsIn(processes),
    unnamed: others.filter(({ by }) => by === 'pull'),
    pulls: new Map(stats.queues.map(({ name, counts }) => [name, counts.pull])),
    paused: pausedNames(stats),
    draft,
  }
}

function List({ data, query }: { data: WorkersData; query: URLSearchParams }) {
  const { workers, draft: _, ...known } = data
  const wanted = query.get('q')?.slice(0, 100) ?? ''
  const queues = new Set(workers.map(({ queue }) => queue)).size
  return (
    <>
      <Head title="Workers" note={`${many(workers.length, 'class', 'classes')} in ${many(queues, 'queue')}`}>
        <Choice
          label="State"
          options={[
            { text: 'All', to: '/workers', on: wanted === '' },
            ...states.map((state) => ({
              text: `${title(state)} ${count(workers.filter((one) => statesOf(one, known).includes(state)).length)}`,
              to: `/workers${queryWith('', { q: state })}`,
              on: state === wanted,
            })),
          ]}
        />
        <Search label="Class, port or kind" value={wanted} />
        <LinkButton to="/workers?register" scope="admin" icon="plus" kind="primary">
          Register class
        </LinkButton>
      </Head>
      <Classes {...known} workers={workers} wanted={wanted} show={(of) => <ClassTable {...known} workers={of} />} />
    </>
  )
}

export const workers = page({
  path: '/workers',
  nav: 'workers',
  every: 10_000,
  load: loadAll,
  crumbs: ({ draft }) => (draft ? [{ name: 'Register a class' }] : []),
  View: ({ data, query }) =>
    query.has('register') ? (
      <Register
        draft={data.draft}
        taken={named(data.workers, query.get('queue')?.trim(), query.get('class')?.trim())}
        query={query}
      />
    ) : (
      <List data={data} query={query} />
    ),
  acts: { register },
})

const unregister: Act = {
  scope: 'admin',
  async confirm(asked) {
    const { queue, class: name } = asked.params
    const { rows, cursor } = await searchRows(asked, {
      queue,
      class: name,
      status: ['queued', 'running', 'suspended'],
      limit: 1_000,
    })
    return {
      title: `Unregister ${name}?`,
      text: [
        `${cursor ? 'More than ' : ''}${many(rows.length, 'open job')} of this class cannot run until it is registered again.`,
      ],
      verb: 'Unregister',
      type: name!,
    }
  },
  async does({ call, params }) {
    await call('DELETE', `/v1${workerPath(params.queue!, params.class!)}`)
    return { say: `${params.class} unregistered`, to: '/workers' }
  },
}

function ClassHead({ worker, isChanging }: { worker: Worker; isChanging: boolean }) {
  const { queue, class: name } = worker
  return (
    <Head
      title={<Name of={name} most={60} />}
      note={
        <>
          {kindOf(worker)} class of queue <NameLink kind="link said" to={queuePath(queue)} of={queue} />
        </>
      }
    >
      {kindOf(worker) !== 'function' && !isChanging && (
        <LinkButton to={`${workerPath(queue, name)}?change`} scope="admin" icon="pencil">
          Change
        </LinkButton>
      )}
      <Button act="unregister" scope="admin" kind="danger">
        Unregister
      </Button>
    </Head>
  )
}

function Held({ limit }: { limit: WaitedLimit }) {
  return (
    <p class="lead">
      <To kind="st suspended" to={limitPath(limit.key)}>
        {`${slotsText(limit)} running, ${jobsWait(limit.waiting)} for the limit of this class`}
      </To>
    </p>
  )
}

async function loadOne(asked: Asked) {
  const { queue, class: name } = asked.params
  const [worker, last, counted, { processes, stats, limits }, kinds, deploys] = await Promise.all([
    found(asked),
    searchRows(asked, { queue: queue!, class: name!, limit: NEWEST }),
    countedIn(asked),
    asked.cache.glance('minute'),
    kindsOf(asked, { queue, class: name }),
    readDeploys(asked),
  ])
  return {
    worker,
    limit: limits.find(({ key, waiting }) => key === limitOfClass(queue!, name!) && waiting > 0),
    of: counted.get(nameOf(queue!, name!)),
    programs: programsIn(processes, queue),
    paused: pausedNames(stats),
    last,
    kinds,
    deploys,
    draft: await draftOfChange(asked, worker),
  }
}

export const worker = page({
  path: '/workers/:queue/:class',
  nav: 'workers',
  every: 2_000,
  load: loadOne,
  title: ({ worker }) => `${worker.queue}/${worker.class}`,
  View: ({ data: { worker, draft, ...data }, query }) => (
    <>
      <ClassHead worker={worker} isChanging={draft !== undefined} />
      {worker.description && <p class="lead dim">{worker.description.slice(0, 1_000)}</p>}
      {data.limit && <Held limit={data.limit} />}
      <div class="cols c21">
        <div class="stack">
          {draft ? (
            <Change {...{ worker, draft, query }} />
          ) : (
            <>
              <Today worker={worker} {...data} />
              <Kinds data={data.kinds} />
              <Newest worker={worker} {...data} />
              <Ports worker={worker} />
            </>
          )}
        </div>
        <div class="stack">
          {!draft && <TryIt worker={worker} />}
          <About worker={worker} programs={data.programs} />
        </div>
      </div>
    </>
  ),
  acts: { make, unregister, change },
})
