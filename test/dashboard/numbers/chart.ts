import { columnsOf, type Facts } from './facts.ts'
import type { Claims } from './survey.ts'
import { dayOf, hourOf, n, sum } from './words.ts'

function topOf(most: number): number {
  const tops = [1, 10, 100, 1_000, 10_000, 100_000].flatMap((ten) =>
    [1, 1.2, 1.5, 2, 3, 4, 5, 6, 8].map((one) => one * ten),
  )
  return tops.find((top) => top >= Math.max(4, most))!
}

const MINUTES = 4

export function chart(facts: Facts, queue?: string): Claims {
  const columns = columnsOf(facts, queue)
  const [completed, failed] = (['completed', 'failed'] as const).map((name) => columns.map((one) => one[name]))
  const shown = facts.deploys.filter(({ at }) => at > columns[0]!.at)
  const deploys = shown.map(({ at }) => `; deploy at ${hourOf(at)}`)
  const said = `${n(sum(completed!))} jobs completed and ${n(sum(failed!))} failed in the last 4 h${deploys.join('')}`
  const label = (numbers: number[]) => n(topOf(Math.max(...numbers) / MINUTES))
  const hasEnds = sum(completed!) + sum(failed!) > 0
  return {
    '.plot > svg@aria-label': hasEnds ? [said] : [],
    '#table caption': hasEnds ? [said] : [],
    'p.body.dim': hasEnds ? [] : ['No job ended in the last 4 h.'],
    '.legend a:has(svg)': shown.slice(0, 2).map(({ at }) => `deploy, ${hourOf(at)}`),
    '.ylab.y1': hasEnds ? [label(completed!)] : [],
    '.ylab.y2': hasEnds ? [label(failed!)] : [],
    '.plot .axis span': hasEnds ? [0, 1, 2, 3, 4, 5].map((i) => hourOf(columns[Math.floor((i * 59) / 5)]!.at)) : [],
    '.plot .hit': columns.flatMap((one) => [
      ...(one.completed ? [`${n(one.completed)} jobs completed`] : []),
      ...(one.failed ? [`${n(one.failed)} jobs failed`] : []),
    ]),
    '#table tbody tr': columns
      .filter((one) => one.completed + one.failed > 0)
      .map(({ at, completed, failed }) => `${dayOf(at)} ${hourOf(at)} | ${n(completed)} | ${n(failed)}`),
  }
}
