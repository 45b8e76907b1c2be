import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { tryRead } from '../core/readable.ts'
import { isLocal } from '../core/url.ts'
import { type Command, type Given, UsageError } from './command.ts'

export type Target = { url: string; key: string }
type Profiles = Record<string, Target>

const { env } = process
export const DEFAULT_URL = 'http://127.0.0.1:8787'

const file = () => env.SIDEJOB_PROFILES ?? join(homedir(), '.config', 'sidejob', 'profiles.json')

const jsonIn = <T>(path: string): T | undefined => tryRead(() => JSON.parse(readFileSync(path, 'utf8')) as T)

const profiles = (): Profiles => jsonIn<Profiles>(file()) ?? {}

function profile(name: string): Target {
  const found = profiles()[name]
  if (found) return found
  const known = Object.keys(profiles()).join(', ') || 'none'
  throw new UsageError(`--profile: there is no profile ${name}; known: ${known}`)
}

function addressOf(given: string): string {
  const url = /^https?:\/\//.test(given) ? given : `${/^(localhost|127\.)/.test(given) ? 'http' : 'https'}://${given}`
  if (!URL.canParse(url)) throw new UsageError(`--url: expected an address like https://jobs.example.com, got ${given}`)
  return url.replace(/\/+$/, '')
}

export function targetOf({ url, key, profile: said }: Given): Target {
  const name = said ?? env.SIDEJOB_PROFILE
  const around = said ? {} : { url: env.SIDEJOB_URL, key: env.SIDEJOB_API_KEY }
  const base = name ? profile(String(name)) : localStack()
  const address = addressOf(String(url ?? around.url ?? base?.url ?? DEFAULT_URL))
  if (key === undefined && around.key !== undefined) expectOwnAddress(address, around.url)
  return { url: address, key: String(key ?? around.key ?? (base && isSameOrigin(base.url, address) ? base.key : '')) }
}

const isSameOrigin = (one: string, other: string): boolean => new URL(addressOf(one)).origin === new URL(other).origin

function localStack(): Target | undefined {
  const note = jsonIn<{ url: string; apiKey: string }>(join(env.SIDEJOB_DIR ?? '.sidejob', 'stack.json'))
  return note && { url: note.url, key: note.apiKey }
}

/** `stack.json` may belong to another project, so its address must not receive the key from the environment. */
function expectOwnAddress(address: string, own: string | undefined): void {
  if (isLocal(address) || (own !== undefined && addressOf(own) === address)) return
  throw new UsageError(
    `SIDEJOB_API_KEY is not sent to ${address}: set SIDEJOB_URL to that address, or pass the key with --key`,
  )
}

function save(all: Profiles): void {
  mkdirSync(dirname(file()), { recursive: true, mode: 0o700 })
  // `mode` below applies only to new files.
  if (existsSync(file())) chmodSync(file(), 0o600)
  writeFileSync(file(), `${JSON.stringify(all, null, 2)}\n`, { mode: 0o600 })
}

export const profileCommands: Record<string, Command> = {
  'profiles ls': {
    does: 'List the saved addresses and keys',
    flags: ['json', 'help'],
    async run(_client, _given, { show }) {
      show(
        Object.entries(profiles()).map(([name, { url }]) => ({ name, url })),
        ['name', 'url'],
      )
    },
  },
  'profiles set': {
    does: 'Save --url and --key under a name',
    takes: ['name'],
    async run(_client, given, { tell }, [name]) {
      const target = targetOf(given)
      if (!target.key) throw new UsageError(`expected --key, got none`)
      save({ ...profiles(), [name!]: target })
      tell({ name, kept: true }, `Saved profile ${name}. Use it with sidejob --profile ${name} …`)
    },
  },
  'profiles rm': {
    does: 'Delete a saved address and key',
    flags: ['json', 'help'],
    takes: ['name'],
    async run(_client, _given, { tell }, [name]) {
      profile(name!)
      const { [name!]: _gone, ...rest } = profiles()
      save(rest)
      tell({ name, kept: false }, `Deleted profile ${name}`)
    },
  },
}
