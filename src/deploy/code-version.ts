import { execFileSync } from 'node:child_process'

function git(folder: string, ...args: string[]): string | undefined {
  try {
    return execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return undefined
  }
}

/** Ends with `-dirty` if files differ from the commit. */
export const commitOf = (folder: string): string | undefined =>
  git(folder, 'describe', '--always', '--dirty', '--abbrev=8', '--exclude=*')

export const authorOf = (folder: string): string | undefined => git(folder, 'log', '-1', '--format=%an') || undefined
