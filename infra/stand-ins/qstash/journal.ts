// Appends a line to a file for each change, and rewrites the file if most lines are outdated.
import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

export type Journal = ReturnType<typeof openJournal>

const SPARE_LINES = 10_000

export function openJournal(file: string | undefined) {
  const live = new Map<string, string>()
  let pending: string[] = []
  let written = 0
  let immediate: NodeJS.Immediate | undefined
  if (file) load(file)

  return {
    values(table: string): unknown[] {
      const prefix = `[${JSON.stringify(table)},`
      return [...live.values()].filter((line) => line.startsWith(prefix)).map((line) => JSON.parse(line)[2])
    },

    put(table: string, key: string, value: () => unknown): void {
      if (!file) return
      const line = JSON.stringify([table, key, value()])
      live.set(name(table, key), line)
      append(line)
    },

    drop(table: string, key: string): void {
      if (!file || !live.delete(name(table, key))) return
      append(JSON.stringify([table, key]))
    },

    flush,
  }

  function append(line: string) {
    pending.push(line)
    immediate ??= setImmediate(flush)
  }

  function flush() {
    clearImmediate(immediate)
    immediate = undefined
    if (!file || !pending.length) return
    const lines = pending
    pending = []
    try {
      appendFileSync(file, `${lines.join('\n')}\n`)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      return rewrite(file)
    }
    written += lines.length
    if (written > 2 * live.size + SPARE_LINES) rewrite(file)
  }

  function load(path: string) {
    for (const line of linesOf(path)) {
      const [table, key, value] = JSON.parse(line)
      if (value === undefined) live.delete(name(table, key))
      else live.set(name(table, key), line)
    }
    rewrite(path)
  }

  function rewrite(path: string) {
    const next = `${path}.next`
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(next, [...live.values()].map((line) => `${line}\n`).join(''))
    renameSync(next, path)
    written = live.size
  }
}

const name = (table: string, key: string) => `${table}/${key}`

// Drops an incomplete last line: a crash interrupted the write, so the message was never acknowledged.
function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').slice(0, -1)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
