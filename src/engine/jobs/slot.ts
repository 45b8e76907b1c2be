import { type ParsedRepeat, parseRepeat, type Repeat, slotOfRun } from '../../core/repeat.ts'
import { TERMINATING } from '../../redis/marks.ts'
import type { JobRecord } from '../../redis/record.ts'

export const ruleOf = ({ repeats }: JobRecord): ParsedRepeat => parseRepeat(JSON.parse(repeats!) as Repeat)

export function slotOf({ repeats, nextSlot, ranAt, scheduledFor, terminating }: JobRecord): { scheduledFor?: number } {
  if (scheduledFor !== undefined) return { scheduledFor }
  if (terminating === TERMINATING.shutdown) return {}
  if (repeats === undefined || nextSlot === undefined || ranAt === undefined || nextSlot > ranAt) return {}
  return { scheduledFor: slotOfRun(JSON.parse(repeats) as Repeat, nextSlot, ranAt) }
}
