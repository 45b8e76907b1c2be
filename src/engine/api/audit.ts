// What admins have asked for: written down before it is done, and read newest first.

import { readObject } from '../../core/readable.ts'
import type { Context } from '../context.ts'
import type { AuditEntry, Engine } from '../engine.ts'

/** Replaces a damaged entry. */
const unreadable: AuditEntry = { by: '', name: '', verb: 'unreadable', method: '', path: '' }

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
        ...(readObject<AuditEntry>(text) ?? unreadable),
      }))
      return { entries, cursor: rows.length < limit ? null : rows.at(-1)![0] }
    },
  }
}
