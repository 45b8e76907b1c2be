// The Worker under development in workerd: the newest build that starts. One that does not leaves the last good one in its
// place, and what workerd says of it is told with the places of its sources.

import { dirname } from 'node:path'
import type { MiniflareOptions, V4ModuleDefinition } from 'miniflare'
import type { HostMessage, HostOptions } from '../worker.ts'
import { workerdBelow } from '../workerd-pid.ts'
import { boundsVar } from '../workers/bounds.ts'
import type { Build } from './bundle.ts'
import { lineOf } from './lines.ts'
import { secretsIn } from './secrets.ts'
import { type Locate, located, readMap } from './source-map.ts'

export type DevOptions = HostOptions & { config: string }

type Libraries = { wrangler: typeof import('wrangler'); miniflare: typeof import('miniflare') }

export type ServingOptions = DevOptions & Libraries & { tell: (message: HostMessage) => void }

/**
 * Serves builds, one after the other.
 *
 * @example
 * const serving = createServing({ port, vars, dir, config, wrangler, miniflare, tell })
 * await serving.reload({ modules, map })
 */
export function createServing(options: ServingOptions) {
  const { dir, tell } = options
  const { Miniflare } = options.miniflare
  const root = dirname(options.config)
  /** What is served, how its lines are found, and what workerd has said about a start that failed. */
  const now = { isServing: false, locate: (() => undefined) as Locate, uncaught: '' }
  let worker: InstanceType<typeof Miniflare> | undefined
  let good: V4ModuleDefinition[] | undefined

  const optionsOf = (modules: V4ModuleDefinition[]) => workerdOptions(options, modules, logging(options, now))

  async function use(modules: V4ModuleDefinition[]) {
    now.uncaught = ''
    now.isServing = false
    try {
      if (worker) await worker.setOptions(optionsOf(modules))
      else worker = new Miniflare(optionsOf(modules))
      await worker.ready
      now.isServing = true
    } catch (error) {
      if (!worker || !good) {
        await worker?.dispose().catch(() => undefined)
        worker = undefined
      }
      throw error
    }
  }

  return {
    async reload({ modules, map }: Build) {
      const before = { locate: now.locate, good }
      now.locate = readMap(map, dir, root)
      const began = performance.now()
      try {
        await use(modules)
        good = modules
        const pid = workerdBelow(process.pid)
        tell(before.good ? { reloaded: pid, ms: Math.round(performance.now() - began) } : { ready: pid })
      } catch (error) {
        const why = located(now.uncaught || (error as Error).message, now.locate).trim()
        now.locate = before.locate
        if (before.good) await use(before.good)
        tell({ broken: why })
      }
    },
  }
}

type Now = { isServing: boolean; locate: Locate; uncaught: string }

/** Who hears what workerd says: the terminal while a build is served, and whoever starts one while it is not. */
function logging({ miniflare: { Log, LogLevel }, tell }: ServingOptions, now: Now) {
  class HostLog extends Log {
    override error(error: Error) {
      if (now.isServing) tell({ said: located(error.stack ?? error.message, now.locate) })
    }
  }
  return {
    log: new HostLog(LogLevel.ERROR),
    logRequests: false,
    handleStructuredLogs: ({ message }: { message: string }) => {
      const thrown = /Uncaught .*/s.exec(message)
      if (thrown && !now.isServing) now.uncaught = thrown[0]
      else tell({ said: lineOf(message, now.locate) })
    },
  }
}

/** The project's configuration, with the settings of this machine over it. */
function workerdOptions(options: ServingOptions, modules: V4ModuleDefinition[], logs: object): MiniflareOptions {
  const { wrangler, miniflare, config, dir, port, inspectorPort, vars, bounds, state, tell } = options
  const { workerOptions } = wrangler.unstable_getMiniflareWorkerOptions(config)
  const { name } = wrangler.unstable_readConfig({ config }, { hideWarnings: true })
  const secrets = secretsIn(dirname(config))
  return miniflare.convertV4MiniflareOptions({
    ...workerOptions,
    name: name ?? 'worker',
    modulesRoot: dir,
    modules,
    bindings: { ...(workerOptions.bindings as object), ...vars, ...secrets, ...boundsVar(bounds) },
    host: '127.0.0.1',
    port,
    inspectorPort,
    ...(state ? { resourcePersistencePath: state } : {}),
    cf: false,
    telemetry: { enabled: false },
    ...logs,
    unsafeHandleRuntimeRestart: () => tell({ restarted: workerdBelow(process.pid) }),
  } as Parameters<typeof miniflare.convertV4MiniflareOptions>[0])
}
