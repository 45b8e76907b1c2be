import type { GraphWire } from '../../../core/wires.ts'
import type { GraphChange } from '../../../engine/engine.ts'
import { factOf, factsOf, kindOfNode, markOf, toneOf } from '../../words/flow.ts'
import { count } from '../../words/text.ts'
import { type Graph, idsOf, type Node } from './draft.ts'
import { createDrawing, type Drawing } from './draw.ts'
import { type Layout, layout } from './layout.ts'
import { stepFrom } from './steps.ts'
import type { View } from './view.ts'
import { type Draft, type Editing, union } from './working.ts'

export type Chosen = { node?: string; wire?: string }
type Drawn = { drawing: Drawing; laid: Layout }
type NodeChange = 'new' | 'old' | 'swap' | ''

const classOf = ({ queue = 'default', class: name }: { queue?: string; class: string }): string => `${queue}/${name}`

function changeOf(was: Node | undefined, is: Node | undefined): NodeChange {
  if (!was) return 'new'
  if (!is) return 'old'
  return classOf(was) !== classOf(is) || JSON.stringify(was.args) !== JSON.stringify(is.args) ? 'swap' : ''
}

const said: Record<Exclude<NodeChange, ''>, (was: Node | undefined, is: Node | undefined) => string> = {
  new: () => 'not created yet',
  old: () => 'is removed',
  swap: (was, is) => (was && is && classOf(was) !== classOf(is) ? `was ${classOf(was)}` : 'arguments changed'),
}

/** A node may have the name of a member of Object, such as `constructor`. */
const nodeIn = ({ nodes }: Graph, name: string): Node | undefined =>
  Object.hasOwn(nodes, name) ? nodes[name] : undefined

const leftAt = ({ from, to }: GraphWire, change?: GraphChange): number =>
  (change?.orphaned ?? [])
    .filter(({ node, port }) => [from, to].some((end) => end.node === node && end.port === port))
    .reduce((sum, { values }) => sum + values, 0)

export function createDraftDrawing(
  svg: SVGSVGElement,
  now: () => { data: Editing; at: number },
  draft: Draft,
  view: View,
) {
  let shape = ''
  let drawn: Drawn | undefined
  view.onShow((_, shown, detail) => drawn?.drawing.show(shown, detail))

  const nodeOf = (name: string): Node => nodeIn(draft.now, name) ?? nodeIn(draft.base, name)!
  const portsOf = (name: string) => now().data.classes.find((one) => one.name === classOf(nodeOf(name)))

  function lay({ nodes, wires }: ReturnType<typeof union>): Drawn {
    const next = JSON.stringify([nodes.map((name) => [name, portsOf(name)?.name]), wires.map(({ id }) => id)])
    if (drawn && next === shape) return drawn
    const named = nodes.map((name) => ({ name, ins: portsOf(name)?.ins, outs: portsOf(name)?.outs }))
    const laid = layout(named, wires, view.room())
    shape = next
    drawn = { laid, drawing: createDrawing(svg, laid, undefined, 1) }
    view.bound(laid.box)
    return drawn
  }

  function drawNode({ drawing }: Drawn, name: string, chosen: Chosen): void {
    const [was, is] = [nodeIn(draft.base, name), nodeIn(draft.now, name)]
    const { data, at } = now()
    const node = data.nodes.find((one) => one.name === name)
    const kind = changeOf(was, is)
    const facts = node && factsOf(node, data, at)
    const fact = kind ? said[kind](was, is) : facts ? factOf(node, facts) : 'not started'
    const cls = classOf(is ?? was!)
    const tone = node && !kind ? toneOf(node) : undefined
    drawing.node(name, {
      fact,
      cls,
      mark: facts && markOf(node, facts),
      said: `${name}, ${cls}: ${fact}`,
      kind: `${facts ? kindOfNode(node, facts) : 'unmade'} ${kind}${chosen.node === name ? ' on' : ''}`,
      tone: kind === 'old' ? 'failed' : kind === 'swap' ? 'suspended' : tone,
    })
  }

  function drawWires({ drawing }: Drawn, wires: readonly GraphWire[], chosen: Chosen, change?: GraphChange): void {
    const [was, is] = [idsOf(draft.base), idsOf(draft.now)]
    for (const wire of wires) {
      const { id } = wire
      const kind = !was.has(id) ? 'add' : is.has(id) ? '' : 'cut'
      const left = kind === 'cut' ? leftAt(wire, change) : 0
      const label = kind === 'add' ? 'new' : left > 0 ? `${count(left)} ${left === 1 ? 'stays' : 'stay'}` : kind
      const on = chosen.wire === id
      drawing.wire(id, {
        kind,
        label,
        on,
        beads: 0,
        tone: on ? 'on' : kind,
        said: `${id}${kind ? `, ${label}` : ''}`,
      })
    }
  }

  return {
    draw(chosen: Chosen, change?: GraphChange): void {
      const all = union(draft)
      const at = lay(all)
      for (const name of all.nodes) drawNode(at, name, chosen)
      drawWires(at, all.wires, chosen, change)
    },
    places: () => ({
      ...drawn!,
      nodes: union(draft).nodes.map((name) => {
        const { queue = 'default', class: className } = nodeOf(name)
        return {
          name,
          queue,
          class: className,
          job: now().data.nodes.find((one) => one.name === name)?.job,
        }
      }),
    }),
    offers: (dir: 'ins' | 'outs'): string[] => [
      ...Object.keys(draft.now.nodes).flatMap((name) =>
        (drawn?.laid.nodes.get(name)?.[dir] ?? []).map((port) => `${name}.${port}`),
      ),
      ...Object.keys(dir === 'ins' ? draft.now.outports : draft.now.inports),
    ],
    step(key: string, node: string): boolean {
      const to = drawn && stepFrom(key, node, drawn.laid, union(draft).wires)
      if (to !== undefined) drawn!.drawing.nodeAt(to)?.focus()
      return to !== undefined
    },
  }
}
