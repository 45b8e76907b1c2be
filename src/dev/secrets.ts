import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'

/** wrangler itself reads only the variables that its configuration requires. */
export function secretsIn(root: string): Record<string, string> {
  try {
    return parseEnv(readFileSync(join(root, '.dev.vars'), 'utf8')) as Record<string, string>
  } catch {
    return {}
  }
}
