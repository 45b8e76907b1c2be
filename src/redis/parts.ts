// What the verbs of the state are made of: the connection, the keys, what every script is told, and how it answers.

import type { Encoded } from '../core/codec/value.ts'
import { type Code, SidejobError } from '../core/errors.ts'
import type { Client } from './client.ts'
import type { Keys } from './keys.ts'
import { decodeRecord } from './record.ts'
import type { CallbackJob, Ring } from './types.ts'

export type Parts = {
  client: Client
  keys: Keys
  /** What every script begins with. */
  base: () => { ns: string; clock: string; seed: string }
  /** The seed of a lane's tokens: whose lane a run is in shows in its token. */
  markedBy: (lane: string) => { seed: string }
  ids: HighestId
}

/** The highest id that we were told of: when Redis has given none as high, it has gone back to older data. */
export type HighestId = { readonly highest: number; saw: (ids: readonly { id: number }[]) => void }

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

export type RawRing = [string, string, string]

export const ringsOf = (rings: RawRing[]): Ring[] =>
  rings.map(([queue, bell, at]) => ({ queue, bell, ...(at ? { at: Number(at) } : {}) }))

export const toldOf = ([text, error]: string[] = []): { callback?: CallbackJob } =>
  text ? { callback: { document: decodeRecord(text), ...(error ? { error: error as Encoded } : {}) } } : {}

export const listWords = (list: readonly string[]): string[] => [String(list.length), ...list]

export const refusalOf = (code: string, message: string, path?: (string | number)[]): SidejobError =>
  new SidejobError(code as Code, message, { path })
