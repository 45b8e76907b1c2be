import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'

/** Includes variables that wrangler's configuration does not require. */
export function secretsIn(root: string): Record<string, string> {
  try {
    return parseEnv(readFileSync(join(root, '.dev.vars'), 'utf8')) as Record<string, string>
  } catch {
    return {}
  }
}
