// Why a job is not running: plain facts, the immediate cause first.

import { decodeValue, type Encoded } from '../../core/codec/value.ts'
import { childrenOf, defaultOf, portsOf, statusOf, waitingOf } from '../../redis/record.ts'
import type { Inspection } from '../../redis/types.ts'
import type { Reason } from '../engine.ts'
import { OURS, type Waited } from '../run/steps.ts'

/** An inspection, with what the job's function waits for by `waitFor`. */
type Waiting = Inspection & { waits: { on: string; until?: number }[] }

const counted = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`

/** A run that was given back says why, where its worker is known to be down. */
function backoffText(doc: Inspection['document']): string {
  if (doc.lastRun?.split(',')[2] !== 'released')
    return `${counted(doc.failures ?? 0, 'failure')}, ${counted(doc.lostInARow ?? 0, 'loss', 'losses')} in a row; backs off until`
  const why = doc.lastError ? `: ${(JSON.parse(doc.lastError) as { message: string }).message}` : ''
  return `its last run was given back without using an attempt${why}; waits until`
}

/** What its function waits for by `waitFor`, as its steps tell. */
function awaitedReasons({ waits }: Waiting): Reason[] {
  return waits.map(({ on, until }) => {
    const isChannel = on.startsWith('/')
    const what = isChannel ? `a message on channel ${on}` : `input on port ${on}`
    const till = until === undefined ? '' : `, at most until ${new Date(until).toISOString()}`
    return {
      code: isChannel ? 'MESSAGE' : 'INPUT',
      message: `its function waits for ${what}${till}`,
      key: on,
      ...(until === undefined ? {} : { until }),
    }
  })
}

/** The children that its function has called and waits for. */
function calledReasons({ document: doc, children }: Inspection): Reason[] {
  const called = doc.awaitedChildren ? (JSON.parse(doc.awaitedChildren) as string[]) : []
  const all = childrenOf(children)
  return called.map((name) => {
    const child = Object.hasOwn(all, name) ? all[name] : undefined
    const which = child ? `${name} (job ${child.id}, ${child.status})` : name
    return {
      code: 'CHILDREN',
      message: `its function waits for child ${which} to end`,
      key: name,
      ...(child ? { job: child.id } : {}),
    }
  })
}

function timeReasons(waiting: Waiting): Reason[] {
  const { document: doc, now } = waiting
  const reasons: Reason[] = []
  const wait = (code: string, until: number | undefined, message: string) => {
    if (until !== undefined && until > now)
      reasons.push({ code, message: `${message} ${new Date(until).toISOString()}`, until })
  }
  wait('LOCKED', doc.lockUntil, 'locked by a client until')
  wait('BACKOFF', doc.backoffUntil, backoffText(doc))
  if (!doc.wantedEarly) {
    wait('DUE', doc.notBefore, 'asked to run at')
    wait('REPEAT', doc.nextSlot, 'repeats; the next slot is')
    const awaited = [...calledReasons(waiting), ...awaitedReasons(waiting)]
    if (doc.sleepUntil && awaited.length > 0) return [...reasons, ...awaited]
    wait('PAUSED_UNTIL', doc.sleepUntil, 'its function pauses until')
  }
  return reasons
}

function queueReasons({ document: doc, ahead, queue }: Inspection): Reason[] {
  const reasons: Reason[] = []
  if (queue.paused) reasons.push({ code: 'PAUSED', message: `queue ${doc.queue} is paused` })
  if (doc.place === 'p') {
    const asking = doc.tag === undefined ? '' : `, asking for tag ${doc.tag}`
    reasons.push({ code: 'PULL', message: `waits for a pull worker to claim it${asking}; ${ahead ?? 0} are before it` })
  } else if (ahead !== null)
    reasons.push({
      code: 'QUEUED',
      message: `${ahead} are before it in queue ${doc.queue}; ${queue.lanes} of ${queue.maxLanes} lanes are open`,
    })
  return reasons
}

function limitReasons({ document: doc, ahead, limitFree }: Inspection): Reason[] {
  const after = ahead ? `, ${ahead} are before it` : ''
  const next = limitFree === null ? '' : `; the next may start by ${new Date(limitFree).toISOString()}`
  return [
    {
      code: 'LIMITED',
      message: `limit ${doc.waitingLimit} is full${after}${next}`,
      key: doc.waitingLimit!,
      ...(limitFree === null ? {} : { until: limitFree }),
    },
  ]
}

function restReasons(inspection: Waiting): Reason[] {
  const { document: doc } = inspection
  const awaited = [...calledReasons(inspection), ...awaitedReasons(inspection)]
  if (awaited.length > 0) return awaited
  const waiting = waitingOf(doc)
  if (waiting === 'parent')
    return [
      { code: 'PARENT', message: `waits until the run of its parent ${doc.parent} has ended`, job: Number(doc.parent) },
    ]
  if (waiting)
    return [
      {
        code: 'CHILDREN',
        message: `waits for ${counted(doc.waitsForCount!, 'child', 'children')} to end${waiting === 'children' ? '' : `: ${waiting.join(', ')}`}`,
      },
    ]
  const empty = portsOf(doc, 'i').filter(
    ({ port, pushed, taken }) => pushed === taken && defaultOf(doc, 'i', port) === undefined,
  )
  if (empty.length)
    return empty.map(({ port }) => ({ code: 'INPUT', message: `waits for input on port ${port}`, key: port }))
  return [{ code: 'ASKED_FOR_NOTHING', message: 'suspended; a run, a child or input wakes it' }]
}

function endReasons({ document: doc }: Inspection): Reason[] {
  const status = statusOf(doc)
  if (status === 'completed') return [{ code: 'COMPLETED', message: 'completed; a run or input wakes it' }]
  if (status === 'terminated')
    return [
      {
        code: doc.cancelled ? 'CANCELLED' : 'TERMINATED',
        message: `${doc.cancelled ? 'cancelled' : 'terminated'}; only a run with force wakes it`,
      },
    ]
  const kept = portsOf(doc, 'i').filter(({ pushed, taken }) => pushed > taken)
  return [
    {
      code: 'FAILED',
      message: `failed after ${counted(doc.failures ?? 1, 'attempt')}; a retry or a run with force wakes it, input does not`,
    },
    ...kept.map(({ port, pushed, taken }) => ({
      code: 'INPUT_KEPT',
      message: `${counted(pushed - taken, 'value waits', 'values wait')} on port ${port}`,
      key: port,
    })),
  ]
}

/**
 * Waits of a function that have not come to an end, from what its steps have kept.
 *
 * @example waitsIn({ '~answer#1': '{"until":7,"on":"answer"}' }) // [{ on: 'answer', until: 7 }]
 */
export function waitsIn(steps: Record<string, Encoded>): Waiting['waits'] {
  const ours = Object.entries(steps).filter(([key]) => key.startsWith(OURS))
  const kept = ours.map(([, value]) => decodeValue(value) as Waited | null)
  return kept.flatMap((one) => (one?.on === undefined || one.done ? [] : [{ on: one.on, until: one.until }]))
}

/** Whether a job's steps can tell what it waits for. */
export const pauses = ({ document: { place: z, hasSteps: st } }: Inspection): boolean =>
  st !== undefined && (z === 's' || z === 't')

/** @example reasonsOf(inspection, [])[0].message // 'waits for input on port left' */
export function reasonsOf(inspection: Inspection, waits: Waiting['waits']): Reason[] {
  const { document: doc } = inspection
  const waiting = { ...inspection, waits }
  if (doc.place === 'l') return []
  if (doc.place === 't') return timeReasons(waiting)
  if (doc.place === 'w') return limitReasons(inspection)
  if (doc.place === undefined || doc.place === 'p') return queueReasons(inspection)
  return doc.place === 's' ? restReasons(waiting) : endReasons(inspection)
}
