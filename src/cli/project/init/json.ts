// Edits the text of JSON, because JSON.stringify would lose comments and layout.

type Member = { key: string; valueAt: number; valueEnd: number }
type Container = { at: number; end: number; members: Member[] }

const SPACE = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y

function skip(text: string, at: number): number {
  SPACE.lastIndex = at
  SPACE.exec(text)
  return SPACE.lastIndex
}

function stringEnd(text: string, at: number): number {
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === '"') return i + 1
  }
  return text.length
}

function valueEnd(text: string, at: number): number {
  if (text[at] === '"') return stringEnd(text, at)
  if (text[at] === '{' || text[at] === '[') return containerAt(text, at).end
  return at + /^[^\s,\]}/]*/.exec(text.slice(at))![0].length
}

function containerAt(text: string, at: number): Container {
  const isObject = text[at] === '{'
  const members: Member[] = []
  let i = skip(text, at + 1)
  while (i < text.length && text[i] !== '}' && text[i] !== ']') {
    let key = String(members.length)
    if (isObject) {
      const end = stringEnd(text, i)
      key = JSON.parse(text.slice(i, end)) as string
      i = skip(text, skip(text, end) + 1)
    }
    const end = valueEnd(text, i)
    members.push({ key, valueAt: i, valueEnd: end })
    i = skip(text, end)
    if (text[i] === ',') i = skip(text, i + 1)
  }
  return { at, end: i + 1, members }
}

const find = ({ members }: Container, key: string): Member | undefined => members.find((one) => one.key === key)

const indentOf = (text: string, at: number): string =>
  /[ \t]*$/.exec(text.slice(0, at).split('\n').at(-1)!.replace(/\S.*$/, ''))![0]

function withLast(text: string, container: Container, item: string): string {
  const { at, end, members } = container
  const last = members.at(-1)
  const isMultiline = text.slice(at, end).includes('\n')
  if (!last) {
    const outer = indentOf(text, at)
    const body = text[at] === '{' ? `{\n${outer}  ${item}\n${outer}}` : `[${item}]`
    return text.slice(0, at) + body + text.slice(end)
  }
  const head = text.slice(0, last.valueEnd)
  const rest = text.slice(last.valueEnd).replace(/^\s*,/, '')
  const onOwnLine = isMultiline && /\n[ \t]*("[^"\n]*"\s*:\s*)?$/.test(text.slice(at, last.valueAt))
  const space = onOwnLine ? `\n${/\n([ \t]*)("[^"\n]*"\s*:\s*)?$/.exec(text.slice(0, last.valueAt))![1]}` : ' '
  return `${head},${space}${item}${rest}`
}

function walk(
  text: string,
  path: readonly string[],
): { container: Container; member?: Member; left: readonly string[] } {
  let container = containerAt(text, skip(text, 0))
  for (const [i, key] of path.entries()) {
    const member = find(container, key)
    if (!member) return { container, left: path.slice(i) }
    if (i === path.length - 1) return { container, member, left: [] }
    container = containerAt(text, member.valueAt)
  }
  return { container, left: [] }
}

export function jsonAt(text: string, path: readonly string[]): string | undefined {
  const { member } = walk(text, path)
  return member && text.slice(member.valueAt, member.valueEnd)
}

export function withValue(text: string, path: readonly string[], value: unknown): string {
  const { container, member, left } = walk(text, path)
  if (member) return text.slice(0, member.valueAt) + JSON.stringify(value) + text.slice(member.valueEnd)
  const [first, ...rest] = left as [string, ...string[]]
  const whole = rest.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value)
  const shown = JSON.stringify(whole, null, 1).replace(/\s*\n\s*/g, ' ')
  return withLast(text, container, `${JSON.stringify(first)}: ${shown}`)
}

export function withItem(text: string, path: readonly string[], item: string): string {
  const { member } = walk(text, path)
  if (!member) return withValue(text, path, [item])
  const list = containerAt(text, member.valueAt)
  const shown = JSON.stringify(item)
  if (list.members.some((one) => text.slice(one.valueAt, one.valueEnd) === shown)) return text
  return withLast(text, list, shown)
}

export function parsed(text: string): unknown {
  const plain = text.replace(/"(?:\\.|[^"\\])*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (part) => (part[0] === '"' ? part : ' '))
  return JSON.parse(plain.replace(/"(?:\\.|[^"\\])*"|,(?=\s*[}\]])/g, (part) => (part === ',' ? '' : part)))
}
