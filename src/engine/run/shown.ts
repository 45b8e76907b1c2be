// Viewers get redacted values. Runs, and callers that take a value, receive the original value.

import type { Encoded } from '../../core/codec/value.ts'
import { mapValues } from '../../core/map-values.ts'
import { redacted } from '../../core/redact.ts'
import type { Snapshot } from '../../core/run.ts'
import { dirOf, type JobRecord, redactedPathsOf } from '../../redis/record.ts'
import type { Item, JobBase, PortView } from '../engine.ts'
import { type Beside, portView, viewOf } from './snapshot.ts'

export const shownPortOf = (record: JobRecord, dir: 'i' | 'o', counts: Parameters<typeof portView>[2]): PortView =>
  portView(record, dir, counts, redactedPathsOf(record))

export function shownValues(record: JobRecord, dir: 'i' | 'o', port: string, items: readonly Item[]): Item[] {
  const paths = redactedPathsOf(record)
  return items.map((item) => ({ ...item, data: redacted(item.data, paths, dirOf(dir), port) }))
}

export const shownError = (record: JobRecord): Encoded | null =>
  redacted(record.lastError ?? null, redactedPathsOf(record), 'error')

export function shownState(record: JobRecord, state: Record<string, Encoded>): Record<string, Encoded> {
  const paths = redactedPathsOf(record)
  if (paths.length === 0) return state
  return mapValues(state, (value, field) => redacted(value, paths, 'state', field))
}

export const shownJob = (id: number, record: JobRecord, more?: Beside): JobBase =>
  viewOf(id, record, redactedPathsOf(record), more)

type Part = Parameters<typeof redacted>[2]

export const missingKeyOf = (value: Encoded | null | undefined): string | undefined =>
  /^\{"\$sealed":"~f(.*?)\./.exec(value ?? '')?.[1]

/** `endedChildren` has the records of ended children, by id. All values of a child without a record are redacted. */
export function shownSnapshot(
  snapshot: Snapshot,
  record: JobRecord,
  endedChildren: ReadonlyMap<number, JobRecord>,
): { snapshot: Snapshot; masked: string[] } {
  const masked = new Set<string>()
  const hider =
    (of: JobRecord | undefined, prefix = '') =>
    <T extends Encoded | null>(value: T, part: Part, name?: string): T => {
      const shown = redacted(value, of ? redactedPathsOf(of) : [part], part, name)
      if (shown !== value || missingKeyOf(value))
        masked.add(prefix || [part, name].filter((word) => word !== undefined).join('.'))
      return shown
    }
  const hide = hider(record)
  const item = (part: 'in' | 'out', port: string) => (one: Item) => ({ ...one, data: hide(one.data, part, port) })
  const endedChild = (one: EndedChildView): EndedChildView => {
    const hideOf = hider(endedChildren.get(one.id), `child.${one.name}`)
    return {
      ...one,
      args: hideOf(one.args, 'args'),
      ...(one.result === undefined ? {} : { result: hideOf(one.result, 'result') }),
      ...(one.error === undefined ? {} : { error: hideOf(one.error, 'error') }),
    }
  }
  for (const [name, step] of Object.entries(snapshot.steps ?? {})) if (missingKeyOf(step)) masked.add(`steps.${name}`)
  const { job, state, family } = snapshot
  const ports = <P extends Port>(part: 'in' | 'out', of: Record<string, P>) =>
    mapValues(of, (port, name) => withItems(port, item(part, name)))
  const shown: Snapshot = {
    ...snapshot,
    job: { ...job, args: hide(job.args, 'args') },
    state: mapValues(state, (value, field) => hide(value, 'state', field)),
    in: ports('in', snapshot.in),
    out: ports('out', snapshot.out),
    ...(family && {
      family: {
        finished: family.finished.map(endedChild),
        cancelled: family.cancelled.map(endedChild),
        failed: family.failed.map(endedChild),
      },
    }),
  }
  return { snapshot: shown, masked: [...masked].sort() }
}

type EndedChildView = NonNullable<Snapshot['family']>['finished'][number]
type Port = { values?: Item[]; default?: Item }

const withItems = <P extends Port>(port: P, shown: (item: Item) => Item): P => ({
  ...port,
  ...(port.values ? { values: port.values.map(shown) } : {}),
  ...(port.default ? { default: shown(port.default) } : {}),
})
