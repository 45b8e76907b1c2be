import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { configIn, noConfig } from '../deploy/config-file.ts'
import { secretsIn } from './secrets.ts'
import { type StackOptions, startStack } from './stack.ts'
import { createUnnamed } from './unnamed.ts'

export type { Stack } from './stack.ts'

export type DevOptions = Pick<StackOptions, 'port' | 'vars' | 'say' | 'onReload' | 'signal'> & {
  project?: string
  /** Defaults to a random key of the project. */
  apiKey?: string
  /** `embedded`, `server` or a `redis://` address. */
  redis?: string
  /** If false, all data is deleted when the stack ends. */
  persist?: boolean
}

export function configOf(project: string): string {
  const path = resolve(project)
  if (/\.(toml|jsonc?)$/.test(path)) {
    if (existsSync(path)) return path
    throw new Error(`there is no file ${path}`)
  }
  const found = configIn(path)
  if (found) return found
  throw new Error(noConfig(path))
}

/** Milliseconds. Short, because a job of a Worker that exited waits for the end of its lease. */
const LEASE = 10_000
/** Lanes do not wait for jobs, because after a reload, new jobs would call a lane that no longer exists. */
const WARM = '0s'
/** Maximum lost runs in a row. Each endless loop ends the Worker, so a job with such a loop must fail soon. */
const MAX_LOST = '3'
const HISTORY = '20'
/** A run that uses more CPU milliseconds than this counts as an endless loop. Production has the limit of the plan. */
const LOOP_AFTER = 3_000

/**
 * Starts the stack of a project. Resolves when the Worker is healthy.
 *
 * @example const stack = await startDev({ project: '.', port: 8787, say: console.log })
 */
export async function startDev({ project = '.', vars = {}, port = 8787, onReload, ...options }: DevOptions = {}) {
  const config = configOf(project)
  // The local QStash needs this setting too, but does not read .dev.vars.
  const { SIDEJOB_TEST_CLOCK = process.env.SIDEJOB_TEST_CLOCK } = secretsIn(dirname(config))
  const warn = createUnnamed(options.say ?? (() => undefined))
  let late: ReturnType<typeof setTimeout> | undefined
  const tickLater = () => {
    clearTimeout(late)
    late = setTimeout(() => stack.tick().catch(() => undefined), LEASE + 500).unref()
  }
  const stack = await startStack({
    ...options,
    port,
    portFrom: '--port or PORT',
    config,
    isWatching: true,
    // `wrangler d1 migrations apply` uses the database in this folder.
    state: join(dirname(config), '.wrangler/state/v3'),
    loopAfter: LOOP_AFTER,
    dir: join(dirname(config), '.sidejob'),
    vars: {
      SIDEJOB_LOG: 'all',
      SIDEJOB_LANE_LEASE: `${LEASE}ms`,
      SIDEJOB_LANE_WARM: WARM,
      SIDEJOB_MAX_LOST: MAX_LOST,
      SIDEJOB_HISTORY: HISTORY,
      SIDEJOB_TEST_CLOCK,
      ...vars,
    },
    onReload(ms) {
      onReload?.(ms)
      tickLater()
      void warn(stack).catch(() => undefined)
    },
    onLoop: tickLater,
  })
  return stack
}
