import { type GraphWire, wiresOf } from '../../../core/wires.ts'
import type { GraphChange } from '../../../engine/engine.ts'
import { count } from '../../words/text.ts'
import { serverNow } from './data.ts'
import { type Graph, idsOf, type Node } from './draft.ts'
import type { NodeLook } from './draw.ts'
import { createGraphBoard, lookOf } from './graph-board.ts'
import type { Draft, Editing } from './working.ts'

export type Chosen = { node?: string; wire?: string }

const classOf = ({ queue = 'default', class: name }: { queue?: string; class: string }): string => `${queue}/${name}`

/** A node may have the name of a member of Object, such as `constructor`. */
const nodeIn = ({ nodes }: Graph, name: string): Node | undefined =>
  Object.hasOwn(nodes, name) ? nodes[name] : undefined

type Change = Pick<NodeLook, 'fact' | 'tone'> & { kind: 'new' | 'old' | 'swap' }

function changeOf(was: Node | undefined, is: Node | undefined): Change | undefined {
  if (!was) return { kind: 'new', fact: 'not created yet' }
  if (!is) return { kind: 'old', fact: 'is removed', tone: 'failed' }
  if (classOf(was) !== classOf(is)) return { kind: 'swap', fact: `was ${classOf(was)}`, tone: 'suspended' }
  if (JSON.stringify(was.args) === JSON.stringify(is.args)) return undefined
  return { kind: 'swap', fact: 'arguments changed', tone: 'suspended' }
}

const leftAt = ({ from, to }: GraphWire, change?: GraphChange): number =>
  (change?.orphaned ?? [])
    .filter(({ node, port }) => [from, to].some((end) => end.node === node && end.port === port))
    .reduce((sum, { values }) => sum + values, 0)

function union({ base, now }: Draft): { nodes: string[]; wires: GraphWire[] } {
  const wires = new Map([...wiresOf(base), ...wiresOf(now)].map((wire) => [wire.id, wire]))
  return { nodes: [...new Set([...Object.keys(base.nodes), ...Object.keys(now.nodes)])], wires: [...wires.values()] }
}

export function createDraftDrawing(svg: SVGSVGElement, data: () => Editing, draft: Draft) {
  const nodeOf = (name: string): Node => nodeIn(draft.now, name) ?? nodeIn(draft.base, name)!
  const liveOf = (name: string) => data().nodes.find((node) => node.name === name)

  const board = createGraphBoard(svg, {
    named: 1,
    parts() {
      const { nodes, wires } = union(draft)
      const found = nodes.map((name) => ({ queue: 'default', ...nodeOf(name), name, job: liveOf(name)?.job }))
      return { nodes: found, wires }
    },
  })

  function drawNode(name: string, chosen: Chosen): void {
    const [was, is, node] = [nodeIn(draft.base, name), nodeIn(draft.now, name), liveOf(name)]
    const change = changeOf(was, is)
    const look = node && lookOf(node, data(), serverNow())
    const { fact, tone } = change ?? look ?? { fact: 'not started' }
    const cls = classOf(is ?? was!)
    board.drawing().node(name, {
      fact,
      cls,
      mark: look?.mark,
      description: `${name}, ${cls}: ${fact}`,
      kind: `${look?.kind ?? 'unmade'} ${change?.kind ?? ''}${chosen.node === name ? ' on' : ''}`,
      tone,
    })
  }

  function drawWires(wires: readonly GraphWire[], chosen: Chosen, change?: GraphChange): void {
    const [was, is] = [idsOf(draft.base), idsOf(draft.now)]
    for (const wire of wires) {
      const { id } = wire
      const kind = !was.has(id) ? 'add' : is.has(id) ? '' : 'cut'
      const left = kind === 'cut' ? leftAt(wire, change) : 0
      const label = kind === 'add' ? 'new' : left > 0 ? `${count(left)} ${left === 1 ? 'stays' : 'stay'}` : kind
      const on = chosen.wire === id
      board.drawing().wire(id, {
        kind,
        label,
        on,
        dots: 0,
        tone: on ? 'on' : kind,
        description: `${id}${kind ? `, ${label}` : ''}`,
      })
    }
  }

  return {
    draw(chosen: Chosen, change?: GraphChange): void {
      const { nodes, wires } = union(draft)
      const named = nodes.map((name) => {
        const declared = data().classes.find((one) => one.name === classOf(nodeOf(name)))
        return { name, ins: declared?.ins, outs: declared?.outs }
      })
      board.lay(named, wires)
      for (const name of nodes) drawNode(name, chosen)
      drawWires(wires, chosen, change)
    },
    offers: (dir: 'ins' | 'outs'): string[] => [
      ...Object.keys(draft.now.nodes).flatMap((name) =>
        (board.laid().nodes.get(name)?.[dir] ?? []).map((port) => `${name}.${port}`),
      ),
      ...Object.keys(dir === 'ins' ? draft.now.outports : draft.now.inports),
    ],
    step: board.step,
  }
}
