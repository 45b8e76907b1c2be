import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { blockAt } from '../../docs/blocks.ts'
import { placed, writeSnippets } from '../../docs/snippet-files.ts'
import { freePort, jsonOf, must, type Packed, pack, run, shareModules, start, textOf, waited } from './kit.ts'

let packed: Packed
let first: string
beforeAll(async () => {
  packed = await pack()
  first = join(packed.folder, 'worker')
})
afterAll(() => packed?.remove())

const create = (template: string) =>
  must(
    packed.folder,
    `npm exec --yes --package ${packed.tarball} --package ${packed.creator} -- create-sidejob ${template} -t ${template}`,
    packed.env,
  )

const shown = (folder: string, start: string, port: number) =>
  blockAt(`templates/${folder}/README.md`, start).text.replaceAll('127.0.0.1:8787', `127.0.0.1:${port}`)

const check = async (folder: string) => {
  await must(folder, 'npm run types')
  expect(await must(folder, 'npm test')).toMatch(/Tests {2}\d+ passed/)
  await must(folder, 'npx wrangler deploy --dry-run --outdir out')
  return gzipSync(readFileSync(join(folder, 'out/index.js'))).length / 1024
}

test('the package has all its files, and nothing else of the repository', () => {
  const folders = new Set(packed.files.map((path) => path.split('/')[0]))
  expect([...folders].sort()).toEqual(['CHANGELOG.md', 'LICENSE', 'README.md', 'dist', 'package.json', 'templates'])
  expect(
    packed.files.filter((path) => /(^|\/)test\/|\.ci|\.dev\.vars/.test(path.replace(/^templates\/\w+\/test\//, ''))),
  ).toEqual([])
  expect(packed.files).toContain('dist/sbom.cdx.json')
  expect(packed.size).toBeLessThan(2_400_000)
})

/** Milliseconds. */
const PATIENCE = 90_000

afterEach(({ task }) => {
  console.log(`${task.name}: ${(waited.ms / 1_000).toFixed(0)} s of commands`)
  const { ms } = waited
  waited.ms = 0
  expect(ms).toBeLessThan(PATIENCE)
})

test('a new project has types, tests and a build for Cloudflare', async () => {
  expect(await create('worker')).toContain('npx sidejob dev')
  await must(first, 'npm install --no-audit --no-fund')
  const gzipped = await check(first)
  console.log(`a Worker with two small functions and the dashboard: ${gzipped.toFixed(0)} KiB gzipped`)
  // KiB. The bundle is not minified, so that stack traces contain names of functions.
  expect(gzipped).toBeLessThan(670)
})

test('every TypeScript snippet of the manual compiles in that project, with its own compiler and settings', async () => {
  const folder = join(first, 'manual')
  expect(writeSnippets(folder, ['assumed.d.ts', 'stripe.d.ts'])).toBeGreaterThan(60)
  const options = { jsx: 'react-jsx', lib: ['es2024', 'dom', 'dom.iterable'], types: ['node'], paths: {} }
  const settings = {
    src: { extends: '../../tsconfig.json', include: ['.'] },
    web: { extends: '../../tsconfig.json', compilerOptions: options, include: ['.'] },
  }
  for (const [name, tsconfig] of Object.entries(settings))
    writeFileSync(join(folder, name, 'tsconfig.json'), JSON.stringify(tsconfig))
  const libraries = ['bullmq', 'express', '@types/express', 'react', '@types/react', '@types/node'].join(' ')
  await must(folder, `npm install --prefix ${folder} --no-audit --no-fund ${libraries}`)
  for (const name of Object.keys(settings)) {
    const { out } = await run(folder, `../node_modules/.bin/tsc -p ${name} --pretty false`)
    expect(placed(out)).toEqual([])
  }
})

test('dev runs the project, and the next job runs a changed function', async () => {
  const port = await freePort()
  const dev = start(first, `node_modules/.bin/sidejob dev --port ${port} --memory`)
  try {
    await dev.prints(/^Dashboard {2}http/m)
    const made = jsonOf(await must(first, 'npx sidejob run double --input n=2 --input n=3 --json'))
    await dev.prints(new RegExp(`✓ double #${made.id} `))
    expect(await must(first, `npx sidejob read ${made.id} doubled --json`)).toContain('[4,6]')
    const from = dev.out.length
    const path = join(first, 'src/jobs/double.ts')
    writeFileSync(path, readFileSync(path, 'utf8').replace('n * 2', 'n * 3'))
    await dev.prints(/reloaded in/, from)
    const next = jsonOf(await must(first, 'npx sidejob run double -i n=2 --json'))
    await dev.prints(new RegExp(`✓ double #${next.id} `))
    expect(await must(first, `npx sidejob read ${next.id} doubled --json`)).toContain('[6]')
  } finally {
    await dev.close()
  }
})

test('an older Node is refused in one sentence, by the package and by its creator', async () => {
  const folder = join(packed.folder, 'old')
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  await must(
    folder,
    `npm install --no-audit --no-fund ${packed.tarball} zod hono node20@npm:node-linux-${process.arch}@20`,
  )
  const { code, out } = await run(
    folder,
    'node_modules/node20/bin/node node_modules/sidejob/dist/src/cli/index.js create mine',
  )
  expect(code).toBe(1)
  expect(out).toMatch(/^sidejob needs Node 22 or newer, but this is v20\.\S+\. Install a newer version .*\n$/)
})

test('the deploy script of a new project creates keys and a schedule', async () => {
  const { code, out } = await run(first, 'npm run deploy -- --dry-run', {
    UPSTASH_REDIS_REST_URL: '',
    QSTASH_TOKEN: '',
  })
  expect(code).toBe(1)
  expect(out).toContain('Create SIDEJOB_API_KEY, SIDEJOB_WEBHOOK_SECRET, SIDEJOB_FILES_SECRET')
  expect(out).toMatch(/Set up the schedule sidejob-tick-\w+ in QStash/)
  expect(out).toContain('Missing: UPSTASH_REDIS_REST_URL')
})

test('a Hono app with jobs', async () => {
  await create('hono')
  const folder = join(packed.folder, 'hono')
  shareModules(first, folder)
  await check(folder)
  const port = await freePort()
  const dev = start(folder, `node_modules/.bin/sidejob dev --port ${port} --memory`)
  try {
    await dev.prints(/^Ready on {3}\S+\/_sidejob\n[\s\S]*^Dashboard {2}http/m)
    const [route, ...rest] = shown('hono', 'curl --json', port).split('\n')
    expect(await must(folder, route!)).toContain('{"job":1}')
    await dev.prints(/✓ double #1 /)
    expect(await must(folder, rest.join('\n'))).toMatch(/status +completed[\s\S]*2\n4\n6\n[\s\S]*\/ui\/login\?once=/)
  } finally {
    await dev.close()
  }
})

test('a Worker whose jobs a program in Python performs', async () => {
  await create('python')
  const folder = join(packed.folder, 'python')
  shareModules(first, folder)
  await check(folder)
  const port = await freePort()
  const dev = start(folder, `node_modules/.bin/sidejob dev --port ${port} --memory`)
  await dev.prints(/^Dashboard/m)
  const python = start(folder, 'python3 worker.py', {
    SIDEJOB_URL: `http://127.0.0.1:${port}`,
    SIDEJOB_API_KEY: (await must(folder, 'npx sidejob key')).trim(),
  })
  try {
    await python.prints(/waiting for work/)
    const out = await must(folder, shown('python', 'npx sidejob run report', port).replace('--wait', '--wait --json'))
    expect(out).toContain('"result":{"text":"hello","shouted":"HELLO"}')
    const { processes } = jsonOf(await must(folder, 'npx sidejob processes --json'))
    const name = processes.find(({ kind }: { kind: string }) => kind === 'pull').id
    await must(folder, `npx sidejob processes stop ${name}`)
    await python.prints(/stopped/)
  } finally {
    await python.close()
    await dev.close()
  }
})

const entry = `import { Hono } from "hono";

type Mail = { to: string };

const app = new Hono<{ Bindings: Env }>();
app.get("/", (c) => c.text("mine"));

export default {
  fetch: app.fetch,
  async scheduled(controller) {
    console.log("my cron", controller.cron);
  },
  async queue(batch: MessageBatch<Mail>) {
    for (const message of batch.messages) console.log(message.body.to);
  },
} satisfies ExportedHandler<Env, Mail>;
`
const strict = {
  compilerOptions: {
    target: 'es2024',
    lib: ['es2024'],
    module: 'esnext',
    moduleResolution: 'bundler',
    strict: true,
    noEmit: true,
    types: ['@cloudflare/workers-types'],
    skipLibCheck: true,
  },
  include: ['src'],
}

test('init adds it to an existing Worker with cron and queue, which compiles, runs and keeps its handlers', async () => {
  const folder = join(packed.folder, 'mine')
  shareModules(first, folder)
  mkdirSync(join(folder, 'src'))
  const config =
    'name = "mine" # mine\nmain = "src/index.ts"\ncompatibility_date = "2026-10-20"\n\n[triggers]\ncrons = ["0 3 * * *"]\n'
  const files = {
    'wrangler.toml': config,
    'src/index.ts': entry,
    'src/env.d.ts': 'interface Env {}\n',
    'tsconfig.json': JSON.stringify(strict),
    '.gitignore': 'node_modules\n',
    'package.json': `{\n  "name": "mine",\n  "type": "module",\n  "dependencies": { "sidejob": "file:${packed.tarball}" }\n}\n`,
  }
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text)
  const shown = await run(folder, 'npx sidejob init')
  expect(shown.out).toContain('Nothing was written. To write it, use --yes')
  for (const [file, text] of Object.entries(files)) expect(textOf(folder, file)).toBe(text)
  await must(folder, 'npx sidejob init --yes')
  expect(await must(folder, 'npx sidejob init --yes')).toContain('Nothing to add: this Worker already has sidejob')
  expect(textOf(folder, 'package.json')).toContain(`"sidejob": "file:${packed.tarball}"`)
  expect(textOf(folder, '.gitignore')).toContain('.sidejob\n')
  await must(folder, 'npx tsc')
  const port = await freePort()
  const dev = start(folder, `node_modules/.bin/sidejob dev --port ${port} --memory`)
  try {
    await dev.prints(/^Dashboard {2}http/m)
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('mine')
    expect(await must(folder, 'npx sidejob run double -i n=1 --wait')).toContain('doubled: 2')
    await fetch(`http://127.0.0.1:${port}/cdn-cgi/handler/scheduled?cron=0+3+*+*+*`)
    await dev.prints(/my cron 0 3 \* \* \*/)
  } finally {
    await dev.close()
  }
})

const snippet = `
import { createClient } from 'sidejob/client'
const client = createClient({ url: process.env.SIDEJOB_URL, key: process.env.SIDEJOB_API_KEY })
const { id } = await client.jobs.enqueue({ class: 'double', inputs: { n: [5] } })
const job = await client.jobs.get(id)
console.log(process.version, job.class)
`

test('the client works in plain Node 22 and 24, and in a browser', async () => {
  const folder = join(packed.folder, 'clients')
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'snippet.mjs'), snippet)
  const nodes = [22, 24].map((major) => `node${major}@npm:node-linux-${process.arch}@${major}`)
  await must(
    folder,
    `npm install --no-audit --no-fund ${packed.tarball} zod hono playwright-core@1.65.1 ${nodes.join(' ')}`,
  )
  const port = await freePort()
  const dev = start(first, `node_modules/.bin/sidejob dev --port ${port} --memory`)
  const url = `http://127.0.0.1:${port}`
  try {
    await dev.prints(/^Dashboard/m)
    const key = (await must(first, 'npx sidejob key')).trim()
    for (const major of [22, 24]) {
      const env = { SIDEJOB_URL: url, SIDEJOB_API_KEY: key }
      const out = await must(folder, `node_modules/node${major}/bin/node snippet.mjs`, env)
      expect(out).toMatch(new RegExp(`^v${major}\\.\\S+ double$`, 'm'))
    }
    expect(await inBrowser(folder, url, key)).toBe('double')
  } finally {
    await dev.close()
  }
})

async function inBrowser(folder: string, url: string, key: string): Promise<unknown> {
  const client = join(folder, 'node_modules/sidejob/dist/src/client')
  const server = createServer(async (request, response) => {
    if (request.url === '/')
      return response.setHeader('content-type', 'text/html').end('<!doctype html><title>x</title>')
    const [, module] = /^\/client\/([\w.]+\.js)$/.exec(request.url!) ?? []
    if (module) return response.setHeader('content-type', 'text/javascript').end(textOf(client, module))
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { host: _, connection: __, ...headers } = request.headers
    const answer = await fetch(`${url}${request.url}`, {
      method: request.method,
      headers: headers as Record<string, string>,
      body: chunks.length ? Buffer.concat(chunks) : undefined,
    })
    return response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
  })
  const port = await freePort()
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done))
  const { chromium } = await import(join(folder, 'node_modules/playwright-core/index.mjs'))
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
  try {
    const page = await browser.newPage()
    await page.goto(`http://127.0.0.1:${port}/`)
    return await page.evaluate(`import('/client/index.js').then(async ({ createClient }) => {
      const client = createClient({ url: location.origin, key: '${key}' })
      const { id } = await client.jobs.enqueue({ class: 'double', inputs: { n: [1] } })
      return (await client.jobs.get(id)).class
    })`)
  } finally {
    await browser.close()
    server.close()
  }
}
