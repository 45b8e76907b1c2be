// Renders JSX to HTML. The runtime of Hono would add hooks and code for browsers to each Worker.

import type { Child } from 'hono/jsx'

export type { JSX } from 'hono/jsx/jsx-runtime'

type Props = Record<string, unknown> & { children?: Child }
type Component = (props: Props) => unknown

const VOID = new Set(['br', 'col', 'hr', 'img', 'input', 'link', 'meta'])
const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => entities[sign]!)

/** These attributes contain the word `true` or `false`. All other booleans are false if their attribute is missing. */
const isWord = (name: string): boolean => name.includes('-') || name === 'draggable' || name === 'spellcheck'

function attribute([name, value]: [name: string, value: unknown]): string {
  if (name === 'children' || value === undefined || value === null) return ''
  if (typeof value === 'boolean' && !isWord(name)) return value ? ` ${name}=""` : ''
  return ` ${name}="${escaped(String(value))}"`
}

function rendered(child: unknown): string {
  if (child === undefined || child === null || typeof child === 'boolean') return ''
  if (Array.isArray(child)) return child.map(rendered).join('')
  return (child as { isEscaped?: boolean }).isEscaped ? String(child) : escaped(String(child))
}

/** Rendered late, so that a component can set what its children read. */
class Element {
  readonly isEscaped = true
  readonly #tag: string | Component
  readonly #props: Props

  constructor(tag: string | Component, props: Props) {
    this.#tag = tag
    this.#props = props
  }

  toString(): string {
    const tag = this.#tag
    if (typeof tag === 'function') return rendered(tag(this.#props))
    const start = `<${tag}${Object.entries(this.#props).map(attribute).join('')}`
    return VOID.has(tag) ? `${start}/>` : `${start}>${rendered(this.#props.children)}</${tag}>`
  }
}

export const jsx = (tag: string | Component, props: Props): Element => new Element(tag, props)
export { jsx as jsxDEV, jsx as jsxs }

export const Fragment = ({ children }: Props): unknown => children
