import type { End } from '../../../core/wires.ts'
import { differenceOf } from '../../words/difference.ts'
import { emit, isWriting, onClick, onEvent } from '../app/page.ts'
import { ask } from './ask.ts'
import { dataOf } from './data.ts'
import { type Graph, idsOf, linesOf, withNode, withoutNode, withoutWire, withWire } from './draft.ts'
import { type Chosen, createDraftDrawing } from './draft-drawing.ts'
import { dragsWires } from './drag.ts'
import { exact } from './exact.ts'
import { showLines } from './panel.ts'
import { createPreview } from './preview.ts'
import { askSplice, classIn, dropsSplice } from './splice.ts'
import { markAt } from './svg.ts'
import { createDraft, type Editing } from './working.ts'

const NAME = /^[a-zA-Z0-9_]{1,100}$/

const endOf = (text: string): End => {
  const at = text.lastIndexOf('.')
  return at < 0 ? { node: null, port: text } : { node: text.slice(0, at), port: text.slice(at + 1) }
}

function faultOfName({ nodes }: Graph, name: string): string | undefined {
  if (!NAME.test(name)) return 'name: expected at most 100 letters, digits or _'
  return Object.hasOwn(nodes, name) ? `name: the graph already has a node ${name}` : undefined
}

function faultOfWire({ nodes }: Graph, from: End, to: End): string | undefined {
  for (const { node } of [from, to])
    if (node !== null && !Object.hasOwn(nodes, node)) return `the graph has no node ${node}`
  if (from.node === null && to.node === null) return 'expected a node at one end of the wire or at both, got none'
  return undefined
}

function askNode(graph: Graph, { classes }: Editing, become: (next: Graph) => void): void {
  const fields = [
    { name: 'name', label: 'Name of the node' },
    { name: 'of', label: 'Queue/class', options: classes.map(({ name }) => name) },
  ]
  ask('Add a node', 'Add', fields, ({ name = '', of = '' }) => {
    const wrong = faultOfName(graph, name)
    if (!wrong) become(withNode(graph, name, classIn(of)))
    return wrong
  })
}

function askWire(from: string[], to: string[], connect: (from: End, to: End) => string | undefined): void {
  const fields = [
    { name: 'from', label: 'From: node.port, or an input of the flow', options: from },
    { name: 'to', label: 'To: node.port, or an output of the flow', options: to },
  ]
  ask('Add a wire', 'Add', fields, ({ from = '', to = '' }) => connect(endOf(from), endOf(to)))
}

/** Without a part that the graph no longer has. */
const chosenIn = (graph: Graph, { node, wire }: Chosen): Chosen => ({
  node: Object.keys(graph.nodes).find((name) => name === node),
  wire: [...idsOf(graph)].find((id) => id === wire),
})

function graphIn(text: string): Graph {
  const read = exact<Partial<Graph>>(text)
  const { nodes = {}, edges = [], inports = {}, outports = {} } = read
  return { ...read, nodes, edges, inports, outports }
}

const refuse = (say: string): void => emit('say', { say, isError: true })

export function startEditor(svg: SVGSVGElement, editing: Editing): void {
  let data = editing
  let chosen: Chosen = {}
  const draft = createDraft(data)
  const drawing = createDraftDrawing(svg, () => data, draft)
  const preview = createPreview(() => data, draft, drawGraph)
  const lines = document.getElementById('lines')!
  const json = document.querySelector<HTMLTextAreaElement>('#json')!
  const buttonOf = (name: string) => document.querySelector<HTMLButtonElement>(`[data-edit="${name}"]`)!

  function drawGraph(): void {
    drawing.draw(chosen, preview.change())
  }

  function draw(): void {
    drawGraph()
    const { node, wire } = chosenIn(draft.now, chosen)
    buttonOf('remove').disabled = node === undefined && wire === undefined
    buttonOf('back').disabled = !draft.canGoBack()
    showLines(lines, differenceOf(linesOf(draft.base), linesOf(draft.now)))
    if (document.activeElement !== json) json.value = JSON.stringify(draft.now, null, 2)
  }

  function settle(): void {
    draw()
    preview.renew()
  }

  function become(next: Graph): void {
    draft.become(next)
    settle()
  }

  function connect(from: End, to: End): string | undefined {
    const wrong = faultOfWire(draft.now, from, to)
    if (!wrong) become(withWire(draft.now, from, to))
    return wrong
  }

  function splice(wire = chosen.wire): void {
    const graph = draft.now
    if (idsOf(graph).has(wire!)) askSplice(data, graph, wire!, (name) => faultOfName(graph, name), become)
    else refuse('Select a wire first, or drag the button onto a wire')
  }

  function remove(): void {
    const { node, wire } = chosenIn(draft.now, chosen)
    if (node !== undefined) become(withoutNode(draft.now, node))
    else if (wire !== undefined) become(withoutWire(draft.now, wire))
    else refuse('Select a node or a wire first')
  }

  function back(): void {
    if (draft.back()) settle()
  }

  function showAs(how: 'drawing' | 'json'): void {
    json.hidden = how === 'drawing'
    svg.classList.toggle('vh', how === 'json')
    for (const name of ['drawing', 'json']) buttonOf(name).setAttribute('aria-pressed', String(name === how))
    if (json.hidden) return
    json.setSelectionRange(0, 0)
    json.focus()
  }

  const buttons: Record<string, () => void> = {
    node: () => askNode(draft.now, data, become),
    wire: () => askWire(drawing.offers('outs'), drawing.offers('ins'), connect),
    splice,
    remove,
    back,
    apply: preview.apply,
    drawing: () => showAs('drawing'),
    json: () => showAs('json'),
  }

  function choose({ target }: Event): void {
    const { name: node, wire } = markAt(target)
    chosen = { node, wire }
    draw()
  }

  function typed(): void {
    try {
      become(graphIn(json.value))
    } catch (error) {
      preview.refuse(`expected JSON: ${(error as Error).message}`)
    }
  }

  function handle(key: string, hasControl: boolean, target: Element): boolean {
    const node = target.closest<SVGElement>('[data-name]')?.dataset.name
    if (hasControl && key === 'Enter') void preview.apply()
    else if (hasControl && key === 'z') back()
    else if (key === 'Delete' || key === 'Backspace') remove()
    else return node !== undefined && drawing.step(key, node)
    return true
  }

  function pressed(event: KeyboardEvent): void {
    const { key, ctrlKey, metaKey, target } = event
    const hasControl = ctrlKey || metaKey
    if (document.querySelector('dialog[open]') || (isWriting(target) && !(hasControl && key === 'Enter'))) return
    if (handle(key, hasControl, target as Element)) event.preventDefault()
  }

  function refresh(): void {
    data = dataOf<Editing>('editing') ?? data
    drawGraph()
  }

  onEvent('drawn', refresh)
  setInterval(() => document.hidden || drawGraph(), 1_000)
  onClick('[data-edit]', ({ dataset }) => buttons[dataset.edit!]?.())
  onClick('.applybox a', draft.forget)
  for (const name of ['click', 'focusin']) svg.addEventListener(name, choose)
  json.addEventListener('input', typed)
  document.addEventListener('keydown', pressed)
  dropsSplice(svg, splice)
  dragsWires(svg, (from, to) => {
    const wrong = connect(from, to)
    if (wrong) refuse(wrong)
  })
  draw()
  preview.begin()
}
