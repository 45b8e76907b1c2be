import { setTimeout as sleep } from 'node:timers/promises'
import { VERSION } from '../engine/index.ts'
import { fetchAgain } from './again.ts'
import { DeployFailure } from './failure.ts'
import { type WellKnown, wellKnownOf } from './mount.ts'
import { askForTick, clientFor, tickUrl, type Where } from './tick.ts'

export type Health = { ok: boolean; version?: string; redis: boolean; redisMs?: number }

export type Found = Health & { url: string; cron?: string }

export type Polling = {
  /** Maximum milliseconds until a new address resolves. */
  patience?: number
  pause?: number
}

/** `isKept`: the key is from the file of keys, so the owner may have replaced it since. */
type Asking = { key?: string; isKept?: boolean }

const defaults = { patience: 180_000, pause: 3_000 }

/** Asks again, because a new name under workers.dev takes minutes until it resolves everywhere. */
async function until<T>(ask: () => Promise<T | undefined>, given: Polling): Promise<T | undefined> {
  const { patience, pause } = { ...defaults, ...given }
  for (const end = Date.now() + patience; ; await sleep(pause)) {
    try {
      const answer = await ask()
      if (answer !== undefined || Date.now() > end) return answer
    } catch (error) {
      if (Date.now() > end) throw error
    }
  }
}

/** PUBLIC_URL may or may not contain the mount. */
function addressesOf(url: string, wellKnown: WellKnown | undefined): string[] {
  const mount = wellKnown?.mount ?? ''
  return mount && !new URL(url).pathname.endsWith(mount) ? [`${url}${mount}`, url] : [url]
}

type Asked = { health: Health } | { answered: string }

/** The Worker does not show its version to callers with an unknown key. */
async function askHealth(url: string, { key, isKept }: Asking): Promise<Asked> {
  const init = key === undefined ? {} : { headers: { authorization: `Bearer ${key}` } }
  const response = await fetchAgain(`${url}/health`, init).catch((error: Error) => error)
  if (response instanceof Error) return { answered: `${url}/health: ${response.message}` }
  const health = (await response.json().catch(() => undefined)) as Partial<Health> | undefined
  const mayHide = key === undefined || isKept
  const isCurrent = health?.version === VERSION || (health?.version === undefined && mayHide)
  if (!health?.ok || !isCurrent)
    return { answered: `${url}/health: ${response.status} ${JSON.stringify(health ?? 'no JSON')}` }
  const took = /\bredis\b.*;dur=([\d.]+)/.exec(response.headers.get('server-timing') ?? '')?.[1]
  return { health: { ...(health as Health), ...(took && { redisMs: Number(took) }) } }
}

export async function checkHealth(url: string, asking: Polling & Asking): Promise<Found> {
  let answered: string[] = []
  const found = await until(async () => {
    const wellKnown = await wellKnownOf(new URL(url).origin)
    answered = []
    for (const address of addressesOf(url, wellKnown)) {
      const asked = await askHealth(address, asking)
      if ('health' in asked) return { ...asked.health, url: address, cron: wellKnown?.cron }
      answered.push(asked.answered)
    }
    return undefined
  }, asking)
  if (found) return found
  const all = answered.join('; ')
  const redis = /"redis":false/.test(all)
    ? ' Compare UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN with the Upstash console.'
    : ''
  throw new DeployFailure(
    `Expected a healthy Worker with sidejob ${VERSION}, got ${all}.${redis} ` +
      'Check that PUBLIC_URL is the address of this Worker, then deploy again.',
  )
}

export async function checkSignature(url: string, polling: Polling): Promise<void> {
  const ask = async () => {
    const response = await fetchAgain(tickUrl(url), { method: 'POST', body: '' })
    return { got: response.status, body: await response.text() }
  }
  const answer = await until(ask, polling).catch((error: Error) => ({ got: error.message, body: '' }))
  const { got, body } = answer!
  if (got === 401 && body.includes('UNAUTHENTICATED')) return
  const before = got === 403 || /<html/i.test(body)
  throw new DeployFailure(
    `POST ${tickUrl(url)} without a signature: expected 401 UNAUTHENTICATED, got ${got}. ` +
      (before
        ? 'A service in front of the Worker answered. It would also refuse QStash: turn off Bot Fight Mode and ' +
          'Access for this address.'
        : 'Check that PUBLIC_URL is the address of this Worker.'),
  )
}

const ended = new Set(['DELIVERED', 'FAILED', 'CANCELED'])

export async function checkTick(where: Where, polling: Polling): Promise<void> {
  const messageId = await askForTick(where, 3)
  const client = clientFor(where)
  const state = await until(async () => {
    const { logs } = await client.logs({ filter: { messageId } })
    return logs.map((log) => log.state as string).find((one) => ended.has(one))
  }, polling).catch((cause: Error) => {
    throw new DeployFailure(
      `A test tick was sent through QStash, but the log of QStash cannot be read (message ${messageId}): ${cause.message}`,
      { cause },
    )
  })
  if (state === 'DELIVERED') return
  throw new DeployFailure(
    `A test tick sent through QStash did not arrive (${state ?? 'not delivered yet'}, message ${messageId}). Look it up ` +
      'under Logs in the QStash console, and compare the signing keys with the keys of this QStash region.',
  )
}
