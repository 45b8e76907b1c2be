import { expect, test } from 'vitest'
import type { Graph } from '../../src/core/graph.ts'
import { wiresOf } from '../../src/core/wires.ts'
import { type Box, LABEL, layout } from '../../src/dashboard/browser/board/layout.ts'
import { catalog } from './seed-flow.ts'

const isOver = (a: Box, b: Box): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height

test('labels of wires overlap neither nodes nor other labels', () => {
  const graph = catalog as unknown as Graph
  const { nodes, ports, wires } = layout(
    Object.keys(catalog.nodes).map((name) => ({ name })),
    wiresOf(graph),
  )
  const labels = [...wires].map(([id, { middle }]) => ({
    id,
    box: { x: middle.x - LABEL.width / 2, y: middle.y - LABEL.height / 2, ...LABEL },
  }))
  const others = [...nodes.values(), ...ports.values()].map((placed) => ({
    id: 'name' in placed ? placed.name : placed.port,
    box: placed.box,
  }))
  const over = labels.flatMap((label, i) =>
    [...labels.slice(i + 1), ...others]
      .filter(({ box }) => isOver(label.box, box))
      .map(({ id }) => `${label.id} on ${id}`),
  )
  expect(labels.length).toBe(wiresOf(graph).length)
  expect(over).toEqual([])
})

test('a new node moves no other node, and overlaps none', () => {
  const wires = wiresOf(catalog as unknown as Graph)
  const named = Object.keys(catalog.nodes).map((name) => ({ name }))
  for (const room of [undefined, { width: 900, height: 600 }, { width: 400, height: Infinity }]) {
    const before = layout(named, wires, room)
    const after = layout([{ name: 'added', ins: ['n'], outs: ['sum'] }, ...named], wires, room)
    expect([...before.nodes].map(([name, { box }]) => [name, box])).toEqual(
      [...after.nodes].filter(([name]) => name !== 'added').map(([name, { box }]) => [name, box]),
    )
    const { box } = after.nodes.get('added')!
    expect([...after.nodes.values()].filter((other) => isOver(other.box, box)).map(({ name }) => name)).toEqual([
      'added',
    ])
  }
})

test('nodes without wires have their own places', () => {
  const boxes = [...layout([{ name: 'a' }, { name: 'b' }, { name: 'c' }], []).nodes.values()].map(({ box }) => box)
  expect(boxes).toHaveLength(3)
  for (const [i, box] of boxes.entries()) expect(boxes.filter((other) => isOver(other, box))).toEqual([boxes[i]])
})
