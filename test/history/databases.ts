import { createRequire } from 'node:module'
import { type D1, d1Database } from '../../src/history/d1.ts'
import type { SqlDatabase } from '../../src/history/database.ts'
import { sqliteDatabase } from '../../src/history/sqlite.ts'

const requireAsWrangler = createRequire(createRequire(import.meta.url).resolve('wrangler/package.json'))
const { Miniflare, convertV4MiniflareOptions } = requireAsWrangler('miniflare') as typeof import('miniflare')

type Opened = { db: SqlDatabase; close: () => Promise<void> | void }

async function openD1(): Promise<Opened> {
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: 'export default { fetch: () => new Response() }',
      compatibilityDate: '2025-09-01',
      d1Databases: ['HISTORY'],
      cf: false,
      telemetry: { enabled: false },
    }),
  )
  const binding = (await miniflare.getD1Database('HISTORY')) as unknown as D1
  return { db: d1Database(binding), close: () => miniflare.dispose() }
}

function openSqlite(): Opened {
  const db = sqliteDatabase(':memory:')
  return { db, close: db.close }
}

export const databases: Record<string, () => Promise<Opened> | Opened> = { 'node:sqlite': openSqlite, D1: openD1 }
