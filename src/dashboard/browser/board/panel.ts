import type { GraphChange } from '../../../engine/engine.ts'
import { count, many } from '../../words/text.ts'
import { made } from '../app/page.ts'

const kinds = { '+': 'plus', '~': 'tilde', '−': 'minus', '!': 'minus', '=': 'dim', '✓': 'plus' }

function row(sign: keyof typeof kinds, name: string, text = '', moves?: string): HTMLElement {
  const said = [made(text ? 'b' : 'code', {}, name), ' ', made('span', { className: 'dim' }, text)]
  return made(
    'li',
    {},
    made('span', { className: `sign ${kinds[sign]}` }, sign),
    made('span', { className: 'clip grow' }, ...said),
    ...(moves ? [made('a', { className: 'btn small', href: moves }, 'Move…')] : []),
  )
}

const section = (title: string, rows: HTMLElement[]): HTMLElement[] =>
  rows.length === 0
    ? []
    : [
        made(
          'section',
          {},
          made('div', { className: 'row' }, made('h3', {}, title)),
          made('ul', { className: 'diff' }, ...rows),
        ),
      ]

const nodeRows = ({ start, adopt, replace, stop }: GraphChange, added: readonly string[]): HTMLElement[] => [
  ...added.map((name) =>
    row(
      '+',
      name,
      start.includes(name)
        ? 'starts immediately'
        : adopt.includes(name)
          ? 'adopts an existing job'
          : 'starts when a value arrives',
    ),
  ),
  ...start.filter((name) => !added.includes(name)).map((name) => row('+', name, 'starts immediately')),
  ...replace.map(({ node, job }) => row('~', node, `gets a new job; #${job} is removed`)),
  ...stop.map(({ node, job }) => row('−', node, `#${job} is removed`)),
]

export type Shown = {
  change?: GraphChange
  added: readonly string[]
  gone: readonly string[]
  stays: readonly { port: string; values: number }[]
  checks: readonly string[]
  unwired: readonly string[]
  error?: string
  waits: boolean
  moves: (left: GraphChange['orphaned'][number]) => string | undefined
}

function headOf({ change, added, gone, error }: Shown): string {
  if (error) return 'This change cannot be applied'
  if (!change) return 'Nothing has changed'
  const nodes = new Set([
    ...added,
    ...gone,
    ...change.start,
    ...change.stop.map(({ node }) => node),
    ...change.replace.map(({ node }) => node),
  ])
  const wires = change.wires.added.length + change.wires.removed.length
  if (nodes.size + wires === 0) return 'No nodes or wires change'
  return `${many(nodes.size, 'node')}, ${many(wires, 'wire')} change`
}

function leftRow({ node, port, values }: GraphChange['orphaned'][number], moves: string | undefined): HTMLElement {
  const where = node === null ? port : `${node}.${port}`
  return row('!', count(values), `${values === 1 ? 'is' : 'are'} left behind in ${where}`, moves)
}

const valueRows = ({ stays, moves }: Shown, change: GraphChange): HTMLElement[] => [
  ...stays.map(({ port, values }) => row('=', count(values), `${values === 1 ? 'stays' : 'stay'} at ${port}`)),
  ...change.orphaned.map((left) => leftRow(left, moves(left))),
  ...(change.unfit ?? []).map(({ wire, values, of, why }) =>
    row(
      '!',
      count(values),
      `of ${many(of, 'value')} at ${wire} ${values === 1 ? 'does' : 'do'} not match the schema: ${why}`,
    ),
  ),
]

export function showPanel(panel: HTMLElement, shown: Shown): void {
  const { change, added, gone, checks, unwired, error, waits } = shown
  panel.querySelector('.title')!.textContent = headOf(shown)
  panel.querySelector('.note')!.textContent = waits ? 'Preview: loading …' : 'Preview: nothing is applied yet'
  const never = gone.filter((name) => !change?.stop.some(({ node }) => node === name))
  const rows = change
    ? [
        ...section('Nodes', [
          ...nodeRows(change, added),
          ...never.map((name) => row('−', name, 'removed; it had not started')),
        ]),
        ...section('Wires', [
          ...change.wires.added.map((name) => row('+', name)),
          ...change.wires.removed.map((name) => row('−', name)),
        ]),
        ...section('Values', valueRows(shown, change)),
        ...section('Checks', [
          ...unwired.map((port) => row('!', port, 'has no wire')),
          ...checks.map((text) => row('✓', '', text)),
        ]),
      ]
    : []
  const told = error ? [made('section', {}, made('p', { className: 'err', role: 'alert' }, error))] : []
  panel.querySelector('.would')!.replaceChildren(...told, ...rows)
}

export function showLines(box: HTMLElement, lines: readonly { sign: '+' | '-'; line: string }[]): void {
  const shown = lines.map(({ sign, line }) =>
    made('span', { className: `dl ${sign === '+' ? 'plus' : 'minus'}` }, `${sign}  ${line}`),
  )
  box.hidden = lines.length === 0
  if (box.hidden) return
  box.querySelector('pre')!.replaceChildren(...shown)
  box.querySelector('.dim')!.textContent = `graph.json, ${many(lines.length, 'line differs', 'lines differ')}`
}
