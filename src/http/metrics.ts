// Prometheus text format 0.0.4.

import { type ClassCount, classEnds } from '../core/class-counts.ts'
import { waitBucketEnds } from '../core/waits.ts'
import type { GroupView, LimitView, QueueView } from '../engine/engine.ts'

export type Measured = {
  queues: QueueView[]
  total: Record<string, Record<string, number>>
  waits: Record<string, readonly number[]>
  classes: ({ queue: string } & Pick<ClassCount, 'class' | 'took'>)[]
  limits: LimitView[]
  groups: GroupView[]
}

type Labels = Record<string, string>
type Sample = [labels: Labels, value: number]

const escaped = (text: string): string => text.replace(/["\\\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`))

const labelled = (labels: Labels): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(',')

function histogram(name: string, help: string, samples: Sample[]): string {
  if (samples.length === 0) return ''
  const counts = samples.flatMap(([{ le, ...labels }, n]): Sample[] => (le === '+Inf' ? [[labels, n]] : []))
  const lines = (end: string, all: Sample[]) => all.map(([labels, n]) => `${name}_${end}{${labelled(labels)}} ${n}`)
  const head = [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`]
  return [...head, ...lines('bucket', samples), ...lines('count', counts), ''].join('\n')
}

const family = (name: string, type: 'gauge' | 'counter', help: string, samples: Sample[]): string =>
  samples.length === 0
    ? ''
    : [
        `# HELP ${name} ${help}`,
        `# TYPE ${name} ${type}`,
        ...samples.map(([labels, value]) => `${name}{${labelled(labels)}} ${value}`),
        '',
      ].join('\n')

export function metrics({ queues, total, waits, classes, limits, groups }: Measured): string {
  const rooms = [
    ...limits.map(({ key, ...room }) => ({ labels: { limit: key }, ...room })),
    ...groups.map(({ id, ...room }) => ({ labels: { group: id }, ...room })),
  ]
  return [...ofQueues(queues, total), ofWaits(waits), ofRuns(classes), ...ofLimits(rooms)].join('')
}

/** Counts return to 0 each day. Prometheus treats this like a restart of the process. */
function bucketsOf(labels: Labels, buckets: readonly number[], ends: readonly number[]): Sample[] {
  let sum = 0
  return buckets.map((n, i) => {
    const end = ends[i]!
    return [{ ...labels, le: Number.isFinite(end) ? String(end / 1000) : '+Inf' }, (sum += n)]
  })
}

const ofWaits = (waits: Measured['waits']): string =>
  histogram(
    'sidejob_wait_seconds',
    'Time from ready to start of a run, since midnight UTC.',
    Object.entries(waits).flatMap(([queue, buckets]) => bucketsOf({ queue }, buckets, waitBucketEnds)),
  )

const ofRuns = (classes: Measured['classes']): string =>
  histogram(
    'sidejob_run_seconds',
    'Duration of runs since midnight UTC. Classes beyond the first hundred of a queue are counted together.',
    classes.flatMap(({ queue, class: name, took }) =>
      took ? bucketsOf({ queue, class: name ?? '' }, took.buckets, classEnds) : [],
    ),
  )

const perQueue = (queues: QueueView[], value: (queue: QueueView) => number): Sample[] =>
  queues.map((queue) => [{ queue: queue.name }, value(queue)])

const ofQueues = (queues: QueueView[], total: Measured['total']): string[] => [
  family(
    'sidejob_jobs',
    'gauge',
    'Jobs by status; queued includes jobs that wait for a time (scheduled), a limit (limited) or a pull worker (pull).',
    queues.flatMap(({ name, counts }) =>
      Object.entries(counts).map(([status, n]): Sample => [{ queue: name, status }, n]),
    ),
  ),
  family(
    'sidejob_events_total',
    'counter',
    'Job events, and the counts that jobs report.',
    Object.entries(total).flatMap(([queue, counts]) =>
      Object.entries(counts).map(([event, n]): Sample => [{ queue, event }, n]),
    ),
  ),
  family(
    'sidejob_oldest_ready_timestamp_seconds',
    'gauge',
    'Time at which the oldest ready job became ready.',
    queues.flatMap(({ name, oldestReady }): Sample[] =>
      oldestReady === null ? [] : [[{ queue: name }, oldestReady / 1000]],
    ),
  ),
  family(
    'sidejob_lanes',
    'gauge',
    'Open lanes.',
    perQueue(queues, ({ lanes }) => lanes),
  ),
  family(
    'sidejob_lanes_max',
    'gauge',
    'Maximum number of open lanes.',
    perQueue(queues, ({ maxLanes }) => maxLanes),
  ),
  family(
    'sidejob_queue_paused',
    'gauge',
    '1 while the queue is paused.',
    perQueue(queues, ({ paused }) => (paused ? 1 : 0)),
  ),
]

const ofLimits = (rooms: { labels: Record<string, string>; running: number; waiting: number }[]): string[] => [
  family(
    'sidejob_limit_running',
    'gauge',
    'Runs that hold a slot of the limit.',
    rooms.map(({ labels, running }) => [labels, running]),
  ),
  family(
    'sidejob_limit_waiting',
    'gauge',
    'Jobs that wait for a slot of the limit.',
    rooms.map(({ labels, waiting }) => [labels, waiting]),
  ),
]
