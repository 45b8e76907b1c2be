import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLocator } from '../../../src/cloudflare/sources.ts'
import { withSources } from '../../../src/deploy/sources.ts'
import { createClient } from '../../../src/redis/client.ts'
import { createStore } from '../../../src/redis/store.ts'
import { startState } from '../../kit/index.ts'

const NAMESPACE = 'my-jobs:'
let state: Awaited<ReturnType<typeof startState>>
let root = ''

beforeAll(async () => {
  state = await startState()
  root = mkdtempSync(join(tmpdir(), 'sidejob-deployed-'))
  writeFileSync(join(root, 'pay.ts'), "export const pay = () => {\n  throw new Error('declined')\n}\n")
})
afterAll(async () => {
  rmSync(root, { recursive: true })
  await state.close()
})

const vars = () => ({
  UPSTASH_REDIS_REST_URL: state.options.url,
  UPSTASH_REDIS_REST_TOKEN: state.options.token,
  SIDEJOB_NAMESPACE: NAMESPACE,
})

async function deploy(): Promise<string> {
  let name = ''
  await withSources({ root, raw: {} }, vars(), async (args) => {
    name = JSON.parse(args[args.indexOf('--define') + 1]!.replace('__SIDEJOB_BUILD__:', '')) as string
    const outfile = join(args[args.indexOf('--outdir') + 1]!, 'index.js')
    await build({ entryPoints: [join(root, 'pay.ts')], outfile, bundle: true, format: 'esm', sourcemap: 'linked' })
  })
  return name
}

test('a Worker maps a stack with the source table of its own build', async () => {
  const name = await deploy()
  const locate = createLocator({ redis: state.options, namespace: NAMESPACE }, name)!
  const stack = await locate('Error: declined\n    at pay (index.js:3:9)')
  expect(stack).toContain('    at pay (pay.ts:2:')
  expect(stack).toContain("    > 2 |   throw new Error('declined')")
  const other = createLocator({ redis: state.options, namespace: NAMESPACE }, 'another')!
  expect(await other('Error: x\n    at pay (index.js:3:9)')).toBe('Error: x\n    at pay (index.js:3:9)')
})

test('the newest five builds are kept', async () => {
  const names: string[] = []
  for (let i = 0; i < 6; i++) {
    names.push(await deploy())
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  const store = createStore({ client: createClient(state.options), namespace: NAMESPACE })
  const kept = await Promise.all(names.map(async (name) => (await store.sources(name)) !== null))
  expect(kept).toEqual([false, true, true, true, true, true])
})

test('a Worker that another tool has built is deployed unchanged', async () => {
  expect(await withSources({ root, raw: { no_bundle: true } }, vars(), async (args) => args)).toEqual([])
})

test('without an answer of Redis a stack stays unchanged', async () => {
  const redis = { url: 'http://127.0.0.1:1', token: 'x' }
  const locate = createLocator({ redis }, 'any')!
  expect(await locate('Error: x\n    at f (index.js:1:1)')).toBe('Error: x\n    at f (index.js:1:1)')
})

test('a stack is mapped although another request was cut off while it read the source table', async () => {
  const name = await deploy()
  let isCutOff = true
  const client = createClient(state.options)
  const ask: typeof client.ask = (command) => (isCutOff ? new Promise(() => {}) : client.ask(command))
  const redis = { ...client, ask }
  const locate = createLocator({ redis, namespace: NAMESPACE }, name)!
  void locate('Error: declined\n    at pay (index.js:3:9)')
  isCutOff = false
  expect(await locate('Error: declined\n    at pay (index.js:3:9)')).toContain('    at pay (pay.ts:2:')
})
