// The outbox: what the history has not stored yet.

import { answerOf, type Reply } from '../answers.ts'
import type { Parts } from '../parts.ts'
import * as scripts from '../scripts.generated.ts'

/** Texts that the history has stored: the number of the first, and the bytes of each. */
export type StoredTexts = { from: number; bytes: number[] }

export type Outbox = Omit<Reply<'outbox'>, 'is'>

/** At most this many texts of 256 KiB in an answer. */
const TEXTS = 16

export function createOutbox({ client: { evaluate }, keys, base }: Parts) {
  return {
    /** Forgets the stored texts and reads the next ones. `from` is 0 if there is no history. */
    async outbox(word: '' | '1' | 'end', stored?: StoredTexts): Promise<Outbox> {
      const next = stored ? stored.from + stored.bytes.length : undefined
      const expected = next === undefined ? [] : Array.from({ length: TEXTS }, (_, i) => keys.outboxText(next + i))
      const { is: _, ...found } = answerOf(
        await evaluate(
          scripts.outbox,
          [keys.outbox, keys.schema, ...expected],
          { ...base(), begin: word, stored: stored?.from ?? 0, most: TEXTS },
          [String(stored?.bytes.length ?? 0), ...(stored?.bytes ?? []).map(String)],
        ),
        'outbox',
      )
      return found
    },
  }
}
