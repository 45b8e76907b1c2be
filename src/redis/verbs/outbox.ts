import { answerOf, type Reply } from '../answers.ts'
import type { Parts } from '../parts.ts'
import * as scripts from '../scripts.generated.ts'

export type StoredTexts = { from: number; bytes: number[] }

type Outbox = Omit<Reply<'outbox'>, 'is'>

/** Maximum entries of one answer. An entry has up to 256 KiB. */
const TEXTS = 16

export function createOutbox({ client: { evaluate }, keys, base, retain }: Parts) {
  return {
    async outbox(word: '' | '1' | 'end', stored?: StoredTexts): Promise<Outbox> {
      const next = stored ? stored.from + stored.bytes.length : undefined
      const expected = next === undefined ? [] : Array.from({ length: TEXTS }, (_, i) => keys.outboxText(next + i))
      const { is: _, ...found } = answerOf(
        await evaluate(
          scripts.outbox,
          [keys.outbox, keys.schema, ...expected],
          {
            ...base(),
            begin: word,
            retain: retain === undefined ? '' : String(retain),
            stored: stored?.from ?? 0,
            most: TEXTS,
          },
          [String(stored?.bytes.length ?? 0), ...(stored?.bytes ?? []).map(String)],
        ),
        'outbox',
      )
      return found
    },
  }
}
