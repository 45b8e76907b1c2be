import { parseJson } from '../core/codec/json.ts'
import { decodeValue, type Encoded } from '../core/codec/value.ts'
import { check } from '../core/issues.ts'
import { canonical } from '../core/json-schema/index.ts'
import { mapValues } from '../core/map-values.ts'
import { type RecordedRun, type RecordedRunInput, recordedRun } from '../core/recorded.ts'
import type { Changes, Op, Snapshot } from '../core/run.ts'
import { closedIn } from '../core/schemas.ts'
import type { Worker } from '../core/worker.ts'
import { type JudgeOptions, judging, workerOf } from './judge.ts'

export type Difference = { part: Part; was: unknown; is: unknown }

type Part = keyof ReturnType<typeof partsOf>

export type Replayed = { is: 'same' } | { is: 'differs'; differences: Difference[] } | { is: 'unjudged'; why: string }

const closedParts = closedIn(recordedRun)

const opened = (values: Record<string, Encoded> = {}) => mapValues(values, (value) => decodeValue(value))

const orUndefined = (value: Encoded | undefined): unknown => (value === undefined ? undefined : decodeValue(value))

const apart: ReadonlySet<Op['op']> = new Set(['log', 'entry', 'step', 'expect', 'write', 'publish', 'spawn'])

type Of<K extends Op['op']> = Extract<Op, { op: K }>

function partsOf(commits: readonly Changes[]) {
  const ops = commits.flatMap(({ ops = [] }) => ops)
  const all = <K extends Op['op']>(kind: K) => ops.filter((op): op is Of<K> => op.op === kind)
  const reads: Record<string, number> = {}
  for (const commit of commits)
    for (const [port, { count }] of Object.entries(commit.reads ?? {})) reads[port] = (reads[port] ?? 0) + count
  const { end, result, error } = commits.at(-1)!
  return {
    end,
    result: orUndefined(result),
    error: error?.message,
    reads,
    writes: all('write').flatMap(({ to, values }) => values.map((value) => ({ to, value: decodeValue(value) }))),
    messages: all('publish').map(({ channel, message }) => ({ channel, message: decodeValue(message) })),
    children: all('spawn').map(({ op: _, args, inputs: _inputs, ...child }) => ({ ...child, args: orUndefined(args) })),
    state: commits.flatMap(({ state }) => {
      const set = opened(state?.set)
      const unset = state?.unset ?? []
      return Object.keys(set).length + unset.length === 0 ? [] : [{ set, unset }]
    }),
    steps: all('step').flatMap((op) => (op.name.startsWith('~') || !('value' in op) ? [] : [op.name])),
    other: ops.filter(({ op }) => !apart.has(op)),
  }
}

const resultsOf = ({ commits }: RecordedRun): Map<string, Encoded> =>
  new Map(
    commits.flatMap(({ ops = [] }) =>
      ops.flatMap((op) => (op.op === 'step' && 'value' in op ? [[op.name, op.value] as const] : [])),
    ),
  )

function after(snapshot: Snapshot, { reads = {}, state }: Changes): Snapshot {
  const ports = Object.entries(snapshot.in).map(([name, port]) => {
    const count = reads[name]?.count ?? 0
    return [name, { ...port, cursor: port.cursor + count, values: port.values.slice(count) }] as const
  })
  const kept = { ...snapshot.state, ...state?.set }
  for (const field of state?.unset ?? []) delete kept[field]
  return { ...snapshot, in: Object.fromEntries(ports), state: kept }
}

function isPartOf(made: Changes, commit: Changes): boolean {
  const rest = (commit.ops ?? []).map(canonical)
  const isThere = (op: Op): boolean => {
    const at = rest.indexOf(canonical(op))
    if (at >= 0) rest.splice(at, 1)
    return at >= 0
  }
  const ops = (made.ops ?? []).filter(({ op }) => op !== 'step' && op !== 'log' && op !== 'entry')
  const state = Object.entries(made.state?.set ?? {}).every(([name, value]) => commit.state?.set?.[name] === value)
  const reads = Object.entries(made.reads ?? {}).every(
    ([port, { count }]) => count <= (commit.reads?.[port]?.count ?? 0),
  )
  return ops.every(isThere) && state && reads
}

const hasStep = ({ ops = [] }: Changes): boolean => ops.some(({ op, ...rest }) => op === 'step' && 'value' in rest)

/**
 * Runs a function with the data of a recorded run, and returns the differences. Steps are not performed again.
 *
 * @example expect(await replay(order, recorded)).toEqual({ is: 'same' })
 */
export async function replay(
  workers: Worker | readonly Worker[],
  given: RecordedRunInput,
  options: JudgeOptions = {},
): Promise<Replayed> {
  const recorded = check(recordedRun, parseJson(JSON.stringify(given), closedParts))
  const worker = workerOf([workers].flat(), recorded.snapshot.job)
  if (!worker) return { is: 'unjudged', why: `there is no class ${recorded.snapshot.job.class}` }
  const results = resultsOf(recorded)
  const commits: Changes[] = []
  let { snapshot } = recorded
  let next: string | undefined
  const { changes, why } = await judging(worker, snapshot, options, {
    async checkpoint(made) {
      const recordedOne = recorded.commits[commits.length]
      const one = recordedOne && hasStep(recordedOne) && isPartOf(made, recordedOne) ? recordedOne : made
      commits.push(one)
      snapshot = after(snapshot, one)
      return snapshot
    },
    rehearsal: { reached: (what) => void (next ??= what), changed: () => undefined, results },
  })
  if (why !== undefined) return { is: 'unjudged', why }
  const was = partsOf(recorded.commits)
  if (next !== undefined && was.end === 'failed') return { is: 'unjudged', why: 'the recorded run failed in a step' }
  if (next !== undefined) return { is: 'differs', differences: [{ part: 'steps', was: was.steps, is: next }] }
  const is = partsOf([...commits, { ...changes, end: changes.end ?? 'failed' }])
  const differences = (Object.keys(was) as Part[])
    .filter((part) => canonical(was[part]) !== canonical(is[part]))
    .map((part) => ({ part, was: was[part], is: is[part] }))
  return differences.length === 0 ? { is: 'same' } : { is: 'differs', differences }
}
