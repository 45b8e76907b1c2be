// What the tests of limits share: the whole app over a real Redis, and how long its scripts took.

import { createApp } from '../../src/http/app.ts'
import { type KitOptions, kind, rawCommand, startKit } from '../kit.ts'

/** So long, in milliseconds, may one call hold Redis. */
export const HOLD = 50

/** Everything, with the doors before it: `ask('GET', '/v1/jobs?cursor=1')`. */
export async function startDoors(options: KitOptions = {}) {
  const kit = await startKit({ hold: true, ...options })
  const reported: unknown[] = []
  const app = createApp({
    engine: kit.engine,
    verify: async () => true,
    publicUrl: 'http://127.0.0.1:1',
    apiKey: 'key',
    report: (error) => reported.push(error),
  })

  async function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const response = await app.fetch(
      new Request(`http://inside.test${path}`, {
        method,
        headers: { authorization: 'Bearer key', 'content-type': 'application/json', ...headers },
        body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
      }),
    )
    const text = await response.text()
    return { status: response.status, text, headers: response.headers }
  }

  const raw = (...words: string[]) => rawCommand(kit.redis.port, ...words)
  if (kind === 'server') await raw('CONFIG', 'SET', 'slowlog-log-slower-than', String(HOLD * 1_000))

  return {
    ...kit,
    app,
    reported,
    ask,
    raw,
    /** The calls that have held Redis for too long, as SLOWLOG tells them; the embedded Redis keeps none. */
    async slow(): Promise<string[]> {
      if (kind === 'embedded') return []
      const answer = await raw('SLOWLOG', 'GET', '100')
      await raw('SLOWLOG', 'RESET')
      return answer === '*0\r\n' ? [] : [answer.slice(0, 2_000)]
    },
  }
}

export type Doors = Awaited<ReturnType<typeof startDoors>>
