import { MINUTE } from '../../core/units.ts'
import type { ClassRow } from './failing.ts'

type Run = { queue: string; class: string; startedAt: number }

/** A run may be stuck if it takes at least this many times longer than usual. */
const TIMES = 10

export const isLong = ({ startedAt }: Pick<Run, 'startedAt'>, now: number): boolean => now - startedAt >= MINUTE

export const usualOf = ({ queue, class: name }: Omit<Run, 'startedAt'>, classes: readonly ClassRow[]) =>
  classes.find((row) => row.queue === queue && row.class === name)?.took?.p95

export function timesLonger(run: Pick<Run, 'startedAt'>, usual: number, now: number): number | undefined {
  const times = (now - run.startedAt) / usual
  return isLong(run, now) && times >= TIMES ? Math.floor(times) : undefined
}
