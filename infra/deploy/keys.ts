// The keys that a deployment makes: written down before anybody is told them, so that no failure can lose one.

import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export type Keys = Record<string, string>

/** What a file holds; nothing when there is none. */
export const readKeys = (path: string): Keys =>
  existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Keys) : {}

/** Adds to a file that only its owner may read. */
export function keepKeys(path: string, fresh: Keys): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${JSON.stringify({ ...readKeys(path), ...fresh }, null, 2)}\n`, { mode: 0o600 })
  // The mode above counts for a new file only.
  chmodSync(path, 0o600)
}

/** Gives secrets to another process in a file that is gone afterwards: a command line can be seen by everybody. */
export async function withSecrets<T>(folder: string, secrets: Keys, use: (path: string) => Promise<T>): Promise<T> {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `secrets-${crypto.randomUUID()}.json`)
  try {
    writeFileSync(path, JSON.stringify(secrets), { mode: 0o600 })
    return await use(path)
  } finally {
    rmSync(path, { force: true })
  }
}
