// Jobs: made, shown, changed, run, ended, and who belongs to whom.

import { encodeValue } from '../../core/codec/value.ts'
import { hashOf } from '../../core/crypto.ts'
import { isUnreadable, SidejobError } from '../../core/errors.ts'
import { isId } from '../../core/job.ts'
import type { KeptStep } from '../../core/schemas.ts'
import { type Fields, ops } from '../../redis/ops.ts'
import { type JobRecord, stateOf } from '../../redis/record.ts'
import type { Listed } from '../../redis/types.ts'
import { stateField } from '../../redis/vault.ts'
import { type Context, onceOf, stepOf } from '../context.ts'
import type { Call, Engine, JobFilter, JobPatch, JobView, WorkerDefinition } from '../engine.ts'
import { announcedDefinition, checkArgs } from '../jobs/checks.ts'
import { checkFlows } from '../jobs/graph-check.ts'
import { newJobs, repeatOf } from '../jobs/new-job.ts'
import { type Registered, timeoutOf } from '../jobs/registry.ts'
import { BELLS_ONLY, LONGEST_RUN } from '../lane/ringer.ts'
import { factsOf } from '../run/job-facts.ts'
import { shownJob, shownState } from '../run/shown.ts'
import { OURS } from '../run/steps.ts'
import { kindOfJob } from './errors.ts'
import { rowOf } from './rows.ts'
import { LOOKED_AT, searched } from './search.ts'
import { followed } from './why-chain.ts'

const MAX_TREE = 5_000

/** Its runs may take longer than an invocation is kept after its answer. */
const lasts = ({ timeout }: { timeout?: number }, found: Registered | undefined): boolean =>
  timeoutOf(found, timeout) > LONGEST_RUN

/** A job with the schemas that its worker says of its ports; `*` stands for all that have no own. */
function withSchemas(shown: JobView, found: Registered | undefined): JobView {
  if (!found) return shown
  const definition = found.local ? announcedDefinition(found.definition, found.local) : found.definition
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

export function createJobs({
  store,
  registry,
  classes,
  tags,
  ring,
  eager,
  announce,
  change,
  now,
  view,
  viewWithRuns,
  allowHosts,
}: Context): Pick<
  Engine,
  | 'enqueue'
  | 'get'
  | 'described'
  | 'list'
  | 'rows'
  | 'patch'
  | 'remove'
  | 'run'
  | 'terminate'
  | 'retry'
  | 'cancel'
  | 'state'
  | 'setState'
  | 'wasMade'
  | 'why'
  | 'stepsOf'
  | 'tree'
  | 'adopt'
  | 'disown'
  | 'alias'
  | 'lock'
  | 'refresh'
  | 'unlock'
> {
  const listModes = ({ parent, alias, sort }: JobFilter) => {
    if (alias !== undefined) return { mode: 'alias', name: alias } as const
    if (parent !== undefined) return { mode: 'children', name: parent } as const
    return { mode: sort === 'ended' ? 'ended' : 'all' } as const
  }

  async function page({ cursor: before, limit = 50, ...filter }: JobFilter): Promise<Listed> {
    const { status, error, text, args, sort: _, ...wanted } = filter
    const statuses = status === undefined ? undefined : [status].flat().join(',')
    const ask = { ...wanted, ...listModes(filter), before, limit }
    if (text !== undefined || args !== undefined) {
      const look = (from?: string) => store.list({ ...ask, status: statuses, before: from, limit: LOOKED_AT })
      return searched(look, { text, args, limit, before })
    }
    if (error === undefined) return store.list({ ...ask, status: statuses })
    const { jobs, cursor, newest } = await store.list({ ...ask, status: 'failed', limit: LOOKED_AT })
    const fits = jobs.filter(({ document }) => kindOfJob(document).fingerprint === error)
    const left = fits.slice(limit)
    return {
      jobs: fits.slice(0, limit),
      cursor: left.length > 0 ? String(left[0]!.id + 1) : cursor,
      ...(newest === undefined ? {} : { newest }),
    }
  }

  /** Moves a job to another group: its limits are worked out anew. */
  async function regroup(job: string, group: { id: string; concurrency?: number }): Promise<void> {
    const { id, document } = await store.inspect(job)
    await change('', [await tags.tagWords(id, document, group)])
  }

  /** What jobs of our own are to do is not for others to say. */
  async function checkTheirs(job: string): Promise<JobRecord> {
    const { id, document } = await store.inspect(job)
    if (registry.local(document.queue, document.class)?.inner)
      throw new SidejobError('REFUSED', `job ${id} is one of our own: it takes no changes`)
    return document
  }

  async function patch(job: string, { args, priority, retry, timeout, repeat, runAt, group }: JobPatch, call?: Call) {
    const fields: Fields = {}
    if (args !== undefined) fields.args = store.vault.sealSame(args, 'args')
    if (priority !== undefined) fields.priority = priority === 0 ? '' : String(priority)
    if (retry !== undefined) fields.retry = encodeValue(retry)
    if (timeout !== undefined) fields.timeout = String(timeout)
    if (runAt !== undefined) fields.notBefore = runAt === null ? '' : String(runAt)
    if (repeat !== undefined) {
      const next = repeat === null ? {} : repeatOf(repeat, store.now())
      fields.repeats = next.repeat ?? ''
      fields.nextSlot = next.slot === undefined ? '' : String(next.slot)
    }
    const { queue, class: name } = await checkTheirs(job)
    if (args !== undefined) checkArgs(await registry.find(queue, name), name, args)
    if (group) await regroup(job, group)
    await change(job, [ops.patch({ fields })], call)
    return view(job)
  }

  const described = async (shown: JobView): Promise<JobView> =>
    withSchemas(shown, await registry.find(shown.queue, shown.class))

  async function stateShown(job: string) {
    const { document } = await store.inspect(job)
    return shownState(document, stateOf(document))
  }

  return {
    async enqueue(inputs, call) {
      const at = store.now()
      const find = await registry.finder(inputs)
      const jobs = newJobs(inputs, find, at, allowHosts, call)
      await checkFlows(registry, inputs)
      const isLong = inputs.some((input) => lasts(input, find(input)))
      const lane = isLong ? undefined : await eager?.start()
      const { made, again, rings, lent } = await tags.enqueue(jobs, onceOf(call), lane)
      if (lane && lent.length) eager!.goOn(lane, lent)
      await ring(rings, isLong ? BELLS_ONLY : undefined)
      classes.noteMade(made, inputs)
      return { jobs: made, existing: again }
    },

    async get(job, { schemas = false, details = false } = {}) {
      const shown = details ? (await viewWithRuns(job)).job : await view(job)
      return schemas ? described(shown) : shown
    },

    described,

    async list(filter) {
      const at = now()
      const { jobs, ...rest } = await page(filter)
      const shown = jobs.map(({ id, document, callback }) => ({
        ...shownJob(id, document, { callback }),
        ...factsOf(document, { now: at }),
      }))
      return { jobs: shown, ...rest }
    },

    async rows(filter) {
      const at = now()
      const { jobs, ...rest } = await page(filter)
      return { jobs: jobs.map((job) => rowOf(job, at)), ...rest }
    },

    patch,

    async remove(job, { force = false }, call) {
      await announce()
      try {
        const [word] = await change(job, [ops.delete({ force })], call)
        return word as 'gone' | 'ending'
      } catch (error) {
        if (!force || !isUnreadable(error)) throw error
        await ring(await store.repair([{ kind: 'erase', who: job }]))
        return 'gone'
      }
    },

    async run(job, { force, at, wait, parent }, call) {
      await announce()
      const answer = await change(job, [ops.run({ force, at, wait, parent })], call)
      return { ...stepOf(answer), ...(answer[2] ? {} : { ran: false as const }) }
    },

    async terminate(job, { recursive }, call) {
      await announce()
      const answer = await change(job, [ops.terminate({ recursive })], call)
      return { ...stepOf(answer), ...(answer[2] ? { rest: Number(answer[2]) } : {}) }
    },

    async retry(job, call) {
      return stepOf(await change(job, [ops.retry()], call))
    },

    async cancel(job, call) {
      await announce()
      return stepOf(await change(job, [ops.cancel()], call))
    },

    async state(job) {
      return stateShown(job)
    },

    async setState(job, { set = {}, unset = [] }, call) {
      await checkTheirs(job)
      const words = [
        ...Object.entries(set).map(([field, value]) =>
          ops.set({ field, value: store.vault.sealSame(value, stateField(field)) }),
        ),
        ...unset.map((field) => ops.unset({ field })),
      ]
      await change(job, words, call)
      return stateShown(job)
    },

    async wasMade(id) {
      return isId(id) && Number(id) <= (await store.lastId())
    },

    why: (job, { deep = 0 } = {}) => followed(store, job, deep),

    async stepsOf(job, cursor = '0') {
      const { id, document } = await store.inspect(job)
      if (!document.hasSteps) return { steps: [], cursor: null }
      const { steps, kept, cursor: next } = await store.steps(id, cursor)
      const own = Object.keys(steps).filter((name) => !name.startsWith(OURS))
      const shown = own.map((name): KeptStep => {
        const { at, ms, run } = kept[name]!
        return { name, at, took: ms, run, bytes: encoder.encode(steps[name]!).length }
      })
      return {
        steps: shown.sort((a, b) => (a.at ?? 0) - (b.at ?? 0)),
        cursor: next === '0' ? null : next,
      }
    },

    async tree(job, limit = MAX_TREE) {
      const { members, more } = await store.tree(job, limit)
      const nodes = new Map(
        members.map(({ id, class: name, status }) => [
          id,
          // A child may be called `__proto__`.
          { id, class: name, status, children: Object.create(null) as Record<string, unknown> },
        ]),
      )
      for (const { id, parent, name } of members) if (parent !== null) nodes.get(parent)!.children[name] = nodes.get(id)
      return { ...nodes.get(members[0]!.id)!, ...(more ? { more } : {}) }
    },

    async adopt(job, child, call) {
      await change(job, [ops.adopt(child)], call)
    },

    async disown(job, { name }, call) {
      await change(job, [ops.disown({ child: name })], call)
    },

    async alias(job, alias, act, call) {
      await change(job, [[act === 'add' ? 'alias' : 'unalias', alias]], call)
    },

    async lock(job, { ttl }, call) {
      // The token follows from the call's key, so that a repeated call gets the token that holds.
      const token = call?.key ? (await hashOf(call.key)).slice(0, 32) : crypto.randomUUID().replaceAll('-', '')
      await change(job, [ops.lock({ ms: ttl, token })], call)
      return { token }
    },

    async refresh(job, { token, ttl }, call) {
      await change(job, [ops.refresh({ token, ms: ttl })], call)
    },

    async unlock(job, { token }, call) {
      await change(job, [ops.unlock({ token })], call)
    },
  }
}
