import type { Client } from '../client/index.ts'
import { type Missed, missedPolicies } from '../core/repeat.ts'
import { bulkCommands } from './bulk.ts'
import {
  argsIn,
  type Command,
  chosen,
  count,
  type Given,
  type Io,
  JSON_HELP,
  jsonFrom,
  look,
  pagesOf,
  reason,
  UsageError,
} from './command.ts'

type KeyScope = Parameters<Client['keys']['add']>[0]['scopes'][number]

type Listed = 'queues' | 'limits' | 'groups' | 'schedules' | 'callbacks' | 'files' | 'alerts' | 'keys'

/** Each of these resources answers with a list under its own name. */
const list = (resource: Listed, does: string, columns: string[]): Command => ({
  does,
  async run(client, _, { show, json }) {
    const answer = (await client[resource].list()) as Record<string, unknown>
    show(json ? answer : answer[resource], columns)
  },
})

type ClassCount = Awaited<ReturnType<Client['stats']['classes']>>['classes'][number]

const act = (...[does, takes, perform, options = {}]: [...Parameters<typeof look>, Command['options']?]): Command => ({
  ...look(does, takes, perform),
  options: { ...options, ...reason },
})

const queueOptions = {
  lanes: { does: "maximum number of lanes; 'usual' restores the default" },
  batch: { does: "number of jobs that a lane claims at once; 'usual' restores the default" },
  ageing: { does: "time after which a waiting job's priority number falls by one: '1m', or 'none'" },
  mode: { does: 'push: lanes run its jobs; pull: pull workers claim its jobs' },
} as const

const countIn = (given: Given, name: string) => (given[name] === undefined ? undefined : count(given, name))

const countOrUsual = (given: Given, name: 'lanes' | 'batch') => (given[name] === 'usual' ? null : countIn(given, name))

const queuePatchOf = (given: Given) => ({
  lanes: countOrUsual(given, 'lanes'),
  batch: countOrUsual(given, 'batch'),
  ageing: given.ageing === 'none' ? null : (given.ageing as string | undefined),
  mode: given.mode as 'push' | 'pull' | undefined,
})

const limitOptions = {
  concurrency: { does: 'maximum number of jobs that run at once' },
  rate: { fields: ['rate.limit'], does: 'maximum number of jobs that start in each period' },
  per: { fields: ['rate.period'], default: '1s', does: "period of the rate: '1s', '1m'" },
} as const

function settingsOf(given: Given) {
  const { concurrency, rate, per } = given
  if (concurrency === undefined && rate === undefined)
    throw new UsageError('expected --concurrency or --rate, got neither')
  return {
    concurrency: countIn(given, 'concurrency'),
    rate: rate === undefined ? undefined : { limit: count(given, 'rate'), period: String(per) },
  }
}

function repeatOf({ cron, tz, missed }: Given) {
  if (cron === undefined) throw new UsageError("expected --cron, such as --cron '0 2 * * *', got nothing")
  return { cron: String(cron), tz: tz as string | undefined, missed: missed as Missed | undefined }
}

const signal = (word: 'quiet' | 'stop' | null, does: string): Command =>
  act(does, 'process', (client, process) => client.processes.signal(process, { signal: word }))

const classRow = ({ queue, class: name, counts, waited, took }: ClassCount) => ({
  queue,
  class: name ?? 'all others',
  ...counts,
  waited: waited && `${waited.p50}–${waited.p95} ms`,
  took: took && `${took.p50}–${took.p95} ms`,
})
const CLASS_COLUMNS = ['queue', 'class', 'made', 'runs', 'completed', 'failed', 'waited', 'took']

const hourRows = ({ queue, class: name, hours = [] }: ClassCount) =>
  hours.map(({ at, ...counts }) => ({ at, queue, class: name ?? 'all others', ...counts }))
const HOUR_COLUMNS = ['at', 'queue', 'class', 'made', 'runs', 'completed', 'failed']

async function classCounts(client: Client, byHour: boolean, { show, json }: Io): Promise<void> {
  const { classes, ...rest } = await client.stats.classes({ hours: byHour ? 'true' : undefined })
  if (!byHour) return show(classes.map(classRow), CLASS_COLUMNS)
  const rows = classes.flatMap(hourRows).sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
  show(json ? { classes, ...rest } : rows, HOUR_COLUMNS)
}

type ErrorKind = Awaited<ReturnType<Client['errors']['list']>>['errors'][number]

const errorRow = ({ muted, ...kind }: ErrorKind) => ({
  ...kind,
  muted: muted && `by ${muted.by}${muted.until ? ` until ${muted.until}` : ''}`,
})

type ChannelView = Awaited<ReturnType<Client['channels']['list']>>['channels'][number]

const channelRow = ({ last, ...channel }: ChannelView) => ({
  ...channel,
  ...(last && { came: last.at, message: 'message' in last ? last.message : `${last.size} bytes` }),
})
const LAST_COLUMNS = ['came', 'rate', 'message']

const muteOptions = {
  until: { does: "end of the mute: '2027-01-15T08:00:00Z'; if omitted, it never ends" },
} as const

export const resources: Record<string, Command> = {
  'queues ls': list('queues', 'List the queues with their counts', [
    'name',
    'mode',
    'paused',
    'lanes',
    'counts',
    'oldestReady',
  ]),
  'queues pause': act('Pause a queue: its jobs wait', 'queue', (client, queue) =>
    client.queues.patch(queue, { paused: true }),
  ),
  'queues set': act(
    'Change the settings of a queue and show the previous settings',
    'queue',
    async (client, queue, given) =>
      (await client.queues.patch(queue, queuePatchOf(given), { query: { details: true } })).was,
    queueOptions,
  ),
  'queues resume': act('Resume a paused queue', 'queue', (client, queue) =>
    client.queues.patch(queue, { paused: false }),
  ),
  'processes ls': {
    does: 'List lanes and pull workers with their jobs',
    async run(client, _, { show, json }) {
      const { processes, ...rest } = await client.processes.list()
      const rows = processes.map((one) => ({ ...one, jobs: one.runs.map(({ job }) => job) }))
      show(json ? { processes: rows, ...rest } : rows, ['id', 'kind', 'queues', 'live', 'signal', 'jobs', 'seenAt'])
    },
  },
  'processes quiet': signal('quiet', 'Ask a pull worker to claim no new jobs'),
  'processes stop': signal('stop', 'Ask a pull worker to finish its jobs and stop'),
  'processes resume': signal(null, 'Ask a pull worker to claim jobs again'),
  'limits ls': list('limits', 'List the limits with their used slots and waiting jobs', [
    'key',
    'concurrency',
    'rate',
    'paused',
    'running',
    'waiting',
  ]),
  'limits set': act(
    'Set a limit',
    'key',
    (client, key, given) => client.limits.set(key, settingsOf(given)),
    limitOptions,
  ),
  'limits rm': act('Remove a limit', 'key', (client, key) => client.limits.remove(key)),
  'groups ls': list('groups', 'List the groups that have jobs', [
    'id',
    'concurrency',
    'paused',
    'running',
    'waiting',
    'jobs',
  ]),
  'schedules ls': list('schedules', 'List the jobs that repeat', [
    'job',
    'class',
    'status',
    'paused',
    'repeat',
    'next',
  ]),
  'schedules show': look('Show a schedule', 'job', (client, job) => client.schedules.get(job)),
  'schedules add': {
    does: 'Create a job that repeats',
    takes: ['class'],
    options: {
      cron: { fields: ['repeat.cron'], does: "cron pattern of the schedule: '0 2 * * *'" },
      tz: { fields: ['repeat.tz'], does: "time zone: 'Europe/Berlin'" },
      missed: {
        fields: ['repeat.missed'],
        does: `handling of missed slots: ${missedPolicies.join(', ')}`,
      },
      args: { short: 'a', does: `arguments of the runs: ${JSON_HELP}` },
      queue: { short: 'q', does: 'queue of the job' },
      unique: { does: 'key that only one schedule of its class can have' },
    },
    async run(client, given, io, [name]) {
      io.show(
        await client.schedules.add({
          class: name!,
          repeat: repeatOf(given),
          args: await argsIn(given, io),
          ...chosen(given, 'queue', 'unique'),
        }),
      )
    },
  },
  'schedules pause': act('Pause a schedule', 'job', (client, job) => client.schedules.pause(job)),
  'schedules resume': act('Resume a schedule', 'job', (client, job) => client.schedules.resume(job)),
  'schedules run': act('Run the job of a schedule now', 'job', (client, job) => client.schedules.run(job)),
  'schedules rm': act('Delete a schedule; its job remains', 'job', (client, job) => client.schedules.remove(job)),
  'workers ls': {
    does: 'List the job classes and where they run: function, address or pull',
    async run(client, _, { show, json }) {
      const answer = await client.workers.list()
      if (json) return show(answer)
      const rows = answer.workers.map(({ pull, push, ...worker }) => ({
        ...worker,
        runs: pull ? 'pull' : (push?.url ?? 'function'),
      }))
      show(rows, ['queue', 'class', 'runs', 'concurrency', 'description'])
    },
  },
  'workers change': {
    does: 'Apply a JSON merge patch to the definition of a registered class',
    takes: ['queue', 'class', 'patch'],
    options: reason,
    async run(client, _, io, [queue, name, patch]) {
      io.show(await client.workers.patch(queue!, name!, (await jsonFrom(patch!, '<patch>', io)) as object))
    },
  },
  'flows graph': look('Show the graph of a flow', 'job', (client, job) => client.flows.graph(job)),
  'errors ls': {
    does: 'List the kinds of error of failed jobs, most frequent first',
    options: { muted: { type: 'boolean', does: 'also show muted kinds' } },
    async run(client, { muted }, { show, json }) {
      const page = await client.errors.list({ muted: muted ? 'true' : undefined })
      show(json ? page : page.errors.map(errorRow), ['error', 'class', 'count', 'lastAt', 'message', 'muted'])
    },
  },
  'errors mute': act(
    'Mute a kind of error',
    'kind',
    (client, kind, given) => client.errors.patch(kind, { muted: true, ...chosen(given, 'until') }),
    muteOptions,
  ),
  'errors unmute': act('Unmute a kind of error', 'kind', (client, kind) => client.errors.patch(kind, { muted: false })),
  'channels ls': {
    does: 'List channels with their listeners',
    options: {
      last: { type: 'boolean', does: 'also show the last kept message of each channel and its messages per minute' },
    },
    async run(client, { last }, { show, json }) {
      const pages = await pagesOf((at) => client.channels.list({ last: last ? 'true' : undefined, ...at }))
      const channels = pages.flatMap((page) => page.channels)
      show(json ? { channels } : channels.map(channelRow), ['name', 'subscribers', ...(last ? LAST_COLUMNS : [])])
    },
  },
  'channels publish': {
    does: 'Publish a message to all listeners of a channel and of the channels above it',
    takes: ['channel', 'message'],
    options: {
      keep: { type: 'boolean', does: 'keep the message as the last message of the channel' },
      forget: { type: 'boolean', does: 'remove the kept message of the channel' },
    },
    async run(client, { keep, forget }, io, [channel, text]) {
      const message = await jsonFrom(text!, '<message>', io)
      io.show(await client.channels.publish({ channel: channel!, message, keep: keep ? 1 : forget ? 0 : undefined }))
    },
  },
  'callbacks ls': list('callbacks', 'List the callbacks', ['job', 'of', 'state', 'attempts', 'url', 'lastError']),
  'files ls': list('files', 'List the stored files', ['id', 'size', 'storedAt']),
  'alerts ls': list('alerts', 'List open alerts and mutes', [
    'alert',
    'isOpen',
    'since',
    'text',
    'acknowledged',
    'muted',
  ]),
  'alerts ack': act('Acknowledge an open alert, so that it is not sent again', 'alert', (client, alert, given) =>
    client.alerts.acknowledge({ alert, ...chosen(given, 'reason') }),
  ),
  'alerts unack': act('Undo an acknowledgement', 'alert', (client, alert) => client.alerts.unacknowledge({ alert })),
  'alerts mute': act(
    'Mute an alert, so that it is not sent',
    'alert',
    (client, alert, given) => client.alerts.mute({ alert, ...chosen(given, 'until', 'reason') }),
    muteOptions,
  ),
  'alerts unmute': act('Unmute an alert', 'alert', (client, alert) => client.alerts.unmute({ alert })),
  'audit ls': {
    does: 'List the newest changes, with the API key that made each change',
    options: { limit: { default: '50', does: 'maximum number of entries' } },
    async run(client, { limit }, { show, json }) {
      const page = await client.audit.read({ limit: String(limit) })
      show(json ? page : page.entries, ['at', 'name', 'verb', 'path', 'reason'])
    },
  },
  'keys ls': list('keys', 'List the API keys', ['id', 'name', 'scopes']),
  'keys add': act(
    'Create an API key, which is shown only once',
    'name',
    (client, name, { scope }) => client.keys.add({ name, scopes: String(scope).split(',') as KeyScope[] }),
    {
      scope: { fields: ['scopes'], default: 'read', does: 'scopes of the key: read,write,work,admin' },
    },
  ),
  'keys rm': act('Revoke an API key', 'id', (client, id) => client.keys.remove(id)),
  ...bulkCommands,
  stats: {
    does: "Show today's counts and the total counts",
    options: {
      days: { does: 'show the counts of each of the last n days instead' },
      classes: { type: 'boolean', does: "show today's counts by class, with waiting times and run times" },
      hours: { type: 'boolean', does: "show today's counts by class and hour" },
    },
    async run(client, { days, classes, hours }, io) {
      if (classes || hours) return classCounts(client, hours === true, io)
      const { show, json } = io
      const { queues, days: kept, ...found } = await client.stats.show({ days: days as string | undefined })
      if (json) return show({ ...found, queues, ...(kept && { days: kept }) })
      if (kept) return show(kept, ['day', 'counts'])
      const { processed, failed, today, total } = found
      show({ processed, failed })
      show(
        queues.map(({ name }) => ({ queue: name, today: today[name], total: total[name] })),
        ['queue', 'today', 'total'],
      )
    },
  },
}
