import { encodeValue } from '../../core/codec/value.ts'
import { SidejobError } from '../../core/errors.ts'
import type { Status } from '../../core/job.ts'
import { nextSlot, parseRepeat, shift } from '../../core/repeat.ts'
import { DAY, MINUTE } from '../../core/units.ts'
import { PLACE } from '../../redis/marks.ts'
import { type Fields, ops, setRun, type Words } from '../../redis/ops.ts'
import { type JobRecord, statusOf } from '../../redis/record.ts'
import type { ClaimedJob } from '../../redis/types.ts'
import type { Vault } from '../../redis/vault.ts'
import { type Context, onceOf } from '../context.ts'
import type { Call, DeliveredJob, Delivery, DeliveryEnd, DeliveryRequest, DeliveryUpdate, Ref } from '../engine.ts'
import { checkArgs, checkValue } from '../jobs/checks.ts'
import { LAST_ATTEMPT, outcomeOf } from '../jobs/outcome.ts'
import { givenFields } from '../jobs/patch-fields.ts'
import { ruleOf } from '../jobs/slot.ts'
import type { Waiter } from '../lane/long-poll.ts'
import { dueAtOf, viewOf } from '../run/snapshot.ts'
import { checkRefusal, claimOnce, laneOf, withoutMissed } from './claiming.ts'

const HUNDRED_YEARS_MS = 100 * 365 * DAY
const SEIZED_LEASE_MS = MINUTE
const MOST_TRIES = 5

type Lane = { id: string; seq: number }

function deliveredJobOf(id: number, document: JobRecord, children: string[] = []): DeliveredJob {
  return {
    ...viewOf(id, document, [], { children }),
    dueAt: dueAtOf(document),
    redeliver: document.redeliverAfter ?? null,
    deliveries: document.deliveries ?? 0,
    unanswered: document.unanswered !== undefined,
    leaseUntil: document.leaseUntil ?? null,
    slot: document.nextSlot ?? null,
    tag: document.tag ?? null,
    cancelled: document.cancelled !== undefined,
  }
}

function before({ id, document, children }: ClaimedJob): DeliveredJob {
  const { ranAt: _, previousRanAt, deliveries, ...rest } = document
  return deliveredJobOf(id, { ...rest, deliveries: deliveries && deliveries - 1, ranAt: previousRanAt }, children)
}

function changeWords(end: DeliveryEnd, vault: Vault): Words {
  const { class: name, forget } = end
  const fields = givenFields(end, vault)
  return [
    ...(Object.keys(fields).length ? ops.patch({ fields }) : []),
    ...(name === undefined ? [] : ops.rename({ class: name })),
    ...(forget ? ops.forget() : []),
    ...setRun.deaf(),
  ]
}

const textOf = (moment: number | undefined): string | undefined => (moment === undefined ? undefined : String(moment))

function slotWords(
  { end, slot = 'next', at, wait = 0 }: DeliveryEnd,
  document: JobRecord,
  next: number | undefined,
  now: number,
): Words {
  if (!document.repeats) return []
  const moments = {
    next: textOf(next ?? document.nextSlot),
    keep: textOf(document.nextSlot),
    asked: String(at ?? now + wait),
    none: '',
  }
  const moment = moments[slot] ?? ''
  const from = textOf(document.nextSlot)
  return [...setRun.slot({ moment, from }), ...(end === 'again' && moment ? setRun.at({ moment: Number(moment) }) : [])]
}

function repeatFields({ repeat, dueAt }: DeliveryUpdate, document: JobRecord, now: number): Fields {
  // In Bedrock, an update never restarts a finished job.
  if (document.place === PLACE.completed) return {}
  const due = dueAt === 'same' ? (document.nextSlot ?? dueAtOf(document)) : dueAt
  if (repeat === undefined)
    return due === undefined ? {} : { [document.repeats ? 'nextSlot' : 'notBefore']: String(due) }
  const kept: Fields = document.place === PLACE.leased ? {} : { notBefore: String(due ?? dueAtOf(document)) }
  if (repeat === null) return { repeats: '', nextSlot: '', ...kept }
  const moments = {
    scheduled: document.nextSlot ?? dueAtOf(document),
    started: document.ranAt ?? null,
    finished: now,
  }
  const slot = due ?? nextSlot(repeat, moments, now)
  return { repeats: encodeValue(parseRepeat(repeat).source), nextSlot: String(slot), notBefore: '' }
}

async function look(parts: Context, queue: string, request: DeliveryRequest, lane?: Lane, waiter?: Waiter) {
  const { names = [], tags, max = 1, priority, lease = HUNDRED_YEARS_MS } = request
  const claim = { max, lease, begun: max, pull: true, patterns: names, tags, priority, waiter }
  for (let skip = 0, tries = 0; ; ) {
    const asked = { queue, lane, claim: { ...claim, skip }, isOnce: !lane }
    const answer = await claimOnce(parts, asked, async (sound) => {
      const claimed = await withoutMissed(parts, sound)
      return Promise.all(claimed.map((one) => deliveryOf(parts, one)))
    })
    const { prepared: deliveries } = answer
    const failed = answer.failed + answer.claimed.length - answer.sound.length
    if (deliveries.length || failed) return [{ deliveries, failed }]
    if (answer.claimed.length && !lane) continue
    if (answer.stale.length && ++tries < MOST_TRIES) continue
    if (answer.seen === undefined) return []
    skip = answer.seen
  }
}

function leaseEnd(document: JobRecord): number {
  const started = document.ranAt!
  const end = document.redeliverAfterMs === undefined ? shift(document.redeliverAfter!, started) : document.leaseUntil!
  if (!document.repeats) return end
  const moments = { scheduled: document.nextSlot ?? started, started, finished: started }
  return Math.min(end, nextSlot(ruleOf(document), moments, started))
}

async function deliveryOf({ change }: Context, claimed: ClaimedJob) {
  const { document } = claimed
  const job = before(claimed)
  const until = document.redeliverAfter === undefined ? undefined : leaseEnd(document)
  if (until !== undefined && until !== document.leaseUntil!)
    await change(String(claimed.id), [ops.deadline({ token: document.token!, till: until })])
  return { token: document.token!, job, family: claimed.family }
}

async function seize({ store, ring, change }: Context, id: number, document: JobRecord, due: boolean) {
  if (!due) await change(String(id), [ops.run({ force: true })])
  const claim = { max: 1, lease: SEIZED_LEASE_MS, begun: 1, pull: true, only: id }
  const { claimed, rings } = await store.commit({ queue: document.queue, claim })
  await ring(rings)
  return claimed[0]?.document
}

const lost = (id: number) =>
  new SidejobError('LOST', `job ${id} has been claimed again, or was never claimed with this token`)

async function inHand(
  parts: Context,
  job: string,
  { token, seizes }: DeliveryEnd,
): Promise<{ id: number; document?: JobRecord }> {
  const { id, document } = await parts.store.inspect(job)
  if (token !== undefined && document.token !== token) throw lost(id)
  const leased = document.place === PLACE.leased
  if (leased && document.leaseUntil! > parts.now()) return { id, document }
  const due = leased || document.unanswered !== undefined
  if (token === undefined && (due || seizes)) return { id, document: await seize(parts, id, document, due) }
  if (token !== undefined) throw lost(id)
  throw new SidejobError('WRONG_STATUS', `job ${id} is ${statusOf(document)}: it has no run to end`)
}

/** Throws before anything changes, so the caller can still end the run in another way. */
async function checkEnd({ registry }: Context, { end, slot, args, class: renamed }: DeliveryEnd, document: JobRecord) {
  const name = renamed ?? document.class
  if (args === undefined && name === document.class) return
  const found = await registry.find(document.queue, name)
  const isLast = end === 'completed' && (slot === 'none' || !document.repeats)
  if (isLast && args !== undefined) return checkValue(found, name, 'result', args, ['result'])
  checkArgs(found, name, args ?? document.args)
}

async function commitEnd({ store, registry, random, ring }: Context, deliveryEnd: DeliveryEnd, document: JobRecord) {
  const { end, at, wait, waitFor, error } = deliveryEnd
  const changes = { end, n: LAST_ATTEMPT, at, wait, waitFor, error }
  const { vault } = store
  const outcome = await outcomeOf(document.token!, changes, { document, vault, registry, random, now: store.now() })
  const words = [...changeWords(deliveryEnd, vault), ...outcome.words]
  words.push(...slotWords(deliveryEnd, document, outcome.slot, store.now()))
  const { answers, rings } = await store.commit({ runs: [{ ...outcome, words }] })
  await ring(rings)
  checkRefusal(answers[0]!)
  return answers[0]!
}

export function createDeliveries(parts: Context) {
  const { store, registry, classes, ring, change, longPoll, now } = parts

  return {
    async get(job: string) {
      const { id, document, children } = await store.inspect(job)
      return deliveredJobOf(id, document, children)
    },

    async list({ cursor: before, ...filter }: { queue: string; class?: string; status?: Status; cursor?: string }) {
      const { jobs, cursor } = await store.list({ ...filter, mode: 'all', before, limit: 1_000 })
      return { jobs: jobs.map(({ id, document }) => deliveredJobOf(id, document)), cursor }
    },

    async claim(queue: string, request: DeliveryRequest, call?: Call) {
      const { wait = 0 } = request
      const end = now() + wait
      const lane = await laneOf(call)
      const [found] = await longPoll((waiter) => look(parts, queue, request, lane, waiter), {
        channel: store.keys.calls,
        end,
        signal: call?.signal,
      })
      return found ?? { deliveries: [], failed: 0 }
    },

    async finish(job: string, deliveryEnd: DeliveryEnd) {
      for (let tries = 1; ; tries++) {
        const { id, document } = await inHand(parts, job, deliveryEnd)
        if (document) {
          await checkEnd(parts, deliveryEnd, document)
          const answer = await commitEnd(parts, deliveryEnd, document)
          if (answer !== 'lost') return { status: answer as Status }
        }
        if (tries === MOST_TRIES) throw lost(id)
      }
    },

    async requeue(
      job: Ref,
      { forgiven = false, class: name }: { forgiven?: boolean; class?: string } = {},
      call?: Call,
    ) {
      const renamed = name === undefined ? [] : [ops.rename({ class: name })]
      const found = name === undefined ? undefined : await store.inspect(job)
      if (found) await checkEnd(parts, { end: 'again', class: name }, found.document)
      await change(job, [...renamed, ops.requeue({ forgiven })], call)
      if (found) classes.note(found.id, { queue: found.document.queue, class: name! })
    },

    async requeueAll(
      queue: string,
      jobs: readonly Ref[],
      { forgiven = false }: { forgiven?: boolean } = {},
      call?: Call,
    ) {
      await change('', [ops.requeue_all({ queue_name: queue, forgiven, jobs: jobs.map(String) })], call)
    },

    /** Returned deliveries do not count as attempts. */
    async giveBack(deliveries: Delivery[], call?: Call) {
      await Promise.all(deliveries.map(({ job }) => change(String(job.id), [ops.requeue({ forgiven: true })])))
      const lane = await laneOf(call)
      if (lane) await store.forget(lane.id)
    },

    async once(call: Call, act: () => Promise<void>) {
      if (call.key === undefined) return act()
      const { again } = await store.change('', [ops.look()], onceOf(call))
      if (again) return
      await act()
      await change('', [], call)
    },

    async withdraw({ id, status }: DeliveredJob, act: 'cancel' | 'delete', call?: Call) {
      const taken = status === 'running' ? [ops.requeue()] : []
      const ending = act === 'cancel' ? ops.cancel() : ops.delete({ force: true })
      await change(String(id), [ops.expect({ statuses: [status] }), ...taken, ending], call)
    },

    async update(job: Ref, update: DeliveryUpdate, call?: Call) {
      const { args, was, counted } = update
      const { document } = await store.inspect(job)
      if (args !== undefined) checkArgs(await registry.find(document.queue, document.class), document.class, args)
      const fields = repeatFields(update, document, store.now())
      // The new time cancels an earlier request to run immediately.
      if (Object.keys(fields).length) fields.wantedEarly = ''
      Object.assign(fields, givenFields(update, store.vault))
      if (counted === 'anew') fields.deliveries = ''
      const same = was === undefined ? [] : [ops.was({ field: 'args', values: store.vault.sealedAs(was, 'args') })]
      await change(job, [...same, ops.patch({ fields })], call)
    },

    async block(queue: string, globs: string[] | null) {
      const { rings } = await store.settings(queue, {}, globs === null ? { unban: true } : { ban: globs })
      await ring(rings)
    },
  }
}
