import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export async function undoing<T>(undo: () => void, work: () => Promise<T>): Promise<T> {
  const stop = () => {
    for (const signal of signals) process.off(signal, onSignal)
  }
  const onSignal = (signal: NodeJS.Signals) => {
    stop()
    undo()
    // stop() has removed the listeners, so this signal ends the process.
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
