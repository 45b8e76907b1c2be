// What admins have asked for: written down before it is done, and read newest first.

import type { Context } from '../context.ts'
import type { AuditEntry, Engine } from '../engine.ts'

export function createAudit({ store }: Context): Pick<Engine, 'audit' | 'readAudit'> {
  return {
    async audit(entry) {
      await store.audit(JSON.stringify(entry))
    },

    async readAudit({ cursor, limit = 100 }) {
      const rows = (await store.readAudit(cursor ? `(${cursor}` : '+', limit)) as [string, string[]][]
      const entries = rows.map(([id, [, text]]) => ({
        id,
        at: Number(id.split('-')[0]),
        ...(JSON.parse(text!) as AuditEntry),
      }))
      return { entries, cursor: rows.length < limit ? null : rows.at(-1)![0] }
    },
  }
}
