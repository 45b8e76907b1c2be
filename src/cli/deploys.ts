import type { Client } from '../client/index.ts'
import { type Command, UsageError } from './command.ts'

type Comparison = Awaited<ReturnType<Client['deployments']['compare']>>
type Row = Comparison['classes'][number]

const share = (of: Row['before']): string =>
  of === null || of.counts.runs === 0 ? '–' : `${Math.round((of.counts.errors / of.counts.runs) * 1_000) / 10}%`
const took = (of: Row['before']): string => (of?.took ? `${of.took.p50}–${of.took.p95} ms` : '–')

const rowOf = ({ queue, class: name, before, after }: Row) => ({
  queue,
  class: name ?? 'all others',
  runs: `${before?.counts.runs ?? 0} → ${after?.counts.runs ?? 0}`,
  errors: `${share(before)} → ${share(after)}`,
  took: `${took(before)} → ${took(after)}`,
})

async function newest(client: Client) {
  const { deployments } = await client.deployments.list()
  if (deployments[0]) return deployments[0]
  throw new UsageError('no deployment has announced its classes yet: deploy the Worker first')
}

export const deployCommands: Record<string, Command> = {
  'deploys ls': {
    does: 'List the last deploys of each deployment with their versions, newest first',
    async run(client, _, { show, json }) {
      const answer = await client.deployments.list()
      const rows = answer.deployments.flatMap(({ id, deploys }) => deploys.map((one) => ({ deployment: id, ...one })))
      show(json ? answer : rows.sort((a, b) => (a.at < b.at ? 1 : -1)), ['at', 'version', 'author', 'deployment'])
    },
  },
  'deploys compare': {
    does: 'Compare runs, errors and durations before and after a deploy, and list new kinds of error',
    takes: ['[deployment]'],
    options: {
      at: { does: 'time of the deploy, as shown by deploys ls; by default the newest deploy' },
    },
    async run(client, { at }, { show, print, json }, [deployment]) {
      const id = deployment ?? (await newest(client)).id
      const found = await client.deployments.compare(id, { at: at as string | undefined })
      if (json) return show(found)
      const { before, after } = found
      print(`before: ${before.version ?? 'unknown version'}, ${before.from} to ${before.to}`)
      print(`after: ${after.version ?? 'unknown version'}, ${after.from} to ${after.to}`)
      if (!found.isWhole) print('The counts from the time of this deploy are no longer kept')
      show(found.classes.map(rowOf), ['queue', 'class', 'runs', 'errors', 'took'])
      for (const { class: name, count, message } of found.errors)
        print(`new error: ${name}: ${message} (${count} jobs)`)
    },
  },
}
