// Counts the functions of a script, because each call of the script creates all of them again.

import { children, type Node, read } from '../../../infra/lua-build/syntax.ts'

const isFunction = ({ type }: Node): boolean => type === 'FunctionDeclaration'

const isCalledAtOnce = (node: Node): boolean =>
  node.type === 'CallExpression' && isFunction((node as never as { base: Node }).base)

function madeIn(node: Node): number {
  if (isCalledAtOnce(node)) {
    const { base } = node as never as { base: Node }
    return 1 + children(base).reduce((sum, child) => sum + madeIn(child), 0)
  }
  return isFunction(node) ? 1 : children(node).reduce((sum, child) => sum + madeIn(child), 0)
}

/** @example functionsMade('local function f() end\n(function() g = function() end end)()') // 3 */
export const functionsMade = (text: string): number => read(text).body.reduce((sum, node) => sum + madeIn(node), 0)
