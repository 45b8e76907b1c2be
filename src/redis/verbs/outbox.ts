import { listWords, type Parts } from '../parts.ts'
import * as scripts from '../scripts.generated.ts'

export type StoredTexts = { from: number; bytes: number[] }

/** Maximum entries of one answer. An entry has up to 256 KiB. */
const TEXTS = 16

export function createOutbox({ keys, call, retain }: Parts) {
  return {
    outbox(word: '' | '1' | 'end', stored?: StoredTexts) {
      const next = stored ? stored.from + stored.bytes.length : undefined
      const expected = next === undefined ? [] : Array.from({ length: TEXTS }, (_, i) => keys.outboxText(next + i))
      return call(
        scripts.outbox,
        {
          begin: word,
          retain: retain === undefined ? '' : String(retain),
          stored: stored?.from ?? 0,
          most: TEXTS,
        },
        {
          keys: [keys.outbox, keys.schema, ...expected],
          rest: listWords((stored?.bytes ?? []).map(String)),
        },
      )
    },
  }
}
