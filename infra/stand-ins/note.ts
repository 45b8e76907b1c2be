import { readFileSync } from 'node:fs'

type Note = { pid: number; port: number }

export function readNote(path: string): Note | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Note
  } catch {
    return undefined
  }
}

export const inUse = (dir: string, pid: number | string): Error =>
  new Error(
    `${dir} is in use by the Redis of another sidejob (process ${pid}): stop that process, or choose another folder`,
  )
