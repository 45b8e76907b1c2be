// The board of a flow: draws what the page says, and draws again what has changed when the page was looked at again.

import { factOf, kindOf, labelOf, needsLook, widthOf, wireSaid } from '../words/flow.ts'
import { base, tell } from './app/page.ts'
import { type BoardData, clockOf, dataOf } from './board/data.ts'
import { createDrawing, type Drawing } from './board/draw.ts'
import { startEditor } from './board/editor.ts'
import { type Layout, layout } from './board/layout.ts'
import { stepFrom } from './board/steps.ts'
import { createView } from './board/view.ts'

/** With more moving wires than this there are no beads: they would say nothing, and cost every frame. */
const MOST_BEADS = 24

type State = { shape: string; drawing?: Drawing; layout?: Layout; data: BoardData; offset: number }

const shapeOf = ({ nodes, wires }: BoardData): string =>
  `${nodes.map(({ name }) => name).join(' ')}|${wires.map(({ id }) => id).join(' ')}`

const beadsOf = (rate: number): number => (rate > 120 ? 3 : rate > 30 ? 2 : 1)

function drawNodes({ data, drawing, offset }: State): void {
  const now = Date.now() - offset
  for (const node of data.nodes) {
    const { name, queue, class: className, status, limit } = node
    const fact = factOf(node, { now, room: limit === null ? undefined : data.limits[limit], wires: data.wires })
    const kind = `${status ?? 'unmade'}${status === 'queued' && limit === null ? ' ready' : ''}${data.node === name ? ' on' : ''}`
    drawing!.node(name, {
      ...{ kind, shape: status ?? 'queued', cls: `${queue}/${className}`, fact },
      tone: needsLook(node) ? (status === 'failed' ? 'failed' : 'suspended') : undefined,
      said: `${name}, ${queue}/${className}, ${status ?? 'not started'}: ${fact}`,
    })
  }
}

function drawWires({ data, drawing, offset }: State): void {
  const now = Date.now() - offset
  const moving = data.wires.filter((wire) => kindOf(wire, now) === 'hot').length
  for (const wire of data.wires) {
    const kind = kindOf(wire, now)
    const on = data.wire === wire.id
    drawing!.wire(wire.id, {
      ...{ on, kind: kind === 'idle' ? '' : kind, said: wireSaid(wire, now) },
      width: kind === 'back' || on ? Math.max(3, widthOf(wire)) : undefined,
      label: data.nodes.length > 60 && !on && kind !== 'back' ? '' : labelOf(wire, now),
      tone: on ? 'on' : kind === 'back' ? 'warn' : '',
      beads: kind === 'hot' && moving <= MOST_BEADS ? beadsOf(wire.rate) : 0,
    })
  }
}

function createBoard(svg: SVGSVGElement, data: BoardData) {
  const view = createView(svg)
  const state: State = { shape: '', data, offset: Date.now() - clockOf() }

  function draw(): void {
    const shape = shapeOf(state.data)
    if (shape !== state.shape) {
      const { wires, nodes } = state.data
      state.layout = layout(nodes, wires)
      state.drawing = createDrawing(svg, state.layout)
      state.shape = shape
      view.bound(state.layout.box)
    }
    drawNodes(state)
    drawWires(state)
  }

  const open = (query: string) => tell('go', `${base}/flows/${state.data.job}${query}`)
  const openAt = (target: EventTarget | null): boolean => {
    const found = (target as Element | null)?.closest<SVGElement>('[data-name], [data-wire]')
    if (!found) return false
    const { name, wire } = found.dataset
    open(name === undefined ? `?wire=${encodeURIComponent(wire!)}` : `?node=${encodeURIComponent(name)}`)
    return true
  }

  return {
    begin(): void {
      svg.addEventListener('click', ({ target }) => openAt(target))
      svg.addEventListener('keydown', (event) => {
        if ((event.key === 'Enter' || event.key === ' ') && openAt(event.target)) return event.preventDefault()
        const name = (event.target as Element).closest<SVGElement>('[data-name]')?.dataset.name
        const to = name === undefined ? undefined : stepFrom(event.key, name, state.layout!, state.data.wires)
        if (to === undefined) return
        event.preventDefault()
        state.drawing!.nodeAt(to)?.focus()
      })
      document.addEventListener('drawn', () => {
        const fresh = dataOf<BoardData>('flow')
        if (!fresh) return
        state.data = fresh
        state.offset = Date.now() - clockOf()
        draw()
      })
      // Facts that tell for how long go on between two looks.
      setInterval(() => document.hidden || drawNodes(state), 1_000)
      draw()
    },
  }
}

const svg = document.querySelector<SVGSVGElement>('[data-board]')
const data = dataOf<BoardData>('flow')
if (svg && data) createBoard(svg, data).begin()
else if (svg) startEditor(svg)
