import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { patched } from '../../src/cli/project/init/entry.ts'
import { jsonAt, parsed, withItem, withValue } from '../../src/cli/project/init/json.ts'
import { planOf } from '../../src/cli/project/init/plan.ts'
import { withTomlItem } from '../../src/cli/project/init/toml.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

function initialized(files: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'sidejob-init-'))
  folders.push(folder)
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const plan = planOf(folder, '/_sidejob')
  for (const { path, after } of plan.changes) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, after)
  }
  expect(planOf(folder, '/_sidejob').changes).toEqual([])
  return {
    ...plan,
    changed: plan.changes.map(({ path }) => relative(folder, path)),
    text: (path: string) => readFileSync(join(folder, path), 'utf8'),
  }
}

const config = '{\n  // mine\n  "name": "mine",\n  "main": "src/index.ts",\n  "compatibility_date": "2026-10-20"\n}\n'
const app = "import { Hono } from 'hono'\n\nconst app = new Hono()\n\nexport default app\n"

test('init patches the entry and adds jobs, a dashboard, .gitignore and a dev script', () => {
  const done = initialized({
    'wrangler.jsonc': config,
    'src/index.ts': app,
    'package.json': '{\n  "name": "mine"\n}\n',
  })
  expect(done.changed.toSorted()).toEqual(
    [
      '.gitignore',
      'package.json',
      'src/index.ts',
      'src/jobs/double.ts',
      'src/jobs/index.ts',
      'wrangler.jsonc',
    ].toSorted(),
  )
  expect(done.advice).toEqual([])
  expect(done.text('src/index.ts')).toBe(
    "import { Hono } from 'hono'\nimport { jobs } from './jobs'\n\nconst app = new Hono()\n\nexport default jobs.with(app)\n",
  )
  expect(done.text('src/jobs/index.ts')).toContain("mount: '/_sidejob', dashboard: dashboard()")
  expect(done.text('.gitignore')).toBe('node_modules\n.sidejob\n.wrangler\n.dev.vars\n')
  expect(done.text('wrangler.jsonc')).toContain('// mine')
  const { scripts, dependencies } = JSON.parse(done.text('package.json'))
  expect(scripts).toEqual({ dev: 'sidejob dev' })
  expect(Object.keys(dependencies).toSorted()).toEqual(['hono', 'sidejob', 'zod'])
})

test('init keeps the installed version of sidejob, and the other members of package.json', () => {
  for (const version of ['file:../sidejob.tgz', 'workspace:*', '0.0.9']) {
    const before = `{\n    "name": "mine",\n    "files": ["a", "b"],\n    "scripts": { "dev": "wrangler dev", "test": "vitest" },\n    "dependencies": { "sidejob": "${version}", "hono": "4.9.0" }\n}\n`
    const done = initialized({ 'wrangler.jsonc': config, 'src/index.ts': app, 'package.json': before })
    const after = done.text('package.json')
    expect(after).toContain('"files": ["a", "b"]')
    expect(JSON.parse(after)).toMatchObject({
      scripts: { dev: 'sidejob dev', test: 'vitest' },
      dependencies: { sidejob: version, hono: '4.9.0', zod: expect.any(String) },
    })
  }
})

test('init leaves another dev script alone and names the command to start', () => {
  const done = initialized({
    'wrangler.jsonc': config,
    'src/index.ts': app,
    'package.json': '{ "scripts": { "dev": "vite" } }',
  })
  expect(JSON.parse(done.text('package.json')).scripts).toEqual({ dev: 'vite' })
  expect(done.advice).toEqual([
    'Your script "dev" is: vite. Start the Worker with "sidejob dev" instead: "wrangler dev" has no Redis',
  ])
})

const allHandlers = `import { Hono } from "hono";
import {
  type Message,
  handle,
} from "./mail";

const app = new Hono<{ Bindings: Env }>();
app.get("/export default", (c) => c.text("it's }"));

export class Room {}

export default {
  fetch: app.fetch,
  // every night
  async scheduled(event) {
    await handle(event.cron);
  },
  async queue(batch: MessageBatch<Message>) {
    for (const { body } of batch.messages) await handle(body);
  },
} satisfies ExportedHandler<Env, Message>;
`

test('init keeps fetch, scheduled and queue of the default export, with the quotes of the file', () => {
  const done = initialized({ 'wrangler.jsonc': config, 'src/index.ts': allHandlers })
  expect(done.text('src/index.ts')).toBe(
    allHandlers
      .replace('} from "./mail";', '} from "./mail";\nimport { jobs } from "./jobs";')
      .replace('export default {\n', 'export default jobs.with({\n')
      .replace('<Env, Message>;', '<Env, Message>);'),
  )
  expect(done.text('src/jobs/index.ts')).toContain('import { createWorker } from "sidejob/cloudflare";')
  expect(done.text('src/jobs/double.ts')).not.toContain("'")
})

test.each([
  ['export default app;\n', 'export default jobs.with(app);\n'],
  [
    'export default Sentry.withSentry((env) => ({ a: 1 }), {\n  fetch() {},\n})\n',
    'export default jobs.with(Sentry.withSentry((env) => ({ a: 1 }), {\n  fetch() {},\n}))\n',
  ],
  [
    'export default { fetch } as ExportedHandler\nexport const x = 1\n',
    'export default jobs.with({ fetch } as ExportedHandler)\nexport const x = 1\n',
  ],
  [
    'const a = { fetch }\nexport default a\n  satisfies X\n',
    'const a = { fetch }\nexport default jobs.with(a\n  satisfies X)\n',
  ],
  [
    "// export default old\nexport default { fetch: () => new Response('}') }",
    "// export default old\nexport default jobs.with({ fetch: () => new Response('}') })",
  ],
])('the entry %j becomes %j', (before, after) => {
  expect(patched(before, './jobs')).toBe(`import { jobs } from './jobs'${/;\n/.test(before) ? ';' : ''}\n\n${after}`)
})

test('in an entry that already uses the name jobs, init uses another name', () => {
  expect(patched('const jobs = 1\nexport default app\n', './jobs')).toBe(
    "import { jobs as sidejobs } from './jobs'\n\nconst jobs = 1\nexport default sidejobs.with(app)\n",
  )
})

test('a second init adds nothing to an entry that uses the name sidejobs', () => {
  const done = initialized({ 'wrangler.jsonc': config, 'src/index.ts': 'const jobs = 1\nexport default app\n' })
  expect(done.text('src/index.ts')).toContain('export default sidejobs.with(app)')
})

test.each(['src/jobs/index.ts', 'src/jobs/mail.ts', 'src/jobs.ts'])('init does not use your own %s', (own) => {
  const files = { 'wrangler.jsonc': config, 'src/index.ts': app, [own]: 'export const mine = 1\n' }
  const done = initialized(files)
  expect(done.text(own)).toBe('export const mine = 1\n')
  expect(done.text('src/index.ts')).toContain("import { jobs } from './sidejobs'")
  expect(done.text('src/sidejobs/index.ts')).toContain("from './double'")
})

test('init adds no files to a Worker that has sidejob in other folders', () => {
  const entry = "import { createWorker } from 'sidejob/cloudflare'\nexport default createWorker({ functions: [] })\n"
  const done = initialized({ 'wrangler.jsonc': config, 'src/index.ts': entry })
  expect(done.changed.filter((path) => path.startsWith('src/'))).toEqual([])
})

test('init does not touch an entry whose export is a class, and shows what to write', () => {
  const entry = 'export default class extends WorkerEntrypoint {}\n'
  const done = initialized({ 'wrangler.jsonc': config, 'src/index.ts': entry })
  expect(done.text('src/index.ts')).toBe(entry)
  expect(done.advice.join('\n')).toContain('export default jobs.with({ fetch, scheduled, queue })')
})

test.each([
  ['{ "compilerOptions": { "allowImportingTsExtensions": true } }', './jobs/index.ts', './double.ts'],
  ['{ "compilerOptions": { "module": "NodeNext" } }', './jobs/index.js', './double.js'],
  ['{ "compilerOptions": { "moduleResolution": "bundler", /* mine */ "module": "esnext", } }', './jobs', './double'],
  ['{ "extends": "./base.json" }', './jobs/index.js', './double.js'],
])('with the tsconfig %s imports are %s and %s', (tsconfig, index, double) => {
  const done = initialized({
    'wrangler.jsonc': config,
    'src/index.ts': app,
    'tsconfig.json': tsconfig,
    'base.json': '{ "compilerOptions": { "module": "node16" } }',
  })
  expect(done.text('src/index.ts')).toContain(`from '${index}'`)
  expect(done.text('src/jobs/index.ts')).toContain(`from '${double}'`)
})

test('a Worker in JavaScript gets modules in JavaScript', () => {
  const done = initialized({ 'wrangler.json': '{"main":"worker.mjs"}', 'worker.mjs': 'export default { fetch }\n' })
  expect(done.text('worker.mjs')).toContain("from './jobs/index.mjs'")
  expect(done.text('jobs/index.mjs')).toContain("from './double.mjs'")
  expect(done.changed).toContain('jobs/double.mjs')
})

test('init changes a configuration in TOML and keeps its comments and crons', () => {
  const toml = `name = "mine" # mine\nmain = "src/index.ts"\ncompatibility_date = "2026-10-20"\n\n[triggers]\n# every night\ncrons = ["0 3 * * *"]\n\n[vars]\nX = "1"\n`
  const done = initialized({ 'wrangler.toml': toml, 'src/index.ts': app })
  expect(done.text('wrangler.toml')).toBe(`name = "mine" # mine
main = "src/index.ts"
compatibility_date = "2026-10-20"
compatibility_flags = ["enable_request_signal", "global_fetch_strictly_public"]

[triggers]
# every night
crons = ["0 3 * * *", "* * * * *"]

[vars]
X = "1"

[observability]
enabled = true
redact_query_string = true

[version_metadata]
binding = "CF_VERSION_METADATA"
`)
  expect(done.advice).toEqual([])
})

test.each(['triggers = { crons = ["0 3 * * *"] }', 'observability.enabled = true'])(
  'init refuses a configuration with %s, because a second definition would break it',
  (line) => {
    const toml = `name = "mine"\n${line}\n`
    expect(() => initialized({ 'wrangler.toml': toml })).toThrow(`], got: ${line}`)
  },
)

test('edits of JSON keep comments, layout and trailing commas', () => {
  expect(withItem('{\n  "a": [\n    "x", // first\n  ],\n}\n', ['a'], 'y')).toBe(
    '{\n  "a": [\n    "x",\n    "y" // first\n  ],\n}\n',
  )
  expect(withValue('{}', ['a', 'b'], 1)).toBe('{\n  "a": { "b": 1 }\n}')
  expect(withValue('{ "a": { "b": 1 } }', ['a', 'c'], [2])).toBe('{ "a": { "b": 1, "c": [ 2 ] } }')
  expect(withValue('{\n\t"a": 1 // one\n}', ['b'], 2)).toBe('{\n\t"a": 1,\n\t"b": 2 // one\n}')
  expect(jsonAt('{ /* "a": 0, */ "a": { "b": [1, "]"] } }', ['a', 'b'])).toBe('[1, "]"]')
  expect(parsed('{ "a": "// no comment", "b": [1, 2,], /* c */ }')).toEqual({ a: '// no comment', b: [1, 2] })
})

test('edits of TOML support lists of several lines', () => {
  expect(withTomlItem('flags = [\n  "a",\n  "b",\n]\n[x]\nflags = []\n', undefined, 'flags', 'c')).toBe(
    'flags = [\n  "a",\n  "b",\n  "c",\n]\n[x]\nflags = []\n',
  )
  expect(withTomlItem('flags = []\n[x]\n', 'x', 'list', 'c')).toBe('flags = []\n[x]\nlist = ["c"]\n')
})
