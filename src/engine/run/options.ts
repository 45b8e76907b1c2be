import { type Encoded, encodeValue } from '../../core/codec/value.ts'
import { checkedLabels, readRetry } from '../../core/definition.ts'
import type { Labels } from '../../core/labels.ts'
import { mapValues } from '../../core/map-values.ts'
import type { Op, Spawn } from '../../core/run.ts'
import { type Length, milliseconds } from '../../core/time.ts'
import type { RetryOptions } from '../../core/worker.ts'
import { specsOf } from '../jobs/registry.ts'

type Timed = 'wait' | 'timeout' | 'retry'

export type SpawnOptions = Omit<
  Spawn,
  'name' | 'class' | 'queue' | 'args' | 'inputs' | 'inports' | 'outports' | 'labels' | Timed
> & {
  args?: unknown
  wait?: Length
  timeout?: Length
  retry?: RetryOptions
  labels?: Labels
  inputs?: Record<string, unknown[]>
  in?: Record<string, { default?: unknown; channels?: string[] }>
  out?: Record<string, { default?: unknown; channels?: string[] }>
}

const encodedLists = (lists: Record<string, unknown[]>): Record<string, Encoded[]> =>
  mapValues(lists, (values) => values.map(encodeValue))

export function spawnOp(
  name: string,
  worker: { queue?: string; class: string },
  { args, inputs, in: inports, out: outports, wait, timeout, retry, labels, ...rest }: SpawnOptions,
): Op {
  if (typeof name !== 'string') throw new TypeError(`spawn: name: expected a string, got ${JSON.stringify(name)}`)
  if (typeof worker?.class !== 'string')
    throw new TypeError(`spawn: worker: expected a worker or { queue, class }, got ${JSON.stringify(worker)}`)
  return {
    op: 'spawn',
    name,
    queue: worker.queue ?? 'default',
    class: worker.class,
    ...rest,
    ...(wait === undefined ? {} : { wait: milliseconds(wait) }),
    ...(timeout === undefined ? {} : { timeout: milliseconds(timeout) }),
    ...(retry === undefined ? {} : { retry: readRetry(retry) }),
    ...(labels === undefined ? {} : { labels: checkedLabels(labels) }),
    ...(args === undefined ? {} : { args: encodeValue(args) }),
    ...(inputs ? { inputs: encodedLists(inputs) } : {}),
    ...(inports ? { inports: specsOf(inports) } : {}),
    ...(outports ? { outports: specsOf(outports) } : {}),
  }
}
