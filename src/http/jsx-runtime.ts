// Replaces Hono's runtime, which also has hooks and code for browsers.

import type { Child } from 'hono/jsx'

export type { JSX } from 'hono/jsx/jsx-runtime'

type Props = Record<string, unknown> & { children?: Child }
type Tag = string | ((props: Props) => unknown)

const VOID = new Set(['br', 'hr', 'img', 'input', 'link', 'meta'])
const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => entities[sign]!)

/** The values of these attributes are the words "true" and "false". Other attributes are omitted if they are false. */
const isWord = (name: string): boolean => name.includes('-') || name === 'draggable' || name === 'spellcheck'

function attribute([name, value]: [string, unknown]): string {
  if (name === 'children' || value === undefined || value === null) return ''
  if (typeof value === 'boolean' && !isWord(name)) return value ? ` ${name}=""` : ''
  return ` ${name}="${escaped(String(value))}"`
}

function rendered(child: unknown): string {
  if (child === undefined || child === null || typeof child === 'boolean') return ''
  if (Array.isArray(child)) return child.map(rendered).join('')
  return (child as { isEscaped?: boolean }).isEscaped ? String(child) : escaped(String(child))
}

function element(tag: string, props: Props): string {
  const start = `<${tag}${Object.entries(props).map(attribute).join('')}`
  return VOID.has(tag) ? `${start}/>` : `${start}>${rendered(props.children)}</${tag}>`
}

/** Renders only when `toString` is called, because `htmlOf` sets values that components read. */
export const jsx = (tag: Tag, props: Props) => ({
  isEscaped: true,
  toString: () => (typeof tag === 'string' ? element(tag, props) : rendered(tag(props))),
})
export { jsx as jsxDEV, jsx as jsxs }

export const raw = (text: string) => ({ isEscaped: true, toString: () => text })

export const html = (texts: TemplateStringsArray, ...values: unknown[]) =>
  raw(String.raw({ raw: texts }, ...values.map(rendered)))

export const Fragment = ({ children }: Props): unknown => children
