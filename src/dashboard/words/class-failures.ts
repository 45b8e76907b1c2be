import { CALLBACKS } from '../../core/callback.ts'
import { MINUTE } from '../../core/units.ts'
import type { ErrorKind } from '../../engine/engine.ts'
import { sum } from './counts.ts'
import { type Deploy, deployName, deployPath } from './deploy.ts'
import { FAILURES, type FailingClass, failingClasses, recentOf, wasFailing } from './failing.ts'
import { type Button, type Known, type Need, need, type Rule, within } from './need.ts'
import { jobsPath } from './paths.ts'
import { about, count, many, percent } from './text.ts'

const stillFailed = ({ kinds, queues, now }: Known, failed: number): number =>
  Math.min(failed, kinds ? sum(kinds, (kind) => recentOf(kind, now)) : sum(queues, ({ counts }) => counts.failed))

function shareText({ completed }: FailingClass): string {
  if (completed === 0) return ', and none completed'
  if (!Number.isFinite(completed)) return ''
  return `; at most ${count(completed)} completed`
}

const failedPath = (name: string, error?: string): string => jobsPath({ status: 'failed', class: name, error })

export const retryAll = (name: string, error?: string) => ({
  act: 'selected',
  at: failedPath(name, error),
  fields: { do: 'retry', fit: 'all' },
  scope: 'admin' as const,
  icon: 'retry',
})

const SOON = 60 * MINUTE

function errorsOf(name: string, kinds: readonly ErrorKind[], [last, previous]: readonly Deploy[] = []) {
  const [{ error, example, message }, ...others] = kinds as [ErrorKind, ...ErrorKind[]]
  const firstAt = Math.min(...kinds.map((kind) => kind.firstAt))
  const only = others.length === 0 ? error : undefined
  const more = only ? '' : ` and ${many(others.length, 'other error')}`
  const isNew = last && previous && firstAt > last.at && firstAt < last.at + SOON
  const since = isNew ? `, new since the ${deployName(last)}${last.author ? ` by ${last.author}` : ''}` : ''
  const buttons: Button[] = [
    { to: failedPath(name, only), text: 'See failed jobs' },
    // A retry on the same version would fail again.
    isNew ? { to: `${deployPath(last)}#back`, text: 'Roll back' } : { ...retryAll(name, only), text: 'Retry all' },
  ]
  return { more: `“${example || message}”${more}${since}`, buttons }
}

function failingOf(failing: FailingClass, deploys?: readonly Deploy[]): Need {
  const { class: name, failed, firstAt } = failing
  const kinds = failing.kinds.map(({ kind }) => kind)
  return need('failing', {
    name,
    text: `${many(failed, 'job')} of {} failed in the last 15 minutes${shareText(failing)}.`,
    ...errorsOf(name, kinds, deploys),
    since: firstAt,
    jobs: failed,
  })
}

export const failing: Rule = (known) => {
  const { kinds = [], classes, pointsByQueue: points = {}, now } = known
  const byClass = failingClasses({ kinds, classes, points, now })
  if (byClass.length > 0) return byClass.map((one) => failingOf(one, known.deploys))
  const recent = within(known, FAILURES.span)
  const failed = stillFailed(
    known,
    sum(recent, ({ failed }) => failed),
  )
  const all = sum(recent, ({ failed }) => failed) + sum(recent, ({ completed }) => completed)
  if (failed < FAILURES.least || failed / all <= FAILURES.share) return []
  const first = recent.find((point) => point.failed > 0)
  return [
    need('failing', {
      name: `${count(failed)} of ${count(all)} jobs`,
      subject: 'jobs',
      text: '{} failed in the last 15 minutes.',
      more: `${percent(failed / all)} of the jobs that ended`,
      since: first?.at,
      buttons: [{ to: '/jobs?status=failed', text: 'See failed jobs' }],
    }),
  ]
}

/** Classes that were failing before, and still have failed jobs with unmuted errors. */
export function leftFailed({ kinds = [], classes, deploys, now }: Known, needs: readonly Need[]): Need[] {
  // Another rule covers callbacks.
  const classesShown = [CALLBACKS.class, ...needs.flatMap(({ rule, name }) => (rule === 'failing' ? name : []))]
  return [...Map.groupBy(kinds, (kind) => kind.class)]
    .filter(([name, own]) => !classesShown.includes(name) && wasFailing(name, own, { kinds, classes, points: {}, now }))
    .map(([name, own]): Need => {
      const ago = about(now - Math.max(...own.map(({ lastAt }) => lastAt)))
      const jobs = sum(own, ({ count }) => count)
      return need('failed', {
        name,
        text: `${many(jobs, 'job')} of {} ${jobs === 1 ? 'has' : 'have'} failed, the last ${ago} ago.`,
        ...errorsOf(name, own, deploys),
        since: Math.min(...own.map(({ firstAt }) => firstAt)),
        jobs,
      })
    })
}

function lostByClass({ classes = [], now }: Known): string {
  const from = Math.floor(now / (60 * MINUTE) - 1) * 60 * MINUTE
  const lost = new Map<string, number>()
  for (const { class: name, hours = [] } of classes)
    for (const hour of hours)
      if (name !== null && hour.at >= from && hour.lost > 0) lost.set(name, (lost.get(name) ?? 0) + hour.lost)
  const most = [...lost].sort(([, a], [, b]) => b - a).slice(0, 3)
  return most.length > 0 ? `Classes: ${most.map(([name]) => name).join(', ')}. ` : ''
}

export const lostRuns: Rule = (known) => {
  const recent = within(known, 60 * MINUTE)
  const lost = sum(recent, ({ lost }) => lost)
  if (lost === 0) return []
  return [
    need('lost', {
      name: many(lost, 'run'),
      subject: 'runs',
      text: '{} lost in the last hour.',
      more: `${lostByClass(known)}Their leases ended without a commit, because a lane or worker stopped or could not commit. They are retried, unless their job has failed`,
      since: recent.find((point) => point.lost > 0)?.at,
      buttons: [{ to: '/log', text: 'Open the log' }],
      jobs: lost,
    }),
  ]
}
