import { open, rm, stat, truncate } from 'node:fs/promises'
import { tryRead } from '../core/readable.ts'
import { NAMESPACE } from '../core/tenant.ts'
import { exported, imported, type Line, namespacesIn } from '../redis/backup.ts'
import { type Client, createClient } from '../redis/client.ts'
import { type Command, type Io, UsageError } from './command.ts'
import { workerNameIn } from './project/deploy.ts'

const WRITE_LENGTH = 1_048_576

/** Reads the token from the environment, because every process on the machine can read a command line. */
async function place() {
  const { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token, SIDEJOB_NAMESPACE } = process.env
  if (!url || !token)
    throw new UsageError('expected UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN in the environment')
  const client = createClient({ url, token })
  if (SIDEJOB_NAMESPACE) return { client, namespace: SIDEJOB_NAMESPACE }
  const name = await workerNameIn(process.cwd())
  return { client, namespace: name === undefined ? NAMESPACE : `${name}:` }
}

const MAX_LISTED = 20

async function nothingIn(client: Client, namespace: string): Promise<UsageError> {
  const found = await namespacesIn(client)
  const listed = [...found.slice(0, MAX_LISTED), ...(found.length > MAX_LISTED ? ['…'] : [])].join(', ')
  return new UsageError(
    `No keys in the namespace ${namespace}; nothing is exported. ` +
      (found.length
        ? `Set SIDEJOB_NAMESPACE to a namespace of this database: ${listed}`
        : 'This database has no jobs: compare UPSTASH_REDIS_REST_URL with the address in the Upstash console'),
  )
}

async function* linesOf(path: string): AsyncGenerator<string> {
  const file = await open(path)
  yield* file.readLines()
}

type PartialBackup = { cursor?: string; keys: number; bytes: number; isWhole: boolean }

/** Finds the last cursor of an unfinished export. A continued export replaces all lines after this cursor. */
async function partialBackupIn(path: string, namespace: string): Promise<PartialBackup> {
  const partial: PartialBackup = { keys: 0, bytes: 0, isWhole: false }
  if (!(await stat(path).catch(() => undefined))?.size) return partial
  let [bytes, keys] = [0, 0]
  for await (const text of linesOf(path)) {
    bytes += Buffer.byteLength(text) + 1
    const line = parsed(text)
    if (bytes === Buffer.byteLength(text) + 1 && !(line && 'sidejob' in line && line.namespace === namespace))
      throw new UsageError(`${path}: expected a new file, or an unfinished export of ${namespace}`)
    if (line && 'key' in line && !line.from) keys++
    if (line && 'cursor' in line) Object.assign(partial, { cursor: line.cursor, keys, bytes })
    if (line && 'end' in line) partial.isWhole = true
  }
  return partial
}

const parsed = (text: string): Line | undefined => tryRead(() => JSON.parse(text) as Line)

async function write(path: string, { note, tell, progress }: Io): Promise<void> {
  const { client, namespace } = await place()
  const partial = await partialBackupIn(path, namespace)
  if (partial.isWhole) throw new UsageError(`${path} is already a complete export: choose another name`)
  const file = await open(path, 'a', 0o600)
  try {
    await truncate(path, partial.bytes)
    if (partial.cursor) note(`continuing after ${partial.keys} keys`)
    // Redis counts the keys of all namespaces, so this is an upper bound.
    const most = await client.ask((redis) => redis.dbsize())
    let text = ''
    let keys = partial.keys
    for await (const line of exported({ client, namespace }, partial)) {
      text += `${JSON.stringify(line)}\n`
      if ('key' in line && !line.from) keys++
      if ('end' in line && line.end.keys === 0) {
        await rm(path, { force: true })
        throw await nothingIn(client, namespace)
      }
      if ('cursor' in line) progress(keys, Math.max(keys, most), 'keys (at most)')
      if (text.length > WRITE_LENGTH || 'end' in line) {
        await file.appendFile(text)
        text = ''
      }
      if ('end' in line) tell({ namespace, keys: line.end.keys }, `exported ${line.end.keys} keys of ${namespace}`)
    }
  } finally {
    await file.close()
  }
}

async function* readLinesOf(path: string, tell: (bytes: number) => void): AsyncGenerator<Line> {
  let [n, bytes] = [0, 0]
  for await (const text of linesOf(path)) {
    const line = parsed(text)
    n++
    bytes += Buffer.byteLength(text) + 1
    tell(bytes)
    if (!line) throw new UsageError(`${path}, line ${n}: expected JSON, got ${text.slice(0, 80)}`)
    yield line
  }
}

export const backup: Record<string, Command> = {
  export: {
    does: 'Write all data in the namespace to a file, or continue an interrupted export',
    flags: ['json', 'help'],
    takes: ['file'],
    run: (_, __, io, [path = '']) => write(path, io),
  },
  import: {
    does: 'Load an export into an empty namespace, or continue an interrupted import',
    flags: ['json', 'help'],
    takes: ['file'],
    options: { over: { type: 'boolean', does: 'remove all data in the namespace first' } },
    async run(_, { over }, { note, tell, progress }, [path = '']) {
      const size = (await stat(path)).size
      let read = 0
      const lines = readLinesOf(path, (bytes) => {
        read = bytes
      })
      const target = await place()
      const { keys, lost } = await imported(target, lines, {
        over: Boolean(over),
        progress: (n) => progress(read, size, `bytes, ${n} lines`),
      })
      const { namespace } = target
      tell({ namespace, keys, lost }, `imported ${keys} keys into ${namespace}; check them with sidejob doctor`)
      if (lost) note(`jobs ${lost.from} to ${lost.to} are lost, and their ids are not reused`)
    },
  },
}
