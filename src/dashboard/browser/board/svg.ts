const SVG = 'http://www.w3.org/2000/svg'

type Attributes = Record<string, string | number | undefined>

export function set(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined) element.removeAttribute(name)
    else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, String(value))
  }
}

export function make(tag: string, attributes: Attributes = {}, ...inside: (Element | string)[]): SVGElement {
  const element = document.createElementNS(SVG, tag)
  set(element, attributes)
  element.append(...inside)
  return element
}

export const markAt = (target: EventTarget | null): DOMStringMap =>
  (target as Element | null)?.closest<SVGElement>('[data-name], [data-wire]')?.dataset ?? {}

export function pointIn(svg: SVGSVGElement, { clientX, clientY }: MouseEvent): { x: number; y: number } {
  const matrix = svg.getScreenCTM()
  return matrix ? new DOMPoint(clientX, clientY).matrixTransform(matrix.inverse()) : { x: 0, y: 0 }
}

export function partOf(element: Element, { clientX }: MouseEvent): number {
  const { left, width } = element.getBoundingClientRect()
  return Math.max(0, Math.min(1, (clientX - left) / Math.max(1, width)))
}

export function write(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text
}

/** Also calls `moved` for the press that begins the drag. */
export function onDrag(element: GlobalEventHandlers & Element, moved: (event: PointerEvent) => void): void {
  element.addEventListener('pointerdown', (event) => {
    element.setPointerCapture(event.pointerId)
    moved(event)
  })
  element.addEventListener('pointermove', (event) => event.buttons > 0 && moved(event))
}
