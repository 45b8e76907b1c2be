// Limits the CPU time of workerd, because workerd has such a limit only on Cloudflare.

import { readFileSync } from 'node:fs'

type WatchOptions = {
  pid: () => number | undefined
  isAlive: () => Promise<boolean>
  onLoop: (pid: number, seconds: number) => void
  limit?: number
  /** CPU seconds, or undefined if the system does not report them. */
  cpuOf?: (pid: number) => number | undefined
}

/** Clock ticks per second in Linux. */
const TICKS = 100

export function cpuOf(pid: number): number | undefined {
  try {
    // The name of the command is in brackets and may contain spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
    return (Number(fields[11]) + Number(fields[12])) / TICKS
  } catch {
    return undefined
  }
}

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
