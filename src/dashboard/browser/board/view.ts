import { onClick } from '../app/page.ts'
import type { Box, Point, Room } from './layout.ts'
import { pointIn, set } from './svg.ts'

/** Below this scale, nodes show only their status and their name in large type. */
const FAR = 0.5
/** Above this scale, wires show their last values. */
const NEAR = 1.2
/** Below this scale, nodes have no text, and all wires are one element. */
const FARTHEST = 0.2
/** Maximum width of a phone, in pixels. */
const NARROW = 760
/** Pixels outside the board: the side bar with half of the panel, which is not always open, and all bars. */
const [SIDES, BARS] = [224, 152]
/** Smallest scale at which names in large type can be read. */
const READABLE = 0.32
/** Milliseconds from the last turn of the wheel to the next drawing. */
const STILL = 150

const middleOf = ({ x, y, width, height }: Box): Point => ({ x: x + width / 2, y: y + height / 2 })

/** Keeps the middle of the box. */
const withSize = (box: Box, width: number, height: number): Box => ({
  x: box.x - (width - box.width) / 2,
  y: box.y - (height - box.height) / 2,
  width,
  height,
})

/** A drag begins on an empty part of the board. */
function watchDrag(
  svg: SVGSVGElement,
  show: (isMoving: boolean) => void,
  move: (dx: number, dy: number) => void,
): void {
  let drag: Point | undefined
  svg.addEventListener('pointerdown', (event) => {
    if ((event.target as Element).closest('[data-name], [data-wire], [data-port]')) return
    const { clientX: x, clientY: y, pointerId } = event
    drag = { x, y }
    svg.setPointerCapture(pointerId)
    show(true)
  })
  svg.addEventListener('pointermove', ({ clientX: x, clientY: y }) => {
    if (!drag) return
    move(x - drag.x, y - drag.y)
    drag = { x, y }
  })
  for (const name of ['pointerup', 'pointercancel'] as const)
    svg.addEventListener(name, () => {
      if (drag) show(false)
      drag = undefined
    })
}

function watchWheel(svg: SVGSVGElement, zoom: (by: number, at: Point) => void): void {
  const turned = (event: WheelEvent): void => {
    if (!event.ctrlKey && !event.metaKey) return
    event.preventDefault()
    zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, pointIn(svg, event))
  }
  svg.addEventListener('wheel', turned, { passive: false })
}

export type View = ReturnType<typeof createView>

export function createView(svg: SVGSVGElement) {
  // Only for touch screens, because touch-action slows each frame down.
  const touch = matchMedia('(any-pointer: coarse)').matches ? 'touch-action: none' : ''
  svg.style.cssText = `overflow: clip; overflow-clip-margin: 50vw; will-change: transform; user-select: none; ${touch}`
  let all: Box = { x: 0, y: 0, width: 1, height: 1 }
  let [seen, drawn] = [all, all]
  const listeners: ((seen: Box, shown: Box, detail: string) => void)[] = []
  // Observes the size, because measuring it lays out the whole board.
  let { width: wide, height: high } = svg.getBoundingClientRect()
  new ResizeObserver(([entry]) => {
    const { width, height } = entry!.contentRect
    if (width === 0) return
    const wasHidden = wide === 0
    ;[wide, high] = [width, height]
    if (wasHidden) begin()
  }).observe(svg)

  /** Extends `box` to the proportions of the board, and then by the factor `by`. */
  function shown(box: Box, by = 1): Box {
    const scale = Math.min(wide / box.width, high / box.height) / by
    return withSize(box, wide / scale, high / scale)
  }

  function show(isMoving = false): void {
    if (wide === 0) return
    drawn = seen
    shift('')
    set(svg, { viewBox: `${seen.x} ${seen.y} ${seen.width} ${seen.height}` })
    const scale = wide / shown(seen).width
    const detail = scale < FARTHEST ? 'farthest' : scale < FAR ? 'far' : scale > NEAR ? 'near' : ''
    svg.dataset.detail = detail
    // Wires are a pixel wide at any zoom, so that the wires of a large graph are visible.
    const all = svg.querySelector<SVGElement>('.all')
    if (all) all.style.strokeWidth = `${1 / scale}px`
    for (const listener of listeners) listener(seen, shown(seen, isMoving ? 2 : 1), detail)
  }

  function shift(transform: string): void {
    for (const layer of svg.parentElement!.querySelectorAll<SVGElement>('[data-board], .beads'))
      layer.style.transform = transform
  }

  /** Moves and scales (at most by 2) the last drawing, because a new drawing takes longer than a frame. */
  function slide(): void {
    const [was, is] = [shown(drawn), shown(seen)]
    const [by, scale] = [was.width / is.width, wide / is.width]
    const [dx, dy] = [(was.x - is.x) * scale, (was.y - is.y) * scale]
    if (Math.abs(dx) > wide / 2 || Math.abs(dy) > high / 2 || by > 2 || by < 0.5) show(by === 1)
    else shift(`translate(${dx.toFixed(2)}px, ${dy.toFixed(2)}px)${by === 1 ? '' : ` scale(${by})`}`)
  }

  function centre({ x, y }: Point): void {
    seen = { ...seen, x: x - seen.width / 2, y: y - seen.height / 2 }
    show()
  }

  let timer: ReturnType<typeof setTimeout> | undefined

  /** Slides towards a point, because the wheel turns in many small steps. */
  function zoom(by: number, at?: Point): void {
    const { x, y } = at ?? middleOf(seen)
    const [width, height] = [seen.width * by, seen.height * by]
    if (width < 160 || width > all.width * 8) return
    seen = { x: x - (x - seen.x) * by, y: y - (y - seen.y) * by, width, height }
    if (at) {
      slide()
      clearTimeout(timer)
      timer = setTimeout(show, STILL)
    } else show()
  }

  function showAll(): void {
    seen = withSize(all, Math.max(all.width, wide * 0.86), Math.max(all.height, high * 0.86))
    show()
  }

  /** On a phone, begins at the left end if names could not be read otherwise. */
  function begin(): void {
    showAll()
    const scale = Math.max(READABLE, Math.min(1, wide / all.width))
    if (wide > NARROW || wide / seen.width > scale || wide / seen.width < READABLE / 3) return
    const height = high / scale
    seen = { x: all.x, y: all.y + Math.min(0, (all.height - height) / 2), width: wide / scale, height }
    show()
  }

  function move(dx: number, dy: number): void {
    const scale = wide / shown(seen).width
    seen = { ...seen, x: seen.x - dx / scale, y: seen.y - dy / scale }
    slide()
  }

  watchDrag(svg, show, move)
  watchWheel(svg, zoom)
  const buttons: Record<string, () => void> = {
    nearer: () => zoom(1 / 1.25),
    farther: () => zoom(1.25),
    fit: showAll,
  }
  onClick('[data-view]', ({ dataset }) => buttons[dataset.view!]?.())

  function look(box: Box): void {
    const width = Math.min(seen.width, wide)
    seen = { ...seen, width, height: (seen.height * width) / seen.width }
    centre(middleOf(box))
  }

  function reveal(box: Box): void {
    const { x, y, width, height } = box
    const isIn = x >= seen.x && y >= seen.y && x + width <= seen.x + seen.width && y + height <= seen.y + seen.height
    if (!isIn) centre(middleOf(box))
  }

  return {
    centre,
    onShow: (listener: (typeof listeners)[number]): void => void listeners.push(listener),
    look,
    reveal,
    open: (box: Box): void => (wide / seen.width < READABLE ? look(box) : reveal(box)),
    /** On a phone, a finger moves the board, so its height has no limit. */
    room: (): Room =>
      innerWidth > NARROW
        ? { width: innerWidth - SIDES, height: innerHeight - BARS }
        : { width: innerWidth, height: Infinity },
    bound(box: Box): void {
      all = box
      begin()
    },
  }
}
