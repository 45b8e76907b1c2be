import {
  CLOSED,
  factOf,
  factsOf,
  kindOf,
  kindOfNode,
  LARGE,
  labelOf,
  lastOf,
  markOf,
  toneOf,
  wireSaid,
} from '../words/flow.ts'
import { queryWith } from '../words/query.ts'
import { base, hear, made, onClick, tell } from './app/page.ts'
import { type Beads, createBeads } from './board/beads.ts'
import { type BoardData, clockOf, dataOf } from './board/data.ts'
import { createDrawing, type Drawing } from './board/draw.ts'
import { startEditor } from './board/editor.ts'
import { createFind } from './board/find.ts'
import { type Layout, layout } from './board/layout.ts'
import { createMap } from './board/map.ts'
import { createPace } from './board/pace.ts'
import { createReplay, type Replay } from './board/replay.ts'
import { stepFrom } from './board/steps.ts'
import { markAt } from './board/svg.ts'
import { createView, type View } from './board/view.ts'
import type { Editing } from './board/working.ts'

/** With more busy wires than this, no beads (moving dots) are drawn, because they cost time in every frame. */
const MOST_BEADS = 24

type State = {
  shape: string
  drawing?: Drawing
  layout?: Layout
  map?: ReturnType<typeof createMap>
  hover?: string
  /** True if wires show their last values. */
  isNear: boolean
  live: BoardData
  offset: number
  past?: { at: number; data: BoardData }
}

const dataIn = ({ past, live }: State): BoardData => past?.data ?? live
const momentIn = ({ past, offset }: State): number => past?.at ?? Date.now() - offset

const shapeOf = ({ nodes, wires }: BoardData): string =>
  `${nodes.map(({ name }) => name).join(' ')}|${wires.map(({ id }) => id).join(' ')}`

const openedIn = ({ node, wire, lit }: BoardData): string => `${node} ${wire} ${lit !== undefined}`

const beadsOf = (rate: number): number => (rate > 120 ? 3 : rate > 30 ? 2 : 1)

function nodesOf(state: State): (() => void)[] {
  const [data, now, { drawing, map }] = [dataIn(state), momentIn(state), state]
  return data.nodes.map((node) => () => {
    const { name, queue, class: className, status } = node
    const facts = factsOf(node, data, now)
    const [fact, mark, tone] = [factOf(node, facts), markOf(node, facts), toneOf(node)]
    map?.node(name, tone ?? mark)
    drawing!.node(name, {
      kind: `${kindOfNode(node, facts)}${data.node === name ? ' on' : ''}${data.lit?.nodes.includes(name) ? ' lit' : ''}`,
      mark,
      cls: `${queue}/${className}`,
      fact,
      tone,
      said: `${name}, ${queue}/${className}, ${status ?? 'not started'}: ${fact}`,
    })
  })
}

function wiresOf(state: State, wanted = dataIn(state).wires): (() => void)[] {
  const [data, now, { drawing }] = [dataIn(state), momentIn(state), state]
  const moving = data.wires.filter((wire) => kindOf(wire, now) === 'hot').length
  return wanted.map((wire) => () => {
    const kind = kindOf(wire, now)
    const on = data.wire === wire.id
    const lit = data.lit?.wires.includes(wire.id) ? ' lit' : ''
    drawing!.wire(wire.id, {
      on,
      kind: `${kind === 'idle' ? '' : kind}${lit}`,
      said: wireSaid(wire, now),
      label: data.nodes.length > LARGE && !on && kind !== 'back' && state.hover !== wire.id ? '' : labelOf(wire, now),
      value: state.isNear ? lastOf(wire) : '',
      tone: `${on ? 'on' : kind === 'back' ? 'warn' : ''}${lit}`,
      beads: kind === 'hot' && moving <= MOST_BEADS ? beadsOf(wire.rate) : 0,
    })
  })
}

function createWhole(board: Element) {
  const whole = made('output', { className: 'whole', hidden: true })
  whole.style.overflowWrap = 'anywhere'
  board.append(whole)
  return (state: State): void => {
    const wire = dataIn(state).wires.find(({ id }) => id === state.hover)
    const value = wire && lastOf(wire)
    whole.hidden = !value
    whole.replaceChildren(...(value ? [made('b', {}, wire.id), ' ', made('code', {}, value)] : []))
  }
}

/** Returns true if it draws another graph. */
function layOut(state: State, svg: SVGSVGElement, view: View, beads: Beads): boolean {
  const data = dataIn(state)
  const shape = shapeOf(data)
  if (shape === state.shape) return false
  const laid = layout(data.nodes, data.wires, view.room())
  state.layout = laid
  state.drawing = createDrawing(svg, laid, beads)
  state.shape = shape
  if (data.nodes.length > LARGE) state.map ??= createMap(svg.parentElement!, view)
  state.map?.lay(laid)
  view.bound(laid.box)
  return true
}

function startBoard(svg: SVGSVGElement, data: BoardData): void {
  const view = createView(svg)
  const [beads, pace] = [createBeads(svg), createPace()]
  let opened: string
  const state: State = { shape: '', live: data, offset: Date.now() - clockOf(), isNear: false }
  const showWhole = createWhole(svg.parentElement!)

  view.onShow((seen, shown, detail) => {
    beads.show(seen)
    state.drawing?.show(shown, detail)
    const isNear = detail === 'near'
    if (isNear === state.isNear) return
    state.isNear = isNear
    if (state.drawing) draw('soon')
  })

  function draw(how: 'atOnce' | 'soon' = 'atOnce'): void {
    const isOther = layOut(state, svg, view, beads)
    svg.classList.toggle('jam', dataIn(state).lit !== undefined)
    showWhole(state)
    pace[isOther ? 'atOnce' : how]([...wiresOf(state), ...nodesOf(state)])
  }

  let replay: Replay | undefined

  function lookBack(): void {
    const box = document.querySelector<HTMLElement>('#recorded')
    if (!box) {
      state.past = undefined
      replay = undefined
      document.getElementById('moment')!.textContent = ''
    } else if (replay) replay.look()
    else
      replay = createReplay(
        box,
        () => ({ data: state.live, at: Date.now() - state.offset }),
        (past) => {
          if (!past && !state.past) return
          state.past = past
          draw()
        },
      )
  }

  const openAt = (target: EventTarget | null): boolean => {
    const { name: node, wire } = markAt(target)
    if (node === undefined && wire === undefined) return false
    const query = queryWith(location.search, { ...CLOSED, node, wire, at: replay?.at() })
    tell('go', `${base}/flows/${state.live.job}${query}`)
    return true
  }

  function pointAt(target: EventTarget | null): void {
    const { name, wire } = markAt(target)
    const placed = state.layout!.nodes.get(name ?? '')
    if (placed && target === document.activeElement) view.reveal(placed.box)
    const was = state.hover
    if (wire === was) return
    state.hover = wire
    showWhole(state)
    const changed = dataIn(state).wires.filter(({ id }) => id === was || id === wire)
    for (const label of wiresOf(state, changed)) label()
  }

  function take(fresh: BoardData, now: number): void {
    state.live = fresh
    state.offset = Date.now() - now
    lookBack()
    const isOther = opened !== openedIn(fresh)
    draw(isOther ? 'atOnce' : 'soon')
    if (isOther) showOpened()
  }

  function showOpened(): void {
    const { drawing, layout, live } = state
    const { node = '', wire, lit } = live
    opened = openedIn(live)
    const box = layout?.nodes.get(node)?.box
    if (box) view.open(box)
    const part = wire ? drawing?.wireAt(wire) : drawing?.nodeAt(node || lit?.nodes[0] || '')
    part?.scrollIntoView({ block: 'nearest' })
  }

  svg.addEventListener('click', ({ target }) => openAt(target))
  const find = createFind(view, () => ({
    laid: state.layout!,
    drawing: state.drawing!,
    nodes: dataIn(state).nodes,
  }))
  onClick('[data-view="find"]', find)
  for (const name of ['pointerover', 'focusin'] as const) svg.addEventListener(name, ({ target }) => pointAt(target))
  svg.addEventListener('pointerleave', () => pointAt(null))
  svg.addEventListener('keydown', (event) => {
    if ((event.key === 'Enter' || event.key === ' ') && openAt(event.target)) return event.preventDefault()
    const { name } = markAt(event.target)
    const to = name && stepFrom(event.key, name, state.layout!, dataIn(state).wires)
    if (!to) return
    event.preventDefault()
    state.drawing!.nodeAt(to)?.focus()
  })
  hear('drawn', () => {
    const fresh = dataOf<BoardData>('flow')
    if (fresh) take(fresh, clockOf())
  })
  hear('told', (told) => {
    const { data, now } = told as { data: BoardData; now: number }
    take(data, now)
  })
  setInterval(() => document.hidden || draw('soon'), 1_000)
  draw()
  showOpened()
  lookBack()
}

/** Returns false if the flow still waits for its graph. A later refresh then draws the board. */
function start(): boolean {
  const svg = document.querySelector<SVGSVGElement>('[data-board]')
  const [data, editing] = [dataOf<BoardData>('flow'), dataOf<Editing>('editing')]
  if (svg && data) startBoard(svg, data)
  else if (svg && editing) startEditor(svg, editing)
  return svg !== null
}

const startLater = (): void => {
  if (start()) document.removeEventListener('drawn', startLater)
}

if (!start()) document.addEventListener('drawn', startLater)
