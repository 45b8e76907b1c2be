// Reads Lua: the one place that knows the parser.

import luaparse from 'luaparse'
import type { Node } from './lua-names.ts'

/** The syntax tree of a file, with the lines. */
export const parseLua = (text: string): Node =>
  luaparse.parse(text, { luaVersion: '5.1', locations: true, ranges: true, comments: false }) as Node
