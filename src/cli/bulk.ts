import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from '../client/index.ts'
import { counted } from '../core/counted.ts'
import { ended } from '../core/job.ts'
import { mapValues } from '../core/map-values.ts'
import { type Command, chosen, filters, type Given, type Io, type Option, UsageError, yes } from './command.ts'

type Input = Parameters<Client['bulk']['start']>[0]
type Done = { done: number; passed: number }

const EVERY = 250

async function follow(client: Client, id: number, fits: number, { progress }: Io) {
  for (;;) {
    const { status, progress: said } = await client.jobs.get(id)
    const { done, passed } = (said as Done | null) ?? { done: 0, passed: 0 }
    const seen = done + passed
    progress(seen, Math.max(fits, seen), `${done} done`)
    if (ended.has(status)) return { id, status, done, passed }
    await pause(EVERY)
  }
}

const jobFilters = {
  status: { short: 's', does: 'only jobs with this status' },
  ...filters,
} as const

const filterOptions: Command['options'] = {
  ...mapValues(jobFilters, (option, name): Option => ({ ...option, fields: [`filter.${name}`] })),
  wait: { type: 'boolean', short: 'w', does: 'wait until all jobs are changed (default in a terminal)' },
  yes,
}

const filterOf = (given: Given): NonNullable<Input['filter']> => chosen(given, ...Object.keys(jobFilters))

async function act(client: Client, input: Input, given: Given, io: Io): Promise<number | undefined> {
  const { action } = input
  const fitting = (await client.bulk.start(input, { query: { preview: true } })) as { fits: number; more: boolean }
  if (!given.yes) {
    const { fits, more } = fitting
    const matches = more ? `${fits} or more jobs match` : counted(fits, 'job matches', 'jobs match')
    io.tell({ action, ...fitting }, `${action}: ${matches}; add --yes to change them`)
    return undefined
  }
  const job = (await client.bulk.start(input)) as { id: number }
  if (!given.wait && (io.json || !io.isTerminal)) {
    io.show(job)
    return undefined
  }
  const change = await follow(client, job.id, fitting.fits, io)
  io.show(change)
  return change.status === 'completed' ? 0 : 1
}

const bulk = (action: Exclude<Input['action'], 'move'>): Command => ({
  does: `${action[0]!.toUpperCase()}${action.slice(1)} all matching jobs; without --yes, only count them`,
  options: filterOptions,
  run: (client, given, io) => act(client, { filter: filterOf(given), action }, given, io),
})

const move: Command = {
  does: 'Continue pinned jobs on another version (run sidejob rehearse --moved first); without --yes, only count them',
  takes: ['[jobs…]'],
  options: {
    to: { does: 'version, or address of a push worker, that continues the jobs' },
    ...filterOptions,
  },
  async run(client, given, io, jobs) {
    if (given.to === undefined)
      throw new UsageError('--to: expected a version or the address of a push worker, got none')
    const filter = filterOf(given)
    const which =
      jobs.length > 0
        ? { ids: jobs.map((job) => Number(job) || job) as number[] }
        : { filter: Object.keys(filter).length > 0 ? filter : { waits: 'function' as const } }
    return act(client, { ...which, action: 'move', to: given.to as string }, given, io)
  },
}

export const bulkCommands: Record<string, Command> = {
  'bulk retry': bulk('retry'),
  'bulk terminate': bulk('terminate'),
  'bulk delete': bulk('delete'),
  'bulk requeue': bulk('requeue'),
  move,
}
