import { SidejobError } from '../../core/errors.ts'
import type { Labels } from '../../core/labels.ts'
import { compact } from './json.ts'

export const unexpected = (name: string, what: string): SidejobError =>
  new SidejobError('BAD_REQUEST', `${name}: expected ${what}`, { path: [name] })

export function given(form: Pick<FormData, 'get'>, name: string): string {
  const value = form.get(name)
  if (typeof value !== 'string' || value === '') throw unexpected(name, 'a value, got nothing')
  return value
}

export const maybe = (form: Pick<FormData, 'get'>, name: string): string | undefined => {
  const value = form.get(name)
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
}

export const linesIn = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

/** Returns text, so that numbers keep all digits. */
export function typedJson(text: string, name: string): string {
  try {
    JSON.parse(text)
    return text
  } catch {
    throw unexpected(name, `JSON, got ${text.slice(0, 60)} (a string needs quotes)`)
  }
}

export const jsonText = (text: string, name: string): string => compact(typedJson(text, name))

export function numberIn(text: string, name: string): number {
  const n = Number(text)
  if (Number.isFinite(n)) return n
  throw unexpected(name, `a number, got "${text.slice(0, 60)}"`)
}

export const objectOf = (members: Record<string, string | undefined>): string =>
  `{${Object.entries(members)
    .filter(([, json]) => json !== undefined)
    .map(([name, json]) => `${JSON.stringify(name)}:${json}`)
    .join(',')}}`

/** Shortens an error's path to the form's field: a member of the value may have the name of another field. */
export async function naming<T>(fields: readonly string[], asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    const field = error instanceof SidejobError && error.path?.[0]
    if (!(error instanceof SidejobError) || typeof field !== 'string' || !fields.includes(field)) throw error
    throw new SidejobError(error.code, error.message, { path: [field], cause: error })
  }
}

export function labelsIn(text: string): Labels {
  const pairs = linesIn(text).map((line) => {
    const [, name, value] = /^([^=]+)=(.+)$/.exec(line) ?? []
    if (name !== undefined) return [name, value!] as const
    throw unexpected('labels', `name=value, got "${line.slice(0, 60)}"`)
  })
  return Object.fromEntries(pairs)
}

export const labelWords = (labels: Labels): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')
