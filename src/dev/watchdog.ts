// Ends a workerd in which a function never lets go: nothing else there is answered meanwhile. Production has a limit of
// CPU time for each invocation, workerd on one's own machine has none.

import { readFileSync } from 'node:fs'

export type WatchOptions = {
  /** The process that is watched; undefined while it is not known. */
  pid: () => number | undefined
  /** Whether it answers. */
  isAlive: () => Promise<boolean>
  /** It has used so many seconds of CPU without an answer. */
  onLoop: (pid: number, seconds: number) => void
  /** Seconds of CPU; as in production. */
  limit?: number
  /** Seconds of CPU that a process has used; undefined where the system does not say. */
  cpuOf?: (pid: number) => number | undefined
}

/** Clock ticks of Linux, a second. */
const TICKS = 100

/** @example cpuOf(process.pid) // 1.25 */
export function cpuOf(pid: number): number | undefined {
  try {
    // The name of the command, in brackets, may hold spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
    return (Number(fields[11]) + Number(fields[12])) / TICKS
  } catch {
    return undefined
  }
}

/**
 * Looks once; what it answers is to be called now and then.
 *
 * @example setInterval(createWatchdog({ pid, isAlive, onLoop }), 1_000)
 */
export function createWatchdog({ pid, isAlive, onLoop, limit = 30, cpuOf: used = cpuOf }: WatchOptions) {
  let since: { pid: number; cpu: number } | undefined
  let isAsking = false

  return async function look(): Promise<void> {
    const watched = pid()
    const cpu = watched === undefined ? undefined : used(watched)
    if (watched === undefined || cpu === undefined) {
      since = undefined
      return
    }
    if (since?.pid !== watched) since = { pid: watched, cpu }
    if (cpu - since.cpu >= limit) {
      since = undefined
      return onLoop(watched, limit)
    }
    if (isAsking) return
    isAsking = true
    if (await isAlive().catch(() => false)) since = { pid: watched, cpu: used(watched) ?? cpu }
    isAsking = false
  }
}
