// Has QStash ask for the sweep once a minute.

import { Client } from '@upstash/qstash'

/** Always the same schedule, so that setting it up again replaces it. */
export const TICK = { scheduleId: 'sidejob-tick', cron: '* * * * *' } as const

export const tickUrl = (publicUrl: string) => `${publicUrl}/tick`

/** Sets the schedule up and asks for the first tick, which tells Redis which workers there are. */
export async function scheduleTick({ url, token, publicUrl }: { url?: string; token: string; publicUrl: string }) {
  const client = new Client({ baseUrl: url, token, devMode: false, enableTelemetry: false })
  // The next minute is the retry.
  const message = { retries: 0, method: 'POST' } as const
  await client.schedules.create({ ...TICK, ...message, destination: tickUrl(publicUrl) })
  await client.publish({ ...message, url: tickUrl(publicUrl) })
}
