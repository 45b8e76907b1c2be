// The module that holds all scripts, as text: each module of Lua once, and of each script which parts of them it has.

import type { Library } from './lua-library.ts'
import type { Module, Unit } from './lua-modules.ts'
import { type Built, membersOf, textOf } from './lua-script.ts'

/** Places as text, those that follow each other as from-to: `0-3 5`. */
function ranges(places: number[]): string {
  const runs: [number, number][] = []
  for (const at of places) {
    const last = runs.at(-1)
    if (last?.[1] === at - 1) last[1] = at
    else runs.push([at, at])
  }
  return runs.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(' ')
}

const LONGEST_STEP = 35

/** Lines as text: the first, and by how much each goes on from the one before, as a digit or a letter. */
function steps([first = 1, ...others]: readonly number[]): string {
  let last = first
  const letters = others.map((line) => {
    const step = Math.min(LONGEST_STEP, line - last)
    last += step
    return step.toString(36)
  })
  return `${first} ${letters.join('')}`
}

const written = (text: string, lines: readonly number[], file?: string): string =>
  `{ text: ${JSON.stringify(text)}, ${file ? `file: '${file}', ` : ''}lines: '${steps(lines)}' }`

const unitsOf = (module: Module, { pieces }: Library): Unit[] => module.units.filter((unit) => pieces.get(unit)?.text)

function emit({ source, parts, sha }: Built, library: Library): string {
  const type = source.args.map(({ name, int }) => `${name}: ${int ? 'number' : 'string'}`).join('; ')
  const modules = membersOf(library)
  const shown = parts.map((part) => {
    if (typeof part === 'string' || ('units' in part && part.isIdle))
      return `{ text: ${JSON.stringify(textOf(part, library))} }`
    if ('text' in part) return written(part.text, part.lines, source.file)
    const all = unitsOf(modules.get(part.module)!, library)
    return `...of('${part.module}', '${ranges(part.units.map((unit) => all.indexOf(unit)))}')`
  })
  const note = source.note.map((line) => ` * ${line}`.trimEnd()).join('\n')
  return [
    `/**\n${note}\n */`,
    `export const ${source.name}: Script<{ ${type} }> = made({`,
    `  name: '${source.name}',`,
    `  sha: '${sha}',`,
    `  args: [${source.args.map(({ name }) => `'${name}'`).join(', ')}],`,
    `  pieces: [${shown.join(', ')}],`,
    '})',
  ].join('\n')
}

/**
 * The text of the generated module.
 *
 * @example moduleText(buildScripts()) // '// Built from src/redis/lua by …'
 */
export function moduleText({ library, scripts }: { library: Library; scripts: ReadonlyMap<string, Built> }): string {
  const row = (module: Module): string => {
    const pieces = unitsOf(module, library).map((unit) => library.pieces.get(unit)!)
    return `  '${module.path}': [${pieces.map(({ text, lines }) => written(`${text}\n`, lines)).join(', ')}],`
  }
  return [
    '// Built from src/redis/lua by `npm run lua`. Do not edit.',
    '',
    "import { made, type Piece, picked, type Script } from './script.ts'",
    '',
    'const lib = {',
    ...library.modules.map(row),
    '}',
    '',
    'const of = (module: keyof typeof lib, places: string): Piece[] => picked(lib[module], module, places)',
    '',
    [...scripts.values()].map((built) => emit(built, library)).join('\n\n'),
    '',
  ].join('\n')
}
