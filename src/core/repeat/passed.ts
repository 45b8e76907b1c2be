import { nextTimes, type ParsedRepeat, slotOfRun } from '../repeat.ts'
import { SECOND } from '../units.ts'

export const catchUpModes = ['each', 'one', 'none'] as const

export type MissedSlots = { from: number; to: number; made: (typeof catchUpModes)[number] }

export const missedSlotsText = ({ from, to, made }: MissedSlots): string => `${from},${to},${made}`

export function parseMissedSlots(text: string): MissedSlots {
  const [from, to, made] = text.split(',') as [string, string, MissedSlots['made']]
  return { from: Number(from), to: Number(to), made }
}

/** Only the first slot of a repeat can have milliseconds. */
const following = ({ next }: ParsedRepeat, slot: number): number => next(Math.floor(slot / SECOND) * SECOND)

type Used = {
  scheduled: number
  started: number
  slot: number
  isSkipped: boolean
  now: number
  catchingUp?: MissedSlots
}

function made({ last }: ParsedRepeat, { scheduled, started, slot, now, catchingUp }: Used): MissedSlots | undefined {
  const to = last(slot, now)
  if (catchingUp) return to > catchingUp.to ? { ...catchingUp, to } : undefined
  return { from: last(scheduled, started) > scheduled ? scheduled : slot, to, made: 'each' }
}

function collapsed(repeat: ParsedRepeat, { scheduled, started, slot }: Used): MissedSlots | undefined {
  const own = slotOfRun(repeat, scheduled, started)
  const after = following(repeat, own)
  if (slot > after) return { from: own > scheduled ? scheduled : after, to: slot, made: 'one' }
  return own > scheduled ? { from: scheduled, to: own, made: 'one' } : undefined
}

function leftOut(repeat: ParsedRepeat, { scheduled, started, now }: Used): MissedSlots | undefined {
  const own = slotOfRun(repeat, scheduled, started)
  const after = following(repeat, own)
  const from = own > scheduled ? scheduled : after
  if (after <= now) return { from, to: repeat.last(after, now), made: 'none' }
  return own > scheduled ? { from, to: repeat.last(scheduled, own - SECOND), made: 'none' } : undefined
}

export function missedSlotsOf(repeat: ParsedRepeat, used: Used): MissedSlots | undefined {
  const { scheduled, slot, isSkipped, now } = used
  if (repeat.base !== 'scheduled' || Number.isNaN(slot)) return undefined
  if (isSkipped) return { from: scheduled, to: repeat.last(scheduled, now), made: 'none' }
  if (!(following(repeat, scheduled) <= now)) return undefined
  if (repeat.missed === 'run') return made(repeat, used)
  return repeat.missed === 'last' ? collapsed(repeat, used) : leftOut(repeat, used)
}

export const slotsFrom = (repeat: Pick<ParsedRepeat, 'next'>, first: number, until: number, most: number): number[] =>
  first > until ? [] : [first, ...nextTimes(repeat, first, most - 1, until)]
