// Writes generated keys to a file before it uploads them, so that a failure cannot lose a key.

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

/** Uses a file, because all processes of the machine can see a command line. */
export const withSecrets = <T>(folder: string, secrets: Keys, use: (path: string) => Promise<T>): Promise<T> =>
  withFile(join(folder, `secrets-${crypto.randomUUID()}.json`), JSON.stringify(secrets), use)
