import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** `took`: milliseconds of each job. `ms`: milliseconds of all jobs together. */
export type Measure = { took?: number[]; ms?: number; billed?: number; messages?: number }

export type Row = { name: string; jobs: number; ours: Measure[]; theirs: Measure[]; direct: Measure[] }

const quantile = (values: number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
}

function median(rounds: Measure[], of: (round: Measure) => number | undefined): number | undefined {
  const values = rounds.map(of).filter((value) => value !== undefined)
  return values.length === 0 ? undefined : quantile(values, 0.5)
}

const p50 = ({ took, ms }: Measure): number => (took ? quantile(took, 0.5) : ms!)
const p99 = ({ took }: Measure): number | undefined => took && quantile(took, 0.99)

const shown = (ms: number | undefined): string => (ms === undefined ? '–' : ms < 100 ? ms.toFixed(1) : ms.toFixed(0))
const small = (n: number | undefined): string => (n === undefined ? '–' : String(Number(n.toPrecision(2))))

const cellsOf = ({ name, ours, theirs, direct }: Row): string[] => [
  name,
  shown(median(ours, p50)),
  shown(median(ours, p99)),
  shown(median(theirs, p50)),
  shown(median(theirs, p99)),
  shown(median(direct, p50)),
  shown(median(direct, p99)),
  small(median(ours, ({ billed }) => billed)),
  small(median(ours, ({ messages }) => messages)),
]

export const HEAD = [
  'workload',
  'ms',
  'p99',
  'BullMQ: ms',
  'p99',
  'QStash alone: ms',
  'p99',
  'billed commands a job',
  'QStash messages a job',
]

export const rowText = (row: Row): string =>
  cellsOf(row)
    .map((cell, i) => (i === 0 ? cell.padEnd(36) : cell.padStart(10)))
    .join('')

const WIDEST = 40
const bar = (ms: number, most: number): string => '█'.repeat(Math.max(1, Math.round((ms / most) * WIDEST)))

function chartOf(rows: Row[]): string {
  const lines = rows.flatMap(({ name, ours, theirs, direct }) => {
    const sides = Object.entries({ sidejob: ours, BullMQ: theirs, QStash: direct }).flatMap(([side, rounds]) => {
      const ms = median(rounds, p50)
      return ms === undefined ? [] : [{ side, ms }]
    })
    const most = Math.max(...sides.map(({ ms }) => ms))
    return [name, ...sides.map(({ side, ms }) => `  ${side.padEnd(7)} ${bar(ms, most)} ${shown(ms)} ms`)]
  })
  return `\`\`\`text\n${lines.join('\n')}\n\`\`\``
}

const roundsOf = ([row]: Row[]): string =>
  row?.ours.length === 1 ? 'in one round' : `medians of ${row?.ours.length ?? 0} rounds`

export const pageOf = (rows: Row[]): string =>
  [
    `Measured on ${new Date().toISOString().slice(0, 10)}, ${roundsOf(rows)}.`,
    '',
    `| ${HEAD.join(' | ')} |`,
    `|${HEAD.map(() => '---').join('|')}|`,
    ...rows.map((row) => `| ${cellsOf(row).join(' | ')} |`),
    '',
    chartOf(rows),
  ].join('\n')

export function placed(page: string, block: string, isStrict: boolean): string {
  const [from, to] = [`<!-- workloads: ${isStrict ? 'strict' : 'here'} -->`, '<!-- end -->']
  const start = page.indexOf(from) + from.length
  if (start < from.length) throw new Error(`expected ${from} in docs/speed.md`)
  return `${page.slice(0, start)}\n\n${block}\n\n${page.slice(page.indexOf(to, start))}`
}

export function writePage(block: string, isStrict: boolean): void {
  const path = join(import.meta.dirname, '../../../docs/speed.md')
  writeFileSync(path, placed(readFileSync(path, 'utf8'), block, isStrict))
}
