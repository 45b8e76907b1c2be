// Builds src/redis/lua into src/redis/scripts.generated.ts: joins what a script includes, gives its arguments their
// names, removes comments and computes the sha. `--check` fails when the committed file is not what would be built.

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

const root = join(import.meta.dirname, '../src/redis/lua')
const target = join(import.meta.dirname, '../src/redis/scripts.generated.ts')

type Source = { name: string; text: string; args: { name: string; int: boolean }[]; includes: string[]; note: string[] }

const read = (path: string): string => readFileSync(path, 'utf8')
const names = (text: string): string[] => text.split(',').map((n) => n.trim())

/** The header of a script is its signature: `-- args: ns, seq:int, ...`. */
function parse(file: string): Source {
  const text = read(join(root, file))
  const header = /^(--.*\n)+/.exec(text)?.[0] ?? ''
  const args = /^-- args: (.*)$/m.exec(header)?.[1]
  if (!args) throw new Error(`${file}: the header has no "-- args:" line`)
  return {
    name: basename(file, '.lua'),
    text: text.slice(header.length),
    args: names(args)
      .filter((name) => name !== '...')
      .map((name) => ({ name: name.replace(':int', ''), int: name.endsWith(':int') })),
    includes: [...text.matchAll(/^-- @include lib\/(\w+)$/gm)].map((found) => found[1]!),
    note: header
      .trim()
      .split('\n')
      .map((line) => line.replace(/^-- ?/, '')),
  }
}

const uncomment = (text: string): string => text.replace(/^\s*--.*$/gm, '').replace(/\s--\s.*$/gm, '')
const tighten = (text: string): string => text.replace(/^\s+/gm, '').replace(/\n{2,}/g, '\n')

const topNames = (text: string): string[] =>
  [...text.matchAll(/^local (?:function (\w+)|([\w, ]+?)(?: =.*)?$)/gm)].flatMap((found) =>
    found[1] ? [found[1]] : names(found[2]!),
  )

const uses = (text: string, name: string): boolean => new RegExp(`(?<![.\\w'])${name}(?![\\w'])`).test(text)

// Lua allows 200 locals in a chunk: each part is a block of its own, and only what others use is declared outside.
function block(part: string, others: string): { exported: string[]; text: string } {
  const exported = topNames(part).filter((name) => uses(others, name))
  let text = part
  for (const name of exported) text = text.replace(new RegExp(`^local function ${name}\\b`, 'm'), `function ${name}`)
  text = text.replace(/^local ([\w, ]+?)( =.*)?$/gm, (line, list: string, value = '') => {
    const all = names(list)
    if (!all.some((name) => exported.includes(name))) return line
    const inner = all.filter((name) => !exported.includes(name))
    if (value && inner.length) return `local ${inner.join(', ')}\n${list}${value}`
    return value ? `${list}${value}` : inner.length ? `local ${inner.join(', ')}` : ''
  })
  return { exported, text: `do\n${text}\nend\n` }
}

function build(source: Source): { text: string; sha: string } {
  const parts = source.includes.map((name) => read(join(root, 'lib', `${name}.lua`)))
  const declared = source.args.map(({ name }) => name).join(', ')
  const values = source.args.map(({ int }, i) => (int ? `tonumber(ARGV[${i + 1}])` : `ARGV[${i + 1}]`)).join(', ')
  const bodies = parts.map((part, i) =>
    block(uncomment(part), [...parts.slice(0, i), ...parts.slice(i + 1), source.text].join('\n')),
  )
  const exported = [...new Set(bodies.flatMap((body) => body.exported))]
  if (exported.length > 180) throw new Error(`${source.name}: ${exported.length} shared names; Lua allows 200 locals`)
  const text = tighten(
    [
      `local ${declared} = ${values}`,
      `local at = ${source.args.length}`,
      exported.length ? `local ${exported.join(', ')}` : '',
      ...bodies.map((body) => body.text),
      uncomment(source.text),
    ].join('\n'),
  )
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}

function emit(source: Source): string {
  const { text, sha } = build(source)
  const type = source.args.map(({ name, int }) => `${name}: ${int ? 'number' : 'string'}`).join('; ')
  const note = source.note.map((line) => ` * ${line}`.trimEnd()).join('\n')
  return [
    `/**\n${note}\n */`,
    `export const ${source.name}: Script<{ ${type} }> = {`,
    `  name: '${source.name}',`,
    `  sha: '${sha}',`,
    `  args: [${source.args.map(({ name }) => `'${name}'`).join(', ')}],`,
    `  text: ${JSON.stringify(text)},`,
    '}',
  ].join('\n')
}

const sources = readdirSync(root)
  .filter((file) => file.endsWith('.lua'))
  .sort()
  .map(parse)

const output = [
  '// Built from src/redis/lua by `npm run lua`. Do not edit.',
  '',
  "import type { Script } from './script.ts'",
  '',
  sources.map(emit).join('\n\n'),
  '',
].join('\n')

if (process.argv.includes('--check')) {
  if (read(target) !== output) {
    console.error('src/redis/scripts.generated.ts is not what src/redis/lua says: run `npm run lua` and commit it')
    process.exit(1)
  }
} else {
  writeFileSync(target, output)
  console.log(`${sources.length} scripts, ${Math.round(output.length / 1024)} KiB`)
}
