import { type ReasonCode, reasons } from '../../core/reasons.ts'
import type { JobView, LimitView, Reason, Why, WhyLink } from '../../engine/engine.ts'
import { messageOf, shareOf } from './job.ts'
import { type Button, type Known, resumeQueue } from './need.ts'
import { classJobsPath, jobPath, limitPath, pullersPath } from './paths.ts'
import { timesLonger, usualOf } from './stuck.ts'
import { about, clock, count, listed, many, percent, span, timeOn, title } from './text.ts'

const onJob =
  (act: string, text: string, scope: 'write' | 'admin' = 'write') =>
  (job: number): Button => ({
    act,
    at: jobPath(job),
    scope,
    text,
  })

const first = onJob('first', 'Start first')
const run = onJob('run', 'Run now')
const retry = onJob('retry', 'Retry')
const requeue = onJob('requeue', 'Run again', 'admin')
const holdersOf = (key: string): Button => ({ to: limitPath(key), text: 'Show holders' })

export type Cell = {
  job: number
  class: string
  status: JobView['status']
  text: string
  limit?: string
  sub?: string
  means?: string
  isStuck?: boolean
  remedies: Button[]
}

type When = { now: number; zone: string; tenant?: string }

const stop = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`)

const numberOf = ({ data }: Reason, name: string): number => Number(data[name] ?? 0)
const nameOf = ({ data, key = '' }: Reason, name: string): string => String(data[name] ?? key)

const momentOf = ({ until = 0 }: Reason, { now, zone }: When): string =>
  `${timeOn(until, now, zone)}, in ${span(until - now)}`

const till = (reason: Reason, when: When): string => (reason.until === undefined ? '' : `at ${momentOf(reason, when)}`)

const portsIn = (reason: Reason): string[] => (reason.data.ports as string[] | undefined) ?? [nameOf(reason, 'port')]

const orAt = (reason: Reason, when: When): string =>
  reason.until === undefined ? '' : ` Otherwise, it continues ${till(reason, when)}.`

const ahead = (reason: Reason): string => {
  const n = numberOf(reason, 'ahead')
  return n === 0 ? 'It is next.' : `${many(n, 'job is', 'jobs are')} ahead of it.`
}

const goFirst = (reason: Reason, job: number): Button[] => (numberOf(reason, 'ahead') === 0 ? [] : [first(job)])

type CellText = Pick<Cell, 'text' | 'sub' | 'limit'> & { remedies?: Button[] }
type Say = (reason: Reason, link: WhyLink, when: When) => CellText

function limited(reason: Reason, link: WhyLink, when: When): CellText {
  const key = nameOf(reason, 'limit')
  const { limit } = link
  const most = reason.data.concurrency
  const held = limit?.holders[0]
  const how =
    numberOf(reason, 'paused') > 0
      ? 'is paused'
      : most === undefined
        ? 'is full'
        : `is full: ${count(limit?.running ?? Number(most))} of ${count(Number(most))}`
  const last = limit?.holders.find(({ leaseUntil }) => leaseUntil === reason.until)
  const cause = last ? `, when the lease of #${last.job} ends` : ''
  const next = reason.until === undefined ? '' : ` The limit has room by ${momentOf(reason, when)}${cause}.`
  const who = held
    ? ` #${held.job} has ${held.startedAt === null ? 'a slot' : `held a slot for ${span(when.now - held.startedAt)}`}.`
    : ''
  return {
    text: `Limit ${key} ${how}.`,
    limit: key,
    sub: `${ahead(reason)}${next}${who}`,
    remedies: [...goFirst(reason, link.job), holdersOf(key)],
  }
}

function children(reason: Reason, link: WhyLink): CellText {
  const names = (reason.data.names as string[] | undefined) ?? []
  const n = Math.max(numberOf(reason, 'waiting'), 1)
  const more = n > 3 ? [`${count(n - 3)} more`] : []
  const moment =
    names.length > 0
      ? `when ${listed([...names.slice(0, 3), ...more])} ${n === 1 ? 'has' : 'have'} ended`
      : 'when they have ended'
  return {
    text: `It waits for ${many(n, 'child', 'children')}.`,
    sub: `It continues ${moment}, or when a run is requested.`,
    remedies: [run(link.job)],
  }
}

const timed = {
  BACKOFF: 'It tries again',
  DUE: 'It is scheduled to run',
  REPEAT: 'It repeats: the next run is',
  PAUSED_UNTIL: 'Its function sleeps and continues',
  LOCKED: 'It is locked: the lock ends',
} as const satisfies Partial<Record<ReasonCode, string>>

const isTimed = (code: string): code is keyof typeof timed => Object.hasOwn(timed, code)

const at = (code: keyof typeof timed, reason: Reason, when: When): string => `${timed[code]} ${till(reason, when)}.`

function triedText(failures: number, losses: number): string {
  const runs = [failures > 0 && many(failures, 'failed run'), losses > 0 && many(losses, 'lost run')]
  return `After ${listed(runs.filter((text) => text !== false))}${failures + losses > 1 ? ' in a row' : ''}.`
}

const runAt =
  (code: keyof typeof timed): Say =>
  (reason, { job }, when) => ({ text: at(code, reason, when), remedies: [run(job)] })

const damaged: Say = ({ message }) => ({ text: stop(title(message)), sub: 'Open Doctor to repair it.' })

const other: Say = ({ message }) => ({ text: stop(title(message)) })

const says: Record<ReasonCode, Say> = {
  LIMITED: limited,
  CHILDREN: children,
  PARENT: ({ job }) => ({
    text: 'It waits for its parent.',
    sub: 'It can start when the run that created it has ended.',
    remedies: job === undefined ? [] : [{ to: jobPath(job), text: 'Open job' }],
  }),
  VERSION: (reason, { job }, when) => ({
    text: `It is pinned to version ${nameOf(reason, 'version')}, which does not respond.`,
    sub: `${reason.message.split(': deploy it again')[0]}. It tries again ${till(reason, when)}. ${when.tenant === undefined ? 'Deploy that version again, or rehearse the new code and move the job with sidejob move' : 'Ask the operator of the deployment to deploy that version again'}.`,
    remedies: [run(job)],
  }),
  PAUSED: (reason) => ({
    text: `Queue ${nameOf(reason, 'queue')} is paused.`,
    sub: 'Its jobs do not run until it is resumed.',
    remedies: [resumeQueue(nameOf(reason, 'queue'))],
  }),
  QUEUED: (reason, { job }) => ({
    text: `It is ready in queue ${nameOf(reason, 'queue')}.`,
    sub: `${ahead(reason)}${reason.data.lanes === undefined ? '' : ` ${numberOf(reason, 'lanes')} of ${many(numberOf(reason, 'maxLanes'), 'lane')} are open.`}`,
    remedies: goFirst(reason, job),
  }),
  PULL: (reason, { job, queue }) => ({
    text: 'It waits for a pull worker to claim it.',
    sub: `${ahead(reason)}${reason.data.tag === undefined ? '' : ` Only claims with the tag ${reason.data.tag} receive it.`}`,
    remedies: [...goFirst(reason, job), { to: pullersPath(queue), text: 'See pull workers' }],
  }),
  DUE: runAt('DUE'),
  REPEAT: runAt('REPEAT'),
  PAUSED_UNTIL: (reason, { job }, when) => ({
    text: `It sleeps until ${timeOn(reason.until!, when.now, when.zone)}, for another ${span(reason.until! - when.now)}.`,
    sub: `It has slept for ${span(when.now - reason.since)}, and wakes by itself. “Run now” calls its function earlier, but job.sleep still waits until the time above.`,
    remedies: [run(job)],
  }),
  LOCKED: (reason, _, when) => ({
    text: at('LOCKED', reason, when),
    sub: 'A client holds the lock, and may release it earlier.',
  }),
  BACKOFF: (reason, { job }, when) => ({
    text: at('BACKOFF', reason, when),
    sub: numberOf(reason, 'released')
      ? stop(title(reason.message.split('; waits until')[0]!))
      : triedText(numberOf(reason, 'failures'), numberOf(reason, 'losses')),
    remedies: [run(job)],
  }),
  INPUT: (reason, { job }, when) => ({
    text: `It waits for a value on port ${portsIn(reason).join(' or ')}.`,
    sub: `Write a value to continue.${orAt(reason, when)}`,
    remedies: portsIn(reason).map((port) => ({
      to: `${jobPath(job)}?port=${encodeURIComponent(port)}#ports`,
      text: `Write to ${port}`,
    })),
  }),
  MESSAGE: (reason, _, when) => ({
    text: `It waits for a message on channel ${nameOf(reason, 'channel')}.`,
    sub: `A message there wakes it.${orAt(reason, when)}`,
  }),
  COMPLETED: () => ({ text: 'It is completed.' }),
  TERMINATED: () => ({ text: 'It was terminated.', sub: 'Only a forced run wakes it.' }),
  CANCELLED: () => ({ text: 'It was cancelled.', sub: 'Only a forced run wakes it.' }),
  FAILED: (reason, { job }) => ({
    text: 'It has failed.',
    sub: `${title(reason.message.split(';')[0]!)}. It stays failed until you retry it.`,
    remedies: [retry(job)],
  }),
  CODE_CHANGED: (reason, { job }, { tenant }) => ({
    text: `Its stored record has ${nameOf(reason, 'kept')}, but its function ${reason.data.asked === undefined ? 'ended without asking for it' : `asks for ${reason.data.asked}`}.`,
    sub: `${tenant === undefined ? 'Restore the code, or put the change behind job.patched' : 'Ask the operator of the deployment to restore the code'}. Then retry the job.`,
    remedies: [retry(job)],
  }),
  INPUT_KEPT: (reason) => ({
    text: `${many(numberOf(reason, 'values'), 'value is', 'values are')} waiting on port ${nameOf(reason, 'port')}.`,
  }),
  OVERDUE: (reason) => ({
    text: `It was due ${span(numberOf(reason, 'ms'))} ago, but its queue has not been checked since.`,
    sub: 'The tick checks its queue within a minute.',
  }),
  MISPLACED: damaged,
  UNREADABLE: damaged,
  ENCRYPTED: other,
  ASKED_FOR_NOTHING(reason, { job }) {
    const values = numberOf(reason, 'values')
    return {
      text:
        values > 0
          ? `${many(values, 'value waits', 'values wait')} on port ${nameOf(reason, 'port')}, but nothing woke it.`
          : 'It is suspended.',
      sub: values > 0 ? '“Run now” lets it read them.' : 'A requested run, a child or new input wakes it.',
      remedies: [run(job)],
    }
  },
}

function reasonCell(reason: Reason, link: WhyLink, when: When): Cell {
  const { job, class: name, status } = link
  const code = Object.hasOwn(says, reason.code) ? (reason.code as ReasonCode) : undefined
  const { remedies = [], ...said } = (code ? says[code] : other)(reason, link, when)
  return { job, class: name, status, ...said, ...(code ? { means: reasons[code].means } : {}), remedies }
}

const NONE: WhyLink = { job: 0, class: '', queue: '', status: 'queued', running: false, run: null, reasons: [] }

const pills: Partial<Record<ReasonCode, string>> = {
  PAUSED_UNTIL: 'Sleeps until',
  DUE: 'Scheduled for',
  REPEAT: 'Repeats at',
  BACKOFF: 'Retries at',
  INPUT: 'Waits for input',
}

export function pillOf(reason: Reason | undefined, { now, zone }: When): string | undefined {
  const text = pills[reason?.code as ReasonCode]
  return text && isTimed(reason!.code) && reason!.until ? `${text} ${timeOn(reason!.until, now, zone)}` : text
}

/** Returns the time separately, because a script counts down to it. */
export function lineOf(reason: Reason): { text: string; until?: number } {
  if (isTimed(reason.code)) return { text: timed[reason.code], until: reason.until }
  return { text: reasonCell(reason, NONE, { now: 0, zone: 'UTC' }).text.replace(/\.$/, '') }
}

type Classes = NonNullable<Known['classes']>

/** Without a process name, the runner may be a lane or a pull worker: both have ids of the same format. */
export const runnerOf = ({ process, lane }: NonNullable<JobView['run']>): string => process ?? `unnamed runner ${lane}`

function stuckText(link: WhyLink, classes: Classes, now: number): string | undefined {
  const usual = usualOf(link, classes) ?? Infinity
  if (timesLonger(link.run!, usual, now) === undefined) return undefined
  return `95% of the runs that ended today took at most ${about(usual)}`
}

function runningCell(link: WhyLink, progress: JobView['progress'], { now, zone }: When, classes: Classes): Cell {
  const { job, class: name, status, run } = link
  const cell = { job, class: name, status, remedies: [] }
  if (!run) return { ...cell, text: 'It is running.' }
  const share = shareOf(progress)
  const stuck = stuckText(link, classes, now)
  const far = `${share === undefined ? '' : `, at ${percent(share)}`}${stuck ? `; ${stuck}` : ''}`
  const remedies = [
    requeue(job),
    { to: `${jobPath(job)}#tabs`, text: 'Log' },
    { to: classJobsPath(link, 'running'), text: 'Running jobs of its class' },
  ]
  return {
    ...cell,
    ...(stuck && { isStuck: true, remedies }),
    text: `It has been running for ${span(now - run.startedAt)}${far}.`,
    sub: `Run by ${runnerOf(run)}. The lease ends at ${clock(run.leaseUntil, zone)}.`,
  }
}

const completedText = ({ createdAt, ranAt, endedAt, cost }: JobView): string =>
  cost?.total === 1
    ? `Completed in ${span(endedAt! - ranAt!)}, after waiting ${span(ranAt! - createdAt)}.`
    : `Completed in ${span(endedAt! - createdAt)}.`

const completedCell = (cell: Cell, job: JobView): Cell => ({
  ...cell,
  text: completedText(job),
  sub: `It runs again ${Object.keys(job.in).length > 0 ? 'after new input, or ' : ''}if you press “Run now”.`,
})

const CELLS = 3

function cellsOfLink(link: WhyLink, known: readonly JobView[], when: When, classes: Classes): Cell[] {
  const job = known.find(({ id }) => id === link.job)
  if (link.running) return [runningCell(link, job?.progress ?? null, when, classes)]
  const [, ...others] = link.reasons.filter(({ code, data }) => code === 'INPUT' && data.ports)
  const kept = link.reasons.filter(({ code }) => code === 'INPUT_KEPT')
  const unread = kept.slice(0, CELLS).map((reason) => reasonCell(reason, link, when).text)
  const reasons = link.reasons.filter((reason) => ![...others, ...kept].includes(reason))
  return reasons.map((reason) => {
    const cell = reasonCell(reason, link, when)
    if (reason.code === 'COMPLETED' && job) return completedCell(cell, job)
    if (reason.code === 'BACKOFF' && job?.error)
      return { ...cell, sub: `${cell.sub} The last error: ${stop(messageOf(job.error))}` }
    if (reason.code !== 'FAILED') return cell
    const text = job?.error ? stop(title(messageOf(job.error))) : cell.text
    return { ...cell, text, sub: [cell.sub, ...unread].join(' ') }
  })
}

type Limits = readonly Pick<LimitView, 'key' | 'running' | 'concurrency' | 'waiting'>[]

function atLimit({ id, class: name, status, waitingAt }: JobView, limits: Limits): Cell {
  const limit = waitingAt!
  const { concurrency = null, running = 0, waiting = 0 } = limits.find(({ key }) => key === limit) ?? {}
  return {
    job: id,
    class: name,
    status,
    text: `Limit ${limit} is full${concurrency === null ? '' : `: ${count(running)} of ${count(concurrency)}`}.`,
    sub: waiting > 0 ? `${many(waiting, 'job is', 'jobs are')} waiting for it.` : undefined,
    limit,
    remedies: [first(id), holdersOf(limit)],
  }
}

export function cellsOf(
  why: Why,
  known: readonly JobView[],
  when: When,
  limits: Limits = [],
  classes: Classes = [],
): Cell[] {
  const cellsFor = (link: WhyLink) => cellsOfLink(link, known, when, classes)
  const chain = why.chain ?? []
  const own = cellsFor(why)
  if (chain.length === 0) return own.slice(0, CELLS)
  const behind = chain.flatMap((link) => cellsFor(link).slice(0, 1))
  const followed = new Set(chain.map(({ job }) => job))
  const beside = known
    .filter(({ id, waitingAt }) => waitingAt !== null && id !== why.job && !followed.has(id))
    .map((job) => atLimit(job, limits))
  return [...own.slice(0, 1), ...beside.slice(0, Math.max(0, CELLS - 1 - behind.length)), ...behind].slice(0, CELLS)
}
