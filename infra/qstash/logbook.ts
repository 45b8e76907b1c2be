// What happened to which message, newest first, as far back as it is likely to be asked for.
import type { Message } from './message.ts'

export type State = 'CREATED' | 'ACTIVE' | 'RETRY' | 'ERROR' | 'DELIVERED' | 'FAILED' | 'CANCEL_REQUESTED' | 'CANCELLED'
type Details = { nextDeliveryTime?: number; error?: string; responseStatus?: number }
export type Logbook = ReturnType<typeof createLogbook>

const KEPT = 10_000

export function createLogbook(now: () => number) {
  const entries: ReturnType<typeof entry>[] = []

  return {
    note(message: Message, state: State, details?: Details): void {
      entries.push(entry(message, state, now(), details))
      if (entries.length >= 2 * KEPT) entries.splice(0, KEPT)
    },

    newestFirst: () => entries.toReversed(),
  }
}

const entry = (message: Message, state: State, time: number, details?: Details) => ({
  time,
  state,
  messageId: message.id,
  url: message.url,
  topicName: message.topicName,
  endpointName: message.endpointName,
  queueName: message.queueName,
  scheduleId: message.scheduleId,
  flowControlKey: message.settings.flowControl?.key,
  label: message.settings.labels[0],
  labels: message.settings.labels,
  maxRetries: message.settings.maxRetries,
  ...details,
})
