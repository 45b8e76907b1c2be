import type { Encoded } from '../../../src/core/codec/value.ts'
import type { Changes, Op } from '../../../src/core/run.ts'
import { outcomeOf, skipped } from '../../../src/engine/jobs/outcome.ts'
import type { RunOutcome } from '../../../src/redis/changes.ts'
import { type Child, childrenOf } from '../../../src/redis/record.ts'
import type { ClaimedJob } from '../../../src/redis/types.ts'
import { createVault } from '../../../src/redis/vault.ts'
import { classes, classNames, isCallback, isPacked, NEWS, QUEUES, registry } from './classes.ts'
import { type Facts, portOf } from './judge.ts'
import { idOf, nameOf } from './redis.ts'
import type { World } from './world.ts'

export type Plan = {
  settled: RunOutcome
  job: number
  key: string
  facts: Pick<Facts, 'must' | 'may' | 'read' | 'logs' | 'timed' | 'meddled' | 'wanted' | 'waits'>
  planned: number
}

export type Peeked = { name: string; child: Child; taken: number; values: string[] }[]

type Draft = {
  world: World
  claimed: ClaimedJob
  children: Record<string, Child>
  peeked: Peeked
  tag: string
  ops: Op[]
  reads: NonNullable<Changes['reads']>
  must: string[]
  may: string[]
  read: Facts['read']
  meddled: boolean
  spawned: boolean
}

const MOST_JOBS = 12

export const text = (value: string): Encoded =>
  JSON.stringify(value.charCodeAt(value.length - 1) % 3 === 0 ? value.padEnd(300, '.') : value) as Encoded

const valuesOf = (draft: Draft, n: number, quiet = false): Encoded[] =>
  Array.from({ length: n }, () => {
    const value = `${quiet ? 'q' : ''}${draft.tag}:${draft.may.length}`
    draft.may.push(value)
    return text(value)
  })

function mustAppear(draft: Draft, n: number, quiet = false): Encoded[] {
  const values = valuesOf(draft, n, quiet)
  draft.must.push(...values.map(nameOf))
  return values
}

export const inputOf = (name: string): string | undefined => Object.keys(classes[name]!.in!)[0]?.replace('*', 'x')
export const outputOf = (name: string): string | undefined => Object.keys(classes[name]!.out!)[0]?.replace('*', 'y')

const someChild = ({ world, children }: Draft): [string, Child] | undefined => {
  const all = Object.entries(children)
  return all.length ? world.random.pick(all) : undefined
}

function readOwn(draft: Draft, all = false): void {
  const { claimed, world } = draft
  for (const [port, items] of Object.entries(claimed.inputs)) {
    const count = all ? items.length : world.random.int(items.length + 1)
    const cursor = Number(claimed.document[`i:${port}`]!.split(',')[1])
    if (draft.reads[port]) continue
    draft.reads[port] = { cursor, count }
    draft.read.push({ port: portOf(claimed.id, `i:${port}`), values: items.slice(0, count).map(idOf) })
  }
}

function writeOut(draft: Draft, n = 1 + draft.world.random.int(2)): void {
  const port = outputOf(draft.claimed.document.class)
  if (port) draft.ops.push({ op: 'write', to: { out: port }, values: mustAppear(draft, n) })
}

function writeChild(draft: Draft): void {
  const [name, child] = someChild(draft) ?? []
  const port = child && inputOf(child.class)
  if (!name || !port) return
  const quiet = draft.world.random.chance(0.1)
  draft.ops.push({ op: 'write', to: { child: name, in: port }, values: mustAppear(draft, 1, quiet), notify: !quiet })
}

function writeOther(draft: Draft): void {
  const all = [...draft.world.view.jobs.values()].filter(({ doc }) => inputOf(doc.class))
  if (all.length === 0) return
  const { id, doc } = draft.world.random.pick(all)
  draft.ops.push({ op: 'write', to: { job: id, in: inputOf(doc.class)! }, values: mustAppear(draft, 1) })
}

function spawn(draft: Draft): void {
  const { random, view } = draft.world
  if ([...view.jobs.values()].filter((job) => !isCallback(job)).length >= MOST_JOBS) return
  for (let n = 1 + random.int(2); n > 0; n--) {
    const name = `k${random.int(40)}`
    const className = random.pick(classNames)
    const port = inputOf(className)
    draft.ops.push({
      op: 'spawn',
      name,
      queue: random.pick(QUEUES),
      class: className,
      ...(port && random.chance(0.4) ? { inputs: { [port]: mustAppear(draft, 1) } } : {}),
      ...(random.chance(0.2) ? { wait: Math.round(random.between(1_000, 40_000)) } : {}),
      ...(random.chance(0.2) ? { priority: random.int(3) } : {}),
    })
    draft.spawned = true
    if (port && random.chance(0.4))
      draft.ops.push({ op: 'write', to: { child: name, in: port }, values: mustAppear(draft, 1) })
  }
}

function readChild(draft: Draft): void {
  const seen = draft.peeked.filter(({ values }) => values.length)
  if (seen.length === 0) return
  const { name, child, taken, values } = draft.world.random.pick(seen)
  const port = outputOf(child.class)!
  const key = portOf(child.id, `o:${port}`)
  if (draft.read.some((other) => other.port === key)) return
  draft.ops.push({ op: 'read', from: { child: name, out: port }, cursor: taken, count: values.length })
  draft.read.push({ port: key, values })
}

function connectToChild(draft: Draft): void {
  const [name, child] = someChild(draft) ?? []
  const to = child && inputOf(child.class)
  const from = outputOf(draft.claimed.document.class)
  // A job of class `herald` also publishes its output on a channel, so a wire could deliver the same value again.
  if (name && to && from === 'out' && draft.claimed.document.class !== 'herald')
    draft.ops.push({ op: 'connect', from: { out: from }, to: [{ child: name, in: to }] })
}

/** A job of class `reader` also gets values from a channel, so a wire could deliver the same value again. */
function wire(draft: Draft): void {
  const [name, child] = someChild(draft) ?? []
  const [other, sibling] = someChild(draft) ?? []
  if (sibling?.class === 'reader') return
  const [from, to] = [child && outputOf(child.class), sibling && inputOf(sibling.class)]
  const [own, out] = [inputOf(draft.claimed.document.class), outputOf(draft.claimed.document.class)]
  if (own && other && to && draft.world.random.chance(0.3))
    draft.ops.push({ op: 'wire', from: { in: own }, to: [{ child: other, in: to }] })
  else if (name && from && child!.class !== 'herald' && other !== name && to)
    draft.ops.push({ op: 'wire', from: { child: name, out: from }, to: [{ child: other!, in: to }] })
  else if (name && from && child!.class !== 'herald' && out)
    draft.ops.push({ op: 'wire', from: { child: name, out: from }, to: [{ out }] })
}

function toChild(draft: Draft, op: (name: string) => Op): void {
  const [name] = someChild(draft) ?? []
  if (!name) return
  draft.ops.push(op(name))
  draft.meddled = true
}

function adopt(draft: Draft): void {
  const orphans = [...draft.world.view.jobs.values()].filter(({ doc }) => !doc.parent)
  if (orphans.length)
    draft.ops.push({ op: 'adopt', job: draft.world.random.pick(orphans).id, name: `a${draft.world.random.int(9)}` })
}

const always = (): boolean => true
const isParent = ({ children }: Draft): boolean => Object.keys(children).length > 0

const moves: { weight: number; when: (draft: Draft) => boolean; make: (draft: Draft) => void }[] = [
  { weight: 8, when: always, make: (draft) => readOwn(draft) },
  { weight: 6, when: always, make: (draft) => readOwn(draft, true) },
  { weight: 5, when: always, make: writeOut },
  { weight: 3, when: always, make: spawn },
  { weight: 6, when: ({ claimed }) => claimed.document.class === 'parent', make: spawn },
  { weight: 4, when: isParent, make: writeChild },
  { weight: 5, when: isParent, make: readChild },
  { weight: 2, when: isParent, make: connectToChild },
  { weight: 3, when: isParent, make: wire },
  { weight: 1, when: always, make: writeOther },
  {
    weight: 1,
    when: always,
    make: (draft) => draft.ops.push({ op: 'publish', channel: `${NEWS}/today`, message: valuesOf(draft, 1)[0]! }),
  },
  {
    weight: 1,
    when: always,
    make: (draft) => draft.ops.push({ op: 'step', name: `s${draft.world.random.int(3)}`, value: '1' as Encoded }),
  },
  { weight: 0.5, when: always, make: (draft) => draft.ops.push({ op: 'log', entry: '{"said":1}' as Encoded }) },
  {
    weight: 0.7,
    when: isParent,
    make: (draft) => toChild(draft, (child) => ({ op: 'run', child, force: draft.world.random.chance(0.4) })),
  },
  {
    weight: 0.7,
    when: isParent,
    make: (draft) => toChild(draft, (child) => ({ op: 'terminate', child, recursive: draft.world.random.chance(0.5) })),
  },
  {
    weight: 0.5,
    when: isParent,
    make: (draft) => toChild(draft, (child) => ({ op: 'delete', child, force: draft.world.random.chance(0.6) })),
  },
  { weight: 0.5, when: isParent, make: (draft) => toChild(draft, (child) => ({ op: 'disown', child })) },
  { weight: 0.5, when: always, make: adopt },
  {
    weight: 0.4,
    when: always,
    make: (draft) => draft.ops.push({ op: 'write', to: { in: 'nowhere-at-all' }, values: valuesOf(draft, 1) }),
  },
]

type End = Pick<Changes, 'end' | 'at' | 'wait' | 'waitFor' | 'error'>

const ends: { weight: number; end: (draft: Draft) => End }[] = [
  { weight: 5, end: () => ({ end: 'completed' }) },
  { weight: 2, end: () => ({ end: 'suspended' }) },
  { weight: 1, end: waitForChildren },
  { weight: 0.7, end: () => ({ end: 'again' }) },
  { weight: 1, end: ({ world }) => ({ end: 'again', wait: Math.round(world.random.between(2_000, 60_000)) }) },
  {
    weight: 0.7,
    end: ({ world }) => ({ end: 'completed', at: Math.round(world.now + world.random.between(2_000, 60_000)) }),
  },
  { weight: 1, end: () => ({ end: 'failed', error: { message: 'by chance' } }) },
  { weight: 0.4, end: () => ({ end: 'failed', error: { message: 'for good', retry: false } }) },
]

function waitForChildren({ world, children }: Draft): End {
  const names = Object.keys(children)
  const some = names.filter(() => world.random.chance(0.6))
  return { end: 'suspended', waitFor: some.length && world.random.chance(0.4) ? some : 'children' }
}

function endOf(draft: Draft): End {
  const { random } = draft.world
  const { class: name, terminating } = draft.claimed.document
  if (terminating === '2')
    return random.chance(0.1) ? { end: 'failed', error: { message: 'in shutdown' } } : { end: 'completed' }
  if ((draft.spawned || isParent(draft)) && random.chance(0.2)) return { end: 'follow' }
  if ((draft.spawned || isParent(draft)) && random.chance(0.5)) return waitForChildren(draft)
  if (name === 'timer' && random.chance(0.6)) return { end: 'again', wait: Math.round(random.between(2_000, 60_000)) }
  return random.weighted(ends).end(draft)
}

/** True if a wire begins at the output. Such a job writes nothing, because a cycle of wires could wake it forever. */
function leadsOn({ claimed: { document } }: Draft): boolean {
  const output = outputOf(document.class)
  return ['wo', 'co'].some((field) => document[`${field}:${output}`] !== undefined)
}

function diligent(draft: Draft): End {
  readOwn(draft, true)
  if (draft.read.some(({ values }) => values.length) && !leadsOn(draft)) writeOut(draft)
  const open = Object.values(draft.children).some(({ status }) => status === 'queued' || status === 'terminating')
  return open && draft.claimed.document.terminating !== '2'
    ? { end: 'suspended', waitFor: 'children' }
    : { end: 'completed' }
}

function atRandom(draft: Draft): End {
  const { random } = draft.world
  const possible = moves.filter(({ when }) => when(draft))
  for (let n = random.int(5); n > 0; n--) random.weighted(possible).make(draft)
  return endOf(draft)
}

function asOthers(draft: Draft): End {
  readOwn(draft, true)
  if (draft.read.length > 0 && !leadsOn(draft)) writeOut(draft, 1)
  return { end: 'completed' }
}

/** Redis cannot store a run that writes a log entry together with equal runs, so 9 of 10 runs write no entry. */
const isLikeOthers = ({ claimed: { document }, world }: Draft): boolean =>
  isPacked(document.class) && document.terminating !== '2' && world.random.chance(0.9)

const tell = ({ world: { random, faulty } }: Draft): End =>
  faulty && random.chance(0.3)
    ? { end: 'failed', error: { message: 'nobody there', retry: !random.chance(0.3) } }
    : { end: 'completed' }

function draftOf(world: World, claimed: ClaimedJob, n: number, peeked: Peeked): Draft {
  return {
    world,
    claimed,
    peeked,
    children: childrenOf(claimed.children),
    tag: `${claimed.document.token}#${n}`,
    ops: [],
    reads: {},
    must: [],
    may: [],
    read: [],
    meddled: false,
    spawned: false,
  }
}

const logOf = ({ claimed, tag }: Draft): Encoded =>
  JSON.stringify([...JSON.parse(claimed.document['s:log'] ?? '[]'), tag]) as Encoded

export async function behave(
  world: World,
  claimed: ClaimedJob,
  n: number,
  peeked: Peeked,
  checkpoint: boolean,
): Promise<Plan> {
  const draft = draftOf(world, claimed, n, peeked)
  const isPlain = !checkpoint && isLikeOthers(draft)
  const saidOf = isCallback({ doc: claimed.document }) ? tell : isPlain ? asOthers : world.faulty ? atRandom : diligent
  const said = saidOf(draft)
  const end: End = checkpoint ? { end: 'checkpoint' } : said
  const log = logOf(draft)
  const state = isPlain ? {} : { state: { set: { log } } }
  const changes: Changes = { ...end, n, reads: draft.reads, ...state, ops: draft.ops }
  const settled = await outcomeOf(claimed.document.token!, changes, {
    document: claimed.document,
    vault: createVault(),
    retry: classes[claimed.document.class]!.retry,
    registry,
    random: world.random.next,
    now: world.now,
  })
  const timed = end.at !== undefined || end.wait !== undefined
  const wanted = end.end === 'again' && !timed ? [claimed.id] : []
  const { must, may, read, meddled } = draft
  const waits = end.waitFor ? [{ job: claimed.id, names: end.waitFor }] : []
  const facts = {
    must,
    may,
    read,
    meddled,
    wanted,
    waits,
    logs: isPlain ? [] : ([[claimed.id, log]] as [number, string][]),
    timed: timed ? [claimed.id] : [],
  }
  return { settled, job: claimed.id, key: draft.tag, facts, planned: world.now }
}

const noPlanFacts = (wanted: number[]): Plan['facts'] => ({
  must: [],
  may: [],
  read: [],
  logs: [],
  timed: [],
  waits: [],
  meddled: false,
  wanted,
})

export const handBack = (claimed: ClaimedJob, n: number, now: number): Plan => ({
  settled: { token: claimed.document.token!, n, end: 'released', words: [] },
  job: claimed.id,
  key: `${claimed.document.token}#${n}`,
  facts: noPlanFacts([claimed.id]),
  planned: now,
})

export function skip(claimed: ClaimedJob, now: number): Plan | undefined {
  const settled = skipped(claimed.document, now)
  return settled && { settled, job: claimed.id, key: `${settled.token}#0`, facts: noPlanFacts([]), planned: now }
}
