import type * as z from 'zod'
import { quickParses } from './alike.ts'
import { type Code, SidejobError } from './errors.ts'

type Path = (string | number)[]
type Issue = z.core.$ZodIssue

/** @throws BAD_REQUEST with the path of the first invalid value */
export const check = <Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> => {
  const quick = quickParses.get(schema)?.(input)
  if (quick !== undefined) return quick as z.output<Schema>
  const parsed = schema.safeParse(input, { error: expected, reportInput: true })
  if (parsed.success) return parsed.data
  throw fault(innermost(first(parsed.error.issues), []))
}

export const faultOf = (schema: z.ZodType, input: unknown): { path: Path; message: string } | undefined => {
  const parsed = schema.safeParse(input, { error: expected, reportInput: true })
  if (parsed.success) return undefined
  const { issue, path } = innermost(first(parsed.error.issues), [])
  if (issue.code !== 'unrecognized_keys') return { path, message: words(issue) }
  return { path: [...path, issue.keys[0]!], message: 'unknown member' }
}

export const dotted = (path: Path): string =>
  path.map((step, i) => (typeof step === 'number' ? `[${step}]` : `${i ? '.' : ''}${step}`)).join('') || 'the body'

export const faultText = ({ path, message }: { path: Path; message: string }): string =>
  path.length > 0 ? `${dotted(path)}: ${message}` : message

const fault = ({ issue, path }: Found): SidejobError => {
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0]!
    return new SidejobError('BAD_REQUEST', `${dotted([...path, key])}: unknown member`, { path: [...path, key] })
  }
  const at = code(issue)
  return new SidejobError(at, at === 'NOT_FOUND' ? issue.message : `${dotted(path)}: ${words(issue)}`, { path })
}

const words = (issue: Issue): string => {
  const message = issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message
  if (issue.input === undefined && issue.code !== 'custom') return 'is missing'
  const isRule = issue.code === 'custom' && !message.startsWith('expected ')
  return isRule || / got /.test(message) ? message : `${message}, got ${shown(issue)}`
}

const code = (issue: Issue): Code => {
  if (issue.code === 'custom') return (issue.params?.code as Code | undefined) ?? 'BAD_REQUEST'
  return issue.code === 'too_big' && issue.origin === 'array' ? 'TOO_LARGE' : 'BAD_REQUEST'
}

const SECRET = /^(secret|token|key)$/

const shown = ({ input, path, code }: Issue): string => {
  if (Array.isArray(input)) return `a list of ${input.length}`
  if (typeof input === 'object' && input !== null) return 'an object'
  if (code === 'custom' && typeof input === 'string' && input.length > 60) return `${input.length} characters`
  if (SECRET.test(String(path.at(-1)))) return 'something else'
  return (typeof input === 'string' ? JSON.stringify(input) : String(input)).slice(0, 60)
}

// Reports an unknown member first, because it may be the misspelled name of a missing member.
const first = (issues: Issue[]): Issue => issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0]!

type Found = { issue: Issue; path: Path }

const innermost = (issue: Issue, above: Path): Found => {
  const path = [...above, ...(issue.path as Path)]
  if (issue.code !== 'invalid_union') return { issue, path }
  const meant = issue.errors.filter((option) => !option.some(isOther))
  const best = meant.toSorted((a, b) => a.length - b.length)
  if (best.length === 0 || best[0]!.length === best[1]?.length) return { issue, path }
  return innermost(first(best[0]!), path)
}

const isOther = (issue: Issue): boolean => {
  if (issue.code === 'invalid_union' && 'note' in issue && issue.note === 'No matching discriminator') return true
  if (issue.path.length > 0) return false
  if (issue.code === 'invalid_union') return issue.errors.every((option) => option.some(isOther))
  return issue.code === 'invalid_type' || issue.code === 'invalid_value'
}

const kinds: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
}

const parts: Record<string, string> = { array: ' items', string: ' characters' }

const expected = (issue: z.core.$ZodRawIssue): string | undefined => {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${kinds[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return `expected ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`
    case 'too_small':
      return `expected at least ${issue.minimum}${parts[issue.origin] ?? ''}`
    case 'too_big':
      return `expected at most ${issue.maximum}${parts[issue.origin] ?? ''}`
    case 'invalid_union':
      return `expected ${listed(Array.isArray(issue.options) ? issue.options.map(String) : formsOf(issue.errors))}`
  }
  return undefined
}

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
