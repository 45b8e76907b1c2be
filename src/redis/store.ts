// The state, as a list of verbs: each is one script, one round trip, one atomic step.

import type { Encoded } from '../core/codec/value.ts'
import type { Status } from '../core/job.ts'
import { NAMESPACE } from '../core/tenant.ts'
import { runArguments, type Words } from './changes.ts'
import type { Client } from './client.ts'
import { isolating } from './commits.ts'
import { keysOf } from './keys.ts'
import { jobsArguments, type NewJob } from './new-job.ts'
import { listWords, type Parts, type RawRing, refusalOf, ringsOf } from './parts.ts'
import { decodeRecord, ownInputsOf } from './record.ts'
import * as scripts from './scripts.generated.ts'
import type {
  BreakerSettings,
  BreakerState,
  ClaimedJob,
  CommitAnswer,
  CommitRequest,
  EndedChild,
  Enqueued,
  Fault,
  FaultKind,
  LaneStart,
  Made,
  Near,
  Once,
  QueueRow,
  RawWiring,
  Ring,
  Signal,
} from './types.ts'
import { createCommands } from './verbs/commands.ts'
import { createLimits } from './verbs/limits.ts'
import { createLooks } from './verbs/looks.ts'

type RawHeir = [string, string, string, EndedChild['how'], string, string]
type RawLent = [
  string,
  [string, string[]][]?,
  string[]?,
  string[]?,
  string[]?,
  number?,
  RawHeir[]?,
  RawWiring[]?,
  string?,
  string?,
]

type RawMade = [first: string, status: Status, existing: string, n: string]

const madeOf = (answers: RawMade[]): Made[] =>
  answers.flatMap(([first, status, existing, n]) =>
    existing
      ? [{ id: Number(first), status, existing: true as const }]
      : Array.from({ length: Number(n) }, (_, i) => ({ id: Number(first) + i, status })),
  )

function lentOf([
  text,
  inputs = [],
  side,
  children = [],
  steps = [],
  childCount = 0,
  family = [],
  wires = [],
  more,
  fault,
]: RawLent): ClaimedJob {
  const document = decodeRecord(text, side)
  const id = Number(document.token!.slice(0, document.token!.indexOf('.')))
  const heirs = family.map(heirOf)
  return {
    ...{ id, document, children, steps, family: heirs, wires },
    inputs: { ...ownInputsOf(document), ...Object.fromEntries(inputs) },
    childCount: Number(childCount),
    ...(more ? { moreSteps: true as const } : {}),
    ...(fault
      ? { fault: { code: fault.slice(0, fault.indexOf(' ')), message: fault.slice(fault.indexOf(' ') + 1) } }
      : {}),
  }
}

/** What cannot be read is that job's fault alone. */
function lentOrFault(row: RawLent): ClaimedJob {
  try {
    return lentOf(row)
  } catch (error) {
    const document = decodeRecord(row[0])
    console.error(`sidejob: job ${document.token} cannot be read: ${error}`)
    const fault = { code: 'INTERNAL', message: 'what is kept of this job cannot be read: sidejob doctor says more' }
    const id = Number.parseInt(document.token!, 10)
    return { id, document, inputs: {}, children: [], steps: [], childCount: 0, family: [], wires: [], fault }
  }
}

const heirOf = ([name, id, className, how, args, left]: RawHeir): EndedChild => ({
  ...{ id: Number(id), name, class: className, how },
  args: args === '' ? null : (args as Encoded),
  left: left === '' ? null : (left as Encoded),
})

/** So many characters of a lane's name are in the tokens of its runs. */
export const LANE_MARK = 6

const randomText = (): string => crypto.randomUUID().replaceAll('-', '').slice(0, 12)

export type StoreOptions = {
  client: Client
  namespace?: string
  /** Milliseconds added to Redis's clock: tests of long times. */
  clock?: () => number
  random?: () => string
}

/** Jobs of one look at a time: so that none holds Redis for more than some milliseconds. */
const VERIFIED_AT_ONCE = 50
const PHASES = 10
const FIRST_POSITION = PHASES

/**
 * The verbs of the state.
 *
 * @example
 * const store = createStore({ client })
 * const { made, rings } = await store.enqueue([{ queue: 'core', class: 'zip', known: true }])
 */
export function createStore({ client, namespace = NAMESPACE, clock = () => 0, random = randomText }: StoreOptions) {
  const keys = keysOf(namespace)
  const { evaluate } = client

  const base = () => {
    const offset = clock()
    return { ns: namespace, clock: offset ? String(offset) : '', seed: random() }
  }
  /** Whose lane a run is in shows in its token. */
  const markedBy = (lane: string) => ({ seed: `${lane.slice(0, LANE_MARK)}${random().slice(-LANE_MARK)}` })
  const parts: Parts = { client, keys, base }
  const onceArgs = (once?: Once) => ({
    once: once ? keys.once(once.key) : '',
    once_for: once ? String(once.period) : '',
    fingerprint: once?.fingerprint ?? '',
  })
  const laneArgs = (lane?: LaneStart) => ({
    lane: lane?.id ?? '',
    batch: lane?.max ?? 0,
    lease: lane?.lease ?? 0,
    begun: lane?.begun ?? 0,
  })
  // The highest id that we were told of: when Redis has given none as high, it has gone back to older data.
  let seen = 0
  const sees = (ids: readonly { id: number }[]): void => {
    for (const { id } of ids) if (id > seen) seen = id
  }
  const onceKeys = (once?: Once): string[] => (once ? [keys.once(once.key)] : [])

  /** Makes jobs, all or none. `again` when the same key had made them before; `lent` what a lane may begin with. */
  async function enqueue(jobs: NewJob[], once?: Once, tagged = '', lane?: LaneStart): Promise<Enqueued> {
    const [queues, limits] = [new Set<string>(), new Set<string>()]
    for (const job of jobs) {
      queues.add(job.queue)
      for (const { key } of job.limits ?? []) limits.add(key)
    }
    const [word, ...rest] = (await evaluate(
      scripts.enqueue,
      [
        ...onceKeys(once),
        ...(lane ? [keys.lane(lane.id)] : []),
        ...[...queues].map(keys.queue),
        ...[...limits].map(keys.limit),
        keys.lastId,
        keys.hints,
        keys.schema,
      ],
      { ...base(), ...onceArgs(once), tagged, ...laneArgs(lane), ...(lane ? markedBy(lane.id) : {}), seen },
      jobsArguments(jobs),
    )) as [string, ...never[]]
    if (word === 'stale') return { made: [], again: false, rings: [], lent: [], stale: rest[0]! }
    if (word === 'refused') {
      const [code, message, which, member] = rest as string[]
      const path = [...(which && jobs.length > 1 ? [Number(which)] : []), ...(member ? [member] : [])]
      throw refusalOf(code!, message!, path.length ? path : undefined)
    }
    const made = madeOf(rest[0] as unknown as RawMade[])
    sees(made.slice(-1))
    return {
      made,
      again: word === 'again',
      rings: ringsOf(rest[1] as unknown as RawRing[]),
      lent: (rest[2] as unknown as RawLent[]).map(lentOf),
    }
  }

  /** Applies runs and lends the next ones; see lib/run/finish.lua and lib/run/claim.lua. */
  async function commit({ queue, runs = [], lane, claim }: CommitRequest): Promise<CommitAnswer> {
    const ids = runs.map((run) => keys.job(run.token.split('.', 1)[0]!))
    const known = [
      ...(queue ? [keys.queue(queue)] : []),
      ...(lane ? [keys.lane(lane.id)] : []),
      keys.hints,
      keys.schema,
      ...ids,
    ]
    const { patterns = [], tags = [] } = claim ?? {}
    const [word, answers, lent, rings, nextDue, stale = [], version = '', failed, seen, faults = [], told] =
      (await evaluate(
        scripts.commit,
        known,
        {
          ...base(),
          ...(lane && !claim?.pull ? markedBy(lane.id) : {}),
          queue_name: queue,
          lane: lane?.id ?? '',
          seq: lane?.seq ?? 0,
          bell: lane?.bell ?? '',
          place: claim?.pull ? 'p' : '',
          max: claim?.max ?? 0,
          lease: claim?.lease ?? 0,
          begun: claim?.begun ?? 0,
          leave: lane?.leave ? '1' : '',
          waits: lane?.waits ?? 0,
          waiter: claim?.waiter?.id ?? '',
          wait: claim?.waiter?.wait ?? 0,
          only: claim?.only === undefined ? '' : String(claim.only),
          tier: claim?.priority === undefined ? '' : String(claim.priority),
          skip: claim?.skip ?? 0,
          calls: claim?.calls ?? -1,
          process: claim?.process ?? '',
        },
        [...listWords(patterns), ...listWords(tags), String(runs.length), ...runs.flatMap(runArguments)],
      )) as [
        CommitAnswer['word'],
        string[],
        RawLent[],
        RawRing[],
        string,
        [string, string, string[]][]?,
        string?,
        string?,
        string?,
        [job: string, what: string][]?,
        string?,
      ]
    for (const [job, what] of faults) console.error(`sidejob: job ${job} met a fault in Redis: ${what}`)
    const claimed = lent.map(lentOrFault)
    sees(claimed)
    return {
      word,
      answers,
      lent: claimed,
      rings: ringsOf(rings),
      ...(nextDue ? { nextDue: Number(nextDue.split(' ')[0]), dueIn: Number(nextDue.split(' ')[1]) } : {}),
      stale: stale.map(([id, text, side]) => ({
        id: Number(id),
        document: decodeRecord(text, side),
      })),
      version,
      failed: Number(failed ?? 0),
      ...(seen ? { seen: Number(seen) } : {}),
      ...(told ? { signal: told as Signal } : {}),
    }
  }

  /** One job's verbs, or a channel's; all or none. `near`: who is likely to hear of it, read beforehand. */
  async function change(
    job: string,
    ops: Words[],
    once?: Once,
    { queues = [], jobs = [] }: Near = {},
  ): Promise<{ answer: string[]; rings: Ring[]; id: string; again: boolean; heard: string[] }> {
    const [word, ...rest] = (await evaluate(
      scripts.change,
      [...onceKeys(once), keys.hints, keys.schema, ...queues.map(keys.queue), ...jobs.map(keys.job)],
      { ...base(), ...onceArgs(once), job },
      [String(ops.length), ...ops.flat()],
    )) as [string, ...never[]]
    if (word === 'refused') {
      const [code, message] = rest as string[]
      throw refusalOf(code!, message!)
    }
    if (word === 'again') return { answer: rest[0]!, rings: [], id: '', again: true, heard: [] }
    const [answer, rings, id, heard] = rest as unknown as [string[], RawRing[], string, string[]]
    return { answer, rings: ringsOf(rings), id: String(id), again: false, heard }
  }

  async function extension(
    queue: string,
    tokens: string[],
    lease: number,
    { lane = '', progress = '', own = false }: { lane?: string; progress?: string; own?: boolean } = {},
  ): Promise<{ ends: (number | null)[]; ending: string[]; signal?: Signal }> {
    const [, ends, told] = (await evaluate(
      scripts.extend,
      [keys.queue(queue), keys.hints, keys.schema, ...tokens.map((token) => keys.job(token.split('.', 1)[0]!))],
      { ...base(), queue_name: queue, lane, lease, progress, own: own ? '1' : '' },
      [String(tokens.length), ...tokens],
    )) as [string, string[], string]
    return {
      ends: ends.map((end) => (end === '' ? null : Number.parseInt(end, 10))),
      ending: tokens.filter((_, i) => ends[i]!.endsWith('!')),
      ...(told ? { signal: told as Signal } : {}),
    }
  }

  /** New lease ends for tokens; null where the lease is lost. `own`: so they are renewed from now on, whoever asks. */
  const extend = async (...given: Parameters<typeof extension>) => (await extension(...given)).ends

  /** Renews the leases of a lane; answers the tokens whose jobs are to end, and those that are lost. */
  async function renew(queue: string, tokens: string[], lease: number, lane: string) {
    const { ends, ending } = await extension(queue, tokens, lease, { lane })
    return { ending, lost: tokens.filter((_, i) => ends[i] === null) }
  }

  /** The same for one run that is alone, with what its process was told. */
  async function heartbeat(token: string, lease: number, progress?: string) {
    const { ends, signal } = await extension('', [token], lease, { progress })
    return { leaseUntil: ends[0] ?? null, ...(signal ? { signal } : {}) }
  }

  /** `announced`: what each deployment has announced last, see announcement.ts. */
  async function tick(limit = 100): Promise<{ rings: Ring[]; more: boolean; announced: string[] }> {
    const [, rings, more, announced] = (await evaluate(scripts.tick, [keys.wake], { ...base(), most: limit }, [])) as [
      string,
      RawRing[],
      string,
      string[],
    ]
    return { rings: ringsOf(rings), more: more === 'more', announced }
  }

  async function overview(queue = ''): Promise<{ queues: QueueRow[]; now: number }> {
    const [, rows, now] = (await evaluate(scripts.overview, [], { ...base(), queue_name: queue }, [])) as [
      string,
      string[][],
      string,
    ]
    const queues = rows.map(([name, text, ...numbers]) => {
      const [lanes, ready, pull, timers, leases, suspended, completed, failed, terminated] = numbers.map(Number)
      const oldest = numbers[9] ? Math.floor(Number.parseInt(numbers[9].slice(0, 13), 16) / 1000) : null
      return {
        name: name!,
        settings: JSON.parse(text!) as QueueRow['settings'],
        ...{ lanes, ready, pull, timers, leases, suspended, completed, failed, terminated },
        oldest,
      } as QueueRow
    })
    return { queues, now: Number(now) }
  }

  type QueuePatch = {
    lanes?: number
    batch?: number
    paused?: boolean
    mode?: 'push' | 'pull'
    /** In milliseconds; null: none. */
    ageing?: number | null
  }

  async function settings(
    queue: string,
    { lanes, batch, paused, mode, ageing }: QueuePatch,
    { unban = false, ban = [] }: { unban?: boolean; ban?: string[] } = {},
  ): Promise<Ring[]> {
    const [, rings] = (await evaluate(
      scripts.settings,
      [keys.queue(queue)],
      {
        ...base(),
        queue_name: queue,
        lanes: lanes === undefined ? '' : String(lanes),
        batch: batch === undefined ? '' : String(batch),
        paused: paused === undefined ? '' : paused ? '1' : '0',
        mode: mode ?? '',
        ageing: ageing === undefined ? '' : String(ageing ?? 0),
        unban: unban ? '1' : '',
      },
      listWords(ban),
    )) as [string, RawRing[]]
    return ringsOf(rings)
  }

  /** Writes definitions (null removes). `whole`: the local classes among them are all there are. */
  async function register(
    queue: string,
    classes: { name: string; definition: string | null; serves: 'pull' | 'call' | 'push'; concurrency?: number }[],
    { whole = false }: { whole?: boolean } = {},
  ): Promise<{ rings: Ring[]; changed: boolean }> {
    const rest = classes.flatMap(({ name, definition, serves, concurrency }) => [
      name,
      definition ?? '',
      serves,
      String(concurrency ?? ''),
    ])
    const [, rings, changed] = (await evaluate(
      scripts.register,
      [keys.queue(queue)],
      { ...base(), queue_name: queue, whole: whole ? '1' : '' },
      [String(classes.length), ...rest],
    )) as [string, RawRing[], string]
    return { rings: ringsOf(rings), changed: changed !== '' }
  }

  /** Looks at a slice of everything; a position is where a phase goes on, with the number of the phase as its last digit. */
  async function verify(position = FIRST_POSITION, size = VERIFIED_AT_ONCE) {
    const args = { ...base(), phase: position % PHASES, from: Math.floor(position / PHASES), size }
    const [, faults, phase, from, seen] = (await evaluate(scripts.verify, [], args, [])) as [
      string,
      [FaultKind, string, string, string][],
      string,
      string,
      string,
    ]
    return {
      faults: faults.map(([kind, who, what, remedy]): Fault => ({ kind, who, what, remedy })),
      next: phase === '' ? null : Number(from) * PHASES + Number(phase),
      seen: Number(seen),
    }
  }

  /** Puts right what was found at jobs, queues, limits, channels and names. */
  async function repair(targets: readonly Pick<Fault, 'kind' | 'who'>[]): Promise<Ring[]> {
    const rest = [String(targets.length), ...targets.flatMap(({ kind, who }) => [kind, who])]
    const [, rings] = (await evaluate(scripts.repair, [], base(), rest)) as [string, RawRing[]]
    return ringsOf(rings)
  }

  /** What is known of a host, and what a call to it has shown. */
  async function breaker(
    host: string,
    word: 'ask' | 'failed' | 'probe failed' | 'succeeded',
    settings: BreakerSettings & { floor?: number },
  ): Promise<BreakerState> {
    const [state, until, failures] = (await evaluate(
      scripts.breaker,
      [keys.breaker(host)],
      { floor: 0, ...settings, ...base(), host, word },
      [],
    )) as [BreakerState['state'], string, string]
    return { state, failures: Number(failures), ...(until ? { until: Number(until) } : {}) }
  }

  return {
    keys,
    enqueue,
    commit: isolating(commit),
    change,
    extend,
    renew,
    heartbeat,
    tick,
    overview,
    settings,
    register,
    verify,
    repair,
    breaker,
    ...createLooks(parts),
    ...createLimits(parts),
    ...createCommands(parts),
  }
}

export type Store = ReturnType<typeof createStore>
