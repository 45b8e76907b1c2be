import type { Layout } from './layout.ts'
import { make, onDrag, pointIn, set } from './svg.ts'
import type { View } from './view.ts'

/** Pixels. */
const [WIDE, HIGH] = [180, 120] as const

export function createMap(board: Element, view: View) {
  const frame = make('rect', { class: 'seen' })
  const nodes = new Map<string, SVGElement>()
  const svg = make('svg', { class: 'tools map wide', 'aria-hidden': 'true' }) as SVGSVGElement
  board.append(svg)

  view.onShow(({ x, y, width, height }) => set(frame, { x, y, width, height }))
  onDrag(svg, (event) => view.centre(pointIn(svg, event)))

  return {
    lay({ nodes: placed, box }: Layout): void {
      const scale = Math.min(WIDE / box.width, HIGH / box.height)
      set(svg, {
        viewBox: `${box.x} ${box.y} ${box.width} ${box.height}`,
        width: Math.round(box.width * scale),
        height: Math.round(box.height * scale),
      })
      nodes.clear()
      for (const { name, box } of placed.values()) nodes.set(name, make('rect', { ...box }))
      svg.replaceChildren(...nodes.values(), frame)
    },
    node(name: string, status: string | undefined): void {
      const found = nodes.get(name)
      if (found) set(found, { class: status })
    },
  }
}
