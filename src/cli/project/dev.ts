// sidejob dev: the Worker of this folder with everything it needs, built anew as its files change.

import { type Command, count } from '../command.ts'

const TOO_OLD = 22

/** Stops at the first signal, and when the process that started this one has ended. */
function stopping() {
  const controller = new AbortController()
  const stop = () => controller.abort(new Error('stopped'))
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, stop)
  const parent = process.ppid
  setInterval(() => process.ppid !== parent && stop(), 250).unref()
  const { signal } = controller
  const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  return { signal, stopped }
}

export const dev: Command = {
  does: 'runs the Worker of this folder with Redis and QStash, and reloads as files change',
  takes: ['[folder]'],
  options: {
    port: { type: 'string', short: 'p', default: process.env.PORT ?? '8787', does: 'where it listens' },
    redis: { type: 'string', does: 'embedded, server or redis://…; without it what this machine has' },
    memory: { type: 'boolean', does: 'nothing outlives it' },
  },
  async run(_client, given, { print, note }, [project = '.']) {
    if (Number(process.versions.node.split('.')[0]) < TOO_OLD)
      throw new Error(`expected Node ${TOO_OLD} or newer, which wrangler needs as well; this is ${process.version}`)
    const { startDev } = await import('../../../infra/dev/index.ts')
    const { signal, stopped } = stopping()
    const starting = startDev({
      project,
      signal,
      port: count(given, 'port'),
      ...(given.redis ? { redis: String(given.redis) } : {}),
      persist: !given.memory,
      apiKey: String(given.key ?? process.env.SIDEJOB_API_KEY ?? 'dev'),
      say: print,
      onReload: (ms) => note(`reloaded in ${ms} ms`),
    })
    const stack = await starting.catch((error) => {
      if (signal.aborted) return undefined
      throw error
    })
    if (!stack) return
    note(`Redis      ${stack.redis.describe}`)
    note(`API key    ${stack.apiKey}`)
    note(`API        ${stack.url}/docs`)
    const login = await stack.login()
    if (login) note(`Dashboard  ${login} (once, within an hour)`)
    note(`ready on   ${stack.url}`)
    await Promise.race([stopped, stack.gone])
    await stack.close()
  },
}
