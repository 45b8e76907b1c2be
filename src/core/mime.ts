// A type must match every glob without `!`, and no glob with `!`.

import { SidejobError } from './errors.ts'
import { fitsSteps, type Step } from './glob.ts'

type Pattern = { text: string; not: boolean; globs: Step[][] }

const unreadable = (text: string) => new SidejobError('BAD_REQUEST', `Invalid MimeType Pattern, "${text}"`)

const noSlash = (char: string) => char !== '/'
const is = (wanted: string) => (char: string) => char === wanted

function setOf(body: string, text: string): Step {
  const not = body.startsWith('!')
  const ranges = [...(not ? body.slice(1) : body).matchAll(/(.)-(.)|(.)/gsu)].map(
    ([, from, to, one]) => [one ?? from!, one ?? to!] as const,
  )
  if (ranges.length === 0 || ranges.some(([from, to]) => from > to)) throw unreadable(text)
  return { fits: (char) => ranges.some(([from, to]) => from <= char && char <= to) !== not }
}

/** `*` does not match a slash, and `**` does. `[a-z]` and `[!a-z]` match one character. */
function globOf(text: string): Step[] {
  const steps: Step[] = []
  const small = text.toLowerCase()
  for (let at = 0; at < small.length; at++) {
    const char = small[at]!
    if (char === '[') {
      const end = small.indexOf(']', at)
      if (end < 0) throw unreadable(text)
      steps.push(setOf(small.slice(at + 1, end), text))
      at = end
    } else if (char === '*') {
      const isAny = small[at + 1] === '*'
      steps.push({ fits: isAny ? () => true : noSlash, many: true })
      if (isAny) at++
    } else if (char === '?') steps.push({ fits: noSlash })
    else if (char === '\\') {
      if (++at === small.length) throw unreadable(text)
      steps.push({ fits: is(small[at]!) })
    } else steps.push({ fits: is(char) })
  }
  return steps
}

function patternOf(entry: string): Pattern {
  const not = entry.startsWith('!')
  const text = not ? entry.slice(1) : entry
  return { text, not, globs: text.split('|').map((glob) => globOf(glob.trim())) }
}

/** `|` separates alternatives: `image/png|image/jpeg`. */
export const mimePatterns = (list: string): Pattern[] =>
  list === '' ? [] : list.split(',').map((entry) => patternOf(entry.trim()))

/**
 * Returns undefined if the type matches the list.
 *
 * @example
 * mimeFault('!image/gif,image/*', 'image/gif') // 'Expected mime-type not to be (image/gif) found - (image/gif)'
 */
export function mimeFault(list: string, type: string): string | undefined {
  const wrong = mimePatterns(list).find(
    ({ not, globs }) => globs.some((glob) => fitsSteps(glob, type.toLowerCase())) === not,
  )
  if (!wrong) return undefined
  return wrong.not
    ? `Expected mime-type not to be (${wrong.text}) found - (${type})`
    : `Expected mime-type to be (${wrong.text}), found (${type})`
}
