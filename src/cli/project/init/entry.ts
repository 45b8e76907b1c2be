// Changes `export default app` to `export default jobs.with(app)`.

const OPEN = '([{'
const CLOSE = ')]}'

function behindText(text: string, at: number): number {
  const found = /^(?:\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`)/.exec(
    text.slice(at),
  )
  return at + (found ? found[0].length : 0)
}

function expressionEnd(text: string, at: number): number {
  let depth = 0
  let last = at
  for (let i = at; i < text.length; ) {
    const behind = behindText(text, i)
    if (behind > i) {
      if (!text.startsWith('//', i) && !text.startsWith('/*', i)) last = behind
      i = behind
      continue
    }
    const letter = text[i]!
    if (depth === 0 && letter === ';') return last
    if (depth === 0 && letter === '\n' && !/^\s*(satisfies|as|\.|\?|\|\||&&)/.test(text.slice(i))) return last
    if (OPEN.includes(letter)) depth++
    if (CLOSE.includes(letter)) depth--
    if (!/\s/.test(letter)) last = i + 1
    i++
  }
  return last
}

function defaultExportAt(text: string): number | undefined {
  for (let i = 0; i < text.length; ) {
    const behind = behindText(text, i)
    if (behind > i) i = behind
    else if (/^export\s+default\s/.test(text.slice(i, i + 40)) && !/[\w$.]/.test(text[i - 1] ?? ' ')) return i
    else i++
  }
  return undefined
}

function withImport(text: string, line: string): string {
  const statements = [...text.matchAll(/^import\s(?:[^'"`;]*?from\s*)?(['"])[^'"\n]*\1[^\n]*/gm)]
  const last = statements.at(-1)
  if (!last) return `${line}\n\n${text}`
  const end = last.index + last[0].length
  return `${text.slice(0, end)}\n${line}${text.slice(end)}`
}

export type Style = { quote: "'" | '"'; end: ';' | '' }

export function styleOf(text: string): Style {
  const quotes = [...text.matchAll(/from\s*(['"])/g)].map(([, quote]) => quote)
  const doubles = quotes.filter((quote) => quote === '"').length
  const lines = text.split('\n').filter((line) => /^(import|export default \w+)/.test(line))
  const ends = lines.filter((line) => line.trimEnd().endsWith(';')).length
  return {
    quote: doubles * 2 > quotes.length ? '"' : "'",
    end: lines.length > 0 && ends * 2 >= lines.length ? ';' : '',
  }
}

export function patched(text: string, from: string): string | undefined {
  const at = defaultExportAt(text)
  if (at === undefined) return undefined
  const begin = at + /^export\s+default\s+/.exec(text.slice(at))![0].length
  if (/^(class|function|async\s+function|abstract)\b/.test(text.slice(begin))) return undefined
  const end = expressionEnd(text, begin)
  const name = /\bjobs\b/.test(text) ? 'sidejobs' : 'jobs'
  const whole = `${text.slice(0, begin)}${name}.with(${text.slice(begin, end)})${text.slice(end)}`
  const { quote, end: ending } = styleOf(text)
  const imported = name === 'jobs' ? 'jobs' : `jobs as ${name}`
  return withImport(whole, `import { ${imported} } from ${quote}${from}${quote}${ending}`)
}

export const hasSidejob = (text: string): boolean => /['"]sidejob\/cloudflare['"]|\b(side)?jobs\.with\(/.test(text)
