import { type End, endText } from '../../../core/wires.ts'
import type { GraphChange } from '../../../engine/engine.ts'
import { differenceOf } from '../../words/difference.ts'
import { queryWith } from '../../words/query.ts'
import { clock } from '../../words/text.ts'
import { isWriting, onClick, base as path, tell } from '../app/page.ts'
import { putGraph } from './api.ts'
import { ask } from './ask.ts'
import { clockOf, dataOf } from './data.ts'
import { type Graph, idsOf, linesOf, withNode, withoutNode, withoutWire, withWire } from './draft.ts'
import { type Chosen, createDraftDrawing } from './draft-drawing.ts'
import { dragsWires } from './drag.ts'
import { exact } from './exact.ts'
import { createFind } from './find.ts'
import { showLines, showPanel } from './panel.ts'
import { askSplice, classIn, dropsSplice } from './splice.ts'
import { markAt } from './svg.ts'
import { createView } from './view.ts'
import { createDraft, type Editing, unwiredOf } from './working.ts'

/** Milliseconds from the last change to its preview. */
const SOON = 150
const NAME = /^[a-zA-Z0-9_]{1,100}$/

const endOf = (text: string): End => {
  const at = text.lastIndexOf('.')
  return at < 0 ? { node: null, port: text } : { node: text.slice(0, at), port: text.slice(at + 1) }
}

function staysOf({ wires }: Editing, now: Graph): { port: string; values: number }[] {
  const left = idsOf(now)
  const ports = new Map(
    wires.filter(({ id, size }) => left.has(id) && size > 0).map(({ to, size }) => [endText(to), size]),
  )
  return [...ports].map(([port, values]) => ({ port, values }))
}

export function startEditor(svg: SVGSVGElement): void {
  const data = dataOf<Editing>('editing')
  if (data) createEditor(svg, data).begin()
}

function createEditor(svg: SVGSVGElement, begun: Editing) {
  let data = begun
  let offset = Date.now() - clockOf()
  const draft = createDraft(data)
  const view = createView(svg)
  const drawing = createDraftDrawing(svg, () => ({ data, at: Date.now() - offset }), draft, view)
  const [panel, lines] = [document.getElementById('would')!, document.getElementById('lines')!]
  const json = document.querySelector<HTMLTextAreaElement>('#json')!
  const buttonOf = (name: string) => document.querySelector<HTMLButtonElement>(`[data-edit="${name}"]`)!
  const [applyButton, removeButton, backButton] = [buttonOf('apply'), buttonOf('remove'), buttonOf('back')]
  const leaveLink = panel.querySelector<HTMLElement>('.applybox a')!
  const mayWrite = !applyButton.title
  let chosen: Chosen = {}
  let change: GraphChange | undefined
  let asked = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let key: string = crypto.randomUUID()
  let isWaiting = false
  /** Key of the draft that is applied after its preview. */
  let wanted: string | undefined

  const chosenNode = () => Object.keys(draft.now.nodes).find((name) => name === chosen.node)
  const chosenWire = () => [...idsOf(draft.now)].find((id) => id === chosen.wire)

  function draw(): void {
    drawing.draw(chosen, change)
    removeButton.disabled = chosenNode() === undefined && chosenWire() === undefined
    backButton.disabled = !draft.canGoBack()
    showLines(lines, differenceOf(linesOf(draft.base), linesOf(draft.now)))
    if (document.activeElement !== json) json.value = JSON.stringify(draft.now, null, 2)
  }

  function show(error?: string, waits = false): void {
    const added = Object.keys(draft.now.nodes).filter((name) => !Object.hasOwn(draft.base.nodes, name))
    const gone = Object.keys(draft.base.nodes).filter((name) => !Object.hasOwn(draft.now.nodes, name))
    const differs = JSON.stringify(draft.base) !== JSON.stringify(draft.now)
    showPanel(panel, {
      added,
      gone,
      error,
      waits,
      stays: staysOf(data, draft.now),
      unwired: unwiredOf(draft, data.classes),
      moves: ({ node, port }) => {
        const wire = data.wires.find(({ to, size }) => to.node === node && to.port === port && size > 0)
        return wire && `${path}/flows/${data.job}${queryWith('', { wire: wire.id })}`
      },
      change: differs ? change : undefined,
      checks: data.changedAt === null ? [] : [`Unchanged since ${clock(data.changedAt, data.zone).slice(0, 5)}`],
    })
    isWaiting = waits
    leaveLink.textContent = differs || error !== undefined ? 'Discard' : 'Close'
    applyButton.disabled = !mayWrite || !differs || error !== undefined || waits || change === undefined
  }

  async function preview(): Promise<void> {
    const mine = ++asked
    show(undefined, true)
    const told = await putGraph(data.job, JSON.stringify(draft.now), {
      preview: true,
      match: draft.hash,
      key: crypto.randomUUID(),
    })
    if (mine !== asked) return
    change = 'change' in told ? told.change : undefined
    drawing.draw(chosen, change)
    show('error' in told ? told.error.message : undefined)
    const isWanted = wanted === key && !document.querySelector('dialog[open]')
    wanted = undefined
    if (isWanted) void apply()
  }

  function settle(): void {
    key = crypto.randomUUID()
    draw()
    show(undefined, true)
    clearTimeout(timer)
    timer = setTimeout(() => void preview(), SOON)
  }

  function become(next: Graph): void {
    draft.become(next)
    settle()
  }

  async function apply(): Promise<void> {
    if (isWaiting && mayWrite) {
      wanted = key
      panel.querySelector('.note')!.textContent = 'Loading the preview. If it has no errors, the graph is applied'
    }
    if (applyButton.disabled) return
    applyButton.disabled = true
    const told = await putGraph(data.job, JSON.stringify(draft.now), { preview: false, match: draft.hash, key })
    if ('error' in told) {
      show(told.error.message)
      applyButton.disabled = told.error.code !== 'UNAVAILABLE'
      return
    }
    draft.forget()
    location.assign(`${path}/flows/${data.job}`)
  }

  function faultOfName(name: string): string | undefined {
    if (!NAME.test(name)) return 'name: expected at most 100 letters, digits or _'
    return Object.hasOwn(draft.now.nodes, name) ? `name: the graph already has a node ${name}` : undefined
  }

  function askNode(): void {
    const fields = [
      { name: 'name', label: 'Name of the node' },
      { name: 'of', label: 'Queue/class', options: data.classes.map(({ name }) => name) },
    ]
    ask('Add a node', 'Add', fields, ({ name = '', of = '' }) => {
      const wrong = faultOfName(name)
      if (!wrong) become(withNode(draft.now, name, classIn(of)))
      return wrong
    })
  }

  function splice(wire = chosen.wire): void {
    if (idsOf(draft.now).has(wire!)) askSplice(data, draft.now, wire!, faultOfName, become)
    else tell('say', { say: 'Select a wire first, or drag the button onto a wire', isError: true })
  }

  function connect(from: End, to: End): string | undefined {
    for (const { node } of [from, to])
      if (node !== null && !Object.hasOwn(draft.now.nodes, node)) return `the graph has no node ${node}`
    if (from.node === null && to.node === null) return 'expected a node at one end of the wire or at both, got none'
    become(withWire(draft.now, from, to))
    return undefined
  }

  function askWire(): void {
    const own = Object.keys
    const fields = [
      {
        name: 'from',
        label: 'From: node.port, or an input of the flow',
        options: [...drawing.offers('outs'), ...own(draft.now.inports)],
      },
      {
        name: 'to',
        label: 'To: node.port, or an output of the flow',
        options: [...drawing.offers('ins'), ...own(draft.now.outports)],
      },
    ]
    ask('Add a wire', 'Add', fields, ({ from = '', to = '' }) => connect(endOf(from), endOf(to)))
  }

  function remove(): void {
    const [node, wire] = [chosenNode(), chosenWire()]
    if (node !== undefined) become(withoutNode(draft.now, node))
    else if (wire !== undefined) become(withoutWire(draft.now, wire))
    else tell('say', { say: 'Select a node or a wire first', isError: true })
  }

  function mode(how: 'drawing' | 'json'): void {
    json.hidden = how === 'drawing'
    svg.classList.toggle('vh', how === 'json')
    for (const button of document.querySelectorAll<HTMLElement>('[data-edit="drawing"], [data-edit="json"]'))
      button.setAttribute('aria-pressed', String(button.dataset.edit === how))
    if (how === 'json') json.focus()
  }

  const buttons: Record<string, () => void> = {
    node: askNode,
    wire: askWire,
    splice,
    remove,
    back: () => draft.back() && settle(),
    apply: () => void apply(),
    drawing: () => mode('drawing'),
    json: () => mode('json'),
  }

  const choose = (target: EventTarget | null) => {
    const { name: node, wire } = markAt(target)
    chosen = { node, wire }
    draw()
  }

  function typed(): void {
    try {
      const read = exact<Partial<Graph>>(json.value)
      become({
        ...read,
        nodes: read.nodes ?? {},
        edges: read.edges ?? [],
        inports: read.inports ?? {},
        outports: read.outports ?? {},
      })
    } catch (error) {
      clearTimeout(timer)
      asked += 1
      show(`expected JSON: ${(error as Error).message}`)
    }
  }

  function pressed(event: KeyboardEvent): void {
    const { key: name, ctrlKey, metaKey, target } = event
    if (document.querySelector('dialog[open]')) return
    if ((ctrlKey || metaKey) && name === 'Enter') {
      event.preventDefault()
      void apply()
      return
    }
    if (isWriting(target)) return
    if ((ctrlKey || metaKey) && name === 'z') {
      event.preventDefault()
      if (draft.back()) settle()
    }
    if (name === 'Delete' || name === 'Backspace') {
      event.preventDefault()
      remove()
    }
    const node = (target as Element).closest<SVGElement>('[data-name]')?.dataset.name
    if (node !== undefined && drawing.step(name, node)) event.preventDefault()
  }

  function refresh(): void {
    data = dataOf<Editing>('editing') ?? data
    offset = Date.now() - clockOf()
    drawing.draw(chosen, change)
  }

  function listen(): void {
    document.addEventListener('drawn', refresh)
    setInterval(() => document.hidden || drawing.draw(chosen, change), 1_000)
    onClick('[data-view="find"]', createFind(view, drawing.places))
    onClick('[data-edit]', ({ dataset }) => buttons[dataset.edit!]?.())
    onClick('.applybox a', draft.forget)
    svg.addEventListener('click', ({ target }) => choose(target))
    svg.addEventListener('focusin', ({ target }) => choose(target))
    json.addEventListener('input', typed)
    document.addEventListener('keydown', pressed)
    dropsSplice(svg, splice)
    dragsWires(svg, (from, to) => {
      const wrong = connect(from, to)
      if (wrong) tell('say', { say: wrong, isError: true })
    })
  }

  return {
    begin(): void {
      listen()
      draw()
      if (JSON.stringify(draft.base) === JSON.stringify(draft.now) && draft.hash === data.hash) show()
      else void preview()
    },
  }
}
