import { CALLBACKS } from '../../../core/callback.ts'
import type { Point } from '../../../core/series.ts'
import type { RunUnderWay, Stats } from '../../../engine/engine.ts'
import { useLook } from '../../look.ts'
import { type Asked, page } from '../../page.ts'
import { Head } from '../../parts/layout.tsx'
import { RangeChoice } from '../../parts/range.tsx'
import { type DeployMark, deploysOf } from '../../words/deploy.ts'
import { IN_A_ROW, type Known, leftFailed, type Need, needsOf } from '../../words/needs.ts'
import { type Queue, withPulled } from '../../words/queue.ts'
import { columnsOf, deploysIn, type Range, rangeIn } from '../../words/series.ts'
import { about, clock, longDay } from '../../words/text.ts'
import { deploymentsOf, Kinds, type KindsData, kindsOf } from '../jobs/kinds.tsx'
import { kindsName } from '../jobs/seen-kinds.ts'
import { demo } from './acts.ts'
import { ALERTS, type Alerts, alertActs, depthNeeds } from './alerts.tsx'
import { Ends } from './chart.tsx'
import { FirstMinute, type FirstMinuteData, firstMinuteOf } from './first-minute.tsx'
import { Needs } from './needs-list.tsx'
import { type Ends as EndsByQueue, Queues, RunningLongest, Where } from './tables.tsx'
import { Tiles } from './tiles.tsx'

type OverviewData = {
  first?: FirstMinuteData
  needs: Need[]
  alerts: Alerts
  isWhole: boolean
  range: Range
  points: Point[]
  ends: EndsByQueue
  queues: Queue[]
  longest: RunUnderWay[]
  kinds: KindsData
  deploys: DeployMark[]
  stats: Pick<Stats, 'waits'>
}

/** Lifetimes of slowly changing answers, in milliseconds. */
const [LATER, SELDOM] = [10_000, 60_000]
const LONGEST = 6

const NO_KINDS: KindsData = { kinds: [], muted: [], quiet: [], more: false, isKnown: true }
const HOUR = 3_600_000

const [GIVEN_UP, FAILING, KINDS] = ['given up', 'failing schedules', kindsName()]
const [CLASSES, MINUTES] = ['classes by hour', 'minutes']
/** Maximum deferred answers that one refresh requests. */
const AT_ONCE = 1

/**
 * The first refresh requests none of these answers, and each later refresh requests one, so no refresh costs more than
 * twelve commands.
 */
function laterOf({ cache }: Asked, isFirst: boolean, wanted: Record<string, boolean>) {
  const stale = Object.keys(wanted).filter((name) => wanted[name] && !cache.isFresh(name))
  const waiting = isFirst ? stale : stale.slice(AT_ONCE)
  const waits = (name: string): boolean => waiting.includes(name)
  async function take<T, None>(name: string, fresh: number, ask: () => Promise<T>, none: None): Promise<T | None> {
    if (!wanted[name]) return none
    return waits(name) ? ((await cache.last<T>(name)) ?? none) : cache.get(name, fresh, ask)
  }
  return { take, waits, asks: !isFirst && stale.length > 0 }
}

async function load(asked: Asked): Promise<OverviewData> {
  const { engine, query, look, cache } = asked
  const range = rangeIn(query, look.now)
  // Later refreshes read only queues and health, and other answers only if the glance shows a need.
  const glance = await asked.cache.glance(range.step)
  const failed = (isOfCallbacks: boolean) =>
    glance.stats.queues.some(({ name, counts }) => counts.failed > 0 && (name === CALLBACKS.queue) === isOfCallbacks)
  const hasFailed = failed(true) || failed(false)
  const later = laterOf(asked, glance.isNew, {
    [KINDS]: hasFailed,
    [CLASSES]: hasFailed || glance.series.points.some(({ lost }) => lost > 0),
    [GIVEN_UP]: failed(true),
    [FAILING]: glance.hasSchedules,
    [ALERTS]: true,
    [MINUTES]: range.step === 'hour' || range.to !== undefined,
  })
  const [stats, health] =
    glance.isNew || later.asks
      ? [glance.stats, glance.health]
      : await Promise.all([asked.engine.stats.totals(), engine.health()])
  const { limits, processes, others, series } = glance
  const { queues } = stats
  const [alerts, minutes, classes] = await Promise.all([
    later.take(ALERTS, LATER, () => engine.alerts.states(), new Map()),
    later.take(
      MINUTES,
      LATER,
      () => engine.stats.series({ step: 'minute', details: true, from: look.now - HOUR }),
      series,
    ),
    later.take(CLASSES, SELDOM, () => engine.stats.classes({ hours: true }), undefined),
  ])
  const [{ callbacks, cursor: moreCallbacks }, { schedules }, kinds, deployments, { breakers }] = await Promise.all([
    later.take(GIVEN_UP, LATER, () => engine.callbacks.list({ state: 'FAILED', limit: 50 }), {
      callbacks: [],
      cursor: null,
    }),
    later.take(FAILING, SELDOM, () => engine.schedules.list({ failing: true, inARow: IN_A_ROW, limit: 10 }), {
      schedules: [],
    }),
    hasFailed ? kindsOf(asked, {}, later.waits(KINDS)) : NO_KINDS,
    deploymentsOf(asked),
    cache.get('breakers', LATER, () => engine.breakers.list()),
  ])
  const deploys = deploysOf(deployments)
  const known: Known = {
    now: look.now,
    queues,
    limits,
    points: minutes.points,
    pointsByQueue: minutes.queues,
    classes: classes?.classes,
    deploys,
    givenUp: callbacks,
    moreGivenUp: moreCallbacks !== null,
    schedules,
    bells: stats.bells,
    restored: health.restored,
    examined: health.examined,
    tickAt: health.tickAt,
    breakers,
    kinds: kinds.kinds,
    muted: kinds.muted,
    isUntold: glance.hasMutes && !kinds.isKnown,
  }
  const needs = needsOf(known)
  const runs = [...processes.flatMap(({ runs }) => runs), ...others]
  const wasUsed = Object.values(stats.total).some(({ made = 0 }) => made > 0)
  return {
    ...(wasUsed && query.get('first') === null ? {} : { first: await firstMinuteOf(asked, health, queues) }),
    needs: [...needs, ...depthNeeds(alerts, asked.deps), ...leftFailed(known, needs)],
    alerts,
    isWhole: ![GIVEN_UP, FAILING, KINDS, CLASSES, MINUTES].some(later.waits) && !known.isUntold,
    range,
    points: columnsOf(series.points, range, look.now),
    ends: { of: series.queues ?? {}, range },
    queues: withPulled(queues, glance),
    longest: runs.sort((a, b) => a.startedAt - b.startedAt).slice(0, LONGEST),
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
        <RangeChoice at="/" range={data.range} />
      </Head>
      <Needs {...data} waits={data.isWhole ? quietness(data.queues, now) : undefined} />
      <Tiles data={data} />
      <div class="cols c21 stretch">
        <Ends points={data.points} range={data.range} deploys={data.deploys} />
        <Where queues={data.queues} />
      </div>
      <div class="cols c21">
        <Queues {...data} />
        <RunningLongest runs={data.longest} />
      </div>
      <Kinds data={data.kinds} />
    </>
  )
}

export const overview = page<OverviewData>({
  path: '/',
  nav: 'overview',
  every: 2_000,
  load,
  title: ({ first }) => (first ? 'Get started' : 'Overview'),
  View: ({ data }) => (data.first ? <FirstMinute data={data.first} /> : <Whole data={data} />),
  acts: { ...demo, ...alertActs },
})
