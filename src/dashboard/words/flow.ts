import type { Status } from '../../core/job.ts'
import { rateOf } from '../../core/minutes.ts'
import { endText } from '../../core/wires.ts'
import type { FlowNodeView, FlowRow, WireView } from '../../engine/engine.ts'
import { textOf } from './json.ts'
import { about, count, cut, many, span } from './text.ts'

/** Maximum letters of a value on the board. */
const MOST = 2_048
/** Milliseconds. A wire with an older value is backing up. */
const LONG = 60_000

type WireKind = 'idle' | 'hot' | 'back'

export type LimitRoom = { running: number; concurrency: number | null }

type Waiting = Pick<WireView, 'to' | 'size' | 'behind' | 'oldestAt' | 'rate'>

/** Values of an output of the flow never back up, because no node reads them. */
export function kindOf({ to, size, behind, oldestAt, rate }: Waiting, now: number): WireKind {
  const waits = size + behind
  if (waits > 0 && to.node !== null && oldestAt !== null && now - oldestAt > LONG) return 'back'
  return rate > 0 ? 'hot' : 'idle'
}

export function labelOf(wire: Waiting, now: number): string {
  const waits = wire.size + wire.behind
  if (kindOf(wire, now) === 'back') return `${count(waits)} · ${about(now - wire.oldestAt!)}`
  if (wire.rate > 0) return `${count(wire.rate)}/min`
  return waits > 0 ? count(waits) : ''
}

export function wireSaid(wire: WireView, now: number): string {
  const waits = wire.size + wire.behind
  const since = wire.oldestAt === null ? '' : `, the oldest for ${span(now - wire.oldestAt)}`
  const what = waits > 0 ? `${many(waits, 'value')} waiting${since}` : 'no values'
  const last = lastOf(wire)
  return `${endText(wire.from)} to ${endText(wire.to)}: ${what}, ${count(wire.rate)} read per minute${last && `, last value ${cut(last, 80)}`}`
}

/** The last value that passed, or '' if none is kept. */
export const lastOf = ({ passed }: Pick<WireView, 'passed'>): string => passed[0]?.data ?? ''

/** Prepares wires for the board: values become text, and secrets are covered. */
export const boardWires = (wires: readonly WireView[]): WireView[] =>
  wires.map((wire) => ({
    ...wire,
    oldest: null,
    passed: wire.passed.map(({ data, at }) => ({ at, data: textOf(data, MOST).text })),
  }))

export const widthOf = ({ size, behind }: Waiting): number => 1.75 + Math.log10(Math.max(1, size + behind))

type Facts = { now: number; room?: LimitRoom; wires: readonly WireView[] }

function waitsFor({ name }: FlowNodeView, wires: readonly WireView[]): string {
  const into = wires.filter(({ to }) => to.node === name)
  const empty = [...new Set(into.filter(({ size }) => size === 0).map(({ to }) => to.port))]
  const some = into.some(({ size }) => size > 0)
  return some && empty.length > 0 ? `waits for ${empty.join(', ')}` : 'waits for input'
}

const queued = ({ limit, until }: FlowNodeView, { now, room }: Facts): string => {
  if (limit) return room?.concurrency ? `limit full, ${room.running} of ${room.concurrency}` : 'waiting for a limit'
  return until !== null && until > now ? `continues in ${about(until - now)}` : 'ready to run'
}

const facts: Record<Status, (node: FlowNodeView, facts: Facts) => string> = {
  queued,
  running: ({ ranAt }, { now }) => (ranAt === null ? 'running' : `running for ${span(now - ranAt)}`),
  suspended: (node, { now, wires }) =>
    node.until !== null && node.until > now ? `wakes in ${about(node.until - now)}` : waitsFor(node, wires),
  completed: ({ lastRun }, { now }) => (lastRun ? `idle for ${about(now - lastRun.endedAt)}` : 'idle'),
  failed: ({ lastRun }, { now }) => (lastRun ? `failed ${about(now - lastRun.endedAt)} ago` : 'failed'),
  terminating: () => 'is terminating',
  terminated: () => 'was terminated',
}

export const factOf = (node: FlowNodeView, about: Facts): string =>
  node.status === null ? 'not started' : facts[node.status](node, about)

export const toneOf = ({ status, limit }: FlowNodeView) =>
  status === 'failed' ? 'failed' : limit === null ? undefined : 'suspended'

export const sumOf = ({ nodes, running, queued, values }: FlowRow): string =>
  `${count(running)} of ${many(nodes, 'node')} running, ${count(queued)} queued; ${many(values, 'value waits', 'values wait')}`

/** Arrivals minus reads, per minute. */
export const growthOf = ({ in: came, out }: WireView, now: number): number =>
  rateOf(
    came.map((n, i) => n - out[i]!),
    now,
  )

/** Undefined if nothing was read. */
export const drainTime = ({ size, rate }: WireView): string | undefined =>
  size > 0 && rate > 0 ? about(Math.ceil(size / rate) * 60_000) : undefined

export type Jam = {
  wire: WireView
  cause: FlowNodeView
  nodes: string[]
  wires: string[]
}

const sumOnWire = ({ size, behind }: WireView): number => size + behind
const thickest = (wires: readonly WireView[]): WireView | undefined =>
  wires.toSorted((a, b) => sumOnWire(b) - sumOnWire(a))[0]

/** Starts at the reader of a full wire, and follows empty inputs to the node that keeps them empty. */
function causeOf(wire: WireView, nodes: readonly FlowNodeView[], wires: readonly WireView[], now: number) {
  const lit: WireView[] = [wire]
  const passed: FlowNodeView[] = []
  let cause = nodes.find(({ name }) => name === wire.to.node)
  while (cause) {
    const { name, status, until } = cause
    passed.push(cause)
    const sleeps = until !== null && until > now
    const into = wires.filter(({ to }) => to.node === name)
    const empty = status === 'suspended' && !sleeps ? into.find(({ size }) => size === 0) : undefined
    const before = nodes.find((node) => node.name === empty?.from.node)
    if (!empty || !before || passed.includes(before)) break
    lit.push(empty)
    cause = before
  }
  return { cause: passed.at(-1), passed, lit }
}

export function jamOf(nodes: readonly FlowNodeView[], wires: readonly WireView[], now: number): Jam | undefined {
  const wire = thickest(wires.filter((one) => kindOf(one, now) === 'back'))
  if (!wire) return undefined
  const { cause, passed, lit } = causeOf(wire, nodes, wires, now)
  if (!cause) return undefined
  const names = new Set(passed.map(({ name }) => name))
  let source = wire.from.node
  while (source !== null && !names.has(source)) {
    names.add(source)
    const into = thickest(wires.filter(({ to, size, behind }) => to.node === source && size + behind > 0))
    if (into) lit.push(into)
    source = into?.from.node ?? null
  }
  return { wire, cause, nodes: [...names], wires: lit.map(({ id }) => id) }
}

export function jamSaid({ wire, cause }: Jam, facts: Facts): string {
  const waits = sumOnWire(wire)
  const long = about(facts.now - wire.oldestAt!)
  return `${many(waits, 'value has', 'values have')} waited at ${wire.id} for up to ${long}. Cause: ${cause.name} (${factOf(cause, facts)}).`
}
