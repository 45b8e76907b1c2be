import { decodeValue, type Encoded } from '../../core/codec/value.ts'
import { atPath } from '../../core/constraint.ts'
import type { Listed } from '../../redis/types.ts'
import type { JobRow } from '../engine.ts'
import { factsOf } from '../run/job-facts.ts'
import { shownJob } from '../run/shown.ts'
import { firstReasonOf } from './why.ts'

const MESSAGE = 200

function messageOf(error: Encoded | null): string | null {
  const { message } = (error === null ? {} : decodeValue(error)) as { message?: unknown }
  return typeof message === 'string' ? message.slice(0, MESSAGE) : null
}

function partsOf(args: Encoded | null, paths: readonly string[]): Record<string, unknown> {
  const opened = args && decodeValue(args)
  return Object.fromEntries(paths.map((path) => [path, atPath(opened, path)]))
}

export function rowOf(
  { id, document, callback: callbackJob }: Listed['jobs'][number],
  now: number,
  paths: readonly string[] = [],
): JobRow {
  const { error, callback, args, ...view } = shownJob(id, document, { callback: callbackJob })
  const { queue, class: name, status, name: child, parent, aliases, priority, group, attempt } = view
  const { createdAt, ranAt, endedAt, runAt, progress, labels } = view
  const { tag, run } = factsOf(document, { now })
  return {
    id,
    queue,
    class: name,
    status,
    name: child,
    parent,
    aliases,
    priority,
    group,
    labels,
    tag,
    attempt,
    createdAt,
    ranAt,
    endedAt,
    runAt,
    progress,
    run,
    message: messageOf(error),
    reason: firstReasonOf(document, now),
    callback: callback?.state ?? null,
    ...(paths.length > 0 && { args: partsOf(args, paths) }),
  }
}
