// If a build fails, the previous build stays in use.

import { dirname } from 'node:path'
import type { MiniflareOptions, V4ModuleDefinition } from 'miniflare'
import { keepTable, tableOf } from '../deploy/source-table.ts'
import type { Build } from './bundle.ts'
import { boundsVar } from './invocation/bounds.ts'
import { announcedIn, lineOf, type Started } from './lines.ts'
import { probe } from './probe.ts'
import { secretsIn } from './secrets.ts'
import { readSettings } from './settings.ts'
import { classPlace, type Locate, located, readMap } from './source-map.ts'
import type { HostMessage, HostOptions, RunningJob } from './worker.ts'
import { workerdBelow } from './workerd-pid.ts'

type Libraries = { wrangler: typeof import('wrangler'); miniflare: typeof import('miniflare') }

type ServingOptions = HostOptions &
  Libraries & {
    send: (message: HostMessage) => void
    build: string
  }

export function createServing(options: ServingOptions) {
  const { dir, port, send } = options
  const { Miniflare } = options.miniflare
  const root = dirname(options.config)
  const now: Now = { isServing: false, locate: () => undefined, uncaught: '', printed: [], running: new Map() }
  let worker: InstanceType<typeof Miniflare> | undefined
  let good: { options: MiniflareOptions; bundle: string; map: string } | undefined

  async function use(workerd: MiniflareOptions) {
    now.uncaught = ''
    now.printed.length = 0
    now.isServing = false
    try {
      if (worker) await worker.setOptions(workerd)
      else worker = new Miniflare(workerd)
      await worker.ready
    } catch (error) {
      if (!worker || !good) {
        await worker?.dispose().catch(() => undefined)
        worker = undefined
      }
      throw error
    }
  }

  async function check(): Promise<void> {
    const fault = await probe(`http://127.0.0.1:${port}`)
    if (fault !== undefined) throw new Error(fault)
    serve()
  }

  function serve(): void {
    now.isServing = true
    for (const line of now.printed.splice(0)) send({ output: line })
  }

  async function keep(map: string): Promise<void> {
    if (!map || !options.isWatching) return
    const table = tableOf(map, { dir, root, bundle: 'worker.js' })
    await keepTable(options.vars, options.build, table).catch((error: Error) => send({ output: error.message }))
  }

  /** Returns the runs in progress, which are lost when workerd ends. */
  function takeLost(): RunningJob[] {
    const runs = [...now.running.values()].map((run) => {
      const place = good && classPlace(good.bundle, run.class, now.locate)
      return { ...run, ...(place ? { place: `${place.file}:${place.line}` } : {}) }
    })
    now.running.clear()
    return runs
  }
  const unsafeHandleRuntimeRestart = () => send({ restarted: takeLost(), pid: workerdBelow(process.pid) })

  return {
    async reload({ modules, map }: Build) {
      const before = { locate: now.locate, good }
      now.locate = readMap(map, dir, root)
      const began = performance.now()
      const lost = takeLost()
      try {
        const workerd = workerdOptions(options, modules, { ...logging(options, now), unsafeHandleRuntimeRestart })
        // The Worker reads the table at its first error, which may happen as soon as it starts.
        await keep(map)
        await use(workerd)
        await check()
        good = { options: workerd, bundle: String(modules[0]?.contents ?? ''), map }
        const pid = workerdBelow(process.pid)
        send(before.good ? { reloaded: Math.round(performance.now() - began), pid } : { ready: true, pid })
      } catch (error) {
        const why = located(now.uncaught || (error as Error).message, now.locate).trim()
        if (!options.isWatching) throw new Error(why)
        now.locate = before.locate
        if (before.good) {
          await keep(before.good.map)
          await use(before.good.options)
          serve()
        }
        send({ broken: why, pid: workerdBelow(process.pid) })
      }
      if (lost.length > 0) send({ lost })
    },
  }
}

type Now = {
  isServing: boolean
  locate: Locate
  /** Text of workerd about a failed start or first request. */
  uncaught: string
  printed: string[]
  running: Map<number, Started>
}

function logging({ miniflare: { Log, LogLevel }, send, isWatching }: ServingOptions, now: Now) {
  const shown = (line: string) => (isWatching ? lineOf(line, now.locate) : line)
  class HostLog extends Log {
    override error(error: Error) {
      if (now.isServing) send({ output: located(error.stack ?? error.message, now.locate) })
    }
  }
  return {
    log: new HostLog(LogLevel.ERROR),
    logRequests: false,
    handleStructuredLogs: ({ message }: { message: string }) => {
      // In a terminal, entries of the audit would hide the lines of runs. `sidejob audit ls` shows them.
      if (isWatching && message.startsWith('{"sidejob":"audit"')) return
      const run = announcedIn(message)
      if (run?.sidejob === 'start') return void now.running.set(run.job, run)
      if (run) return void now.running.delete(run.job)
      const thrown = /Uncaught .*/s.exec(message)
      if (thrown && !now.isServing) now.uncaught ||= thrown[0]
      else if (now.isServing) send({ output: shown(message) })
      else now.printed.push(shown(message))
    },
  }
}

function workerdOptions(options: ServingOptions, modules: V4ModuleDefinition[], logs: object): MiniflareOptions {
  const { wrangler, miniflare, config, dir, port, inspectorPort, vars, bounds, state } = options
  const { name } = readSettings(wrangler, config)
  const { workerOptions } = wrangler.unstable_getMiniflareWorkerOptions(config)
  const secrets = secretsIn(dirname(config))
  return miniflare.convertV4MiniflareOptions({
    ...workerOptions,
    name,
    modulesRoot: dir,
    modules,
    bindings: { ...(workerOptions.bindings as object), ...vars, ...secrets, ...boundsVar(bounds) },
    host: '127.0.0.1',
    port,
    inspectorPort,
    ...(state ? { resourcePersistencePath: state } : {}),
    // /cdn-cgi/local/scheduled starts a cron trigger, as in wrangler dev.
    unsafeTriggerHandlers: true,
    cf: false,
    telemetry: { enabled: false },
    ...logs,
  } as Parameters<typeof miniflare.convertV4MiniflareOptions>[0])
}
