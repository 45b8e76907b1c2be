// Ranges keep a list of 10,000 ids short.

/** @example idsText([9, 8, 7, 3]) // '9-7,3' */
export function idsText(ids: readonly number[]): string {
  const ranges: [from: number, to: number][] = []
  for (const id of ids) {
    const last = ranges.at(-1)
    if (last && last[1] - 1 === id) last[1] = id
    else ranges.push([id, id])
  }
  return ranges.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(',')
}

const MOST = 20_000

export function idsIn(text: string): number[] {
  const ids: number[] = []
  for (const part of text.split(',')) {
    const [, from, to = from] = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(part) ?? []
    if (from === undefined) continue
    for (let id = Number(from); id >= Number(to) && ids.length < MOST; id--) ids.push(id)
  }
  return ids
}
