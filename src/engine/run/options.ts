import { encodeValue } from '../../core/codec/value.ts'
import { checkedLabels, readRetry } from '../../core/definition.ts'
import type { Labels } from '../../core/labels.ts'
import { mapValues } from '../../core/map-values.ts'
import type { Op, Spawn } from '../../core/run.ts'
import { type Duration, milliseconds } from '../../core/time.ts'
import type { RetryOptions } from '../../core/worker.ts'
import { specsOf } from '../jobs/registry.ts'

type PortOptions = Record<string, { default?: unknown; channels?: string[] }>

export type SpawnOptions = Pick<Spawn, 'priority' | 'group'> & {
  args?: unknown
  at?: Date | number
  wait?: Duration
  timeout?: Duration
  retry?: RetryOptions
  keepResult?: boolean | Duration
  labels?: Labels
  inputs?: Record<string, unknown[]>
  in?: PortOptions
  out?: PortOptions
}

/** Applies `to` to an option that is set. */
const given = <T, R>(option: T | undefined, to: (option: T) => R): R | undefined =>
  option === undefined ? undefined : to(option)

export function spawnOp(
  name: string,
  worker: { queue?: string; class: string },
  { args, at, inputs, in: inports, out: outports, wait, timeout, retry, keepResult, labels, ...rest }: SpawnOptions,
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
    at: given(at, Number),
    wait: given(wait, milliseconds),
    timeout: given(timeout, milliseconds),
    retry: given(retry, readRetry),
    keepResult: typeof keepResult === 'string' ? milliseconds(keepResult) : keepResult,
    labels: given(labels, checkedLabels),
    args: given(args, encodeValue),
    inputs: given(inputs, (lists) => mapValues(lists, (values) => values.map(encodeValue))),
    inports: given(inports, specsOf),
    outports: given(outports, specsOf),
  }
}
