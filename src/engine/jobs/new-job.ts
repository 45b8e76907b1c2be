import { isAlikeBut } from '../../core/alike.ts'
import { decodeValue, type Encoded, encodeValue } from '../../core/codec/value.ts'
import { groupKey } from '../../core/constraint.ts'
import { SidejobError } from '../../core/errors.ts'
import { shown } from '../../core/json-schema/schema.ts'
import { mergedLabels } from '../../core/labels.ts'
import { mapValues } from '../../core/map-values.ts'
import { nextSlot, parseRepeat, shiftLength } from '../../core/repeat.ts'
import type { Spawn } from '../../core/run.ts'
import { isText } from '../../core/schemas.ts'
import { HOUR } from '../../core/units.ts'
import { itemText } from '../../redis/item.ts'
import type { LimitKey, NewJob, Quota } from '../../redis/new-job.ts'
import type { Call, JobInput, PortSpecs } from '../engine.ts'
import { keptCallback } from './callback-spec.ts'
import { checkArgs, checkRoot, checkValues, schemaOfClass } from './checks.ts'
import { checkFlows, flowPorts, isFlow } from './graph-check.ts'
import type { Registered, Registry } from './registry.ts'

const LOST_ALONE = 2

const keptFor = (keep: boolean | number | undefined): number | undefined =>
  keep === true ? HOUR : keep === false ? 0 : keep

export const overlay = (base: PortSpecs = {}, own?: PortSpecs): PortSpecs => (own ? { ...base, ...own } : base)

type Values = Record<string, Encoded[]>

const itemsOf = (inputs: Values = {}, context?: Encoded): Record<string, string[]> =>
  mapValues(inputs, (values) => values.map((data) => itemText({ data, context })))

function checkInputs(found: Registered, { inputs = {}, class: className, schema }: JobInput, ports: PortSpecs): void {
  for (const [port, values] of Object.entries(inputs)) {
    if (!Object.hasOwn(ports, port) && !Object.hasOwn(ports, '*'))
      throw new SidejobError('REFUSED', `${className} has no input port "${port}"`, { path: ['inputs', port] })
    checkValues(found, className, { dir: 'in', port }, values, ['inputs', port], schema)
  }
}

export function repeatOf(repeat: JobInput['repeat'], now: number, at?: number): { repeat?: Encoded; slot?: number } {
  if (repeat === undefined) return {}
  const { source } = parseRepeat(repeat)
  const isCron = typeof repeat !== 'string' && 'cron' in repeat
  const slot = at ?? (isCron ? nextSlot(repeat, { scheduled: now, started: now, finished: now }, now) : now)
  return { repeat: encodeValue(source), slot }
}

function redeliverOf(redeliver: JobInput['redeliver']): NewJob['redeliver'] {
  if (!redeliver) return undefined
  const { after, max } = redeliver
  if (typeof after === 'number') return { after: `+${after / 1_000} SECONDS`, ms: after, max }
  const ms = shiftLength(after)
  return { after, max, ...(Number.isNaN(ms) ? {} : { ms }) }
}

function checkOutside(found: Registered | undefined, { queue, class: name }: { queue: string; class: string }): void {
  if (found?.inner)
    throw new SidejobError('REFUSED', `class ${name} is internal in queue ${queue}: create the job in another queue`)
}

const none: LimitKey[] = []

const refusedKey = (name: string, why: string) =>
  new SidejobError('REFUSED', `args: class ${name} could not compute a limit key: ${why}`, { path: ['args'] })

/** Like `perform`, the functions that derive limit keys get the parsed args. */
function keyedLimitsOf({ keyed, local }: Registered, { class: name, args = 'null' }: Counted): LimitKey[] {
  if (!keyed) return none
  const given = decodeValue(args)
  const parsed = local?.args?.safeParse(given)
  return keyed.flatMap(({ key: keyOf, ...limit }) => {
    let key: string | number | undefined
    try {
      key = keyOf(parsed?.success ? parsed.data : given)
    } catch (error) {
      throw refusedKey(name, (error as Error).message)
    }
    if (key === undefined) return []
    if (!isText(String(key))) throw refusedKey(name, `expected a string of 1 to 255 bytes, got ${shown(key)}`)
    return [{ ...limit, key: String(key), how: 'set' as const }]
  })
}

type Counted = Pick<JobInput, 'queue' | 'class' | 'group' | 'args'>

export function limitsOf(found: Registered | undefined, input: Counted): LimitKey[] {
  const limits = found?.definition.limits
  if (!limits && !found?.keyed && !input.group) return none
  const constant = (limits ?? []).map(({ key = `class:${input.queue}/${input.class}`, ...limit }) => ({
    ...limit,
    key,
    how: 'set' as const,
  }))
  const own = found?.keyed ? [...constant, ...keyedLimitsOf(found, input)] : constant
  if (!input.group) return own
  return [{ key: groupKey(input.group.id), how: 'first', concurrency: input.group.concurrency }, ...own]
}

const common = (found: Registered | undefined) => ({
  known: found?.local !== undefined,
  retain: found?.definition.retain,
  history: found?.definition.history,
  redact: found?.definition.redact,
  redeliver: redeliverOf(found?.definition.redeliver),
  shutdown: found?.definition.shutdown,
  quiet: found?.local?.statusPublish === false,
  schema: schemaOfClass(found),
  maxLost: found?.local?.maxLost ?? (found?.local?.isolate ? LOST_ALONE : undefined),
})

type Told = Pick<
  JobInput,
  'queue' | 'class' | 'args' | 'inputs' | 'in' | 'out' | 'retry' | 'keepResult' | 'group' | 'labels'
>

/** The members that jobs of callers and children of jobs have in common, with the options of their class. */
function settled(found: Registered | undefined, input: Told) {
  const own = flowPorts(input)
  return {
    ...common(found),
    queue: input.queue,
    class: input.class,
    args: argsOf(input),
    in: overlay(overlay(found?.definition.in, own?.in), input.in),
    out: overlay(overlay(found?.definition.out, own?.out), input.out),
    retry: input.retry === undefined ? undefined : encodeValue(input.retry),
    keepResult: keptFor(input.keepResult),
    group: input.group?.id,
    limits: limitsOf(found, input),
    labels: mergedLabels(found?.definition.labels, input.labels),
  }
}

const debounceOf = ({ unique }: JobInput) => (typeof unique === 'object' ? unique.debounce : undefined)

function uniqueOf({ unique, uniqueness }: JobInput): NewJob['unique'] {
  if (unique === undefined) return undefined
  if (typeof unique === 'string') return { key: unique, ...uniqueness }
  const { key, until, for: period, debounce } = unique
  if (debounce) return { key, held: 'started', debounce: { max: debounce.max } }
  return { key, period, ...(until === undefined || until === 'ended' ? {} : { held: until }) }
}

const argsOf = ({ args }: Pick<JobInput, 'args'>): Encoded | undefined => (args === 'null' ? undefined : args)

const overridesOf = ({ retain, history, redeliver }: JobInput): Partial<NewJob> => ({
  ...(retain === undefined ? {} : { retain }),
  ...(history === undefined ? {} : { history }),
  ...(redeliver && { redeliver: redeliverOf(redeliver) }),
})

function newJob(
  found: Registered | undefined,
  input: JobInput,
  now: number,
  allowHosts: readonly string[],
  call: Call | undefined,
): NewJob {
  checkOutside(found, input)
  checkRoot(input.in, call)
  const job = settled(found, input)
  if (found) checkInputs(found, input, job.in)
  return {
    ...job,
    at: input.at,
    priority: input.priority,
    parent: input.parent,
    name: input.name,
    timeout: input.timeout,
    joins: input.joins,
    tag: input.tag,
    createdBy: input.createdBy,
    scheduledFor: input.scheduledFor,
    wait: debounceOf(input)?.wait ?? input.wait,
    inputs: input.inputs && itemsOf(input.inputs),
    unique: uniqueOf(input),
    ...overridesOf(input),
    ...repeatOf(input.repeat, now, input.at),
    aliases: input.alias,
    callback: keptCallback(input.callback, allowHosts, call?.by),
    by: call?.by,
    traceparent: call?.traceparent,
    ...quotaOf(call),
  }
}

export const quotaOf = (call: Call | undefined): { quota?: Quota } =>
  call?.by && call.quota ? { quota: { by: call.by, ...call.quota } } : {}

/** Undefined members slow down copying and comparing thousands of jobs. */
const given = (job: NewJob): NewJob =>
  Object.fromEntries(Object.entries(job).filter(([, value]) => value !== undefined)) as NewJob

const OWN = ['args', 'inputs'] as const

function madeLike(job: NewJob, found: Registered | undefined, input: JobInput): NewJob {
  const like = { ...job, args: argsOf(input), ...(found?.keyed ? { limits: limitsOf(found, input) } : {}) }
  if (!input.inputs) return like
  if (found) checkInputs(found, input, job.in ?? {})
  return { ...like, inputs: itemsOf(input.inputs) }
}

export function newJobs(
  inputs: readonly JobInput[],
  find: (input: JobInput) => Registered | undefined,
  now: number,
  allowHosts: readonly string[] = [],
  call?: Call,
): NewJob[] {
  let job: NewJob
  return inputs.map((input, i) => {
    const before = inputs[i - 1]
    const isLike = before && isAlikeBut(OWN, input, before) && !input.inputs === !before.inputs && !isFlow(input)
    const found = find(input)
    checkArgs(found, input.class, input.args, input.schema)
    job = isLike ? madeLike(job, found, input) : given(newJob(found, input, now, allowHosts, call))
    return job
  })
}

export async function spawnedJob(
  registry: Registry,
  spawn: Spawn,
  { by, traceparent }: { by: number; traceparent?: string },
): Promise<NewJob> {
  const queue = spawn.queue ?? 'default'
  const found = registry.local(queue, spawn.class) ?? (await registry.find(queue, spawn.class))
  const { name, inports, outports, ...rest } = spawn
  const input = { ...rest, queue, in: inports, out: outports }
  checkOutside(found, input)
  checkArgs(found, spawn.class, spawn.args)
  await checkFlows(registry, [input])
  for (const [port, values] of Object.entries(spawn.inputs ?? {}))
    checkValues(found, spawn.class, { dir: 'in', port }, values, ['inputs', port])
  return {
    ...input,
    ...settled(found, input),
    inputs: itemsOf(spawn.inputs, encodeValue({ job: by })),
    createdBy: `job:${by}`,
    traceparent,
  }
}
