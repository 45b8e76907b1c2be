// Helpers that call one script at a time, without the engine. A test can replace scripts by changed scripts.

import { expect } from 'vitest'
import type { Changes } from '../../src/core/run.ts'
import type { Reach, Worker } from '../../src/core/worker.ts'
import { walkFamily } from '../../src/engine/api/bulk.ts'
import { createEngine, type EngineOptions } from '../../src/engine/index.ts'
import { outcomeOf } from '../../src/engine/jobs/outcome.ts'
import { createRegistry } from '../../src/engine/jobs/registry.ts'
import { createRelay } from '../../src/engine/remote/relay.ts'
import { snapshotOf } from '../../src/engine/run/snapshot.ts'
import { defineWorker } from '../../src/index.ts'
import type { RunOutcome } from '../../src/redis/changes.ts'
import { type Client, createClient, type RedisOptions } from '../../src/redis/client.ts'
import { itemOf } from '../../src/redis/item.ts'
import { jobFields } from '../../src/redis/keys.ts'
import type { NewJob } from '../../src/redis/new-job.ts'
import { type JobRecord, statusOf } from '../../src/redis/record.ts'
import type { Script } from '../../src/redis/script.ts'
import { createStore } from '../../src/redis/store.ts'
import type { ClaimedJob, CommitRequest, LaneRequest, Ring } from '../../src/redis/types.ts'

export const encodeRecord = (record: JobRecord): string =>
  JSON.stringify(
    Object.fromEntries(
      Object.entries(record)
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => [
          name in jobFields ? jobFields[name as keyof typeof jobFields][0] : name,
          String(value),
        ]),
    ),
  )

/** `rest` translates the arguments for the script. `answer` translates the result of the script. */
export type Scripts = Map<
  string,
  { text: string; sha: string; rest?: (rest: string[]) => string[]; answer?: (raw: unknown) => unknown }
>

export type Facts = Record<string, (world: World) => Promise<void>>

/** `pull`: pull workers perform the job. */
export type Making = Partial<NewJob> & { pull?: boolean }
export type Claiming = {
  queue?: string
  pull?: boolean
  max?: number
  lease?: number
  begun?: number
  names?: string[]
  only?: number
  process?: string
}

/** `in pieces` stores jobs packed, several in one record (lib/runtime/pieces.lua), if possible. */
export type Way = 'as it comes' | 'in pieces'
export const ways: Way[] = ['as it comes', 'in pieces']

export type Asking = Omit<LaneRequest, 'id' | 'seq'> & {
  max?: number
  wide?: number
  at?: number
  runs?: RunOutcome[]
  version?: string
}

const LEASE = 45_000

const withScripts = (client: Client, scripts: Scripts): Client => ({
  ...client,
  async evaluate(script, keys, args, rest) {
    const other = scripts.get(script.name)
    const words = other?.rest ? other.rest(rest) : rest
    const answer = await client.evaluate({ ...script, ...other } as Script<typeof args>, keys, args, words)
    return other?.answer ? other.answer(answer) : answer
  },
})

const classes = ['plain', 'child'].map((name) => defineWorker({ class: name, queue: 'q', perform: () => undefined }))
const closing = defineWorker({ class: 'closing', queue: 'q', perform: () => undefined, shutdown: () => undefined })
const known = [...classes, closing].flatMap((worker) => [worker, { ...worker, queue: 'other' }]) as Worker[]

export async function createWorld(
  redis: RedisOptions | Client,
  scripts: Scripts = new Map(),
  way: Way = 'as it comes',
  namespace = `${crypto.randomUUID().slice(0, 8)}:`,
) {
  let offset = 0
  const clock = () => offset
  const sound = 'evaluate' in redis ? redis : createClient(redis)
  const client = withScripts(sound, scripts)
  const store = createStore({ client, namespace, clock, ...(way === 'in pieces' ? { packedFrom: 1 } : {}) })
  const now = () => Date.now() + offset
  const registry = createRegistry({ store, workers: known, retry: { max: 0 } })
  await registry.announce()

  async function make({ queue = 'q', class: className = 'plain', pull, ...job }: Making = {}): Promise<number> {
    if (pull) await store.register(queue, [{ name: className, definition: '{"pull":true}', serves: 'pull' }])
    const { made } = await store.enqueue([
      { queue, class: className, known: true, shutdown: className === 'closing', ...job },
    ])
    return made[0]!.id
  }

  const document = async (id: number): Promise<JobRecord> => (await store.inspect(String(id))).document
  const status = async (id: number) => statusOf(await document(id))

  const settled = (claimed: ClaimedJob, changes: Changes, retry: object, reach: Reach = 'all'): Promise<RunOutcome> =>
    outcomeOf(claimed.document.token!, changes, {
      document: claimed.document,
      vault: store.vault,
      retry,
      reach,
      registry,
      random: () => 0,
      now: now(),
    })

  function runOf(claimed: ClaimedJob) {
    const token = claimed.document.token!
    return {
      id: claimed.id,
      claimed,
      token,
      document: claimed.document,
      snapshot: snapshotOf(claimed, 30_000),
      settled: (changes: Partial<Changes>, retry = {}) => settled(claimed, { end: 'completed', ...changes }, retry),
      async commit(changes: Partial<Changes> = {}, retry = {}, reach?: Reach): Promise<string> {
        const one = await settled(claimed, { end: 'completed', ...changes }, retry, reach)
        return (await store.commit({ queue: '', runs: [one] })).answers[0]!
      },
      suspend: (changes: Partial<Changes> = {}) => runOf(claimed).commit({ end: 'suspended', ...changes }),
      fail: (retry = {}, message = 'broken') => runOf(claimed).commit({ end: 'failed', error: { message } }, retry),
      release: async (...words: string[]) => {
        const runs = [{ token, n: 0, end: 'released' as const, words }]
        return (await store.commit({ queue: '', runs })).answers[0]!
      },
      goThrough: async () => (await store.commit({ queue: '', runs: [await walkFamily(claimed)] })).answers[0]!,
      relaying: () => createRelay()(claimed),
      relay: async () => (await store.commit({ queue: '', runs: [await createRelay()(claimed)] })).answers[0]!,
      extend: async (lease = LEASE) => (await store.extend('q', [token], lease))[0] ?? null,
    }
  }

  async function claim({ queue = 'q', pull, max = 100, lease = LEASE, begun = max, names, ...who }: Claiming = {}) {
    const { claimed } = await store.commit({ queue, claim: { max, lease, begun, pull, patterns: names, ...who } })
    return claimed.map(runOf)
  }

  async function claimOne(claiming: Claiming = {}) {
    const runs = await claim(claiming)
    expect(runs.map(({ id }) => id)).toHaveLength(1)
    return runs[0]!
  }

  function lane(id = crypto.randomUUID(), queue = 'q') {
    let seq = 0
    return {
      id,
      async ask(asking: Asking = {}) {
        const { bell = '', heard, leave, max = 100, wide, at = ++seq, waits = 0, warm = 0, runs = [], version } = asking
        const request: CommitRequest = { queue, runs, lane: { id, seq: at, heard, bell, leave, waits, warm }, version }
        if (!leave) request.claim = { max, wide, lease: LEASE, begun: max }
        const answer = await store.commit(request)
        return { ...answer, runs: answer.claimed.map(runOf), ids: answer.claimed.map((one) => one.id) }
      },
    }
  }

  const change = async (id: number | '', ...words: (string | number)[]) =>
    (await store.change(String(id), [words.map(String)])).answer

  const push = (id: number, port: string, ...values: string[]) =>
    change(id, 'write', '', 'i', port, '', values.length, ...values.map((value) => `=${value}`))

  async function values(id: number, dir: 'in' | 'out', port: string): Promise<string[]> {
    return (await store.values(id, dir, port, 0, 1000)).map((item) => itemOf(item).data)
  }

  const queueOf = async (name = 'q') => (await store.overview(name)).queues[0]!

  /** Overwrites a job, as if Redis was restored from a backup. */
  async function restore(id: number, doc: JobRecord): Promise<void> {
    // If the job is packed into a record with other jobs, the repair moves it to its own key.
    const isAlone = await client.ask((redis) => redis.exists(store.keys.job(id)))
    if (!isAlone) await store.repair([{ kind: 'job', who: String(id) }])
    await client.ask((redis) => redis.set(store.keys.job(id), encodeRecord(doc)))
  }

  const queueDocument = async (queue = 'q') =>
    JSON.parse((await client.ask((redis) => redis.get<string>(store.keys.queue(queue))))!)

  async function recount(queue = 'q'): Promise<void> {
    const { at: _, ...record } = await queueDocument(queue)
    const text = JSON.stringify(record)
    await client.ask((redis) => redis.set(store.keys.queue(queue), text))
  }

  /** Finds faults with the unchanged scripts, because a test may have replaced a script. */
  async function faults(): Promise<string[]> {
    const found: string[] = []
    const checked = createStore({ client: sound, namespace, clock })
    for (let from: number | undefined | null; from !== null; ) {
      const slice: Awaited<ReturnType<typeof store.verify>> = await checked.verify(from)
      found.push(...slice.faults.map(({ who, what }) => `${who} ${what}`))
      from = slice.next
    }
    return found
  }

  const engine = (more: Partial<EngineOptions> = {}) =>
    createEngine({
      redis: client,
      // This address is unused, because these tests deliver bells themselves.
      qstash: { url: 'http://127.0.0.1:9', token: 'none', publicUrl: 'http://127.0.0.1:9' },
      namespace,
      clock,
      ...more,
    })

  return {
    way,
    store,
    client,
    namespace,
    now,
    make,
    document,
    status,
    claim,
    claimOne,
    lane,
    change,
    push,
    values,
    queueOf,
    queueDocument,
    restore,
    recount,
    faults,
    engine,
    runOf,
    advance: (ms: number) => {
      offset += ms
    },
    tick: async () => (await store.tick()).rings,
  }
}

export type World = Awaited<ReturnType<typeof createWorld>>
export type Run = Awaited<ReturnType<World['claimOne']>>

export const queuesOf = (rings: Ring[]): string[] => rings.map(({ queue }) => queue).sort()
