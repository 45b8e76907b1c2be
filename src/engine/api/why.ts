// Why a job is not running: plain facts, the immediate cause first.

import { portsOf, statusOf, waitingOf } from '../../redis/document.ts'
import type { Inspection } from '../../redis/types.ts'
import type { Reason } from '../engine.ts'

const at = (value: string | undefined): number | undefined => (value === undefined ? undefined : Number(value))

/** A run that was given back says why, where its worker is known to be down. */
function backoffText(doc: Inspection['document']): string {
  if (doc.lr?.split(',')[2] !== 'released')
    return `${doc.f ?? 0} failures, ${doc.lc ?? 0} losses in a row; backs off until`
  const why = doc.er ? `: ${(JSON.parse(doc.er) as { message: string }).message}` : ''
  return `its last run was given back without using an attempt${why}; waits until`
}

function timeReasons({ document: doc, now }: Inspection): Reason[] {
  const reasons: Reason[] = []
  const wait = (code: string, until: number | undefined, message: string) => {
    if (until !== undefined && until > now)
      reasons.push({ code, message: `${message} ${new Date(until).toISOString()}`, until })
  }
  wait('LOCKED', at(doc.lu), 'locked by a client until')
  wait('BACKOFF', at(doc.bo), backoffText(doc))
  if (!doc.ey) {
    wait('DUE', at(doc.w), 'asked to run at')
    wait('REPEAT', at(doc.ns), 'repeats; the next slot is')
    wait('PAUSED_UNTIL', at(doc.sl), 'its function pauses until')
  }
  return reasons
}

function queueReasons({ document: doc, ahead, queue }: Inspection): Reason[] {
  const reasons: Reason[] = []
  if (queue.paused) reasons.push({ code: 'PAUSED', message: `queue ${doc.q} is paused` })
  if (doc.z === 'p') {
    const asking = doc.tg === undefined ? '' : `, asking for tag ${doc.tg}`
    reasons.push({ code: 'PULL', message: `waits for a pull worker to claim it${asking}; ${ahead ?? 0} are before it` })
  } else if (ahead !== null)
    reasons.push({
      code: 'QUEUED',
      message: `${ahead} are before it in queue ${doc.q}; ${queue.lanes} of ${queue.maxLanes} lanes are open`,
    })
  return reasons
}

function limitReasons({ document: doc, ahead, limitFree }: Inspection): Reason[] {
  const after = ahead ? `, ${ahead} are before it` : ''
  const next = limitFree === null ? '' : `; the next may start by ${new Date(limitFree).toISOString()}`
  return [
    {
      code: 'LIMITED',
      message: `limit ${doc.wl} is full${after}${next}`,
      key: doc.wl!,
      ...(limitFree === null ? {} : { until: limitFree }),
    },
  ]
}

function restReasons({ document: doc }: Inspection): Reason[] {
  const waiting = waitingOf(doc)
  if (waiting === 'parent')
    return [{ code: 'PARENT', message: `waits until the run of its parent ${doc.pa} has ended`, job: Number(doc.pa) }]
  if (waiting)
    return [
      {
        code: 'CHILDREN',
        message: `waits for ${doc.wn} children to end${waiting === 'children' ? '' : `: ${waiting.join(', ')}`}`,
      },
    ]
  const empty = portsOf(doc, 'i').filter(
    ({ port, pushed, taken }) => pushed === taken && doc[`di:${port}`] === undefined,
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
        code: doc.ca ? 'CANCELLED' : 'TERMINATED',
        message: `${doc.ca ? 'cancelled' : 'terminated'}; only a run with force wakes it`,
      },
    ]
  const kept = portsOf(doc, 'i').filter(({ pushed, taken }) => pushed > taken)
  return [
    {
      code: 'FAILED',
      message: `failed after ${doc.f ?? 1} attempts; a retry or a run with force wakes it, input does not`,
    },
    ...kept.map(({ port, pushed, taken }) => ({
      code: 'INPUT_KEPT',
      message: `${pushed - taken} values wait on port ${port}`,
      key: port,
    })),
  ]
}

/** @example reasonsOf(inspection)[0].message // 'waits for input on port left' */
export function reasonsOf(inspection: Inspection): Reason[] {
  const { document: doc } = inspection
  if (doc.z === 'l') return []
  if (doc.z === 't') return timeReasons(inspection)
  if (doc.z === 'w') return limitReasons(inspection)
  if (doc.z === undefined || doc.z === 'p') return queueReasons(inspection)
  return doc.z === 's' ? restReasons(inspection) : endReasons(inspection)
}
