import { decodeValue, type Encoded, encodeValue } from '../../core/codec/value.ts'
import { hashOf } from '../../core/crypto.ts'
import { hasCode, SidejobError } from '../../core/errors.ts'
import { isId, type Status } from '../../core/job.ts'
import type { KeptPatch, KeptStep, KeptWait } from '../../core/schemas.ts'
import { ops } from '../../redis/ops.ts'
import { stateOf } from '../../redis/record.ts'
import type { Listed } from '../../redis/types.ts'
import { stateField } from '../../redis/vault.ts'
import { type Context, onceOf, stepOf } from '../context.ts'
import type { Call, JobFilter, JobInput, JobPatch, JobView, Ref, WorkerDefinition } from '../engine.ts'
import { announcedDefinition, checkArgs, schemaOfClass } from '../jobs/checks.ts'
import { checkFlows } from '../jobs/graph-check.ts'
import { kindNameOf } from '../jobs/kind.ts'
import { newJobs } from '../jobs/new-job.ts'
import { givenFields, repeatFields, repeatWords } from '../jobs/patch-fields.ts'
import { type Registered, timeoutOf } from '../jobs/registry.ts'
import { BELLS_ONLY, LONGEST_RUN } from '../lane/ringer.ts'
import { isRecord, type Patch, patchText, type Waited } from '../run/code-change.ts'
import { factsOf } from '../run/job-facts.ts'
import { shownJob, shownState } from '../run/shown.ts'
import { RESERVED } from '../run/steps.ts'
import { spentAndRuns } from './past-runs.ts'
import { rowOf } from './rows.ts'
import { MAX_SCANNED, searchPages } from './search.ts'
import { followWaits } from './why-chain.ts'

const MAX_TREE = 5_000

const lasts = ({ timeout }: { timeout?: number }, found: Registered | undefined): boolean =>
  timeoutOf(found, timeout) > LONGEST_RUN

function withSchemas(shown: JobView, found: Registered | undefined): JobView {
  if (!found) return shown
  const definition = announcedDefinition(found)
  const described = (ports: JobView['in'], specs: WorkerDefinition['in'] = {}) =>
    Object.fromEntries(
      Object.entries(ports).map(([port, one]) => {
        const { schema } = specs[port] ?? specs['*'] ?? {}
        return [port, schema === undefined ? one : { ...one, schema }]
      }),
    )
  return { ...shown, in: described(shown.in, definition.in), out: described(shown.out, definition.out) }
}

const encoder = new TextEncoder()

const byTime = (a: { at: number | null }, b: { at: number | null }): number => (a.at ?? 0) - (b.at ?? 0)

type KeptSteps = { steps: KeptStep[]; waits: KeptWait[]; patches: KeptPatch[]; cursor: string | null }

export function createJobs({
  store,
  registry,
  classes,
  constraints,
  ring,
  eager,
  announce,
  change,
  now,
  view,
  viewWithRuns,
  allowHosts,
}: Context) {
  const listModes = ({ ids, parent, alias, sort }: JobFilter) => {
    if (ids) return { mode: 'ids', name: `${ids}` } as const
    if (alias !== undefined) return { mode: 'alias', name: alias } as const
    if (parent !== undefined) return { mode: 'children', name: parent } as const
    return { mode: sort === 'ended' ? 'ended' : 'all' } as const
  }

  async function page({ cursor: before, limit = 50, ...filter }: JobFilter) {
    const { status, error, text, args, labels, sort: _, lookAt = MAX_SCANNED, paths: __, ...wanted } = filter
    const statuses = error !== undefined ? 'failed' : status && [status].flat().join(',')
    const ask = { ...wanted, ...listModes(filter), status: statuses, kind: error, limit }
    const look = async (from?: string, most = limit) => {
      const found = await store.list({ ...ask, before: from, limit: most })
      if (error === undefined) return found
      return { ...found, jobs: found.jobs.filter(({ document }) => kindNameOf(document) === error) }
    }
    if (text === undefined && args === undefined && labels === undefined) return look(before)
    return searchPages((from) => look(from, lookAt), { text, args, labels, limit, before })
  }

  const listedView = ({ id, document, callback }: Listed['jobs'][number]): JobView => ({
    ...shownJob(id, document, { callback }),
    ...factsOf(document, { now: now(), retain: store.retain }),
  })

  async function regroup(job: string, group: { id: string; concurrency?: number }) {
    const { id, document } = await store.inspect(job)
    await change('', [await constraints.tagWords(id, document, { group })])
  }

  async function checkNotInternal(job: string) {
    const { id, document } = await store.inspect(job)
    if (registry.local(document.queue, document.class)?.inner)
      throw new SidejobError('REFUSED', `job ${id} is an internal job, which cannot be changed`)
    return document
  }

  async function patch(job: string, given: JobPatch, call?: Call) {
    const { args, schema, retry, timeout, repeat, runAt, group } = given
    const fields = givenFields(given, store.vault)
    if (retry !== undefined) fields.retry = encodeValue(retry)
    if (timeout !== undefined) fields.timeout = String(timeout)
    if (runAt !== undefined) fields.notBefore = runAt === null ? '' : String(runAt)
    const document = await checkNotInternal(job)
    const { queue, class: name } = document
    if (repeat !== undefined) Object.assign(fields, repeatFields(document, repeat, store.now()))
    if (args !== undefined) {
      const found = await registry.find(queue, name)
      checkArgs(found, name, args, schema)
      if (schemaOfClass(found) !== document.schema) fields.schema = schemaOfClass(found) ?? ''
    }
    if (group) await regroup(job, group)
    await change(job, repeat === undefined ? [ops.patch({ fields })] : repeatWords(document, fields), call)
    return view(job)
  }

  const described = async (shown: JobView) => withSchemas(shown, await registry.find(shown.queue, shown.class))

  async function stateShown(job: Ref) {
    const { document } = await store.inspect(job)
    return shownState(document, stateOf(document))
  }

  return {
    /** `existing` means that the idempotency key or the unique key already had a job. */
    async enqueue(inputs: JobInput[], call?: Call) {
      const at = store.now()
      const find = await registry.finder(inputs)
      const jobs = newJobs(inputs, find, at, allowHosts, call)
      await checkFlows(registry, inputs)
      const isLong = inputs.some((input) => lasts(input, find(input)))
      const lane = isLong ? undefined : await eager?.start()
      const { made, again, rings, claimed } = await constraints.enqueue(jobs, onceOf(call), lane)
      const served = lane && claimed.length ? eager!.goOn(lane, claimed) : undefined
      await ring(rings, isLong ? BELLS_ONLY : undefined)
      await served
      classes.noteMade(made, inputs)
      return { jobs: made, existing: again }
    },

    async get(job: Ref, { schemas = false, details = false }: { schemas?: boolean; details?: boolean } = {}) {
      const shown = details ? (await viewWithRuns(job)).job : await view(job)
      return schemas ? described(shown) : shown
    },

    withSchemas: described,

    async children(job: Ref, limit: number) {
      const { id, kin } = await store.inspect(job, { kin: limit })
      const { jobs } = kin ? { jobs: kin } : await page({ parent: String(id), limit })
      return jobs.map((job) => ({ ...listedView(job), runs: spentAndRuns(job.document, []).runs }))
    },

    /** Redis counts a `total` only for suspended jobs, ended jobs, and failed jobs of one class or kind of error. */
    async list(filter: JobFilter) {
      const { jobs, ...rest } = await page(filter)
      return { jobs: jobs.map(listedView), ...rest }
    },

    async rows(filter: JobFilter) {
      const at = now()
      const { jobs, ...rest } = await page(filter)
      return { jobs: jobs.map((job) => rowOf(job, at, filter.paths)), ...rest }
    },

    update: patch,

    async remove(job: Ref, { force = false }: { force?: boolean }, call?: Call): Promise<'gone' | 'ending'> {
      await announce()
      try {
        const [word] = await change(job, [ops.delete({ force })], call)
        return word as 'gone' | 'ending'
      } catch (error) {
        if (!force || !hasCode(error, 'UNREADABLE')) throw error
        await ring(await store.repair([{ kind: 'erase', who: job }]))
        return 'gone'
      }
    },

    async run(
      job: Ref,
      { force, at, wait, parent }: { force?: boolean; at?: number; wait?: number; parent?: boolean },
      call?: Call,
    ) {
      await announce()
      const answer = await change(job, [ops.run({ force, at, wait, parent })], call)
      return { ...stepOf(answer), ...(answer[2] ? {} : { ran: false as const }) }
    },

    async terminate(
      job: Ref,
      { recursive }: { recursive?: boolean },
      call?: Call,
    ): Promise<{ id: number; status: Status; rest?: number }> {
      await announce()
      const answer = await change(job, [ops.terminate({ recursive })], call)
      return { ...stepOf(answer), rest: answer[2] ? Number(answer[2]) : undefined }
    },

    async retry(job: Ref, call?: Call) {
      return stepOf(await change(job, [ops.retry()], call))
    },

    async cancel(job: Ref, call?: Call) {
      await announce()
      return stepOf(await change(job, [ops.cancel()], call))
    },

    state: stateShown,

    async setState(
      job: Ref,
      { set = {}, unset = [] }: { set?: Record<string, Encoded>; unset?: string[] },
      call?: Call,
    ) {
      await checkNotInternal(job)
      const words = [
        ...Object.entries(set).map(([field, value]) =>
          ops.set({ field, value: store.vault.sealSame(value, stateField(field)) }),
        ),
        ...unset.map((field) => ops.unset({ field })),
      ]
      await change(job, words, call)
      return stateShown(job)
    },

    async existed(id: string) {
      return isId(id) && Number(id) <= (await store.lastId())
    },

    why: (job: Ref, { deep = 0 }: { deep?: number } = {}) => followWaits(store, job, deep),

    async steps(job: Ref, cursor: string = '0'): Promise<KeptSteps> {
      const { id, document } = await store.inspect(job)
      if (!document.hasSteps) return { steps: [], waits: [], patches: [], cursor: null }
      const { steps, kept, cursor: next } = await store.steps(id, cursor, store.vault.show)
      const entryOf = (name: string): KeptStep => {
        const { at, ms: took, run } = kept[name]!
        return { name, at, took, run, bytes: encoder.encode(steps[name]!).length }
      }
      const own = Object.keys(steps).filter((name) => !name.startsWith(RESERVED))
      const records = Object.keys(steps).filter((key) => key.startsWith(RESERVED) && isRecord(key))
      const waits = records.flatMap((key): KeptWait[] => {
        const wait = decodeValue(steps[key]!) as Waited | null
        const entry = { ...entryOf(key), name: key.slice(1) }
        if (wait?.kind === 'sleep' && wait.until! <= now())
          return [{ ...entry, kind: 'sleep', at: wait.until!, took: Math.max(0, wait.until! - entry.at!) }]
        return wait?.done ? [{ ...entry, kind: wait.kind }] : []
      })
      const patches = Object.entries(steps).flatMap(([key, value]): KeptPatch[] => {
        const name = patchText(key)
        return name === undefined
          ? []
          : [{ name, patched: (decodeValue(value) as Patch | null)?.is === true, at: kept[key]!.at }]
      })
      return {
        steps: own.map(entryOf).sort(byTime),
        waits: waits.sort(byTime),
        patches: patches.sort((a, b) => byTime(a, b) || (a.name < b.name ? -1 : 1)),
        cursor: next,
      }
    },

    /** Nearest jobs first. */
    async tree(
      job: Ref,
      limit: number = MAX_TREE,
    ): Promise<{ id: number; class: string; status: Status; children: Record<string, unknown>; more?: true }> {
      const { members, more } = await store.tree(job, limit)
      const nodes = new Map(
        members.map(({ id, class: name, status }) => [
          id,
          { id, class: name, status, children: Object.create(null) as Record<string, unknown> },
        ]),
      )
      for (const { id, parent, name } of members) if (parent !== null) nodes.get(parent)!.children[name] = nodes.get(id)
      return { ...nodes.get(members[0]!.id)!, ...(more ? { more } : {}) }
    },

    async adopt(job: Ref, child: { job: Ref; name: string }, call?: Call) {
      await change(job, [ops.adopt(child)], call)
    },

    async disown(job: Ref, { name }: { name: string }, call?: Call) {
      await change(job, [ops.disown({ child: name })], call)
    },

    async setAlias(job: Ref, alias: string, act: 'add' | 'remove', call?: Call) {
      await change(job, [act === 'add' ? ops.alias({ name: alias }) : ops.unalias({ name: alias })], call)
    },

    async lock(job: Ref, { ttl }: { ttl: number }, call?: Call) {
      // The token depends on the call's key, so a repeated call returns the same token.
      const token = call?.key ? (await hashOf(call.key)).slice(0, 32) : crypto.randomUUID().replaceAll('-', '')
      await change(job, [ops.lock({ ms: ttl, token })], call)
      return { token }
    },

    async refreshLock(job: Ref, { token, ttl }: { token: string; ttl: number }, call?: Call) {
      await change(job, [ops.refresh({ token, ms: ttl })], call)
    },

    async unlock(job: Ref, { token }: { token: string }, call?: Call) {
      await change(job, [ops.unlock({ token })], call)
    },
  }
}

export type Jobs = ReturnType<typeof createJobs>
