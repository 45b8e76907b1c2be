import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../../..')

export const figureRows = {
  oneCall: 'jobs created per second, in consecutive calls of 1,000',
  fourCalls: 'jobs created per second, in four concurrent calls of 1,000',
  runs: 'no-op runs per second',
  idleQueue: 'time until a single job on an idle queue is done',
  recentQueue: 'time until a single job is done, if the queue recently ran a job',
}

export type Figures = {
  /** `here`: on one machine. `strict`: with Upstash's Lua and latencies of the cloud. */
  column: 'here' | 'strict'
  printed: string
  cells: Record<string, string>
}

const replaced = (text: string, pattern: RegExp, by: (...found: string[]) => string, what: string): string => {
  if (!pattern.test(text)) throw new Error(`expected ${what}`)
  return text.replace(pattern, (...found: string[]) => by(...found))
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

export const withBlock = (text: string, { column, printed }: Figures): string =>
  replaced(
    text,
    new RegExp(`(<!-- bench ${column} -->\\n\`\`\`\\n)[\\s\\S]*?(\`\`\`\\n)`),
    (_, before, after) => `${before}${printed.trim()}\n${after}`,
    `<!-- bench ${column} --> and a block behind it`,
  )

export const withCells = (text: string, { column, cells }: Figures): string =>
  Object.entries(cells).reduce(
    (now, [row, cell]) =>
      replaced(
        now,
        new RegExp(`^(\\| ${escaped(row)} \\|)([^|]*)\\|([^|]*)\\|$`, 'm'),
        (_, head, here, strict) =>
          `${head}${column === 'here' ? ` ${cell} ` : here}|${column === 'strict' ? ` ${cell} ` : strict}|`,
        `a row "${row}"`,
      ),
    text,
  )

export function writeFigures(figures: Figures): void {
  for (const [file, edit] of [
    ['README.md', withCells],
    ['docs/benchmarks.md', withBlock],
  ] as const) {
    const path = join(root, file)
    writeFileSync(path, edit(readFileSync(path, 'utf8'), figures))
  }
}
