// Measures the CPU time of processes. Other programs on the machine affect it less than elapsed time.

import { readdirSync, readFileSync } from 'node:fs'

/** CPU time in microseconds, by process. */
export type Cpu = Record<string, number>

/** Microseconds. Linux counts CPU time in units of 10 ms. */
const TICK = 10_000

export function usedBy(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name of the program is in parentheses, and may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK
}

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
