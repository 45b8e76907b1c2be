// The name contains the time when the lane started, so Redis need not store it.

/** The tokens of a lane's runs begin with this many characters of its name. */
const RANDOM_LENGTH = 21

export const newLaneName = (now: number): string =>
  `${crypto.randomUUID().replaceAll('-', '').slice(0, RANDOM_LENGTH)}t${Math.floor(now).toString(36)}`

export function openSince(lane: string): number | null {
  const [, moment] = /^[0-9a-f]{21}t([0-9a-z]{8,9})$/.exec(lane) ?? []
  return moment === undefined ? null : Number.parseInt(moment, 36)
}
