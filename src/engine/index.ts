// The engine: every verb of engine.ts over the state, the registry, the bells and the dispatcher.

import type { Constraint } from '../core/constraint.ts'
import { SidejobError } from '../core/errors.ts'
import { isId, type Status } from '../core/job.ts'
import { nextSlot, nextTimes, type Repeat } from '../core/repeat.ts'
import type { Changes, Snapshot } from '../core/run.ts'
import { type Wire, wire } from '../core/value.ts'
import type { Worker } from '../core/worker.ts'
import { defineWords, type Settled, type Words, writeWords } from '../redis/changes.ts'
import { type Client, createClient, type RedisOptions } from '../redis/client.ts'
import { type Document, type NewJob, stateOf, statusOf } from '../redis/document.ts'
import { itemText, shownItem } from '../redis/item.ts'
import { createStore, type Lent, type Once, type Ring, type Store } from '../redis/store.ts'
import { type BellOptions, createBells } from './bells.ts'
import { CALLBACKS, callbackView, createCallbacks, type Payload } from './callbacks.ts'
import { createCustody, type Waiter } from './custody.ts'
import { createDispatcher, type LaneOptions } from './dispatcher.ts'
import type {
  Call,
  CallbackState,
  Dir,
  Engine,
  GroupView,
  JobFilter,
  JobPatch,
  LimitView,
  QueueView,
  Result,
  ScheduleView,
  Scope,
} from './engine.ts'
import { groupKey, newJob, overlay, repeatOf } from './intake.ts'
import { createOne, type OneByOne } from './one.ts'
import { createPerformer } from './performer.ts'
import { createRegistry } from './registry.ts'
import { hashOf, newKey, sameHash } from './secrets.ts'
import { LAST, settle } from './settle.ts'
import { portView, snapshotOf, viewOf } from './snapshot.ts'
import { createTags } from './tags.ts'
import { reasonsOf } from './why.ts'

export const VERSION = '0.1.0'

export type EngineOptions = {
  redis: RedisOptions | Client
  qstash: BellOptions
  workers?: readonly Worker[]
  namespace?: string
  /** The key that may do everything, for a deployment's first caller. */
  apiKey?: string
  /** Secrets with which calls to push workers are signed. */
  webhookSecrets?: readonly string[]
  allowHosts?: readonly string[]
  lane?: LaneOptions
  /** 'eager': the invocation that enqueues starts the lane itself. */
  dispatch?: 'bell' | 'eager'
  /** Milliseconds added to every clock. */
  clock?: () => number
  random?: () => number
  fetch?: typeof fetch
  /** Keeps an invocation alive for work that outlasts its answer. */
  defer?: (work: Promise<unknown>) => void
  /** Bodies of callbacks in other forms than the usual one. */
  payloads?: Record<string, Payload>
  isolate?: (lent: Lent) => Promise<Settled | undefined>
}

/** What is not for callers of the API. */
export type Inner = {
  /** Everything that is not as it must be; nothing on a healthy system. */
  verify: () => Promise<{ who: string; what: string }[]>
  /** One run of an isolated worker, in the invocation that this is. */
  performAlone: (lent: Lent) => Promise<Settled | undefined>
} & OneByOne

const DAY = 86_400_000
const MINUTE = 60_000
const MINE = 10 * MINUTE
const CLAIM_LEASE = 60_000
const LISTEN = 60_000
const LOG_PAGE = 1_000
const LOG_PAGES = 10
/** The slot of a schedule that is paused: the last moment there is. */
const NEVER = 8_640_000_000_000_000
/** A waiting claim that nobody calls asks again after so long: it costs less than a command a second. */
const ASK_AGAIN = 15_000

const sideOf = (dir: Dir): 'i' | 'o' => (dir === 'in' ? 'i' : 'o')
const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    const stop = () => {
      clearTimeout(timer)
      resolve()
    }
    signal?.addEventListener('abort', stop, { once: true })
  })

/** The key of a call: the caller's, for a day; else one of our own, so that our own retries are safe. */
const onceOf = (call: Call | undefined, period = MINE): Once =>
  call?.key
    ? { key: call.key, period: DAY, fingerprint: call.fingerprint ?? '' }
    : { key: `own:${crypto.randomUUID()}`, period }

/** Names are globs of `*` and `?`: a bracket is a bracket. */
const literalSets = (name: string): string => name.replaceAll('[', '[[]')

const stepOf = ([id, status]: string[]): { id: number; status: Status } => ({
  id: Number(id),
  status: status as Status,
})

const callbackStatuses: Record<CallbackState, Status> = {
  PENDING: 'queued',
  IN_PROGRESS: 'running',
  DELIVERED: 'completed',
  FAILED: 'failed',
}

/**
 * Everything sidejob can do, over one Redis and one QStash.
 *
 * @example const engine = createEngine({ redis: { url, token }, qstash: { token, publicUrl }, workers: [zip] })
 */
export function createEngine(options: EngineOptions): Engine & Inner {
  const { clock = () => 0, random = Math.random, workers = [], defer } = options
  const now = () => Date.now() + clock()
  const client = 'evaluate' in options.redis ? options.redis : createClient(options.redis)
  const store = createStore({ client, namespace: options.namespace, clock })
  const registry = createRegistry(store, workers)
  const bells = createBells(options.qstash)
  const outgoing = {
    fetch: options.fetch ?? ((...args: Parameters<typeof fetch>) => fetch(...args)),
    secrets: options.webhookSecrets ?? [],
    allowHosts: options.allowHosts ?? [],
    now,
  }
  const callbacks = createCallbacks({ ...outgoing, store, registry, random, payloads: options.payloads })
  registry.serve(CALLBACKS, callbacks.perform)
  const performer = createPerformer({ store, registry, random, now, ring, isolate: options.isolate, push: outgoing })
  const tags = createTags(store, registry)
  const dispatcher = createDispatcher({ store, performer, tags, ring, now, lane: options.lane })

  /** Bells that could not be published are taken back: the tick rings again. */
  async function publish(rings: Ring[]): Promise<void> {
    const failed = await bells.ring(rings)
    if (failed.length === 0) return
    const words = failed.map(({ queue, bell }) => ['unring', queue, bell])
    await store.change('', words).catch(() => undefined)
  }

  async function ring(rings: Ring[]): Promise<void> {
    if (options.dispatch !== 'eager' || !defer) return publish(rings)
    const later = rings.filter(({ at }) => at !== undefined)
    for (const { queue, bell, at } of rings) if (at === undefined) defer(dispatcher.dispatch(queue, bell))
    await publish(later)
  }

  // A flag, not a promise: an invocation must not wait for another's requests.
  let announced = false
  async function announce(): Promise<void> {
    if (announced) return
    await registry.announce()
    announced = true
  }

  /** One job's verbs: asked, rung for, answered. */
  async function change(job: string, ops: Words[], call?: Call, period?: number): Promise<string[]> {
    const { answer, rings } = await store.change(job, ops, onceOf(call, period))
    await ring(rings)
    return answer
  }

  const portOf = (dir: Dir, port: string): { in: string } | { out: string } =>
    dir === 'in' ? { in: port } : { out: port }

  async function view(job: string) {
    const { id, document, children, callback } = await store.inspect(job)
    return viewOf(id, document, children, callback)
  }

  const listModes = ({ queue, status, parent, alias }: JobFilter) => {
    if (alias !== undefined) return { mode: 'alias', name: alias } as const
    if (parent !== undefined) return { mode: 'children', name: parent } as const
    if (status !== undefined && queue !== undefined) return { mode: 'status', name: queue } as const
    return { mode: 'all', name: queue ?? '' } as const
  }

  /** Whose document a commit by token needs: failures count up, repeats move on, refusals may be retried. */
  const needsDocument = (token: string, { end, ops }: Changes): boolean =>
    end === 'failed' || (ops?.length ?? 0) > 0 || token.split('.')[2]!.startsWith('r')

  /** The job of a token as it is now; what is known without it, when it has gone. */
  async function documentOf(token: string, changes: Changes): Promise<Document> {
    const known = { tk: token, kr: '1' }
    if (!needsDocument(token, changes)) return known
    const found = await store.inspect(token.split('.', 1)[0]!).catch((error) => {
      if (error instanceof SidejobError && error.code === 'NOT_FOUND') return undefined
      throw error
    })
    return { ...(found?.document ?? known), tk: token }
  }

  async function settleRemote(token: string, changes: Changes): Promise<Settled> {
    const document = await documentOf(token, changes)
    const found = document.q ? await registry.find(document.q, document.c!) : undefined
    return settle(token, changes, { document, retry: found?.definition.retry, registry, random, now: now() })
  }

  /** A token as a claim gives it; what cannot be one was never given. */
  function checkToken(token: string): void {
    if (!/^[1-9]\d*\.\d+\.\w+$/.test(token)) throw lost()
  }

  const lost = () =>
    new SidejobError('LOST', 'the lease of this run has ended or was never given: nothing of it has been kept')

  function checkAnswer(answer: string): void {
    if (answer === 'lost') throw lost()
    if (answer === 'conflict')
      throw new SidejobError('CONFLICT', 'somebody else read from a port that this run read: it is queued again')
    const refused = /^refused:([A-Z_]+) ([\s\S]*)$/.exec(answer)
    if (refused) throw new SidejobError('REFUSED', `${refused[1]}: ${refused[2]}; the run has failed`)
  }

  async function commitToken(settled: Settled): Promise<{ answer: string; lent: Lent[] }> {
    const { answers, lent, rings } = await store.commit({ queue: '', runs: [settled] })
    await ring(rings)
    checkAnswer(answers[0]!)
    return { answer: answers[0]!, lent }
  }

  const snapshots = (queue: string, lent: Lent[]) =>
    Promise.all(
      lent.map(async (one) => {
        const found = await registry.find(queue, one.document.c!)
        return snapshotOf(one, found ? performer.timeoutOf(found) : 30_000)
      }),
    )

  /** Stands in line for work, and asks again when called, and now and then besides, until the time is over. */
  async function waiting<T>(claim: (waiter?: Waiter) => Promise<T[]>, end: number, signal?: AbortSignal): Promise<T[]> {
    const over = AbortSignal.any([AbortSignal.timeout(Math.max(0, end - now())), ...(signal ? [signal] : [])])
    const id = crypto.randomUUID().replaceAll('-', '')
    const calls = client.listen(store.keys.calls(id), over)[Symbol.asyncIterator]()
    const next = () =>
      calls.next().then(
        () => true,
        () => false,
      )
    const quiet = async (call: Promise<boolean>) => {
      for (let ms = 0; ms < ASK_AGAIN && now() < end && !over.aborted; ms += 500)
        if (await Promise.race([call, pause(500, over).then(() => false)])) return
    }
    await quiet(next())
    try {
      for (;;) {
        const call = next()
        const left = end - now()
        const found = await claim(left > 0 && !over.aborted ? { id, wait: left } : undefined)
        if (found.length || left <= 0 || over.aborted) return found
        await quiet(call)
      }
    } finally {
      calls.return?.(undefined).catch(() => undefined)
    }
  }

  const keyCache = new Map<string, { at: number; known: { name: string; scopes: Scope[] } | undefined }>()
  let ownHash: string | undefined

  async function patch(
    job: string,
    { args, priority, retry, timeout, unique, repeat, runAt, group }: JobPatch,
    call?: Call,
  ) {
    if (unique !== undefined)
      throw new SidejobError('BAD_REQUEST', 'unique is fixed when the job is made', { path: ['unique'] })
    const fields: [string, string][] = []
    if (args !== undefined) fields.push(['a', args])
    if (priority !== undefined) fields.push(['p', priority === 0 ? '' : String(priority)])
    if (retry !== undefined) fields.push(['rt', wire(retry)])
    if (timeout !== undefined) fields.push(['to', String(timeout)])
    if (runAt !== undefined) fields.push(['w', runAt === null ? '' : String(runAt)])
    if (repeat !== undefined) {
      const next = repeat === null ? {} : repeatOf(repeat, now())
      fields.push(['rp', next.repeat ?? ''], ['ns', next.slot === undefined ? '' : String(next.slot)])
    }
    if (group) await regroup(job, group)
    await change(job, [['patch', String(fields.length), ...fields.flat()]], call)
    return view(job)
  }

  async function schedule(job: string): Promise<ScheduleView> {
    const { id, document } = await store.inspect(job)
    if (!document.rp) throw new SidejobError('NOT_FOUND', `job ${id} does not repeat`)
    return scheduleOf(id, document)
  }

  async function limitOf(key: string): Promise<LimitView> {
    const [row] = await store.limits(key)
    if (!row) throw new SidejobError('NOT_FOUND', `there is no limit ${key}`)
    return limitView(row)
  }

  async function groupOf(id: string): Promise<GroupView> {
    const [row] = await store.limits(groupKey(id))
    if (!row) throw new SidejobError('NOT_FOUND', `there is no group ${id}: it has no jobs left, or never had`)
    return groupView(row)
  }

  /** Makes jobs by the constraints that we know; once more when those are not the newest. */
  async function enqueueTagged(jobs: NewJob[], once: Once) {
    for (let tries = 1; ; tries++) {
      const answer = await store.enqueue(tags.version ? jobs.map(tags.tag) : jobs, once, tags.version)
      if (answer.stale === undefined) return answer
      if (tries === 5)
        throw new SidejobError('UNAVAILABLE', 'the constraints keep changing: try again', { retryAfter: 1 })
      tags.learn(answer.stale)
    }
  }

  /** Moves a job to another group: its limits are worked out anew. */
  async function regroup(job: string, group: { id: string; concurrency?: number }): Promise<void> {
    const { id, document } = await store.inspect(job)
    await change('', [await tags.tagWords(id, document, group)])
  }

  const constraintView = (name: string, one: Constraint) => ({ name, ...one })

  async function constraintOf(name: string) {
    const found = (await tags.list()).find(([one]) => one === name)
    if (!found) throw new SidejobError('NOT_FOUND', `there is no constraint ${name}`)
    return constraintView(...found)
  }

  async function putConstraint(name: string, definition: Constraint | null): Promise<void> {
    const { text, rings } = await store.constraint(name, definition && JSON.stringify(definition))
    tags.learn(text)
    await ring(rings)
  }

  async function queueViews(name?: string): Promise<QueueView[]> {
    const { queues } = await store.overview(name)
    return queues.map((row) => ({
      name: row.name,
      paused: row.settings.paused === true,
      mode: row.settings.m === 'pull' ? 'pull' : 'push',
      lanes: row.lanes,
      maxLanes: row.settings.ml ?? 4,
      batch: row.settings.b ?? 100,
      counts: {
        queued: row.ready + row.pull + row.timers,
        scheduled: row.timers,
        running: row.leases,
        terminating: 0,
        suspended: row.suspended,
        completed: row.completed,
        failed: row.failed,
        terminated: row.terminated,
      },
      oldestReady: row.oldest,
    }))
  }

  return {
    async health() {
      const redis = await store.ping().then(
        () => true,
        () => false,
      )
      return { ok: redis, redis, version: VERSION }
    },

    async enqueue(inputs, call) {
      const at = now()
      const find = await registry.finder(inputs)
      const jobs = inputs.map((input) => newJob(find(input), input, at, outgoing.allowHosts))
      const { made, again, rings } = await enqueueTagged(jobs, onceOf(call))
      await ring(rings)
      return { jobs: made, existing: again }
    },

    get: view,

    async list(filter) {
      const { jobs, cursor } = await store.list({
        ...listModes(filter),
        status: filter.status,
        class: filter.class,
        before: filter.cursor,
        limit: filter.limit ?? 50,
      })
      return { jobs: jobs.map(({ id, document, callback }) => viewOf(id, document, [], callback)), cursor }
    },

    patch,

    async remove(job, { force = false }, call) {
      const [word] = await change(job, [['delete', '', force ? '1' : '']], call)
      return word as 'gone' | 'ending'
    },

    async run(job, { force, at, wait, parent }, call) {
      await announce()
      const text = (n?: number) => (n === undefined ? '' : String(n))
      const answer = await change(job, [['run', '', force ? '1' : '', text(at), text(wait), parent ? '1' : '']], call)
      return { ...stepOf(answer), ...(answer[2] ? {} : { ran: false as const }) }
    },

    async terminate(job, { recursive }, call) {
      const words = ['terminate', '', recursive ? '1' : '']
      let answer = await change(job, [words], call)
      while (answer[2] === 'more') answer = await change(job, [words])
      return stepOf(answer)
    },

    async retry(job, call) {
      return stepOf(await change(job, [['retry', '']], call))
    },

    async cancel(job, call) {
      return stepOf(await change(job, [['cancel', '']], call))
    },

    async callbacks({ state, limit = 50, cursor }) {
      const { queue, class: name } = CALLBACKS
      const status = state && callbackStatuses[state]
      const mode = status ? ({ mode: 'status', status } as const) : ({ mode: 'all' } as const)
      const page = await store.list({ ...mode, name: queue, class: name, before: cursor, limit })
      return { callbacks: page.jobs.map(({ id, document }) => callbackView(id, document)), cursor: page.cursor }
    },

    async resend(job, call) {
      return stepOf(await change(job, [['resend', '']], call))
    },

    async state(job) {
      return stateOf((await store.inspect(job)).document)
    },

    async setState(job, { set = {}, unset = [] }, call) {
      const ops = [
        ...Object.entries(set).map(([field, value]) => ['set', field, value]),
        ...unset.map((field) => ['unset', field]),
      ]
      await change(job, ops, call)
      return stateOf((await store.inspect(job)).document)
    },

    async result(job, { wait = 0, peek = false }, call) {
      const until = now() + wait
      for (;;) {
        const [text] = await change('', [['result', job, peek ? '1' : '']], call, MINUTE)
        if (text) return { ended: true, result: resultOf(text) }
        const { document } = await store.inspect(job)
        const status = statusOf(document)
        if (status === 'completed' || status === 'failed' || status === 'terminated')
          return { ended: true, result: null }
        if (now() >= until) return { ended: false, status }
        await pause(Math.min(250, until - now()))
      }
    },

    async wasMade(id) {
      return isId(id) && Number(id) <= (await store.lastId())
    },

    async why(job) {
      const inspection = await store.inspect(job)
      return { running: inspection.document.z === 'l', reasons: reasonsOf(inspection) }
    },

    async runs(job) {
      const { document } = await store.inspect(job)
      if (!document.lr) return { runs: [] }
      const [startedAt, endedAt, outcome, attempt] = document.lr.split(',')
      return {
        runs: [{ startedAt: Number(startedAt), endedAt: Number(endedAt), outcome: outcome!, attempt: Number(attempt) }],
      }
    },

    async tree(job) {
      const { members } = await store.tree(job)
      const nodes = new Map(
        members.map(({ id, class: name, status }) => [
          id,
          { id, class: name, status, children: {} as Record<string, unknown> },
        ]),
      )
      for (const { id, parent, name } of members) if (parent !== null) nodes.get(parent)!.children[name] = nodes.get(id)
      return nodes.get(members[0]!.id)!
    },

    async adopt(job, child, call) {
      await change(job, [['adopt', child.job, child.name]], call)
    },
    async disown(job, { name }, call) {
      await change(job, [['disown', name]], call)
    },
    async alias(job, alias, act, call) {
      await change(job, [[act === 'add' ? 'alias' : 'unalias', alias]], call)
    },

    async lock(job, { ttl }, call) {
      // The token follows from the call's key, so that a repeated call gets the token that holds.
      const token = call?.key ? (await hashOf(call.key)).slice(0, 32) : crypto.randomUUID().replaceAll('-', '')
      await change(job, [['lock', String(ttl), token]], call)
      return { token }
    },
    async refresh(job, { token, ttl }) {
      await change(job, [['refresh', token, String(ttl)]])
    },
    async unlock(job, { token }) {
      await change(job, [['unlock', token]])
    },

    async ports(job, specs, call) {
      const { document } = await store.inspect(job)
      const found = await registry.find(document.q!, document.c!)
      const ops: Words[] = []
      if (specs.in) ops.push(defineWords('i', overlay(found?.in, specs.in)))
      if (specs.out) ops.push(defineWords('o', overlay(found?.out, specs.out)))
      await change(job, ops, call)
      return view(job)
    },

    async look(job, dir, port, limit = 100) {
      const { document, items } = await store.inspect(job, { dir: sideOf(dir), port, limit })
      const [pushed, taken] = document[`${sideOf(dir)}:${port}`]!.split(',').map(Number) as [number, number]
      return { ...portView(document, sideOf(dir), port, pushed, taken), values: items.map(shownItem) }
    },

    async write(job, dir, port, values, writing = {}, call) {
      const [size] = await change(job, [writeWords(portOf(dir, port), { ...writing, values })], call)
      return { size: Number(size) }
    },

    async take(job, dir, port, { max = 1 }, call) {
      const [isDefault, ...items] = await change(job, [['take', '', sideOf(dir), port, String(max)]], call, MINUTE)
      return { values: items.map((item) => ({ ...shownItem(item), ...(isDefault ? { default: true as const } : {}) })) }
    },

    async setDefault(job, dir, port, value, call) {
      const words = value === undefined ? ['0', ''] : ['1', itemText({ data: value })]
      await change(job, [['default', '', sideOf(dir), port, ...words]], call)
    },

    async setChannels(job, dir, port, channels, call) {
      await change(job, [['channels', '', sideOf(dir), port, String(channels.length), ...channels]], call)
    },

    async connect(job, dir, port, to, call) {
      const targets = to.flatMap((target) =>
        'in' in target ? [target.job, 'i', target.in] : [target.job, 'o', target.out],
      )
      const [moved] = await change(job, [['connect', '', sideOf(dir), port, String(to.length), ...targets]], call)
      return { moved: Number(moved) }
    },

    async publish(channel, message, call) {
      const [subscribers] = await change('', [['publish', channel, itemText({ data: message, channel })]], call)
      return { subscribers: Number(subscribers) }
    },

    async channels() {
      const names = Object.keys(await store.channels()).sort()
      const lists = await Promise.all(names.map((name) => store.subscribers(name)))
      return {
        channels: names.map((name, i) => ({
          name,
          subscribers: lists[i]!.map((member) => {
            const [job, port] = member.split(':') as [string, string]
            return { job: Number(job), port }
          }),
        })),
      }
    },

    async *subscribe(channel, signal) {
      const renew = () => store.change('', [['listen', String(LISTEN)]])
      await renew()
      const timer = setInterval(() => renew().catch(() => undefined), LISTEN / 2)
      try {
        for await (const text of client.listen(store.keys.live(channel), signal)) {
          if (text === '') continue
          const end = text.indexOf('\t')
          yield { channel: text.slice(0, end), message: text.slice(end + 1) as Wire }
        }
      } finally {
        clearInterval(timer)
      }
    },

    async log(entry, call) {
      await change('', [['log', 'info', entry]], call)
    },

    async readLog({ job, level, cursor, limit = 100 }) {
      const id = job === undefined ? undefined : (await store.inspect(job)).id
      const isWanted = (row: LogRow) =>
        (id === undefined || row.job === id) && (level === undefined || row.level === level)
      const entries: LogRow[] = []
      // What a filter lets through may be far back: several pages are looked at before the caller is asked to go on.
      for (let page = 0, before = cursor; page < LOG_PAGES; page++) {
        const rows = logRows(await store.readLog(before ? `(${before}` : '+', LOG_PAGE))
        for (const row of rows) {
          if (isWanted(row)) entries.push(row)
          before = row.id
          if (entries.length === limit) return { entries, cursor: row.id }
        }
        if (rows.length < LOG_PAGE) return { entries, cursor: null }
        cursor = before
      }
      return { entries, cursor: cursor! }
    },

    async workers() {
      await announce()
      const queues = new Set([...(await store.queueNames()), ...workers.map(({ queue = 'default' }) => queue)])
      const lists = await Promise.all(
        [...queues].sort().map(async (queue) => [queue, await registry.list(queue)] as const),
      )
      return {
        workers: lists.flatMap(([queue, classes]) =>
          [...classes].map(([name, { definition }]) => ({ queue, class: name, ...definition })),
        ),
      }
    },
    async register(queue, name, definition) {
      const { rings } = await registry.put(queue, name, definition)
      await ring(rings)
      return definition
    },
    async unregister(queue, name) {
      await registry.remove(queue, name)
    },

    async queues() {
      return { queues: await queueViews() }
    },
    async setQueue(queue, patch) {
      await ring(await store.settings(queue, patch))
      return (await queueViews(queue))[0]!
    },
    async limits() {
      return { limits: (await store.limits()).filter(({ key }) => !isGroup(key)).map(limitView) }
    },
    limit: limitOf,
    async setLimit(key, settings) {
      await ring(await store.limit(key, 'set', settings))
      return limitOf(key)
    },
    async removeLimit(key) {
      await ring(await store.limit(key, 'remove'))
    },
    async constraints() {
      return { constraints: (await tags.list()).map(([name, one]) => constraintView(name, one)) }
    },
    constraint: constraintOf,
    async setConstraint(name, definition) {
      await putConstraint(name, definition)
      return constraintOf(name)
    },
    removeConstraint: (name) => putConstraint(name, null),
    async schedules({ limit = 50, cursor }) {
      const page = await store.list({ mode: 'repeats', name: '', before: cursor, limit })
      return { schedules: page.jobs.map(({ id, document }) => scheduleOf(id, document)), cursor: page.cursor }
    },
    schedule,
    async patchSchedule(job, changes, call) {
      await patch(job, changes, call)
      return schedule(job)
    },
    async endSchedule(job, call) {
      await schedule(job)
      await patch(job, { repeat: null }, call)
    },
    async pauseSchedule(job, call) {
      await schedule(job)
      await change(job, [['patch', '2', 'ns', String(NEVER), 'rz', '1']], call)
      return schedule(job)
    },
    async resumeSchedule(job, call) {
      const { repeat } = await schedule(job)
      const at = now()
      const next = nextSlot(JSON.parse(repeat) as Repeat, { scheduled: at, started: at, finished: at }, at)
      await change(job, [['patch', '2', 'ns', String(next), 'rz', '']], call)
      return schedule(job)
    },
    async groups() {
      return { groups: (await store.limits()).filter(({ key }) => isGroup(key)).map(groupView) }
    },
    group: groupOf,
    async setGroup(id, settings) {
      await ring(await store.limit(groupKey(id), 'change', settings))
      return groupOf(id)
    },
    flag: (name) => store.flag(name),
    setFlag: (name, on) => store.setFlag(name, on),

    async stats() {
      const { queues } = await store.overview()
      const views = await queueViews()
      return { queues: views, today: Object.fromEntries(queues.map(({ name, settings }) => [name, settings.c ?? {}])) }
    },

    async claim(queue, { names = [], max = 1, wait = 0, lease = CLAIM_LEASE }, call) {
      const end = now() + wait
      await announce()
      const lane = call?.key ? (await hashOf(call.key)).slice(0, 32) : undefined
      const claim = async (waiter?: Waiter): Promise<Snapshot[]> => {
        const answer = await store.commit({
          queue,
          lane: { id: lane ?? crypto.randomUUID().replaceAll('-', ''), seq: 1 },
          claim: { max, lease, begun: max, pull: true, patterns: names.map(literalSets), waiter },
        })
        await ring([...answer.rings, ...(await tags.retag(answer))])
        // What was tagged by older constraints is tagged anew by now.
        if (answer.lent.length === 0 && answer.stale.length) return claim(waiter)
        return snapshots(queue, answer.lent)
      }
      const first = await claim()
      return first.length || wait === 0 ? first : waiting(claim, end, call?.signal)
    },

    async commit(token, changes) {
      checkToken(token)
      const { answer, lent } = await commitToken(await settleRemote(token, changes))
      if (changes.end !== 'checkpoint' || !lent[0]) return { status: answer as Status }
      const [snapshot] = await snapshots(lent[0].document.q!, lent)
      return { status: answer as Status, snapshot }
    },

    async heartbeat(token, { progress }) {
      checkToken(token)
      const [leaseUntil] = await store.extend('', [token], CLAIM_LEASE, { progress })
      if (leaseUntil === null || leaseUntil === undefined) throw lost()
      return { leaseUntil }
    },

    async release(token) {
      checkToken(token)
      const { answer } = await commitToken({ token, n: LAST, end: 'released', words: [] })
      return { status: answer as Status }
    },

    async page(token, port, after) {
      checkToken(token)
      const id = token.split('.', 1)[0]!
      const { document } = await store.inspect(id)
      if (document.tk !== token) throw lost()
      return performer.page(Number(id), port, after)
    },

    dispatch: (queue, bell) => dispatcher.dispatch(queue, bell),
    performAlone: (lent) => performer.run(lent, { alone: true }),
    ...createOne({ store, performer, ring }),
    ...createCustody({ store, registry, ring, change, retag: (answer) => tags.retag(answer), waiting, now, random }),

    async tick() {
      await announce()
      const rung: string[] = []
      for (let round = 0; round < 20; round++) {
        const { rings, more } = await store.tick()
        await publish(rings)
        rung.push(...rings.map(({ queue }) => queue))
        if (!more) return { rung, more: false }
      }
      return { rung, more: true }
    },

    async verify() {
      const faults: { who: string; what: string }[] = []
      for (let from: number | null = 1; from !== null; ) {
        const slice: Awaited<ReturnType<typeof store.verify>> = await store.verify(from)
        faults.push(...slice.faults)
        from = slice.next
      }
      return faults
    },

    async keys() {
      const rows = Object.entries(await store.apiKeys())
      return { keys: rows.map(([id, text]) => ({ id: id.slice(0, 16), ...JSON.parse(text) })) }
    },
    async addKey({ name, scopes }) {
      const key = newKey()
      const hash = await hashOf(key)
      await store.setApiKey(hash, JSON.stringify({ name, scopes, createdAt: now() }))
      return { id: hash.slice(0, 16), key }
    },
    async removeKey(id) {
      const hash = Object.keys(await store.apiKeys()).find((one) => one.startsWith(id))
      if (!hash || id.length !== 16) throw new SidejobError('NOT_FOUND', `there is no API key ${id}`)
      await store.removeApiKey(hash)
      keyCache.delete(hash)
    },
    async authenticate(key) {
      const hash = await hashOf(key)
      if (options.apiKey) {
        ownHash ??= await hashOf(options.apiKey)
        if (sameHash(hash, ownHash)) return { name: 'deployment', scopes: ['admin'] }
      }
      const cached = keyCache.get(hash)
      if (cached && Date.now() - cached.at < 10_000) return cached.known
      const text = await store.apiKey(hash)
      const known = text === null ? undefined : (JSON.parse(text) as { name: string; scopes: Scope[] })
      keyCache.set(hash, { at: Date.now(), known })
      return known
    },
  }
}

const PREVIEW = 5

function scheduleOf(id: number, doc: Document): ScheduleView {
  const repeat = JSON.parse(doc.rp!) as Repeat
  const first = Number(doc.ns)
  const next = doc.rz || !doc.ns ? [] : [first, ...nextTimes(repeat, first, PREVIEW - 1)]
  return {
    job: id,
    queue: doc.q!,
    class: doc.c!,
    status: statusOf(doc),
    repeat: doc.rp as Wire,
    paused: doc.rz !== undefined,
    next,
  }
}

type LimitRow = Awaited<ReturnType<Store['limits']>>[number]

const isGroup = (key: string): boolean => key.startsWith(groupKey(''))

const limitView = ({ key, concurrency, rate, paused, running, waiting }: LimitRow): LimitView => ({
  ...{ key, concurrency, rate, paused, running, waiting },
})

const groupView = ({ key, concurrency, paused, running, waiting, jobs }: LimitRow): GroupView => ({
  id: key.slice(groupKey('').length),
  ...{ concurrency, paused, running, waiting, jobs: jobs ?? 0 },
})

function resultOf(text: string): Result {
  const [type, times, ...rest] = text.split('\n')
  const [finishedAt, saidAt] = times!.split(' ')
  const said = saidAt === undefined ? {} : { saidAt }
  const value = rest.join('\n')
  if (type === 'success') return { type, finishedAt: Number(finishedAt), ...said, result: value as Wire }
  const {
    message = '',
    reason = 'other',
    detail = null,
    retry,
  } = JSON.parse(value) as {
    message?: string
    reason?: 'other' | 'timeout'
    detail?: unknown
    retry?: false
  }
  return {
    type: 'failure',
    finishedAt: Number(finishedAt),
    ...said,
    reason,
    message,
    error: detail === null ? null : wire(detail),
    ...(retry === false ? { retry } : {}),
  }
}

type LogRow = { id: string; at: number; job: number | null; level: string; entry: Wire }

/** Entries of a stream as Redis answers them: their ids, each with its fields and values in one list. */
function logRows(answer: unknown): LogRow[] {
  return (answer as [string, string[]][]).map(([id, flat]) => {
    const { at, job, level, entry } = Object.fromEntries(
      Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i], flat[2 * i + 1]]),
    )
    return { id, at: Number(at), job: job ? Number(job) : null, level: level!, entry: entry as Wire }
  })
}
