import { once } from 'node:events'
import type { Stack } from '../../dev/index.ts'
import { type Command, type Given, UsageError } from '../command.ts'

function stopping() {
  const controller = new AbortController()
  const stop = () => controller.abort(new Error('stopped'))
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, stop)
  const parent = process.ppid
  setInterval(() => process.ppid !== parent && stop(), 250).unref()
  return { signal: controller.signal, stopped: once(controller.signal, 'abort') }
}

export function portOf({ port = process.env.PORT || '8787' }: Given, setting: string): number {
  if (/^\d+$/.test(String(port)) && +port > 0 && +port < 65_536) return +port
  throw new UsageError(`${setting}: expected a whole number from 1 to 65535, got ${port}`)
}

const introduction = ({ url, apiKey, redis }: Stack, login: string | undefined): string[] => [
  `Redis      ${redis.describe}`,
  `API key    ${apiKey}`,
  `API        ${url}/docs`,
  `Ready on   ${url}`,
  login
    ? `Dashboard  ${login} (logs in once, within an hour; later: npx sidejob open)`
    : 'Dashboard  none; to add one, pass dashboard: dashboard() to createWorker',
]

export const dev: Command = {
  does: 'Run the Worker in this folder with Redis and QStash, and reload it as files change',
  takes: ['[folder]'],
  flags: ['key', 'help'],
  options: {
    port: { short: 'p', does: 'port of the Worker (PORT, or 8787)' },
    redis: {
      does: 'embedded, server or redis://…; by default redis-server if installed, otherwise embedded',
    },
    memory: { type: 'boolean', does: 'discard all data when the command ends' },
  },
  async run(_client, given, { print, note }, [project = '.']) {
    const { startDev } = await import('../../dev/index.ts')
    const { signal, stopped } = stopping()
    const starting = startDev({
      project,
      signal,
      port: portOf(given, given.port === undefined ? 'PORT' : '--port'),
      ...(given.redis ? { redis: String(given.redis) } : {}),
      persist: !given.memory,
      apiKey: given.key === undefined ? process.env.SIDEJOB_API_KEY || undefined : String(given.key),
      say: print,
      onReload: (ms) => note(`reloaded in ${ms} ms`),
    })
    const stack = await starting.catch((error) => {
      if (signal.aborted) return undefined
      throw error
    })
    if (!stack) return
    for (const line of introduction(stack, await stack.login())) note(line)
    await Promise.race([stopped, stack.gone]).finally(stack.close)
  },
}
