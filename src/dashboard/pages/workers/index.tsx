import type { JobRow, RunUnderWay } from '../../../engine/engine.ts'
import { asset as style } from '../../built/workers-css.generated.ts'
import { type Act, page } from '../../page.ts'
import { Act as Button, LinkButton } from '../../parts/act.tsx'
import { Head, Name, To } from '../../parts/layout.tsx'
import { type Step, searchRows } from '../../search-on.ts'
import { queuePath, workerPath } from '../../words/paths.ts'
import { many } from '../../words/text.ts'
import { make } from '../new-job.tsx'
import { Change, change, found } from './change.tsx'
import { Classes, type Counted, countedIn, kindOf, nameOf, Top, type Worker } from './classes.tsx'
import { Live, type Program, programsIn } from './live.tsx'
import { About, Ports, TryIt } from './one.tsx'
import { Register, register } from './register.tsx'
import { Runs } from './runs.tsx'
import { type Unfit, unfitOfChange, unfitOfNew } from './unfit.tsx'

type ListData = { workers: Worker[]; counted: Counted; programs: Program[]; wanted: string; unfit?: Unfit }
type WorkersData = ListData & { registers: boolean; unnamed: RunUnderWay[] }
type WorkerData = ListData & { worker: Worker; last: Step<JobRow>; changes: boolean }

const wantedIn = (query: URLSearchParams): string => (query.get('q') ?? '').toLowerCase().slice(0, 100)

const named = (workers: readonly Worker[], query: URLSearchParams): Worker | undefined =>
  workers.find(({ queue, class: name }) => queue === query.get('queue')?.trim() && name === query.get('class')?.trim())

export const workers = page<WorkersData>({
  path: '/workers',
  nav: 'workers',
  every: 10_000,
  async load(asked) {
    const { engine, query } = asked
    const [{ workers }, counted, unfit, { processes, others }] = await Promise.all([
      engine.workers.list(),
      countedIn(asked),
      unfitOfNew(asked),
      asked.cache.glance('minute'),
    ])
    return {
      workers,
      counted,
      programs: programsIn(processes),
      unnamed: others.filter(({ by }) => by === 'pull'),
      wanted: wantedIn(query),
      registers: query.has('register'),
      unfit,
    }
  },
  title: () => 'Workers',
  View: ({ data, query }) => (
    <>
      <Top {...data} />
      {data.registers && <Register unfit={data.unfit} taken={named(data.workers, query)} />}
      <div class="cols c21">
        <Classes workers={data.workers} counted={data.counted} wanted={data.wanted} />
        <Live programs={data.programs} unnamed={data.unnamed} />
      </div>
    </>
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

function ClassHead({ worker, worker: { queue, class: name } }: { worker: Worker }) {
  return (
    <Head
      title={<Name of={name} most={60} />}
      note={
        <>
          {kindOf(worker)} class of queue{' '}
          <To kind="link said" to={queuePath(queue)}>
            {queue}
          </To>
        </>
      }
    >
      <LinkButton to={`${workerPath(queue, name)}?change`} scope="admin" icon="pencil">
        Change
      </LinkButton>
      <Button act="unregister" scope="admin" kind="danger">
        Unregister
      </Button>
    </Head>
  )
}

export const worker = page<WorkerData>({
  path: '/workers/:queue/:class',
  nav: 'workers',
  every: 2_000,
  async load(asked) {
    const { params, query } = asked
    const [{ worker, workers }, last, counted, { processes }] = await Promise.all([
      found(asked),
      searchRows(asked, { queue: params.queue!, class: params.class!, limit: 5 }),
      countedIn(asked),
      asked.cache.glance('minute'),
    ])
    const unfit = await unfitOfChange(asked, worker)
    return {
      workers,
      worker,
      counted,
      programs: programsIn(processes, worker.queue),
      last,
      wanted: wantedIn(query),
      changes: query.has('change'),
      unfit,
    }
  },
  title: ({ worker }) => `${worker.queue}/${worker.class}`,
  crumbs: ({ worker }) => [{ name: `${worker.queue}/${worker.class}` }],
  View: ({ data }) => (
    <>
      <ClassHead worker={data.worker} />
      <div class={data.changes ? 'cols c21' : 'wcols'}>
        {data.changes ? (
          <Change worker={data.worker} unfit={data.unfit} />
        ) : (
          <Classes workers={data.workers} counted={data.counted} wanted={data.wanted} chosen={data.worker} />
        )}
        <div class="stack">
          <About worker={data.worker} programs={data.programs} />
          <Ports worker={data.worker} />
          <Runs worker={data.worker} of={data.counted.get(nameOf(data.worker.queue, data.worker.class))} />
        </div>
        {!data.changes && <TryIt worker={data.worker} last={data.last} />}
      </div>
    </>
  ),
  acts: { make, change, unregister },
  styles: [style.name],
})
