const SVG = 'http://www.w3.org/2000/svg'

export type Attributes = Record<string, string | number | undefined>

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

export function write(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text
}
