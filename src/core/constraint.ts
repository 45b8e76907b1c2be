import * as z from 'zod'
import { fitsGlob } from './glob.ts'
import { atMost } from './schemas/at-most.ts'
import { concurrency, label, rate } from './schemas.ts'

const scalar = z.union([z.string().max(1_000), z.number(), z.boolean(), z.null()])

const condition = z.union([
  scalar,
  z.strictObject({ equals: scalar }),
  z.strictObject({ in: z.array(scalar).min(1).max(1_000) }),
  z.strictObject({ glob: z.string().min(1).max(255) }),
  z.strictObject({ min: z.number().optional(), max: z.number().optional() }),
])

export const constraint = z.strictObject({
  match: z.strictObject({
    queue: label.optional(),
    class: label.optional(),
    args: z
      .record(z.string().min(1).max(255), condition)
      .refine(...atMost(100, 'paths'))
      .optional(),
  }),
  concurrency: concurrency.optional(),
  rate: rate.optional(),
  groupBy: z.string().min(1).max(255).optional(),
})

export type Constraint = z.output<typeof constraint>
type Condition = z.output<typeof condition>

type Matched = { queue: string; class: string; args: unknown }

export function atPath(value: unknown, path: string): unknown {
  let here = value
  for (const step of path.split('.')) {
    if (here === null || typeof here !== 'object' || !Object.hasOwn(here, step)) return undefined
    here = (here as Record<string, unknown>)[step]
  }
  return here
}

const inRange = (value: unknown, min = -Infinity, max = Infinity): boolean =>
  typeof value === 'number' && value >= min && value <= max

function fits(value: unknown, condition: Condition): boolean {
  if (condition === null || typeof condition !== 'object') return value === condition
  if ('equals' in condition) return value === condition.equals
  if ('in' in condition) return condition.in.some((one) => one === value)
  if ('glob' in condition) return typeof value === 'string' && fitsGlob(condition.glob, value)
  return inRange(value, condition.min, condition.max)
}

export const isAbout = ({ match }: Constraint, job: Matched): boolean =>
  (match.queue === undefined || fitsGlob(match.queue, job.queue)) &&
  (match.class === undefined || fitsGlob(match.class, job.class)) &&
  Object.entries(match.args ?? {}).every(([path, condition]) => fits(atPath(job.args, path), condition))

export function limitKeyOf(name: string, { groupBy }: Constraint, job: Matched): string {
  if (groupBy === undefined) return `constraint:${name}`
  return `constraint:${name}:${JSON.stringify(atPath(job.args, groupBy) ?? null)}`
}

export const isLimitOf = (name: string, key: string): boolean =>
  key === `constraint:${name}` || key.startsWith(`constraint:${name}:`)

const GROUP = 'group:'

export const groupKey = (id: string): string => `${GROUP}${id}`

export const groupIdOf = (key: string): string | undefined =>
  key.startsWith(GROUP) ? key.slice(GROUP.length) : undefined
