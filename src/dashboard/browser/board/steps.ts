import type { GraphWire } from '../../../core/wires.ts'
import type { Layout } from './layout.ts'

const along = (wires: readonly GraphWire[], name: string, [from, to]: ['from' | 'to', 'from' | 'to']) =>
  wires.find((wire) => wire[from].node === name && wire[to].node !== null)?.[to].node ?? undefined

function neighbour({ nodes }: Layout, name: string, by: 1 | -1): string | undefined {
  const { box } = nodes.get(name)!
  const others = [...nodes.values()].filter((one) => (one.box.y - box.y) * by > 0)
  const distance = (one: { box: typeof box }) => Math.abs(one.box.x - box.x) * 2 + Math.abs(one.box.y - box.y)
  return others.sort((a, b) => distance(a) - distance(b))[0]?.name
}

export function stepFrom(key: string, name: string, layout: Layout, wires: readonly GraphWire[]): string | undefined {
  if (key === 'ArrowUp') return neighbour(layout, name, -1)
  if (key === 'ArrowDown') return neighbour(layout, name, 1)
  if (key === 'ArrowLeft') return along(wires, name, ['to', 'from'])
  return key === 'ArrowRight' ? along(wires, name, ['from', 'to']) : undefined
}
