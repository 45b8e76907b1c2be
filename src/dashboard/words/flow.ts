import type { Status } from '../../core/job.ts'
import { rateOf } from '../../core/minutes.ts'
import { MINUTE } from '../../core/units.ts'
import { endText } from '../../core/wires.ts'
import type { FlowNodeView, FlowRow, WireView } from '../../engine/engine.ts'
import { sum } from './counts.ts'
import { textOf } from './json.ts'
import { about, count, cut, many, span } from './text.ts'

const MOST = 2_048

/** With more nodes than this, the page lists nodes next to the board, and only few wires have a label. */
export const LARGE = 60
export const CLOSED = { node: undefined, wire: undefined, watch: undefined }

type WireKind = 'idle' | 'hot' | 'back'

export type LimitRoom = { running: number; concurrency: number | null }

/** A wire with a late value is backing up. */
export const isLate = ({ oldestAt }: Pick<WireView, 'oldestAt'>, now: number): boolean =>
  oldestAt !== null && now - oldestAt > MINUTE

type Waiting = Pick<WireView, 'to' | 'size' | 'behind' | 'oldestAt' | 'rate'>

/** Values of an output of the flow never back up, because no node reads them. */
export function kindOf(wire: Waiting, now: number): WireKind {
  if (onWire(wire) > 0 && wire.to.node !== null && isLate(wire, now)) return 'back'
  return wire.rate > 0 ? 'hot' : 'idle'
}

export function labelOf(wire: Waiting, now: number): string {
  const waits = onWire(wire)
  if (kindOf(wire, now) === 'back') return `${count(waits)} · ${about(now - wire.oldestAt!)}`
  if (wire.rate > 0) return `${count(wire.rate)}/min`
  return waits > 0 ? count(waits) : ''
}

export function wireText(wire: WireView, now: number): string {
  const waits = onWire(wire)
  const since = wire.oldestAt === null ? '' : `, the oldest for ${span(now - wire.oldestAt)}`
  const what = waits > 0 ? `${many(waits, 'value')} waiting${since}` : 'no values'
  const last = lastOf(wire)
  return `${endText(wire.from)} to ${endText(wire.to)}: ${what}, ${count(wire.rate)} read per minute${last && `, last value ${cut(last, 80)}`}`
}

export const lastOf = ({ passed }: Pick<WireView, 'passed'>): string => passed[0]?.data ?? ''

export const boardWires = (wires: readonly WireView[]): WireView[] =>
  wires.map((wire) => ({
    ...wire,
    oldest: null,
    passed: wire.passed.map(({ data, at }) => ({ at, data: textOf(data, MOST).text })),
  }))

/** A recording has no reasons for waits. */
type Known = { wires: readonly WireView[]; isPast?: boolean }
type Facts = Known & { now: number; room?: LimitRoom | undefined }

export const factsOf = (
  { limit }: FlowNodeView,
  { limits, wires, isPast = false }: Known & { limits: Record<string, LimitRoom> },
  now: number,
): Facts => ({ now, room: limit === null ? undefined : limits[limit], wires, isPast })

const wiresInto = (name: string, wires: readonly WireView[]): WireView[] => wires.filter(({ to }) => to.node === name)

function missing({ name }: FlowNodeView, wires: readonly WireView[]): string[] {
  const into = wiresInto(name, wires)
  if (into.every(({ size }) => size === 0)) return []
  return [...new Set(into.filter(({ size }) => size === 0).map(({ to }) => to.port))]
}

const sleeps = ({ until }: FlowNodeView, now: number): boolean => until !== null && until > now

/** True if the node is suspended, although each input has had a value for more than a minute. */
export function isUnread(node: FlowNodeView, { now, wires }: Facts): boolean {
  const into = wiresInto(node.name, wires)
  const isFilled = into.length > 0 && into.every((wire) => wire.size > 0 && isLate(wire, now))
  return node.status === 'suspended' && !sleeps(node, now) && isFilled
}

const queued = ({ limit, until }: FlowNodeView, { now, room, isPast }: Facts): string => {
  if (isPast) return 'queued'
  if (limit) return room?.concurrency ? `limit full, ${room.running} of ${room.concurrency}` : 'waiting for a limit'
  return until !== null && until > now ? `continues in ${about(until - now)}` : 'waits for a worker'
}

const suspended = (node: FlowNodeView, facts: Facts): string => {
  if (facts.isPast) return 'suspended'
  if (sleeps(node, facts.now)) return `wakes in ${about(node.until! - facts.now)}`
  if (isUnread(node, facts)) return 'does not read its input'
  return `waits for ${missing(node, facts.wires).join(', ') || 'input'}`
}

const facts: Record<Status, (node: FlowNodeView, facts: Facts) => string> = {
  queued,
  running: ({ ranAt }, { now }) => (ranAt === null ? 'running' : `running for ${span(now - ranAt)}`),
  suspended,
  completed: ({ lastRun }, { now }) => (lastRun ? `idle for ${about(now - lastRun.endedAt)}` : 'idle'),
  failed: ({ lastRun }, { now }) => (lastRun ? `failed ${about(now - lastRun.endedAt)} ago` : 'failed'),
  terminating: () => 'is terminating',
  terminated: () => 'was terminated',
}

export const factOf = (node: FlowNodeView, about: Facts): string =>
  node.status === null ? 'not started' : facts[node.status](node, about)

export const toneOf = ({ status, limit }: FlowNodeView) =>
  status === 'failed' ? 'failed' : limit === null ? undefined : 'suspended'

/** Undefined for an idle node, so that the other nodes stand out. */
export function markOf(node: FlowNodeView, facts: Facts): Status | undefined {
  const { status } = node
  const isIdle = !sleeps(node, facts.now) && !isUnread(node, facts) && missing(node, facts.wires).length === 0
  if (status === 'suspended') return isIdle ? undefined : status
  return status === 'completed' || status === null ? undefined : status
}

export const kindOfNode = (node: FlowNodeView, about: Facts): string =>
  node.status === null ? 'unmade' : `${markOf(node, about) ?? 'idle'}${node.limit === null ? '' : ' limited'}`

export const sumOf = ({ nodes, running, queued, failed, values }: FlowRow): string =>
  `${count(running)} of ${many(nodes, 'node')} running, ${count(queued)} queued${failed > 0 ? `, ${count(failed)} failed` : ''}; ${many(values, 'value waits', 'values wait')}`

export const growthOf = ({ in: came, out }: WireView, now: number): number =>
  rateOf(
    came.map((n, i) => n - out[i]!),
    now,
  )

export const drainTime = ({ size, rate }: WireView): string | undefined =>
  size > 0 && rate > 0 ? about(Math.ceil(size / rate) * MINUTE) : undefined

type Jam = {
  wire: WireView
  cause: FlowNodeView
  nodes: string[]
  wires: string[]
}

/** Counts the values of a port once, even if several wires end at the port. */
export function waitingAt(name: string, wires: readonly WireView[]): number {
  const ends = new Map<string, number>()
  for (const { from, to, size, behind } of wiresInto(name, wires)) ends.set(to.port, size).set(endText(from), behind)
  return sum([...ends.values()])
}

export const onWire = ({ size, behind }: Waiting): number => size + behind
const thickest = (wires: readonly WireView[]): WireView | undefined =>
  wires.toSorted((a, b) => onWire(b) - onWire(a))[0]

function causeOf(wire: WireView, nodes: readonly FlowNodeView[], wires: readonly WireView[], now: number) {
  const lit: WireView[] = [wire]
  const passed: FlowNodeView[] = []
  let cause = nodes.find(({ name }) => name === wire.to.node)
  while (cause) {
    const { name, status } = cause
    passed.push(cause)
    const into = wiresInto(name, wires)
    const empty = status === 'suspended' && !sleeps(cause, now) ? into.find(({ size }) => size === 0) : undefined
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
    const into = thickest(wiresInto(source, wires).filter((one) => onWire(one) > 0))
    if (into) lit.push(into)
    source = into?.from.node ?? null
  }
  return { wire, cause, nodes: [...names], wires: lit.map(({ id }) => id) }
}

export function jamText({ wire, cause }: Jam, facts: Facts): string {
  const waits = onWire(wire)
  const long = about(facts.now - wire.oldestAt!)
  return `${many(waits, 'value has', 'values have')} waited at ${endText(wire.from)} → ${endText(wire.to)} for up to ${long}. Cause: ${cause.name} (${factOf(cause, facts)}).`
}

/** Its classes are in the standard library. */
export const sampleGraph = {
  nodes: {
    split: { queue: 'core', class: 'split', inports: { in: { init: ['to,be,or,not,to,be'] } } },
    each: { queue: 'core', class: 'each' },
  },
  edges: [{ from: { node: 'split', outport: 'out' }, to: { node: 'each', inport: 'in' } }],
  inports: { text: { node: 'split', inport: 'in' } },
  outports: { word: { node: 'each', outport: 'out' } },
}
