// Each check looks at one slice of the data, and replaces only the faults of that slice.

import * as z from 'zod'
import { type FaultKind, faultKinds } from './faults.ts'
import { moment } from './schemas/values.ts'

type Slice = { at: number; since: number; faults: Partial<Record<FaultKind, number>> }

/** A pass checks all slices, from `begun` to `ended`. */
export type Examined = { begun: number; ended: number | null; at: number; slices: Record<string, Slice> }

const MOST = 20

export type Look = { cursor: string; isFirst: boolean; isLast: boolean; faults: readonly { kind: FaultKind }[] }

const countsOf = (faults: Look['faults']): Slice['faults'] =>
  Object.fromEntries([...Map.groupBy(faults, ({ kind }) => kind)].map(([kind, found]) => [kind, found.length]))

function withSlice(slices: Examined['slices'], { cursor, faults }: Look, now: number): Examined['slices'] {
  const { [cursor]: was, ...others } = slices
  if (faults.length === 0 || Object.keys(others).length >= MOST) return others
  return { ...others, [cursor]: { at: now, since: was?.since ?? now, faults: countsOf(faults) } }
}

/** The end of a pass removes slices that no longer exist. */
export function afterLook(before: Examined | null, look: Look, now: number): Examined | undefined {
  const was = before ?? { begun: now, ended: null, at: now, slices: {} }
  const hasFound = look.faults.length > 0 || look.cursor in was.slices
  if (!look.isFirst && !look.isLast && !hasFound) return undefined
  const begun = look.isFirst ? now : was.begun
  const slices = withSlice(was.slices, look, now)
  const left = Object.entries(slices).filter(([, { at }]) => !look.isLast || at >= begun)
  return {
    begun,
    ended: look.isLast ? now : look.isFirst ? null : was.ended,
    at: now,
    slices: Object.fromEntries(left),
  }
}

export const examined = z.object({
  at: moment.describe('time of the last check'),
  whole: z.boolean().describe('true if the doctor has checked all data at least once'),
  faults: z
    .partialRecord(z.enum(faultKinds), z.int())
    .describe('number of faults by kind, from the last check of each slice'),
  since: moment
    .nullable()
    .describe('time since which every check of one slice has found faults; null if there are no faults'),
  cursor: z.string().nullable().describe('cursor of the first slice with a fault'),
})

export type ExaminedView = z.infer<typeof examined>

export function examinedView({ ended, at, slices }: Examined): ExaminedView {
  const faults: ExaminedView['faults'] = {}
  const found = Object.entries(slices)
  for (const [, slice] of found)
    for (const [kind, n] of Object.entries(slice.faults) as [FaultKind, number][])
      faults[kind] = (faults[kind] ?? 0) + n
  const since = found.length === 0 ? null : Math.min(...found.map(([, slice]) => slice.since))
  return { at, whole: ended !== null, faults, since, cursor: found[0]?.[0] ?? null }
}
