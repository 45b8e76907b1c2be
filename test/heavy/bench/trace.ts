// What a browser's trace says of the main thread of its page: how long scripts, layout and paint took.

/** An event as the browser writes it; `dur` in microseconds. */
export type TraceEvent = {
  name: string
  ph: string
  pid: number
  tid: number
  ts: number
  dur?: number
  /** Of that what the thread had the processor for: on a busy machine the rest is waiting. */
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

/** Time of these events, those within one another once. */
function union(events: readonly TraceEvent[]): number {
  let [sum, end] = [0, 0]
  // By the clock of the thread, where the browser tells it.
  const spans = events.map(({ ts, dur = 0, tts, tdur }) =>
    tts === undefined || tdur === undefined ? [ts, dur] : [tts, tdur],
  )
  for (const [at, long] of (spans as [number, number][]).toSorted((a, b) => a[0] - b[0])) {
    sum += Math.max(0, at + long - Math.max(at, end))
    end = Math.max(end, at + long)
  }
  return sum / 1_000
}

/**
 * Milliseconds of the main thread for each frame, and its longest task.
 *
 * @example frameWork(traceEvents, 600).frame // 2.1
 */
export function frameWork(events: readonly TraceEvent[], frames: number) {
  const mains = events.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
  const of = (main: TraceEvent) =>
    events.filter(({ ph, pid, tid }) => ph === 'X' && pid === main.pid && tid === main.tid)
  // Of several renderers the one that does something is that of the page.
  const own = mains.map(of).toSorted((a, b) => b.length - a.length)[0] ?? []
  const tasks = own.filter(({ name }) => name === 'RunTask' || name === 'ThreadControllerImpl::RunTask')
  const timeOf = (names: readonly string[]) => union(own.filter(({ name }) => names.includes(name))) / frames
  const longest = Math.max(0, ...tasks.map(({ tdur, dur = 0 }) => (tdur ?? dur) / 1_000))
  return {
    frame: union(tasks) / frames,
    script: timeOf(kinds.script),
    layout: timeOf(kinds.layout),
    paint: timeOf(kinds.paint),
    longest,
    long: tasks.filter(({ tdur, dur = 0 }) => (tdur ?? dur) > 16_700).length,
  }
}
