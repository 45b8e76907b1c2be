// Runs a Worker in a process of its own, and starts it again when it ends by itself: the one of this repository, or one
// under development.

import { type ChildProcess, fork } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { claimPort } from './ports.ts'
import { createWatchdog } from './watchdog.ts'
import type { Bounds } from './workers/bounds.ts'
import { createMemoryWatch } from './workers/memory.ts'

/** What the process of the Worker is told. It goes through a pipe: nothing of it shows in a list of processes. */
export type HostOptions = {
  port: number
  vars: Record<string, string>
  dir: string
  /** Where bindings keep their data: KV, D1, R2, Durable Objects. Without it the data ends with the process. */
  state?: string
  /** The wrangler configuration of a Worker under development, which is built anew as its files change. */
  config?: string
  /** What an invocation of the Worker is held to; without them it is free. */
  bounds?: Bounds
  /** workerd serves the Worker alone, without what the tool of development puts around it. */
  alone?: boolean
  /** Where workerd's inspector listens, which says how much memory the Worker holds. */
  inspectorPort?: number
}

/** What it tells. */
export type HostMessage =
  | { ready: number | undefined }
  | { restarted: number | undefined }
  | { said: string }
  /** Under development: a new build is served, or the last good one still is, and why. */
  | { reloaded: number | undefined; ms: number }
  | { broken: string }
  | { failed: string }

export type WorkerOptions = Omit<HostOptions, 'inspectorPort'> & {
  /** Milliseconds of CPU after which a run that lets nobody else in is ended, and bytes that an isolate may hold. */
  cpu?: number
  memory?: number
  /** What the Worker prints, and what becomes of it. */
  say: (line: string) => void
  /** A new build is served. */
  onReload?: (ms: number) => void
  /** It ended by itself, and again and again. */
  onGone: (error: Error) => void
}

export type RunningWorker = Awaited<ReturnType<typeof startWorker>>

/** The program of the host: TypeScript here, JavaScript in the package. */
const programOf = ({ config }: HostOptions): string =>
  fileURLToPath(new URL(`${config ? 'dev/host' : 'worker-host'}${extname(import.meta.url)}`, import.meta.url))

const UNBOUNDED = Number.POSITIVE_INFINITY
/** Whose CPU it is nobody says: below this it may as well be that of many short runs. */
const LEAST_CPU = 2_000
const WEIGH = 500
const mebibytes = (bytes: number): number => Math.round(bytes / 1_048_576)

const TRIES = 3
const MINUTE = 60_000

/**
 * Builds the Worker and serves it.
 *
 * @example const worker = await startWorker({ port: 8787, vars, dir: '.sidejob/worker', say: console.log, onGone })
 */
export async function startWorker({ say, onReload, onGone, cpu, memory = UNBOUNDED, ...given }: WorkerOptions) {
  const inspectorPort = memory < UNBOUNDED ? await claimPort(0, { setting: 'SIDEJOB_PLAN' }) : undefined
  const options: HostOptions = { ...given, inspectorPort }
  let workerd: number | undefined
  let closing = false
  let host: ChildProcess
  const starts: number[] = []

  await launch()

  /** A session of its own, so that Ctrl-C ends it last; the channel ends it when this process is gone. */
  function launch() {
    starts.push(Date.now())
    const started = fork(programOf(options), {
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    host = started
    let reason = ''
    started.stderr!.on('data', (chunk) => (reason = (reason + chunk).slice(-4_000)))
    started.send(options)
    return new Promise<void>((resolve, reject) => {
      let ready = false
      started.on('message', (message: HostMessage) => {
        if ('said' in message) say(message.said)
        if ('failed' in message) reason = message.failed
        if ('broken' in message) say(message.broken)
        if ('reloaded' in message) {
          workerd = message.reloaded
          onReload?.(message.ms)
        }
        if ('restarted' in message) say('workerd ended by itself and has been started again')
        if ('ready' in message || 'restarted' in message)
          workerd = 'ready' in message ? message.ready : message.restarted
        if ('ready' in message) resolve(void (ready = true))
      })
      started.once('exit', () => {
        if (closing) return resolve()
        if (!ready) return reject(new Error(`the Worker does not start: ${reason.trim()}`))
        relaunch(reason)
      })
    })
  }

  function relaunch(reason: string) {
    endWorkerd()
    if (starts.filter((at) => at > Date.now() - MINUTE).length > TRIES)
      return onGone(new Error(`the Worker has ended ${TRIES} times within a minute: ${reason.trim()}`))
    say('the process of the Worker ended by itself and is started again')
    launch().catch(onGone)
  }

  function endFor(pid: number, reason: string): void {
    say(`${reason} workerd is ended; its runs count as lost`)
    process.kill(pid, 'SIGKILL')
  }

  function end(pid: number | undefined) {
    try {
      if (pid) process.kill(pid, 'SIGKILL')
    } catch {
      // It is gone already.
    }
  }

  /**
   * Their parent takes them along, unless it was killed: workerd, and esbuild, which would hold the pipe of what it says open,
   * so that this process did not end. All of them are of the parent's group.
   */
  function endWorkerd() {
    end(workerd)
    end(host.pid && -host.pid)
  }

  const { port } = options
  const watching = setInterval(
    createWatchdog({
      limit: cpu === undefined ? undefined : Math.max(LEAST_CPU, cpu) / 1_000,
      pid: () => workerd,
      // Whatever it answers, it answers: nothing is served there, so that looking costs no command of Redis.
      isAlive: async () => {
        const answer = await fetch(`http://127.0.0.1:${port}/alive`, { signal: AbortSignal.timeout(5_000) })
        await answer.body?.cancel()
        return true
      },
      onLoop: (pid, seconds) =>
        endFor(pid, `Worker exceeded CPU time limit. A run has used ${seconds} s without an answer: its code loops.`),
    }),
    1_000,
  ).unref()
  const weighing =
    inspectorPort &&
    setInterval(
      createMemoryWatch({
        port: inspectorPort,
        limit: memory,
        onFull(bytes) {
          const why = `Worker exceeded memory limit. It held ${mebibytes(bytes)} MB of ${mebibytes(memory)}.`
          if (workerd) endFor(workerd, why)
        },
      }),
      WEIGH,
    ).unref()

  return {
    /** The process of workerd itself, where the system says so. */
    get pid() {
      return workerd
    },
    async close() {
      closing = true
      clearInterval(watching)
      clearInterval(weighing)
      if (host.exitCode !== null || host.signalCode !== null) return
      const ended = new Promise((resolve) => host.once('exit', resolve))
      if (host.connected) host.disconnect()
      // One that is still building listens late.
      const late = setTimeout(() => host.kill('SIGKILL'), 1_000)
      await ended
      clearTimeout(late)
      endWorkerd()
    },
  }
}
