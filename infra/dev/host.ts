// The process in which a Worker under development runs: bundled by esbuild as its files change, served with workerd.

import { mkdirSync, watch } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import type { HostMessage } from '../worker.ts'
import { type Build, bundle } from './bundle.ts'
import { createServing, type DevOptions } from './serving.ts'

const tell = (message: HostMessage) => process.send?.(message)

// However the parent ends, this channel breaks; leaving takes workerd along.
process.on('disconnect', () => process.exit())
process.once('message', (options: DevOptions) => serve(options).catch(fail))

/** A moment in which an editor writes all of its files. */
const SETTLED = 50

async function serve(options: DevOptions) {
  const { dir, config, bounds } = options
  mkdirSync(dir, { recursive: true })
  const { wrangler, miniflare, esbuild } = librariesOf(dirname(config))
  const { reload } = createServing({ ...options, wrangler, miniflare, tell })
  let last: Build | undefined
  /** One change of workerd at a time. */
  let turn = Promise.resolve()
  const serveNext = (build: Build) => {
    last = build
    turn = turn.then(() => reload(build)).catch(fail)
  }
  const { main, define } = wrangler.unstable_readConfig({ config }, { hideWarnings: true })
  const onBroken = (broken: string) => void tell({ broken })
  await bundle({ esbuild, config, dir, main, define, isHeld: Boolean(bounds), onBuild: serveNext, onBroken })
  watchSettings(config, () => last && serveNext(last))
}

/** Settings that change are a new start of the same build. */
function watchSettings(config: string, restart: () => void) {
  let pending: ReturnType<typeof setTimeout>
  watch(dirname(config), (_, name) => {
    if (name !== basename(config) && name !== '.dev.vars') return
    clearTimeout(pending)
    pending = setTimeout(restart, SETTLED)
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
