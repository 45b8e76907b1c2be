import { type Constraint, constraint } from '../../core/constraint.ts'
import { check } from '../../core/issues.ts'
import { jsonText, numberIn } from './form.ts'
import { boundFields } from './limit.ts'

export const fields = ['queue', 'class', 'args', 'groupBy', 'concurrency', 'limit', 'period'] as const

export type Typed = Partial<Record<(typeof fields)[number], string>>

export function bodyOf({ queue, class: name, args, groupBy, concurrency, limit, period }: Typed): object {
  return {
    match: {
      ...(queue ? { queue } : {}),
      ...(name ? { class: name } : {}),
      ...(args ? { args: JSON.parse(jsonText(args, 'args')) } : {}),
    },
    ...(groupBy ? { groupBy } : {}),
    ...(concurrency ? { concurrency: numberIn(concurrency, 'concurrency') } : {}),
    ...(limit || period ? { rate: { ...(limit ? { limit: numberIn(limit, 'limit') } : {}), period } } : {}),
  }
}

export const constraintOf = (typed: Typed): Constraint => check(constraint, bodyOf(typed))

export function fieldsOf({ match, groupBy, concurrency, rate }: Constraint): Typed {
  return {
    ...(match.queue ? { queue: match.queue } : {}),
    ...(match.class ? { class: match.class } : {}),
    ...(match.args ? { args: JSON.stringify(match.args) } : {}),
    ...(groupBy ? { groupBy } : {}),
    ...boundFields({ concurrency, rate }),
  }
}

function conditionOf(path: string, condition: unknown): string {
  if (condition === null || typeof condition !== 'object') return `args.${path} = ${JSON.stringify(condition)}`
  if ('equals' in condition) return `args.${path} = ${JSON.stringify(condition.equals)}`
  return `args.${path} ${Object.entries(condition)
    .map(([name, value]) => `${name} ${JSON.stringify(value)}`)
    .join(', ')}`
}

export function matchesOf({ match: { queue, class: name, args }, groupBy }: Constraint): string {
  const about = [
    ...(queue ? [`queue ${queue}`] : []),
    ...(name ? [`class ${name}`] : []),
    ...Object.entries(args ?? {}).map(([path, condition]) => conditionOf(path, condition)),
  ]
  return `${about.join(', ') || 'all jobs'}${groupBy ? `, by args.${groupBy}` : ''}`
}
