// The newest version defines the classes. Classes of older versions remain while isolates of these versions are active.

import { hashOf } from '../../core/crypto.ts'
import { hasCode } from '../../core/errors.ts'
import { readObject } from '../../core/readable.ts'
import type { Store } from '../../redis/store.ts'
import { objectsIn } from '../../redis/table.ts'
import type { WorkerDefinition } from '../engine.ts'

export type Announced = {
  queue: string
  name: string
  definition: string
  serves: 'push' | 'call'
  concurrency?: number
  cron?: WorkerDefinition['cron']
}

export type SetCron = (of: { queue: string; name: string }, cron: WorkerDefinition['cron'] | null) => Promise<void>

export type AnnouncerOptions = {
  store: Store
  deployment: string
  classes: () => Announced[]
  now: () => number
  setCron?: SetCron
  version?: string
  versionUrl?: string
  author?: string
  grace?: number
}

type CodeVersion = {
  hash: string
  defined?: string
  version?: string
  at: number
  seen: number
  classes: string[]
  crons?: string[]
}

export type Deploy = { version?: string; author?: string; at: number }

/** `versions` lists the newest version first. `classes` and `crons` combine the lists of all versions. */
type Deployment = {
  at: number
  hashes: string[]
  classes: string[]
  crons?: string[]
  versions?: CodeVersion[]
  deploys?: Deploy[]
}

export type AnnouncedVersion = { url: string; at: number }

/** Number of stored versions, enough to recognize the last isolates of an old version. */
const VERSIONS = 8
const MAX_DEPLOYS = 20
const MAX_ADDRESSES = 100
/** Milliseconds after a deployment. If an old version starts later than this, it was deployed again. */
const GRACE = 600_000
export const MAX_QUEUES = 50
const MAX_COUNTS = 256 * 1024

export const keyOf = ({ queue, name }: { queue: string; name: string }): string => `${queue}\n${name}`

export const deploymentsIn = objectsIn<Deployment>

const namedBy = (key: string) => {
  const [queue, name] = key.split('\n') as [string, string]
  return { queue, name }
}

const removed = (key: string) => ({ ...namedBy(key), definition: null, serves: 'push' as const })

/** Earlier releases stored only the newest version, without `versions`. */
const versionsOf = ({ versions, hashes, at, classes, crons }: Deployment): CodeVersion[] =>
  versions ?? [{ hash: hashes[0]!, at, seen: at, classes, ...(crons ? { crons } : {}) }]

const classesOf = (versions: readonly CodeVersion[]): string[] => [
  ...new Set(versions.flatMap(({ classes }) => classes)),
]

/** If several versions have a class, the newest version decides whether the class has a schedule. */
const cronsOf = (versions: readonly CodeVersion[]): string[] =>
  versions.flatMap(({ crons = [] }, i) => crons.filter((key) => !classesOf(versions.slice(0, i)).includes(key)))

type AnnouncedState = { own?: Deployment; mine: CodeVersion; isDone: boolean; grace: number }

function servingOf({ own, mine, isDone, grace }: AnnouncedState): CodeVersion[] {
  const before = own ? versionsOf(own) : []
  const [front] = before
  const isFront = front?.hash === mine.hash
  const isNew = !own?.hashes.includes(mine.hash)
  const leads = isFront || isNew || (!isDone && mine.seen - front!.at >= grace)
  if (!leads) {
    const joins = !before.some(({ hash }) => hash === mine.hash)
    const seen = before.map((one) => (one.hash === mine.hash ? { ...one, seen: mine.seen } : one))
    return [...seen, ...(joins && grace > 0 ? [mine] : [])].slice(0, VERSIONS)
  }
  const others = before
    .filter(({ hash }) => hash !== mine.hash)
    .map((one) => (one === front ? { ...one, seen: mine.seen } : one))
    .filter(({ seen }) => mine.seen - seen < grace)
  return [isFront ? front : mine, ...others].slice(0, VERSIONS)
}

function deploymentOf(serving: CodeVersion[], deploys: readonly Deploy[], own?: Deployment): Deployment {
  const hashes = new Set([...serving.map(({ hash }) => hash), ...(own?.hashes ?? [])])
  return {
    at: serving[0]!.at,
    hashes: [...hashes].slice(0, VERSIONS),
    classes: classesOf(serving),
    crons: cronsOf(serving),
    versions: serving,
    deploys: deploys.slice(0, MAX_DEPLOYS),
  }
}

type Found = { own?: Deployment; others: Deployment[] }

export function createAnnouncer(options: AnnouncerOptions) {
  const { store, deployment, classes, now, setCron, version, author, versionUrl, grace = GRACE } = options

  async function schedule(repeating: Announced[], gone: string[]) {
    if (!setCron) return
    await Promise.all([
      ...repeating.map(({ queue, name, cron }) =>
        setCron({ queue, name }, cron!).catch((error) => {
          // An error that would occur again must not stop the tick and the calls of other classes.
          if (!hasCode(error, 'REFUSED') && !hasCode(error, 'TAKEN')) throw error
          console.error(`sidejob: class ${name} of queue ${queue} has no schedule: ${error.message}`)
        }),
      ),
      ...gone.map((key) => setCron(namedBy(key), null)),
    ])
  }

  async function write(rows: Announced[], gone: string[], isFirst: boolean) {
    const byQueue = Map.groupBy([...rows, ...gone.map(removed)], ({ queue }) => queue)
    await Promise.all([...byQueue].map(([queue, all]) => store.register(queue, all, { whole: isFirst })))
  }

  async function read(id: string): Promise<Found> {
    const all = deploymentsIn(await store.deployments())
    return { own: all.find(([of]) => of === id)?.[1], others: all.filter(([of]) => of !== id).map(([, one]) => one) }
  }

  let ours: { id: string; hash: string; defined: string; rows: Announced[] } | undefined
  async function hashed() {
    const rows = classes()
    const [id, all] = await Promise.all([hashOf(deployment), hashOf(JSON.stringify(rows))])
    const defined = all.slice(0, 16)
    const code = [defined, version, versionUrl].filter((part) => part !== undefined).join(' ')
    const hash = code === defined ? defined : (await hashOf(code)).slice(0, 16)
    return { id: id.slice(0, 12), hash, defined, rows }
  }

  /** Ignores errors, because these counts are only needed to compare deployments. */
  async function keepCounts(id: string, at: number, dropped: readonly Deploy[]) {
    try {
      const { queues } = await store.classes('', MAX_QUEUES, 0)
      const text = JSON.stringify(queues.map(({ queue, texts }) => ({ queue, texts })))
      const gone = dropped.map((one) => one.at)
      await store.keepDeploy(id, at, text.length > MAX_COUNTS ? '[]' : text, gone)
    } catch {}
  }

  async function announceVersion(name: string, own: AnnouncedVersion) {
    const announced = Object.entries(await store.versions.all()).filter(([other]) => other !== name)
    const at = ([, text]: [string, string]) => readObject<AnnouncedVersion>(text)?.at ?? 0
    const gone = announced.sort((a, b) => at(b) - at(a)).slice(MAX_ADDRESSES - 1)
    await store.versions.set(name, JSON.stringify(own))
    await store.versions.remove(...gone.map(([other]) => other))
  }

  let isDone = false
  /** While several versions are active, the next check is at this time, because each check costs commands. */
  let looksAt = 0

  async function carryOut(found: Found, serving: CodeVersion[], joins: boolean) {
    const { own, others } = found
    const { hash, rows } = ours!
    const taken = serving[0]!.hash === hash ? [] : classesOf(serving.filter((one) => one.hash !== hash))
    const fresh = joins ? rows.filter((row) => !taken.includes(keyOf(row))) : []
    const goneFrom = (what: 'classes' | 'crons', kept: readonly string[]) => {
      const stays = new Set([...kept, ...others.flatMap((one) => one[what] ?? [])])
      return (own?.[what] ?? []).filter((key) => !stays.has(key))
    }
    // If Redis has no announcement, its classes of functions come from an earlier release of sidejob. Remove these.
    await write(fresh, goneFrom('classes', classesOf(serving)), !own && others.length === 0)
    const repeating = fresh.filter(({ cron }) => cron)
    await schedule(repeating, goneFrom('crons', cronsOf(serving)))
  }

  async function announce(known?: readonly string[]) {
    ours ??= await hashed()
    const { id, hash, defined, rows } = ours
    const members = (known ?? (await store.announced())).filter((one) => one.startsWith(`${id} `))
    const isThere = members.includes(`${id} ${hash}`)
    const time = now()
    if (isThere && (members.length === 1 || (isDone && time < looksAt))) return
    looksAt = time + grace / 4
    const found = await read(id)
    const { own } = found
    const crons = rows.filter(({ cron }) => cron).map(keyOf)
    const named = { hash, defined, ...(version ? { version } : {}) }
    const mine = { ...named, at: time, seen: time, classes: rows.map(keyOf), crons }
    const before = own ? versionsOf(own) : []
    const serving = servingOf({ own, mine, isDone, grace })
    if (!serving.some((one) => one.hash === hash)) return
    const was = before.findIndex((one) => one.hash === hash)
    const leads = serving[0]!.hash === hash
    const joins = !isThere || (leads && was !== 0)
    const isSeen = leads || (was >= 0 && time - before[was]!.seen < grace / 2)
    if (!joins && isSeen && serving.length === before.length) return
    const isDeploy = leads && was < 0
    const [front] = before
    const isSame = isDeploy && front?.defined === defined && members.includes(`${id} ${front.hash}`)
    await carryOut(found, serving, joins && !isSame)
    if (joins && version && versionUrl) await announceVersion(version, { url: versionUrl, at: time })
    const deploys = [
      ...(isDeploy ? [{ at: time, ...(version ? { version } : {}), ...(author ? { author } : {}) }] : []),
      ...(own?.deploys ?? []),
    ]
    const stays = new Set(serving.map((one) => `${id} ${one.hash}`))
    const gone = members.filter((one) => !stays.has(one))
    await store.setDeployment(id, JSON.stringify(deploymentOf(serving, deploys, own)), hash, gone)
    if (isDeploy && own) await keepCounts(id, time, deploys.slice(MAX_DEPLOYS))
  }

  return async (known?: readonly string[]): Promise<void> => {
    await announce(known)
    isDone = true
  }
}
