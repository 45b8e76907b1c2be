import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { experimental_readRawConfig as readRawConfig } from 'wrangler'
import { DeployFailure } from './failure.ts'
import { flags, versionMetadata } from './recommended.ts'
import type { Names } from './settings.ts'
import { EVERY_MINUTE } from './tick.ts'
import { withFile } from './undo.ts'

type Bucket = { binding: string }

export type Raw = {
  name?: string
  main?: string
  account_id?: string
  workers_dev?: boolean
  preview_urls?: boolean
  placement?: { region?: string; mode?: string }
  triggers?: { crons?: string[] }
  r2_buckets?: Bucket[]
  d1_databases?: (Bucket & { database_id?: string })[]
  vars?: Record<string, unknown>
  version_metadata?: { binding: string }
  compatibility_flags?: string[]
  observability?: { enabled?: boolean; redact_query_string?: boolean }
} & Record<string, unknown>

export type Project = {
  path: string
  root: string
  raw: Raw
}

/** The Vite plugin and other build tools write the path of their configuration here. */
const REDIRECT = '.wrangler/deploy/config.json'

function generatedFor(root: string): string | undefined {
  const redirect = join(root, REDIRECT)
  if (!existsSync(redirect)) return undefined
  const { configPath } = JSON.parse(readFileSync(redirect, 'utf8')) as { configPath?: string }
  const path = configPath && resolve(dirname(redirect), configPath)
  if (path && existsSync(path)) return path
  throw new DeployFailure(
    `${redirect} names the configuration ${path ?? '(none)'}, which does not exist. Build the Worker again, or remove ${redirect}.`,
  )
}

export function readProject(config: string): Project {
  const own = resolve(config)
  const root = dirname(own)
  const path = generatedFor(root) ?? own
  return { path, root, raw: readRawConfig({ config: path }).rawConfig as Raw }
}

export type Shape = {
  names: Names
  account: string
  bucket: boolean
  history?: string
  placement?: string
  cron: boolean
  version?: string
  versionUrl?: string
  author?: string
  workersDev: boolean
}

const FILES = 'FILES'
const HISTORY = 'HISTORY'

export const cronsOf = ({ triggers }: Raw): string[] => triggers?.crons ?? []

/** wrangler needs the id of the database, which deploy can find by its name. */
export const needsHistory = ({ d1_databases = [] }: Raw): boolean =>
  d1_databases.some(({ binding, database_id }) => binding === HISTORY && !database_id)

export const hasFiles = ({ r2_buckets = [] }: Raw): boolean => r2_buckets.some(({ binding }) => binding === FILES)

const triggersFor = (raw: Raw, cron: boolean): Pick<Raw, 'triggers'> =>
  cron ? {} : { triggers: { ...raw.triggers, crons: cronsOf(raw).filter((one) => one !== EVERY_MINUTE) } }

const bucketsFor = ({ r2_buckets }: Raw, { bucket, names }: Shape): Pick<Raw, 'r2_buckets'> =>
  r2_buckets
    ? {
        r2_buckets: r2_buckets.flatMap((one) =>
          one.binding !== FILES ? [one] : bucket ? [{ ...one, bucket_name: names.bucket }] : [],
        ),
      }
    : {}

const databasesFor = ({ d1_databases }: Raw, { history, names }: Shape): Pick<Raw, 'd1_databases'> =>
  d1_databases && history
    ? {
        d1_databases: d1_databases.map((one) =>
          one.binding === HISTORY && !one.database_id
            ? { ...one, database_name: names.history, database_id: history }
            : one,
        ),
      }
    : {}

export function configFor(raw: Raw, shape: Shape): Raw {
  const { names, account, placement, cron, workersDev, version, author, versionUrl } = shape
  const vars = {
    ...(versionUrl ? { SIDEJOB_VERSION_URL: versionUrl } : {}),
    ...raw.vars,
    ...(version ? { SIDEJOB_VERSION: version, ...(author && { SIDEJOB_AUTHOR: author }) } : {}),
  }
  return {
    version_metadata: versionMetadata,
    ...raw,
    name: names.worker,
    account_id: account,
    workers_dev: workersDev,
    ...triggersFor(raw, cron),
    ...(placement && !raw.placement ? { placement: { region: placement } } : {}),
    ...bucketsFor(raw, shape),
    ...databasesFor(raw, shape),
    ...(Object.keys(vars).length > 0 ? { vars } : {}),
  }
}

/** Writes the configuration to the same folder, so that its relative paths stay valid. */
export const withConfig = <T>({ path }: Project, config: Raw, use: (path: string) => Promise<T>): Promise<T> =>
  withFile(join(dirname(path), `wrangler.sidejob-${process.pid}.json`), JSON.stringify(config, null, 2), use)

const reasons: Record<(typeof flags)[number], string> = {
  enable_request_signal: 'if a pull worker disconnects, its claimed jobs wait until their leases end',
  global_fetch_strictly_public: 'the URL of a job can reach another Worker of your zone and bypass its access rules',
}

export function warningsFor({ path, raw }: Project): string[] {
  const file = basename(path)
  const { compatibility_flags: own = [], observability } = raw
  return [
    ...flags
      .filter((flag) => !own.includes(flag))
      .map((flag) => `${file} lacks the compatibility flag "${flag}": ${reasons[flag]}.`),
    ...(observability?.enabled && !observability.redact_query_string
      ? [
          `${file} has observability without "redact_query_string": true, so Cloudflare's logs store the signatures in addresses of files and streams.`,
        ]
      : []),
  ]
}
