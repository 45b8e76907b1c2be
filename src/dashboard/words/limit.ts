import { SidejobError } from '../../core/errors.ts'
import { exactDuration } from '../../core/time.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../core/units.ts'
import type { GroupView, LimitView } from '../../engine/engine.ts'
import { maybe, numberIn } from './form.ts'
import { count, span } from './text.ts'

type Slots = Pick<LimitView, 'concurrency' | 'running'>

export const hasFreeSlots = ({ concurrency, running }: Slots): boolean => concurrency === null || running < concurrency

/** Jobs wait for a slot. */
export const isFull = (limit: Slots & Pick<LimitView, 'waiting'>): boolean => !hasFreeSlots(limit) && limit.waiting > 0

export const slotsText = ({ concurrency, running }: Slots): string =>
  `${count(running)}${concurrency === null ? '' : ` of ${count(concurrency)}`}`

/** Queued jobs of a group that wait for something other than its limit. */
export const elsewhereIn = ({ jobs, running, waiting }: Pick<GroupView, 'jobs' | 'running' | 'waiting'>): number =>
  Math.max(0, jobs - running - waiting)

export const limitOfClass = (queue: string, name: string): string => `worker:${queue}/${name}`

const COLOURS = 7

/** Derived from the name, so that a group has the same colour on every page. */
export const colourOf = (group: string | null): string =>
  group === null
    ? 'g0'
    : `g${([...group].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)!) % 997, 0) % COLOURS) + 1}`

const periods: Record<number, string> = { [SECOND]: 'second', [MINUTE]: 'minute', [HOUR]: 'hour', [DAY]: 'day' }

export const periodOf = (ms: number): string => periods[ms] ?? span(ms)

type Bound = { concurrency?: number | null; rate?: LimitView['rate'] }

export const boundOf = ({ concurrency, rate }: Bound): string =>
  [
    typeof concurrency === 'number' && `max ${count(concurrency)} running`,
    rate && `${count(rate.limit)} per ${periodOf(rate.period)}`,
  ]
    .filter(Boolean)
    .join(', ') || 'unlimited'

export const boundFields = ({ concurrency, rate }: Bound): Record<string, string> => ({
  ...(typeof concurrency === 'number' && { concurrency: String(concurrency) }),
  ...(rate && { limit: String(rate.limit), period: exactDuration(rate.period) }),
})

export function boundsIn(form: Pick<FormData, 'get'>) {
  const [concurrency, starts, period] = ['concurrency', 'limit', 'period'].map((name) => maybe(form, name))
  if ((starts === undefined) !== (period === undefined))
    throw new SidejobError('BAD_REQUEST', 'rate: expected both a number of starts and a period, got only one', {
      path: ['period'],
    })
  return {
    concurrency: concurrency === undefined ? null : numberIn(concurrency, 'concurrency'),
    rate: starts === undefined ? null : { limit: numberIn(starts, 'limit'), period: period! },
  }
}

export function kindOfLimit({ key, paused, ...bound }: LimitView): string {
  const [kind] = key.split(':')
  const whose = { worker: 'of the class', group: 'of the group', constraint: 'by a constraint', callback: 'built in' }[
    kind!
  ]
  return [paused && 'paused', boundOf(bound), key.includes(':') && whose].filter(Boolean).join(', ')
}
