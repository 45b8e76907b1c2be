import { CALLBACKS, isCallbackQueue } from '../../core/callback.ts'
import type { CurrentRun, Glance, QueueView, Stats } from '../../engine/engine.ts'

const library = new Set(['core', 'alerts', 'files', 'downloader'])

export const isBuiltIn = (queue: string): boolean => isCallbackQueue(queue) || library.has(queue)

/** Jobs that wait only for a lane or a pull worker, or until their queue is resumed. */
export const startableIn = ({ counts: { queued, scheduled, limited } }: QueueView): number =>
  Math.max(0, queued - scheduled - limited)

const hasFailed = ({ counts }: QueueView): boolean => counts.failed > 0

export const failedIn = ({ queues }: Pick<Stats, 'queues'>): { callbacks: boolean; any: boolean } => ({
  callbacks: queues.some((queue) => queue.name === CALLBACKS.queue && hasFailed(queue)),
  any: queues.some(hasFailed),
})

export const pausedNames = ({ queues }: Pick<Stats, 'queues'>): ReadonlySet<string> =>
  new Set(queues.flatMap(({ name, paused }) => (paused ? name : [])))

export const readyIn = (queue: QueueView): number => (queue.paused ? 0 : startableIn(queue))

export const pausedIn = (queue: QueueView): number => (queue.paused ? startableIn(queue) : 0)

export const waitingIn = ({ counts }: QueueView): number => counts.queued - counts.scheduled

const failedOrHeld = (queue: QueueView): number =>
  queue.counts.failed + (queue.paused ? waitingIn(queue) : queue.counts.limited + queue.counts.pull)

export const isInUse = ({ name, counts }: QueueView): boolean =>
  !isCallbackQueue(name) || counts.queued + counts.running + counts.suspended + counts.failed > 0

export const byTrouble = (a: QueueView, b: QueueView): number =>
  failedOrHeld(b) - failedOrHeld(a) || Number(isBuiltIn(a.name)) - Number(isBuiltIn(b.name))

type AtWork = Pick<Glance, 'processes' | 'others'>

export const runsIn = ({ processes, others }: AtWork): CurrentRun[] => [
  ...processes.flatMap(({ runs }) => runs),
  ...others,
]

export type Queue = QueueView & { pulled: number }

export function withPulled<One extends QueueView>(
  queues: readonly One[],
  { processes, others }: AtWork,
): (One & Queue)[] {
  const runs = runsIn({
    processes: processes.filter(({ kind }) => kind === 'pull'),
    others: others.filter(({ by }) => by === 'pull'),
  })
  return queues.map((queue) => {
    const { name, mode, counts } = queue
    const own = mode === 'pull' ? counts.running : runs.filter(({ queue }) => queue === name).length
    return { ...queue, pulled: Math.min(own, counts.running) }
  })
}
