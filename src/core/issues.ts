import type * as z from 'zod'
import { quickParses } from './alike.ts'
import { counted } from './counted.ts'
import { type Code, SidejobError } from './errors.ts'
import type { Fault } from './json-schema/index.ts'
import { kinds, type Path, shown } from './json-schema/schema.ts'

type Issue = z.core.$ZodIssue

/** @throws BAD_REQUEST for the first invalid value */
export const check = <Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> => {
  const quick = quickParses.get(schema)?.(input)
  if (quick !== undefined) return quick as z.output<Schema>
  const { data, fault } = parsedBy(schema, input)
  if (!fault) return data as z.output<Schema>
  const { code, path, message } = fault
  throw new SidejobError(code, code === 'NOT_FOUND' ? message : `${dotted(path)}: ${message}`, { path })
}

export const parsedBy = (schema: z.ZodType, input: unknown, isSecret?: boolean) => {
  const { data, error } = schema.safeParse(input, options)
  return { data, fault: error && faultIn(error, isSecret) }
}

export const dotted = (path: Path): string =>
  path.map((step, i) => (typeof step === 'number' ? `[${step}]` : `${i ? '.' : ''}${step}`)).join('') || 'the body'

export const faultText = ({ path, message }: Fault): string =>
  path.length > 0 ? `${dotted(path)}: ${message}` : message

const faultIn = ({ issues }: z.ZodError, isSecret?: boolean): Fault & { code: Code } => {
  const { issue, path } = innermost(first(issues), [])
  if (issue.code !== 'unrecognized_keys') return { code: codeOf(issue), path, message: words(issue, isSecret) }
  return { code: 'BAD_REQUEST', path: [...path, issue.keys[0]!], message: 'unknown member' }
}

const words = (issue: Issue, isSecret?: boolean): string => {
  const { message } = issue
  if (issue.input === undefined && issue.code !== 'custom') return 'is missing'
  const isRule = issue.code === 'custom' && !message.startsWith('expected ')
  return isRule || / got /.test(message) ? message : `${message}, got ${received(issue, isSecret)}`
}

const codeOf = (issue: Issue): Code => {
  if (issue.code === 'custom') return (issue.params?.code as Code | undefined) ?? 'BAD_REQUEST'
  return issue.code === 'too_big' && issue.origin === 'array' ? 'TOO_LARGE' : 'BAD_REQUEST'
}

const SECRET = /^(secret|token|key)$/

const received = ({ input, path }: Issue, isSecret?: boolean): string =>
  isSecret || (typeof input === 'string' && SECRET.test(String(path.at(-1)))) ? 'something else' : shown(input)

// Reports an unknown member first, because it may be the misspelled name of a missing member.
const first = (issues: Issue[]): Issue => issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0]!

type Found = { issue: Issue; path: Path }

const innermost = (issue: Issue, above: Path): Found => {
  const path = [...above, ...(issue.path as Path)]
  if (issue.code === 'invalid_key') return innermost(issue.issues[0]!, path)
  if (issue.code !== 'invalid_union') return { issue, path }
  // For a wrong discriminator, zod reports the whole object as the input.
  if ('discriminator' in issue)
    return { issue: { ...issue, input: (issue.input as Record<string, unknown>)[issue.discriminator as string] }, path }
  const meant = issue.errors.filter((option) => !option.some(isOther))
  const wrong = issue.errors.find(([one]) => 'discriminator' in one!)
  if (meant.length === 0 && wrong) return innermost(wrong[0]!, path)
  const best = meant.toSorted((a, b) => a.length - b.length)
  if (best.length === 0 || best[0]!.length === best[1]?.length) return { issue, path }
  return innermost(first(best[0]!), path)
}

const isOther = (issue: Issue): boolean => {
  if ('discriminator' in issue) return true
  if (issue.path.length > 0) return false
  if (issue.code === 'invalid_union') return issue.errors.every((option) => option.some(isOther))
  return issue.code === 'invalid_type' || issue.code === 'invalid_value'
}

const zodKinds: Record<string, string> = { int: 'integer', record: 'object', tuple: 'array' }

const units: Record<string, string> = { array: 'item', string: 'character' }

const bound = (n: unknown, of: string) => (of in units ? counted(Number(n), units[of]!) : n)

const text = (value: unknown) => JSON.stringify(value)

const expected = (issue: z.core.$ZodRawIssue): string | undefined => {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${kinds[zodKinds[issue.expected] ?? issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return `expected ${issue.values.map(text).join(' or ')}`
    case 'too_small':
      return `expected ${issue.inclusive ? 'at least' : 'more than'} ${bound(issue.minimum, issue.origin)}`
    case 'too_big':
      return `expected ${issue.inclusive ? 'at most' : 'less than'} ${bound(issue.maximum, issue.origin)}`
    case 'invalid_union':
      return `expected ${listed(Array.isArray(issue.options) ? issue.options.map(text) : formsOf(issue.errors))}`
    case 'custom':
      return 'expected a value that passes the custom check of its schema'
  }
  return undefined
}

const options = { error: expected, reportInput: true }

const formsOf = (options: readonly Issue[][]): string[] => [
  ...new Set(options.flatMap((option) => formsOfOption(first(option)))),
]

function formsOfOption({ code, path, message }: Issue): string[] {
  if (code === 'unrecognized_keys') return ['an object']
  if (path.length > 0) return [`an object with ${dotted(path as Path)}`]
  const forms = message.replace(/^expected /, '').replace(/, got .*$/s, '')
  return code === 'invalid_union' ? forms.split(/, | or /) : [forms]
}

const listed = (forms: readonly string[]): string => forms.join(', ').replace(/, (?!.*, )/, ' or ')
