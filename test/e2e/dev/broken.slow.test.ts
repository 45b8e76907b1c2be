import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient } from '../../../src/client/index.ts'
import { type Stack, startDev } from '../../../src/dev/index.ts'
import { makeProject } from './project.ts'

const root = new URL('../../..', import.meta.url).pathname
const good = makeProject()
let stack: Stack
const lines: string[] = []
beforeAll(async () => {
  stack = await startDev({
    project: good.dir,
    port: 0,
    redis: 'embedded',
    persist: false,
    say: (line) => lines.push(line),
    onReload: () => lines.push('reloaded'),
  })
})
afterAll(async () => {
  await stack?.close()
  good.remove()
})

async function after(change: () => void, last: RegExp): Promise<string> {
  const from = lines.length
  change()
  await expect.poll(() => lines.slice(from).join('\n'), { timeout: 20_000 }).toMatch(last)
  return lines.slice(from).join('\n')
}

const served = async () => {
  const client = createClient({ url: stack.url, key: stack.apiKey })
  const { id } = await client.jobs.enqueue({ class: 'double', inputs: { n: [2] } })
  await expect.poll(async () => (await client.jobs.get(id)).status, { timeout: 20_000 }).toBe('completed')
}

const index = readFileSync(join(good.dir, 'src/index.ts'), 'utf8')
const config = readFileSync(join(good.dir, 'wrangler.json'), 'utf8')
const KEPT = /The last good build is still served\.$/

test('a class that is defined twice is reported at the reload, not at every later call', async () => {
  const twice = index.replace('[double]', '[double, double]')
  const printed = await after(() => good.write('src/index.ts', twice), KEPT)
  expect(printed).toMatch(/double/)
  expect(printed).toMatch(/twice/)
  expect(printed).toMatch(/src\/index\.ts:\d+/)
  expect(printed).not.toContain('reloaded')
  await served()
  await after(() => good.write('src/index.ts', index), /^reloaded$/)
})

test('an invalid setting is reported at the reload, not at the first request', async () => {
  const printed = await after(() => good.write('.dev.vars', 'SIDEJOB_MAX_LOST=many\n'), KEPT)
  expect(printed).toContain('SIDEJOB_MAX_LOST')
  await served()
  await after(() => good.write('.dev.vars', 'WHO="ann"\n'), /^reloaded$/)
})

test('a configuration that is not JSON is reported with file, line and column', async () => {
  const printed = await after(() => good.write('wrangler.json', config.replace('"main"', 'main')), KEPT)
  expect(printed).toMatch(/^wrangler\.json:1:\d+: Invalid symbol\n {4}\{"name":"mine",main/)
  expect(printed).not.toContain('    at ')
  await served()
})

test('a missing main file is reported with its line, and a corrected main is built', async () => {
  const wrong = JSON.stringify({ ...JSON.parse(config), main: 'src/idx.ts' }, null, 2)
  const printed = await after(() => good.write('wrangler.json', wrong), KEPT)
  expect(printed).toContain(
    'wrangler.json:3: main: there is no file src/idx.ts. Create it, or correct the setting main',
  )
  good.write('src/other.ts', index)
  await after(() => good.write('wrangler.json', wrong.replace('idx', 'other')), /^reloaded$/)
  await after(() => good.write('wrangler.json', config), /^reloaded$/)
  await served()
})

test('an error of your own route is printed with its source position', async () => {
  const throws = index.replace("c.text('my own page')", 'nothing.here')
  await after(() => good.write('src/index.ts', throws), /^reloaded$/)
  const printed = await after(() => void fetch(new URL('/', stack.url)), /src\/index\.ts/)
  expect(printed).toContain('ReferenceError: nothing is not defined')
  await after(() => good.write('src/index.ts', index), /^reloaded$/)
})

test('/cdn-cgi/handler/scheduled starts your own cron handler, like wrangler dev', async () => {
  const scheduled = index.replace(
    'jobs.with(app)',
    "jobs.with({ fetch: app.fetch, scheduled: ({ cron }) => console.log('my cron', cron) })",
  )
  await after(() => good.write('src/index.ts', scheduled), /^reloaded$/)
  const origin = new URL(stack.url).origin
  const printed = await after(() => void fetch(`${origin}/cdn-cgi/handler/scheduled?cron=0+3+*+*+*`), /my cron/)
  expect(printed).toContain('my cron 0 3 * * *')
  await after(() => good.write('src/index.ts', index), /^reloaded$/)
})

test('the folder .sidejob may be deleted while dev runs', async () => {
  const folder = join(good.dir, '.sidejob')
  const printed = await after(() => rmSync(folder, { recursive: true }), /was deleted/)
  expect(printed).toContain(
    `${folder} was deleted. Its data is in memory until this process ends, and lost afterwards.`,
  )
  expect(JSON.parse(readFileSync(join(folder, 'stack.json'), 'utf8')).url).toBe(stack.url)
  await served()
  await after(() => good.write('src/index.ts', `${index}\n`), /^reloaded$/)
})

function dev(dir: string, words: string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [join(root, 'src/cli/index.ts'), 'dev', dir, ...words], {
    env: { ...process.env, NO_COLOR: '1', ...env },
  })
  const said = { out: '' }
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said.out += chunk))
  const ended = new Promise<number | string>((resolve) =>
    child.once('close', (code, signal) => resolve(signal ?? code ?? '')),
  )
  return { child, said, ended }
}

test('after a failed first build, one SIGTERM ends dev within seconds', async () => {
  const project = makeProject()
  project.write('src/double.ts', 'export const double =')
  const { child, said, ended } = dev(project.dir, ['--port', '18123', '--memory', '--redis', 'embedded'])
  await expect
    .poll(() => said.out, { timeout: 20_000 })
    .toMatch(/ERROR[\s\S]*Nothing is served yet. Waiting for a change./)
  const began = Date.now()
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
  expect(Date.now() - began).toBeLessThan(5_000)
  expect(existsSync(join(project.dir, '.sidejob/stack.json'))).toBe(false)
  project.remove()
})

test('dev refuses to start with a wrong main, and reports its position in one sentence', async () => {
  const project = makeProject()
  project.write('wrangler.json', config.replace('src/index.ts', 'src/idx.ts'))
  const { said, ended } = dev(project.dir, ['--port', '18124', '--memory', '--redis', 'embedded'])
  expect(await ended).toBe(1)
  expect(said.out).toBe(
    'sidejob dev: The Worker does not start: wrangler.json:1: main: there is no file src/idx.ts. Create it, or correct the setting main\n',
  )
  project.remove()
})

const WITHOUT_PROC = `
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
const read = fs.readFileSync
fs.readFileSync = (path, ...rest) => {
  if (String(path).startsWith('/proc/')) throw new Error('no such file')
  return read(path, ...rest)
}
syncBuiltinESMExports()
`

test('dev starts and reloads on a system without /proc, such as macOS', async () => {
  const project = makeProject()
  project.write('without-proc.mjs', WITHOUT_PROC)
  const env = { NODE_OPTIONS: `--import ${join(project.dir, 'without-proc.mjs')}` }
  const { child, said, ended } = dev(project.dir, ['--port', '18125', '--memory', '--redis', 'embedded'], env)
  await expect.poll(() => said.out, { timeout: 20_000 }).toContain('http://127.0.0.1:18125')
  project.write('src/index.ts', `${index}\n`)
  await expect.poll(() => said.out, { timeout: 20_000 }).toMatch(/reloaded in \d+ ms/)
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
  project.remove()
})
