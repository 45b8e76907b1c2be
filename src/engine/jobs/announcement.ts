// Announces the classes of this deployment to Redis if they changed and if this is its newest version.

import { hashOf } from '../../core/crypto.ts'
import { readObject } from '../../core/readable.ts'
import type { Store } from '../../redis/store.ts'
import type { WorkerDefinition } from '../engine.ts'

export type Announced = {
  queue: string
  name: string
  definition: string
  serves: 'push' | 'call'
  concurrency?: number
  cron?: WorkerDefinition['cron']
}

/** Creates, changes or removes the schedule of a class to match its definition. */
export type SetCron = (of: { queue: string; name: string }, cron: WorkerDefinition['cron'] | null) => Promise<void>

export type AnnouncerOptions = {
  store: Store
  /** Identifies a deployment over all its versions. */
  deployment: string
  classes: () => Announced[]
  now: () => number
  /** Absent if functions cannot have schedules. */
  setCron?: SetCron
}

/** `hashes` identify its versions, newest first. */
export type Deployment = { at: number; hashes: string[]; classes: string[]; crons?: string[] }

/** Number of versions remembered, to recognize the last isolates of an old version. */
const VERSIONS = 8
/** After 10 minutes an isolate of an old version means a rollback. */
const ROLLED_BACK = 600_000

// Names contain no line break.
export const keyOf = ({ queue, name }: { queue: string; name: string }): string => `${queue}\n${name}`

const namedBy = (key: string): { queue: string; name: string } => {
  const [queue, name] = key.split('\n') as [string, string]
  return { queue, name }
}

const removed = (key: string) => ({ ...namedBy(key), definition: null, serves: 'push' as const })

/** Returns classes or schedules that this deployment announced and no deployment has now. */
function goneFrom(
  what: 'classes' | 'crons',
  { own, others }: { own?: Deployment; others: Deployment[] },
  rows: Announced[],
): string[] {
  const kept = new Set([...rows.map(keyOf), ...others.flatMap((one) => one[what] ?? [])])
  return (own?.[what] ?? []).filter((key) => !kept.has(key))
}

/**
 * Creates the announcer. Without `known` it reads the announcements with one command.
 *
 * @example const announce = createAnnouncer({ store, deployment: 'a', classes, now }); await announce()
 */
export function createAnnouncer({ store, deployment, classes, now, setCron }: AnnouncerOptions) {
  async function schedule(repeating: Announced[], gone: string[]): Promise<void> {
    if (!setCron) return
    await Promise.all([
      ...repeating.map((row) => setCron(row, row.cron!)),
      ...gone.map((key) => setCron(namedBy(key), null)),
    ])
  }

  async function write(rows: Announced[], gone: string[], isFirst: boolean): Promise<void> {
    const byQueue = Map.groupBy([...rows, ...gone.map(removed)], ({ queue }) => queue)
    await Promise.all([...byQueue].map(([queue, all]) => store.register(queue, all, { whole: isFirst })))
  }

  async function read(id: string): Promise<{ own?: Deployment; others: Deployment[] }> {
    const all = Object.entries(await store.deployments()).flatMap(([of, text]) => {
      const one = readObject<Deployment>(text)
      return one ? [[of, one] as const] : []
    })
    return { own: all.find(([of]) => of === id)?.[1], others: all.filter(([of]) => of !== id).map(([, one]) => one) }
  }

  let ours: { id: string; hash: string; rows: Announced[] } | undefined
  async function hashed() {
    const rows = classes()
    const [id, hash] = await Promise.all([hashOf(deployment), hashOf(JSON.stringify(rows))])
    return { id: id.slice(0, 12), hash: hash.slice(0, 16), rows }
  }

  let isDone = false

  async function announce(announced?: readonly string[]): Promise<void> {
    ours ??= await hashed()
    const { id, hash, rows } = ours
    const newest = `${id} ${hash}`
    const before = (announced ?? (await store.announced())).filter((one) => one.startsWith(`${id} `))
    if (before.length === 1 && before[0] === newest) return
    const all = await read(id)
    const { own, others } = all
    const isKnown = own !== undefined && own.hashes.indexOf(hash) > 0
    // A missing announcement is repeated only if Redis lost it. Otherwise another version has announced itself since.
    if (isKnown && (isDone || now() - own.at < ROLLED_BACK)) return
    // If no deployment has announced anything, existing classes are from an earlier release.
    await write(rows, goneFrom('classes', all, rows), !own && others.length === 0)
    const repeating = rows.filter(({ cron }) => cron)
    await schedule(repeating, goneFrom('crons', all, repeating))
    const hashes = [hash, ...(own?.hashes ?? []).filter((one) => one !== hash)].slice(0, VERSIONS)
    const text = JSON.stringify({
      at: now(),
      hashes,
      classes: rows.map(keyOf),
      crons: repeating.map(keyOf),
    } satisfies Deployment)
    await store.setDeployment(
      id,
      text,
      hash,
      before.filter((one) => one !== newest),
    )
  }

  return async (announced?: readonly string[]): Promise<void> => {
    await announce(announced)
    isDone = true
  }
}
