import { mappedStack, type SourceTable } from '../core/source-table.ts'
import type { Deployment } from '../environment.ts'
import { createClient } from '../redis/client.ts'
import { createStore } from '../redis/store.ts'

declare const __SIDEJOB_BUILD__: string | undefined

export const buildOf = (): string | undefined => (typeof __SIDEJOB_BUILD__ === 'string' ? __SIDEJOB_BUILD__ : undefined)

const TIMEOUT_MS = 2_000

export function createLocator(
  { redis, namespace }: Pick<Deployment['engine'], 'redis' | 'namespace'>,
  build = buildOf(),
): ((stack: string) => Promise<string>) | undefined {
  if (build === undefined) return undefined
  const client = 'url' in redis ? createClient({ ...redis, timeout: TIMEOUT_MS, attempts: 1 }) : redis
  const store = createStore({ client, ...(namespace ? { namespace } : {}) })
  let table: SourceTable | null | undefined
  async function read(): Promise<SourceTable | null | undefined> {
    try {
      const text = await store.sources(build!)
      table = text === null ? null : (JSON.parse(text) as SourceTable)
    } catch {}
    return table
  }
  return async (stack) => {
    const found = table === undefined ? await read() : table
    return found ? mappedStack(stack, found) : stack
  }
}
