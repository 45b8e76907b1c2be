import type { Client } from '../client/index.ts'
import { forEach } from '../core/slots.ts'
import { duration } from '../core/time.ts'
import { type Command, type Given, type Io, pagesOf, UsageError, yes } from './command.ts'

const AT_ONCE = 8
/** Finds ids of files: alone, in URLs, and in lines of an access log. */
const ID = /(?:^|\/)([\w-]{14})(?=$|[?\s])/

async function idsOf(lines: AsyncIterable<string>): Promise<Set<string>> {
  const ids = new Set<string>()
  for await (const line of lines) {
    const id = ID.exec(line.trim())?.[1]
    if (id) ids.add(id)
    else if (line.trim() !== '')
      throw new UsageError(`expected the id or the address of a file, got ${line.slice(0, 100)}`)
  }
  return ids
}

function lengthOf(age: string): number {
  try {
    return duration(age)
  } catch (error) {
    throw new UsageError(`--older-than: ${(error as Error).message}`)
  }
}

async function chooser(given: Given, io: Io): Promise<(file: { id: string; storedAt: string }) => boolean> {
  const age = given['older-than']
  if (!given.named === (age === undefined))
    throw new UsageError(`expected either --older-than or --named, got ${given.named ? 'both' : 'neither'}`)
  if (given.named) {
    const ids = await idsOf(io.lines())
    return ({ id }) => ids.has(id)
  }
  const before = Date.now() - lengthOf(String(age))
  return ({ storedAt }) => Date.parse(storedAt) < before
}

const MiB = 1024 * 1024

export const filesPurge: Command = {
  does: 'Remove stored files',
  options: {
    'older-than': { does: 'only files that were stored longer ago than this: 7d, 12h' },
    named: {
      type: 'boolean',
      does: 'only the files listed on standard input: ids, addresses or lines of an access log',
    },
    yes,
  },
  async run(client, given, io) {
    const { row, tell, progress } = io
    const isMeant = await chooser(given, io)
    const pages = await pagesOf((at) => client.files.list(at))
    const found = pages.flatMap(({ files }) => files.filter(isMeant))
    for (const { id, size, storedAt } of found) row({ id, size, storedAt }, `${id}\t${size}\t${storedAt}`)
    const bytes = found.reduce((sum, { size }) => sum + size, 0)
    const all = `${found.length} files, ${(bytes / MiB).toFixed(1)} MiB`
    if (!given.yes) {
      tell({ files: found.length, bytes, removed: 0 }, `${all} would be removed; add --yes to remove them`)
      return 0
    }
    let gone = 0
    await forEach(found, AT_ONCE, async ({ id }) => {
      await client.files.remove(id)
      progress(++gone, found.length, 'removed')
    })
    tell({ files: found.length, bytes, removed: gone }, `${all} removed`)
    return 0
  },
}

async function failedOnes(client: Client, host: string | boolean | undefined) {
  const pages = await pagesOf((at) => client.callbacks.list({ state: 'FAILED', limit: 1_000, ...at }))
  const found = pages.flatMap(({ callbacks }) => callbacks)
  return host === undefined ? found : found.filter(({ url }) => new URL(url).host === host)
}

export const callbacksResend: Command = {
  does: 'Resend failed callbacks',
  options: { host: { does: 'only callbacks to this host' }, yes },
  async run(client, { host, yes: really }, { row, tell, progress }) {
    const found = await failedOnes(client, host)
    for (const { of, url, attempts, lastError } of found)
      row({ job: of, url, attempts, lastError }, `job ${of}\t${url}\t${attempts} tries\t${lastError ?? ''}`)
    if (!really) {
      tell({ found: found.length, sent: 0 }, `${found.length} callbacks would be resent; add --yes to resend them`)
      return 0
    }
    let sent = 0
    await forEach(found, AT_ONCE, async ({ job }) => {
      await client.callbacks.resend(job)
      progress(++sent, found.length, 'resent')
    })
    tell({ found: found.length, sent }, `${sent} resent`)
    return 0
  },
}
