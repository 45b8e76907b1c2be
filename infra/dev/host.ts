// The process in which a Worker under development runs: bundled by esbuild as its files change, served with workerd.

import { mkdirSync, watch } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { buildName } from '../source-table.ts'
import type { HostMessage, HostRequest } from '../worker.ts'
import { type Build, bundle } from './bundle.ts'
import { createServing, type DevOptions } from './serving.ts'
import { type ProjectSettings, readSettings } from './settings.ts'

const tell = (message: HostMessage) => process.send?.(message)

// However the parent ends, this channel breaks; leaving takes workerd along.
process.on('disconnect', () => process.exit())
process.once('message', (options: DevOptions) => serve(options).catch(fail))

/** Milliseconds in which an editor writes all of its files. */
const SETTLED = 50

async function serve(options: DevOptions) {
  const { dir, config } = options
  mkdirSync(dir, { recursive: true })
  const { wrangler, miniflare, esbuild } = librariesOf(dirname(config))
  const build = buildName()
  const serving = createServing({ ...options, wrangler, miniflare, tell, build })
  process.on('message', (request: HostRequest) => {
    if (request.ask === 'running') tell({ running: serving.running() })
  })
  let last: Build | undefined
  /** One change of workerd at a time. */
  let turn = Promise.resolve()
  const serveNext = (build: Build) => {
    last = build
    turn = turn.then(() => serving.reload(build)).catch(fail)
  }
  const onBroken = (broken: string) => void tell({ broken })
  const bundled = ({ entry, define }: ProjectSettings) =>
    bundle({
      ...{ esbuild, dir, root: dirname(config), entry, onBuild: serveNext, onBroken },
      define: { ...define, __SIDEJOB_BUILD__: JSON.stringify(build) },
    })

  let settings = readSettings(wrangler, config)
  let bundling = await bundled(settings)
  watchSettings(config, async () => {
    const before = settings
    try {
      settings = readSettings(wrangler, config)
    } catch (error) {
      return onBroken((error as Error).message)
    }
    if (settings.entry === before.entry && JSON.stringify(settings.define) === JSON.stringify(before.define)) {
      if (last) serveNext(last)
      return
    }
    await bundling.close()
    bundling = await bundled(settings)
  })
}

/** Calls back after a change of the configuration or of .dev.vars, one call at a time. */
function watchSettings(config: string, onChange: () => Promise<void>) {
  let pending: ReturnType<typeof setTimeout>
  let turn = Promise.resolve()
  watch(dirname(config), (_, name) => {
    if (name !== basename(config) && name !== '.dev.vars') return
    clearTimeout(pending)
    pending = setTimeout(() => {
      turn = turn.then(onChange).catch(fail)
    }, SETTLED)
  })
}

/** wrangler, its miniflare and its esbuild: those of the project. */
function librariesOf(root: string) {
  const require = createRequire(join(root, 'package.json'))
  const requireAsWrangler = createRequire(wranglerOf(require))
  return {
    wrangler: require('wrangler') as typeof import('wrangler'),
    miniflare: requireAsWrangler('miniflare') as typeof import('miniflare'),
    esbuild: requireAsWrangler('esbuild') as typeof import('esbuild'),
  }
}

function wranglerOf(require: NodeJS.Require): string {
  try {
    return require.resolve('wrangler/package.json')
  } catch {
    throw new Error('sidejob dev needs wrangler: npm install --save-dev wrangler')
  }
}

function fail(error: Error): never {
  tell({ failed: error.message })
  // Leaves a moment for the message.
  setTimeout(() => process.exit(1), 100)
  throw error
}
