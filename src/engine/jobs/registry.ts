import { CLOSED, parseJson } from '../../core/codec/json.ts'
import { writeJson } from '../../core/codec/json-writer.ts'
import { type Encoded, encodeValue, raw } from '../../core/codec/value.ts'
import { checkWorkers, readWorker } from '../../core/definition.ts'
import { mapValues } from '../../core/map-values.ts'
import { tryRead } from '../../core/readable.ts'
import type { Retry } from '../../core/retry.ts'
import type { PortOptions } from '../../core/run.ts'
import { type CodeWorker, closedIn, keptWorker } from '../../core/schemas.ts'
import { type Worker, workerDefaults } from '../../core/worker.ts'
import type { RunOutcome } from '../../redis/changes.ts'
import type { Store } from '../../redis/store.ts'
import type { ClaimedJob } from '../../redis/types.ts'
import type { Opening, Vault } from '../../redis/vault.ts'
import type { WorkerDefinition } from '../engine.ts'
import type { RunTrace } from '../trace/tracer.ts'
import { type Announced, type AnnouncerOptions, createAnnouncer } from './announcement.ts'
import { announcedDefinition, schemaOfClass } from './checks.ts'

type KeyedLimit = {
  key: (args: unknown) => string | number | undefined
  concurrency?: number
  rate?: { limit: number; period: number }
}

export type Registered = {
  definition: WorkerDefinition
  local?: Worker
  keyed?: KeyedLimit[]
  inner?: (claimed: ClaimedJob, trace?: RunTrace) => Promise<RunOutcome>
  calls?: true
  longest?: (claimed: ClaimedJob) => number
  former?: readonly Encoded[]
}

type Served = Pick<Registered, 'inner' | 'calls' | 'longest'>

export const runnerName = ({ local, definition: { push } }: Registered): string =>
  local ? 'function' : push ? new URL(push.url).host : 'pull'

export const callsOut = ({ local, calls, definition: { push } }: Registered): boolean =>
  calls === true || local?.isolate === true || push !== undefined

export const timeoutOf = (found?: Registered, own?: number): number =>
  own ?? found?.definition.timeout ?? workerDefaults.timeout

export const longestRun = (claimed: ClaimedJob, found?: Registered): number =>
  found?.longest?.(claimed) ?? timeoutOf(found, claimed.document.timeout)

const announcedOf = (found: Registered, vault: Vault): Announced => ({
  queue: found.local!.queue ?? 'default',
  name: found.local!.class,
  definition: textOf(announcedDefinition(found), true, vault),
  serves: callsOut(found) ? 'call' : 'push',
  concurrency: found.definition.concurrency,
  cron: found.definition.cron,
})

type Named = { queue: string; class: string }

const isNamedAs = (one: Named, other: Named): boolean => one.class === other.class && one.queue === other.queue

const FRESH = 5_000
/** Milliseconds until a missing class is read again, because the class may be registered at any time. */
const MISSING = 1_000
/** Maximum queues that a script reads in advance. Reading these together costs less than reading one queue later. */
const MAX_NEAR = 20
const closedDefinition = closedIn(keptWorker)
const FORMER = { schemas: 4, size: 65_536 }

const encoded = (value: unknown): Encoded | undefined => (value === undefined ? undefined : encodeValue(value))

export const specsOf = (ports: Record<string, { default?: unknown; channels?: string[] }> = {}): PortOptions =>
  mapValues(ports, ({ default: value, channels }) => ({ default: encoded(value), channels }))

const cronOf = ({ args, ...cron }: NonNullable<CodeWorker['cron']>): NonNullable<WorkerDefinition['cron']> => ({
  ...cron,
  args: encoded(args),
})

type Constant = NonNullable<WorkerDefinition['limits']>

const constantLimits = (limits: NonNullable<CodeWorker['limits']>): Constant =>
  limits.filter((limit): limit is typeof limit & { key?: string } => typeof limit.key !== 'function')

const keyedLimits = ({ limits = [] }: CodeWorker): KeyedLimit[] =>
  limits.flatMap(({ key, ...limit }) => (typeof key === 'function' ? [{ ...limit, key }] : []))

const definitionOf = ({ history, ...worker }: CodeWorker): WorkerDefinition => ({
  in: specsOf(worker.in),
  out: specsOf(worker.out),
  retry: worker.retry,
  concurrency: worker.concurrency,
  limits: worker.limits && constantLimits(worker.limits),
  timeout: worker.timeout,
  retain: worker.retain,
  history: typeof history === 'object' ? history.runs : history,
  labels: worker.labels,
  shutdown: worker.shutdown && true,
  cron: worker.cron && cronOf(worker.cron),
  reach: worker.reach,
  redact: worker.redact?.length ? worker.redact : undefined,
  pin: worker.pin || undefined,
  description: worker.description || undefined,
})

const withRawPorts = (ports: WorkerDefinition['in'] = {}, { sealSameInJson }: Vault) =>
  mapValues(ports, (spec) => ({
    ...spec,
    default: spec.default && raw(sealSameInJson(spec.default, 'definition')),
    schema: spec.schema && raw(spec.schema),
  }))

const withSealed = (push: NonNullable<WorkerDefinition['push']>, vault: Vault) => {
  const sealed = (text: string) => raw(vault.sealSameInJson(encodeValue(text), 'definition'))
  return { ...push, url: sealed(push.url), secret: push.secret === undefined ? undefined : sealed(push.secret) }
}

const withoutDefaults = (ports: WorkerDefinition['in'] = {}) =>
  mapValues(ports, ({ schema }) => ({ schema: schema && raw(schema) }))

const schemasText = ({ args, result, in: inputs, out }: WorkerDefinition): Encoded =>
  parseJson(
    writeJson({
      args: args && raw(args),
      result: result && raw(result),
      in: withoutDefaults(inputs),
      out: withoutDefaults(out),
    }),
    CLOSED,
  ) as Encoded

const definedBy = (former: Encoded): Registered => ({
  definition: parseJson(former, closedDefinition) as WorkerDefinition,
})

export const withSchema = (found: Registered, hash: string): Registered | undefined =>
  [found, ...(found.former ?? []).map(definedBy)].find((one) => schemaOfClass(one) === hash)

function formerOf(before: { definition: WorkerDefinition; former: readonly Encoded[] }, definition: WorkerDefinition) {
  const current = schemaOfClass(definedBy(schemasText(definition)))
  const all = [schemasText(before.definition), ...before.former].filter((text) => {
    const hash = schemaOfClass(definedBy(text))
    return hash !== undefined && hash !== current
  })
  const kept = all.filter((text, i) => all.indexOf(text) === i).slice(0, FORMER.schemas)
  while (kept.join('').length > FORMER.size) kept.pop()
  return kept
}

const textOf = (definition: WorkerDefinition, local: boolean, vault: Vault, former: readonly Encoded[] = []): string =>
  writeJson({
    ...definition,
    push: definition.push && withSealed(definition.push, vault),
    args: definition.args && raw(definition.args),
    result: definition.result && raw(definition.result),
    in: withRawPorts(definition.in, vault),
    out: withRawPorts(definition.out, vault),
    local: local || undefined,
    former: former.length > 0 ? former.map(raw) : undefined,
  })

const openedPorts = (ports: WorkerDefinition['in'] = {}, { definition }: Opening): WorkerDefinition['in'] =>
  mapValues(ports, (spec) => ({ ...spec, default: spec.default && definition(spec.default) }))

const openedText = (text: string, { definition }: Opening): string =>
  JSON.parse(definition(JSON.stringify(text))) as string

const openedPush = (push: NonNullable<WorkerDefinition['push']>, opening: Opening) => ({
  ...push,
  url: openedText(push.url, opening),
  secret: push.secret === undefined ? undefined : openedText(push.secret, opening),
})

type Stored = { definition: WorkerDefinition; isFunction: boolean; former: readonly Encoded[] }

function parseDefinition(text: string, { show }: Vault): Stored {
  const {
    local,
    former = [],
    ...definition
  } = parseJson(text, closedDefinition) as WorkerDefinition & { local?: boolean; former?: Encoded[] }
  return {
    former,
    definition: {
      ...definition,
      push: definition.push && openedPush(definition.push, show),
      in: openedPorts(definition.in, show),
      out: openedPorts(definition.out, show),
    },
    isFunction: local === true,
  }
}

type RegistryOptions = Partial<Omit<AnnouncerOptions, 'store' | 'classes'>> & {
  store: Store
  workers: readonly Worker[]
  retry?: Retry
}

export function createRegistry({
  store,
  workers,
  now = Date.now,
  deployment = 'sidejob',
  retry = {},
  versionUrl,
  ...announcing
}: RegistryOptions) {
  const local = new Map<string, Registered>()
  checkWorkers(workers)
  for (const worker of workers) {
    const read = readWorker(worker)
    const definition = definitionOf(read)
    const keyed = keyedLimits(read)
    const key = `${worker.queue ?? workerDefaults.queue}/${worker.class}`
    local.set(key, { definition, local: worker, keyed: keyed.length ? keyed : undefined })
  }

  function serve(worker: { queue: string; class: string }, served: Served): void {
    const shown = { ...worker, perform: () => undefined }
    local.set(`${worker.queue}/${worker.class}`, { definition: { in: {}, out: {} }, local: shown, ...served })
  }

  const fetched = new Map<string, { at: number; classes: Map<string, Registered> }>()
  /** Number of changes per queue. A read that began before a change must not be remembered. */
  const changes = new Map<string, number>()

  async function remote(queue: string, wanted: readonly string[] = []): Promise<Map<string, Registered>> {
    const known = fetched.get(queue)
    const isFresh = (ms: number) => known !== undefined && now() - known.at < ms
    if (isFresh(wanted.every((name) => known?.classes.has(name)) ? FRESH : MISSING)) return known!.classes
    const before = changes.get(queue)
    const classes = new Map<string, Registered>()
    for (const [name, text] of Object.entries(await store.definitions(queue))) {
      const stored = tryRead(() => parseDefinition(text, store.vault))
      if (stored) classes.set(name, { definition: stored.definition, former: stored.former })
    }
    if (changes.get(queue) === before) fetched.set(queue, { at: now(), classes })
    return classes
  }

  async function change(queue: string, classes: Parameters<Store['register']>[1]) {
    const forget = () => {
      changes.set(queue, (changes.get(queue) ?? 0) + 1)
      fetched.delete(queue)
    }
    forget()
    return store.register(queue, classes).finally(forget)
  }

  const localClass = (queue: string, name: string): Registered | undefined => local.get(`${queue}/${name}`)

  const announce = createAnnouncer({
    store,
    deployment,
    now,
    ...announcing,
    versionUrl: workers.some(({ pin }) => pin) ? versionUrl : undefined,
    classes: () => [...local.values()].map((found) => announcedOf(found, store.vault)),
  })

  return {
    announce,
    retry,
    get queues(): string[] {
      return [...new Set([...local.values()].map(({ local: worker }) => worker!.queue ?? 'default'))].slice(0, MAX_NEAR)
    },
    serve,
    local: localClass,
    async finder(jobs: readonly Named[]): Promise<(job: Named) => Registered | undefined> {
      const named = jobs.filter((job, i) => i === 0 || !isNamedAs(job, jobs[i - 1]!))
      const others = Map.groupBy(
        named.filter((job) => !localClass(job.queue, job.class)),
        ({ queue }) => queue,
      )
      const namesOf = (jobs: readonly Named[]) => jobs.map((job) => job.class)
      const classes = new Map(
        await Promise.all(
          [...others].map(async ([queue, jobs]) => [queue, await remote(queue, namesOf(jobs))] as const),
        ),
      )
      // Most jobs have the class of the previous job, and comparing two names is faster than a lookup.
      let last: Named | undefined
      let found: Registered | undefined
      return (job) => {
        if (last && isNamedAs(job, last)) return found
        last = job
        found = localClass(job.queue, job.class) ?? classes.get(job.queue)?.get(job.class)
        return found
      }
    },
    async find(queue: string, name: string): Promise<Registered | undefined> {
      return localClass(queue, name) ?? (await remote(queue, [name])).get(name)
    },
    async list(queue: string): Promise<Map<string, Registered>> {
      fetched.delete(queue)
      return remote(queue)
    },
    known: (queue: string) => remote(queue),
    async read(queue: string, name: string) {
      const kept = await store.definition(queue, name)
      return kept === null ? undefined : { kept, ...parseDefinition(kept, store.vault) }
    },
    /** `replaces` is the definition that the change is based on. '*' replaces any class except a function. */
    async put(queue: string, name: string, definition: WorkerDefinition, replaces = '*') {
      const serves = definition.pull ? 'pull' : definition.push ? 'call' : 'push'
      const { concurrency } = definition
      const before = await store.definition(queue, name)
      const stored = before === null ? undefined : tryRead(() => parseDefinition(before, store.vault))
      const former = stored ? formerOf(stored, definition) : []
      const text = textOf(definition, false, store.vault, former)
      const { rings, overtaken } = await change(queue, [{ name, definition: text, serves, concurrency, replaces }])
      return {
        rings,
        ...(overtaken === undefined
          ? {}
          : { overtaken: overtaken && parseDefinition(overtaken, store.vault).definition }),
      }
    },
    async remove(queue: string, name: string) {
      return change(queue, [{ name, definition: null, serves: 'push' }])
    },
  }
}

export type Registry = ReturnType<typeof createRegistry>
