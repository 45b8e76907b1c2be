// Finds the texts for users in the code. Joins the parts of a text, and prints inserted values as ${…}.

import { parseAst } from 'vitest/node'
import { children, read } from '../lua-build/syntax.ts'

/** `calls`: names of the calls around the text. */
export type Text = { line: number; text: string; calls: readonly string[] }

/** A node in the syntax tree of TypeScript or Lua. */
type Node = { type: string; start: number; end: number; range?: [number, number]; [field: string]: unknown }

/** These attributes and fields contain styles and shapes, not prose. */
const INVISIBLE = /^(class|className|d|points|style|transform|viewBox)$/

/** Code, addresses, selectors and styles, which are not prose. */
const CODE =
  /^(curl|npx|import|const|SELECT|UPDATE|btn|fill|card|classes) |^\(|^[/.#]|[{}]|=>|\[data-|'self'|: [^;]*;.*: .*;|\w=\S*&|\w\(/

const nodes = (value: unknown): Node[] => [value].flat() as Node[]

const isProse = (text: string): boolean => {
  const own = text.replace(/\$\{.*?\}/g, '…')
  return (
    own.split(' ').filter((word) => /^\W*[A-Za-z]{2}/.test(word)).length >= 3 && /[a-z]{3}/.test(own) && !CODE.test(own)
  )
}

const nameOf = (node: unknown): string => {
  const { name, property, identifier } = (node ?? {}) as Partial<Node>
  return typeof name === 'string' ? name : property || identifier ? nameOf(property ?? identifier) : ''
}

const calledBy = (node: Node): string[] =>
  /^(Call|New)Expression$/.test(node.type) ? [nameOf(node.callee ?? node.base)] : []

const isString = ({ type, value }: Node): boolean =>
  type === 'StringLiteral' || type === 'JSXText' || (type === 'Literal' && typeof value === 'string')

const isConcat = ({ type, operator }: Node): boolean =>
  type === 'BinaryExpression' && (operator === '..' || operator === '+')

/** Returns the parts of a text in order, or an empty list if the node is no text. */
function partsOf(node: Node): Node[] {
  if (isString(node)) return [node]
  if (isConcat(node)) {
    const sides = [node.left, node.right].flatMap(nodes)
    return sides.some((side) => partsOf(side).length > 0) ? sides.flatMap(insideOf) : []
  }
  if (node.type === 'TemplateLiteral') {
    const inserted = nodes(node.expressions)
    return nodes(node.quasis).flatMap((quasi, n) => [quasi, ...(inserted[n] ? insideOf(inserted[n]) : [])])
  }
  return isElement(node) && nodes(node.children).some(hasLetters) ? insideOf(node) : []
}

const isElement = ({ type }: Node): boolean => /^JSX(Element|Fragment)$/.test(type)

const hasLetters = ({ type, value }: Node): boolean => type === 'JSXText' && /[A-Za-z]/.test(String(value))

function insideOf(node: Node): Node[] {
  if (node.type === 'JSXExpressionContainer') return insideOf(node.expression as Node)
  if (isElement(node)) return [...nodes(node.openingElement ?? []), ...nodes(node.children).flatMap(insideOf)]
  const parts = partsOf(node)
  return parts.length > 0 ? parts : [node]
}

export function textsIn(path: string, code: string): Text[] {
  const isLua = path.endsWith('.lua')
  const source = ({ range, start, end }: Node) => code.slice(...(range ?? ([start, end] as const)))
  const words = (part: Node): string => {
    if (part.type === 'TemplateElement') return (part.value as { cooked: string }).cooked
    if (part.type === 'JSXOpeningElement') return part.selfClosing ? '…' : ''
    if (isString(part)) return isLua ? source(part).slice(1, -1) : String(part.value)
    return `\${${isShort(part) ? source(part) : '…'}}`
  }
  const isShort = (part: Node) => source(part).length <= 80 && !source(part).includes('<')
  const texts: Text[] = []
  const visit = (node: Node, calls: readonly string[]): void => {
    if (node.type.endsWith('Declaration') && node.source) return
    if (INVISIBLE.test(nameOf(node.name ?? node.key))) return
    const parts = partsOf(node)
    const text = parts.map(words).join('').replace(/\s+/g, ' ').trim()
    const line = code.slice(0, (node.range ?? [node.start])[0]).split('\n').length
    if (isProse(text)) texts.push({ line, text, calls })
    const around = [...calls, ...calledBy(node)]
    const unread = parts.filter((part) => !isString(part) && !isShort(part))
    for (const child of text ? unread : (children(node) as unknown as Node[])) visit(child, around)
  }
  const { body } = isLua ? read(code) : parseAst(code, { lang: path.endsWith('x') ? 'tsx' : 'ts' })
  for (const node of body) visit(node as unknown as Node, [])
  return texts
}
