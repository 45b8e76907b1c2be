// A project's Worker on this machine with everything that it needs: Redis, QStash's stand-in, and reloads as files change.

import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { secretsIn } from './secrets.ts'
import { startStack } from './stack.ts'

export type { Stack } from './stack.ts'

export type DevOptions = {
  /** The folder of the project, or its wrangler configuration itself. */
  project?: string
  port?: number
  /** By default a random key of the project. */
  apiKey?: string
  /** `embedded`, `server` or a `redis://` address. */
  redis?: string
  /** false: nothing outlives the stack. */
  persist?: boolean
  /** More of what the Worker is told. */
  vars?: Record<string, string | undefined>
  /** Takes each line for the developer. */
  say?: (line: string) => void
  onReload?: (ms: number) => void
  /** Ends it, also while it starts. */
  signal?: AbortSignal
}

const configs = ['wrangler.json', 'wrangler.jsonc', 'wrangler.toml']

/** The wrangler configuration of a project, by its folder or by itself. */
export function configOf(project: string): string {
  const path = resolve(project)
  if (/\.(toml|jsonc?)$/.test(path)) {
    if (existsSync(path)) return path
    throw new Error(`there is no ${path}`)
  }
  const found = configs.map((name) => join(path, name)).find((file) => existsSync(file))
  if (found) return found
  throw new Error(`${path}: expected ${configs.join(', ')}, got none: npx sidejob init makes one`)
}

/** Milliseconds after which a lane or a run that a reload cut off is found. */
const LEASE = 10_000
/** A lane that waits for work ends with its build, and the next job would call it until its lease is over. */
const WARM = '0s'
/** A run that loops takes the Worker down. If several were under way, each is repeated at most this often. */
const MAX_LOST = '3'
/** Runs that a job keeps: a developer looks at earlier runs too. */
const HISTORY = '20'
/** Milliseconds of CPU after which a run that does not answer loops. Production allows it the CPU time of the plan. */
const LOOP_AFTER = 3_000

/**
 * Starts everything for the Worker of a project. Resolves once the Worker is healthy.
 *
 * @example const stack = await startDev({ project: '.', port: 8787, say: console.log })
 */
export async function startDev({ project = '.', vars = {}, port = 8787, onReload, ...options }: DevOptions = {}) {
  const config = configOf(project)
  // QStash's stand-in is asked for it too, which reads no .dev.vars.
  const { SIDEJOB_TEST_CLOCK = process.env.SIDEJOB_TEST_CLOCK } = secretsIn(dirname(config))
  let late: ReturnType<typeof setTimeout> | undefined
  /** Finds the runs that were cut off. */
  const tickLater = () => {
    clearTimeout(late)
    late = setTimeout(() => stack.tick().catch(() => undefined), LEASE + 500).unref()
  }
  const stack = await startStack({
    ...options,
    port,
    config,
    isWatching: true,
    // The local state of wrangler: migrations that wrangler applies are found.
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
    },
    onLoop: tickLater,
  })
  return stack
}
