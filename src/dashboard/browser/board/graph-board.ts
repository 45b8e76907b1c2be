// A board with a drawn graph, for the page of a flow and for its editor.

import type { GraphWire } from '../../../core/wires.ts'
import type { FlowNodeView } from '../../../engine/engine.ts'
import { factOf, factsOf, kindOfNode, markOf, toneOf } from '../../words/flow.ts'
import { onClick } from '../app/page.ts'
import { createDrawing, type Drawing, type DrawingOptions, type NodeLook } from './draw.ts'
import { createFind, type FoundNode } from './find.ts'
import { type Layout, layout, type Named } from './layout.ts'
import { stepFrom } from './steps.ts'
import { createView } from './view.ts'

export function lookOf(node: FlowNodeView, data: Parameters<typeof factsOf>[1], now: number): NodeLook {
  const { name, queue, class: className, status } = node
  const facts = factsOf(node, data, now)
  const [fact, cls] = [factOf(node, facts), `${queue}/${className}`]
  return {
    kind: kindOfNode(node, facts),
    mark: markOf(node, facts),
    cls,
    fact,
    tone: toneOf(node),
    description: `${name}, ${cls}, ${status ?? 'not started'}: ${fact}`,
  }
}

type Options = DrawingOptions & {
  /** The graph now, for the search and the arrow keys. */
  parts: () => { nodes: readonly FoundNode[]; wires: readonly GraphWire[] }
  onLaid?: (laid: Layout) => void
}

export function createGraphBoard(svg: SVGSVGElement, { parts, onLaid, ...options }: Options) {
  const view = createView(svg)
  let shape = ''
  let laid!: Layout
  let drawing!: Drawing

  /** Returns true if it draws another graph. */
  function lay(nodes: readonly Named[], wires: readonly GraphWire[]): boolean {
    const next = JSON.stringify([nodes, wires.map(({ id }) => id)])
    if (next === shape) return false
    shape = next
    laid = layout(nodes, wires, view.room())
    drawing = createDrawing(svg, laid, options)
    onLaid?.(laid)
    view.bound(laid.box)
    return true
  }

  /** Returns true if the key leads from the node to another node. */
  function step(key: string, name: string): boolean {
    const to = stepFrom(key, name, laid, parts().wires)
    if (to !== undefined) drawing.nodeAt(to)?.focus()
    return to !== undefined
  }

  view.onShow((_, shown, detail) => drawing.show(shown, detail))
  const find = createFind(view, () => ({ laid, drawing, nodes: parts().nodes }))
  onClick('[data-view="find"]', find)
  return { view, lay, step, drawing: () => drawing, laid: () => laid }
}

export type GraphBoard = ReturnType<typeof createGraphBoard>
