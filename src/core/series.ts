// Series of counts: from what was written down, each time all of it, what happened in between.

export const counted = ['made', 'runs', 'errors', 'completed', 'failed', 'terminated', 'lost', 'skipped'] as const

export type Counted = Record<(typeof counted)[number], number>

/** How many minutes and hours are kept, as lib/queue/counts.lua keeps them. */
export const keptSteps = { minute: 240, hour: 336 } as const

/** What happened in a minute or an hour; `longestWait` in milliseconds: of what was claimed, how long it had been ready. */
export type Point = { at: number; longestWait: number } & Counted

type Mark = { moment: number; waited: number; counts: number[] }

function markOf(text: string): Mark {
  const [moment, waited, ...counts] = text.split(',').map(Number)
  return { moment: moment!, waited: waited!, counts }
}

/**
 * The points of one queue, oldest first; what nothing happened in is left out.
 *
 * @example pointsOf({ before: ['10,0,3,2', '12,40,5,2'], latest: '0,0,6,6' }, { step: 60_000, since: 0 })
 */
export function pointsOf(
  { before, latest }: { before: readonly string[]; latest: string },
  { step, since }: { step: number; since: number },
): Point[] {
  const marks = before.map(markOf).sort((a, b) => a.moment - b.moment)
  return marks.flatMap((mark, i) => {
    const next = marks[i + 1] ?? markOf(latest)
    const at = mark.moment * step
    if (at < since) return []
    const counts = counted.map((name, n) => [name, (next.counts[n] ?? 0) - (mark.counts[n] ?? 0)])
    return [{ at, longestWait: next.waited, ...(Object.fromEntries(counts) as Counted) }]
  })
}

/** The points of several queues together, oldest first. */
export function summed(series: readonly Point[][]): Point[] {
  const all = new Map<number, Point>()
  for (const point of series.flat()) {
    const sum = all.get(point.at)
    if (!sum) {
      all.set(point.at, { ...point })
      continue
    }
    for (const name of counted) sum[name] += point[name]
    sum.longestWait = Math.max(sum.longestWait, point.longestWait)
  }
  return [...all.values()].sort((a, b) => a.at - b.at)
}
