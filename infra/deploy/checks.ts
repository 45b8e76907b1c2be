// Whether what was deployed works: it answers, refuses who has not signed, and a tick arrives.

import { setTimeout as sleep } from 'node:timers/promises'
import { VERSION } from '../../src/engine/index.ts'
import { askForTick, clientFor, tickUrl, type Where } from '../tick.ts'
import { DeployFailure } from './failure.ts'

/** `redisMs`: milliseconds of one round trip from the Worker to Redis, as its header Server-Timing says. */
export type Health = { ok: boolean; version: string; redis: boolean; redisMs?: number }

type Patience = { patience?: number; pause?: number }

const defaults = { patience: 180_000, pause: 3_000 }

/** Asks again until there is an answer that will do; a name under workers.dev takes minutes to be known everywhere. */
async function until<T>(ask: () => Promise<T | undefined>, given: Patience): Promise<T | undefined> {
  const { patience, pause } = { ...defaults, ...given }
  for (const end = Date.now() + patience; ; await sleep(pause)) {
    const answer = await ask().catch(() => undefined)
    if (answer !== undefined || Date.now() > end) return answer
  }
}

/** Its health, once it is our version that answers and Redis can be reached. */
export async function checkHealth(url: string, patience: Patience = {}): Promise<Health> {
  let last = 'nothing answered'
  const found = await until(async () => {
    const response = await fetch(`${url}/health`).catch((error: Error) => void (last = `${error.message}`))
    if (!response) return undefined
    const health = (await response.json().catch(() => undefined)) as Partial<Health> | undefined
    last = `${response.status} ${JSON.stringify(health ?? 'no JSON')}`
    if (health?.version !== VERSION || !health.ok) return undefined
    const took = /\bredis\b.*;dur=([\d.]+)/.exec(response.headers.get('server-timing') ?? '')?.[1]
    return { ...(health as Health), ...(took && { redisMs: Number(took) }) }
  }, patience)
  if (found) return found
  const redis = /"redis":false/.test(last) ? ' Look at UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN.' : ''
  throw new DeployFailure(
    `${url}/health does not answer as version ${VERSION} of sidejob does: ${last}.${redis} ` +
      'Look whether PUBLIC_URL is the address of this Worker, then deploy again.',
  )
}

/** A call that QStash has not signed must be refused by us, and by nobody before us. */
export async function checkSignature(url: string): Promise<void> {
  const response = await fetch(tickUrl(url), { method: 'POST', body: '' })
  const said = await response.text()
  if (response.status === 401 && said.includes('UNAUTHENTICATED')) return
  const before = response.status === 403 || /<html/i.test(said)
  throw new DeployFailure(
    `POST ${tickUrl(url)} without a signature: expected 401 UNAUTHENTICATED, got ${response.status}. ` +
      (before
        ? 'Something in front of the Worker answers, which QStash will not pass either: turn off Bot Fight Mode and ' +
          'Access for this address.'
        : 'Look whether PUBLIC_URL is the address of this Worker.'),
  )
}

const ended = new Set(['DELIVERED', 'FAILED', 'CANCELED'])

/** Asks QStash for one tick, and waits until it has been delivered. */
export async function checkTick(where: Where, patience: Patience = {}): Promise<void> {
  const messageId = await askForTick(where, 3)
  const client = clientFor(where)
  const state = await until(async () => {
    const { logs } = await client.logs({ filter: { messageId } })
    return logs.map((log) => log.state as string).find((one) => ended.has(one))
  }, patience)
  if (state === 'DELIVERED') return
  throw new DeployFailure(
    `The tick that QStash was asked for did not arrive (${state ?? 'not delivered yet'}, message ${messageId}): look at it ` +
      'under Logs in the console of QStash, and whether the signing keys are those of this QStash and region.',
  )
}
