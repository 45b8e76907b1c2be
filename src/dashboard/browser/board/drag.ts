import type { End } from '../../../core/wires.ts'
import type { Point } from './layout.ts'
import { make, pointIn, set } from './svg.ts'

const portAt = (target: EventTarget | null): (End & { dir: string }) | undefined => {
  const found = (target as Element | null)?.closest<SVGElement>('[data-port]')?.dataset
  return found && { node: found.node ?? null, port: found.port!, dir: found.dir! }
}

export function dragsWires(svg: SVGSVGElement, connect: (from: End, to: End) => void): void {
  let drag: { end: End & { dir: string }; at: Point; line: SVGElement } | undefined

  svg.addEventListener('pointerdown', (event) => {
    const end = portAt(event.target)
    if (!end) return
    event.preventDefault()
    const line = make('path', { class: 'wire add', 'pointer-events': 'none' })
    svg.append(line)
    drag = { end, at: pointIn(svg, event), line }
  })
  svg.addEventListener('pointermove', (event) => {
    if (!drag) return
    const to = pointIn(svg, event)
    set(drag.line, { d: `M${drag.at.x} ${drag.at.y}L${to.x} ${to.y}` })
  })
  document.addEventListener('pointerup', (event) => {
    if (!drag) return
    const { end, line } = drag
    drag = undefined
    line.remove()
    const other = portAt(document.elementFromPoint(event.clientX, event.clientY))
    if (!other || other.dir === end.dir) return
    const [from, to] = end.dir === 'out' ? [end, other] : [other, end]
    connect({ node: from.node, port: from.port }, { node: to.node, port: to.port })
  })
}
