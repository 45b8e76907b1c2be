import { CLOSED, kindOf, LARGE, labelOf, lastOf, wireText } from '../words/flow.ts'
import { queryWith } from '../words/query.ts'
import { base, emit, made, onEvent } from './app/page.ts'
import { type BoardData, dataOf, serverNow, setClock } from './board/data.ts'
import { createDots } from './board/dots.ts'
import { startEditor } from './board/editor.ts'
import { createGraphBoard, type GraphBoard, lookOf } from './board/graph-board.ts'
import { createMap } from './board/map.ts'
import { createPace } from './board/pace.ts'
import { createReplay, type Moment, type Replay } from './board/replay.ts'
import { markAt } from './board/svg.ts'
import type { Editing } from './board/working.ts'

/** With more busy wires than this, no beads (moving dots) are drawn, because they cost time in every frame. */
const MOST_BEADS = 24

type State = {
  board: GraphBoard
  map?: ReturnType<typeof createMap>
  hover?: string
  /** True if wires show their last values. */
  isNear: boolean
  live: BoardData
  past?: Moment
}

const dataIn = ({ past, live }: State): BoardData => past?.data ?? live
const momentIn = ({ past }: State): number => past?.at ?? serverNow()

const openedIn = ({ node, wire, lit }: BoardData): string => `${node} ${wire} ${lit !== undefined}`

const dotsOf = (rate: number): number => (rate > 120 ? 3 : rate > 30 ? 2 : 1)

function nodesOf(state: State): (() => void)[] {
  const [data, now, drawing] = [dataIn(state), momentIn(state), state.board.drawing()]
  return data.nodes.map((node) => () => {
    const { name } = node
    const { kind, ...look } = lookOf(node, data, now)
    const [on, lit] = [data.node === name ? ' on' : '', data.lit?.nodes.includes(name) ? ' lit' : '']
    state.map?.node(name, look.tone ?? look.mark)
    drawing.node(name, { ...look, kind: `${kind}${on}${lit}` })
  })
}

function wiresOf(state: State, wanted = dataIn(state).wires): (() => void)[] {
  const [data, now, drawing] = [dataIn(state), momentIn(state), state.board.drawing()]
  const moving = data.wires.filter((wire) => kindOf(wire, now) === 'hot').length
  return wanted.map((wire) => () => {
    const kind = kindOf(wire, now)
    const on = data.wire === wire.id
    const lit = data.lit?.wires.includes(wire.id) ? ' lit' : ''
    drawing.wire(wire.id, {
      on,
      kind: `${kind === 'idle' ? '' : kind}${lit}`,
      description: wireText(wire, now),
      label: data.nodes.length > LARGE && !on && kind !== 'back' && state.hover !== wire.id ? '' : labelOf(wire, now),
      value: state.isNear ? lastOf(wire) : '',
      tone: `${on ? 'on' : kind === 'back' ? 'warn' : ''}${lit}`,
      dots: kind === 'hot' && moving <= MOST_BEADS ? dotsOf(wire.rate) : 0,
    })
  })
}

function createWhole(board: Element) {
  const whole = made('output', { className: 'whole', hidden: true })
  board.append(whole)
  return (state: State): void => {
    const wire = dataIn(state).wires.find(({ id }) => id === state.hover)
    const value = wire && lastOf(wire)
    whole.hidden = !value
    whole.replaceChildren(...(value ? [made('b', {}, wire.id), ' ', made('code', {}, value)] : []))
  }
}

function startBoard(svg: SVGSVGElement, data: BoardData): void {
  const [dots, pace] = [createDots(svg), createPace()]
  const board = createGraphBoard(svg, {
    dots,
    parts: () => dataIn(state),
    onLaid(laid) {
      if (laid.nodes.size > LARGE) state.map ??= createMap(svg.parentElement!, view)
      state.map?.lay(laid)
    },
  })
  const { view } = board
  let opened: string
  const state: State = { board, live: data, isNear: false }
  const showWhole = createWhole(svg.parentElement!)

  view.onShow((seen, _, detail) => {
    dots.show(seen)
    const isNear = detail === 'near'
    if (isNear === state.isNear) return
    state.isNear = isNear
    draw('soon')
  })

  function draw(how: 'atOnce' | 'soon' = 'atOnce'): void {
    const { nodes, wires, lit } = dataIn(state)
    const named = nodes.map(({ name }) => ({ name }))
    const isOther = board.lay(named, wires)
    svg.classList.toggle('jam', lit !== undefined)
    showWhole(state)
    pace[isOther ? 'atOnce' : how]([...wiresOf(state), ...nodesOf(state)])
  }

  let replay: Replay | undefined

  function lookBack(): void {
    const box = document.querySelector<HTMLElement>('#recorded')
    if (!box) {
      replay?.stop()
      state.past = undefined
      replay = undefined
      document.getElementById('moment')!.textContent = ''
    } else if (replay) replay.look()
    else
      replay = createReplay(
        box,
        () => state.live,
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
    emit('go', `${base}/flows/${state.live.job}${query}`)
    return true
  }

  function pointAt(target: EventTarget | null): void {
    const { name, wire } = markAt(target)
    const placed = board.laid().nodes.get(name ?? '')
    if (placed && target === document.activeElement) view.reveal(placed.box)
    const was = state.hover
    if (wire === was) return
    state.hover = wire
    showWhole(state)
    const changed = dataIn(state).wires.filter(({ id }) => id === was || id === wire)
    for (const label of wiresOf(state, changed)) label()
  }

  function take(fresh: BoardData): void {
    state.live = fresh
    lookBack()
    const isOther = opened !== openedIn(fresh)
    draw(isOther ? 'atOnce' : 'soon')
    if (isOther) showOpened()
  }

  function showOpened(): void {
    const { node = '', wire, lit } = state.live
    const drawing = board.drawing()
    opened = openedIn(state.live)
    const placed = board.laid().nodes.get(node)
    if (placed) view.open(placed.box)
    const part = wire ? drawing.wireAt(wire) : drawing.nodeAt(node || lit?.nodes[0] || '')
    part?.scrollIntoView({ block: 'nearest' })
  }

  svg.addEventListener('click', ({ target }) => openAt(target))
  for (const name of ['pointerover', 'focusin'] as const) svg.addEventListener(name, ({ target }) => pointAt(target))
  svg.addEventListener('pointerleave', () => pointAt(null))
  svg.addEventListener('keydown', (event) => {
    const { key, target } = event
    const { name } = markAt(target)
    const isOpened = (key === 'Enter' || key === ' ') && openAt(target)
    if (isOpened || (name !== undefined && board.step(key, name))) event.preventDefault()
  })
  onEvent('drawn', () => {
    const fresh = dataOf<BoardData>('flow')
    if (fresh) take(fresh)
  })
  onEvent('data', (answer) => {
    const { data, now } = answer as { data: BoardData; now: number }
    setClock(now)
    take(data)
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
