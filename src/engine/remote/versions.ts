import { readUpTo } from '../../core/bytes.ts'
import { toBase64 } from '../../core/codec/base64.ts'
import { messageOf, SidejobError } from '../../core/errors.ts'
import { checkSignature } from '../../core/hook-signature.ts'
import { readObject } from '../../core/readable.ts'
import { MAX_TIMER_MS } from '../../core/sleep.ts'
import type { SentOutcome } from '../../redis/changes.ts'
import type { JobRecord } from '../../redis/record.ts'
import type { Store } from '../../redis/store.ts'
import { objectsIn } from '../../redis/table.ts'
import type { ClaimedJob } from '../../redis/types.ts'
import type { AnnouncedVersion } from '../jobs/announcement.ts'
import { webhookHeaders } from './sign.ts'

type OwnVersion = { version?: string; versionUrl?: string }

type VersionsOptions = OwnVersion & {
  store: Pick<Store, 'versions'>
  fetch: typeof fetch
  secret?: string
  now: () => number
}

type Forwarded = { outcome?: SentOutcome; fault?: string }

const FRESH = 60_000
/** Milliseconds to wait for the answer after the run has timed out. */
const ANSWERING = 5_000
const MAX_ANSWER = 10 * 1024 * 1024
const SHOWN = 200

export const isAddress = (pinnedTo: string): boolean => pinnedTo.includes('://')

const encoder = new TextEncoder()

const causeOf = (error: unknown): unknown => (error as Error | undefined)?.cause ?? error

const secretsOf = (secret: string): string[] => [`whsec_${toBase64(encoder.encode(`versions of ${secret}`))}`]

export const signedRun = (claimed: ClaimedJob, body: Uint8Array, secret: string, now: number) =>
  webhookHeaders(claimed.document.token!, body, secretsOf(secret), now)

export function createVersions({ store, fetch, secret, now, version, versionUrl }: VersionsOptions) {
  let known: { at: number; urls: Map<string, string> } | undefined

  async function read(): Promise<Map<string, string>> {
    const all = objectsIn<AnnouncedVersion>(await store.versions.all())
    const urls = new Map(all.map(([name, { url }]) => [name, url]))
    known = { at: now(), urls }
    return urls
  }

  return {
    own: versionUrl === undefined ? undefined : version,

    isOther: ({ pinnedTo }: JobRecord): boolean =>
      pinnedTo !== undefined && !isAddress(pinnedTo) && pinnedTo !== version,

    async addressOf(name: string): Promise<string | undefined> {
      const isFresh = known !== undefined && now() - known.at < FRESH
      return (isFresh ? known!.urls.get(name) : undefined) ?? (await read()).get(name)
    },

    names: async (): Promise<string[]> => [...(await read()).keys()].sort(),

    async forward(url: string, claimed: ClaimedJob, timeout: number): Promise<Forwarded> {
      const body = encoder.encode(JSON.stringify(claimed))
      try {
        const headers = await signedRun(claimed, body, secret ?? '', now())
        const signal = AbortSignal.timeout(Math.min(timeout + ANSWERING, MAX_TIMER_MS))
        const sent = { method: 'POST', redirect: 'manual', signal, headers, body: body as BodyInit } as const
        const response = await fetch(new URL(`${url}/perform`), sent)
        const bytes = await readUpTo(response.body, MAX_ANSWER)
        const text = new TextDecoder().decode(bytes)
        if (!response.ok) return { fault: `answered ${response.status} ${text.slice(0, SHOWN)}`.trimEnd() }
        const answer = readObject<{ outcome?: SentOutcome }>(text)
        return answer ?? { fault: 'returned a response that is not the outcome of a run' }
      } catch (error) {
        return { fault: `cannot be reached: ${messageOf(causeOf(error))}` }
      }
    },

    async received(headers: Headers, bytes: Uint8Array): Promise<ClaimedJob> {
      const secrets = secret === undefined ? [] : secretsOf(secret)
      await checkSignature('standard', { headers, body: async () => bytes, secrets, now: now() })
      const claimed = JSON.parse(new TextDecoder().decode(bytes)) as ClaimedJob
      const { pinnedTo } = claimed.document
      if (pinnedTo === version) return claimed
      throw new SidejobError(
        'REFUSED',
        `expected a job of version ${version ?? '(none)'}, got a job of version ${pinnedTo}`,
      )
    },
  }
}

export type Versions = ReturnType<typeof createVersions>
