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
