import type { Encoded } from '../../core/codec/value.ts'
import { missing } from '../../core/errors.ts'
import { readLabels } from '../../core/labels.ts'
import { ownProperty } from '../../core/own.ts'
import type { Adoptable } from '../../core/plan.ts'
import { redacted } from '../../core/redact.ts'
import type { Snapshot, SnapshotIn, SnapshotOut, Wiring } from '../../core/run.ts'
import type { Row } from '../../redis/answers.ts'
import { shownItem } from '../../redis/item.ts'
import { PLACE, TERMINATING } from '../../redis/marks.ts'
import {
  aliasesOf,
  channelsOf,
  childrenOf,
  createdAtOf,
  defaultOf,
  dirOf,
  hasNamed,
  type JobRecord,
  momentOf,
  parentOf,
  portsOf,
  stateOf,
  statusOf,
  waitingOf,
} from '../../redis/record.ts'
import type { Store } from '../../redis/store.ts'
import type { CallbackJob, ClaimedJob, EndedChild } from '../../redis/types.ts'
import type { JobBase, PortView } from '../engine.ts'
import { slotOf } from '../jobs/slot.ts'
import { progressOf } from '../remote/callbacks.ts'

export function inputsOf({ document, inputs }: ClaimedJob): Record<string, SnapshotIn> {
  const ports: Record<string, SnapshotIn> = {}
  for (const { port, pushed, taken } of portsOf(document, 'i')) {
    const values = (ownProperty(inputs, port) ?? []).map(shownItem)
    const more = pushed - taken - values.length
    ports[port] = { cursor: taken, values, more, default: defaultOf(document, 'i', port) }
  }
  return ports
}

function outputsOf({ document }: ClaimedJob): Record<string, SnapshotOut> {
  const ports: Record<string, SnapshotOut> = {}
  for (const { port, pushed, taken } of portsOf(document, 'o')) {
    const channels = channelsOf(document, 'o', port)
    ports[port] = { size: pushed - taken, channels, default: defaultOf(document, 'o', port) }
  }
  return ports
}

function stepsOf(flat: string[]): Record<string, Encoded> {
  const steps: Record<string, Encoded> = Object.create(null)
  for (let i = 0; i < flat.length; i += 2) steps[flat[i]!] = flat[i + 1] as Encoded
  return steps
}

function familyOf({ family }: ClaimedJob): NonNullable<Snapshot['family']> {
  const those = (is: EndedChild['how'], leaves: 'result' | 'error') =>
    family
      .filter(({ how }) => how === is)
      .map(({ how, left, ...endedChild }) => ({ ...endedChild, ...(left === null ? {} : { [leaves]: left }) }))
  return {
    finished: those('finished', 'result'),
    cancelled: those('cancelled', 'error'),
    failed: those('failed', 'error'),
  }
}

export async function adoptable(store: Store, id: number): Promise<Adoptable | null> {
  const found = await store.inspect(String(id)).catch(missing)
  if (!found) return null
  const { queue, class: name, args } = found.document
  return {
    queue: queue!,
    class: name!,
    args: args ?? null,
    parent: parentOf(found.document)?.id ?? null,
    error: found.document.lastError ?? null,
  }
}

const ends = /(\d+):([io]):(\w+)/g

export const wiringOf = ({ child, side, port, size, hasDefault, wires }: Omit<Row<'wiring'>, 'passed'>): Wiring => ({
  ...(child ? { child } : {}),
  dir: dirOf(side),
  port,
  size,
  default: hasDefault,
  to:
    wires === '!'
      ? 'call'
      : [...wires.matchAll(ends)].map(([, id, to, name]) => ({ job: Number(id), dir: dirOf(to!), port: name! })),
})

export function snapshotOf(claimed: ClaimedJob, timeout: number, schema?: string): Snapshot {
  const { document: doc } = claimed
  const children = childrenOf(claimed.children)
  const missing = claimed.childCount - Object.keys(children).length
  const named = hasNamed(doc)
  return {
    run: {
      token: doc.token!,
      attempt: (doc.failures ?? 0) + 1,
      lost: doc.lostRuns ?? 0,
      reason: doc.terminating === TERMINATING.shutdown ? 'shutdown' : 'run',
      timeout: doc.timeout ?? timeout,
      startedAt: doc.ranAt!,
      leaseUntil: doc.leaseUntil!,
      ...slotOf(doc),
      schema,
    },
    job: {
      id: claimed.id,
      queue: doc.queue,
      class: doc.class,
      args: doc.args ?? null,
      name: doc.childName ?? null,
      createdAt: createdAtOf(doc),
      createdBy: doc.createdBy ?? '',
      labels: doc.labels === undefined ? undefined : readLabels(doc.labels),
      ranAt: doc.startedUp ? (doc.previousRanAt ?? doc.ranAt ?? null) : null,
      parent: parentOf(doc),
      aliases: aliasesOf(doc),
    },
    state: named ? stateOf(doc) : {},
    in: named ? inputsOf(claimed) : {},
    out: named ? outputsOf(claimed) : {},
    children,
    ...(missing > 0 ? { moreChildren: missing } : {}),
    ...(claimed.steps.length ? { steps: stepsOf(claimed.steps) } : {}),
    ...(claimed.moreSteps ? { moreSteps: true as const } : {}),
    ...(claimed.family.length ? { family: familyOf(claimed) } : {}),
    ...(doc.followed ? { wires: claimed.wires.map(wiringOf) } : {}),
  }
}

function portViews(doc: JobRecord, dir: 'i' | 'o', paths: readonly string[]): Record<string, PortView> {
  const ports: Record<string, PortView> = {}
  for (const counts of portsOf(doc, dir)) ports[counts.port] = portView(doc, dir, counts, paths)
  return ports
}

type PortCounts = { port: string; pushed: number; taken: number }

/** Redacts the values at `paths`. */
export function portView(
  doc: JobRecord,
  dir: 'i' | 'o',
  { port, pushed, taken }: PortCounts,
  paths: readonly string[],
): PortView {
  const fallback = defaultOf(doc, dir, port)
  return {
    size: pushed - taken,
    taken,
    channels: channelsOf(doc, dir, port),
    ...(fallback ? { default: redacted(fallback.data, paths, dirOf(dir), port) } : {}),
  }
}

export const dueAtOf = (doc: JobRecord): number =>
  (doc.place === PLACE.timers ? runAtOf(doc) : null) ?? momentOf(doc.sequence)

export const runAtOf = (doc: JobRecord): number | null => {
  if (doc.place !== PLACE.timers) return doc.notBefore ?? doc.nextSlot ?? doc.sleepUntil ?? null
  const wanted = doc.wantedEarly
    ? []
    : [doc.notBefore, doc.nextSlot, doc.sleepUntil].filter((t) => t !== undefined).map(Number)
  const earliest = wanted.length ? Math.min(...wanted) : 0
  return Math.max(earliest, doc.backoffUntil ?? 0, doc.lockUntil ?? 0)
}

export type Beside = { children?: string[]; childCount?: number; callback?: CallbackJob }

/** Redacts the values at `paths`. */
export function viewOf(
  id: number,
  doc: JobRecord,
  paths: readonly string[],
  { children = [], childCount = 0, callback }: Beside = {},
): JobBase {
  const missing = childCount - children.length / 2
  return {
    id,
    queue: doc.queue,
    class: doc.class,
    status: statusOf(doc),
    args: redacted(doc.args ?? null, paths, 'args'),
    name: doc.childName ?? null,
    parent: parentOf(doc),
    aliases: aliasesOf(doc),
    priority: doc.priority ?? 0,
    group: doc.group ?? null,
    attempt: (doc.failures ?? 0) + (statusOf(doc) === 'running' ? 1 : 0),
    lost: doc.lostRuns ?? 0,
    createdAt: createdAtOf(doc),
    createdBy: doc.createdBy ?? '',
    labels: readLabels(doc.labels),
    ...(doc.apiKey ? { by: doc.apiKey } : {}),
    ranAt: doc.ranAt ?? null,
    endedAt: doc.endedAt ?? null,
    runAt: runAtOf(doc),
    waitingFor: waitingOf(doc),
    error: redacted(doc.lastError ?? null, paths, 'error'),
    progress: redacted(doc.progress ?? null, paths, 'progress'),
    repeat: doc.repeats ?? null,
    callback: progressOf(doc, callback),
    in: portViews(doc, 'i', paths),
    out: portViews(doc, 'o', paths),
    children: childrenOf(children),
    ...(missing > 0 ? { moreChildren: missing } : {}),
  }
}
