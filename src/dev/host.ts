// Replaces `wrangler dev`: its second workerd and its inspector reduce 3,700 requests per second to 450 on two cores.

import { mkdirSync, watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import { buildName } from '../deploy/source-table.ts'
import { serveAlone } from './alone.ts'
import { type Build, bundle } from './bundle.ts'
import { librariesOf } from './libraries.ts'
import { createServing } from './serving.ts'
import { type ProjectSettings, readSettings } from './settings.ts'
import type { HostMessage, HostOptions } from './worker.ts'

const send = (message: HostMessage) => process.send?.(message)

// The channel closes when the parent ends. Without an exit, this process and workerd would continue to run.
process.on('disconnect', () => process.exit())
process.once('message', (options: HostOptions) => serve(options).catch(fail))

/** Milliseconds without a change before a reload, because an editor may write several files. */
const SETTLED = 50

async function serve(options: HostOptions) {
  const { dir, config, entry, isWatching } = options
  mkdirSync(dir, { recursive: true })
  const libraries = librariesOf(dirname(config))
  const { wrangler } = libraries
  const build = buildName()
  const serving = options.alone
    ? serveAlone({
        ...options,
        ...libraries,
        say: (output) => send({ output }),
        onReady: (pid) => send({ ready: true, pid }),
        fail,
      })
    : createServing({ ...options, ...libraries, send, build })
  let last: Build | undefined
  let turn = Promise.resolve()
  const serveNext = (build: Build) => {
    last = build
    turn = turn.then(() => serving.reload(build)).catch(fail)
  }
  const onBroken = (broken: string) => {
    if (!isWatching) return fail(new Error(broken))
    send({ broken })
  }
  const bundled = (settings: ProjectSettings) =>
    bundle({
      esbuild: libraries.esbuild,
      dir,
      root: dirname(config),
      entry: entry ?? settings.entry,
      isWatching,
      isAlone: options.alone,
      onBuild: serveNext,
      onBroken,
      define: { ...settings.define, __SIDEJOB_BUILD__: JSON.stringify(build) },
    })

  let settings = readSettings(wrangler, config)
  let bundling = await bundled(settings)
  if (!isWatching) return
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

function fail(error: Error): never {
  send({ failed: error.message })
  setTimeout(() => process.exit(1), 100)
  throw error
}
