import { type Code, SidejobError } from '../core/errors.ts'
import { tryRead } from '../core/readable.ts'
import { answerOf, type Replies, type Reply, type Row } from './answers.ts'
import type { Client } from './client.ts'
import type { Keys } from './keys.ts'
import { decodeRecord, type JobRecord, leftOut, openedField } from './record.ts'
import { type Base, type Evaluate, inSources, type Script } from './script.ts'
import type { CallbackJob } from './types.ts'
import type { Opening, Vault } from './vault.ts'

export type Parts = {
  client: Client
  keys: Keys
  base: () => Base
  call: Call
  markedBy: (lane: string) => { seed: string }
  ids: HighestId
  moments: RedisClock
  vault: Vault
  packedFrom: number
  retain?: number
}

type Answered<Name extends keyof Replies> = { [N in Exclude<Name, 'refused'>]: Reply<N> }[Exclude<Name, 'refused'>]

/** `keys` are the keys that the script should declare. `rest` follows the named arguments. */
type Call = <Args, Answer extends keyof Replies>(
  script: Script<Args, Answer>,
  args: Args & Partial<Base>,
  more?: { keys?: string[]; rest?: string[] },
) => Promise<Answered<Answer>>

/** @throws the refusal of a script */
export const calling =
  (evaluate: Evaluate, base: () => Base): Call =>
  async (script, args, { keys = [], rest = [] } = {}) => {
    const raw = await evaluate(script, keys, { ...base(), ...args }, rest)
    const answer = answerOf(raw, ...script.answers)
    if (answer.is === 'refused') throw refusalOf(answer as never)
    return answer as never
  }

/** If Redis has not assigned the highest id that this isolate has seen, Redis was restored from older data. */
type HighestId = { readonly highest: number; saw: (ids: readonly { id: number }[]) => void }

export function highestId(): HighestId {
  let highest = 0
  return {
    get highest() {
      return highest
    },
    saw(ids) {
      for (const { id } of ids) if (id > highest) highest = id
    },
  }
}

type RedisClock = { now: () => number; saw: (moment: number | undefined) => void }

/** In milliseconds. A late answer makes Redis' clock look slow, but by less than this. */
const STEP = 5_000

export function redisClock(localClock: () => number): RedisClock {
  let ahead: number | undefined
  return {
    now: () => localClock() + (ahead ?? 0),
    saw(moment) {
      if (moment === undefined) return
      const seen = moment - localClock()
      if (ahead === undefined || seen > ahead || seen < ahead - STEP) ahead = seen
    },
  }
}

export const callbackOf = (row: Row<'callbackJob'> | undefined, vault: Vault): { callback?: CallbackJob } =>
  row
    ? (tryRead(() => ({
        callback: {
          document: decodeRecord(row.document, [], vault.show),
          error: row.error && vault.show.error(row.error),
        },
      })) ?? {})
    : {}

export type ScriptFault = Row<'fault'>

export const faultsOf = (
  faults: readonly ScriptFault[],
  script: Pick<Script<never>, 'name' | 'places'>,
): ScriptFault[] => faults.map(({ job, what }) => ({ job, what: inSources(what, script) }))

export const listWords = (list: readonly string[]): string[] => [String(list.length), ...list]

type Refusal = Pick<Reply<'refused'>, 'code' | 'message'> & Partial<Reply<'refused'>>

export const refusalOf = ({ code, message, wait }: Refusal, path?: (string | number)[]): SidejobError =>
  new SidejobError(code as Code, message, { path, retryAfter: wait ? Number(wait) : undefined })

/** Redis answers with at most 10 MB, and a value of 1 MiB takes up to 2 MiB of an answer. */
const AT_ONCE = 3

export const loadLeftOut =
  ({ client, keys }: Parts, opening: Opening) =>
  async (jobs: readonly { id: number; document: JobRecord }[]): Promise<void> => {
    for (const { id, document } of jobs) {
      const fields = leftOut(document)
      for (let from = 0; from < fields.length; from += AT_ONCE) {
        const some = fields.slice(from, from + AT_ONCE)
        const texts = await client.ask((redis) =>
          redis.mget<(string | null)[]>(...some.map(([, short]) => keys.value(id, short))),
        )
        for (const [i, [name]] of some.entries())
          Object.assign(document, { [name]: openedField(name, texts[i] ?? '', opening) })
      }
    }
  }
