import type { Point } from '../../core/series.ts'
import type {
  CallbackView,
  ErrorKind,
  Health,
  OpenBreaker,
  QueueView,
  ScheduleRow,
  Stats,
  WaitedLimit,
} from '../../engine/engine.ts'
import type { Deploy } from './deploy.ts'
import type { ClassRow } from './failing.ts'

export type Known = {
  now: number
  queues: readonly QueueView[]
  limits: readonly WaitedLimit[]
  points: readonly Point[]
  pointsByQueue?: Readonly<Record<string, readonly Point[]>>
  classes?: readonly ClassRow[]
  deploys?: readonly Deploy[]
  givenUp: readonly CallbackView[]
  moreGivenUp?: boolean
  schedules: readonly ScheduleRow[]
  bells?: Stats['bells']
  restored?: Health['restored']
  examined?: Health['examined']
  /** null means never. Undefined in a tenant, because the deployment ticks for its tenants. */
  tickAt?: Health['tickAt']
  breakers: readonly OpenBreaker[]
  kinds?: readonly ErrorKind[]
}

export type Button =
  | { to: string; text: string }
  | { act: string; at: string; fields?: Record<string, string>; scope: 'write' | 'admin'; icon?: string; text: string }

type Read = Omit<Known, 'queues' | 'points' | 'pointsByQueue' | 'classes' | 'givenUp' | 'moreGivenUp' | 'schedules'> & {
  stats: Pick<Stats, 'queues' | 'bells'>
  health: Pick<Health, 'restored' | 'examined' | 'tickAt'>
  series: { points: readonly Point[]; queues?: Known['pointsByQueue'] }
  classes?: { classes: readonly ClassRow[] }
  callbacks?: { callbacks: readonly CallbackView[]; cursor: string | null }
  schedules?: { schedules: readonly ScheduleRow[] }
}

export const knownFrom = ({ stats, health, series, classes, callbacks, schedules, ...read }: Read): Known => ({
  ...read,
  ...health,
  queues: stats.queues,
  bells: stats.bells,
  points: series.points,
  pointsByQueue: series.queues,
  classes: classes?.classes,
  givenUp: callbacks?.callbacks ?? [],
  moreGivenUp: Boolean(callbacks?.cursor),
  schedules: schedules?.schedules ?? [],
})

export const resumeQueue = (queue: string): Button => ({
  act: 'resume',
  at: '/queues',
  fields: { queue },
  scope: 'admin',
  icon: 'play',
  text: 'Resume',
})

export type Need = {
  rule: string
  weight: number
  kind: 'failed' | 'suspended'
  icon: string
  name: string
  /** Identifies the problem if its name contains numbers that change. */
  subject?: string
  text: string
  more?: string
  since?: number
  buttons: Button[]
}

export type Rule = (known: Known) => Need[]

/** @example alertOf(need) // 'paused mail' */
export const alertOf = ({ rule, subject, name }: Need): string => `${rule} ${subject ?? name}`.slice(0, 300)

/** Problems are red from this severity, and amber below it. */
const RED = 50

const looks = {
  restored: [110, 'alert'],
  failing: [100, 'stop'],
  tick: [90, 'alert'],
  bells: [90, 'alert'],
  lost: [80, 'alert'],
  failed: [70, 'stop'],
  breaker: [60, 'stop'],
  schedule: [50, 'schedules'],
  late: [50, 'schedules'],
  doctor: [50, 'doctor'],
  stuck: [40, 'workers'],
  limit: [30, 'limits'],
  unclaimed: [30, 'queues'],
  slow: [30, 'queues'],
  busy: [30, 'queues'],
  callbacks: [20, 'callbacks'],
  paused: [10, 'pause'],
  depth: [0, 'queues'],
} as const satisfies Record<string, readonly [severity: number, icon: string]>

type Look = keyof typeof looks
export type RuleName = Exclude<Look, 'failed' | 'stuck' | 'depth'>

type NeedText = Omit<Need, 'rule' | 'weight' | 'kind' | 'icon'> & { jobs?: number }

/** Problems of the same severity are ordered by the number of jobs that they harm. */
export function need(rule: Look, { jobs = 0, ...said }: NeedText): Need {
  const [severity, icon] = looks[rule]
  const weight = severity + Math.min(9, jobs / 1_000)
  return { rule, weight, kind: severity >= RED ? 'failed' : 'suspended', icon, ...said }
}

export const within = ({ points, now }: Known, ms: number): Point[] => points.filter(({ at }) => at > now - ms)
