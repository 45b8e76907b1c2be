/** `dur`: microseconds. */
export type TraceEvent = {
  name: string
  ph: string
  pid: number
  tid: number
  ts: number
  dur?: number
  /** CPU time. `dur` also includes waiting. */
  tdur?: number
  tts?: number
  args?: { name?: string }
}

const kinds = {
  script: [
    'FunctionCall',
    'EvaluateScript',
    'FireAnimationFrame',
    'TimerFire',
    'EventDispatch',
    'RunMicrotasks',
    'v8.callFunction',
  ],
  layout: ['UpdateLayoutTree', 'Layout', 'UpdateLayerTree', 'IntersectionObserverController::computeIntersections'],
  paint: ['PrePaint', 'Paint', 'Layerize', 'Commit', 'CompositeLayers', 'RasterTask'],
} as const

/** Nested events count once. */
function union(events: readonly TraceEvent[]): number {
  let [sum, end] = [0, 0]
  const spans = events.map(({ ts, dur = 0, tts, tdur }) =>
    tts === undefined || tdur === undefined ? [ts, dur] : [tts, tdur],
  )
  for (const [at, long] of (spans as [number, number][]).toSorted((a, b) => a[0] - b[0])) {
    sum += Math.max(0, at + long - Math.max(at, end))
    end = Math.max(end, at + long)
  }
  return sum / 1_000
}

const timeIn = ({ tdur, dur = 0 }: TraceEvent): number => (tdur ?? dur) / 1_000

function partsOf(task: TraceEvent, own: readonly TraceEvent[]): [name: string, ms: number][] {
  const within = own.filter((one) => one !== task && one.ts >= task.ts && one.ts < task.ts + (task.dur ?? 0))
  const names = [...new Set(within.map(({ name }) => name))]
  const times = names.map((name): [string, number] => [name, union(within.filter((one) => one.name === name))])
  return times.toSorted(([, a], [, b]) => b - a).slice(0, 6)
}

export function frameWork(events: readonly TraceEvent[], frames: number) {
  const mains = events.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
  const of = (main: TraceEvent) =>
    events.filter(({ ph, pid, tid }) => ph === 'X' && pid === main.pid && tid === main.tid)
  // With several renderers, the busiest one belongs to the page.
  const own = mains.map(of).toSorted((a, b) => b.length - a.length)[0] ?? []
  const tasks = own.filter(({ name }) => name === 'RunTask' || name === 'ThreadControllerImpl::RunTask')
  const timeOf = (names: readonly string[]) => union(own.filter(({ name }) => names.includes(name))) / frames
  const longest = tasks.toSorted((a, b) => timeIn(b) - timeIn(a))[0]
  return {
    frame: union(tasks) / frames,
    script: timeOf(kinds.script),
    layout: timeOf(kinds.layout),
    paint: timeOf(kinds.paint),
    longest: longest ? timeIn(longest) : 0,
    made: longest ? partsOf(longest, own) : [],
    long: tasks.filter(({ tdur, dur = 0 }) => (tdur ?? dur) > 16_700).length,
  }
}
