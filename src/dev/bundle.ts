import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BuildOptions, Message, OutputFile, Plugin } from 'esbuild'
import type { V4ModuleDefinition } from 'miniflare'

export type Build = { modules: V4ModuleDefinition[]; map: string }

type BundleOptions = {
  esbuild: typeof import('esbuild')
  root: string
  dir: string
  entry: string
  define?: Record<string, string>
  isWatching?: boolean
  isAlone?: boolean
  onBuild: (build: Build) => void
  onBroken: (errors: string) => void
}

export async function bundle(options: BundleOptions) {
  const { esbuild, root, dir, entry, isWatching = false, isAlone, onBuild, onBroken } = options
  const written = async (errors: Message[]) =>
    (await esbuild.formatMessages(errors, { kind: 'error', color: false })).join('').trim()
  const onEnd: Plugin = {
    name: 'serve',
    setup: (build) => {
      build.onEnd(async ({ errors, outputFiles = [] }) => {
        if (errors.length) return onBroken(await written(errors))
        onBuild(kept(outputFiles))
      })
    },
  }
  const context = await esbuild.context({
    ...forWorkerd(options),
    entryPoints: { worker: isAlone ? entry : HELD },
    outdir: dir,
    absWorkingDir: root,
    plugins: [heldEntry(entry, isWatching), onEnd],
  })
  if (isWatching) await context.watch()
  else await context.rebuild().catch(() => undefined)
  return { close: () => context.dispose() }
}

const forWorkerd = ({ define, isWatching }: BundleOptions) =>
  ({
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
    define: {
      'navigator.userAgent': '"Cloudflare-Workers"',
      'process.env.NODE_ENV': isWatching ? '"development"' : '"production"',
      ...define,
    },
    logLevel: 'silent',
  }) satisfies BuildOptions

function kept(files: OutputFile[]): Build {
  for (const folder of new Set(files.map(({ path }) => dirname(path)))) mkdirSync(folder, { recursive: true })
  for (const { path, contents } of files) writeFileSync(path, contents)
  return { modules: modulesOf(files), map: files.find(({ path }) => path.endsWith('worker.js.map'))?.text ?? '' }
}

const HELD = 'sidejob:held'
const invocation = fileURLToPath(new URL(`invocation/invocation${extname(import.meta.url)}`, import.meta.url))

const heldEntry = (main: string, isAnnouncing: boolean): Plugin => ({
  name: 'held',
  setup(build) {
    build.onResolve({ filter: /^sidejob:held$/ }, () => ({ path: HELD, namespace: 'sidejob' }))
    build.onLoad({ filter: /.*/, namespace: 'sidejob' }, () => ({
      contents: heldSource(JSON.stringify(main), /\bIsolate\b/.test(readFileSync(main, 'utf8')), isAnnouncing),
      resolveDir: dirname(main),
      watchFiles: [main],
    }))
  },
})

const heldSource = (main: string, hasIsolate: boolean, isAnnouncing: boolean): string =>
  [
    `import { announceRuns, hold, holdEntrypoint, withCronRoute } from ${JSON.stringify(invocation)}`,
    `import worker${hasIsolate ? ', { Isolate as Own }' : ''} from ${main}`,
    `export * from ${main}`,
    ...(isAnnouncing ? ['announceRuns()'] : []),
    'export default hold(withCronRoute(worker))',
    ...(hasIsolate ? ['export const Isolate = holdEntrypoint(Own)'] : []),
  ].join('\n')

/** workerd resolves these modules with and without `node:`. */
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
