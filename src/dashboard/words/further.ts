// The progress of a search in words, for the server and the browser.

import { count, many } from './number.ts'

/** @example furtherText({ rows: 0, searched: 4_000, of: 20_000 }) // 'No match in the newest 4,000 of 20,000' */
export function furtherText({ rows, searched, of }: { rows: number; searched: number; of: number }): string {
  const found = rows === 0 ? 'No match' : many(rows, 'match', 'matches')
  return `${found} in the newest ${count(searched)} of ${count(of)}`
}
