// Results: waited for, taken once, or looked at.

import { type Encoded, encodeValue } from '../../core/codec/value.ts'
import type { Status } from '../../core/job.ts'
import { sleep } from '../../core/sleep.ts'
import { type Context, MINUTE } from '../context.ts'
import type { Engine, Result } from '../engine.ts'

function resultOf(text: string): Result {
  const [type, times, ...rest] = text.split('\n')
  const [finishedAt, , saidAt] = times!.split(' ')
  const said = saidAt === undefined ? {} : { saidAt }
  const value = rest.join('\n')
  if (type === 'success') return { type, finishedAt: Number(finishedAt), ...said, result: value as Encoded }
  const {
    message = '',
    reason = 'other',
    detail = null,
    retry,
  } = JSON.parse(value) as {
    message?: string
    reason?: 'other' | 'timeout'
    detail?: unknown
    retry?: false
  }
  return {
    type: 'failure',
    finishedAt: Number(finishedAt),
    ...said,
    reason,
    message,
    error: detail === null ? null : encodeValue(detail),
    ...(retry === false ? { retry } : {}),
  }
}

const ends = new Set(['completed', 'failed', 'terminated'])

export function createResults({ change, now }: Context): Pick<Engine, 'result'> {
  return {
    async result(job, { wait = 0, take = false }, call) {
      const until = now() + wait
      for (;;) {
        const [text, status] = await change('', [['result', job, take ? '' : '1']], call, MINUTE)
        if (text) return { ended: true, result: resultOf(text) }
        if (ends.has(status!)) return { ended: true, result: null }
        if (now() >= until) return { ended: false, status: status as Status }
        await sleep(Math.min(250, until - now()))
      }
    },
  }
}
