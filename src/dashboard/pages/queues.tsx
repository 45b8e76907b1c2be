// Queues and their lanes: all of them, and one from near.

import { SidejobError } from '../../core/errors.ts'
import type { Point } from '../../core/series.ts'
import type { ProcessView, QueueView } from '../../engine/engine.ts'
import { useLook } from '../look.ts'
import { type Act, page } from '../page.ts'
import { Act as Button, refusal, Sent } from '../parts/act.tsx'
import { Field, Select } from '../parts/field.tsx'
import { Card, Empty, Head, JobId, To } from '../parts/layout.tsx'
import { Ago, Since } from '../parts/moment.tsx'
import { Bars } from '../parts/spark.tsx'
import { given, maybe, numberIn } from '../words/form.ts'
import { count, many } from '../words/number.ts'
import { columnsOf, rangeOf } from '../words/series.ts'
import { cut } from '../words/text.ts'
import { seriesOf } from './overview/series.ts'
import { type Ends, QueueTable } from './overview/tables.tsx'

const way = (name: string): string => `/v1/queues/${encodeURIComponent(name)}`

const nameIn = ({ form, params }: Parameters<Act['does']>[0]): string => params.queue ?? given(form, 'queue')

/** Pausing and resuming take each other back. */
const pausing = (paused: boolean): Act => ({
  scope: 'admin',
  async does(asked) {
    const queue = nameIn(asked)
    await asked.call('PATCH', way(queue), { paused })
    const undo = { act: paused ? 'resume' : 'pause', queue }
    return { say: paused ? `Queue ${queue} is paused: what runs goes on` : `Queue ${queue} goes on`, undo }
  },
})

const change: Act = {
  scope: 'admin',
  confirm({ form, params }) {
    const mode = maybe(form, 'mode')
    if (mode === undefined || mode === maybe(form, 'was')) return undefined
    const text =
      mode === 'pull'
        ? 'Lanes leave: from then on only programs that claim get its jobs.'
        : 'Lanes serve it: programs that claim get nothing more.'
    return { title: `Make queue ${params.queue} a ${mode} queue?`, text: [text], verb: 'Change it' }
  },
  async does({ form, params, call }) {
    const number = (name: string) => {
      const text = maybe(form, name)
      return text === undefined ? undefined : numberIn(text, name)
    }
    const [lanes, batch] = [number('lanes'), number('batch')]
    const mode = maybe(form, 'mode')
    await call('PATCH', way(params.queue!), {
      ...(lanes ? { lanes } : {}),
      ...(batch ? { batch } : {}),
      ...(mode ? { mode } : {}),
    })
    return { say: `Queue ${params.queue} is changed` }
  },
}

const acts = { pause: pausing(true), resume: pausing(false), change }

function PauseButton({ queue: { name, paused }, at }: { queue: QueueView; at: string }) {
  return paused ? (
    <Button act="resume" at={at} scope="admin" fields={{ queue: name }} icon="play">
      Resume
    </Button>
  ) : (
    <Button act="pause" at={at} scope="admin" fields={{ queue: name }} icon="pause">
      Pause
    </Button>
  )
}

export const queues = page<{ queues: QueueView[]; ends: Ends }>({
  path: '/queues',
  nav: 'queues',
  every: 2_000,
  async load(asked) {
    const range = rangeOf('4h')
    const [{ queues }, { queues: of = {} }] = await Promise.all([asked.stats(), seriesOf(asked, range)])
    return { queues, ends: { of, range } }
  },
  title: () => 'Queues',
  View: ({ data: { queues, ends } }) => (
    <>
      <Head
        title="Queues"
        note={`${many(queues.length, 'queue')}, ${count(queues.filter(({ paused }) => paused).length)} paused`}
      />
      <Card>
        {queues.length === 0 ? (
          <Empty>There is no queue yet: the first job makes one.</Empty>
        ) : (
          <QueueTable queues={queues} ends={ends} />
        )}
      </Card>
    </>
  ),
  acts,
})

type QueueData = {
  queue: QueueView
  points: Point[]
  processes: ProcessView[]
  next: { id: number; class: string; priority: number; createdAt: number }[]
}

/** So many jobs are shown that wait. */
/** What moves by the minute is looked at again after so long. */
const LATER = 10_000
const NEXT = 20

function Settings({ queue: { lanes: _, maxLanes, batch, mode } }: { queue: QueueView }) {
  const { base, here, who } = useLook()
  const off = refusal(who.scopes, 'admin')
  return (
    <Card title="Settings">
      <form class="form" method="post" action={`${base}${here}`} data-act="change">
        <Sent act="change" />
        <input type="hidden" name="was" value={mode} />
        <Field
          name="lanes"
          label="Lanes at most"
          type="number"
          value={String(maxLanes)}
          note="so many invocations serve it at once"
        />
        <Field
          name="batch"
          label="Batch"
          type="number"
          value={String(batch)}
          note="so many jobs a lane takes at once"
        />
        <Select name="mode" label="Mode" options={['push', 'pull']} value={mode} />
        <button class="btn" type="submit" disabled={off !== undefined} title={off}>
          Change
        </button>
      </form>
    </Card>
  )
}

function Lanes({ processes, name }: { processes: ProcessView[]; name: string }) {
  const own = processes.filter(({ queues }) => queues.includes(name))
  return (
    <Card title="Who serves it" tag={count(own.length)}>
      {own.length === 0 && <Empty>No lane is open, and no program has asked for its jobs.</Empty>}
      <table class="tbl">
        <caption class="vh">Lanes and programs</caption>
        <tbody>
          {own.map((process) => (
            <tr>
              <td>
                <b class="mono">{cut(process.id, 24)}</b> <span class="tag">{process.kind}</span>
              </td>
              <td class="fill dim">{many(process.runs.length, 'run')} under way</td>
              <td class="num">{process.kind === 'pull' ? <Since at={process.startedAt} /> : 'a lane'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  )
}

function Next({ next }: { next: QueueData['next'] }) {
  return (
    <Card title="Newest that wait" tag={count(next.length)}>
      {next.length === 0 && <Empty>Nobody waits.</Empty>}
      <table class="tbl">
        <caption class="vh">Jobs that wait</caption>
        <tbody>
          {next.map(({ id, class: name, priority, createdAt }) => (
            <tr>
              <td>
                <JobId id={id} />
              </td>
              <td class="fill">{cut(name, 40)}</td>
              <td class="num dim">priority {priority}</td>
              <td class="num">
                <Ago at={createdAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  )
}

export const queue = page<QueueData>({
  path: '/queues/:queue',
  nav: 'queues',
  every: 2_000,
  async load({ engine, params, look, stats, shared }) {
    const name = params.queue!
    const [{ queues }, { points }, { processes }, { jobs }] = await Promise.all([
      stats(),
      shared(`series of ${name}`, LATER, () => engine.series({ queue: name })),
      shared('processes', LATER, () => engine.processes()),
      engine.rows({ queue: name, status: 'queued', limit: NEXT }),
    ])
    const queue = queues.find((one) => one.name === name)
    if (!queue) throw new SidejobError('NOT_FOUND', `There is no queue ${name}`)
    return { queue, points: columnsOf(points, rangeOf('4h'), look.now), processes, next: jobs }
  },
  title: ({ queue }) => `Queue ${queue.name}`,
  crumbs: ({ queue }) => [{ name: queue.name }],
  View: ({ data: { queue, points, processes, next } }) => (
    <>
      <Head
        title={cut(queue.name, 60)}
        note={`${queue.mode}, ${count(queue.lanes)} of ${many(queue.maxLanes, 'lane')} open`}
      >
        <To kind="btn" to={`/jobs?queue=${encodeURIComponent(queue.name)}`}>
          Its jobs
        </To>
        <PauseButton queue={queue} at={`/queues/${encodeURIComponent(queue.name)}`} />
      </Head>
      <Card>
        <QueueTable queues={[queue]} />
      </Card>
      <div class="cols c21 below">
        <div class="stack">
          <Card
            title="Ends, 4 h"
            right={`${count(points.reduce((sum, { completed }) => sum + completed, 0))} completed`}
          >
            <div class="plot wideplot">
              <Bars values={points.map(({ completed }) => completed)} tone="f-done" width={900} height={90} />
            </div>
          </Card>
          <Next next={next} />
        </div>
        <div class="stack">
          <Lanes processes={processes} name={queue.name} />
          <Settings queue={queue} />
        </div>
      </div>
    </>
  ),
  acts,
})
