// Checks the slots of schedules. It does not use the engine's code that computes slots, because it checks this code.

import { TERMINATING } from '../../../src/redis/marks.ts'
import type { JobRecord } from '../../../src/redis/record.ts'
import { isStopped, MARGIN, type Report, type Step } from './judge.ts'
import type { View } from './redis.ts'
import { type Series, seriesOf } from './schedules.ts'

const PAUSED_SLOT = 8_640_000_000_000_000
const SKIPPED_AFTER_MS = 300_000
const MAX_DELAY_MS = 60_000
const SECOND = 1_000

const wholeSecond = (at: number): number => Math.floor(at / SECOND) * SECOND

type Used = { due: number; began: number; planned: number }

/** Slots begin at whole seconds. */
const lastSlot = (from: number, period: number, moment: number): number =>
  wholeSecond(from) + Math.floor((moment - wholeSecond(from)) / period) * period

const ownSlot = ({ missed, period }: Series, { due, began }: Used): number =>
  missed === 'run' ? due : Math.max(due, lastSlot(due, period, began))

function slotAfter(series: Series, used: Used): { next: number; passed: boolean } {
  const { base, missed, period } = series
  if (base !== 'scheduled')
    return { next: wholeSecond(base === 'started' ? used.began : used.planned) + period, passed: false }
  const own = ownSlot(series, used)
  const next = wholeSecond(own) + period
  if (next > used.planned) return { next, passed: own > used.due }
  if (missed === 'run') return { next, passed: true }
  const last = lastSlot(own, period, used.planned)
  if (missed === 'skip') return { next: last + period, passed: true }
  return { next: last, passed: own > used.due || last > next }
}

export function createSlotsJudge(report: Report) {
  const usedBy = new Map<number, Set<number>>()
  const overtaken = new Set<string>()

  function use(id: number, slot: number): void {
    const used = usedBy.get(id) ?? new Set()
    if (used.has(slot)) report('a slot was run twice', `${id}: ${slot}`)
    usedBy.set(id, used.add(slot))
  }

  /** A run uses a slot only if it began at or after the slot. A shutdown run uses no slot. */
  function move({ facts }: Step, id: number, was: JobRecord, is: JobRecord): void {
    const end = facts.slots.find(({ job }) => job === id)
    const series = seriesOf(was)
    const [due, began] = [was.nextSlot!, was.ranAt!]
    // If a caller sets a new slot during a run, the run does not use the new slot.
    if (overtaken.has(was.token!) && is.nextSlot === due) return
    // A job that follows its children repeats the slot at once if its run failed and a child has changed.
    if (was.followed && is.nextSlot === due) return
    const isLast = was.terminating === TERMINATING.shutdown
    const isUsed = end !== undefined && !isLast && began >= due && (is.failures ?? 0) <= (was.failures ?? 0)
    if (!isUsed) {
      if (is.nextSlot !== due) report('a slot was moved without a run of its own', `${id}: ${due} → ${is.nextSlot}`)
      return
    }
    const used = { due, began, planned: end.planned }
    const own = ownSlot(series, used)
    const { next, passed } = slotAfter(series, used)
    if (end.isSkipped && (series.missed !== 'skip' || began - own <= SKIPPED_AFTER_MS))
      report('a slot was left out that was to run', `${id}: ${due}, begun ${began}`)
    if (end.isSkipped ? is.nextSlot! <= end.planned : is.nextSlot !== next)
      report('another slot follows than the rule says', `${id}: ${due} → ${is.nextSlot}, expected ${next}`)
    if (passed && is.passedSlots === undefined) report('slots went by without a note', `${id}: ${due} → ${is.nextSlot}`)
    if (!end.isSkipped) use(id, own)
  }

  function ends(id: number, { doc: is, was }: { doc: JobRecord; was: JobRecord }, { facts }: Step): void {
    const end = facts.slots.find(({ job }) => job === id)
    if (!end || was.terminating) return
    const hasFailed = is.lastRun?.split(',')[2] === 'failed' && is.lastRun !== was.lastRun
    if (hasFailed && is.place === 'f' && !seriesOf(was).stopOnFail)
      report('a schedule stopped at a failure', `${id}: ${is.repeats}`)
  }

  function shape(id: number, doc: JobRecord): void {
    if (doc.nextSlot && !doc.repeats) report('a schedule that has ended has a slot', `${id}: ${doc.nextSlot}`)
    if (doc.repeatPaused && doc.repeats && doc.nextSlot && doc.nextSlot !== PAUSED_SLOT)
      report('a schedule that is paused has a slot', `${id}: ${doc.nextSlot}`)
    const rests = doc.place === 'c' || (doc.place === 's' && !doc.waitsFor && !doc.followed && !doc.held)
    if (doc.repeats && doc.nextSlot && rests) report('a schedule rests', `${id}: ${doc.place} until ${doc.nextSlot}`)
  }

  function early({ before, facts, now }: Step, id: number, doc: JobRecord): void {
    const was = before.jobs.get(id)?.doc
    if (was?.place !== 't' || doc.place === 't' || !was.repeats || was.wantedEarly || was.notBefore || was.sleepUntil)
      return
    if (facts.meddled || isStopped(doc) || was.hasChildren || doc.hasChildren || wasFed(was, doc)) return
    const moment = Math.max(was.backoffUntil ?? 0, doc.lockUntil ?? 0, was.nextSlot ?? 0)
    if (moment > now + MARGIN) report('a schedule ran before its slot', `${id}: ${moment} at ${now}`)
  }

  function stopped(id: number, was: JobRecord, is: JobRecord): void {
    const isWanted =
      was.wantedEarly || was.notBefore || was.sleepUntil || was.backoffUntil || is.terminating || was.followed
    if (was.place === 't' && was.repeats && !is.repeats && !isWanted && is.place !== 'c')
      report('an ended schedule runs again', String(id))
  }

  return {
    step(step: Step): void {
      const { before, after, facts } = step
      for (const { id, doc } of after.jobs.values()) {
        shape(id, doc)
        early(step, id, doc)
        const was = before.jobs.get(id)?.doc
        if (was) stopped(id, was, doc)
        const isReset = facts.rescheduled.includes(id)
        if (isReset && was?.token) overtaken.add(was.token)
        if (!was?.repeats || !was.nextSlot || isStopped(doc)) continue
        ends(id, { doc, was }, step)
        if (isReset) {
          usedBy.delete(id)
        } else if (!facts.meddled || facts.slots.length > 0) move(step, id, was, doc)
      }
    },

    caughtUp({ jobs }: View, now: number): void {
      // A queue runs jobs in the order of their due times, so a schedule that catches up delays the jobs behind it.
      const isBehind = ({ place, queue, sequence }: JobRecord) =>
        place === 'p' &&
        [...jobs.values()].some(({ doc }) => doc.place === 'p' && doc.queue === queue && doc.sequence < sequence)
      for (const { id, doc } of jobs.values()) {
        const isHeldUp = isStopped(doc) || doc.place === 's' || doc.failures || doc.lostInARow || doc.backoffUntil
        if (!doc.repeats || !doc.nextSlot || isHeldUp || isBehind(doc)) continue
        if (Math.max(doc.nextSlot, doc.ranAt ?? 0) < now - MAX_DELAY_MS)
          report('a slot that was due was not run', `${id}: ${doc.nextSlot} at ${now}`)
      }
    },
  }
}

const wasFed = (was: JobRecord, is: JobRecord): boolean =>
  Object.entries(is).some(([field, value]) => field.startsWith('i:') && value !== was[field as 'i:in'])
