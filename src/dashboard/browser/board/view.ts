import { onClick } from '../app/page.ts'
import type { Box } from './layout.ts'
import { pointIn } from './svg.ts'

/** Below this scale, nodes show only their status, and their name in large type. */
const FAR = 0.5
/** Above this scale, wires show their last values. */
const NEAR = 1.2
/** Below this scale, even a name in large type cannot be read. */
const FARTHEST = 0.13

export function createView(svg: SVGSVGElement) {
  // Only for touch screens, because touch-action slows each frame down.
  const touch = matchMedia('(any-pointer: coarse)').matches ? 'touch-action: none' : ''
  svg.style.cssText = `overflow: clip; overflow-clip-margin: 50vw; will-change: transform; ${touch}`
  let all: Box = { x: 0, y: 0, width: 1, height: 1 }
  let seen: Box = all
  const told: ((seen: Box, shown: Box) => void)[] = []

  /** Returns the visible part, which is larger than `seen` if the board has different proportions. */
  function shown(): Box {
    const { clientWidth = 1, clientHeight = 1 } = svg.parentElement ?? {}
    const scale = Math.min(clientWidth / seen.width, clientHeight / seen.height)
    const [width, height] = [clientWidth / scale, clientHeight / scale]
    return { x: seen.x - (width - seen.width) / 2, y: seen.y - (height - seen.height) / 2, width, height }
  }

  function show(): void {
    svg.setAttribute('viewBox', `${seen.x} ${seen.y} ${seen.width} ${seen.height}`)
    const scale = (svg.parentElement?.clientWidth ?? 0) / seen.width
    svg.classList.toggle('near', scale > NEAR)
    svg.classList.toggle('far', scale < FAR)
    svg.classList.toggle('farthest', scale < FARTHEST)
    for (const tell of told) tell(seen, shown())
  }

  function centre({ x, y }: { x: number; y: number }): void {
    seen = { ...seen, x: x - seen.width / 2, y: y - seen.height / 2 }
    show()
  }

  function zoom(by: number, at?: { x: number; y: number }): void {
    const to = at ?? { x: seen.x + seen.width / 2, y: seen.y + seen.height / 2 }
    const [width, height] = [seen.width * by, seen.height * by]
    if (width < 160 || width > all.width * 8) return
    seen = { x: to.x - (to.x - seen.x) * by, y: to.y - (to.y - seen.y) * by, width, height }
    show()
  }

  function showAll(): void {
    // A small graph is not enlarged beyond its normal size.
    const { clientWidth = 0, clientHeight = 0 } = svg.parentElement ?? {}
    const [wide, tall] = [Math.max(all.width, clientWidth * 0.86), Math.max(all.height, clientHeight * 0.86)]
    seen = { x: all.x - (wide - all.width) / 2, y: all.y - (tall - all.height) / 2, width: wide, height: tall }
    show()
  }

  type Drag = { x: number; y: number; dx: number; dy: number; scale: number }
  let drag: Drag | undefined

  /** Moves layers, so that a drag neither lays out nor paints. */
  function shift(dx: number, dy: number): void {
    for (const layer of [svg, svg.nextElementSibling as HTMLElement])
      layer.style.transform = dx === 0 && dy === 0 ? '' : `translate(${dx}px, ${dy}px)`
  }

  function drop(): void {
    if (!drag) return
    const { x, y, dx, dy, scale } = drag
    drag = { x: x + dx, y: y + dy, dx: 0, dy: 0, scale }
    seen = { ...seen, x: seen.x - dx / scale, y: seen.y - dy / scale }
    shift(0, 0)
    show()
  }

  svg.addEventListener('pointerdown', (event) => {
    if ((event.target as Element).closest('[data-name], [data-wire], [data-port]')) return
    const { clientX: x, clientY: y, pointerId } = event
    drag = { x, y, dx: 0, dy: 0, scale: svg.getScreenCTM()?.a ?? 1 }
    svg.setPointerCapture(pointerId)
    const { x: left, y: top, width, height } = shown()
    const wide = { x: left - width / 2, y: top - height / 2, width: width * 2, height: height * 2 }
    for (const tell of told) tell(seen, wide)
  })
  svg.addEventListener('pointermove', ({ clientX, clientY }) => {
    if (!drag) return
    Object.assign(drag, { dx: clientX - drag.x, dy: clientY - drag.y })
    const { clientWidth, clientHeight } = svg.parentElement!
    shift(drag.dx, drag.dy)
    if (Math.abs(drag.dx) > clientWidth / 2 || Math.abs(drag.dy) > clientHeight / 2) drop()
  })
  for (const name of ['pointerup', 'pointercancel'] as const)
    svg.addEventListener(name, () => {
      drop()
      drag = undefined
    })
  svg.addEventListener(
    'wheel',
    (event) => {
      if (!event.ctrlKey && !event.metaKey) return
      event.preventDefault()
      zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, pointIn(svg, event))
    },
    { passive: false },
  )
  const buttons: Record<string, () => void> = {
    nearer: () => zoom(1 / 1.25),
    farther: () => zoom(1.25),
    fit: showAll,
  }
  onClick('[data-view]', ({ dataset }) => buttons[dataset.view!]?.())

  return {
    centre,
    onShow: (tell: (seen: Box, shown: Box) => void): void => void told.push(tell),
    /** Moves to a point, and zooms in until its text can be read. */
    look(at: { x: number; y: number }): void {
      const width = Math.min(seen.width, svg.parentElement?.clientWidth ?? seen.width)
      seen = { ...seen, width, height: (seen.height * width) / seen.width }
      centre(at)
    },
    reveal({ x, y, width, height }: Box): void {
      const isIn = x >= seen.x && y >= seen.y && x + width <= seen.x + seen.width && y + height <= seen.y + seen.height
      if (!isIn) centre({ x: x + width / 2, y: y + height / 2 })
    },
    bound(box: Box): void {
      all = box
      showAll()
    },
  }
}
