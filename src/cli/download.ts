import type { Client } from '../client/index.ts'
import { forEach } from '../core/slots.ts'
import { type Command, count, type Given, type Io, UsageError } from './command.ts'
import { resultOf } from './run.ts'

const BATCH = 500
const AT_ONCE = 16

type Download = { id: number; url: string }

async function urlsOf(lines: AsyncIterable<string>): Promise<string[]> {
  const urls: string[] = []
  let n = 0
  for await (const line of lines) {
    n++
    const url = line.trim()
    if (url === '' || url.startsWith('#')) continue
    if (!URL.canParse(url)) throw new UsageError(`line ${n}: expected a URL, got ${url.slice(0, 100)}`)
    urls.push(url)
  }
  return urls
}

function jobOf(url: string, given: Given) {
  const { host } = new URL(url)
  return {
    queue: 'downloader',
    class: 'download',
    args: { url, host, ...(given.dedup ? { dedup: true } : {}) },
    group: { id: String(given.aggregation ?? host), concurrency: count(given, 'limit') },
    keepResult: true,
    createdBy: 'cli',
    ...(given.callback ? { callback: { url: String(given.callback) } } : {}),
  }
}

async function submit(client: Client, urls: readonly string[], given: Given): Promise<Download[]> {
  const made: Download[] = []
  for (let from = 0; from < urls.length; from += BATCH) {
    const part = urls.slice(from, from + BATCH)
    const { jobs } = await client.jobs.enqueue(part.map((url) => jobOf(url, given)))
    made.push(...jobs.map(({ id }, i) => ({ id, url: part[i]! })))
  }
  return made
}

type Result = { type: 'success'; result: { file: string } } | { type: 'failure'; message: string }

const TAKEN: Result = { type: 'failure', message: 'another caller has taken the result of the download' }

async function follow(client: Client, downloads: readonly Download[], { row, tell: say, progress }: Io) {
  const counts = { stored: 0, failed: 0 }
  const showProgress = () => progress(counts.stored + counts.failed, downloads.length, `${counts.failed} failed`)
  showProgress()
  await forEach(downloads, AT_ONCE, async (download) => {
    const result = ((await resultOf(client, download.id, {})) as Result | null) ?? TAKEN
    if (result.type === 'success') {
      counts.stored++
      row({ ...download, file: result.result.file }, `${result.result.file}\t${download.url}`)
    } else {
      counts.failed++
      say({ ...download, error: result.message }, `failed: ${download.url}: ${result.message}`)
    }
    showProgress()
  })
  return counts
}

export const download: Command = {
  does: 'Download the URLs on standard input, one per line, and print the id of each file',
  options: {
    aggregation: {
      short: 'a',
      fields: ['group.id'],
      does: 'group whose downloads share --limit; by default the host of each URL',
    },
    limit: {
      short: 'l',
      fields: ['group.concurrency'],
      default: '4',
      does: 'maximum number of simultaneous downloads per group',
    },
    callback: { short: 'c', fields: ['callback.url'], does: 'URL to call when a download ends' },
    dedup: { type: 'boolean', does: 'do not store a file again if it is unchanged' },
    wait: { type: 'boolean', does: 'wait for each download (default); --no-wait prints only the ids of the jobs' },
  },
  async run(client, given, io) {
    const urls = await urlsOf(io.lines())
    if (urls.length === 0) throw new UsageError('expected URLs on standard input, got none')
    const downloads = await submit(client, urls, given)
    if (given.wait === false) {
      for (const one of downloads) io.row(one, `${one.id}\t${one.url}`)
      return 0
    }
    const { stored, failed } = await follow(client, downloads, io)
    io.tell({ stored, failed }, `${stored} stored, ${failed} failed`)
    return failed > 0 ? 1 : 0
  },
}
