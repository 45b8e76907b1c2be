import { pageOf } from '../../core/faults.ts'
import type { LimitView } from '../../engine/engine.ts'
import { count, span } from './text.ts'

export const isFull = ({
  concurrency,
  running,
  waiting,
}: Pick<LimitView, 'concurrency' | 'running' | 'waiting'>): boolean =>
  concurrency !== null && running >= concurrency && waiting > 0

export const wayToLimit = (key: string): string => pageOf({ kind: 'limit', who: key })

/** Ordered by the groups' shares. */
export const colours = ['g1', 'g2', 'g3', 'g4', 'g0'] as const

export function coloursOf(groups: readonly (string | null)[]): Map<string | null, string> {
  const shares = new Map<string, number>()
  for (const group of groups) if (group !== null) shares.set(group, (shares.get(group) ?? 0) + 1)
  const order = [...shares].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([group]) => group)
  const named = order.slice(0, 4).map((group, i) => [group, colours[i]!] as const)
  return new Map<string | null, string>([...order.map((group) => [group, 'g0'] as const), ...named, [null, 'g0']])
}

export function kindOfLimit({ key, concurrency, rate, paused }: LimitView): string {
  const most = [
    ...(concurrency === null ? [] : [`max ${count(concurrency)} running`]),
    ...(rate === null ? [] : [`${count(rate.limit)} in ${span(rate.period)}`]),
  ]
  const [kind] = key.split(':')
  const whose = { worker: 'of the class', group: 'of the group', constraint: 'by a constraint', callback: 'built in' }[
    kind!
  ]
  return [
    ...(paused ? ['paused'] : []),
    most.join(', ') || 'unlimited',
    ...(whose && key.includes(':') ? [whose] : []),
  ].join(', ')
}
