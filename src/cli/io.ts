import { createInterface } from 'node:readline'

const WIDTH = 30
const CELL = 60

/** Escapes control characters, because a terminal would execute them. */
const visible = (text: string): string =>
  text.replace(/[^\P{Cc}\n\t]/gu, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`)

const plain = (value: unknown): string => {
  if (value === null || value === undefined) return ''
  if (typeof value !== 'object') return String(value)
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value.join(' ')
  const { message } = value as { message?: unknown }
  if (typeof message === 'string') return message
  const counts = Object.entries(value)
  if (counts.every(([, one]) => typeof one === 'number'))
    return counts.flatMap(([name, n]) => (n ? [`${name} ${n}`] : [])).join(', ')
  return JSON.stringify(value)
}

const cut = (text: string): string => {
  const line = text.replaceAll('\n', ' ')
  return line.length > CELL ? `${line.slice(0, CELL - 1)}…` : line
}

function table(rows: readonly object[], columns: readonly string[]): string[] {
  const cells = rows.map((row) => columns.map((name) => cut(plain((row as Record<string, unknown>)[name]))))
  const widths = columns.map((name, at) => Math.max(name.length, ...cells.map((row) => row[at]!.length)))
  return [columns, ...cells].map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join('  ')
      .trimEnd(),
  )
}

function members(data: object): string[] {
  const shown = Object.entries(data).filter(([, value]) => value !== null && value !== undefined)
  const width = Math.max(0, ...shown.map(([name]) => name.length))
  return shown.map(([name, value]) => `${name.padEnd(width)}  ${plain(value)}`)
}

function linesOf(data: unknown, columns?: readonly string[]): string[] {
  if (Array.isArray(data)) return data.length ? table(data, columns ?? Object.keys(data[0] as object)) : ['none']
  return typeof data === 'object' && data !== null ? members(data) : [plain(data)]
}

type Line = (line: string) => void

export const talking = (json: boolean, print: Line, note: Line) => ({
  show(data: unknown, columns?: readonly string[]) {
    if (json) return print(JSON.stringify(data))
    for (const line of linesOf(data, columns)) print(line)
  },
  row: (data: object, line: string): void => print(json ? JSON.stringify(data) : line),
  tell: (data: object, line: string): void => (json ? print(JSON.stringify(data)) : note(line)),
})

export type Io = Omit<ReturnType<typeof createIo>, 'lines'> & { lines: () => AsyncIterable<string> }

export function createIo(json: boolean) {
  const { stdout, stderr, stdin } = process
  let bar = false
  let tenths = 0
  const clear = () => {
    if (bar) stderr.write('\r\x1b[K')
    bar = false
  }
  const writer = (stream: NodeJS.WriteStream) => (line: string) => {
    clear()
    stream.write(`${visible(line)}\n`)
  }
  const [print, note] = [writer(stdout), writer(stderr)]
  const isTerminal = stdin.isTTY === true
  return {
    json,
    isTerminal,
    print,
    note,
    ...talking(json, print, note),
    async confirm(question: string): Promise<boolean> {
      if (!isTerminal) return false
      const asked = createInterface({ input: stdin, output: stderr })
      const answer = await new Promise<string>((resolve) => asked.question(`${visible(question)} [y/N] `, resolve))
      asked.close()
      return /^y(es)?$/i.test(answer.trim())
    },
    progress(done: number, total: number, words: string): void {
      if (!stderr.isTTY) {
        // A file cannot show progress in one line, so it gets a new line per 10%.
        const reached = Math.floor((10 * done) / Math.max(1, total))
        if (reached > tenths) stderr.write(`${done} of ${total}, ${words}\n`)
        tenths = reached
        return
      }
      const full = Math.round((WIDTH * done) / Math.max(1, total))
      stderr.write(`\r\x1b[K[${'='.repeat(full)}${' '.repeat(WIDTH - full)}] ${done} of ${total}, ${words}`)
      bar = true
    },
    lines: () => createInterface({ input: stdin }),
  }
}
