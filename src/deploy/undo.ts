// Temporary files of a deployment, removed when the work ends or fails or a signal ends this process.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Calls `undo` after the work, even if it fails or a signal ends this process. */
export async function undoing<T>(undo: () => void, work: () => Promise<T>): Promise<T> {
  const stop = () => {
    for (const signal of signals) process.off(signal, onSignal)
  }
  const onSignal = (signal: NodeJS.Signals) => {
    stop()
    undo()
    // The last call ends the process, because no listener is left.
    process.kill(process.pid, signal)
  }
  for (const signal of signals) process.on(signal, onSignal)
  try {
    return await work()
  } finally {
    stop()
    undo()
  }
}

/** A file that exists during its use. Only its owner can read it. */
export async function withFile<T>(path: string, text: string, use: (path: string) => Promise<T>): Promise<T> {
  mkdirSync(dirname(path), { recursive: true })
  return undoing(
    () => rmSync(path, { force: true }),
    async () => {
      writeFileSync(path, text, { mode: 0o600 })
      return use(path)
    },
  )
}
