export const events = ['made', 'runs', 'errors', 'completed', 'failed', 'terminated', 'lost', 'skipped'] as const

export type Counted = Record<(typeof events)[number], number>

export const countedBy = (count: (at: number) => number): Counted =>
  Object.fromEntries(events.map((name, at) => [name, count(at)])) as Counted

/** Must match lib/queue/counts.lua. */
export const keptSteps = { minute: 240, hour: 336 } as const

export const gauges = ['ready', 'running', 'limited'] as const

type Gauges = Record<(typeof gauges)[number], number> & { oldestReady: number | null }

/** `longestWait`: milliseconds from ready to claimed. */
export type Point = { at: number; longestWait: number } & Counted & Gauges

export const emptyPoint = (at: number): Point => ({
  ...(Object.fromEntries([...events, ...gauges].map((name) => [name, 0])) as Omit<Point, 'at'>),
  at,
  longestWait: 0,
  oldestReady: null,
})

type Mark = { moment: number; waited: number; counts: number[]; gauges: Gauges }

function parseGauges([ready, running, limited, front]: string[]): Gauges {
  const oldestReady = front ? Math.floor(Number.parseInt(front, 16) / 1000) : null
  return { ready: Number(ready ?? 0), running: Number(running ?? 0), limited: Number(limited ?? 0), oldestReady }
}

function markOf(text: string): Mark {
  const [moment, waited, ...words] = text.split(',')
  const counts = words.slice(0, events.length).map(Number)
  return { moment: Number(moment), waited: Number(waited), counts, gauges: parseGauges(words.slice(events.length)) }
}

export function pointsOf(
  { before, latest }: { before: readonly string[]; latest: string },
  { step, since, to = Number.POSITIVE_INFINITY }: { step: number; since: number; to?: number },
): Point[] {
  const marks = before.map(markOf).sort((a, b) => a.moment - b.moment)
  return marks.flatMap((mark, i) => {
    const next = marks[i + 1] ?? markOf(latest)
    const at = mark.moment * step
    if (at < since || at >= to) return []
    const counts = countedBy((n) => (next.counts[n] ?? 0) - (mark.counts[n] ?? 0))
    return [{ at, longestWait: next.waited, ...counts, ...mark.gauges }]
  })
}

const earlier = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b)

export function sumSeries(series: readonly Point[][]): Point[] {
  const all = new Map<number, Point>()
  for (const point of series.flat()) {
    const sum = all.get(point.at)
    if (!sum) {
      all.set(point.at, { ...point })
      continue
    }
    for (const name of [...events, ...gauges]) sum[name] += point[name]
    sum.oldestReady = earlier(sum.oldestReady, point.oldestReady)
    sum.longestWait = Math.max(sum.longestWait, point.longestWait)
  }
  return [...all.values()].sort((a, b) => a.at - b.at)
}
