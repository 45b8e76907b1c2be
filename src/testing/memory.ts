import { decodeValue, type Encoded, encodeValue } from '../core/codec/value.ts'
import { SidejobError } from '../core/errors.ts'
import { isPortName, type Status } from '../core/job.ts'
import { mapValues } from '../core/map-values.ts'
import { ownProperty } from '../core/own.ts'
import type { Changes, Op, PortOptions, PortRef, SnapshotItem } from '../core/run.ts'

type Port = { taken: number; values: SnapshotItem[]; default?: SnapshotItem; channels: string[] }
type Side = Record<string, Port>
type Child = { id: number; class: string; status: Status; in: Side; out: Side; left?: Encoded }

export type Specs = Record<string, { default?: unknown; channels?: string[] }>

export type Memory = {
  who: string
  in: Side
  out: Side
  state: Record<string, Encoded>
  children: Record<string, Child>
  steps: Record<string, Encoded>
  lastId: number
}

export const ID = 1

const refused = (message: string) => new SidejobError('REFUSED', message)

export const itemsOf = (values: unknown[]): SnapshotItem[] => values.map((value) => ({ data: encodeValue(value) }))
export const valuesOf = (items: SnapshotItem[]): unknown[] => items.map(({ data }) => decodeValue(data))

const portOf = (
  { default: value, channels = [] }: PortOptions[string],
  values: SnapshotItem[] = [],
  taken = 0,
): Port => ({
  taken,
  values,
  channels,
  ...(value === undefined ? {} : { default: { data: value } }),
})

export const sideOf = (specs: Specs): Side =>
  mapValues(specs, ({ default: value, channels }) =>
    portOf({ channels, ...(value === undefined ? {} : { default: encodeValue(value) }) }),
  )

export const listed = ({ '*': _, ...ports }: Side): Side => ports

export function open(side: Side, dir: 'in' | 'out', name: string, who: string): Port {
  if (Object.hasOwn(side, name) && name !== '*') return side[name]!
  if (!side['*']) throw refused(`${who} has no ${dir}put port "${name}"`)
  if (!isPortName(name))
    throw refused(`expected a port name (at most 100 characters from a-z, A-Z, 0-9 and _), got ${name}`)
  return (side[name] = portOf({ default: side['*'].default?.data }))
}

export const childOf = ({ who, children }: Memory, name: string): Child => {
  const child = ownProperty(children, name)
  if (!child) throw refused(`${who} has no child ${name}; it has ${Object.keys(children).join(', ') || 'none'}`)
  return child
}

export const newChild = (memory: Memory, child: Partial<Child>): Child => ({
  id: ++memory.lastId,
  class: 'child',
  status: 'queued',
  in: sideOf({ '*': {} }),
  out: sideOf({ '*': {} }),
  ...child,
})

/** Ports of other jobs accept every op. A test finds their values only in the returned ops. */
function portAt(memory: Memory, ref: PortRef): Port {
  if ('job' in ref) return portOf({})
  const { in: ins, out } = 'child' in ref ? childOf(memory, ref.child) : memory
  const who = 'child' in ref ? `child ${ref.child}` : memory.who
  return 'in' in ref ? open(ins, 'in', ref.in, who) : open(out, 'out', ref.out, who)
}

const isOwnInput = (ref: PortRef): boolean => 'in' in ref && !('child' in ref) && !('job' in ref)

function take(port: Port, count: number): SnapshotItem[] {
  port.taken += count
  return port.values.splice(0, count)
}

const redefined = (side: Side, specs: PortOptions): Side =>
  mapValues(specs, (spec, name) => portOf(spec, side[name]?.values, side[name]?.taken))

function move(memory: Memory, from: PortRef, to: PortRef[]): boolean {
  const source = portAt(memory, from)
  const items = take(source, source.values.length)
  const woken = to.filter((ref) => {
    const target = portAt(memory, ref)
    const changes = source.default !== undefined && target.default?.data !== source.default.data
    if (changes) target.default = source.default
    target.values.push(...items)
    return isOwnInput(ref) && (changes || items.length > 0)
  })
  return woken.length > 0
}

function forget(memory: Memory, { child }: { child: string }): boolean {
  childOf(memory, child)
  return !delete memory.children[child]
}

/** A verb returns true if it wakes the job. Ops without a verb are only recorded. */
const verbs: { [K in Op['op']]?: (memory: Memory, op: Extract<Op, { op: K }>) => boolean | undefined } = {
  write(memory, { to, values, context = encodeValue({ job: ID }), setDefault }) {
    const port = portAt(memory, to)
    const items = values.map((data) => ({ data, context }))
    if (setDefault) port.default = items.at(-1)
    else port.values.push(...items)
    return isOwnInput(to)
  },
  read(memory, { from, count }) {
    take(portAt(memory, from), count)
    return false
  },
  default(memory, op) {
    const port = portAt(memory, op.of)
    if ('value' in op) port.default = { data: op.value }
    else delete port.default
    return false
  },
  connect: (memory, { from, to }) => move(memory, from, to),
  wire: (memory, op) => 'to' in op && op.to.length > 0 && move(memory, op.from, op.to),
  amend(memory, { of, in: ins = {}, out = {}, drop = {} }) {
    if (of && 'job' in of) return false
    const job = of ? childOf(memory, of.child) : memory
    for (const port of drop.in ?? []) delete job.in[port]
    for (const port of drop.out ?? []) delete job.out[port]
    Object.assign(job.in, redefined(job.in, ins))
    Object.assign(job.out, redefined(job.out, out))
    return false
  },
  spawn(memory, { name, class: className, inputs = {} }) {
    if (Object.hasOwn(memory.children, name)) throw refused(`${memory.who} already has a child ${name}`)
    const child = newChild(memory, { class: className })
    for (const [port, values] of Object.entries(inputs))
      open(child.in, 'in', port, name).values = values.map((data) => ({ data }))
    memory.children[name] = child
    return false
  },
  disown: forget,
  ports(memory, { in: ins, out, of }) {
    if (of && 'job' in of) return false
    const job = of ? childOf(memory, of.child) : memory
    if (ins) job.in = redefined(job.in, ins)
    if (out) job.out = redefined(job.out, out)
    return false
  },
  channels(memory, { of, set }) {
    portAt(memory, of).channels = set
    return false
  },
  step(memory, op) {
    if ('value' in op) memory.steps[op.name] = op.value
    else delete memory.steps[op.name]
    return false
  },
  inherit: forget,
}

/** Leaves `before` unchanged, and throws if a change is refused. */
export function applied(before: Memory, { reads = {}, state, ops = [] }: Changes): { memory: Memory; woken: boolean } {
  const memory = structuredClone(before)
  let woken = false
  for (const [name, { count }] of Object.entries(reads)) take(portAt(memory, { in: name }), count)
  Object.assign(memory.state, state?.set)
  for (const field of state?.unset ?? []) delete memory.state[field]
  for (const op of ops) {
    const verb = verbs[op.op] as ((memory: Memory, op: Op) => boolean | undefined) | undefined
    if (verb?.(memory, op)) woken = true
  }
  return { memory, woken }
}
