import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { parseAst } from 'vitest/node'

const root = resolve(import.meta.dirname, '../..')

/** `types`: folders that may only be imported with `import type`. */
const table: Record<string, { ours: string[]; packages: string[]; types?: string[] }> = {
  'src/core': { ours: [], packages: ['zod', 'croner', 'node:zlib'] },
  'src/redis': { ours: ['src/core'], packages: ['@upstash/redis', 'node:crypto', 'node:buffer'] },
  'src/history': { ours: [], packages: ['node:sqlite', 'node:child_process'] },
  'src/engine': { ours: ['src/core', 'src/redis'], types: ['src/history'], packages: [] },
  'src/http': { ours: ['src/core'], types: ['src/engine'], packages: ['hono', 'zod'] },
  'src/facades': { ours: ['src/core', 'src/http'], types: ['src/engine'], packages: ['hono', 'zod'] },
  'src/dashboard': {
    ours: ['src/core', 'src/http'],
    types: ['src/engine'],
    packages: ['hono', 'cronstrue', 'idiomorph', '@dagrejs/dagre'],
  },
  'src/alerts': {
    ours: ['src/core', 'src/http', 'src/dashboard/words', 'src/engine/remote/sign.ts', 'src/index.ts'],
    types: ['src/engine'],
    packages: ['zod'],
  },
  'src/testing': { ours: ['src/core', 'src/engine'], packages: ['zod'] },
  'src/client': { ours: [], types: ['src/core', 'src/engine', 'src/http', 'src/facades', 'zod'], packages: [] },
  'src/cloudflare': {
    ours: [
      'src/core',
      'src/engine',
      'src/redis',
      'src/http',
      'src/client',
      'src/history',
      'src/environment.ts',
      'src/files.ts',
    ],
    types: ['functions/download.ts'],
    packages: ['node:async_hooks', 'cloudflare:workers'],
  },
  'src/cli': {
    ours: ['src/core', 'src/client', 'src/redis', 'src/dev', 'src/deploy', 'src/testing'],
    packages: ['node:'],
  },
  'src/dev': {
    ours: ['src/core', 'src/engine', 'src/client', 'src/deploy', 'infra/stand-ins'],
    types: ['esbuild', 'miniflare', 'wrangler'],
    packages: ['node:'],
  },
  'src/deploy': {
    ours: [
      ...['src/core', 'src/redis', 'src/engine', 'src/history'],
      ...['src/environment.ts', 'src/settings.ts', 'src/development.ts'],
    ],
    packages: ['node:', 'wrangler', '@upstash/qstash'],
  },
  'infra/stand-ins': { ours: ['src/development.ts'], packages: ['node:', 'croner', 'js-redis-server'] },
  functions: {
    ours: ['src/index.ts'],
    packages: ['zod', 'jq-wasm', 'node:crypto', 'file-type', 'image-dimensions', 'aws4fetch'],
  },
}

const filesIn = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))

type Import = { file: string; to: string; typeOnly: boolean }

/** A node of the syntax tree. `source` is the text after `from`, or the argument of `import()`. */
type Syntax = { type: string; source?: { value?: unknown } | null; importKind?: string; exportKind?: string }

function importsOf(file: string): Import[] {
  const found: Import[] = []
  const code = readFileSync(join(root, file), 'utf8')
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const { type, source, importKind, exportKind } = value as Syntax
    const from = source?.value
    if (typeof from === 'string')
      found.push({
        file,
        typeOnly: [importKind, exportKind].includes('type') || type === 'TSImportType',
        to: from.startsWith('.') ? relative(root, resolve(root, dirname(file), from)) : from,
      })
    for (const child of Object.values(value)) visit(child)
  }
  visit(parseAst(code, { lang: file.endsWith('x') ? 'tsx' : 'ts' }).body)
  return found
}

function allowed(folder: string, { to, typeOnly }: Import): boolean {
  const { ours, packages, types = [] } = table[folder]!
  const below = (path: string) => to === path || to.startsWith(`${path}/`)
  if (below(folder) || ours.some(below)) return true
  if (typeOnly && types.some(below)) return true
  return packages.some(
    (name) => to === name || to.startsWith(`${name}/`) || (name.endsWith(':') && to.startsWith(name)),
  )
}

const present = Object.keys(table).filter((folder) => {
  try {
    return filesIn(folder).length > 0
  } catch {
    return false
  }
})

test.each(present)('%s imports only what the table allows', (folder) => {
  const wrong = filesIn(folder)
    .flatMap(importsOf)
    .filter((one) => !allowed(folder, one))
    .map(({ file, to }) => `${file} imports ${to}`)
  expect(wrong).toEqual([])
})

test('every folder of src is in the table', () => {
  const folders = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
  expect(folders.map(({ name }) => `src/${name}`).filter((folder) => !(folder in table))).toEqual([])
})

test('deployed code contains no examples, which any key could run for hours', () => {
  const reached = new Set<string>()
  const follow = (file: string): void => {
    if (reached.has(file)) return
    reached.add(file)
    for (const { to } of importsOf(file)) if (/\.tsx?$/.test(to)) follow(to)
  }
  follow('src/worker.ts')
  expect(reached).toContain('functions/core.ts')
  expect(reached).toContain('src/dashboard/app.tsx')
  expect([...reached].filter((file) => file.startsWith('examples/'))).toEqual([])
})

/** From top to bottom. */
const rooms = ['api', 'lane', 'run', 'remote', 'jobs']

test.each(rooms)('engine/%s imports only rooms below it', (room) => {
  const above = rooms.slice(0, rooms.indexOf(room)).map((other) => `src/engine/${other}/`)
  const wrong = filesIn(`src/engine/${room}`)
    .flatMap(importsOf)
    .filter(({ to }) => above.some((other) => to.startsWith(other)))
    .map(({ file, to }) => `${file} imports ${to}`)
  expect(wrong).toEqual([])
})

test('no file of src imports itself through other files, not even for types', () => {
  const edges = new Map(
    ['src', 'functions', 'infra/stand-ins']
      .flatMap(filesIn)
      .map((file) => [file, importsOf(file).map(({ to }) => to)] as const),
  )
  const done = new Set<string>()
  const circleFrom = (file: string, path: string[]): string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    if (done.has(file)) return undefined
    const found = (edges.get(file) ?? []).map((to) => circleFrom(to, [...path, file])).find(Boolean)
    done.add(file)
    return found
  }
  expect([...edges.keys()].map((file) => circleFrom(file, [])).find(Boolean)).toBeUndefined()
})
