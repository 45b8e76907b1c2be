import { randomUUID } from 'node:crypto'
import type { Clock } from './clock.ts'
import type { Faults } from './faults.ts'
import type { Journal } from './journal.ts'
import { createLogbook } from './logbook.ts'
import { fromJournal, type Headers, isHttp, type Message, Refusal, readSettings, toJournal } from './message.ts'
import type { Quota } from './plans.ts'
import { nextAttempt } from './rules.ts'
import type { Flight, Outcome, Sender } from './send.ts'
import { insert } from './sorted.ts'

type End = 'DELIVERED' | 'FAILED'
type Trip = { message: Message; onEnd?: (id: string, state: End) => void }
type Origin = {
  kind: 'published' | 'scheduled'
  callerIP: string
  scheduleId?: string
  onEnd?: Trip['onEnd']
}
type Receipt = { messageId: string }
type Keys = { current: string; next: string }
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

export function createBroker({ clock, faults, journal, sender, keys, parallelism, quota }: Options) {
  const waiting: Trip[] = []
  const logbook = createLogbook(clock.now)
  const counts = { published: 0, scheduled: 0, attempts: 0, delivered: 0, retried: 0, failed: 0 }
  let active = 0
  let held: Trip[] = []
  let order = 0
  let closed = false

  restore()

  return {
    counts,
    keys,
    quota,
    logbook,
    account: { max: parallelism, active: () => active },

    publish(destination: string, headers: Headers, body: Buffer, origin: Origin): Receipt {
      const settings = readSettings(headers)
      quota.check(body, settings)
      if (!isHttp(destination))
        throw new Refusal(400, `invalid destination url "${destination}": it must start with http:// or https://`)
      quota.take()
      counts[origin.kind]++
      const { onEnd, scheduleId, callerIP } = origin
      const now = clock.now()
      const message = {
        id: `msg_${randomUUID().replaceAll('-', '')}`,
        order: order++,
        url: destination,
        scheduleId,
        callerIP,
        headers,
        body,
        settings,
        createdAt: now,
        retried: 0,
        dueAt: settings.notBefore === undefined ? now + (settings.delay ?? 0) : settings.notBefore * 1_000,
      }
      logbook.note(message, 'CREATED')
      keep(message)
      waitUntilDue({ message, onEnd })
      return { messageId: message.id }
    },

    close(): void {
      closed = true
    },
  }

  function keep(message: Message) {
    journal.put('messages', message.id, () => toJournal(message))
  }

  function waitUntilDue(trip: Trip): void {
    clock.at(trip.message.dueAt, () => due(trip))
  }

  function due(trip: Trip) {
    if (!faults.take('reorder')) return enter(trip)
    held.push(trip)
    if (faults.left('reorder')) return
    const reversed = held.reverse()
    held = []
    for (const each of reversed) enter(each)
  }

  function enter(trip: Trip) {
    if (active >= parallelism) return insert(waiting, trip, ({ message }) => message.order)
    active++
    const late = faults.take('late')
    if (late === undefined) fly(trip)
    else clock.at(clock.now() + late, () => fly(trip))
  }

  function fly(trip: Trip) {
    const { message } = trip
    const again = faults.take('duplicate')
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
    const patience = message.settings.timeout
    const timeout = clock.at(clock.now() + patience, () => flight.abort(`no answer within ${patience / 1_000} s`))
  }

  function landed(trip: Trip, outcome: Outcome) {
    const { message } = trip
    const { status, error = `status ${status}` } = outcome
    active--
    const isDelivered = status >= 200 && status < 300
    if (!isDelivered) logbook.note(message, 'ERROR', { error, responseStatus: status })
    if (isDelivered) end(trip, 'DELIVERED')
    else if (message.retried < message.settings.maxRetries) retry(trip, outcome)
    else end(trip, 'FAILED')
    const next = waiting.shift()
    if (next) enter(next)
  }

  function retry(trip: Trip, outcome: Outcome) {
    const { message } = trip
    message.dueAt = nextAttempt(message.retried, outcome.headers, clock.now())
    message.retried++
    counts.retried++
    logbook.note(message, 'RETRY', { nextDeliveryTime: message.dueAt })
    keep(message)
    waitUntilDue(trip)
  }

  function end({ message, onEnd }: Trip, state: End) {
    counts[state === 'DELIVERED' ? 'delivered' : 'failed']++
    journal.drop('messages', message.id)
    logbook.note(message, state)
    onEnd?.(message.id, state)
  }

  function restore() {
    const messages = journal.values('messages').map(fromJournal)
    for (const message of messages.sort((a, b) => a.order - b.order)) {
      order = message.order + 1
      waitUntilDue({ message })
    }
  }
}

const ignore = () => {}
