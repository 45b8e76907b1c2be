// Holds how long files and functions may be.

import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { parseAst } from 'vitest/node'
import { parseLua } from '../../infra/lua-parse.ts'

const root = resolve(import.meta.dirname, '../..')
const FILE = 400
const FUNCTION = 40

const filesLike = (name: RegExp, ...folders: string[]) =>
  folders
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && name.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
const filesIn = (...folders: string[]) => filesLike(/(?<!\.generated)\.ts$/, ...folders)
const luaFiles = () => filesLike(/\.lua$/, 'src/redis/lua')
const textOf = (file: string) => readFileSync(join(root, file), 'utf8')

type Node = { type: string; start: number; end: number; [member: string]: unknown }

const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === 'string'
const isFunction = ({ type, body }: Node) => /Function/.test(type) && isNode(body)

function* nodesOf(value: unknown): Generator<Node> {
  if (Array.isArray(value)) for (const one of value) yield* nodesOf(one)
  if (!isNode(value)) return
  yield value
  for (const member of Object.values(value)) if (typeof member === 'object') yield* nodesOf(member)
}

const statementsOf = ({ body }: Node): Node[] =>
  (body as Node).type === 'BlockStatement' ? ((body as Node).body as Node[]) : []

/** What a function gives back at its end: of an arrow without a block, all of it. */
function givenBy(one: Node): Node | undefined {
  const statements = statementsOf(one)
  if (statements.length === 0) return one.body as Node
  const last = statements.findLast(({ type }) => !/Function|TS/.test(type))
  return last?.type === 'ReturnStatement' ? (last.argument as Node | undefined) : undefined
}

/** As long as what it makes, which is held function by function: it gives a function, or an object of functions of its own. */
function isFactory(one: Node, given: Node): boolean {
  if (/Function/.test(given.type)) return true
  if (given.type !== 'ObjectExpression') return false
  const named = statementsOf(one).some(
    ({ type, declarations = [] }) =>
      type === 'FunctionDeclaration' || (declarations as Node[]).some(({ init }) => isNode(init) && isFunction(init)),
  )
  return named || (given.properties as Node[]).some(({ value }) => isNode(value) && isFunction(value))
}

/** As long as its rows: nothing but a list or an object, or a list of objects. */
const isTable = (one: Node, given: Node): boolean =>
  (statementsOf(one).length <= 1 && /ObjectExpression|ArrayExpression/.test(given.type)) ||
  (given.type === 'ArrayExpression' && (given.elements as Node[]).some(({ type }) => type === 'ObjectExpression'))

function isFactoryOrTable(one: Node): boolean {
  const given = givenBy(one)
  return given !== undefined && (isFactory(one, given) || isTable(one, given))
}

function longFunctionsOf(file: string): string[] {
  const text = textOf(file)
  const lineAt = (offset: number) => text.slice(0, offset).split('\n').length
  const program = parseAst(text, { lang: 'ts' }) as unknown as Node
  return [...nodesOf(program.body)]
    .filter((one) => isFunction(one) && !isFactoryOrTable(one))
    .map((one) => ({ from: lineAt(one.start), lines: lineAt(one.end) - lineAt(one.start) + 1 }))
    .filter(({ lines }) => lines > FUNCTION)
    .map(({ from, lines }) => `${file}:${from} has ${lines} lines`)
}

/** Functions of Lua have their lines in the syntax tree. */
function longLuaFunctionsOf(file: string): string[] {
  const tree = parseLua(textOf(file)) as unknown as Node
  return [...nodesOf(tree.body)]
    .filter(({ type }) => type === 'FunctionDeclaration')
    .map(({ loc }) => loc as { start: { line: number }; end: { line: number } })
    .filter(({ start, end }) => end.line - start.line + 1 > FUNCTION)
    .map(({ start, end }) => `${file}:${start.line} has ${end.line - start.line + 1} lines`)
}

test(`no file has more than ${FILE} lines`, () => {
  const long = [...filesIn('src', 'functions', 'infra'), ...luaFiles()].map(
    (file) => [file, textOf(file).split('\n').length - 1] as const,
  )
  expect(long.filter(([, lines]) => lines > FILE)).toEqual([])
})

test(`no function has more than ${FUNCTION} lines, but factories and tables`, () => {
  expect(filesIn('src', 'functions', 'infra').flatMap(longFunctionsOf)).toEqual([])
  // One loop with seven ways out of it, each of which says where the next claim goes on.
  const long = luaFiles().flatMap(longLuaFunctionsOf)
  expect(long.filter((one) => !one.startsWith('src/redis/lua/lib/run/claim.lua'))).toEqual([])
})
