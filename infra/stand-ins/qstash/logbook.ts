import type { Message } from './message.ts'

type State = 'CREATED' | 'ACTIVE' | 'RETRY' | 'ERROR' | 'DELIVERED' | 'FAILED'
type Details = { nextDeliveryTime?: number; error?: string; responseStatus?: number }

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
  scheduleId: message.scheduleId,
  maxRetries: message.settings.maxRetries,
  ...details,
})
