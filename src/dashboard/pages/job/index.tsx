import type { Encoded } from '../../../core/codec/value.ts'
import { hasCode, missing, SidejobError } from '../../../core/errors.ts'
import { ended, isId } from '../../../core/job.ts'
import type { Item, JobView, Why as WhyView } from '../../../engine/engine.ts'
import type { Engine } from '../../../engine/index.ts'
import { useLook } from '../../look.ts'
import { type Asked, Elsewhere, page } from '../../page.ts'
import { Act } from '../../parts/act.tsx'
import { Card } from '../../parts/layout.tsx'
import { Listen, LOG } from '../../parts/listen.tsx'
import { shareOf } from '../../words/job.ts'
import { isLong } from '../../words/stuck.ts'
import { dateIn } from '../../words/text.ts'
import { cellsOf } from '../../words/why.ts'
import { classesToday } from '../jobs/filter.tsx'
import { acts } from './acts.ts'
import { Failure, failureOf } from './failure.tsx'
import { Head } from './head.tsx'
import { type PortRow, Ports } from './ports.tsx'
import { Rail } from './rail.tsx'
import { FIRST_TAB, isTab, stepsOf, Tabs, tabOf } from './tabs.tsx'
import { Timeline } from './timeline.tsx'
import { Values } from './values.tsx'
import { Why } from './why.tsx'

const CHILDREN = 50
const STEPS = 20
const PORTS = 40
const LOOKED = 8
const [VALUES, OPENED] = [5, 50]
const DEEP = 3
/** Milliseconds. */
const FRESH = 10_000

type Chosen = { dir: 'in' | 'out'; name: string; isOpen: boolean }

function portsOf(job: JobView, opened: string | null): Chosen[] {
  const all = (['in', 'out'] as const).flatMap((dir) =>
    Object.keys(job[dir]).map((name) => ({ dir, name, isOpen: opened === `${dir}:${name}` || opened === name })),
  )
  return all.filter(({ isOpen }, i) => isOpen || i < PORTS)
}

async function looked(engine: Engine, job: JobView, chosen: Chosen[]): Promise<PortRow[]> {
  const described = engine.jobs.withSchemas(job)
  const waiting = chosen
    .filter(({ dir, name }) => job[dir][name]!.size > 0)
    .sort((a, b) => Number(b.isOpen) - Number(a.isOpen))
    .slice(0, LOOKED)
  const found = await Promise.all(
    waiting.map(async ({ dir, name, isOpen }) => {
      const most = isOpen ? OPENED : VALUES
      const { values } = await engine.ports.get(String(job.id), dir, name, most).catch(() => ({ values: [] as Item[] }))
      return [`${dir} ${name}`, values] as const
    }),
  )
  const values = new Map(found)
  const views = await described
  return chosen.map(({ dir, name, isOpen }) => ({
    dir,
    name,
    isOpen,
    view: views[dir][name]!,
    values: values.get(`${dir} ${name}`),
  }))
}

const leadsOn = ({ code, job, data }: WhyView['reasons'][number]): boolean =>
  code === 'LIMITED' || job !== undefined || data.jobs !== undefined

const leadsTo = (why: WhyView): string =>
  JSON.stringify([
    why.job,
    ...why.reasons.filter(leadsOn).map(({ code, key, job, data }) => [code, key, job, data.jobs]),
  ])

async function whyOf({ engine, cache }: Asked, job: string): Promise<WhyView> {
  const name = `why ${job}`
  const deep = () => cache.get(name, FRESH, () => engine.jobs.why(job, { deep: DEEP }))
  if (!cache.isFresh(name)) return deep()
  const [why, known] = await Promise.all([engine.jobs.why(job), deep()])
  if (leadsTo(why) !== leadsTo(known))
    return cache.get(`${name} ${leadsTo(why)}`, FRESH, () => engine.jobs.why(job, { deep: DEEP }))
  return { ...why, chain: known.chain, ...(known.limit && { limit: known.limit }) }
}

async function explainMissing({ engine, params, look }: Asked, error: unknown): Promise<never> {
  const id = params.job!
  if (!hasCode(error, 'NOT_FOUND') || !isId(id)) throw error
  const { history } = engine
  async function findStored() {
    if (history.isOn && (await history.get(id).catch(missing))) throw new Elsewhere(`/jobs/${id}/history`)
  }
  await findStored()
  if (!(await engine.jobs.existed(id))) throw error
  // The ended job may not be in the history yet, so write it, then search again.
  await history.drain()
  await findStored()
  const kept = history.isOn
    ? 'the history does not have it'
    : `this deployment has no history${look.tenant === undefined ? ' (a D1 database, bound as HISTORY)' : ''}`
  throw new SidejobError('NOT_FOUND', `Job ${id} was removed after it ended, and ${kept}`)
}

type JobData = Awaited<ReturnType<typeof load>>

async function load(asked: Asked) {
  const { engine, params, query } = asked
  const ref = params.job!
  const given = query.get('tab') ?? (query.has('run') ? 'runs' : '')
  const found = engine.jobs.withRuns(ref)
  const at = dateIn(query.get('at'))
  const isAtMoment = at !== undefined || query.has('tail')
  const opened = isTab(given) ? given : isAtMoment ? 'log' : undefined
  const asksWhy = whyOf(asked, ref)
  const [{ job, runs }, steps, ports, why, today, children, shown, { limits }, failure, result] = await Promise.all([
    found,
    stepsOf(engine, ref),
    found.then(({ job }) => looked(engine, job, portsOf(job, query.get('port')))),
    asksWhy,
    asksWhy.then(({ run }) => (run && isLong(run, asked.look.now) ? classesToday(asked) : undefined)),
    engine.jobs.children(ref, CHILDREN),
    tabOf(asked, opened ?? FIRST_TAB, at),
    asked.cache.glance(),
    found.then(({ job }) => failureOf(asked, job)),
    found.then(async ({ job: { status, endedAt } }) => {
      if (status !== 'completed') return undefined
      const found = await asked.cache.get(`result ${ref} ${endedAt}`, FRESH, () => engine.jobs.result(ref, {}))
      return found.ended && found.result?.type === 'success' ? found.result.result : null
    }),
  ]).catch((error) => explainMissing(asked, error))
  const names = new Map(Object.entries(job.children).map(([name, { id }]) => [id, name]))
  const family = children.map(({ runs, ...child }) => ({
    name: names.get(child.id) ?? child.name ?? child.class,
    job: child,
    runs,
    share: shareOf(child.progress),
  }))
  return {
    job,
    why,
    limits,
    classes: today?.classes,
    family,
    runs,
    steps,
    ports,
    morePorts: Object.keys(job.in).length + Object.keys(job.out).length - ports.length,
    tab: shown,
    at,
    failure,
    result,
  }
}

function JobEvents({ job, tail }: { job: JobView; tail: boolean }) {
  if (ended.has(job.status) && !tail) return null
  return (
    <Listen
      to={[`/sidejob/job/${job.id}`, `/sidejob/children/${job.id}`, ...(tail ? [LOG] : [])]}
      of={tail ? [job.id] : undefined}
    />
  )
}

const ArgsCard = ({ job, result }: { job: JobView; result?: Encoded | null }) => (
  <Card kind="values">
    <Values
      args={job.args}
      result={result}
      none={job.keepResult === 0 ? 'No result is kept: keepResult is false.' : undefined}
      href={`/v1/jobs/${job.id}/result`}
    >
      {result && (
        <div class="foot">
          <Act act="takeResult" scope="write" kind="danger" small>
            Take result
          </Act>
        </div>
      )}
    </Values>
  </Card>
)

function View({ data, query }: { data: JobData; query: URLSearchParams }) {
  const { job, tab } = data
  const [reason] = data.why.reasons
  const cells = cellsOf(data.why, [job, ...data.family.map(({ job }) => job)], useLook(), data.limits, data.classes)
  // The card of the error already shows the message.
  const isExplained = data.failure && data.runs[0]?.outcome === 'failed' && cells.length === 1
  const tail = tab.name === 'log' && query.has('tail') && data.at === undefined
  return (
    <>
      <JobEvents job={job} tail={tail} />
      <Head job={job} runs={data.runs} reason={reason} isStuck={cells[0]?.job === job.id && cells[0].isStuck} />
      {!isExplained && <Why job={job} cells={cells} family={data.family} />}
      <div class="jobcols">
        <div class="stack">
          {data.failure && (
            <Failure job={job} runs={data.runs} data={data.failure} means={isExplained && cells[0]?.sub} />
          )}
          {!data.failure && (data.result ?? job.args) !== null && <ArgsCard job={job} result={data.result} />}
          <Timeline
            {...{ job, runs: data.runs, family: data.family }}
            steps={data.steps.steps.slice(0, STEPS)}
            reason={reason}
          />
          {data.ports.length > 0 && <Ports job={job} rows={data.ports} more={data.morePorts} />}
          <Tabs job={job} runs={data.runs} steps={data.steps} tab={tab} tail={tail} at={data.at} />
        </div>
        <Rail job={job} known={data.family} />
      </div>
    </>
  )
}

export const job = page({
  path: '/jobs/:job',
  nav: 'jobs',
  every: 2_000,
  load,
  title: ({ job }) => `${job.class} #${job.id}`,
  View,
  acts,
})
