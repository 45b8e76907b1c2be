import { expect, test } from 'vitest'
import type * as z from 'zod'
import type { Route } from '../../src/http/route.ts'
import { list } from '../../src/http/routes.ts'

type Def = {
  type: string
  shape: Record<string, z.ZodType>
  options: z.ZodType[]
  element: z.ZodType
  valueType: z.ZodType
  innerType: z.ZodType
  in: z.ZodType
  left: z.ZodType
  right: z.ZodType
}
const defOf = (schema: z.ZodType): Def => schema._zod.def as unknown as Def

type Part = { path: string; type: string; takes: (value: unknown) => boolean }

const answers = new WeakMap<z.ZodType, Map<unknown, boolean>>()

function isTaken(schema: z.ZodType, value: unknown): boolean {
  const known = answers.get(schema) ?? new Map<unknown, boolean>()
  answers.set(schema, known)
  const taken = known.get(value) ?? schema.safeParse(value).success
  known.set(value, taken)
  return taken
}

/** `around`: the enclosing schemas, which may also limit the part. */
function* partsOf(schema: z.ZodType, path: string, around: z.ZodType[] = [], depth = 0): Generator<Part> {
  if (depth > 12) return
  const def = defOf(schema)
  const outer = [schema, ...around]
  const inner = (one: z.ZodType, name = '') => partsOf(one, path + name, [], depth + 1)
  const takes = (value: unknown) => outer.every((one) => isTaken(one, value))
  switch (def.type) {
    case 'object':
      for (const [name, one] of Object.entries(def.shape)) yield* inner(one, `.${name}`)
      return
    case 'array':
      yield { path: `${path}[]`, type: 'array', takes }
      yield* inner(def.element, '[]')
      return
    case 'record':
      yield { path: `${path}{}`, type: 'record', takes }
      yield* inner(def.valueType, '{}')
      return
    case 'union':
      for (const option of def.options) yield* partsOf(option, path, outer, depth + 1)
      return
    case 'pipe':
      yield* partsOf(def.in, path, outer, depth + 1)
      return
    case 'number':
    case 'string':
      yield { path, type: def.type, takes }
      return
    default:
      if (def.innerType) yield* partsOf(def.innerType, path, outer, depth + 1)
  }
}

const MANY = 20_001
const tooMuch: Record<string, unknown[]> = {
  number: [Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER],
  string: ['a'.repeat(2_000_000), '7'.repeat(2_000_000)],
  array: ['a', 1, {}].map((one) => Array(MANY).fill(one)),
  record: ['a', 1, {}].map((one) => Object.fromEntries(Array.from({ length: MANY }, (_, i) => [`a${i}`, one]))),
}

/** These numbers need no limit. */
const PLAIN = [
  // The id of a job.
  /\.(job|parent)( |$)/,
  /^body\.(id|nodes\{\}\.init|ids\[\])$/,
  // The number of a commit, and the positions of its reads.
  /^body\.(n|reads\{\}\.(cursor|count)|ops\[\]\.cursor)$/,
  // A number to compare with a number in args.
  /^body\.match\.args\{\}(\.(equals|in\[\]|min|max))?$/,
  // A number to add to a sum, which is a double.
  /^body\.counts\{\}$/,
]
const CUT = ['body.error.message', 'body.error.stack']

const isExempt = ({ path, type }: Part): boolean =>
  type === 'number' ? PLAIN.some((one) => one.test(path)) : CUT.includes(path)

function unbounded({ body, query }: Route): string[] {
  const parts = [...(body ? partsOf(body, 'body') : []), ...(query ? partsOf(query, 'query') : [])]
  return [
    ...new Set(
      parts
        .filter((part) => !isExempt(part))
        .filter(({ type, takes }) => tooMuch[type]!.some(takes))
        .map(({ path, type }) => `${path} (${type})`),
    ),
  ]
}

test.each((list as Route[]).map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s limits all of its input',
  (_, route) => {
    expect(unbounded(route)).toEqual([])
  },
)
