import type { Client } from '../client/index.ts'
import { ended } from '../core/job.ts'
import { sleep } from '../core/sleep.ts'
import { type Command, count, type Given, type Io } from './command.ts'

type Entry = { at: string; job?: number | null; level: string; entry: unknown }

const logLine = ({ at, job, level, entry }: Entry) =>
  [at, level, job && `#${job}`, typeof entry === 'string' ? entry : JSON.stringify(entry)].filter(Boolean).join(' ')

const FOLLOW = 1_000

export const log: Command = {
  does: "Show a job's log, oldest first",
  takes: ['job'],
  options: {
    follow: { type: 'boolean', short: 'f', does: 'show new entries until the job has ended' },
    limit: { short: 'n', default: '100', does: 'maximum number of entries' },
  },
  async run(client, { follow, limit }, { show, print, json }, [job]) {
    const seen = new Set<string>()
    for (;;) {
      const { status } = await client.jobs.get(job!)
      const { entries } = await client.jobs.log(job!, { limit: String(limit) })
      for (const entry of entries.toReversed()) {
        if (seen.has(entry.id)) continue
        seen.add(entry.id)
        if (json) show(entry)
        else print(logLine(entry))
      }
      if (!follow || ended.has(status)) {
        if (seen.size === 0 && !json) print('none')
        return
      }
      await sleep(FOLLOW)
    }
  },
}

type Change = { channel: string; message: unknown }

async function printChange(
  client: Client,
  { channel, message }: Change,
  given: Given,
  { show, print, json }: Io,
): Promise<boolean> {
  const [, id] = /^\/sidejob\/job\/(\d+)$/.exec(channel) ?? []
  const { status } = (message ?? {}) as { status?: string }
  if (!id || !status || (given.failed && status !== 'failed')) return false
  const job = await client.jobs.get(id).catch(() => undefined)
  if (given.class && job?.class !== given.class) return false
  const error = status === 'failed' ? (job?.error as { message?: string } | null)?.message : undefined
  const change = { job: Number(id), class: job?.class ?? null, status, ...(error ? { error } : {}) }
  if (json) show(change)
  else print([`#${id}`, job?.class ?? '(gone)', status, error].filter(Boolean).join(' '))
  return true
}

export const tail: Command = {
  does: 'Show status changes as they happen, until you stop the command',
  options: {
    class: { short: 'c', does: 'only jobs of this class' },
    failed: { type: 'boolean', does: 'show only failures' },
    count: { short: 'n', does: 'stop after this many changes' },
  },
  async run(client, given, io) {
    let left = given.count === undefined ? Number.POSITIVE_INFINITY : count(given, 'count')
    const stop = new AbortController()
    const changes = await client.channels.subscribe('/sidejob/job', undefined, { signal: stop.signal })
    try {
      for await (const change of changes) {
        if (await printChange(client, change as Change, given, io)) left--
        if (left <= 0) break
      }
    } finally {
      stop.abort()
    }
  },
}
