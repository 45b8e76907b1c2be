import { type Constraint, constraint } from '../../core/constraint.ts'
import { isObject } from '../../core/is-object.ts'
import { check } from '../../core/issues.ts'
import { jsonText, numberIn } from './form.ts'
import { boundFields } from './limit.ts'

export const fields = ['queue', 'class', 'args', 'groupBy', 'concurrency', 'limit', 'period'] as const

export type Typed = Partial<Record<(typeof fields)[number], string>>

export function bodyOf({ queue, class: name, args, groupBy, concurrency, limit, period }: Typed): object {
  return {
    match: { queue, class: name, args: args && JSON.parse(jsonText(args, 'args')) },
    groupBy,
    concurrency: concurrency && numberIn(concurrency, 'concurrency'),
    rate: limit || period ? { limit: limit && numberIn(limit, 'limit'), period } : undefined,
  }
}

export const constraintOf = (typed: Typed): Constraint => check(constraint, bodyOf(typed))

export const fieldsOf = ({ match: { args, ...match }, groupBy, ...bounds }: Constraint): Typed => ({
  ...match,
  args: args && JSON.stringify(args),
  groupBy,
  ...boundFields(bounds),
})

function conditionOf(path: string, condition: unknown): string {
  const value = isObject(condition) && 'equals' in condition ? condition.equals : condition
  if (!isObject(value)) return `args.${path} = ${JSON.stringify(value)}`
  const bounds = Object.entries(value).map(([name, bound]) => `${name} ${JSON.stringify(bound)}`)
  return `args.${path} ${bounds.join(', ')}`
}

export function matchesOf({ match: { queue, class: name, args }, groupBy }: Constraint): string {
  const about = [
    queue && `queue ${queue}`,
    name && `class ${name}`,
    ...Object.entries(args ?? {}).map(([path, condition]) => conditionOf(path, condition)),
  ]
  return `${about.filter(Boolean).join(', ') || 'all jobs'}${groupBy ? `, by args.${groupBy}` : ''}`
}
