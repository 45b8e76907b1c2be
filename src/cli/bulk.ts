// sidejob bulk …: run one action on all matching jobs in the background; a terminal shows progress.

import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from '../client/index.ts'
import { type Command, chosen, type Io, yes } from './command.ts'

type Input = Parameters<Client['bulk']['start']>[0]
type Done = { done: number; passed: number }

const EVERY = 250

const count = ({ fits, more }: { fits: number; more: boolean }): string => `${fits}${more ? ' or more' : ''}`

async function follow(client: Client, id: number, fits: number, { progress }: Io) {
  for (;;) {
    const { status, progress: said } = await client.jobs.get(id)
    const { done, passed } = (said as Done | null) ?? { done: 0, passed: 0 }
    const seen = done + passed
    progress(seen, Math.max(fits, seen), `${done} done`)
    if (status === 'completed' || status === 'failed' || status === 'terminated') return { id, status, done, passed }
    await pause(EVERY)
  }
}

const bulk = (action: Input['action']): Command => ({
  does: `${action[0]!.toUpperCase()}${action.slice(1)} all matching jobs; without --yes, count them`,
  options: {
    status: { type: 'string', short: 's', does: 'only jobs with this status' },
    queue: { type: 'string', short: 'q', does: 'only jobs of this queue' },
    class: { type: 'string', short: 'c', does: 'only jobs of this class' },
    group: { type: 'string', does: 'only jobs of this group' },
    wait: { type: 'boolean', short: 'w', does: 'wait until it is done; the default in a terminal' },
    yes,
  },
  async run(client, given, io) {
    const filter = chosen(given, 'status', 'queue', 'class', 'group') as Input['filter']
    const input = { filter, action }
    const fitting = (await client.bulk.start(input, { query: { preview: true } })) as { fits: number; more: boolean }
    if (!given.yes) {
      io.tell({ action, ...fitting }, `${action}: ${count(fitting)} jobs fit; --yes does it`)
      return
    }
    const job = (await client.bulk.start(input)) as { id: number }
    if (!given.wait && (io.json || !io.isTerminal)) return void io.show(job)
    const ended = await follow(client, job.id, fitting.fits, io)
    io.show(ended)
    return ended.status === 'completed' ? 0 : 1
  },
})

export const bulkCommands: Record<string, Command> = {
  'bulk retry': bulk('retry'),
  'bulk terminate': bulk('terminate'),
  'bulk delete': bulk('delete'),
  'bulk requeue': bulk('requeue'),
}
