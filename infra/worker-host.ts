// The process in which the Worker runs: builds it as it is deployed, with the examples beside it, serves it with workerd, and ends with its parent.
//
// Not `wrangler dev`: that puts a second workerd in front of the first and an inspector behind it. Measured on two
// cores: 450 requests/s through it, 3,700 without. The build is wrangler's all the same, the one that is deployed.

import { spawn } from 'node:child_process'
import { readdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { V4ModuleDefinition } from 'miniflare'
import type { HostMessage, HostOptions } from './worker.ts'
import { type Compatibility, startAlone } from './workerd-alone.ts'
import { workerdBelow } from './workerd-pid.ts'
import { boundsVar } from './workers/bounds.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const config = join(root, 'wrangler.toml')
// What is deployed, and the examples beside it; held to the bounds of a plan, or free of them.
const entryOf = ({ bounds }: HostOptions) => join(root, bounds ? 'infra/workers/worker.ts' : 'examples/worker.ts')
// The miniflare that wrangler brings, so that there is one workerd in the tree.
const wranglerPackage = createRequire(import.meta.url).resolve('wrangler/package.json')
const requireAsWrangler = createRequire(wranglerPackage)

const tell = (message: HostMessage) => process.send?.(message)

// However the parent ends, this channel breaks; leaving takes workerd along.
process.on('disconnect', () => process.exit())
process.once('message', (options: HostOptions) => serve(options).catch(fail))

async function serve(options: HostOptions) {
  const { port, vars, dir, state, bounds, inspectorPort, alone } = options
  const built = build(entryOf(options), dir)
  const [{ unstable_getMiniflareWorkerOptions: optionsOf }, { Miniflare, Log, LogLevel, convertV4MiniflareOptions }] =
    await Promise.all([import('wrangler'), requireAsWrangler('miniflare') as typeof import('miniflare')])
  const { workerOptions } = optionsOf(config)
  await built
  if (alone) return serveAlone(options, workerOptions as Compatibility)

  class HostLog extends Log {
    override error(error: Error) {
      // workerd has ended and does not start again: the parent tries with a new process.
      if ('code' in error && error.code === 'ERR_RUNTIME_FAILURE') fail(error)
      tell({ said: error.stack ?? error.message })
    }
  }

  const worker = new Miniflare(
    convertV4MiniflareOptions({
      ...workerOptions,
      name: 'sidejob',
      modulesRoot: dir,
      modules: modulesOf(dir),
      bindings: { ...(workerOptions.bindings as object), ...vars, ...boundsVar(bounds) },
      host: '127.0.0.1',
      port,
      inspectorPort,
      ...(state ? { resourcePersistencePath: state } : {}),
      cf: false,
      telemetry: { enabled: false },
      log: new HostLog(LogLevel.ERROR),
      logRequests: false,
      handleStructuredLogs: ({ message }) => tell({ said: message }),
      unsafeHandleRuntimeRestart: () => void tell({ restarted: workerdBelow(process.pid) }),
    }),
  )
  await worker.ready
  tell({ ready: workerdBelow(process.pid) })
}

async function serveAlone(options: HostOptions, { compatibilityDate, compatibilityFlags }: Compatibility) {
  const { port, dir, bounds } = options
  const workerd = (requireAsWrangler('workerd') as { default: string }).default
  const vars = { ...options.vars, ...boundsVar(bounds) }
  const served = { port, vars, dir, modules: modulesOf(dir), compatibilityDate, compatibilityFlags }
  tell({ ready: await startAlone(workerd, served, { say: (said) => tell({ said }), fail }) })
}

/** Bundles the Worker into a folder, as `wrangler deploy` does before it uploads. */
function build(entry: string, dir: string) {
  rmSync(dir, { recursive: true, force: true })
  const command = [
    join(wranglerPackage, '../bin/wrangler.js'),
    'deploy',
    entry,
    '--dry-run',
    '--outdir',
    dir,
    '-c',
    config,
  ]
  const env = { ...process.env, ...quiet }
  const wrangler = spawn(process.execPath, command, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const output of [wrangler.stdout, wrangler.stderr]) output.on('data', (chunk) => (said += chunk))
  return new Promise<void>((resolve, reject) => {
    wrangler.once('error', reject)
    wrangler.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`the build failed:\n${said.trim()}`))))
  })
}

const quiet = {
  WRANGLER_HIDE_BANNER: 'true',
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_SEND_ERROR_REPORTS: 'false',
  NO_COLOR: '1',
}

const kinds: Record<string, V4ModuleDefinition['type']> = {
  '.js': 'ESModule',
  '.mjs': 'ESModule',
  '.wasm': 'CompiledWasm',
  '.txt': 'Text',
  '.html': 'Text',
  '.sql': 'Text',
  '.bin': 'Data',
}

/** What the build has left behind, the entry first. */
function modulesOf(dir: string): V4ModuleDefinition[] {
  const files = readdirSync(dir).filter((name) => extname(name) in kinds)
  const ordered = ['worker.js', ...files.filter((name) => name !== 'worker.js')]
  return ordered.map((name) => ({ type: kinds[extname(name)]!, path: join(dir, name) }))
}

function fail(error: Error): never {
  tell({ failed: error.message })
  // Leaves a moment for the message.
  setTimeout(() => process.exit(1), 100)
  throw error
}
