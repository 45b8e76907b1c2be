import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { stripVTControlCharacters } from 'node:util'
import type { Env } from './settings.ts'
import { undoing } from './undo.ts'

export type Wrangler = (...args: string[]) => Promise<string>

export function createWrangler(env: Env, cwd?: string): Wrangler {
  const bin = join(createRequire(import.meta.url).resolve('wrangler/package.json'), '../bin/wrangler.js')
  const quiet = { ...env, WRANGLER_SEND_METRICS: 'false', WRANGLER_HIDE_BANNER: 'true', NO_COLOR: '1' }
  return async (...args) => {
    const child = spawn(process.execPath, [bin, ...args], { cwd, env: quiet, stdio: ['inherit', 'pipe', 'pipe'] })
    const ended = new Promise((done) => child.once('close', done))
    return undoing(
      () => child.kill(),
      async () => {
        const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
        if ((await ended) !== 0)
          throw new Error(`wrangler ${args[0]} failed:\n${stripVTControlCharacters((errors || out).trim())}`)
        return out
      },
    )
  }
}
