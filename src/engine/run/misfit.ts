// The schemas of a class may have changed since a job was created.

import type { Skew } from '../../core/errors.ts'
import { faultText } from '../../core/issues.ts'
import type { Path } from '../../core/json-schema/schema.ts'
import type { RunOutcome } from '../../redis/changes.ts'
import type { ClaimedJob } from '../../redis/types.ts'
import { faultInJob, schemaOfClass, skewOf } from '../jobs/checks.ts'
import { failedWith, RELEASE_MS, returned } from '../jobs/outcome.ts'
import type { Registered, Registry } from '../jobs/registry.ts'
import type { Decide } from './decide.ts'
import { inputsOf } from './snapshot.ts'

const remedyOf = (id: number, [part, port, at]: Path): string => {
  const place = `/v1/jobs/${id}/in/${port}`
  if (part === 'args') return `change its args with PATCH /v1/jobs/${id}`
  return at === 'default'
    ? `change the default with PUT ${place}/default`
    : `take the value out with POST ${place}/read`
}

type Parts = { registry: Registry; decide: Decide }

export function createMisfit({ registry, decide }: Parts) {
  /** Fails a job that does not fit, or releases it if newer code can run it. */
  async function misfitOf(claimed: ClaimedJob, found: Registered, skew: Skew): Promise<RunOutcome | undefined> {
    const { queue, class: name } = claimed.document
    const faultFor = (one: Registered) => faultInJob(one, claimed.document, inputsOf(claimed), one)
    const fault = faultFor(found)
    if (!fault) return undefined
    const newest = (await registry.list(queue)).get(name)
    const isOlder = newest !== undefined && schemaOfClass(newest) !== skew.current
    const hashes = `Class ${name} has schema ${skew.current}, but job ${claimed.id} was created for ${skew.built}`
    if (isOlder && !faultFor(newest)) return returned(claimed, RELEASE_MS, `${hashes}: only newer code can run it`)
    // A function checks its inputs when it reads them.
    if (found.local && fault.path[0] === 'inputs') return undefined
    const message = `SCHEMA_CHANGED: ${faultText(fault)}. ${hashes}: ${remedyOf(claimed.id, fault.path)}, then retry it`
    return decide(claimed, failedWith({ message, retry: false }))
  }

  return (claimed: ClaimedJob, found: Registered): Promise<RunOutcome | undefined> | undefined => {
    const skew = skewOf(found, claimed.document.class, claimed.document.schema)
    return skew && misfitOf(claimed, found, skew)
  }
}
