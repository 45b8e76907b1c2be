import { CALLBACKS, callbackGroup } from '../../core/callback.ts'
import { decodeValue } from '../../core/codec/value.ts'
import { SidejobError } from '../../core/errors.ts'
import type { Status } from '../../core/job.ts'
import type { PastRun } from '../../core/run.ts'
import { ops } from '../../redis/ops.ts'
import { pastRunOf } from '../../redis/record.ts'
import type { Inspection } from '../../redis/types.ts'
import { type Context, stepOf } from '../context.ts'
import type { Call, CallbackState, CallbackTry, CallbackView, Ref } from '../engine.ts'
import { sentOf } from '../remote/callback-sent.ts'
import { callbackView } from '../remote/callbacks.ts'
import { runLines, storedRunsOf } from './past-runs.ts'
import { viewOf } from './queues.ts'

const callbackStatuses: Record<CallbackState, Status> = {
  PENDING: 'queued',
  IN_PROGRESS: 'running',
  DELIVERED: 'completed',
  FAILED: 'failed',
}

const TRIES = 10

const outcomes: Record<string, CallbackTry['outcome']> = { completed: 'delivered', lost: 'lost' }

function tryOf({ startedAt, endedAt, outcome, attempt, retried = false, error }: PastRun): CallbackTry {
  const isDelivered = outcome === 'completed'
  const answer = error === undefined ? null : (decodeValue(error) as { message: string }).message
  return {
    at: startedAt,
    took: endedAt - startedAt,
    outcome: outcomes[outcome] ?? 'failed',
    attempt,
    again: retried,
    answer: isDelivered ? null : answer,
  }
}

type Query = { state?: CallbackState; host?: string; limit?: number; cursor?: string }

export function createCallbackVerbs({ store, change, payloads }: Context) {
  async function callbackJobOf(job: string) {
    const { id, document: of } = await store.inspect(job)
    if (of.callbackJob === undefined)
      throw new SidejobError('NOT_FOUND', `job ${id} has sent no callback: it has no callback URL, or has not ended`)
    return { of, callbackJob: await store.inspect(String(of.callbackJob)) }
  }

  const triesOf = async (callbackJob: Inspection) =>
    runLines(callbackJob.document, await storedRunsOf(store, callbackJob))
      .map(pastRunOf)
      .filter(({ outcome }) => outcome !== 'released')
      .slice(0, TRIES)
      .map(tryOf)

  return {
    async counts(): Promise<Record<CallbackState, number>> {
      const [row] = (await store.overview(CALLBACKS.queue)).queues
      const { counts } = viewOf(row!)
      return {
        PENDING: counts.queued + counts.suspended + counts.terminating,
        IN_PROGRESS: counts.running,
        DELIVERED: counts.completed,
        FAILED: counts.failed + counts.terminated,
      }
    },

    async tries(job: Ref) {
      return { tries: await triesOf((await callbackJobOf(job)).callbackJob) }
    },

    async get(job: Ref) {
      const { of, callbackJob } = await callbackJobOf(job)
      const [tries, sent] = await Promise.all([triesOf(callbackJob), sentOf(callbackJob.document, of, payloads)])
      return { callback: callbackView(callbackJob.id, callbackJob.document), tries, sent }
    },

    async list({
      state,
      host,
      limit = 50,
      cursor,
    }: Query): Promise<{ callbacks: CallbackView[]; cursor: string | null; newest?: number }> {
      const { queue, class: name } = CALLBACKS
      const status = state && callbackStatuses[state]
      const group = host === undefined ? undefined : callbackGroup(host)
      const filter = { mode: 'all' as const, queue, status, class: name, group, before: cursor, limit }
      const { jobs, cursor: next, newest } = await store.list(filter)
      return { callbacks: jobs.map(({ id, document }) => callbackView(id, document)), cursor: next, newest }
    },

    /** `job` is the ended job or the job of its callback. */
    async resend(job: Ref, call?: Call) {
      return stepOf(await change(job, [ops.resend()], call))
    },
  }
}
