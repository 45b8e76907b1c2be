// Who was told of ended jobs: listed, and told again.

import { CALLBACKS, callbackGroup } from '../../core/callback.ts'
import type { Status } from '../../core/job.ts'
import { ops } from '../../redis/ops.ts'
import { type Context, stepOf } from '../context.ts'
import type { CallbackState, Engine } from '../engine.ts'
import { callbackView } from '../remote/callbacks.ts'

const callbackStatuses: Record<CallbackState, Status> = {
  PENDING: 'queued',
  IN_PROGRESS: 'running',
  DELIVERED: 'completed',
  FAILED: 'failed',
}

export function createCallbackVerbs({ store, change }: Context): Pick<Engine, 'callbacks' | 'resend'> {
  return {
    async callbacks({ state, host, limit = 50, cursor }) {
      const { queue, class: name } = CALLBACKS
      const status = state && callbackStatuses[state]
      const group = host === undefined ? undefined : callbackGroup(host)
      const page = await store.list({ mode: 'all', queue, status, class: name, group, before: cursor, limit })
      return { callbacks: page.jobs.map(({ id, document }) => callbackView(id, document)), cursor: page.cursor }
    },

    async resend(job, call) {
      return stepOf(await change(job, [ops.resend()], call))
    },
  }
}
