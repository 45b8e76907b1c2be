import type { Encoded } from '../../core/codec/value.ts'
import { hashOf } from '../../core/crypto.ts'
import { SidejobError } from '../../core/errors.ts'
import { type MissedSlots, missedSlotsText, parseMissedSlots, slotsFrom } from '../../core/repeat/passed.ts'
import { nextSlot, nextTimes, type ParsedRepeat, parseRepeat } from '../../core/repeat.ts'
import { spawnWords } from '../../redis/changes.ts'
import { ops } from '../../redis/ops.ts'
import { aliasesOf, type JobRecord, pastRunOf, statusOf } from '../../redis/record.ts'
import type { Listed } from '../../redis/types.ts'
import type { Context } from '../context.ts'
import type { Call, JobInput, JobPatch, Ref, ScheduleRow, ScheduleView } from '../engine.ts'
import { checkFlows } from '../jobs/graph-check.ts'
import { kindNameOf } from '../jobs/kind.ts'
import { newJobs } from '../jobs/new-job.ts'
import { MAX_DATE, repeatFields, repeatWords } from '../jobs/patch-fields.ts'
import { ruleOf } from '../jobs/slot.ts'
import { shownError } from '../run/shown.ts'
import { mutesOf } from './errors.ts'
import type { Jobs } from './jobs.ts'
import { pastRunsOf, storedRunsOf } from './past-runs.ts'
import { firstReasonOf } from './why.ts'

const PREVIEW = 5
const [MOST_SLOTS, MOST_LISTED] = [1_000, 50]
const COUNTED = 100
const MOST_PAGES = 20
const MOST_JOBS = 1_000

const failures = new Set(['failed', 'lost'])

function missedOf(doc: JobRecord, repeat: ParsedRepeat): ScheduleView['missed'] {
  if (!doc.passedSlots) return null
  const passed = parseMissedSlots(doc.passedSlots)
  const { length } = slotsFrom(repeat, passed.from, passed.to, COUNTED + 1)
  return { ...passed, count: Math.min(COUNTED, length), more: length > COUNTED }
}

type Stretch = { until?: number; most?: number }

function slotsOf(doc: JobRecord, repeat: ParsedRepeat, { until, most = MOST_SLOTS }: Stretch): number[] {
  if (doc.repeatPaused || !doc.nextSlot) return []
  return slotsFrom(repeat, doc.nextSlot, until ?? Infinity, until === undefined ? PREVIEW : most)
}

function movedOf({ moved }: ParsedRepeat, from: number): ScheduleView['moved'] {
  const found = moved?.(from)
  return found ? { at: found.at, wall: new Date(found.wall).toISOString().slice(0, 16).replace('T', ' ') } : null
}

function scheduleOf(id: number, doc: JobRecord, stretch: Stretch = {}): ScheduleView {
  const repeat = ruleOf(doc)
  const next = slotsOf(doc, repeat, stretch)
  const lastRun = doc.lastRun ? pastRunOf(doc.lastRun) : null
  return {
    job: id,
    queue: doc.queue,
    class: doc.class,
    status: statusOf(doc),
    aliases: aliasesOf(doc),
    repeat: doc.repeats as Encoded,
    paused: doc.repeatPaused !== undefined,
    failing: lastRun !== null && failures.has(lastRun.outcome),
    error: shownError(doc),
    lastRun,
    next,
    nextAt: next[0] ?? slotsOf(doc, repeat, { most: 1, until: Infinity })[0] ?? null,
    missed: missedOf(doc, repeat),
    catchingUp: doc.catchUpAt !== undefined,
    moved: next.length > 0 ? movedOf(repeat, next[0]!) : null,
  }
}

/** A failed job no longer repeats, so it matches every `inARow`. */
const failedTimes = (doc: JobRecord): number => (statusOf(doc) === 'failed' ? Infinity : (doc.failedInARow ?? 0))

const LATE = 300_000

const isLate = (doc: JobRecord, now: number): boolean =>
  statusOf(doc) === 'queued' && doc.nextSlot! > (doc.ranAt ?? 0) && now - doc.nextSlot! > LATE

const rowOf = (id: number, doc: JobRecord, stretch: Stretch, at?: number): ScheduleRow => ({
  ...scheduleOf(id, doc, stretch),
  ...(at && {
    reason: firstReasonOf(doc, at),
    failedInARow: doc.failedInARow ?? 0,
    ...(isLate(doc, at) && { lateAt: doc.nextSlot }),
  }),
})

const pausedFor = ({ base, last }: ParsedRepeat, from: number, to: number): MissedSlots | undefined =>
  base === 'scheduled' && from > 1 && from <= to ? { from, to: last(from, to), made: 'none' } : undefined

const changeable = ['queue', 'class', 'args', 'priority', 'retry', 'timeout', 'repeat', 'group']

const kept = ['args', 'retry', 'timeout', 'group'] as const

const isChange = (document: JobRecord, input: JobInput): boolean =>
  document.queue === input.queue &&
  document.class === input.class &&
  Object.keys(input).every((field) => changeable.includes(field)) &&
  kept.every((name) => document[name] === undefined || input[name] !== undefined)

function patchOf(input: JobInput, was: string): JobPatch {
  const { args, priority = 0, retry, timeout, group, repeat } = input
  const fields = { args, priority, retry, timeout, group }
  const isSame = JSON.stringify(parseRepeat(repeat!).source) === JSON.stringify(parseRepeat(JSON.parse(was)).source)
  return { ...fields, ...(isSame ? {} : { repeat }) }
}

type Query = {
  limit?: number
  cursor?: string
  failing?: boolean
  muted?: boolean
  inARow?: number
  runs?: boolean
  until?: number
}

type Found = Listed['jobs'][number]

export function createSchedules(
  { store, registry, change, now, allowHosts }: Context,
  { update: patch, enqueue }: Pick<Jobs, 'update' | 'enqueue'>,
) {
  async function look(job: string) {
    const found = await store.inspect(job)
    if (!found.document.repeats) throw new SidejobError('NOT_FOUND', `job ${found.id} does not repeat`)
    return found
  }

  async function schedule(job: string, { until }: { until?: number } = {}) {
    const { id, document } = await look(job)
    return scheduleOf(id, document, { until })
  }

  async function named(alias: string) {
    const { jobs } = await store.list({ mode: 'alias', name: alias, limit: 1 })
    const [found] = jobs
    if (found && !found.document.repeats)
      throw new SidejobError('TAKEN', `alias ${alias} belongs to job ${found.id}, which is not a schedule`)
    return found
  }

  const endWords = (document: JobRecord) => [
    ...aliasesOf(document).map((alias) => ops.unalias({ name: alias })),
    ops.patch({ fields: repeatFields(document, null, now()) }),
  ]

  async function end(job: string, call?: Call) {
    const { id, document } = await look(job)
    await change(String(id), endWords(document), call)
  }

  /** One change ends the old schedule and creates the new one, so a refusal changes nothing. */
  async function replace({ id, document }: Found, input: JobInput, call?: Call) {
    const [job] = newJobs([input], await registry.finder([input]), store.now(), allowHosts, call)
    await checkFlows(registry, [input])
    const [made] = await change(String(id), [...endWords(document), spawnWords('', job!, store.vault)], call)
    return made!
  }

  async function make(alias: string, input: JobInput, old?: Found, call?: Call) {
    // The Idempotency-Key of the call covers the whole update, so this step must not use the key.
    const asked = call && { by: call.by, quota: call.quota, rootless: call.rootless }
    const named = { ...input, alias: [...(input.alias ?? []), alias] }
    if (old) return replace(old, named, asked)
    const [made] = (await enqueue([named], asked)).jobs
    return String(made!.id)
  }

  return {
    async list({ limit = 50, cursor, failing = false, muted = false, inARow = 0, until, runs = false }: Query) {
      const schedules: ScheduleRow[] = []
      const silent = failing && !muted ? mutesOf({ store, now }) : undefined
      let next: string | null = cursor ?? '0'
      for (let page = 0; next !== null && schedules.length < limit && page < MOST_PAGES; page++) {
        const from: string = next
        const filter = { mode: 'repeats', before: from, limit: limit - schedules.length } as const
        const [{ jobs, cursor: after }, mutes] = await Promise.all([store.list(filter), silent])
        const isTold = (document: JobRecord) =>
          failedTimes(document) >= inARow && !mutes?.muted.has(kindNameOf(document))
        const stretch = { until, most: MOST_LISTED }
        const shown = jobs
          .map(({ id, document }) => ({ document, view: rowOf(id, document, stretch, inARow && now()) }))
          .filter(({ document, view }) => !failing || view.lateAt || (view.failing && isTold(document)))
        const kept = shown.map(async ({ document, view }) =>
          runs ? { ...view, runs: pastRunsOf(document, await storedRunsOf(store, { id: view.job, document })) } : view,
        )
        schedules.push(...(await Promise.all(kept)))
        next = after
      }
      return { schedules, cursor: next }
    },

    get: schedule,

    async set(alias: string, input: JobInput, call?: Call) {
      const print = (await hashOf(JSON.stringify(Object.entries(input).sort()))).slice(0, 16)
      const found = await named(alias)
      const isLive = found && statusOf(found.document) !== 'terminated'
      if (isLive && found.document.scheduleHash === print) return scheduleOf(found.id, found.document)
      const isSame = isLive && isChange(found.document, input)
      if (isSame) await patch(String(found.id), patchOf(input, found.document.repeats!))
      const id = isSame ? String(found.id) : await make(alias, input, found, call)
      await change(id, [ops.patch({ fields: { scheduleHash: print } })])
      return schedule(id)
    },

    async update(job: Ref, changes: JobPatch, call?: Call) {
      await patch(job, changes, call)
      return schedule(job)
    },

    end,

    async pause(job: Ref, call?: Call) {
      const { document } = await look(job)
      const next = document.nextSlot === MAX_DATE ? document.repeatPaused : document.nextSlot
      const fields = { nextSlot: String(MAX_DATE), repeatPaused: String(next ?? 1) }
      await change(job, repeatWords(document, fields), call)
      return schedule(job)
    },

    async resume(job: Ref, call?: Call) {
      const { document } = await look(job)
      const repeat = ruleOf(document)
      const at = store.now()
      const next = nextSlot(repeat, { scheduled: at, started: at, finished: at }, at)
      const passed = pausedFor(repeat, Number(document.repeatPaused ?? 0), at)
      const fields = {
        nextSlot: String(next),
        repeatPaused: '',
        ...(passed && { passedSlots: missedSlotsText(passed) }),
      }
      await change(job, repeatWords(document, fields), call)
      return schedule(job)
    },

    async backfill(job: Ref, { from, to }: { from: number; to: number }, call?: Call) {
      const { document } = await look(job)
      const repeat = ruleOf(document)
      if (!('cron' in Object(repeat.source)))
        throw new SidejobError(
          'REFUSED',
          'expected a schedule with a cron pattern, got a pattern in words, whose slots depend on its runs',
        )
      const slots = nextTimes(repeat, from - 1, MOST_JOBS + 1, to)
      const { queue, class: name, args, priority, timeout, retry } = document
      const template: JobInput = { queue, class: name, args, priority, timeout, retry: retry && JSON.parse(retry) }
      const wanted = slots.slice(0, MOST_JOBS)
      if (wanted.length === 0) return { jobs: [], next: null }
      const { jobs } = await enqueue(
        wanted.map((scheduledFor) => ({ ...template, scheduledFor })),
        call,
      )
      return {
        jobs: jobs.map(({ id }, n) => ({ id, scheduledFor: wanted[n]! })),
        next: slots[MOST_JOBS] ?? null,
      }
    },
  }
}

export type Schedules = ReturnType<typeof createSchedules>
