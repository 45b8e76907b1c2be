// sidejob queues, limits, schedules, …: what is beside jobs.

import type { Client } from '../client/index.ts'
import { bulkCommands } from './bulk.ts'
import { type Command, chosen, type Given, type Io, jsonOf } from './command.ts'

/** Shows a list under one member of an answer. */
const list = (does: string, ask: (client: Client) => Promise<object>, member: string, columns: string[]): Command => ({
  does,
  async run(client, _, { show, json }) {
    const answer = (await ask(client)) as Record<string, unknown>
    show(json ? answer : answer[member], columns)
  },
})

type ClassCount = Awaited<ReturnType<Client['stats']['classes']>>['classes'][number]

type Act = (client: Client, name: string, given: Given) => Promise<unknown>

const act = (does: string, takes: string, perform: Act, options: Command['options'] = {}): Command => ({
  does,
  takes: [takes],
  options,
  async run(client, given, { show }, [name]) {
    show(await perform(client, name!, given))
  },
})

const queueOptions = {
  lanes: { type: 'string', does: "how many lanes may serve it; 'usual' as it would be" },
  batch: { type: 'string', does: "how many jobs a lane takes at once; 'usual' as it would be" },
  ageing: { type: 'string', does: "how long a wait is worth one step of priority: '1m'; 'none'" },
  mode: { type: 'string', does: 'push: lanes serve it; pull: programs claim its jobs' },
} as const

const numberOrUsual = (text: unknown): number | null => (text === 'usual' ? null : Number(text))

const queuePatchOf = ({ lanes, batch, ageing, mode }: Given) => ({
  ...(lanes === undefined ? {} : { lanes: numberOrUsual(lanes) }),
  ...(batch === undefined ? {} : { batch: numberOrUsual(batch) }),
  ...(ageing === undefined ? {} : { ageing: ageing === 'none' ? null : String(ageing) }),
  ...(mode === undefined ? {} : { mode: mode as 'push' | 'pull' }),
})

const limitOptions = {
  concurrency: { type: 'string', does: 'how many may run at once' },
  rate: { type: 'string', does: 'how many may start in a period' },
  per: { type: 'string', default: '1s', does: "the period: '1s', '1m'" },
} as const

const settingsOf = ({ concurrency, rate, per }: Given) => ({
  ...(concurrency ? { concurrency: Number(concurrency) } : {}),
  ...(rate ? { rate: { limit: Number(rate), period: String(per) } } : {}),
})

const graph: Command = act('shows the graph of a flow', 'job', (client, job) => client.flows.graph(job))

/** Each process with its jobs as a list of ids. */
async function processesOf(client: Client) {
  const { processes, ...rest } = await client.processes.list()
  return { processes: processes.map((one) => ({ ...one, jobs: one.runs.map(({ job }) => job) })), ...rest }
}

const signal = (word: 'quiet' | 'stop' | null, does: string): Command =>
  act(does, 'process', (client, process) => client.processes.signal(process, { signal: word }))

/** A class as a line: how often what happened, and how long it waited and ran. */
const classRow = ({ queue, class: name, counts, waited, took }: ClassCount) => ({
  queue,
  class: name ?? 'all others',
  ...counts,
  ...{ waited: waited && `${waited.p50}–${waited.p95} ms`, took: took && `${took.p50}–${took.p95} ms` },
})
const CLASS_COLUMNS = ['queue', 'class', 'made', 'runs', 'completed', 'failed', 'waited', 'took']

/** A line for each hour in which something happened to a class. */
const hourRows = ({ queue, class: name, hours = [] }: ClassCount) =>
  hours.map(({ at, ...counts }) => ({ at, queue, class: name ?? 'all others', ...counts }))
const HOUR_COLUMNS = ['at', 'queue', 'class', 'made', 'runs', 'completed', 'failed']

/** The counts of classes: today's, or hour by hour. */
async function classCounts(client: Client, byHour: boolean, { show, json }: Io): Promise<void> {
  const { classes, ...rest } = await client.stats.classes(byHour ? { hours: 'true' } : {})
  if (!byHour) return show(classes.map(classRow), CLASS_COLUMNS)
  const rows = classes.flatMap(hourRows).sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
  show(json ? { classes, ...rest } : rows, HOUR_COLUMNS)
}

type ErrorKind = Awaited<ReturnType<Client['errors']['list']>>['errors'][number]

/** A kind of errors as a line, with who has muted it. */
const errorRow = ({ muted, ...kind }: ErrorKind) => ({
  ...kind,
  muted: muted && `by ${muted.by}${muted.until ? ` until ${muted.until}` : ''}`,
})

type ChannelView = Awaited<ReturnType<Client['channels']['list']>>['channels'][number]

/** A channel as a line: when its last message came, and what it was, or how long where it was too long to be kept. */
const channelRow = ({ last, ...channel }: ChannelView) => ({
  ...channel,
  ...(last && { came: last.at, message: 'message' in last ? last.message : `${last.size} bytes` }),
})
const LAST_COLUMNS = ['came', 'rate', 'message']

const scopes = ['read', 'write', 'work', 'admin'] as const
type Scope = (typeof scopes)[number]

export const resources: Record<string, Command> = {
  'queues ls': list('lists the queues with their counts', (client) => client.queues.list(), 'queues', [
    'name',
    'mode',
    'paused',
    'lanes',
    'counts',
    'oldestReady',
  ]),
  'queues pause': act('stops serving a queue', 'queue', (client, queue) =>
    client.queues.patch(queue, { paused: true }),
  ),
  'queues set': act(
    'changes what is given of how a queue is served, and shows how that was',
    'queue',
    async (client, queue, given) =>
      (await client.queues.patch(queue, queuePatchOf(given), { query: { details: true } })).was,
    queueOptions,
  ),
  'queues resume': act('serves a queue again', 'queue', (client, queue) =>
    client.queues.patch(queue, { paused: false }),
  ),
  'processes ls': list('shows who is at work, and how much each has', processesOf, 'processes', [
    'id',
    'kind',
    'queues',
    'live',
    'signal',
    'jobs',
    'seenAt',
  ]),
  'processes quiet': signal('quiet', 'tells a process to take no new jobs'),
  'processes stop': signal('stop', 'tells a process to end when it has done what it has'),
  'processes resume': signal(null, 'tells a process to go on'),
  'limits ls': list('lists the limits with what is in use', (client) => client.limits.list(), 'limits', [
    'key',
    'concurrency',
    'rate',
    'active',
    'waiting',
  ]),
  'limits set': act(
    'sets a limit',
    'key',
    (client, key, given) => client.limits.set(key, settingsOf(given)),
    limitOptions,
  ),
  'limits rm': act('removes a limit', 'key', (client, key) => client.limits.remove(key)),
  'groups ls': list('lists the groups that have jobs', (client) => client.groups.list(), 'groups', [
    'id',
    'concurrency',
    'active',
    'waiting',
    'jobs',
  ]),
  'schedules ls': list('lists the jobs that repeat', (client) => client.schedules.list(), 'schedules', [
    'job',
    'class',
    'status',
    'paused',
    'repeat',
    'next',
  ]),
  'schedules show': act('shows a schedule', 'job', (client, job) => client.schedules.get(job)),
  'schedules add': act(
    'makes a job that repeats',
    'class',
    (client, name, { cron, tz, queue, unique }) =>
      client.schedules.add({
        class: name,
        repeat: { cron: String(cron), ...(tz ? { tz: String(tz) } : {}) },
        ...chosen({ queue, unique }, 'queue', 'unique'),
      }),
    {
      cron: { type: 'string', does: "when: '0 2 * * *'" },
      tz: { type: 'string', does: "the zone of its times: 'Europe/Berlin'" },
      queue: { type: 'string', short: 'q', does: 'its queue' },
      unique: { type: 'string', does: 'a key, so that it is made once' },
    },
  ),
  'schedules pause': act('pauses a schedule', 'job', (client, job) => client.schedules.pause(job)),
  'schedules resume': act('goes on with a schedule', 'job', (client, job) => client.schedules.resume(job)),
  'schedules run': act('runs the job of a schedule now', 'job', (client, job) => client.schedules.run(job)),
  'schedules rm': act('stops repeating', 'job', (client, job) => client.schedules.remove(job)),
  'workers ls': list('lists the job classes and who serves them', (client) => client.workers.list(), 'workers', [
    'queue',
    'class',
    'local',
    'concurrency',
    'description',
  ]),
  'workers change': {
    does: 'merges a JSON merge patch into the definition of a registered class',
    takes: ['queue', 'class', 'patch'],
    async run(client, _, { show }, [queue, name, patch]) {
      show(await client.workers.patch(queue!, name!, jsonOf(patch!, '<patch>') as object))
    },
  },
  'flows graph': graph,
  'errors ls': {
    does: 'shows failed jobs by kinds of errors, the most frequent first',
    options: { muted: { type: 'boolean', does: 'with the kinds that are muted' } },
    async run(client, { muted }, { show, json }) {
      const page = await client.errors.list(muted ? { muted: 'true' } : {})
      show(json ? page : page.errors.map(errorRow), ['error', 'class', 'count', 'lastAt', 'message', 'muted'])
    },
  },
  'errors mute': act(
    'has a kind of errors not told of, which somebody knows of',
    'kind',
    (client, kind, given) => client.errors.patch(kind, { muted: true, ...chosen(given, 'until') }),
    { until: { type: 'string', does: "until when: '2027-01-15T08:00:00Z'; without this until it is unmuted" } },
  ),
  'errors unmute': act('has a kind of errors told of again', 'kind', (client, kind) =>
    client.errors.patch(kind, { muted: false }),
  ),
  'channels ls': {
    does: 'shows who listens to which channel',
    options: {
      last: { type: 'boolean', does: 'with the last message of each, where it is kept, and how many come in a minute' },
    },
    async run(client, { last }, { show, json }) {
      const channels: ChannelView[] = []
      let cursor: string | null | undefined
      while (cursor !== null) {
        const page = await client.channels.list({ ...(last ? { last: 'true' } : {}), ...(cursor ? { cursor } : {}) })
        channels.push(...page.channels)
        cursor = page.cursor
      }
      show(json ? { channels } : channels.map(channelRow), ['name', 'subscribers', ...(last ? LAST_COLUMNS : [])])
    },
  },
  'channels publish': {
    does: 'sends a message to a channel and to all above it',
    takes: ['channel', 'message'],
    options: {
      keep: { type: 'boolean', does: "keeps it as the channel's last message" },
      forget: { type: 'boolean', does: 'forgets what is kept of the channel' },
    },
    async run(client, { keep, forget }, { show }, [channel, text]) {
      const message = jsonOf(text!, '<message>')
      const kept = keep ? { keep: 1 as const } : forget ? { keep: 0 as const } : {}
      show(await client.channels.publish({ channel: channel!, message, ...kept }))
    },
  },
  'callbacks ls': list('lists the callbacks', (client) => client.callbacks.list(), 'callbacks', [
    'job',
    'of',
    'state',
    'attempts',
    'url',
    'lastError',
  ]),
  'files ls': list('lists the stored files', (client) => client.files.list(), 'files', ['id', 'size', 'storedAt']),
  'keys ls': list('lists the API keys', (client) => client.keys.list(), 'keys', ['id', 'name', 'scopes']),
  'keys add': act(
    'makes an API key, and shows it this once',
    'name',
    (client, name, { scope }) => client.keys.add({ name, scopes: String(scope).split(',') as Scope[] }),
    { scope: { type: 'string', default: 'read', does: 'what it may do: read,write,work,admin' } },
  ),
  'keys rm': act('removes an API key', 'id', (client, id) => client.keys.remove(id)),
  ...bulkCommands,
  stats: {
    does: 'shows what has happened, today and ever; with --days, day by day',
    options: {
      days: { type: 'string', does: 'so many days, from today back' },
      classes: { type: 'boolean', does: 'what was counted today by class, how long jobs waited and runs took' },
      hours: { type: 'boolean', does: 'what happened to each class in each hour of today' },
    },
    async run(client, { days, classes, hours }, io) {
      if (classes || hours) return classCounts(client, hours === true, io)
      const { show, json } = io
      const { queues, days: kept, ...found } = await client.stats.show(days ? { days: String(days) } : {})
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
