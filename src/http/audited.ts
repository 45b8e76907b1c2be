// Records audited requests before they are carried out: in Redis and in the platform's log.

import type { AuditEntry } from '../engine/engine.ts'
import type { Deps } from './deps.ts'
import type { Place } from './places.ts'

/** @example await audited(place, { by: 'key:…', name: 'ci', verb: 'keys.add', method: 'POST', path: '/v1/keys' }, deps) */
export async function audited(
  { engine, publicUrl }: Place,
  entry: AuditEntry,
  { hearAudit }: Pick<Deps, 'hearAudit'>,
): Promise<void> {
  hearAudit?.({ ...entry, url: publicUrl })
  await engine.audit.write(entry)
}
