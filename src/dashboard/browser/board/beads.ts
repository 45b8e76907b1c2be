// Draws beads on a canvas: in the SVG, each frame would lay out all texts again.

import { made } from '../app/page.ts'

type Point = { x: number; y: number }
type Way = { points: readonly Point[]; beads: number }

/** Time that a bead takes to cross a wire, in milliseconds, and number of points on its path. */
const [TURN, POINTS] = [2_400, 48]
const RADIUS = 4

const isStill = matchMedia('(prefers-reduced-motion: reduce)')

function pointsOf(path: SVGPathElement): Point[] {
  const long = path.getTotalLength()
  return Array.from({ length: POINTS + 1 }, (_, i) => path.getPointAtLength((long * i) / POINTS))
}

function between(points: readonly Point[], part: number): Point {
  const at = part * POINTS
  const [a, b] = [points[Math.floor(at)]!, points[Math.min(POINTS, Math.floor(at) + 1)]!]
  const rest = at - Math.floor(at)
  return { x: a.x + (b.x - a.x) * rest, y: a.y + (b.y - a.y) * rest }
}

export type Beads = ReturnType<typeof createBeads>

export function createBeads(svg: SVGSVGElement) {
  const canvas = made('canvas', { className: 'beads', ariaHidden: 'true' })
  svg.after(canvas)
  const pen = canvas.getContext('2d')!
  const ways = new Map<string, Way>()
  const known = new Map<string, Point[]>()
  let isMoving = false
  let [fill, stroke] = ['', '']
  let matrix: DOMMatrix | undefined

  /** Called once, because measuring in each frame is slow. */
  function measure(): void {
    const [{ left, top, width, height }, scale] = [svg.getBoundingClientRect(), devicePixelRatio]
    canvas.width = Math.round(width * scale)
    canvas.height = Math.round(height * scale)
    const screen = svg.getScreenCTM()
    matrix = screen ? new DOMMatrix([scale, 0, 0, scale, -left * scale, -top * scale]).multiply(screen) : undefined
    const style = getComputedStyle(canvas)
    fill = style.color
    stroke = style.outlineColor
  }

  function draw(time: number): void {
    if (!matrix) measure()
    pen.setTransform(1, 0, 0, 1, 0, 0)
    pen.clearRect(0, 0, canvas.width, canvas.height)
    if (matrix) pen.setTransform(matrix)
    pen.fillStyle = fill
    pen.strokeStyle = stroke
    pen.lineWidth = 1.5
    for (const { points, beads } of ways.values())
      for (let i = 0; i < beads; i++) {
        const { x, y } = between(points, (time / TURN + i / beads) % 1)
        pen.beginPath()
        pen.arc(x, y, RADIUS, 0, Math.PI * 2)
        pen.fill()
        pen.stroke()
      }
    isMoving = ways.size > 0
    if (isMoving) requestAnimationFrame(draw)
  }

  const changed = (): void => {
    matrix = undefined
  }
  new ResizeObserver(changed).observe(svg)
  new MutationObserver(changed).observe(svg, { attributes: true, attributeFilter: ['viewBox'] })
  new MutationObserver(changed).observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })

  return {
    set(id: string, path: SVGPathElement, beads: number): void {
      const wanted = isStill.matches ? 0 : beads
      if (wanted === 0) {
        ways.delete(id)
        return
      }
      const d = path.getAttribute('d')!
      if (!known.has(d)) known.set(d, pointsOf(path))
      ways.set(id, { points: known.get(d)!, beads: wanted })
      if (!isMoving) requestAnimationFrame(draw)
      isMoving = true
    },
    clear(): void {
      ways.clear()
      known.clear()
    },
  }
}
