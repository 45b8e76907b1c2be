import { SidejobError } from '../../core/errors.ts'
import type { Status } from '../../core/job.ts'
import { ops } from '../../redis/ops.ts'
import { dirOf, pastRunOf } from '../../redis/record.ts'
import type { Entry } from '../../redis/verbs/streams.ts'
import type { Context } from '../context.ts'
import type { Call, FlowEvent, Ref } from '../engine.ts'

/** The largest 200 entries take 3.3 MB, and Redis answers with at most 10 MB. */
const PAGE = 200

/** Numbers of words that lib/port/record.lua writes for a status change (`s`) and a port change (`p`). */
const WORDS = { s: 6, p: 6 } as const

function eventOf({ id, fields: held }: Entry): FlowEvent {
  const words = JSON.parse(held.did ?? '[]') as string[]
  const event: FlowEvent = { id, at: Number(held.at), moves: [], counts: [], more: Number(held.more) }
  for (let at = 0; at < words.length; at += WORDS[words[at] as keyof typeof WORDS]) {
    const [kind, name, ...rest] = words.slice(at, at + WORDS.p) as [string, string, string, string, string, string]
    const node = name === '' ? null : name
    if (kind === 's') {
      const [job, was, is, run] = rest as [string, Status | '', Status, string]
      event.moves.push({ node, job: Number(job), was: was || null, is, run: run ? pastRunOf(run) : null })
    } else {
      const [dir, port, was, is] = rest as [string, string, string, string]
      event.counts.push({ node, dir: dirOf(dir), port, was: Number(was), is: Number(is) })
    }
  }
  return event
}

export function createRecording({ store, change }: Context) {
  async function entries(job: number, limit: number, { after, before }: { after?: string; before?: string }) {
    const found: FlowEvent[] = []
    let from = after ?? before
    while (found.length < limit) {
      const most = Math.min(PAGE, limit - found.length)
      const page = await (after === undefined
        ? store.recordBack(job, from === undefined ? '+' : `(${from}`, most)
        : store.recordOn(job, `(${from}`, most))
      found.push(...page.map(eventOf))
      from = found.at(-1)?.id
      if (page.length < most) break
    }
    return found
  }

  return {
    /** `keep` is in milliseconds. `null` deletes the recording. */
    async record(job: Ref, keep: number | null, call?: Call) {
      const { id, document } = await store.inspect(job)
      if (document.class !== 'flow' || document.queue !== 'core')
        throw new SidejobError('REFUSED', `job ${id} (${document.class}) is not a flow`)
      await change(String(id), [ops.record({ keep: keep ?? undefined })], call)
    },

    async recorded(job: Ref, { after, before, limit }: { after?: string; before?: string; limit: number }) {
      const { id, document } = await store.inspect(job)
      const keep = document.recorded ?? null
      if (keep === null) return { keep, events: [], cursor: null }
      const found = await entries(id, limit, { after, before })
      const since = store.now() - keep
      const kept = found.filter(({ at }) => at >= since)
      const isAll = after !== undefined || kept.length < limit
      return {
        keep,
        cursor: isAll ? null : kept.at(-1)!.id,
        events: after === undefined ? kept.reverse() : kept,
      }
    },
  }
}
