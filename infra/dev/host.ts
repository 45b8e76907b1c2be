// The process in which a Worker under development runs: bundled by esbuild as its files change, served with workerd. A
// build that fails, or that does not start, leaves the last good one in its place.

import { mkdirSync, readFileSync, watch, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Message, OutputFile, Plugin } from 'esbuild'
import type { MiniflareOptions, V4ModuleDefinition } from 'miniflare'
import type { HostMessage, HostOptions } from '../worker.ts'
import { workerdBelow } from '../workerd-pid.ts'
import { boundsVar } from '../workers/bounds.ts'
import { lineOf } from './lines.ts'
import { secretsIn } from './secrets.ts'
import { type Locate, located, readMap } from './source-map.ts'

type DevOptions = HostOptions & { config: string }

const tell = (message: HostMessage) => process.send?.(message)

// However the parent ends, this channel breaks; leaving takes workerd along.
process.on('disconnect', () => process.exit())
process.once('message', (options: DevOptions) => serve(options).catch(fail))

/** A moment in which an editor writes all of its files. */
const SETTLED = 50

async function serve({ port, vars, dir, config, bounds, inspectorPort }: DevOptions) {
  const root = dirname(config)
  // wrangler, its miniflare and its esbuild are those of the project.
  const require = createRequire(join(root, 'package.json'))
  const wranglerPackage = wranglerOf(require)
  const requireAsWrangler = createRequire(wranglerPackage)
  const wrangler = require('wrangler') as typeof import('wrangler')
  const { Miniflare, Log, LogLevel, convertV4MiniflareOptions } = requireAsWrangler(
    'miniflare',
  ) as typeof import('miniflare')
  const esbuild = requireAsWrangler('esbuild') as typeof import('esbuild')
  mkdirSync(dir, { recursive: true })

  let locate: Locate = () => undefined
  /** What workerd has said about a start that failed. */
  let uncaught = ''

  class HostLog extends Log {
    override error(error: Error) {
      if (!serving) return
      tell({ said: located(error.stack ?? error.message, locate) })
    }
  }

  function optionsOf(modules: V4ModuleDefinition[]): MiniflareOptions {
    const { workerOptions } = wrangler.unstable_getMiniflareWorkerOptions(config)
    const { name } = wrangler.unstable_readConfig({ config }, { hideWarnings: true })
    return convertV4MiniflareOptions({
      ...workerOptions,
      name: name ?? 'worker',
      modulesRoot: dir,
      modules,
      bindings: { ...(workerOptions.bindings as object), ...vars, ...secretsIn(root), ...boundsVar(bounds) },
      host: '127.0.0.1',
      port,
      inspectorPort,
      ...persisted(join(dir, '..')),
      cf: false,
      telemetry: { enabled: false },
      log: new HostLog(LogLevel.ERROR),
      logRequests: false,
      handleStructuredLogs: ({ message }: { message: string }) => {
        const thrown = /Uncaught .*/s.exec(message)
        if (thrown && !serving) uncaught = thrown[0]
        else tell({ said: lineOf(message, locate) })
      },
      unsafeHandleRuntimeRestart: () => void tell({ restarted: workerdBelow(process.pid) }),
    } as Parameters<typeof convertV4MiniflareOptions>[0])
  }

  let worker: InstanceType<typeof Miniflare> | undefined
  let serving = false
  let good: V4ModuleDefinition[] | undefined
  /** One change of workerd at a time. */
  let turn = Promise.resolve()

  async function use(modules: V4ModuleDefinition[]) {
    uncaught = ''
    serving = false
    try {
      if (worker) await worker.setOptions(optionsOf(modules))
      else worker = new Miniflare(optionsOf(modules))
      await worker.ready
      serving = true
    } catch (error) {
      if (!worker || !good) {
        await worker?.dispose().catch(() => undefined)
        worker = undefined
      }
      throw error
    }
  }

  async function reload(modules: V4ModuleDefinition[], map: string) {
    const before = { locate, good }
    locate = readMap(map, dir, root)
    const first = !good
    const began = performance.now()
    try {
      await use(modules)
      good = modules
      if (first) tell({ ready: workerdBelow(process.pid) })
      else tell({ reloaded: workerdBelow(process.pid), ms: Math.round(performance.now() - began) })
    } catch (error) {
      const why = located(uncaught || (error as Error).message, locate).trim()
      locate = before.locate
      if (before.good) await use(before.good)
      tell({ broken: why })
    }
  }

  const queue = (modules: V4ModuleDefinition[], map: string) => {
    turn = turn.then(() => reload(modules, map)).catch(fail)
  }

  let last: { modules: V4ModuleDefinition[]; map: string } | undefined
  const onEnd: Plugin = {
    name: 'serve',
    setup: (build) => {
      build.onEnd(async ({ errors, outputFiles = [] }) => {
        if (errors.length) return void tell({ broken: await written(errors) })
        last = kept(outputFiles)
        queue(last.modules, last.map)
      })
    },
  }
  const written = async (errors: Message[]) =>
    (await esbuild.formatMessages(errors, { kind: 'error', color: false })).join('').trim()

  function kept(files: OutputFile[]) {
    for (const { path, contents } of files) writeFileSync(path, contents)
    return { modules: modulesOf(files), map: files.find(({ path }) => path.endsWith('worker.js.map'))?.text ?? '' }
  }

  const { main, define = {} } = wrangler.unstable_readConfig({ config }, { hideWarnings: true })
  if (!main) throw new Error(`${basename(config)}: expected "main", the entry of the Worker, got none`)
  const context = await esbuild.context({
    entryPoints: { worker: bounds ? HELD : resolve(root, main) },
    outdir: dir,
    absWorkingDir: root,
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2024',
    conditions: ['workerd', 'worker', 'browser'],
    mainFields: ['browser', 'module', 'main'],
    external: ['node:*', 'cloudflare:*', ...nodeModules()],
    loader: { '.wasm': 'copy', '.bin': 'copy', '.txt': 'text', '.html': 'text', '.sql': 'text' },
    jsx: 'automatic',
    sourcemap: 'linked',
    define: { 'navigator.userAgent': '"Cloudflare-Workers"', 'process.env.NODE_ENV': '"development"', ...define },
    logLevel: 'silent',
    plugins: [heldEntry(resolve(root, main)), onEnd],
  })
  await context.watch()

  // Settings that change are a new start of the same build.
  let pending: ReturnType<typeof setTimeout>
  watch(root, (_, name) => {
    if (name !== basename(config) && name !== '.dev.vars') return
    clearTimeout(pending)
    pending = setTimeout(() => last && queue(last.modules, last.map), SETTLED)
  })
}

const HELD = 'sidejob:held'
const invocation = fileURLToPath(new URL(`../workers/invocation${extname(import.meta.url)}`, import.meta.url))

/** The entry of the project, each invocation of which is held to its bounds. */
const heldEntry = (main: string): Plugin => ({
  name: 'held',
  setup(build) {
    build.onResolve({ filter: /^sidejob:held$/ }, () => ({ path: HELD, namespace: 'sidejob' }))
    build.onLoad({ filter: /.*/, namespace: 'sidejob' }, () => ({
      contents: heldSource(JSON.stringify(main), /\bIsolate\b/.test(readFileSync(main, 'utf8'))),
      resolveDir: dirname(main),
      watchFiles: [main],
    }))
  },
})

const heldSource = (main: string, hasIsolate: boolean): string =>
  [
    `import { hold, holdEntrypoint } from ${JSON.stringify(invocation)}`,
    `import worker${hasIsolate ? ', { Isolate as Own }' : ''} from ${main}`,
    `export * from ${main}`,
    'export default hold(worker)',
    ...(hasIsolate ? ['export const Isolate = holdEntrypoint(Own)'] : []),
  ].join('\n')

function wranglerOf(require: NodeJS.Require): string {
  try {
    return require.resolve('wrangler/package.json')
  } catch {
    throw new Error('sidejob dev needs wrangler: npm install --save-dev wrangler')
  }
}

const kinds = ['kv', 'r2', 'd1', 'durableObjects', 'cache', 'workflows'] as const

/** What the Worker's own bindings keep lies beside its build. */
const persisted = (dir: string) =>
  Object.fromEntries(kinds.map((kind) => [`${kind}Persist`, join(dir, 'bindings', kind)]))

/** Modules of Node by their bare names, which workerd has too. */
const nodeModules = () => [
  'assert',
  'async_hooks',
  'buffer',
  'crypto',
  'events',
  'path',
  'process',
  'querystring',
  'stream',
  'string_decoder',
  'url',
  'util',
  'zlib',
]

function modulesOf(files: OutputFile[]): V4ModuleDefinition[] {
  const entry = files.find(({ path }) => basename(path) === 'worker.js')!
  const others = files.filter((file) => file !== entry && !file.path.endsWith('.map'))
  return [
    { type: 'ESModule', path: entry.path, contents: entry.text },
    ...others.map(
      ({ path, contents }): V4ModuleDefinition => ({
        type: path.endsWith('.wasm') ? 'CompiledWasm' : 'Data',
        path,
        contents,
      }),
    ),
  ]
}

function fail(error: Error): never {
  tell({ failed: error.message })
  // Leaves a moment for the message.
  setTimeout(() => process.exit(1), 100)
  throw error
}
