// Records the CPU time of each test file and of the processes that the file started (Linux only). Use this command:
// SIDEJOB_TEST_COSTS=/tmp/costs npm test; sort -rn /tmp/costs | head

import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { afterAll, expect } from 'vitest'

const TICKS = 100

const statOf = (pid: string): number[] => {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ').map(Number)
  } catch {
    return []
  }
}

const sum = (numbers: number[], from: number, to: number): number => numbers.slice(from, to).reduce((a, b) => a + b, 0)

function used(): number {
  const own = sum(statOf('self'), 11, 15)
  const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && statOf(name)[1] === process.pid)
  const running = children.reduce((total, pid) => total + sum(statOf(pid), 11, 15), 0)
  return (own + running) / TICKS
}

const kept = globalThis as { cpuOfEarlierFiles?: number }

afterAll(() => {
  const now = used()
  const seconds = (now - (kept.cpuOfEarlierFiles ?? 0)).toFixed(2)
  kept.cpuOfEarlierFiles = now
  appendFileSync(
    process.env.SIDEJOB_TEST_COSTS!,
    `${seconds} ${relative(process.cwd(), expect.getState().testPath!)}\n`,
  )
})
