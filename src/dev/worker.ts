import { type ChildProcess, fork } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MINUTE } from '../core/units.ts'
import type { Bounds } from './invocation/bounds.ts'
import { createMemoryWatch } from './memory.ts'
import { claimPort } from './ports.ts'
import { createWatchdog } from './watchdog.ts'

/** These options contain secrets and are passed through a pipe, because process lists show command lines. */
export type HostOptions = {
  port: number
  vars: Record<string, string>
  dir: string
  state?: string
  config: string
  entry?: string
  /** Keeps the Worker running if a build fails. */
  isWatching?: boolean
  bounds?: Bounds
  /** Serves with workerd alone, as in production, but without compression, R2 and the caller's location. */
  alone?: boolean
  inspectorPort?: number
}

/** `pid` is the process of workerd, if known. `reloaded` is in milliseconds. */
export type HostMessage =
  | { ready: true; pid?: number }
  | { restarted: RunningJob[]; pid?: number }
  | { reloaded: number; pid?: number }
  | { broken: string; pid?: number }
  | { lost: RunningJob[] }
  | { output: string }
  | { failed: string }

export type RunningJob = { job: number; class: string; token: string; place?: string }

type WorkerOptions = Omit<HostOptions, 'inspectorPort'> & {
  /** Limits: `cpu` in milliseconds, `memory` in bytes. */
  cpu?: number
  memory?: number
  say: (line: string) => void
  onReload?: (ms: number) => void
  /** Receives the runs that a reload ended. */
  onLost?: (runs: RunningJob[]) => void
  onLoop?: (running: RunningJob[], seconds: number) => unknown
  onExit: (error: Error) => void
}

export type RunningWorker = Awaited<ReturnType<typeof startWorker>>

const program = fileURLToPath(new URL(`host${extname(import.meta.url)}`, import.meta.url))

/** Minimum CPU milliseconds that count as a loop. A shorter time could be the sum of many short runs. */
const LEAST_CPU = 2_000
const WEIGH = 500
const mebibytes = (bytes: number): number => Math.round(bytes / 1_048_576)

const TRIES = 3

function end(pid: number | undefined) {
  try {
    if (pid) process.kill(pid, 'SIGKILL')
  } catch {
    // The process is already gone.
  }
}

export async function startWorker(all: WorkerOptions) {
  const { say, onReload, onLost, onLoop, onExit, cpu, memory = Number.POSITIVE_INFINITY, ...given } = all
  const inspectorPort = Number.isFinite(memory) ? await claimPort(0, { setting: 'SIDEJOB_PLAN' }) : undefined
  const options: HostOptions = { ...given, inspectorPort }
  let workerd: number | undefined
  let closing = false
  /** Set from the kill of workerd until another runs. Receives the lost runs. */
  let onRestart: ((running: RunningJob[]) => void) | undefined
  let host: ChildProcess
  const starts: number[] = []

  const ready = launch()
  // A caller may close the Worker before it awaits `ready`.
  ready.catch(() => {})

  /** Ctrl-C ends all processes of a session at once, so this process gets its own session. */
  function launch() {
    starts.push(Date.now())
    const started = fork(program, {
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    host = started
    let [printed, failure, isReady] = ['', '', false]
    const reason = () => (failure || printed).trim()
    started.stderr!.on('data', (chunk) => (printed = (printed + chunk).slice(-4_000)))
    started.send(options)
    return new Promise<void>((resolve, reject) => {
      started.on('message', (message: HostMessage) => {
        if ('failed' in message) failure = message.failed
        onMessage(message, isReady)
        if ('ready' in message) resolve(void (isReady = true))
      })
      started.once('exit', () => {
        if (closing) return resolve()
        if (!isReady) return reject(new Error(`The Worker does not start: ${reason()}`))
        relaunch(reason())
      })
    })
  }

  function onMessage(message: HostMessage, isServed: boolean): void {
    if ('pid' in message) workerd = message.pid
    if ('output' in message) say(message.output)
    if ('broken' in message) {
      say(message.broken)
      say(isServed ? 'The last good build is still served.' : 'Nothing is served yet. Waiting for a change.')
    }
    if ('reloaded' in message) onReload?.(message.reloaded)
    if ('lost' in message) onLost?.(message.lost)
    if ('restarted' in message) {
      if (onRestart) onRestart(message.restarted)
      else say('workerd exited unexpectedly. It was restarted.')
    }
    // A reload may replace a killed workerd.
    if ('pid' in message) onRestart = undefined
  }

  function relaunch(reason: string) {
    endWorkerd()
    const recent = starts.filter((at) => at > Date.now() - MINUTE).length
    if (recent > TRIES) return onExit(new Error(`The Worker ended ${recent} times within a minute: ${reason}`))
    say('The process of the Worker exited unexpectedly. It is being restarted.')
    launch().catch(onExit)
  }

  function endFor(pid: number, reason: string, then: typeof onRestart): void {
    say(`${reason} workerd is being restarted; its runs are lost.`)
    onRestart = then
    process.kill(pid, 'SIGKILL')
  }

  function endLoop(pid: number, seconds: number): void {
    const reason = `Worker exceeded CPU time limit. A run used ${seconds} s of CPU without an answer: its code loops.`
    endFor(pid, reason, (running) => onLoop?.(running, seconds))
  }

  /** workerd and esbuild survive a kill of their parent. */
  function endWorkerd() {
    end(workerd)
    end(host.pid && -host.pid)
  }

  const { port } = options
  const watching = setInterval(
    createWatchdog({
      limit: cpu === undefined ? undefined : Math.max(LEAST_CPU, cpu) / 1_000,
      pid: () => workerd,
      // Any response counts. This path costs no Redis command.
      isAlive: async () => {
        const answer = await fetch(`http://127.0.0.1:${port}/alive`, { signal: AbortSignal.timeout(5_000) })
        await answer.body?.cancel()
        return true
      },
      onLoop: endLoop,
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
          const why = `Worker exceeded memory limit. It used ${mebibytes(bytes)} of ${mebibytes(memory)} MB.`
          if (workerd) endFor(workerd, why, () => {})
        },
      }),
      WEIGH,
    ).unref()

  return {
    ready,
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
      // A process that is still building does not notice the disconnect, so it is killed.
      const late = setTimeout(() => host.kill('SIGKILL'), 1_000)
      await ended
      clearTimeout(late)
      endWorkerd()
    },
  }
}
