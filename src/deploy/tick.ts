import { Client } from '@upstash/qstash'

export const tickUrl = (publicUrl: string) => `${publicUrl}/tick`

export const scheduleIdOf = (name: string) => `sidejob-tick-${name}`

export const EVERY_MINUTE = '* * * * *'
/** 144 messages a day, of the 1,000 in QStash's free plan. */
export const EVERY_TEN_MINUTES = '*/10 * * * *'

export type Where = { url?: string; token: string; publicUrl: string }

// No retries, because the next tick comes a minute later.
const message = { retries: 0, method: 'POST' } as const

export const clientFor = ({ url, token }: Where) =>
  new Client({ baseUrl: url, token, devMode: false, enableTelemetry: false })

export async function scheduleTick(where: Where, name: string, cron: string) {
  const schedule = { scheduleId: scheduleIdOf(name), cron, destination: tickUrl(where.publicUrl) }
  await clientFor(where).schedules.create({ ...schedule, ...message })
}

/** Retries are useful while a new name does not yet resolve everywhere. */
export async function askForTick(where: Where, retries = 0): Promise<string> {
  const { messageId } = await clientFor(where).publish({ ...message, retries, url: tickUrl(where.publicUrl) })
  return messageId
}
