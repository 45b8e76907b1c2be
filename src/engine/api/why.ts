import { codeChangeIn } from '../../core/code-change.ts'
import { decodeValue, type Encoded } from '../../core/codec/value.ts'
import { counted } from '../../core/counted.ts'
import { ended } from '../../core/job.ts'
import { ownProperty } from '../../core/own.ts'
import { readList, readObject } from '../../core/readable.ts'
import { NO_VERSION } from '../../core/reasons.ts'
import { iso } from '../../core/time.ts'
import { PLACE } from '../../redis/marks.ts'
import {
  type Child,
  channelsOf,
  childrenOf,
  createdAtOf,
  defaultOf,
  type JobRecord,
  momentOf,
  pastRunOf,
  portsOf,
  statusOf,
  waitingOf,
} from '../../redis/record.ts'
import type { Inspection, KeptLimit } from '../../redis/types.ts'
import type { Reason } from '../engine.ts'
import type { Waited } from '../run/code-change.ts'
import { missingKeyOf, shownError } from '../run/shown.ts'
import { isForMessages, RESERVED } from '../run/steps.ts'

type Facts = Pick<Inspection, 'document' | 'children' | 'ahead' | 'limitFree' | 'limit' | 'now'> &
  Partial<Pick<Inspection, 'queue'>>

type Wait = { on: string; until?: number }
type Waiting = Facts & { waits: Wait[] }

type Explanation = Omit<Reason, 'since'>

/** A reason lists at most this many ports, because a job may have 1,000 ports with one reason each. */
const SHOWN_PORTS = 3

const wasReleased = (doc: JobRecord): boolean => doc.lastRun?.split(',')[2] === 'released'

function missingVersionOf(doc: JobRecord): { message: string; version: string } | undefined {
  const error = readObject<{ code?: string; message: string; version: string }>(doc.lastError)
  return wasReleased(doc) && error?.code === NO_VERSION && error.version === doc.pinnedTo ? error : undefined
}

function backoffText(doc: JobRecord): string {
  if (!wasReleased(doc))
    return `${counted(doc.failures ?? 0, 'failure')} and ${counted(doc.lostInARow ?? 0, 'loss', 'losses')} in a row; waits until`
  const error = shownError(doc)
  const cause = error && readObject<{ message?: string }>(error)?.message
  const why = cause ?? `the deployment that claimed the job does not serve class ${doc.class}`
  return `its last run was released without using an attempt: ${why}; waits until`
}

function awaitedReason({ on, until }: Wait, isChannel = on.startsWith('/')): Explanation {
  const what = isChannel ? `a message on channel ${on}` : `input on port ${on}`
  const till = until === undefined ? '' : `, until ${iso(until)}`
  return {
    code: isChannel ? 'MESSAGE' : 'INPUT',
    message: `its function waits for ${what}${till}`,
    key: on,
    data: { [isChannel ? 'channel' : 'port']: on },
    until,
  }
}

const awaitedReasons = ({ waits }: Waiting): Explanation[] => waits.map((wait) => awaitedReason(wait))

const changeReason = ({ message, kept, asked }: NonNullable<ReturnType<typeof codeChangeIn>>): Explanation => ({
  code: 'CODE_CHANGED',
  message,
  data: { kept, ...(asked === null ? {} : { asked }) },
})

function calledReasons({ document: doc, children }: Facts): Explanation[] {
  const called = readList(doc.awaitedChildren)
  const all = childrenOf(children)
  return called.map((name) => {
    const child = ownProperty(all, name)
    const which = child ? shownChild([name, child]) : name
    return {
      code: 'CHILDREN',
      message: `its function waits for child ${which} to end`,
      key: name,
      data: { waiting: 1, jobs: child ? [child.id] : [], names: [name] },
      job: child?.id,
    }
  })
}

const untilReason = (code: string, until: number, now: number, message: string, data = {}): Explanation => ({
  code,
  message: `${message} ${iso(until)}`,
  until,
  data: { ms: until - now, ...data },
})

const lockReasons = ({ document: { lockUntil }, now }: Facts): Explanation[] =>
  lockUntil !== undefined && lockUntil > now ? [untilReason('LOCKED', lockUntil, now, 'locked by a client until')] : []

function timeReasons(waiting: Waiting): Explanation[] {
  const { document: doc, now } = waiting
  const reasons: Explanation[] = lockReasons(waiting)
  const wait = (code: string, until: number | undefined, message: string, data = {}) => {
    if (until !== undefined && until > now) reasons.push(untilReason(code, until, now, message, data))
  }
  const missing = missingVersionOf(doc)
  if (missing) wait('VERSION', doc.backoffUntil, `${missing.message}. Tries again at`, { version: missing.version })
  else
    wait('BACKOFF', doc.backoffUntil, backoffText(doc), {
      failures: doc.failures ?? 0,
      losses: doc.lostInARow ?? 0,
      released: wasReleased(doc) ? 1 : 0,
    })
  if (!doc.wantedEarly && !doc.terminating) {
    wait('DUE', doc.notBefore, 'scheduled to run at')
    wait('REPEAT', doc.nextSlot, 'repeats; the next slot is')
    const awaited = [...calledReasons(waiting), ...awaitedReasons(waiting)]
    if (doc.sleepUntil && awaited.length > 0) return [...reasons, ...awaited]
    wait('PAUSED_UNTIL', doc.sleepUntil, 'its function sleeps until')
  }
  return reasons
}

function queueReasons({ document: doc, ahead, queue }: Facts): Explanation[] {
  const reasons: Explanation[] = []
  const place = { queue: doc.queue, priority: doc.priority ?? 0, ...(ahead === null ? {} : { ahead }) }
  if (queue?.paused)
    reasons.push({ code: 'PAUSED', message: `queue ${doc.queue} is paused`, data: { queue: doc.queue } })
  if (doc.place === PLACE.pull) {
    const asking = doc.tag === undefined ? '' : ` with tag ${doc.tag}`
    const behind = queue ? `; jobs ahead of it: ${ahead ?? 0}` : ''
    reasons.push({
      code: 'PULL',
      message: `waits for a pull worker to claim it${asking}${behind}`,
      data: { ...place, ...(doc.tag === undefined ? {} : { tag: doc.tag }) },
    })
  } else if (ahead !== null && ahead >= 0 && queue)
    reasons.push({
      code: 'QUEUED',
      message: `is ready in queue ${doc.queue}; jobs ahead of it: ${ahead}; open lanes: ${queue.lanes} of ${queue.maxLanes}`,
      data: { ...place, lanes: queue.lanes, maxLanes: queue.maxLanes },
    })
  else if (!queue) reasons.push({ code: 'QUEUED', message: `is ready in queue ${doc.queue}`, data: place })
  return reasons
}

const fullness = ({ paused, shutUntil, concurrency, rate }: KeptLimit, now: number) => ({
  state: paused ? 'paused' : shutUntil !== null && shutUntil > now ? 'closed' : 'full',
  numbers: {
    ...(concurrency === null ? {} : { concurrency }),
    ...(rate === null ? {} : { rate: rate.limit, periodMs: rate.period }),
    paused: paused ? 1 : 0,
  },
})

function limitReason({ document: doc, ahead, limitFree, limit, now }: Facts): Explanation {
  const after = ahead ? `; jobs ahead of it: ${ahead}` : ''
  const next = limitFree === null ? '' : `; the next job can start at ${iso(limitFree)}`
  const { state, numbers } = limit ? fullness(limit, now) : { state: 'full', numbers: {} }
  return {
    code: 'LIMITED',
    message: `limit ${doc.waitingLimit} is ${state}${after}${next}`,
    key: doc.waitingLimit!,
    data: { limit: doc.waitingLimit!, ...(ahead === null ? {} : { ahead }), ...numbers },
    until: limitFree ?? undefined,
  }
}

const SHOWN_CHILDREN = 20

const shownChild = ([name, { id, status }]: [string, Child]): string => `${name} (job ${id}, ${status})`

const childrenReason = (message: string, waiting: number, left: [string, Child][]): Explanation => ({
  code: 'CHILDREN',
  message,
  data: { waiting, jobs: left.map(([, { id }]) => id), names: left.map(([name]) => name) },
  job: left.length === 1 ? left[0]![1].id : undefined,
})

function awaitedChildren({ children }: Facts, named: 'children' | string[]): [string, Child][] {
  const wanted = named === 'children' ? null : new Set(named)
  return Object.entries(childrenOf(children))
    .filter(([name, { status }]) => (wanted ? wanted.has(name) : true) && !ended.has(status))
    .sort(([, a], [, b]) => a.id - b.id)
    .slice(0, SHOWN_CHILDREN)
}

function followReasons(inspection: Facts): Explanation[] {
  const { followed } = inspection.document
  if (!followed) return []
  const left = awaitedChildren(inspection, 'children')
  const [busy = 0, suspended = 0] = followed.split(',').map(Number)
  // If several jobs are listed, their children are not read, so only the numbers in the record are known.
  const waiting = Math.max(left.length, busy + suspended)
  if (waiting === 0) return []
  const which = left.length > 0 ? `: ${left.map(shownChild).join(', ')}` : ''
  const message = `follows its children; ${counted(waiting, 'child has', 'children have')} not completed${which}`
  return [childrenReason(message, waiting, left)]
}

function restReasons(inspection: Waiting): Explanation[] {
  const { document: doc } = inspection
  const awaited = [...calledReasons(inspection), ...awaitedReasons(inspection)]
  if (awaited.length > 0) return awaited
  const waiting = waitingOf(doc)
  if (waiting === 'parent')
    return [
      {
        code: 'PARENT',
        message: `waits for the run of its parent ${doc.parent} to end`,
        job: Number(doc.parent),
        data: { parent: Number(doc.parent), name: doc.childName ?? '' },
      },
    ]
  if (waiting) {
    const n = doc.waitsForCount!
    const which = waiting === 'children' ? '' : `: ${waiting.join(', ')}`
    const message = `waits for ${counted(n, 'child', 'children')} to end${which}`
    return [childrenReason(message, n, awaitedChildren(inspection, waiting))]
  }
  const followed = followReasons(inspection)
  return followed.length > 0 ? followed : inputReasons(doc)
}

function inputReasons(doc: JobRecord): Explanation[] {
  const empty = portsOf(doc, 'i').filter(
    ({ port, pushed, taken }) => pushed === taken && defaultOf(doc, 'i', port) === undefined,
  )
  if (empty.length) {
    const ports = empty.flatMap(({ port }) => (isForMessages(port) ? [] : port)).slice(0, SHOWN_PORTS)
    return empty.map(({ port, taken }) => {
      const [channel] = isForMessages(port) ? channelsOf(doc, 'i', port) : []
      if (channel !== undefined) return awaitedReason({ on: channel }, true)
      return { code: 'INPUT', message: `waits for input on port ${port}`, key: port, data: { port, taken, ports } }
    })
  }
  const full = portsOf(doc, 'i').find(({ pushed, taken }) => pushed > taken)
  const values = full ? full.pushed - full.taken : 0
  return [
    {
      code: 'ASKED_FOR_NOTHING',
      message: full
        ? `suspended, although ${counted(values, 'value waits', 'values wait')} on port ${full.port}; a run, a child or more input wakes it`
        : 'suspended without a condition; a run, a child or input wakes it',
      data: full ? { port: full.port, values } : {},
    },
  ]
}

function endReasons({ document: doc }: Facts): Explanation[] {
  const status = statusOf(doc)
  if (status === 'completed') return [{ code: 'COMPLETED', message: 'completed; a run or input wakes it', data: {} }]
  if (status === 'terminated')
    return [
      {
        code: doc.cancelled ? 'CANCELLED' : 'TERMINATED',
        message: `${doc.cancelled ? 'cancelled' : 'terminated'}; only a run with force wakes it`,
        data: {},
      },
    ]
  const kept = portsOf(doc, 'i').filter(({ pushed, taken }) => pushed > taken)
  const { lostRuns: lost = 0, failures: attempts = lost > 0 ? 0 : 1 } = doc
  const after = [
    ...(attempts > 0 ? [counted(attempts, 'attempt')] : []),
    ...(lost > 0 ? [counted(lost, 'lost run')] : []),
  ]
  const change = codeChangeIn(shownError(doc))
  return [
    ...(change ? [changeReason(change)] : []),
    {
      code: 'FAILED',
      message: `failed after ${after.join(' and ')}; only a retry or a run with force wakes it`,
      data: { attempts, lost },
    },
    ...kept.map(({ port, pushed, taken }) => ({
      code: 'INPUT_KEPT',
      message: `${counted(pushed - taken, 'value waits', 'values wait')} on port ${port}`,
      key: port,
      data: { port, values: pushed - taken },
    })),
  ]
}

function waitsIn(steps: Record<string, Encoded>): Wait[] {
  const ours = Object.entries(steps).filter(([key]) => key.startsWith(RESERVED))
  const kept = ours.map(([, value]) => decodeValue(value) as Waited | null)
  return kept.flatMap((one) => (one?.on === undefined || one.done ? [] : [{ on: one.on, until: one.until }]))
}

export const isPausedInSteps = ({ document: { place, hasSteps } }: Inspection): boolean =>
  hasSteps === '1' && (place === PLACE.suspended || place === PLACE.timers)

function sinceOf(doc: JobRecord): number {
  if (doc.place === undefined || doc.place === PLACE.pull || doc.place === PLACE.limited) return momentOf(doc.sequence)
  const lastRunEnded = doc.lastRun === undefined ? undefined : pastRunOf(doc.lastRun).endedAt
  const ended = doc.place === PLACE.suspended || doc.place === PLACE.timers ? undefined : doc.endedAt
  return ended ?? lastRunEnded ?? createdAtOf(doc)
}

function misplaced({
  document: { queue, place, notBefore, nextSlot, backoffUntil, sleepUntil },
  now,
}: Facts): Explanation {
  const moments = [notBefore, nextSlot, backoffUntil, sleepUntil].filter((at) => at !== undefined && at <= now)
  if (place !== PLACE.timers || moments.length === 0)
    return {
      code: 'MISPLACED',
      message: `no index of queue ${queue} contains it; run \`sidejob doctor --repair\``,
      data: { queue },
    }
  const due = Math.max(...(moments as number[]))
  return {
    code: 'OVERDUE',
    message: `was due at ${iso(due)}, but queue ${queue} has not been checked since; the tick checks it within a minute`,
    data: { queue, ms: now - due },
  }
}

function explain(waiting: Waiting): Explanation[] {
  const explanations = explainPlace(waiting)
  return explanations.length > 0 || waiting.document.place === PLACE.leased ? explanations : [misplaced(waiting)]
}

function explainPlace(waiting: Waiting): Explanation[] {
  switch (waiting.document.place) {
    case PLACE.leased:
      return []
    case PLACE.timers:
      return timeReasons(waiting)
    case PLACE.limited:
      return [...lockReasons(waiting), limitReason(waiting)]
    case undefined:
    case PLACE.pull:
      return [...lockReasons(waiting), ...queueReasons(waiting)]
    case PLACE.suspended:
      return restReasons(waiting)
    default:
      return endReasons(waiting)
  }
}

function encryptedReasons({ document: { args, place } }: Facts, steps: Record<string, Encoded>): Explanation[] {
  if (place === PLACE.leased || place === PLACE.completed || place === PLACE.terminated) return []
  const stepKey = Object.values(steps).map(missingKeyOf).find(Boolean)
  const key = stepKey ?? missingKeyOf(args)
  if (key === undefined) return []
  const what = stepKey ? 'steps' : 'args'
  const message = `its ${what} were encrypted with key ${key}, which is missing; add it to SIDEJOB_ENCRYPTION_KEY`
  return [{ code: 'ENCRYPTED', message, data: {} }]
}

export function reasonsOf(inspection: Facts, steps: Record<string, Encoded>): Reason[] {
  const since = sinceOf(inspection.document)
  const encrypted = encryptedReasons(inspection, steps)
  const explanations = explain({ ...inspection, waits: waitsIn(steps) })
  // Without the steps, the function may wait for a message or value that is unknown here.
  const known = encrypted.length > 0 ? explanations.filter(({ code }) => code !== 'ASKED_FOR_NOTHING') : explanations
  return [...known, ...encrypted].map((reason) => ({ ...reason, since }))
}

/** Uses only the record, so the number of jobs ahead and the waits inside functions are unknown. */
export const firstReasonOf = (document: JobRecord, now: number): Reason | null =>
  reasonsOf({ document, children: [], ahead: null, limitFree: null, now }, {})[0] ?? null
