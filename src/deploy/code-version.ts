// The version of the code in a folder: its commit, with its author.

import { execFileSync } from 'node:child_process'

/** The output of git in a folder, or undefined outside of a repository. */
function git(folder: string, ...args: string[]): string | undefined {
  try {
    return execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return undefined
  }
}

/**
 * Returns the commit of a folder, with `-dirty` if files differ from it, or undefined outside of a repository.
 *
 * @example commitOf('.') // '88f62d2b'
 */
export const commitOf = (folder: string): string | undefined =>
  git(folder, 'describe', '--always', '--dirty', '--abbrev=8', '--exclude=*')

export const authorOf = (folder: string): string | undefined => git(folder, 'log', '-1', '--format=%an') || undefined
