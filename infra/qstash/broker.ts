// Takes messages in, delivers them when they are due and decides after every attempt what happens next.
import { randomUUID } from 'node:crypto'
import type { Clock, Timer } from './clock.ts'
import type { Faults } from './faults.ts'
import { accountGate, type FlowGate, flowGate, type Gate, type Queue, type QueueGate, queueGate } from './gates.ts'
import type { Node } from './heap.ts'
import type { Journal } from './journal.ts'
import { createLogbook, type State } from './logbook.ts'
import {
  bodyView,
  contentHash,
  fromJournal,
  type Headers,
  headersAgain,
  isHttp,
  limits,
  listed,
  type Message,
  messageView,
  Refusal,
  readSettings,
  type Settings,
  toJournal,
} from './message.ts'
import type { Quota } from './plans.ts'
import { nextAttempt } from './rules.ts'
import type { Flight, Outcome, Sender } from './send.ts'

/** A message on its way, with everything that is only true while this process runs. */
type Trip = {
  message: Message
  passed: Gate<Trip>[]
  waiting?: { gate: Gate<Trip>; node: Node<Trip> } | undefined
  timer?: Timer | undefined
  inFlight: boolean
  cancelled: boolean
  over: boolean
  /** Callbacks of this message that have not ended yet: its queue waits for them. */
  owed: number
  source?: Trip | undefined
  onEnd?: ((state: State) => void) | undefined
}
type Target = { url: string; topicName?: string | undefined; endpointName?: string | undefined }
type Origin = {
  kind: 'published' | 'scheduled' | 'callbacks'
  callerIP: string
  queueName?: string | undefined
  scheduleId?: string | undefined
  source?: Trip
  onEnd?: (id: string, state: State) => void
}
type Receipt = { messageId: string; deduplicated?: true; url?: string }
export type Topic = { name: string; createdAt: number; updatedAt: number; endpoints: { name?: string; url: string }[] }
export type Keys = { current: string; next: string }
type Verdict = 'DELIVERED' | 'RETRY' | 'FAILED' | 'CANCELLED'
type DeadLetter = { dlqId: string; message: Message; status: number; headers: Headers; body: Buffer }
type Options = {
  clock: Clock
  faults: Faults
  journal: Journal
  sender: Sender
  keys: Keys
  parallelism: number
  quota: Quota
}

export type Broker = ReturnType<typeof createBroker>

const DEDUPLICATION_WINDOW = 600_000

export function createBroker({ clock, faults, journal, sender, keys, parallelism, quota }: Options) {
  const trips = new Map<string, Trip>()
  const queues = new Map<string, QueueGate<Trip>>()
  const flows = new Map<string, FlowGate<Trip>>()
  const topics = new Map<string, Topic>()
  const dead = new Map<string, DeadLetter>()
  const seen = new Map<string, { id: string; until: number }>()
  const account = accountGate<Trip>(parallelism)
  const logbook = createLogbook(clock.now)
  const counts = {
    published: 0,
    deduplicated: 0,
    scheduled: 0,
    callbacks: 0,
    attempts: 0,
    delivered: 0,
    retried: 0,
    failed: 0,
    cancelled: 0,
  }
  let held: Trip[] = []
  let order = 0
  let deadLetters = 0
  let forgetAt = 0
  let closed = false

  const put = {
    message: ({ message }: Trip) => journal.put('messages', message.id, () => toJournal(message)),
    queue: ({ queue }: QueueGate<Trip>) => journal.put('queues', queue.name, () => queue),
    topic: (topic: Topic) => journal.put('topics', topic.name, () => topic),
    dead: (letter: DeadLetter) => journal.put('dlq', letter.dlqId, () => deadToJournal(letter)),
  }

  const conclude: Record<Verdict, (trip: Trip, outcome: Outcome) => void> = {
    RETRY: retry,
    FAILED: fail,
    CANCELLED: stop,
    DELIVERED(trip) {
      counts.delivered++
      end(trip, 'DELIVERED')
    },
  }

  restore()

  return {
    counts,
    keys,
    quota,
    topics,
    dead,
    flows,
    account,
    logbook,

    publish(destination: string, headers: Headers, body: Buffer, origin: Origin): Receipt[] {
      const settings = readSettings(headers)
      quota.check(body, settings)
      return targetsOf(destination).map((target) => accept(target, headers, settings, body, origin))
    },

    retryDead({ dlqId, message }: DeadLetter, overrides: Headers, callerIP: string): Receipt {
      const { url, topicName, endpointName, queueName, scheduleId, body } = message
      const headers = headersAgain(message.headers, overrides)
      const origin = { kind: 'published', callerIP, queueName, scheduleId } as const
      const receipt = accept({ url, topicName, endpointName }, headers, readSettings(headers), body, origin)
      this.dropDead(dlqId)
      return receipt
    },

    dropDead(dlqId: string): boolean {
      journal.drop('dlq', dlqId)
      return dead.delete(dlqId)
    },

    message: (id: string): Message | undefined => trips.get(id)?.message,
    messages: (): Message[] => [...trips.values()].map(({ message }) => message),

    cancel(id: string): boolean {
      const trip = trips.get(id)
      if (!trip) return false
      if (trip.inFlight) requestCancel(trip)
      else stop(trip)
      return true
    },

    queues: (): Queue[] => [...queues.values()].map(({ queue }) => queue),
    queue: (name: string): Queue | undefined => queues.get(name)?.queue,

    upsertQueue(name: string, change: { parallelism?: number; paused?: boolean }): void {
      const gate = queueOf(name)
      Object.assign(gate.queue, change, { updatedAt: clock.now() })
      put.queue(gate)
      admit(gate)
    },

    dropQueue(name: string): void {
      for (const { message } of [...trips.values()]) if (message.queueName === name) this.cancel(message.id)
      queues.delete(name)
      journal.drop('queues', name)
    },

    upsertTopic(name: string, endpoints: Topic['endpoints']): void {
      const now = clock.now()
      const topic = { name, createdAt: topics.get(name)?.createdAt ?? now, updatedAt: now, endpoints }
      topics.set(name, topic)
      put.topic(topic)
    },

    dropTopic(name: string): boolean {
      journal.drop('topics', name)
      return topics.delete(name)
    },

    changeFlow(key: string, change: (state: FlowGate<Trip>['state']) => void): void {
      const gate = flowOf(key)
      change(gate.state)
      admit(gate)
    },

    close(): void {
      closed = true
    },
  }

  // ── In ──

  function targetsOf(destination: string): Target[] {
    if (isHttp(destination)) return [{ url: destination }]
    if (/[/:.]/.test(destination)) {
      throw new Refusal(400, `invalid destination url "${destination}": it must start with http:// or https://`)
    }
    const topic = topics.get(destination)
    if (!topic) throw new Refusal(404, `topic ${destination} not found`)
    return topic.endpoints.map(({ url, name }) => ({ url, topicName: destination, endpointName: name }))
  }

  function accept(target: Target, headers: Headers, settings: Settings, body: Buffer, origin: Origin): Receipt {
    const id = `msg_${randomUUID().replaceAll('-', '')}`
    const shown = target.topicName ? { url: target.url } : {}
    const earlier = firstWith(target, settings, body, id)
    if (earlier !== id) {
      counts.deduplicated++
      return { messageId: earlier, ...shown, deduplicated: true }
    }
    quota.take()
    counts[origin.kind]++
    depart(makeMessage(id, target, headers, settings, body, origin), origin)
    return { messageId: id, ...shown }
  }

  function makeMessage(id: string, target: Target, headers: Headers, settings: Settings, body: Buffer, origin: Origin) {
    const { queueName, scheduleId, callerIP } = origin
    const now = clock.now()
    const dueAt = settings.notBefore === undefined ? now + (settings.delay ?? 0) : settings.notBefore * 1_000
    const times = { createdAt: now, notBefore: dueAt, dueAt }
    return {
      id,
      order: order++,
      ...target,
      queueName,
      scheduleId,
      callerIP,
      headers,
      body,
      settings,
      ...times,
      retried: 0,
    }
  }

  function depart(message: Message, { source, onEnd }: Origin) {
    const trip = newTrip(message)
    if (source) trip.source = source
    if (onEnd) trip.onEnd = (state) => onEnd(message.id, state)
    if (message.queueName) queueOf(message.queueName)
    if (message.settings.flowControl)
      flowOf(message.settings.flowControl.key).state.latest = message.settings.flowControl
    logbook.note(message, 'CREATED')
    put.message(trip)
    waitUntil(message.dueAt, trip)
  }

  function newTrip(message: Message): Trip {
    const trip: Trip = { message, passed: [], inFlight: false, cancelled: false, over: false, owed: 0 }
    trips.set(message.id, trip)
    return trip
  }

  /** The id of the first message of the last ten minutes that carries the same deduplication id or content. */
  function firstWith(target: Target, settings: Settings, body: Buffer, id: string): string {
    const key = deduplicationKey(target, settings, body)
    if (!key) return id
    const now = clock.now()
    forgetSeen(now)
    const first = seen.get(key)
    if (first && first.until > now) return first.id
    seen.set(key, { id, until: now + DEDUPLICATION_WINDOW })
    return id
  }

  function forgetSeen(now: number) {
    if (now < forgetAt) return
    for (const [key, { until }] of seen) if (until <= now) seen.delete(key)
    forgetAt = now + DEDUPLICATION_WINDOW / 10
  }

  // ── Out ──

  function waitUntil(time: number, trip: Trip) {
    trip.timer = clock.at(time, () => {
      trip.timer = undefined
      due(trip)
    })
  }

  function due(trip: Trip) {
    // A queue keeps its order whatever happens.
    if (trip.message.queueName || !faults.take('reorder')) return enter(trip)
    held.push(trip)
    if (faults.left('reorder')) return
    const reversed = held.reverse()
    held = []
    for (const each of reversed) enter(each)
  }

  function enter(trip: Trip) {
    if (trip.over) return
    for (const gate of gatesOf(trip).slice(trip.passed.length)) {
      if (gate.waiting.size || !gate.open(trip)) {
        trip.waiting = { gate, node: gate.waiting.push(trip) }
        return
      }
      pass(trip, gate)
    }
    attempt(trip)
  }

  function admit(gate: Gate<Trip>) {
    for (let trip = gate.waiting.first(); trip && gate.open(trip); trip = gate.waiting.first()) {
      gate.waiting.shift()
      trip.waiting = undefined
      pass(trip, gate)
      enter(trip)
    }
  }

  function pass(trip: Trip, gate: Gate<Trip>) {
    gate.take(trip)
    trip.passed.push(gate)
  }

  function leave(trip: Trip, keep = 0) {
    for (const gate of trip.passed.splice(keep).reverse()) {
      gate.release()
      admit(gate)
    }
  }

  function gatesOf({ message }: Trip): Gate<Trip>[] {
    const gates: Gate<Trip>[] = []
    if (message.queueName) gates.push(queueOf(message.queueName))
    if (message.settings.flowControl) gates.push(flowOf(message.settings.flowControl.key))
    gates.push(account)
    return gates
  }

  function attempt(trip: Trip) {
    const late = faults.take('late')
    if (late === undefined) return fly(trip)
    trip.timer = clock.at(clock.now() + late, () => {
      trip.timer = undefined
      fly(trip)
    })
  }

  function fly(trip: Trip) {
    const { message } = trip
    const again = faults.take('duplicate')
    trip.inFlight = true
    logbook.note(message, 'ACTIVE')
    send(message, (outcome) => {
      if (again === 'after') send(message, ignore)
      landed(trip, outcome)
    })
    if (again === 'together') send(message, ignore)
  }

  function send(message: Message, done: (outcome: Outcome) => void) {
    counts.attempts++
    const end = clock.begin()
    const flight: Flight = sender.send(message, { key: keys.current, now: clock.now() }, (outcome) => {
      clock.cancel(timeout)
      if (!closed) done(outcome)
      end()
    })
    const { timeout: ms } = message.settings
    const timeout = clock.at(clock.now() + ms, () => flight.abort(`no answer within ${ms / 1_000} s`))
  }

  // ── After an attempt ──

  function landed(trip: Trip, outcome: Outcome) {
    trip.inFlight = false
    leave(trip, trip.message.queueName ? 1 : 0)
    const verdict = judge(trip, outcome)
    if (outcome.error !== undefined || !isSuccess(outcome)) logError(trip, outcome)
    if (verdict !== 'CANCELLED') callBack(trip, outcome, 'callback', {})
    conclude[verdict](trip, outcome)
  }

  function logError({ message }: Trip, { status, error = `status ${status}` }: Outcome) {
    logbook.note(message, 'ERROR', { error, responseStatus: status })
  }

  function retry(trip: Trip, outcome: Outcome) {
    const { message } = trip
    const { retried, settings } = message
    message.dueAt = nextAttempt({ retried, expression: settings.retryDelay }, outcome.headers, clock.now())
    message.retried++
    counts.retried++
    logbook.note(message, 'RETRY', { nextDeliveryTime: message.dueAt })
    put.message(trip)
    waitUntil(message.dueAt, trip)
  }

  function fail(trip: Trip, { status, headers, body }: Outcome) {
    const dlqId = `${clock.now()}-${deadLetters++}`
    const letter = { dlqId, message: trip.message, status, headers: headers as Headers, body }
    dead.set(dlqId, letter)
    put.dead(letter)
    counts.failed++
    callBack(trip, { status, headers, body }, 'failureCallback', { dlqId })
    end(trip, 'FAILED')
  }

  function callBack(trip: Trip, outcome: Outcome, kind: 'callback' | 'failureCallback', more: { dlqId?: string }) {
    const { message } = trip
    const callback = message.settings[kind]
    if (!callback) return
    const defaults = { 'content-type': 'application/json', 'upstash-retries': String(message.settings.maxRetries) }
    const headers = { ...defaults, ...callback.headers }
    const body = Buffer.from(JSON.stringify({ ...callbackBody(message, outcome), ...more }))
    trip.owed++
    accept({ url: callback.url }, headers, readSettings(headers), body, {
      kind: 'callbacks',
      callerIP: message.callerIP,
      source: trip,
    })
  }

  function end(trip: Trip, state: State) {
    trip.over = true
    trips.delete(trip.message.id)
    journal.drop('messages', trip.message.id)
    logbook.note(trip.message, state)
    trip.onEnd?.(state)
    makeRoom(trip)
    if (!trip.source) return
    trip.source.owed--
    makeRoom(trip.source)
  }

  function makeRoom(trip: Trip) {
    if (trip.over && !trip.owed) leave(trip)
  }

  function requestCancel(trip: Trip) {
    trip.cancelled = true
    logbook.note(trip.message, 'CANCEL_REQUESTED')
  }

  function stop(trip: Trip) {
    clock.cancel(trip.timer)
    trip.waiting?.gate.waiting.remove(trip.waiting.node)
    counts.cancelled++
    end(trip, 'CANCELLED')
  }

  // ── Kept things ──

  function queueOf(name: string): QueueGate<Trip> {
    const known = queues.get(name)
    if (known) return known
    if (queues.size >= limits.queues)
      throw new Refusal(412, `there are ${limits.queues} queues already; delete one first`)
    const now = clock.now()
    const gate = queueGate<Trip>({ name, createdAt: now, updatedAt: now, parallelism: 1, paused: false })
    queues.set(name, gate)
    put.queue(gate)
    return gate
  }

  function flowOf(key: string): FlowGate<Trip> {
    const known = flows.get(key)
    if (known) return known
    const gate = flowGate<Trip>(key, clock, admit)
    flows.set(key, gate)
    return gate
  }

  function restore() {
    for (const queue of journal.values('queues') as Queue[]) queues.set(queue.name, queueGate<Trip>(queue))
    for (const topic of journal.values('topics') as Topic[]) topics.set(topic.name, topic)
    for (const letter of journal.values('dlq').map(deadFromJournal)) dead.set(letter.dlqId, letter)
    const messages = journal.values('messages').map(fromJournal)
    for (const message of messages.sort((a, b) => a.order - b.order)) {
      order = message.order + 1
      waitUntil(message.dueAt, newTrip(message))
    }
  }
}

/** A dead letter as the API shows it. */
export const deadView = ({ dlqId, message, status, headers, body }: DeadLetter) => ({
  ...messageView(message),
  dlqId,
  responseStatus: status,
  responseHeader: listed(headers),
  ...bodyView('responseBody', body),
})

const isSuccess = ({ status }: Outcome) => status >= 200 && status < 300

function judge({ message, cancelled }: Trip, outcome: Outcome): Verdict {
  if (isSuccess(outcome)) return 'DELIVERED'
  if (cancelled) return 'CANCELLED'
  if (outcome.status === 489 && outcome.headers['upstash-nonretryable-error'] === 'true') return 'FAILED'
  return message.retried < message.settings.maxRetries ? 'RETRY' : 'FAILED'
}

function deduplicationKey({ url, topicName }: Target, settings: Settings, body: Buffer): string | undefined {
  if (settings.deduplicationId !== undefined) return `${topicName ? url : ''}\n${settings.deduplicationId}`
  return settings.contentBased ? contentHash(url, settings, body) : undefined
}

function callbackBody(message: Message, { status, headers, body }: Outcome) {
  const { settings } = message
  return {
    status,
    header: listed(headers),
    body: body.toString('base64'),
    retried: message.retried,
    maxRetries: settings.maxRetries,
    sourceMessageId: message.id,
    topicName: message.topicName,
    endpointName: message.endpointName,
    url: message.url,
    method: settings.method,
    sourceHeader: listed(settings.header),
    sourceBody: message.body.toString('base64'),
    notBefore: message.notBefore,
    createdAt: message.createdAt,
    scheduleId: message.scheduleId,
    callerIP: message.callerIP,
  }
}

const deadToJournal = ({ message, body, ...rest }: DeadLetter) => ({
  ...rest,
  message: toJournal(message),
  body: body.toString('base64'),
})

function deadFromJournal(value: unknown): DeadLetter {
  const kept = value as Omit<DeadLetter, 'body'> & { body: string }
  return { ...kept, message: fromJournal(kept.message), body: Buffer.from(kept.body, 'base64') }
}

const ignore = () => {}
