// Keys are written to a file before they are uploaded, so that a failure cannot lose them.

import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { withFile } from './undo.ts'

export type Keys = Record<string, string>

export const readKeys = (path: string): Keys =>
  existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Keys) : {}

export function keepKeys(path: string, fresh: Keys): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${JSON.stringify({ ...readKeys(path), ...fresh }, null, 2)}\n`, { mode: 0o600 })
  // The mode above applies only to new files.
  chmodSync(path, 0o600)
}

/** Passes secrets in a file, because every process on the machine can read a command line. */
export const withSecrets = <T>(folder: string, secrets: Keys, use: (path: string) => Promise<T>): Promise<T> =>
  withFile(join(folder, `secrets-${crypto.randomUUID()}.json`), JSON.stringify(secrets), use)
