import * as z from 'zod'
import { type AlertState, type Notice, newAlert, nextStep, type Problem } from '../core/alert.ts'
import { type Duration, milliseconds } from '../core/time.ts'
import type { Worker } from '../core/worker.ts'
import { sum } from '../dashboard/words/counts.ts'
import { deploysOf } from '../dashboard/words/deploy.ts'
import { alertOf, knownFrom, type Need, type RuleName } from '../dashboard/words/need.ts'
import { IN_A_ROW, needsOf } from '../dashboard/words/needs.ts'
import { failedIn, waitingIn } from '../dashboard/words/queue.ts'
import { count, many } from '../dashboard/words/text.ts'
import type { QueueView, Stats } from '../engine/engine.ts'
import type { Engine } from '../engine/index.ts'
import type { Alerting } from '../http/alerting.ts'
import { defineWorker } from '../index.ts'
import type { AlertMessage, AlertTarget } from './targets.ts'

export { type AlertMessage, type AlertTarget, pagerDuty, slack, webhook } from './targets.ts'

export type AlertOptions = {
  to: readonly AlertTarget[]
  /** `false` disables a rule. `after` delays the message of a rule. By default, all rules are on. */
  rules?: { readonly [Name in RuleName]?: boolean | { after: Duration } }
  /** Maximum number of ready jobs in each queue, or by queue. */
  depth?: number | Readonly<Record<string, number>>
  /** Maximum of `runs` or a counter such as `tokens`, per UTC day in all queues. */
  budget?: Readonly<Record<string, number>>
  /** Interval between reminders until the alert is acknowledged (default: none). */
  every?: Duration
}

/** A problem of this queue starts no alert, because no message about it could be sent. */
const QUEUE = 'alerts'

/** Retries for about five hours, because older messages are useless. */
const RETRY = { max: 12, backoff: { base: 10_000 } }

const plain = ({ name, text, more }: Need): string =>
  `${text.replace('{}', name)}${more ? ` ${more}` : ''}`.slice(0, 1_000)

const problemOf = (need: Need, { now, ui }: Seen): Problem => {
  const button = need.buttons.find((one) => 'to' in one)
  return {
    key: alertOf(need),
    rule: need.rule,
    text: plain(need),
    since: need.since ?? now,
    link: `${ui}${button && 'to' in button ? button.to : '/'}`,
    isSevere: need.kind === 'failed',
  }
}

const messageArgs = z.object({
  to: z.string(),
  message: z.custom<AlertMessage>((value) => typeof value === 'object' && value !== null),
})

function senderOf(targets: readonly AlertTarget[]): Worker {
  return defineWorker({
    queue: QUEUE,
    class: 'alert',
    args: messageArgs,
    retry: RETRY,
    timeout: 30_000,
    async perform(job) {
      const { to, message } = job.args
      const target = targets.find(({ name }) => name === to)
      if (!target) return job.log(`the option "alerts" has no target ${to}`)
      const { url, headers, body } = await target.call(
        message,
        job.env as unknown as Record<string, string | undefined>,
      )
      const response = await fetch(url, { method: 'POST', headers, body, signal: job.signal })
      await response.body?.cancel()
      if (!response.ok) throw new Error(`${new URL(url).host} answered ${response.status}`)
    },
  })
}

type Seen = { now: number; ui: string }

function deepOf(queues: readonly QueueView[], depth: AlertOptions['depth'], { now, ui }: Seen): Problem[] {
  return queues.flatMap((queue) => {
    const { name, oldestReady } = queue
    const most = typeof depth === 'object' ? depth[name] : depth
    const ready = waitingIn(queue)
    if (most === undefined || ready <= most) return []
    const text = `Queue ${name} has ${many(ready, 'ready job')}, expected at most ${count(most)}.`
    const link = `${ui}/queues/${encodeURIComponent(name)}`
    return [{ key: `depth ${name}`, rule: 'depth', text, since: oldestReady ?? now, link, isSevere: false }]
  })
}

function spentOf(today: Stats['today'], budget: AlertOptions['budget'] = {}, { now, ui }: Seen): Problem[] {
  return Object.entries(budget).flatMap(([name, most]) => {
    const spent = sum(Object.values(today), (counts) => counts[name] ?? 0)
    if (spent <= most) return []
    const text = `Today’s count of ${name} is ${count(spent)}, expected at most ${count(most)}.`
    return [{ key: `budget ${name}`, rule: 'budget', text, since: now, link: `${ui}/jobs?by=class`, isSevere: false }]
  })
}

const MAX_LISTED = 50

async function knownOf(engine: Engine, now: number) {
  const { stats, series, limits, health, hasSchedules } = await engine.stats.glance({ step: 'minute' })
  const failed = failedIn(stats)
  const [callbacks, schedules, kinds, classes, deployments, { breakers }] = await Promise.all([
    failed.callbacks ? engine.callbacks.list({ state: 'FAILED', limit: MAX_LISTED }) : undefined,
    hasSchedules ? engine.schedules.list({ failing: true, inARow: IN_A_ROW, limit: MAX_LISTED }) : undefined,
    failed.any ? engine.errors.list({ details: true }) : undefined,
    failed.any ? engine.stats.classes({ hours: true }) : undefined,
    failed.any ? engine.deployments.list() : undefined,
    engine.breakers.list(),
  ])
  const known = knownFrom({
    ...{ now, series, limits, health, callbacks, schedules, classes, breakers },
    stats: { ...stats, queues: stats.queues.filter(({ name }) => name !== QUEUE) },
    deploys: deploysOf(deployments?.deployments ?? []),
    kinds: kinds?.errors.filter(({ queues }) => queues.some((name) => name !== QUEUE)),
  })
  return { ...known, today: stats.today }
}

/**
 * Sends a message when a problem of the page Overview starts, and another when the problem ends.
 *
 * @example createWorker({ functions, alerts: alerts({ to: [slack('SLACK_WEBHOOK')] }) })
 */
export function alerts({ to, rules = {}, depth, budget, every }: AlertOptions): Alerting {
  const isOn = ({ rule }: Need): boolean => rules[rule as RuleName] !== false
  const after = (rule: string): number => {
    const chosen = rules[rule as RuleName]
    return typeof chosen === 'object' ? milliseconds(chosen.after) : 0
  }
  const times = { after, ...(every === undefined ? {} : { every: milliseconds(every) }) }

  async function send(engine: Engine, { key, what, alert, once }: Notice, at: number) {
    const { text, rule, since, link, isSevere } = alert
    const message: AlertMessage = { key, what, text, rule, since, link, isSevere, at }
    await engine.jobs.enqueue(
      to.map(({ name }) => ({
        queue: QUEUE,
        class: 'alert',
        args: JSON.stringify({ to: name, message }),
        unique: { key: `${name} ${once}`, for: 86_400_000 },
      })) as never,
    )
  }

  return {
    worker: senderOf(to),
    async check({ engine, publicUrl, now }) {
      const seen = { now, ui: `${publicUrl}/ui` }
      const [known, states] = await Promise.all([knownOf(engine, now), engine.alerts.states()])
      const problems = new Map(
        [
          ...needsOf(known).flatMap((need) => (isOn(need) ? [problemOf(need, seen)] : [])),
          ...deepOf(known.queues, depth, seen),
          ...spentOf(known.today, budget, seen),
        ].map((problem) => [problem.key, problem]),
      )
      for (const key of new Set([...problems.keys(), ...states.keys()])) {
        const problem = problems.get(key)
        const known: AlertState = states.get(key) ?? {}
        const isNew = problem !== undefined && known.alert === undefined
        const before = isNew ? await engine.alerts.open(key, { ...known, alert: newAlert(problem, now) }) : known
        const { state, notice } = nextStep(key, before, problem, times, now)
        const isSame = JSON.stringify(state) === JSON.stringify(before)
        // A closed alert stays stored until its message is sent.
        if (!isSame && (state.alert || !notice)) await engine.alerts.save(key, state)
        if (!notice) continue
        await send(engine, notice, now)
        await engine.alerts.save(key, state.alert ? { ...state, alert: { ...state.alert, toldAt: now } } : state)
      }
    },
  }
}
