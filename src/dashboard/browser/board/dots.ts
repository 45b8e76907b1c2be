// Draws beads: dots that move along busy wires. Uses a canvas, because in the SVG each frame would lay out all texts.

import { made } from '../app/page.ts'
import type { Box } from './layout.ts'
import { make } from './svg.ts'

type Way = { path: Path2D; long: number; dots: number }

/** Milliseconds that a bead takes to cross a wire. */
const TURN = 2_400

const isStill = matchMedia('(prefers-reduced-motion: reduce)')

export type Dots = ReturnType<typeof createDots>

export function createDots(svg: SVGSVGElement) {
  const canvas = made('canvas', { className: 'beads', ariaHidden: 'true' })
  svg.after(canvas)
  const pen = canvas.getContext('2d')!
  const ways = new Map<string, Way>()
  let isMoving = false
  let [fill, border] = ['', '']
  let seen: Box = { x: 0, y: 0, width: 1, height: 1 }

  function draw(time: number): void {
    const { width, height } = canvas
    const scale = Math.min(width / seen.width, height / seen.height)
    pen.resetTransform()
    pen.clearRect(0, 0, width, height)
    pen.translate(width / 2, height / 2)
    pen.scale(scale, scale)
    pen.translate(-seen.x - seen.width / 2, -seen.y - seen.height / 2)
    if (!fill) ({ color: fill, outlineColor: border } = getComputedStyle(canvas))
    pen.lineCap = 'round'
    isMoving = false
    for (const { path, long, dots } of ways.values()) {
      if (dots === 0) continue
      isMoving = true
      // A dash of length 0 with round ends looks like a dot.
      pen.setLineDash([0, long / dots])
      pen.lineDashOffset = (-time / TURN) * long
      for (const [color, width] of [[border, 9.5] as const, [fill, 6.5] as const]) {
        pen.strokeStyle = color
        pen.lineWidth = width
        pen.stroke(path)
      }
    }
    if (isMoving) requestAnimationFrame(draw)
  }

  new ResizeObserver(([entry]) => {
    const { width, height } = entry!.contentRect
    canvas.width = Math.round(width * devicePixelRatio)
    canvas.height = Math.round(height * devicePixelRatio)
  }).observe(svg)
  const recolor = (): void => {
    fill = ''
  }
  new MutationObserver(recolor).observe(document.documentElement, { attributeFilter: ['data-theme'] })

  return {
    set(id: string, d: string, moving: number): void {
      const dots = isStill.matches ? 0 : moving
      const way = ways.get(id)
      if (way) way.dots = dots
      else if (dots > 0) {
        // Measures a path outside of the page, because measuring a path on the page would lay out the board.
        const long = (make('path', { d }) as SVGPathElement).getTotalLength()
        ways.set(id, { path: new Path2D(d), long, dots })
      }
      if (dots > 0 && !isMoving) requestAnimationFrame(draw)
      isMoving ||= dots > 0
    },
    show(box: Box): void {
      seen = box
    },
    clear: (): void => ways.clear(),
  }
}
