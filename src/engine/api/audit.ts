import { readObject } from '../../core/readable.ts'
import type { Context } from '../context.ts'
import type { AuditEntry } from '../engine.ts'

const unreadable: AuditEntry = { by: '', name: '', verb: 'unreadable', method: '', path: '' }

export function createAudit({ store }: Context) {
  return {
    async write(entry: AuditEntry) {
      await store.audit(JSON.stringify(entry))
    },

    async read({ cursor, limit = 100 }: { cursor?: string; limit?: number }) {
      const rows = await store.readAudit(cursor ? `(${cursor}` : '+', limit)
      const entries = rows.map(({ id, fields: { e: text } }) => ({
        id,
        at: Number(id.split('-')[0]),
        ...(readObject<AuditEntry>(text) ?? unreadable),
      }))
      return { entries, cursor: rows.length < limit ? null : rows.at(-1)!.id }
    },
  }
}
