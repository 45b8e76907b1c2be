// Wrangler: builds and uploads, by a configuration made from wrangler.toml for this deployment.

import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { experimental_readRawConfig as readRawConfig } from 'wrangler'
import type { Env, Names } from './settings.ts'

type Raw = { main?: string; placement?: object; workers_dev?: boolean } & Record<string, unknown>

export type Shape = {
  names: Names
  /** Without R2 there is no binding. */
  bucket: boolean
  /** Where requests are to be served, `aws:us-east-1` for one. */
  placement?: string
  cron: boolean
  /** Whether the Worker is to have an address under workers.dev. */
  workersDev: boolean
}

const FILES = 'FILES'

/** wrangler.toml as it is for one deployment: its names, and nothing that the account does not have. */
export function configFor(raw: Raw, base: string, shape: Shape): Raw {
  const buckets = (raw.r2_buckets ?? []) as { binding: string }[]
  return {
    ...raw,
    name: shape.names.worker,
    main: resolve(base, raw.main ?? 'src/worker.ts'),
    workers_dev: shape.workersDev,
    ...(shape.cron ? {} : { triggers: { crons: [] } }),
    ...(shape.placement ? { placement: { region: shape.placement } } : {}),
    r2_buckets: buckets.flatMap((bucket) =>
      bucket.binding !== FILES ? [bucket] : shape.bucket ? [{ ...bucket, bucket_name: shape.names.bucket }] : [],
    ),
  }
}

export type Wrangler = (...args: string[]) => Promise<string>

/**
 * Wrangler as a child process, which is told what we are told.
 *
 * @example await createWrangler(process.env)('auth', 'token', '--json')
 */
export function createWrangler(env: Env): Wrangler {
  const bin = join(createRequire(import.meta.url).resolve('wrangler/package.json'), '../bin/wrangler.js')
  const told = { ...env, WRANGLER_SEND_METRICS: 'false', WRANGLER_HIDE_BANNER: 'true', NO_COLOR: '1' }
  return async (...args) => {
    const child = spawn(process.execPath, [bin, ...args], { env: told, stdio: ['inherit', 'pipe', 'pipe'] })
    const ended = new Promise((done) => child.once('close', done))
    const [said, complained] = await Promise.all([text(child.stdout), text(child.stderr)])
    if ((await ended) !== 0) throw new Error(`wrangler ${args[0]} has failed:\n${(complained || said).trim()}`)
    return said
  }
}

/** What a configuration calls its Worker. */
export const nameIn = (config: string): string | undefined =>
  (readRawConfig({ config }).rawConfig as { name?: string }).name

/** Whether the Worker of a configuration has files. */
export const hasFiles = (config: string): boolean =>
  ((readRawConfig({ config }).rawConfig as Raw).r2_buckets as { binding: string }[] | undefined)?.some(
    ({ binding }) => binding === FILES,
  ) === true

/** Writes the configuration of a deployment beside nothing that is committed; answers where. */
export function writeConfig(toml: string, folder: string, shape: Shape): string {
  const { rawConfig } = readRawConfig({ config: toml })
  const path = join(folder, `${shape.names.worker}.wrangler.json`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(path, JSON.stringify(configFor(rawConfig as Raw, dirname(toml), shape), null, 2))
  return path
}
