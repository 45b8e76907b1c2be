import { readObject } from '../../core/readable.ts'
import { NO_VERSION } from '../../core/reasons.ts'
import { outcomeSent, type RunOutcome } from '../../redis/changes.ts'
import { setRun } from '../../redis/ops.ts'
import type { Store } from '../../redis/store.ts'
import type { ClaimedJob } from '../../redis/types.ts'
import { returned } from '../jobs/outcome.ts'
import { type Registered, timeoutOf } from '../jobs/registry.ts'
import { type CircuitBreakers, endpointOf } from '../remote/circuit-breaker.ts'
import type { Versions } from '../remote/versions.ts'
import { waitSince } from './code-change.ts'

type VersionError = { code?: string; version?: string; since: number }

export const hasFailed = ({ document }: ClaimedJob): boolean =>
  Boolean(document.failures) || /,(released|lost),/.test(document.lastRun ?? '')

type Parts = { store: Store; versions: Versions; breakers: CircuitBreakers }

export function createPinned({ store, versions, breakers }: Parts) {
  function wait(claimed: ClaimedJob, fault: string): RunOutcome {
    const { pinnedTo: version, lastError } = claimed.document
    const last = readObject<VersionError>(lastError)
    const since = last?.code === NO_VERSION && last.version === version ? last.since : store.now()
    const remedy = `deploy it again, or rehearse the new code and run: sidejob move ${claimed.id} --to <version>`
    return returned(claimed, waitSince(store.now() - since), `${fault}: ${remedy}`, {
      code: NO_VERSION,
      version,
      since,
    })
  }

  return {
    wait,

    pinOf({ document }: ClaimedJob, { definition: { pin, push: address }, local }: Registered): string | undefined {
      if (!pin) return undefined
      return local ? versions.own : (document.pinnedTo ?? address?.url)
    },

    async perform(claimed: ClaimedJob, found?: Registered): Promise<RunOutcome | undefined> {
      const version = claimed.document.pinnedTo!
      const url = await versions.addressOf(version)
      if (url === undefined) return wait(claimed, `no deployment has announced version ${version}`)
      const host = endpointOf(url)
      const permit = await breakers.pass(host, hasFailed(claimed))
      if (permit.state === 'open') return wait(claimed, `version ${version} does not answer at ${url}`)
      const { outcome, fault } = await versions.forward(url, claimed, timeoutOf(found, claimed.document.timeout))
      await breakers.leave(host, permit, { down: fault !== undefined }).catch(() => permit)
      if (fault !== undefined) return wait(claimed, `version ${version} at ${url} ${fault}`)
      if (!outcome) return undefined
      return outcomeSent({ ...outcome, words: [...outcome.words, ...setRun.version({ version })] })
    },
  }
}

export type Pinned = ReturnType<typeof createPinned>
