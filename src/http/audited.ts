// Records audited requests before they are carried out: in Redis and in the platform's log.

import type { AuditEntry } from '../engine/engine.ts'
import type { Deps } from './deps.ts'
import type { Place } from './places.ts'

export async function audited(
  { engine, publicUrl }: Place,
  entry: AuditEntry,
  { hearAudit }: Pick<Deps, 'hearAudit'>,
): Promise<void> {
  hearAudit?.({ ...entry, url: publicUrl })
  await engine.audit.write(entry)
}
