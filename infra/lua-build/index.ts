import { hash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Packed } from '../../src/redis/script.ts'
import { packed } from '../packed.ts'
import { readArguments } from './fields.ts'
import { type Built, build, Library } from './scripts.ts'
import { headerOf, luaFiles, readLua } from './sources.ts'

const target = join(import.meta.dirname, '../../src/redis/scripts.generated.ts')

/** Edits a Lua file before the build, so that tests can break it. */
export type Editing = (file: string, text: string) => string

export const editedTexts = (edit: Editing = (_, text) => text) =>
  new Map(luaFiles().map((file) => [file, edit(file, readLua(file))]))

export function buildScripts(edit?: Editing) {
  const texts = editedTexts(edit)
  const library = new Library(new Map([...texts].map(([file, text]) => [file, readArguments(file, text)])))
  const built = library.scripts.map((script) => build(script, headerOf(script.file, texts.get(script.file)!), library))
  built.sort((a, b) => (a.name < b.name ? -1 : 1))
  return { library, scripts: new Map(built.map((one) => [one.name, one])) }
}

function sharedLines(scripts: readonly Built[]): Packed {
  const numbers = new Map<string, number>()
  const runs = scripts.map(({ text, places }) => {
    const run: number[] = []
    let end = 0
    for (const [i, line] of text.split('\n').entries()) {
      const key = `${places[i]}\n${line}`
      const number = numbers.get(key) ?? numbers.size
      numbers.set(key, number)
      if (i > 0 && number === end) run[run.length - 1]!++
      else run.push(number - end, 1)
      end = number + 1
    }
    return run
  })
  const rows = [...numbers.keys()].map((key) => key.split('\n') as [place: string, line: string])
  const steps = rows.map(([place], i) => {
    const [file, line] = place.split(':')
    const [before, from] = (rows[i - 1]?.[0] ?? '').split(':')
    return file && file === before ? Number(line) - Number(from) : place
  })
  return { lines: rows.map(([, line]) => line).join('\n'), steps, runs }
}

function moduleText(scripts: readonly Built[], stamp: string): string {
  const rows = scripts.map(({ name, sha, params, answers }, at) => {
    const type = params.map((one) => `${one.name}: ${one.int ? 'number' : 'string'}`).join('; ')
    const [words, said] = [params.map((one) => one.name), answers].map((list) => list.map((name) => `'${name}'`))
    return `export const ${name}: Script<{ ${type} }, ${said!.join(' | ')}> = made('${name}', '${sha}', [${words}], [${said}], () => all()[${at}]!)\n`
  })
  return [
    `// Built from src/redis/lua by \`npm run lua\`. Do not edit. ${stamp}`,
    "import { unpacking } from '../core/codec/packed.ts'",
    "import { made, type Script, textsOf } from './script.ts'\n",
    `const all = unpacking(\n  '${packed(sharedLines(scripts))}',\n  textsOf,\n)\n`,
    ...rows,
  ].join('\n')
}

function main(): void {
  // The largest script comes first, because the smaller scripts share its lines.
  const scripts = [...buildScripts().scripts.values()].sort((a, b) => b.text.length - a.text.length)
  const stamp = hash('sha1', JSON.stringify(scripts.map(({ units: _, ...one }) => one)))
  if (existsSync(target) && readFileSync(target, 'utf8').split('\n', 1)[0]!.endsWith(stamp)) return
  const output = moduleText(scripts, stamp)
  writeFileSync(target, output)
  console.log(`${Math.round(output.length / 1024)} KiB of scripts`)
}

if (import.meta.main) main()
