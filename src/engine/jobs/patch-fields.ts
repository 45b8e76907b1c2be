import type { Encoded } from '../../core/codec/value.ts'
import { type Fields, ops, priorityText, type Words } from '../../redis/ops.ts'
import type { JobRecord } from '../../redis/record.ts'
import type { Sealed, Vault } from '../../redis/vault.ts'
import type { JobInput } from '../engine.ts'
import { repeatOf } from './new-job.ts'

/** Next slot of a paused schedule: the largest time of a Date. */
export const MAX_DATE = 8_640_000_000_000_000

export const givenFields = (
  { args, priority }: { args?: Encoded; priority?: number },
  { sealSame }: Pick<Vault, 'sealSame'>,
): Fields => ({
  ...(args !== undefined && { args: sealSame(args, 'args') }),
  ...(priority !== undefined && { priority: priorityText(priority) }),
})

export function repeatFields(document: JobRecord, repeat: JobInput['repeat'] | null, now: number): Fields {
  if (repeat === null) return { repeats: '', nextSlot: '', repeatPaused: '' }
  const { repeat: repeats = '', slot } = repeatOf(repeat, now)
  const next = slot === undefined ? '' : String(slot)
  if (document.repeatPaused === undefined) return { repeats, nextSlot: next }
  return { repeats, nextSlot: String(MAX_DATE), repeatPaused: next }
}

const was = (field: 'repeats' | 'repeatPaused', value = ''): Words => ops.was({ field, values: [value as Sealed] })

export const repeatWords = ({ repeats, repeatPaused }: JobRecord, fields: Fields): Words[] => [
  was('repeats', repeats),
  was('repeatPaused', repeatPaused),
  ops.patch({ fields }),
]
