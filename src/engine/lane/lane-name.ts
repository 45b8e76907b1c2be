// What a lane is called: by chance, and after the moment at which it was opened, so that it can be told since when it serves
// without anything being written for it.

/** So many characters are by chance; the first of them stand in the tokens of its runs. */
const CHANCE = 21

/** @example newLaneName(1_800_000_000_000) // '0f8e3c…tmx0ywfls' */
export const newLaneName = (now: number): string =>
  `${crypto.randomUUID().replaceAll('-', '').slice(0, CHANCE)}t${Math.floor(now).toString(36)}`

/** Reads the time at which a lane was opened from its name; null for the name of a bell. */
export function openSince(lane: string): number | null {
  const [, moment] = /^[0-9a-f]{21}t([0-9a-z]{8,9})$/.exec(lane) ?? []
  return moment === undefined ? null : Number.parseInt(moment, 36)
}
