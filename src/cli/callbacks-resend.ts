import type { Client } from '../client/index.ts'
import { type Command, forEach, pagesOf, yes } from './command.ts'

const AT_ONCE = 8

async function failedOnes(client: Client, host: string | boolean | undefined) {
  const pages = await pagesOf((at) => client.callbacks.list({ state: 'FAILED', limit: 1_000, ...at }))
  const found = pages.flatMap(({ callbacks }) => callbacks)
  return host === undefined ? found : found.filter(({ url }) => new URL(url).host === host)
}

export const callbacksResend: Command = {
  does: 'Resend failed callbacks',
  options: { host: { type: 'string', does: 'only callbacks to this host' }, yes },
  async run(client, { host, yes: really }, { row, tell, progress }) {
    const found = await failedOnes(client, host)
    for (const { of, url, attempts, lastError } of found)
      row({ job: of, url, attempts, lastError }, `job ${of}\t${url}\t${attempts} tries\t${lastError ?? ''}`)
    if (!really) {
      tell({ found: found.length, sent: 0 }, `${found.length} callbacks would be resent; add --yes to resend them`)
      return 0
    }
    let sent = 0
    await forEach(found, AT_ONCE, async ({ job }) => {
      await client.callbacks.resend(job)
      progress(++sent, found.length, 'resent')
    })
    tell({ found: found.length, sent }, `${sent} resent`)
    return 0
  },
}
