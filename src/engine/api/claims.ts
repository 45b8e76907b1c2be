import type { Encoded } from '../../core/codec/value.ts'
import { missing, SidejobError } from '../../core/errors.ts'
import { faultText } from '../../core/issues.ts'
import { idIn, type Status } from '../../core/job.ts'
import type { Changes, Snapshot } from '../../core/run.ts'
import type { ClaimOptions } from '../../core/schemas/claims.ts'
import type { Reach } from '../../core/worker.ts'
import type { RunOutcome } from '../../redis/changes.ts'
import { type JobRecord, statusOf } from '../../redis/record.ts'
import type { ClaimedJob, ClaimRequest, Signal } from '../../redis/types.ts'
import type { Context } from '../context.ts'
import type { Call } from '../engine.ts'
import { faultInJob, schemaOfClass, skewed, skewOf } from '../jobs/checks.ts'
import { checkedChanges, LAST_ATTEMPT, outcomeOf } from '../jobs/outcome.ts'
import { type Registered, timeoutOf, withSchema } from '../jobs/registry.ts'
import type { Waiter } from '../lane/long-poll.ts'
import { createReader, stepPage } from '../run/reader.ts'
import { inputsOf, snapshotOf } from '../run/snapshot.ts'
import { checkRefusal, claimOnce, laneOf, withoutMissed } from './claiming.ts'

/** The globs of lib/queue/globs.lua have character sets like `[ab]`, but patterns for class names have none. */
const literalSets = (name: string): string => name.replaceAll('[', '[[]')

const CLAIM_LEASE = 60_000
/** Each look examines up to 1,000 jobs. */
const MAX_LOOKS = 50

type Look = Pick<ClaimRequest, 'max' | 'lease' | 'patterns' | 'tags' | 'process'> & {
  queue: string
  lane: Awaited<ReturnType<typeof laneOf>>
  call: (Call & { onSignal?: (signal: Signal) => void }) | undefined
  schemas: Record<string, string>
  stop: () => void
}

export function createRuns(parts: Context) {
  const { store, registry, classes, executor, ring, announce, now, random, longPoll } = parts
  const reader = createReader(store)

  /** The job's record is needed to count a failure, to compute the next slot, or if Redis may refuse an op. */
  const needsDocument = (token: string, { end, ops }: Changes): boolean =>
    end === 'failed' || (ops?.length ?? 0) > 0 || token.split('.')[2]!.startsWith('r')

  async function recordOf(token: string, changes: Changes): Promise<JobRecord> {
    const known: JobRecord = { queue: '', class: '', sequence: '', token, keepResult: 1 }
    if (!needsDocument(token, changes)) return known
    const found = await store.inspect(idIn(token)).catch(missing)
    return { ...(found?.document ?? known), token }
  }

  const classOf = (token: string) => classes.of(idIn(token)).catch(missing)

  async function settleRemote(token: string, sent: Changes, asked?: Reach) {
    const hasValues = sent.result !== undefined || (sent.ops?.length ?? 0) > 0
    const { found: known, name = '' } = (hasValues ? await classOf(token) : undefined) ?? {}
    const { changes, fault } = checkedChanges(sent, name, known)
    const document = await recordOf(token, changes)
    const found = known ?? (document.queue ? await registry.find(document.queue, document.class) : undefined)
    const { retry, reach } = found?.definition ?? {}
    const { vault } = store
    const deciding = { document, vault, retry, reach: asked ?? reach, registry, random, now: store.now() }
    return { outcome: await outcomeOf(token, changes, deciding), fault }
  }

  function checkToken(token: string): void {
    if (!/^[1-9]\d*\.\d+\.\w+$/.test(token)) throw lost()
  }

  const lost = () =>
    new SidejobError('LOST', 'the lease of this run has ended, or its token is unknown: its changes were not applied')

  async function endedOf(token: string) {
    const { id, document } = await store.inspect(idIn(token)).catch(() => ({ id: 0, document: undefined }))
    if (!document || !['terminating', 'terminated'].includes(statusOf(document))) return lost()
    const then =
      document.token === token ? 'commit the run to apply its changes' : 'the changes of this commit were not applied'
    return new SidejobError('LOST', `job ${id} was terminated: ${then}`)
  }

  function checkAnswer(answer: string): void {
    if (answer === 'lost') throw lost()
    if (answer === 'conflict')
      throw new SidejobError('CONFLICT', 'another caller also read from a port of this run. The job is queued again')
    checkRefusal(answer)
  }

  async function commitToken(settled: RunOutcome) {
    const { answers, claimed, rings } = await store.commit({ runs: [settled] })
    await ring(rings)
    if (answers[0] === 'lost' && settled.end === 'checkpoint') throw await endedOf(settled.token)
    checkAnswer(answers[0]!)
    return { answer: answers[0]!, claimed }
  }

  const giveBack = async (token: string) =>
    (await commitToken({ token, n: LAST_ATTEMPT, end: 'released', words: [] })).answer

  const classFor = ({ document }: Pick<ClaimedJob, 'document'>) => registry.find(document.queue, document.class)

  const snapshots = (queue: string, claimed: ClaimedJob[]) =>
    Promise.all(
      claimed.map(async (one) => {
        classes.note(one.id, { queue, class: one.document.class })
        const found = await classFor(one)
        const snapshot = snapshotOf(one, timeoutOf(found), schemaOfClass(found))
        const traceparent = traceparentFor(one)
        return traceparent ? { ...snapshot, run: { ...snapshot.run, traceparent } } : snapshot
      }),
    )

  /** The worker sends the span of its run itself, as a child of the job's span. */
  function traceparentFor(claimed: ClaimedJob): string | undefined {
    const trace = executor.tracer?.begin(claimed)
    if (!trace) return claimed.document.traceparent
    executor.tracer?.send(trace.queued())
    return trace.ofJob
  }

  async function jobOf(token: string) {
    checkToken(token)
    const job = await store.inspect(idIn(token))
    if (job.document.token !== token) throw lost()
    return job
  }

  async function checkSchemas(queue: string, schemas: Record<string, string>) {
    for (const [name, built] of Object.entries(schemas)) {
      if (!skewOf(await registry.find(queue, name), name, built)) continue
      const found = (await registry.list(queue)).get(name)
      const skew = skewOf(found, name, built)
      if (skew && !withSchema(found!, built))
        throw skewed(skew, 'worker', `schemas.${name}: expected the hash of a current or recent schema, got ${built}`, [
          'schemas',
          name,
        ])
    }
  }

  function misread(
    found: Registered | undefined,
    built: string | undefined,
    { id, document }: Pick<ClaimedJob, 'id' | 'document'>,
    inputs: Parameters<typeof faultInJob>[2],
  ): SidejobError | undefined {
    const { class: name } = document
    const skew = skewOf(found, name, built)
    if (!skew) return undefined
    const older = withSchema(found!, skew.built)
    const fault = faultInJob(older ?? found!, document, inputs, older && found)
    return fault && skewed(skew, 'worker', `job ${id}: ${faultText(fault)}`, fault.path)
  }

  async function refused(found: Registered | undefined, built: string | undefined, one: ClaimedJob) {
    const error = misread(found, built, one, inputsOf(one))
    if (error) await giveBack(one.document.token!)
    return error
  }

  async function unfitFor(built: string, one: ClaimedJob): Promise<SidejobError | 'failed' | undefined> {
    const found = await classFor(one)
    if (!found || skewOf(found, one.document.class, built)) return refused(found, built, one)
    const outcome = await executor.misfit(one, found)
    if (outcome) await commitToken(outcome)
    return outcome && 'failed'
  }

  async function fitting(schemas: Record<string, string>, claimed: ClaimedJob[]) {
    const unfit = new Map<ClaimedJob, SidejobError | 'failed'>()
    for (const one of claimed) {
      const built = schemas[one.document.class]
      const why = built === undefined ? undefined : await unfitFor(built, one)
      if (why) unfit.set(one, why)
    }
    const error = [...unfit.values()].find((why) => why !== 'failed')
    if (error && unfit.size === claimed.length) throw error
    return claimed.filter((one) => !unfit.has(one))
  }

  async function look(request: Look, waiter?: Waiter, skip = 0, looks = 1): Promise<Snapshot[]> {
    const { queue, lane, call, stop, schemas, ...claim } = request
    const answer = await claimOnce(
      parts,
      {
        queue,
        lane: lane ?? { id: crypto.randomUUID().replaceAll('-', ''), seq: 1 },
        claim: { ...claim, begun: claim.max, pull: true, waiter, skip },
        isOnce: !lane,
      },
      async (sound) => {
        const fit = await fitting(schemas, sound)
        return { fit, ready: await snapshots(queue, await withoutMissed(parts, fit)) }
      },
    )
    const { fit, ready } = answer.prepared
    if (answer.signal) call?.onSignal?.(answer.signal)
    if (answer.signal === 'stop') stop()
    if (ready.length > 0) return ready
    // Jobs with outdated constraints now have new limits, and unfit jobs have failed, so claim again.
    if (answer.stale.length || fit.length < answer.claimed.length) return look(request, waiter, skip)
    if (answer.claimed.length && !lane) return look(request, waiter, skip)
    if (answer.seen !== undefined && looks < MAX_LOOKS) return look(request, waiter, answer.seen, looks + 1)
    return []
  }

  return {
    async claim(
      queue: string,
      { names = [], tags = [], max = 1, wait = 0, lease = CLAIM_LEASE, process, schemas = {} }: ClaimOptions,
      call?: Call & { onSignal?: (signal: Signal) => void },
    ) {
      const end = now() + wait
      const stopped = new AbortController()
      const over = AbortSignal.any([stopped.signal, ...(call?.signal ? [call.signal] : [])])
      await announce()
      await checkSchemas(queue, schemas)
      const lane = await laneOf(call)
      const asked = { max, lease, patterns: names.map(literalSets), tags, process, schemas }
      const request = { ...asked, queue, lane, call, stop: () => stopped.abort() }
      const claimed = await longPoll((waiter) => look(request, waiter), {
        channel: store.keys.calls,
        end,
        signal: over,
      })
      // The caller has disconnected. Without an Idempotency-Key, it cannot repeat this claim, so release the jobs.
      if (!call?.signal?.aborted || lane) return claimed
      await Promise.all(claimed.map(({ run }) => giveBack(run.token)))
      return []
    },

    /** `reach` overrides the `reach` of the class. */
    async commit(token: string, changes: Changes, { reach }: { reach?: Reach } = {}) {
      checkToken(token)
      const { outcome, fault } = await settleRemote(token, changes, reach)
      const { answer, claimed } = await commitToken(outcome)
      if (fault) throw fault
      if (changes.end !== 'checkpoint' || !claimed[0]) return { status: answer as Status }
      const error = await refused(await classFor(claimed[0]), changes.schema, claimed[0])
      if (error) throw error
      const [snapshot] = await snapshots(claimed[0].document.queue, claimed)
      return { status: answer as Status, snapshot }
    },

    async heartbeat(
      token: string,
      { progress }: { progress?: Encoded },
    ): Promise<{ leaseUntil: number; signal?: Signal }> {
      checkToken(token)
      const { leaseUntil, ...answer } = await store.heartbeat(token, CLAIM_LEASE, progress)
      if (leaseUntil === null) throw await endedOf(token)
      return { leaseUntil, ...answer }
    },

    async release(token: string) {
      checkToken(token)
      return { status: (await giveBack(token)) as Status }
    },

    async values(token: string, port: string, after: number, schema?: string) {
      const job = await jobOf(token)
      const page = await reader.page(job.id, port, after)
      const error = schema && misread(await classFor(job), schema, job, { [port]: page })
      if (error) throw error
      return page
    },

    children: async (token: string, cursor: string = '0') => store.children((await jobOf(token)).id, cursor),

    steps: async (token: string, cursor: string = '0') => stepPage(store, (await jobOf(token)).id, cursor),
  }
}
