// The version of the code in a folder: its commit.

import { execFileSync } from 'node:child_process'

/**
 * Returns the commit of a folder, with `-dirty` if files differ from it, or undefined outside of a repository.
 *
 * @example commitOf('.') // '88f62d2b'
 */
export function commitOf(folder: string): string | undefined {
  const args = ['describe', '--always', '--dirty', '--abbrev=8', '--exclude=*']
  try {
    return execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return undefined
  }
}
