// What the doctor has found so far: by the slices in which it found something, so that a look at one says nothing of the others.

import * as z from 'zod'
import { type FaultKind, faultKinds } from './faults.ts'
import { moment } from './schemas/values.ts'

/** Faults of a slice by what they are at, and since when there has been one at each look. */
type Slice = { at: number; since: number; faults: Partial<Record<FaultKind, number>> }

/** `begun`: when it was last looked at from the beginning; `ended`: when it was looked at to the end, if that came after. */
export type Examined = { begun: number; ended: number | null; at: number; slices: Record<string, Slice> }

/** So many slices are kept: where there are faults in more, these are enough to say so. */
const MOST = 20

/** A slice that was looked at: `isLast` where no other comes after it. */
export type Look = { cursor: string; isFirst: boolean; isLast: boolean; faults: readonly { kind: FaultKind }[] }

const countsOf = (faults: Look['faults']): Slice['faults'] =>
  Object.fromEntries([...Map.groupBy(faults, ({ kind }) => kind)].map(([kind, found]) => [kind, found.length]))

/** The slices, with what is found in one of them now; where all is well none is kept. */
function withSlice(slices: Examined['slices'], { cursor, faults }: Look, now: number): Examined['slices'] {
  const { [cursor]: was, ...others } = slices
  if (faults.length === 0 || Object.keys(others).length >= MOST) return others
  return { ...others, [cursor]: { at: now, since: was?.since ?? now, faults: countsOf(faults) } }
}

/**
 * What is known after a look at a slice; nothing where that is what was known before. Who has looked at all of them forgets
 * what was found in slices that are not there any more.
 *
 * @example afterLook(null, { cursor: '10', isFirst: true, isLast: false, faults: [] }, now) // { begun: now, ended: null, at: now, slices: {} }
 */
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
  at: moment.meta({ description: 'when it looked last' }),
  whole: z.boolean().meta({ description: 'it has looked at everything since it last began' }),
  faults: z
    .partialRecord(z.enum(faultKinds), z.int())
    .meta({ description: 'how many are at what: where it found something it tells what it saw there last' }),
  since: moment.nullable().meta({ description: 'since when there is one at each look' }),
  cursor: z.string().nullable().meta({ description: 'the first slice that has some' }),
})

export type ExaminedView = z.infer<typeof examined>

/** The same in all, as it is told. @example examinedView(known).faults // { job: 2, queue: 1 } */
export function examinedView({ ended, at, slices }: Examined): ExaminedView {
  const faults: ExaminedView['faults'] = {}
  const found = Object.entries(slices)
  for (const [, slice] of found)
    for (const [kind, n] of Object.entries(slice.faults) as [FaultKind, number][])
      faults[kind] = (faults[kind] ?? 0) + n
  const since = found.length === 0 ? null : Math.min(...found.map(([, slice]) => slice.since))
  return { at, whole: ended !== null, faults, since, cursor: found[0]?.[0] ?? null }
}
