import { type JobRecord, statusOf } from '../../../src/redis/record.ts'
import { DELIVERIES, isCallback, limits } from './classes.ts'
import { createBoundsJudge } from './judge-constraints.ts'
import { createSlotsJudge } from './judge-schedules.ts'
import type { SeenJob, View } from './redis.ts'

export type Facts = {
  may: string[]
  must: string[]
  read: { port: string; values: string[] }[]
  logs: [number, string][]
  ended: string[]
  committed: number[]
  stopped: string[]
  timed: number[]
  wanted: number[]
  delayed: number[]
  waits: { job: number; names: string[] | 'children' }[]
  told: [number, string][]
  /** `planned`: time at which the run decided its changes. */
  slots: { job: number; planned: number; isSkipped: boolean }[]
  rescheduled: number[]
  left: { queue: string; looked: boolean }[]
  /** True if the call has indirect effects, which are not tracked. */
  meddled: boolean
}

export const noFacts = (): Facts => ({
  may: [],
  must: [],
  read: [],
  logs: [],
  ended: [],
  committed: [],
  stopped: [],
  timed: [],
  wanted: [],
  delayed: [],
  waits: [],
  told: [],
  slots: [],
  rescheduled: [],
  left: [],
  meddled: false,
})

export const portOf = (job: number, field: string): string => `${job}/${field}`

export type Step = { before: View; after: View; facts: Facts; no: number; now: number }
export type Report = (fault: string, detail: string) => void

/** Maximum real milliseconds from a call to the moment at which its script reads the time. */
export const MARGIN = 1_000

const ended = new Set(['completed', 'failed', 'terminated'])
const hasEnded = (doc: JobRecord): boolean => ended.has(statusOf(doc))
const hadEnded = (job: SeenJob | undefined): boolean => job !== undefined && hasEnded(job.doc)
export const isStopped = (doc: JobRecord): boolean =>
  doc.terminating !== undefined || doc.place === 'f' || doc.place === 'T'

const isHolding = ({ heldLimits = '', leaseUntil = 0 }: JobRecord, key: string, now: number): boolean =>
  heldLimits.split('\n').includes(key) && leaseUntil > now + MARGIN

const countsOf = (record = '0,0'): [number, number] => record.split(',').slice(0, 2).map(Number) as [number, number]

/** A delivered callback stays delivered when its job is terminated. */
const outcomes: Record<string, (string | undefined)[]> = { c: ['DELIVERED'], f: ['FAILED'], T: ['DELIVERED', 'FAILED'] }

type PortStep = { port: string; job: number; field: string; popped: string[]; unknown: number; pushed: string[] }

type Named = `${string}:${string}`

const portFields = (doc: JobRecord): [field: Named, counts: string][] =>
  Object.entries(doc).filter((entry): entry is [Named, string] => /^[io]:/.test(entry[0]))

function portSteps(was: SeenJob | undefined, is: SeenJob, report: Report): PortStep[] {
  const steps: PortStep[] = []
  for (const [field, record] of portFields(is.doc)) {
    if (record === was?.doc[field]) continue
    const [pushed, taken] = countsOf(record)
    const [pushedBefore, takenBefore] = countsOf(was?.doc[field])
    const had = was?.lists[field] ?? []
    const has = is.lists[field] ?? []
    const kept = had.slice(taken - takenBefore)
    const port = portOf(is.id, field)
    if (pushed < pushedBefore || taken < takenBefore) report('a count went back', `${port} ${record}`)
    if (kept.some((value, i) => has[i] !== value)) report('order of a port broken', `${port}: ${had} → ${has}`)
    if (has.length !== pushed - taken) report('a port miscounts', `${port}: ${record}, ${has}`)
    steps.push({
      port,
      job: is.id,
      field,
      popped: had.slice(0, taken - takenBefore),
      unknown: Math.max(0, taken - takenBefore - had.length),
      pushed: has.slice(kept.length),
    })
  }
  return steps
}

const fieldsLike = (record: JobRecord, pattern: RegExp): string =>
  JSON.stringify(Object.entries(record).filter(([field]) => pattern.test(field)))

/** Counts all values that ever arrived at inputs, even if a wire passed them on in the same step. */
const cameIn = (doc: JobRecord): number =>
  portFields(doc).reduce((sum, [field, value]) => sum + (/^i:/.test(field) ? Number.parseInt(value, 10) : 0), 0)

const isCalled = (id: number, { jobs }: View): boolean =>
  [...jobs.values()].some(
    ({ id: other, doc, lists }) =>
      (other === id || doc.parent === String(id)) &&
      Object.keys(lists).some((port) => doc[`w${port as Named}`] !== undefined),
  )

export function createJudge(report: Report) {
  const seen = new Set<string>()
  const hasFreed = new Set<number>()
  const wantedAt = new Map<number, number>()
  const fedAt = new Map<number, number>()
  const childNewsAt = new Map<number, number>()
  const lentAt = new Map<number, number>()
  const idleTimes = new Map<number, number>()
  const startsOf = new Map<string, number[]>()
  const slots = createSlotsJudge(report)

  function places({ after }: Step): void {
    if (after.entries !== after.jobs.size)
      report('jobs are in two places or none', `${after.entries} entries, ${after.jobs.size} jobs`)
  }

  function values({ before, after, facts, no }: Step): void {
    const steps = [...after.jobs.values()].flatMap((is) => portSteps(before.jobs.get(is.id), is, report))
    const came = new Set(steps.flatMap(({ pushed }) => pushed))
    const taken = new Map(facts.read.map(({ port, values }) => [port, values]))
    const gone = [...before.jobs.keys()].some((id) => !after.jobs.has(id))
    for (const step of steps) {
      if (!gone) took(step, taken.get(step.port) ?? [], came, (value) => leftElsewhere(value, step, steps))
      arrived(step, steps, facts, { before, after, no })
      taken.delete(step.port)
    }
    for (const [port, list] of taken)
      if (list.length && after.jobs.has(Number.parseInt(port, 10)))
        report('a value was read and is still there', `${port}: ${list}`)
    for (const value of gone ? [] : facts.must) if (!came.has(value)) report('a value was lost on its way', value)
  }

  const leftElsewhere = (value: string, { port }: PortStep, steps: PortStep[]): boolean =>
    steps.some((other) => other.port !== port && other.popped.includes(value))

  function took(
    { port, popped, unknown }: PortStep,
    readers: string[],
    came: Set<string>,
    isCopy: (value: string) => boolean,
  ): void {
    const alone = popped.filter((value) => !came.has(value) || (isCopy(value) && readers.includes(value)))
    const same = unknown > 0 ? alone.every((value, i) => readers[i] === value) : alone.join() === readers.join()
    if (!same) report('values left a port otherwise than they were read', `${port}: left ${alone}, read ${readers}`)
  }

  function wasLeft(value: string, { before, after }: { before: View; after: View }): boolean {
    const gone = [...before.jobs.values()].filter(({ id }) => !after.jobs.has(id))
    return gone.some(({ lists }) => Object.values(lists).some((list) => list.includes(value)))
  }

  function arrived(
    { port, job, field, pushed }: PortStep,
    steps: PortStep[],
    facts: Facts,
    step: { before: View; after: View; no: number },
  ): void {
    for (const value of pushed) {
      const moved = steps.some((other) => other.port !== port && other.popped.includes(value)) || wasLeft(value, step)
      if (!moved && !facts.may.includes(value))
        report('a value came from a request that has no effect', `${port}: ${value}`)
      if (seen.has(`${port}|${value}`)) report('a value came twice', `${port}: ${value}`)
      seen.add(`${port}|${value}`)
    }
    const was = step.before.jobs.get(job)?.doc
    if (field.startsWith('i:') && pushed.some((value) => !value.startsWith('q')) && !(was && isStopped(was))) {
      wantedAt.set(job, step.no)
      fedAt.set(job, step.no)
    }
  }

  function logs({ before, after, facts }: Step): void {
    const written = new Map(facts.logs)
    for (const { id, doc } of after.jobs.values()) {
      const expected = written.get(id) ?? before.jobs.get(id)?.doc['s:log']
      if (doc['s:log'] !== expected) report('state differs from the commit', `${id}: ${doc['s:log']} for ${expected}`)
    }
  }

  function leases({ before, after, facts, no, now }: Step): void {
    for (const { id, doc } of after.jobs.values()) {
      const was = before.jobs.get(id)?.doc
      if (doc.token === undefined || doc.token === was?.token) continue
      lentAt.set(id, no)
      if (was?.token && !facts.ended.includes(was.token) && was.leaseUntil! > now + MARGIN)
        report('two runs of a job at once', `${id}: ${was.token} until ${was.leaseUntil}, ${doc.token}`)
      const held = Math.max(Number(was?.backoffUntil ?? 0), Number(was?.lockUntil ?? 0))
      if (!facts.meddled && held > now + MARGIN) report('a backoff or a lock did not hold', `${id} until ${held}`)
    }
  }

  function stops({ before, after, facts }: Step): void {
    for (const token of facts.stopped) {
      const id = Number.parseInt(token, 10)
      const doc = after.jobs.get(id)?.doc
      const expected = before.jobs.get(id)?.doc.hasShutdown ? 'terminating' : 'terminated'
      if (doc && (doc.token === token || statusOf(doc) !== expected))
        report('a terminating job continues', `${token}: expected ${expected}, got ${statusOf(doc)}`)
    }
  }

  /** A requested time is kept until a run starts at this time or later, or until another request. */
  function times({ before, after, facts, now }: Step): void {
    for (const { id, doc } of after.jobs.values()) {
      const was = before.jobs.get(id)?.doc
      if (
        doc.notBefore &&
        doc.notBefore !== was?.notBefore &&
        was?.place === doc.place &&
        (doc.place === 's' || doc.place === 'c')
      )
        idleTimes.set(id, doc.notBefore)
      if (
        !was?.notBefore ||
        was.notBefore === doc.notBefore ||
        facts.meddled ||
        facts.timed.includes(id) ||
        isStopped(doc)
      )
        continue
      if (was.notBefore! > now + MARGIN) report('a time was forgotten', `${id}: ${was.notBefore} → ${doc.notBefore}`)
    }
  }

  /** Input starts a job before its `at`, but not during a backoff or while a client has locked the job. */
  function delays({ before, after, facts, no, now }: Step): void {
    const heldUntil = ({ backoffUntil = 0, lockUntil = 0 }: JobRecord): number => Math.max(backoffUntil, lockUntil)
    for (const { id, doc } of after.jobs.values()) {
      const was = before.jobs.get(id)
      if (was?.doc.place === 't' && doc.place === 't' && fedAt.get(id) === no && heldUntil(doc) < now)
        report('input did not wake a job that waits for a time', String(id))
      if (facts.delayed.includes(id) && !facts.meddled && !isStopped(doc) && heldUntil(doc) < now)
        report('a failure is tried again without backoff', String(id))
    }
  }

  function left({ after, facts, now }: Step): void {
    for (const { queue: name, looked } of facts.left) {
      const queue = after.queues.get(name)!
      const ready = [...after.jobs.values()].filter(({ doc }) => doc.queue === name && doc.place === undefined)
      if (queue.paused) continue
      if (ready.length && Object.keys(queue.l).length === 0)
        report('a lane left work behind', `${name}: ${ready[0]!.id}`)
      if (looked && (queue.nt ?? now) < now - MARGIN) report('a lane left a timer that was due', name)
    }
  }

  function patience({ before, after, facts, no }: Step): void {
    for (const { job, names } of facts.waits) {
      const was = before.jobs.get(job)?.doc
      const doc = after.jobs.get(job)?.doc
      if (
        !was ||
        !doc ||
        doc.waitsFor ||
        isStopped(doc) ||
        was.inputDuringRun ||
        facts.meddled ||
        wantedAt.get(job) === no
      )
        continue
      if (fieldsLike(was, /^di:/) !== fieldsLike(doc, /^di:/) || isCalled(job, after)) continue
      if (cameIn(doc) > cameIn(was)) continue
      const open = [...after.jobs.values()].filter(
        ({ id, doc: child }) =>
          child.parent === String(job) &&
          (names === 'children' || names.includes(child.childName!)) &&
          !hasEnded(child) &&
          !child.repeats &&
          !hadEnded(before.jobs.get(id)) &&
          child.endedAt === before.jobs.get(id)?.doc.endedAt,
      )
      if (open.length) report('a parent that waits was run again', `${job}: ${open[0]!.id}`)
    }
  }

  /**
   * A commit applies its runs one after another, so a job can end and wake again within one step. `lastCommit` shows
   * such an end. A job that follows its children ends without a run, so this function checks its children too.
   */
  function hasEndedBriefly(id: number, { before, after }: Step): boolean {
    const [was, is] = [before.jobs.get(id)?.doc, after.jobs.get(id)?.doc]
    if (!is) return false
    const answer = is.lastCommit?.split('|')[2]
    if (is.lastCommit !== was?.lastCommit && answer !== undefined && ended.has(answer)) return true
    const children = [...after.jobs.values()].filter(({ doc }) => doc.parent === String(id))
    return is.followed !== undefined && children.some((child) => hasEndedBriefly(child.id, { before, after } as Step))
  }

  function waiting(step: Step): void {
    const { before, after, facts } = step
    for (const { id, doc } of after.jobs.values()) {
      const was = before.jobs.get(id)
      if (!was?.doc.waitsFor || doc.waitsFor || was.doc.place !== 's') continue
      if (doc.place === 's') report('a parent waits for nothing', String(id))
      const own = fieldsLike(was.doc, /^d?i:/) !== fieldsLike(doc, /^d?i:/)
      if (own || isStopped(doc) || facts.meddled || facts.wanted.includes(id) || isCalled(id, after)) continue
      const open = was.waiting.filter((child) => {
        const found = after.jobs.get(child)?.doc
        const endedNow = found?.endedAt !== before.jobs.get(child)?.doc.endedAt
        if (found?.parent !== String(id) || hasEnded(found) || found.repeats || endedNow) return false
        return !hasEndedBriefly(child, step)
      })
      if (open.length) report('a parent was woken before its children had ended', `${id}: ${open}`)
    }
  }

  function limited({ before, after, facts, now }: Step): void {
    if (facts.meddled) return
    for (const { id, doc } of after.jobs.values()) {
      if (doc.token === undefined || doc.token === before.jobs.get(id)?.doc.token) continue
      for (const key of doc.heldLimits?.split('\n') ?? []) {
        const { concurrency = Number.POSITIVE_INFINITY, rate } = limits[key] ?? {}
        const holders = [...after.jobs.values()].filter(({ doc: other }) => isHolding(other, key, now)).length
        if (holders > concurrency) report('a limit was exceeded', `${key}: ${holders} at once`)
        const starts = [...(startsOf.get(key) ?? []), doc.ranAt!]
        startsOf.set(key, starts)
        const recent = starts.filter((start) => rate && start > doc.ranAt! - rate.period).length
        if (rate && recent > rate.limit) report('a rate was exceeded', `${key}: ${recent} in ${rate.period} ms`)
      }
    }
  }

  function lanes({ after, now }: Step): void {
    for (const [queue, { l, ml = 4 }] of after.queues) {
      const open = Object.values(l).filter((till) => till > now + MARGIN).length
      if (open > ml) report('more lanes than the queue has', `${queue}: ${open} of ${ml}`)
    }
  }

  function uniques({ after }: Step): void {
    const owners = new Map<string, number>()
    for (const { id, doc } of after.jobs.values()) {
      if (hasEnded(doc) || doc.endedAt || (doc.uniqueHeld === 'b' && doc.ranAt)) hasFreed.add(id)
      if (!doc.uniqueScope || hasFreed.has(id)) continue
      if (owners.has(doc.uniqueScope)) report('two jobs of one unique key', `${owners.get(doc.uniqueScope)} and ${id}`)
      owners.set(doc.uniqueScope, id)
    }
  }

  function triggers({ before, after, facts }: Step): void {
    for (const [id, args] of facts.told) {
      const doc = after.jobs.get(id)?.doc
      if (doc && doc.args !== args) report('a debounced job does not follow its request', String(id))
    }
    for (const { id, doc } of after.jobs.values()) {
      const was = before.jobs.get(id)?.doc
      if (was?.uniqueHeld === 'b' && was.ranAt && was.args !== doc.args)
        report('a started job got another request', String(id))
    }
  }

  function callbacks({ before, after }: Step): void {
    const news = new Map<number, JobRecord[]>()
    for (const job of after.jobs.values())
      if (isCallback(job) && !before.jobs.has(job.id))
        news.set(Number(job.doc.callbackOf), [...(news.get(Number(job.doc.callbackOf)) ?? []), job.doc])
    for (const id of new Set([...before.jobs.keys(), ...after.jobs.keys(), ...news.keys()])) {
      const [was, is] = [before.jobs.get(id)?.doc, after.jobs.get(id)?.doc]
      const told = news.get(id) ?? []
      if ((was ?? is)?.callback && !(was ?? is)?.callbackOf) toldOnce(id, told, was, is)
      else if (told.length) report('an end without a callback was reported', String(id))
    }
    for (const { id, doc } of after.jobs.values()) {
      const teller = doc.callbackJob && after.jobs.get(Number(doc.callbackJob))?.doc
      if (teller && !(outcomes[teller.place ?? ''] ?? [doc.callbackStatus]).includes(doc.callbackStatus))
        report('a job does not know how its callback went', `${id}: ${doc.callbackStatus}, ${teller.place}`)
    }
  }

  function toldOnce(id: number, told: JobRecord[], was: JobRecord | undefined, is: JobRecord | undefined): void {
    const first = Number(was?.endsTold ?? 0) + 1
    const numbers = told.map(({ callbackEnd: oe }) => Number(oe)).sort((a, b) => a - b)
    if (numbers.some((n, i) => n !== first + i))
      report('ends are reported out of order', `${id}: ${numbers} from ${first}`)
    if (is && Number(is.endsTold ?? 0) !== first - 1 + told.length)
      report('a job miscounts its callbacks', `${id}: ${is.endsTold} after ${told.length} more than ${first - 1}`)
    // If the job ended before it was terminated, its end has already been reported.
    const isKnown = was && (was.endWasTold || (hasEnded(was) && is?.place !== 'c' && is?.place !== 'f'))
    const hasJustEnded = !isKnown && (!is || (hasEnded(is) && is.endedAt !== was?.endedAt))
    if (hasJustEnded && told.length === 0) report('an end was not reported', String(id))
    const ends = told.map(({ args: a }) => JSON.parse(a!).status as string)
    if (new Set(ends).size < ends.length) report('an end was reported twice', `${id}: ${ends}`)
    const last = told.find(({ callbackEnd: oe }) => Number(oe) === first - 1 + told.length)
    if (last && is && hasEnded(is) && is.place !== 'T' && JSON.parse(last.args!).status !== statusOf(is))
      report('the reported end differs from the real one', `${id}: ${last.args} for ${statusOf(is)}`)
  }

  function wards({ before, after, facts }: Step): void {
    for (const { id, doc } of after.jobs.values()) {
      const parent = after.jobs.get(Number(doc.parent))?.doc
      if (doc.held && doc.place === 's' && (!parent?.holdsChildren || 'scT'.includes(parent.place ?? '-')))
        report('a child is held without a parent to release it', `${id} of ${doc.parent}`)
      if (facts.meddled || doc.deliveries === before.jobs.get(id)?.doc.deliveries) continue
      if ((doc.deliveries ?? 0) > DELIVERIES) report('a job was delivered too often', `${id}: ${doc.deliveries}`)
    }
  }

  function wishes({ before, after, facts, no }: Step): void {
    for (const id of after.jobs.keys()) if (!before.jobs.has(id)) wantedAt.set(id, no)
    for (const id of facts.wanted) wantedAt.set(id, no)
    for (const id of facts.committed) {
      const parent = Number(before.jobs.get(id)?.doc.parent)
      const was = before.jobs.get(parent)?.doc
      if (was && !was.waitsFor && !isStopped(was) && after.jobs.get(id)?.doc.parent === String(parent))
        childNewsAt.set(parent, no)
    }
    for (const { id, doc } of after.jobs.values()) {
      if (isStopped(doc)) wantedAt.delete(id)
      // A schedule that a caller ends between two runs completes without another run.
      const isEnded = facts.rescheduled.includes(id) && doc.place === 'c'
      if (isEnded) wantedAt.delete(id)
      // A job that follows its children changes its status when they do, without a run.
      if (isEnded || isStopped(doc) || doc.waitsFor || (doc.followed && doc.place !== 'l')) childNewsAt.delete(id)
    }
  }

  const checks = [
    places,
    values,
    logs,
    leases,
    stops,
    limited,
    times,
    waiting,
    lanes,
    uniques,
    triggers,
    wishes,
    delays,
    left,
    patience,
    callbacks,
    wards,
    slots.step,
    createBoundsJudge(report),
  ]

  return {
    step: (step: Step): void => {
      for (const check of checks) check(step)
    },

    caughtUp: slots.caughtUp,

    rest({ jobs }: View): void {
      for (const { id, doc } of jobs.values()) {
        const last = lentAt.get(id) ?? -1
        if (statusOf(doc) === 'terminating' || !doc.place || !'scfT'.includes(doc.place))
          report('not at rest', `${id} ${statusOf(doc)} ${JSON.stringify(doc)}`)
        // This job waits for a run of its failed parent. Only a client can retry the parent.
        else if (doc.held) continue
        // If a run requests a time and also waits for children, the time applies after the children end.
        else if ((wantedAt.get(id) ?? -1) > last && !(doc.waitsFor && doc.notBefore))
          report('a wake-up was lost', `${id} ${statusOf(doc)}`)
        else if ((childNewsAt.get(id) ?? -1) > last)
          report('a parent did not hear of a child', `${id} ${statusOf(doc)}`)
        const idle = idleTimes.get(id) === doc.notBefore
        const awaits = doc.place === 's' && (doc.waitsFor || doc.followed)
        if ((doc.place === 's' || doc.place === 'c') && doc.notBefore && !awaits && !idle)
          report('a time was never kept', `${id} ${doc.notBefore}`)
      }
    },
  }
}
