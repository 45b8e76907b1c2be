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
  /** null means never. A tenant has no ticks. */
  tickAt?: Health['tickAt']
  breakers: readonly OpenBreaker[]
  kinds?: readonly ErrorKind[]
}

export type Button =
  | { to: string; text: string }
  | { act: string; at: string; fields?: Record<string, string>; scope: 'write' | 'admin'; icon?: string; text: string }

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

const looks = {
  restored: [110, 'failed', 'alert'],
  failing: [100, 'failed', 'stop'],
  tick: [90, 'failed', 'alert'],
  bells: [90, 'failed', 'alert'],
  lost: [80, 'failed', 'alert'],
  limit: [60, 'suspended', 'limits'],
  unclaimed: [60, 'suspended', 'queues'],
  slow: [60, 'suspended', 'queues'],
  busy: [60, 'suspended', 'queues'],
  breaker: [50, 'failed', 'stop'],
  callbacks: [40, 'failed', 'callbacks'],
  schedule: [40, 'failed', 'schedules'],
  late: [40, 'failed', 'schedules'],
  doctor: [30, 'failed', 'doctor'],
  paused: [20, 'suspended', 'pause'],
} as const satisfies Record<string, readonly [severity: number, kind: Need['kind'], icon: string]>

export type RuleName = keyof typeof looks

/** Problems of the same severity are ordered by the number of jobs that they harm. */
export const weigh = (severity: number, jobs: number): number => severity + Math.min(9, jobs / 1_000)

type Said = Omit<Need, 'rule' | 'weight' | 'kind' | 'icon'> & { jobs?: number }

export function need(rule: RuleName, { jobs = 0, ...said }: Said): Need {
  const [severity, kind, icon] = looks[rule]
  return { rule, weight: weigh(severity, jobs), kind, icon, ...said }
}

export const MINUTE = 60_000

export const within = ({ points, now }: Known, ms: number): Point[] => points.filter(({ at }) => at > now - ms)
