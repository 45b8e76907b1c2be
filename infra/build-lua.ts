// Builds src/redis/lua into src/redis/scripts.generated.ts: joins what a script reaches of the modules that it requires, gives
// its arguments their names, makes it small and computes the sha. It refuses what some engine would not take.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { callsIn, circlesIn } from './lua-depth.ts'
import { moduleText } from './lua-emit.ts'
import { libraryOf } from './lua-library.ts'
import { refusedIn } from './lua-rules.ts'
import { buildScript } from './lua-script.ts'
import { bothOf, cleaned, luaFiles, parse, readLua, scriptFiles } from './lua-sources.ts'

const target = join(import.meta.dirname, '../src/redis/scripts.generated.ts')

/** What a module's header says of when its functions are made: `-- Made apart: a, b.` names those that few calls need. */
function headerOf(text: string): { isAlways: boolean; isOften: boolean; apart: string[] } {
  const named = /^-- Made apart: ([^.]*)\.$/m.exec(text)?.[1]
  return {
    isAlways: !/^-- Made when first called/m.test(text),
    isOften: /^-- Made when first called, which most calls do\.$/m.test(text),
    apart: named?.split(/[,\s-]+/) ?? [],
  }
}

/**
 * Builds all scripts. `edit` may change a file's text before: that is how tests take a rule out.
 *
 * @example buildScripts((file, text) => text).scripts.get('commit').sha
 */
export function buildScripts(edit: (file: string, text: string) => string = (_, text) => text) {
  const files = new Map<string, string>()
  const headers = new Map<string, ReturnType<typeof headerOf>>()
  for (const file of luaFiles('lib')) {
    const text = edit(file, readLua(file))
    headers.set(file.slice('lib/'.length, -'.lua'.length), headerOf(text))
    files.set(file, cleaned(file, text))
  }
  const sources = scriptFiles()
    .map((file) => parse(file, edit(file, readLua(file))))
    .flatMap(bothOf)
  const library = libraryOf(files, headers)
  return { library, scripts: new Map(sources.map((source) => [source.name, buildScript(source, library)])) }
}

/** A script's own function has 200 registers in some Luas. */
const MOST_SHARED = 150

/** Every place of the scripts that some engine would not take, with its line. `edit` is that of `buildScripts`. */
export function refusedScripts(edit: (file: string, text: string) => string = (_, text) => text): string[] {
  const textOf = (file: string): string => edit(file, readLua(file))
  const ofFiles = luaFiles('.').flatMap((file) => refusedIn(file, textOf(file)))
  const { library, scripts } = buildScripts(edit)
  const circles = circlesIn(callsIn(library), (module) => textOf(`lib/${module}.lua`))
  const full = [...scripts.values()].flatMap(({ source: { file }, locals }) =>
    locals > MOST_SHARED
      ? [{ file, line: 1, says: `${locals} names are shared: expected at most ${MOST_SHARED}` }]
      : [],
  )
  return [...ofFiles, ...circles, ...full].map(({ file, line, says }) => `src/redis/lua/${file}:${line}: ${says}`)
}

function main(): void {
  const refused = refusedScripts()
  if (refused.length) {
    console.error(refused.join('\n'))
    process.exit(1)
  }
  const output = moduleText(buildScripts())
  if (existsSync(target) && readFileSync(target, 'utf8') === output) return
  writeFileSync(target, output)
  console.log(`${Math.round(output.length / 1024)} KiB of scripts`)
}

if (import.meta.main) main()
