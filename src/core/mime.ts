// The pattern language for file types: a comma list of globs that must all hold, `!` before one that must not.

import { SidejobError } from './errors.ts'

type Pattern = { text: string; not: boolean; globs: RegExp[] }

// What stands for itself in a glob but not in a regular expression.
const SPECIAL = /[.+^${}()|/]/

const unreadable = (text: string) => new SidejobError('BAD_REQUEST', `Invalid MimeType Pattern, "${text}"`)

/** `*` is any text but a slash, `**` any text, `?` one character, `[a-z]` and `[!a-z]` one of some. */
function globOf(text: string): RegExp {
  let made = ''
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!
    if (char === '[') {
      const end = text.indexOf(']', at + 2)
      if (end < 0) throw unreadable(text)
      made += `[${text
        .slice(at + 1, end)
        .replace(/^!/, '^')
        .replaceAll('\\', '\\\\')}]`
      at = end
    } else if (char === '*') {
      made += text[at + 1] === '*' ? '.*' : '[^/]*'
      if (text[at + 1] === '*') at++
    } else if (char === '?') made += '[^/]'
    else if (char === '\\') {
      if (at + 1 === text.length) throw unreadable(text)
      made += text[++at]!.replace(/\W/, '\\$&')
    } else made += SPECIAL.test(char) ? `\\${char}` : char
  }
  try {
    return new RegExp(`^${made}$`, 'i')
  } catch {
    throw unreadable(text)
  }
}

function patternOf(entry: string): Pattern {
  const not = entry.startsWith('!')
  const text = not ? entry.slice(1) : entry
  return { text, not, globs: text.split('|').map((glob) => globOf(glob.trim())) }
}

/** Reads patterns, or says which is none. Within an entry `|` means or: `image/png|image/jpeg`. */
export const mimePatterns = (list: string): Pattern[] =>
  list === '' ? [] : list.split(',').map((entry) => patternOf(entry.trim()))

/**
 * What is wrong with a type, or undefined when it is as the patterns want it.
 *
 * @example mimeFault('!image/gif,image/*', 'image/gif') // 'Expected mime-type not to be (image/gif) found - (image/gif)'
 */
export function mimeFault(list: string, type: string): string | undefined {
  const wrong = mimePatterns(list).find(({ not, globs }) => globs.some((glob) => glob.test(type)) === not)
  if (!wrong) return undefined
  return wrong.not
    ? `Expected mime-type not to be (${wrong.text}) found - (${type})`
    : `Expected mime-type to be (${wrong.text}), found (${type})`
}
