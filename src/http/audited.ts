// A change is recorded before it takes effect.

import { hasCode, SidejobError } from '../core/errors.ts'
import { readObject } from '../core/readable.ts'
import type { AuditEntry } from '../engine/engine.ts'
import type { Deps } from './deps.ts'
import { isForced } from './door.ts'
import type { Listed } from './openapi.ts'
import type { Place } from './places.ts'

/** Not recorded: programs call these routes all the time, and each record costs a command. */
const dataPath = new Set([
  ...['jobs.enqueue', 'jobs.copy', 'jobs.takeResult', 'jobs.addAlias', 'jobs.removeAlias'],
  ...['jobs.lock', 'jobs.refresh', 'jobs.unlock'],
  ...['ports.write', 'ports.read', 'ports.setDefault', 'ports.clearDefault', 'ports.setChannels', 'ports.connect'],
  ...['channels.publish', 'links.make', 'links.answer', 'log.write'],
])

export const isAudited = (route: Listed, request: Request): boolean => {
  if (isForced(route, request)) return true
  if (route.method === 'GET') return false
  if (route.scope === 'admin') return true
  return route.scope === 'write' && !route.facade && !dataPath.has(`${route.resource}.${route.verb}`)
}

/** Bodies for these resources contain settings or SQL, and no data of users. */
const settings = /^(keys|queues|limits|groups|constraints|breakers|processes|alerts|errors|history)\./
const MAX_CHANGE = 300

/** Members without data of users, in the bodies of bulk actions and schedules. */
const shown = ['action', 'jobs', 'status', 'queue', 'class', 'repeat', 'cron', 'bedrock', 'tz']

export function changeIn({ resource, verb }: Listed, bytes: Uint8Array, body: unknown): { change?: string } {
  const name = `${resource}.${verb}`
  if (/^(bulk\.start|schedules\.(add|set))$/.test(name)) {
    const { ids, filter, ...own } = body as { ids?: object[]; filter?: object }
    return { change: JSON.stringify({ ...own, ...filter, jobs: ids?.length }, shown) }
  }
  if (bytes.length === 0 || body === undefined || !settings.test(name)) return {}
  const text = new TextDecoder().decode(bytes.subarray(0, MAX_CHANGE))
  // Only a body of MessagePack does not begin like a JSON object.
  return { change: text.startsWith('{') ? text : JSON.stringify(body).slice(0, MAX_CHANGE) }
}

export async function formerIn(
  { change }: { change?: string },
  read: () => Promise<unknown>,
): Promise<{ was?: string }> {
  const set = readObject(change)
  if (!set) return {}
  // After a timeout, the former values are unknown.
  const now = await read().then(Object, (error) => hasCode(error, 'NOT_FOUND') && {})
  if (!now) return {}
  // In the view of a queue, `lanes` is the number of open lanes.
  const formerOf = (name: string) => (name === 'lanes' ? now.maxLanes : now[name]) ?? null
  const was = JSON.stringify(Object.fromEntries(Object.keys(set).map((name) => [name, formerOf(name)])))
  return was.length > MAX_CHANGE ? {} : { was }
}

const MAX_REASON = 200

export function reasonIn(headers: Headers): string | undefined {
  const given = headers.get('sidejob-reason')
  if (!given) return undefined
  try {
    const reason = decodeURIComponent(given)
    if (reason.length <= MAX_REASON) return reason
  } catch {}
  throw new SidejobError('BAD_REQUEST', `Sidejob-Reason: expected up to ${MAX_REASON} characters, percent-encoded`, {
    path: ['Sidejob-Reason'],
  })
}

export async function audited(
  { engine, publicUrl }: Place,
  entry: AuditEntry,
  { hearAudit }: Pick<Deps, 'hearAudit'>,
): Promise<void> {
  hearAudit?.({ ...entry, url: publicUrl })
  await engine.audit.write(entry)
}
