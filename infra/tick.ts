// Has QStash ask for the sweep once a minute.

import { Client } from '@upstash/qstash'

/** Always the same schedule, so that setting it up again replaces it. */
export const TICK = { scheduleId: 'sidejob-tick', cron: '* * * * *' } as const

export const tickUrl = (publicUrl: string) => `${publicUrl}/tick`

type Where = { url?: string; token: string; publicUrl: string }

// The next minute is the retry.
const message = { retries: 0, method: 'POST' } as const

const clientFor = ({ url, token }: Where) => new Client({ baseUrl: url, token, devMode: false, enableTelemetry: false })

/** Sets the schedule up and asks for the first tick, which tells Redis which workers there are. */
export async function scheduleTick(where: Where) {
  await clientFor(where).schedules.create({ ...TICK, ...message, destination: tickUrl(where.publicUrl) })
  await askForTick(where)
}

/** One tick out of turn. */
export async function askForTick(where: Where) {
  await clientFor(where).publish({ ...message, url: tickUrl(where.publicUrl) })
}
