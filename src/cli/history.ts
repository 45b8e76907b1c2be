import type { Client } from '../client/index.ts'
import { type Command, chosen, count, filters, paging, pairs, pairsOf } from './command.ts'

type Query = Parameters<Client['history']['list']>[0]

const options = {
  status: { short: 's', does: 'only completed, failed or terminated jobs' },
  ...filters,
  ...pairs,
  text: { short: 't', does: 'only jobs with this text in their error or args' },
  error: { does: 'only jobs with this kind of error' },
  longer: { does: "only jobs whose last run took at least this long: '1m'" },
  since: { does: 'only jobs that ended at or after this time' },
  until: { does: 'only jobs that ended before this time' },
  ...paging,
} as const satisfies Command['options']

export const historyCommands: Record<string, Command> = {
  'history ls': {
    does: 'Search ended jobs in the history, most recently ended first',
    options,
    async run(client, given, { show, note, json }) {
      const page = await client.history.list({
        ...chosen(given, ...Object.keys(options)),
        ...pairsOf(given),
      } as Query)
      if (json) return show(page)
      show(page.jobs, ['id', 'class', 'queue', 'status', 'attempts', 'took', 'endedAt', 'error'])
      if (page.searchedTo && page.cursor) note(`searched back to ${page.searchedTo}; more with --cursor ${page.cursor}`)
    },
  },

  'history show': {
    does: 'Show each time a job ended, and its stored runs, even if Redis no longer has the job',
    takes: ['job'],
    async run(client, _, io, [job]) {
      const { ends, runs } = await client.history.get(job!)
      if (io.json) return io.show({ ends, runs })
      for (const end of ends) io.show(end)
      if (runs.length > 0) io.show(runs, ['startedAt', 'endedAt', 'outcome', 'attempt', 'version', 'error'])
    },
  },

  'history status': {
    does: 'Show whether ended jobs are waiting to be stored in the history, and the last error of its database',
    async run(client, _, io) {
      io.show(await client.history.status())
    },
  },

  'history sql': {
    does: 'Run a read-only SQL query on the history: tables ends, labels and runs',
    takes: ['query'],
    options: { limit: { short: 'n', default: '100', does: 'maximum number of rows' } },
    async run(client, given, { show, note, json }, [query]) {
      const found = await client.history.sql({ sql: query!, limit: count(given, 'limit') })
      if (json) return show(found)
      show(found.rows)
      if (found.more) note('more rows match: add conditions, or LIMIT and OFFSET')
    },
  },
}
