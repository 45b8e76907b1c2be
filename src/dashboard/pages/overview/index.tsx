import { HOUR } from '../../../core/units.ts'
import { useLook } from '../../look.ts'
import { type Asked, page } from '../../page.ts'
import { Head } from '../../parts/layout.tsx'
import { RangeChoice } from '../../parts/range.tsx'
import { leftFailed } from '../../words/class-failures.ts'
import { knownFrom } from '../../words/need.ts'
import { IN_A_ROW, inOrder, needsOf, stuckRuns } from '../../words/needs.ts'
import { failedIn, type Queue, runsIn, withPulled } from '../../words/queue.ts'
import { columnsOf, deploysIn, rangeIn } from '../../words/series.ts'
import { isLong } from '../../words/stuck.ts'
import { about, clock, longDay } from '../../words/text.ts'
import { byClass } from '../jobs/by-class.tsx'
import { Kinds, type KindsData, kindsOf, readDeploys } from '../jobs/kinds.tsx'
import { Ends } from './chart.tsx'
import { demo, FirstMinute, firstMinuteOf } from './first-minute.tsx'
import { ALERTS, alertActs, depthNeeds, Needs } from './needs-list.tsx'
import { Queues, RunningLongest, Where } from './tables.tsx'
import { Tiles } from './tiles.tsx'

/** Lifetimes of slowly changing answers, in milliseconds. */
const [LATER, SELDOM] = [10_000, 60_000]
const LONGEST = 6

const NO_KINDS: KindsData = { kinds: [], muted: [], quiet: [], more: false }

type OverviewData = Awaited<ReturnType<typeof load>>

async function load(asked: Asked) {
  const { engine, query, look, cache } = asked
  const range = rangeIn(query, look.now)
  const glance = await cache.glance(range.step)
  const { limits, series } = glance
  const failed = failedIn(glance.stats)
  const hasLost = series.points.some(({ lost }) => lost > 0)
  const runs = runsIn(glance)
  const isByMinute = range.step === 'minute' && range.to === undefined
  // Skips reads that would return nothing. A new `glance` already contains the totals and the health.
  const [now, alerts, minutes, classes, callbacks, schedules, kinds, deploys, { breakers }] = await Promise.all([
    glance.isNew
      ? glance
      : Promise.all([engine.stats.totals(), engine.health()]).then(([stats, health]) => ({ stats, health })),
    cache.get(ALERTS, LATER, () => engine.alerts.states()),
    isByMinute
      ? series
      : cache.get('minutes', LATER, () =>
          engine.stats.series({ step: 'minute', details: true, from: look.now - HOUR }),
        ),
    failed.any || hasLost || runs.some((run) => isLong(run, look.now))
      ? byClass(asked, { hours: true }, SELDOM)
      : undefined,
    failed.callbacks
      ? cache.get('given up', LATER, () => engine.callbacks.list({ state: 'FAILED', limit: 50 }))
      : undefined,
    glance.hasSchedules
      ? cache.get('failing schedules', SELDOM, () =>
          engine.schedules.list({ failing: true, inARow: IN_A_ROW, limit: 10 }),
        )
      : undefined,
    failed.any ? kindsOf(asked) : NO_KINDS,
    readDeploys(asked),
    cache.get('breakers', LATER, () => engine.breakers.list()),
  ])
  const { stats, health } = now
  const known = knownFrom({
    ...{ stats, health, limits, classes, deploys, callbacks, schedules, breakers },
    now: look.now,
    series: minutes,
    kinds: kinds.kinds,
  })
  const needs = needsOf(known)
  const wasUsed = Object.values(stats.total).some(({ made = 0 }) => made > 0)
  return {
    ...(wasUsed && query.get('first') === null ? {} : { first: await firstMinuteOf(asked) }),
    needs: inOrder(
      [...needs, ...stuckRuns(runs, known), ...depthNeeds(alerts, asked.deps), ...leftFailed(known, needs)],
      look.now,
    ),
    alerts,
    range,
    points: columnsOf(series.points, range, look.now),
    ends: { of: series.queues ?? {}, range },
    queues: withPulled(stats.queues, glance),
    limits,
    longest: runs.toSorted((a, b) => a.startedAt - b.startedAt).slice(0, LONGEST),
    kinds,
    deploys: deploysIn(deploys, range, look.now),
    stats: { waits: stats.waits },
  }
}

function quietness(queues: readonly Queue[], now: number): string {
  const oldest = Math.min(...queues.flatMap(({ oldestReady }) => (oldestReady === null ? [] : [oldestReady])))
  return Number.isFinite(oldest) ? `No job has waited longer than ${about(now - oldest)}.` : 'No jobs are waiting.'
}

function Whole({ data }: { data: OverviewData }) {
  const { now, zone } = useLook()
  return (
    <>
      <Head title="Overview" note={`${longDay(now, zone)}, ${clock(now, zone).slice(0, 5)}`}>
        <RangeChoice range={data.range} />
      </Head>
      <Needs {...data} waits={quietness(data.queues, now)} />
      <Tiles data={data} />
      <div class="cols c21 stretch">
        <Ends points={data.points} range={data.range} deploys={data.deploys} />
        <Where queues={data.queues} limits={data.limits} />
      </div>
      <div class="cols c21">
        <Queues {...data} />
        <RunningLongest runs={data.longest} />
      </div>
      <Kinds data={data.kinds} />
    </>
  )
}

export const overview = page({
  path: '/',
  nav: 'overview',
  every: 2_000,
  load,
  title: ({ first }) => (first ? 'Get started' : 'Overview'),
  View: ({ data }) => (data.first ? <FirstMinute data={data.first} /> : <Whole data={data} />),
  acts: { ...demo, ...alertActs },
})
