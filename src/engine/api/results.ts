import { encodeValue } from '../../core/codec/value.ts'
import { ended, type Status } from '../../core/job.ts'
import { redacted } from '../../core/redact.ts'
import { MINUTE } from '../../core/units.ts'
import { ops } from '../../redis/ops.ts'
import type { Vault } from '../../redis/vault.ts'
import type { Context } from '../context.ts'
import type { Call, Ref, Result } from '../engine.ts'
import type { Waiter } from '../lane/long-poll.ts'

/** If the caller takes the result (`isTaken`), the result is not redacted. */
function resultOf(text: string, isTaken: boolean, { show }: Vault): Result {
  const [type, head, ...rest] = text.split('\n')
  const [times, redacts = '[]'] = head!.split('\t')
  const [finishedAt, , saidAt] = times!.split(' ')
  const paths = isTaken ? [] : (JSON.parse(redacts) as string[])
  const reported = saidAt === undefined ? {} : { saidAt }
  const kept = rest.join('\n')
  const value = type === 'success' ? show.value(kept, 'result') : show.error(kept)
  if (type === 'success')
    return { type, finishedAt: Number(finishedAt), ...reported, result: redacted(value, paths, 'result') }
  const {
    message = '',
    reason = 'other',
    detail = null,
    retry,
  } = JSON.parse(redacted(value, paths, 'error')) as {
    message?: string
    reason?: 'other' | 'timeout'
    detail?: unknown
    retry?: false
  }
  return {
    type: 'failure',
    finishedAt: Number(finishedAt),
    ...reported,
    reason,
    message,
    error: detail === null ? null : encodeValue(detail),
    ...(retry === false ? { retry } : {}),
  }
}

type Answer = { ended: true; result: Result | null } | { ended: false; status: Status }

export function createResults({ store, change, now, longPoll }: Context) {
  return {
    async result(
      job: Ref,
      { wait = 0, take = false }: { wait?: number; take?: boolean },
      call?: Call,
    ): Promise<Answer> {
      const end = now() + wait
      let id = ''
      let answer!: Answer
      const ask = async (waiter?: Waiter) => {
        // A disconnected caller must not take the result.
        if (waiter && call?.signal?.aborted) return []
        const words = ops.result({ job, look: !take, wait: waiter?.wait ?? 0 })
        const [text, status, found = ''] = await change('', [words], call, MINUTE)
        const result = text ? resultOf(text, take, store.vault) : null
        id = found
        if (!result && !ended.has(status as Status)) answer = { ended: false, status: status as Status }
        else answer = { ended: true, result }
        return answer.ended ? [answer] : []
      }
      await longPoll(ask, { channel: () => store.keys.ended(id), end, signal: call?.signal })
      return answer
    },
  }
}
