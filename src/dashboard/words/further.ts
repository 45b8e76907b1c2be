// The progress of a search in words, for the server and the browser.

import { count, many } from './number.ts'

/** The part of a list that was searched, in words; as a number of all, if that is known. */
export type Searched = { where: string; done?: number; of?: number }

/** @example furtherText(0, 'the newest 4,000 of 20,000') // 'No match in the newest 4,000 of 20,000' */
export const furtherText = (rows: number, where: string): string =>
  `${rows === 0 ? 'No match' : many(rows, 'match', 'matches')} in ${where}`

/** A search by ids, from the newest down to its cursor. */
export function searchedOf({ cursor, newest }: { cursor: string | null; newest?: number }): Searched | undefined {
  if (cursor === null || !/^\d+$/.test(cursor) || newest === undefined) return undefined
  const done = Math.max(0, newest - Number(cursor) + 1)
  return { where: `the newest ${count(done)} of ${count(newest)}`, done, of: newest }
}
