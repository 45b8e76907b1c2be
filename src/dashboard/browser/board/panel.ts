// Lists what a draft would change.

import { endText, wiresOf } from '../../../core/wires.ts'
import type { GraphChange } from '../../../engine/engine.ts'
import { queryWith } from '../../words/query.ts'
import { count, hourOf, many } from '../../words/text.ts'
import { base, made } from '../app/page.ts'
import { type Graph, idsOf } from './draft.ts'
import type { Draft, Editing } from './working.ts'

const kinds = { '+': 'plus', '~': 'tilde', '−': 'minus', '!': 'minus', '=': 'dim', '✓': 'plus' }

/** `move`: the page where the values can be moved. */
type Row = [sign: keyof typeof kinds, name: string, text?: string, move?: string]
type Section = [title: string, rows: Row[]]

function rowOf([sign, name, text = '', move]: Row): HTMLElement {
  const said = [made(text ? 'b' : 'code', {}, name), ' ', made('span', { className: 'dim' }, text)]
  return made(
    'li',
    {},
    made('span', { className: `sign ${kinds[sign]}` }, sign),
    made('span', { className: 'clip grow' }, ...said),
    ...(move ? [made('a', { className: 'btn small', href: move }, 'Move…')] : []),
  )
}

const sectionOf = ([title, rows]: Section): HTMLElement =>
  made(
    'section',
    {},
    made('div', { className: 'row' }, made('h3', {}, title)),
    made('ul', { className: 'diff' }, ...rows.map(rowOf)),
  )

const addedIn = (is: Graph, was: Graph): string[] =>
  Object.keys(is.nodes).filter((name) => !Object.hasOwn(was.nodes, name))

function headOf({ base, now }: Draft, { start, stop, replace, wires }: GraphChange): string {
  const stopped = [...stop, ...replace].map(({ node }) => node)
  const nodes = new Set([...addedIn(now, base), ...addedIn(base, now), ...start, ...stopped]).size
  const changed = wires.added.length + wires.removed.length
  if (nodes + changed === 0) return 'No nodes or wires change'
  return `${many(nodes, 'node')}, ${many(changed, 'wire')} change`
}

function startOf({ start, adopt }: GraphChange, name: string): string {
  if (start.includes(name)) return 'starts immediately'
  return adopt.includes(name) ? 'adopts an existing job' : 'starts when a value arrives'
}

function nodeRows({ base, now }: Draft, change: GraphChange): Row[] {
  const { start, replace, stop } = change
  const started = new Set([...addedIn(now, base), ...start])
  const never = addedIn(base, now).filter((name) => !stop.some(({ node }) => node === name))
  return [
    ...[...started].map((name): Row => ['+', name, startOf(change, name)]),
    ...replace.map(({ node, job }): Row => ['~', node, `gets a new job; #${job} is removed`]),
    ...stop.map(({ node, job }): Row => ['−', node, `#${job} is removed`]),
    ...never.map((name): Row => ['−', name, 'removed; it had not started']),
  ]
}

function valueRows({ job, wires }: Editing, { now }: Draft, { orphaned, unfit = [] }: GraphChange): Row[] {
  const ids = idsOf(now)
  const filled = wires.filter(({ size }) => size > 0)
  const stays = new Map(filled.filter(({ id }) => ids.has(id)).map(({ to, size }) => [endText(to), size]))
  const moveOf = ({ node, port }: GraphChange['orphaned'][number]): string | undefined => {
    const wire = filled.find(({ to }) => to.node === node && to.port === port)
    return wire && `${base}/flows/${job}${queryWith('', { wire: wire.id })}`
  }
  return [
    ...[...stays].map(([port, n]): Row => ['=', count(n), `${n === 1 ? 'stays' : 'stay'} at ${port}`]),
    ...orphaned.map((left): Row => {
      const is = left.values === 1 ? 'is' : 'are'
      return ['!', count(left.values), `${is} left behind in ${endText(left)}`, moveOf(left)]
    }),
    ...unfit.map(({ wire, values, of, why }): Row => {
      const does = values === 1 ? 'does' : 'do'
      return ['!', count(values), `of ${many(of, 'value')} at ${wire} ${does} not match the schema: ${why}`]
    }),
  ]
}

function unwiredOf({ base, now }: Draft, classes: Editing['classes']): string[] {
  const endsOf = (graph: Graph) =>
    new Set(wiresOf(graph).flatMap(({ from, to }) => [`Output ${endText(from)}`, `Input ${endText(to)}`]))
  const [was, is] = [endsOf(base), endsOf(now)]
  return Object.entries(now.nodes).flatMap(([node, { queue = 'default', class: of }]) => {
    const declared = classes.find(({ name }) => name === `${queue}/${of}`)
    const ports = [
      ...(declared?.ins ?? []).map((port) => `Input ${endText({ node, port })}`),
      ...(declared?.outs ?? []).map((port) => `Output ${endText({ node, port })}`),
    ]
    return ports.filter((end) => !is.has(end) && (was.has(end) || !Object.hasOwn(base.nodes, node)))
  })
}

const sectionsOf = (data: Editing, draft: Draft, change: GraphChange): Section[] => [
  ['Nodes', nodeRows(draft, change)],
  [
    'Wires',
    [...change.wires.added.map((name): Row => ['+', name]), ...change.wires.removed.map((name): Row => ['−', name])],
  ],
  ['Values', valueRows(data, draft, change)],
  [
    'Checks',
    [
      ...unwiredOf(draft, data.classes).map((port): Row => ['!', port, 'has no wire']),
      ...(data.changedAt === null
        ? []
        : [['✓', '', `Unchanged since ${hourOf(data.changedAt, data.zone)}`] satisfies Row]),
    ],
  ],
]

export type Shown = { data: Editing; draft: Draft; change?: GraphChange; error?: string; waits: boolean }

export function showPanel(panel: HTMLElement, { data, draft, change, error, waits }: Shown): void {
  const head = change ? headOf(draft, change) : 'Nothing has changed'
  panel.querySelector('.title')!.textContent = error ? 'This change cannot be applied' : head
  panel.querySelector('.note')!.textContent = waits ? 'Preview: loading …' : 'Preview: nothing is applied yet'
  const message = error ? [made('section', {}, made('p', { className: 'err', role: 'alert' }, error))] : []
  const sections = change ? sectionsOf(data, draft, change).filter(([, rows]) => rows.length > 0) : []
  panel.querySelector('.would')!.replaceChildren(...message, ...sections.map(sectionOf))
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
