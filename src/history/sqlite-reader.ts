// Runs a query in its own process, because only the end of the process stops a query that takes too long.

import { execFile } from 'node:child_process'
import type { SqlRow } from './database.ts'

const MAX_MS = 10_000
const MAX_OUTPUT = 268_435_456

const READER = `
import { DatabaseSync } from 'node:sqlite'
let given = ''
for await (const part of process.stdin) given += part
const { file, text } = JSON.parse(given)
try {
  const db = new DatabaseSync(file, { readOnly: true })
  db.exec('PRAGMA query_only = 1; PRAGMA busy_timeout = 5000')
  process.stdout.write(JSON.stringify({ rows: db.prepare(text).all() }))
} catch ({ message }) {
  process.stdout.write(JSON.stringify({ message }))
}`

export function readElsewhere(file: string, text: string, maxMs = MAX_MS): Promise<SqlRow[]> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      process.execPath,
      ['--no-warnings', '--input-type=module', '-e', READER],
      { timeout: maxMs, killSignal: 'SIGKILL', maxBuffer: MAX_OUTPUT, env: {} },
      (error, stdout) => {
        if (error) return reject(error.killed ? new Error(`the query took longer than ${maxMs / 1_000} s`) : error)
        const { rows, message } = JSON.parse(stdout) as { rows: SqlRow[]; message?: string }
        if (message === undefined) resolve(rows)
        else reject(new Error(message))
      },
    )
    child.stdin?.end(JSON.stringify({ file, text }))
  })
}
