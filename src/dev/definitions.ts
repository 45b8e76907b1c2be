import { mkdirSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Message, Plugin } from 'esbuild'
import { workersOf } from '../core/loading.ts'
import type { Worker } from '../core/worker.ts'
import { configOf } from './index.ts'
import { librariesOf } from './libraries.ts'
import { secretsIn } from './secrets.ts'
import { readSettings } from './settings.ts'

export type Definitions = {
  workers: Worker[]
  env: Record<string, unknown>
}

/** Replaces Cloudflare's modules, which Node lacks. Each export is a class, because projects may extend it. */
const CLOUDFLARE = `
const named = new Map()
const get = (_, name) => named.get(name) ?? named.set(name, class {}).get(name)
module.exports = Object.create(new Proxy({}, { get }))
`

const cloudflare: Plugin = {
  name: 'cloudflare',
  setup(build) {
    build.onResolve({ filter: /^cloudflare:/ }, ({ path }) => ({ path, namespace: 'cloudflare' }))
    build.onLoad({ filter: /.*/, namespace: 'cloudflare' }, () => ({ contents: CLOUDFLARE, loader: 'js' }))
  },
}

const REQUIRE = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);"

export function entryOf(project: string): string {
  const config = configOf(project)
  return readSettings(librariesOf(dirname(config)).wrangler, config).entry
}

export async function definitionsOf(project: string): Promise<Definitions> {
  const config = configOf(project)
  const root = dirname(config)
  const { wrangler, esbuild } = librariesOf(root)
  const { entry, define, vars } = readSettings(wrangler, config)
  const dir = join(root, '.sidejob', 'rehearse')
  mkdirSync(dir, { recursive: true })
  const outfile = join(dir, 'worker.mjs')
  const { errors } = await esbuild
    .build({
      entryPoints: [entry],
      outfile,
      absWorkingDir: root,
      define,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node22',
      jsx: 'automatic',
      sourcemap: 'inline',
      logLevel: 'silent',
      banner: { js: REQUIRE },
      // The project must use the same copy of sidejob as this program, so that `instanceof` works.
      external: ['sidejob', 'sidejob/*'],
      loader: { '.wasm': 'binary', '.bin': 'binary', '.txt': 'text', '.html': 'text', '.sql': 'text' },
      plugins: [cloudflare],
    })
    .catch((error: { errors: Message[] }) => error)
  if (errors.length > 0)
    throw new Error((await esbuild.formatMessages(errors, { kind: 'error', color: false })).join('').trim())
  const shown = relative(root, entry)
  const workers = await workersOf(() => import(`${pathToFileURL(outfile)}?${Date.now()}`)).catch((error: Error) => {
    throw new Error(`${shown} cannot be loaded in Node: ${error.message}`, { cause: error })
  })
  if (workers.length === 0)
    throw new Error(
      `${shown}: expected a call of createWorker with functions, found none (main of ${basename(config)} names this file)`,
    )
  return { workers, env: { ...vars, ...secretsIn(root) } }
}
