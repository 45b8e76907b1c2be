import { createClient } from '../../src/client/index.ts'
import type { Engine } from '../../src/engine/index.ts'
import { createApp } from '../../src/http/app.ts'

export const KEY = 'dev'

export const appOf = (engine: Engine) => createApp({ engine, verify: async () => false, publicUrl: 'http://127.0.0.1' })

export function clientOf(engine: Engine) {
  const app = appOf(engine)
  return createClient({ url: 'http://127.0.0.1', key: KEY, fetch: async (request) => app.fetch(request) })
}
