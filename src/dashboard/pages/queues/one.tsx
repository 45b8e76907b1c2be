import type { QueueDetail } from '../../../engine/engine.ts'
import { may } from '../../look.ts'
import { type Asked, page } from '../../page.ts'
import { LinkButton, Pause } from '../../parts/act.tsx'
import { Ago, Card, Head, Name } from '../../parts/layout.tsx'
import { RangeChoice } from '../../parts/range.tsx'
import { jobsPath, queuePath } from '../../words/paths.ts'
import { withPulled } from '../../words/queue.ts'
import { columnsOf, deploysIn, rangeIn } from '../../words/series.ts'
import type { AuditEntry } from '../audit.tsx'
import { byClass } from '../jobs/by-class.tsx'
import { readDeploys } from '../jobs/kinds.tsx'
import { Ends } from '../overview/chart.tsx'
import { QueueTable } from '../overview/tables.tsx'
import { programsIn } from '../workers/classes.tsx'
import { Held, ItsClasses, Next, Serves, UnderWay } from './near.tsx'
import { acts, Settings } from './settings.tsx'

const LATER = 10_000
const NEXT = 20

async function pausedBy(
  { engine, look, cache }: Asked,
  { name, paused }: QueueDetail,
): Promise<AuditEntry | undefined> {
  if (!paused || !may(look, 'admin')) return undefined
  const { entries } = await cache.get('audit', LATER, () => engine.audit.read({ limit: 200 }))
  const path = `/v1${queuePath(name)}`
  return entries.find((entry) => entry.path.split('?')[0] === path && entry.change?.includes('"paused":true'))
}

async function heldBy({ engine, cache }: Asked, { name: queue, counts }: QueueDetail): Promise<string[]> {
  if (counts.limited === 0) return []
  const { jobs } = await cache.get(`held ${queue}`, LATER, () =>
    engine.jobs.rows({ queue, waits: 'limit', limit: NEXT }),
  )
  return [...new Set(jobs.flatMap(({ reason }) => (reason?.code === 'LIMITED' ? String(reason.data.limit) : [])))]
}

const PausedBy = ({ change: { name, at, reason } }: { change: AuditEntry }) => (
  <p class="body">
    Paused by <Name of={name} most={40} /> <Ago at={at} />
    {reason && <Name of={`: ${reason}`} />}
  </p>
)

async function load(asked: Asked) {
  const { engine, params, query, look, cache } = asked
  const name = params.queue!
  const range = rangeIn(query, look.now)
  const [found, { points }, deploys, atWork, { classes }] = await Promise.all([
    engine.queues.get(name, { limit: NEXT }),
    cache.get(`series of ${name} ${range.step}`, LATER, () => engine.stats.series({ queue: name, step: range.step })),
    readDeploys(asked),
    cache.glance(range.step),
    byClass(asked, { queue: name }, LATER),
  ])
  const queue = withPulled([found], atWork)[0]!
  const [change, held] = await Promise.all([pausedBy(asked, found), heldBy(asked, found)])
  return {
    queue,
    held,
    range,
    points: columnsOf(points, range, look.now),
    deploys: deploysIn(deploys, range, look.now),
    programs: programsIn(atWork.processes, name),
    classes,
    change,
  }
}

export const queue = page({
  path: '/queues/:queue',
  nav: 'queues',
  every: 2_000,
  load,
  title: ({ queue }) => `Queue ${queue.name}`,
  crumbs: ({ queue }) => [{ name: queue.name }],
  View: ({ data: { queue, held, range, points, deploys, programs, classes, change } }) => (
    <>
      <Head title={<Name of={queue.name} most={60} />}>
        <RangeChoice range={range} />
        <LinkButton to={jobsPath({ queue: queue.name })}>Jobs</LinkButton>
        <Pause paused={queue.paused} scope="admin" fields={{ queue: queue.name }} />
      </Head>
      <Card>
        <QueueTable queues={[queue]} />
        {change && <PausedBy change={change} />}
        <Held queue={queue} held={held} />
      </Card>
      <div class="cols c21 below">
        <div class="stack">
          <Ends points={points} range={range} deploys={deploys} queue={queue.name} />
          <Next queue={queue} />
          <UnderWay queue={queue} />
          <ItsClasses classes={classes} />
        </div>
        <div class="stack">
          <Serves queue={queue} programs={programs} />
          <Settings queue={queue} />
        </div>
      </div>
    </>
  ),
  acts,
})
