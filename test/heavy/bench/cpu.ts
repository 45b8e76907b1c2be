// Measures CPU time of processes, because load of a shared machine affects elapsed time more.

import { readdirSync, readFileSync } from 'node:fs'

/** Name → microseconds of CPU. */
export type Cpu = Record<string, number>

// Linux reports hundredths of a second.
const TICK = 10_000

export function usedBy(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // Skips the name, which may contain spaces. User and system time are fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK
}

/** Milliseconds, with microsecond precision. */
export const cpuOf = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`).reduce(
    (sum, thread) => sum + Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ', 1)[0]) / 1e6,
    0,
  )

export function stopwatch(pids: Record<string, number>): () => Cpu {
  const used = () => Object.entries(pids).map(([name, pid]) => [name, usedBy(pid)] as const)
  const before = Object.fromEntries(used())
  return () => Object.fromEntries(used().map(([name, now]) => [name, now - before[name]!]))
}
