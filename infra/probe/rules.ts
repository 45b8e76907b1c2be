import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Env } from '../../src/deploy/settings.ts'
import { undoing } from '../../src/deploy/undo.ts'
import { questionsOfRedis } from './redis.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const CONFIG = 'test/infra/probe/vitest.config.ts'

export async function probeRules({ env }: { env: Env }): Promise<number> {
  const { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token } = env
  if (!url || !token)
    throw new Error(
      'UPSTASH_REDIS_REST_URL or UPSTASH_REDIS_REST_TOKEN is missing: see the database in the Upstash console',
    )
  const namespace = `sidejob-probe-${randomBytes(6).toString('hex')}:`
  const vitest = join(createRequire(import.meta.url).resolve('vitest/package.json'), '../vitest.mjs')
  const child = spawn(process.execPath, [vitest, 'run', '--config', CONFIG], {
    cwd: root,
    env: { ...env, SIDEJOB_PROBE_NAMESPACE: namespace },
    stdio: 'inherit',
  })
  const ended = new Promise<number>((done) => child.once('close', (code) => done(code ?? 1)))
  const code = await undoing(
    () => child.kill(),
    () => ended,
  )
  const left = await questionsOfRedis({ url, token, namespace }).remove()
  if (left) throw new Error(`${left} keys of ${namespace} could not be removed`)
  return code
}
