// A stranger installs what npm would publish: new projects from every template, a Worker that was there before, the client
// in every Node and in a browser.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { blockAt } from '../../docs/blocks.ts'
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

/** Blocks of a project's README, with the port that its Worker has here. */
const shown = (folder: string, start: string, port: number) =>
  blockAt(`templates/${folder}/README.md`, start).text.replaceAll('127.0.0.1:8787', `127.0.0.1:${port}`)

const check = async (folder: string) => {
  await must(folder, 'npm run types')
  expect(await must(folder, 'npm test')).toMatch(/Tests {2}\d+ passed/)
  await must(folder, 'npx wrangler deploy --dry-run --outdir out')
  return gzipSync(readFileSync(join(folder, 'out/index.js'))).length / 1024
}

test('the package has what it needs, and nothing of the repository beside', () => {
  const folders = new Set(packed.files.map((path) => path.split('/')[0]))
  expect([...folders].sort()).toEqual(['CHANGELOG.md', 'LICENSE', 'README.md', 'dist', 'package.json', 'templates'])
  expect(
    packed.files.filter((path) => /(^|\/)test\/|\.ci|\.dev\.vars/.test(path.replace(/^templates\/\w+\/test\//, ''))),
  ).toEqual([])
  expect(packed.size).toBeLessThan(2_400_000)
})

/** So long a person waits at most, from nothing to a job that was done. */
const PATIENCE = 90_000

afterEach(({ task }) => {
  console.log(`${task.name}: ${(waited.ms / 1_000).toFixed(0)} s of commands`)
  const { ms } = waited
  waited.ms = 0
  expect(ms).toBeLessThan(PATIENCE)
})

test('a new project, as the pages say it: types, tests, a build for Cloudflare', async () => {
  // The packages are not in the registry yet: `npm create sidejob my-jobs` takes them from here.
  const from = `npm exec --yes --package ${packed.tarball} --package ${packed.creator} -- create-sidejob`
  const lines = ['README.md', 'docs/start.md'].map((page) => blockAt(page, 'npm create sidejob my-jobs').text)
  const [made] = lines.map((text) => text.replace('npm create sidejob', from).replace(/^npx sidejob dev.*$/m, ''))
  const said = await must(
    packed.folder,
    made!.replace('my-jobs\n', 'worker -t worker\n').replace('cd my-jobs', 'cd worker'),
    packed.env,
  )
  expect(said).toContain('npx sidejob dev')
  expect(said).not.toContain('It needs Node 22')
  expect(lines[1]).toContain(lines[0]!.split('\n').slice(0, 2).join('\n'))
  const gzipped = await check(first)
  console.log(`a Worker with two small functions: ${gzipped.toFixed(0)} KiB gzipped`)
  expect(gzipped).toBeLessThan(280)
})

test('dev runs it, and a changed function is seen in the next job', async () => {
  const port = await freePort()
  const dev = start(first, `node_modules/.bin/sidejob dev --port ${port} --memory`)
  try {
    await dev.prints(/ready on {3}http/)
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

test('create says which Node a project needs, where the one at hand is older', async () => {
  const folder = join(packed.folder, 'old')
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  await must(
    folder,
    `npm install --no-audit --no-fund ${packed.tarball} zod hono node20@npm:node-linux-${process.arch}@20`,
  )
  const out = await must(folder, 'node_modules/node20/bin/node node_modules/sidejob/dist/src/cli/index.js create mine')
  expect(out).toMatch(/It needs Node 22 or newer, as wrangler does; this is v20\./)
  expect(jsonOf(`\n${textOf(folder, 'mine/package.json').replace(/\s+/g, ' ')}`).engines).toEqual({ node: '>=22' })
})

test('the deploy script of a new project makes keys and a schedule', async () => {
  const { code, out } = await run(first, 'npm run deploy -- --dry-run', {
    UPSTASH_REDIS_REST_URL: '',
    QSTASH_TOKEN: '',
  })
  expect(code).toBe(1)
  expect(out).toContain('Make SIDEJOB_API_KEY, SIDEJOB_WEBHOOK_SECRET, SIDEJOB_FILES_SECRET')
  expect(out).toMatch(/Set up the schedule sidejob-tick-\w+ in QStash/)
  expect(out).toContain('Missing: UPSTASH_REDIS_REST_URL')
})

test('a Hono app with jobs beside it', async () => {
  await create('hono')
  const folder = join(packed.folder, 'hono')
  shareModules(first, folder)
  await check(folder)
  const port = await freePort()
  const dev = start(folder, `node_modules/.bin/sidejob dev --port ${port} --memory`)
  try {
    await dev.prints(/ready on {3}\S+\/_sidejob\n/)
    const answer = await fetch(`http://127.0.0.1:${port}/numbers`, { method: 'POST', body: '[1,2]' })
    expect(answer.status).toBe(201)
    await dev.prints(/✓ double #1 /)
    expect(await must(folder, 'npx sidejob show 1 --json')).toContain('"status":"completed"')
    const told = await must(folder, shown('hono', 'curl --json', port).replace('/jobs/1/', '/jobs/2/'))
    expect(told).toMatch(/"data":2\}.*"data":4\}.*"data":6\}/)
  } finally {
    await dev.close()
  }
})

test('a Worker whose jobs a program in Python does', async () => {
  await create('python')
  const folder = join(packed.folder, 'python')
  shareModules(first, folder)
  await check(folder)
  const port = await freePort()
  const dev = start(folder, `node_modules/.bin/sidejob dev --port ${port} --memory`)
  await dev.prints(/ready on/)
  const python = start(folder, 'python3 worker.py', { SIDEJOB_URL: `http://127.0.0.1:${port}` })
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

test('init adds it to a Hono Worker that was there before, and writes over nothing', async () => {
  const folder = join(packed.folder, 'mine')
  shareModules(first, folder)
  mkdirSync(join(folder, 'src'))
  const config = '{\n  // mine\n  "name": "mine",\n  "main": "src/index.ts",\n  "compatibility_date": "2026-10-20"\n}\n'
  const app =
    "import { Hono } from 'hono'\nconst app = new Hono()\napp.get('/', (c) => c.text('mine'))\nexport default app\n"
  writeFileSync(join(folder, 'wrangler.jsonc'), config)
  writeFileSync(join(folder, 'src/index.ts'), app)
  writeFileSync(join(folder, 'package.json'), '{\n  "name": "mine",\n  "type": "module"\n}\n')
  const shown = await run(folder, 'npx sidejob init', packed.env)
  expect(shown.out).toContain('nothing is written; --yes writes it')
  expect([textOf(folder, 'wrangler.jsonc'), readdirSync(join(folder, 'src'))]).toEqual([config, ['index.ts']])
  const out = await must(folder, 'npx sidejob init --yes', packed.env)
  expect(out).toContain('+   "triggers": { "crons": ["* * * * *"] },')
  expect(textOf(folder, 'wrangler.jsonc')).toContain('// mine')
  expect(textOf(folder, 'src/index.ts')).toBe(app)
  expect(await must(folder, 'npx sidejob init --yes', packed.env)).toContain('nothing is missing')
  writeFileSync(
    join(folder, 'src/index.ts'),
    app.replace('export default app', "import { jobs } from './jobs/index.ts'\nexport default jobs.with(app)"),
  )
  const port = await freePort()
  const dev = start(folder, `node_modules/.bin/sidejob dev --port ${port} --memory`)
  try {
    await dev.prints(/ready on/)
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('mine')
    await must(folder, 'npx sidejob run double -i n=1')
    await dev.prints(/✓ double #1 /)
  } finally {
    await dev.close()
  }
})

const snippet = `
import { createClient } from 'sidejob/client'
const client = createClient({ url: process.env.SIDEJOB_URL, key: 'dev' })
const { id } = await client.jobs.enqueue({ class: 'double', inputs: { n: [5] } })
const job = await client.jobs.get(id)
console.log(process.version, job.class)
`

test('the client works in plain Node 20, 22 and 24, and in a browser', async () => {
  const folder = join(packed.folder, 'clients')
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'snippet.mjs'), snippet)
  const nodes = [20, 22, 24].map((major) => `node${major}@npm:node-linux-${process.arch}@${major}`)
  await must(
    folder,
    `npm install --no-audit --no-fund ${packed.tarball} zod hono playwright-core@1.65.1 ${nodes.join(' ')}`,
  )
  const port = await freePort()
  const dev = start(first, `node_modules/.bin/sidejob dev --port ${port} --memory`)
  const url = `http://127.0.0.1:${port}`
  try {
    await dev.prints(/ready on/)
    for (const major of [20, 22, 24]) {
      const out = await must(folder, `node_modules/node${major}/bin/node snippet.mjs`, { SIDEJOB_URL: url })
      expect(out).toMatch(new RegExp(`^v${major}\\.\\S+ double$`, 'm'))
    }
    expect(await inBrowser(folder, url)).toBe('double')
  } finally {
    await dev.close()
  }
})

/** Has a page enqueue a job with the client as it is in the package; the page's server hands the rest on to sidejob. */
async function inBrowser(folder: string, url: string): Promise<unknown> {
  const client = join(folder, 'node_modules/sidejob/dist/src/client')
  const server = createServer(async (request, response) => {
    if (request.url === '/')
      return response.setHeader('content-type', 'text/html').end('<!doctype html><title>x</title>')
    const [, module] = /^\/client\/(\w+\.js)$/.exec(request.url!) ?? []
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
      const client = createClient({ url: location.origin, key: 'dev' })
      const { id } = await client.jobs.enqueue({ class: 'double', inputs: { n: [1] } })
      return (await client.jobs.get(id)).class
    })`)
  } finally {
    await browser.close()
    server.close()
  }
}
