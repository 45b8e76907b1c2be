// Draws a graph once. After that, writes only changes, until the graph has other nodes or wires.

import type { Dots } from './dots.ts'
import type { Box, Layout, Placed } from './layout.ts'
import { clip, LABEL, portY, shortPort } from './layout.ts'
import { createPace } from './pace.ts'
import { make, set, write } from './svg.ts'

export type NodeLook = { kind: string; mark?: string; cls: string; fact: string; tone?: string; description: string }
type WireLook = {
  kind: string
  label: string
  value?: string
  tone: string
  description: string
  dots: number
  on: boolean
}

/** Width of a letter as a share of its height. */
const LETTER = 0.58
/** Maximum letters of a value in a label, and pixels per letter. */
const [VALUE, LABEL_LETTER] = [19, 6.9]
/** Font sizes of names, in pixels. On a small scale, a name may be as large as its node. */
const [SMALLEST_NAME, NAME, LARGEST_NAME] = [12, 15, 30] as const
/** Maximum letters of a name, and pixels of a node's width that its padding and mark need. */
const [LETTERS, RESERVED] = [17, 48]

export type Drawing = ReturnType<typeof createDrawing>

const middle = (text: string, x: number, y: number): SVGElement => make('text', { class: 'mid', x, y }, text)

/** Uses no transforms: they would cost milliseconds in each frame of a drag. */
function nodeParts({ name, box, ins, outs }: Placed, named: number) {
  const { x, y } = box
  const use = make('use')
  const mark = make('svg', { x: x + box.width - 29, y: y + 12, width: 16, height: 16, viewBox: '0 0 14 14' }, use)
  const cls = make('text', { class: 'cls', x: x + 14, y: y + 43 })
  const fact = make('text', { class: 'fact', x: x + 14, y: y + 62 })
  const shown = clip(name, LETTERS)
  const sizeIn = (width: number, largest: number) => Math.min(largest, Math.floor(width / shown.length / LETTER))
  const size = Math.max(SMALLEST_NAME, sizeIn(box.width - RESERVED, NAME))
  const dot = (dir: 'in' | 'out', ports: string[]) =>
    ports.flatMap((port) => {
      const [cx, cy] = [dir === 'in' ? x : x + box.width, y + portY(box, ports, port)]
      const mark = make('circle', {
        class: 'port',
        cx,
        cy,
        r: 4,
        'data-dir': dir,
        'data-port': port,
        'data-node': name,
      })
      const at = dir === 'in' ? { x: cx - 7, y: cy - 6, class: 'pn end' } : { x: cx + 7, y: cy - 6, class: 'pn' }
      return ports.length >= named ? [mark, make('text', at, shortPort(port))] : [mark]
    })
  const group = make(
    'g',
    {
      class: 'node',
      role: 'button',
      tabindex: 0,
      'data-name': name,
      'data-see': 'farthest',
      'font-size': sizeIn(box.width - 16, LARGEST_NAME),
    },
    make('rect', { class: 'box', ...box, rx: 10 }),
    mark,
    make('text', { class: 'name', x: x + 14, y: y + 25, 'font-size': size }, shown),
    cls,
    fact,
    ...dot('in', ins),
    ...dot('out', outs),
  )
  return { box: group, use, cls, fact }
}

function wireParts(id: string, path: string) {
  const line = make('path', { class: 'wire', d: path })
  const rect = make('rect', { height: LABEL.height, rx: 11 })
  const [text, value] = [middle('', 0, 15.5), make('text', { class: 'mid small value', x: LABEL.width / 2 })]
  const badge = make('g', { class: 'badge', 'data-wire': id }, rect, text)
  const reach = make('path', { class: 'reach', d: path })
  const group = make('g', { role: 'button', tabindex: 0, 'data-wire': id, 'data-see': 'farthest' }, reach, line)
  return { line, badge, rect, text, value, group }
}

/** A node shows the names of its inputs if it has at least `named` inputs, and likewise for outputs. */
export type DrawingOptions = { dots?: Dots; named?: number }

export function createDrawing(svg: SVGSVGElement, layout: Layout, { dots, named = 2 }: DrawingOptions) {
  const nodes = new Map<string, ReturnType<typeof nodeParts>>()
  const wires = new Map<string, ReturnType<typeof wireParts>>()
  const [below, above, marks] = [make('g'), make('g'), make('g')]
  const pace = createPace()
  for (const [id, { path }] of layout.wires) {
    const parts = wireParts(id, path)
    wires.set(id, parts)
    below.append(parts.group)
  }
  // On a small scale, all wires are one element, because a thousand elements slow each frame down.
  below.prepend(make('path', { class: 'wire all', d: [...layout.wires.values()].map(({ path }) => path).join('') }))
  for (const placed of layout.nodes.values()) {
    const parts = nodeParts(placed, named)
    nodes.set(placed.name, parts)
    above.append(parts.box)
  }
  for (const [name, { port, box }] of layout.ports) {
    const dir = name.startsWith('in:') ? 'out' : 'in'
    const cx = dir === 'out' ? box.width : 0
    above.append(
      make(
        'g',
        { class: 'fport', transform: `translate(${box.x} ${box.y})` },
        make('rect', { width: box.width, height: box.height, rx: 15 }),
        middle(port, box.width / 2, 19.5),
        make('circle', { class: 'port ghost', cx, cy: box.height / 2, r: 5, 'data-dir': dir, 'data-port': port }),
      ),
    )
  }
  svg.replaceChildren(below, above, marks)
  dots?.clear()

  return {
    node(name: string, { kind, mark, cls, fact, tone, description }: NodeLook): void {
      const parts = nodes.get(name)
      if (!parts) return
      set(parts.box, { class: `node ${kind}`, 'aria-label': description })
      set(parts.use, { href: mark && `#s-${mark}` })
      set(parts.fact, { class: tone ? `fact c ${tone}` : 'fact' })
      write(parts.cls, clip(cls, 19))
      write(parts.fact, fact)
    },
    wire(id: string, { kind, label, value = '', tone, description, on, dots: moving }: WireLook): void {
      const parts = wires.get(id)
      if (!parts) return
      set(parts.line, { class: `wire ${kind}${on ? ' on' : ''}` })
      set(parts.group, { 'aria-label': description })
      const { path, middle: at } = layout.wires.get(id)!
      dots?.set(id, path, moving)
      if (!label && !value) {
        parts.badge.remove()
        return
      }
      if (!parts.badge.parentNode) marks.append(parts.badge)
      const shown = clip(value, VALUE)
      set(parts.badge, { class: `badge ${tone}` })
      if (parts.text.textContent === label && parts.value.textContent === shown) return
      write(parts.text, label)
      write(parts.value, shown)
      set(parts.value, { y: label ? 19 : 14 })
      if (value) parts.badge.append(parts.value)
      else parts.value.remove()
      const wanted = Math.max(22, label.length * LABEL_LETTER * (value ? 0.72 : 1) + 16)
      const long = value ? LABEL.width : Math.min(wanted, LABEL.width)
      set(parts.rect, { width: long })
      set(parts.text, {
        class: value ? 'mid small' : 'mid',
        y: value ? 9.5 : 15.5,
        x: long / 2,
        textLength: wanted > long ? long - 16 : undefined,
        lengthAdjust: 'spacingAndGlyphs',
      })
      set(parts.badge, { transform: `translate(${at.x - long / 2} ${at.y - 11})` })
    },
    /** Elements outside of the view always show the fewest details, so that a zoom changes few elements. */
    show({ x, y, width, height }: Box, detail: string): void {
      const changes: (() => void)[] = []
      const show = ({ dataset }: SVGElement, box: Box): void => {
        const isIn = box.x + box.width > x && box.x < x + width && box.y + box.height > y && box.y < y + height
        const see = isIn ? detail : 'farthest'
        if (dataset.see !== see) changes.push(() => (dataset.see = see))
      }
      for (const [name, { box }] of nodes) show(box, layout.nodes.get(name)!.box)
      for (const [id, { group, badge }] of wires)
        for (const part of [group, badge]) show(part, layout.wires.get(id)!.box)
      pace.soon(changes)
    },
    wireAt: (id: string): SVGElement | undefined => wires.get(id)?.group,
    nodeAt: (name: string): SVGElement | undefined => nodes.get(name)?.box,
  }
}
