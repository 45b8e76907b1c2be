import { count, many } from './text.ts'

export type Searched = { where: string; done?: number; of?: number }

export const rowsText = (rows: number, cursor: string | null, one: string, more?: string): string =>
  cursor === null ? many(rows, one, more) : `${count(rows)} so far`

export const moreText = (rows: number, where: string): string =>
  `${rows === 0 ? 'No match' : many(rows, 'match', 'matches')} in ${where}`

export function searchedOf({ cursor, newest }: { cursor: string | null; newest?: number }): Searched | undefined {
  if (cursor === null || !/^\d+$/.test(cursor) || newest === undefined) return undefined
  const done = Math.max(0, newest - Number(cursor) + 1)
  return { where: `the newest ${count(done)} of ${count(newest)}`, done, of: newest }
}
