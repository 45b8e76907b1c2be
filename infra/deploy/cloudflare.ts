// The little of Cloudflare's API that wrangler does not do without asking.

import { CloudflareError, DeployFailure } from './failure.ts'

export type Account = { id: string; name: string }

type Envelope<T> = { success: boolean; result: T; errors?: { code: number; message: string }[] }

/** There is no such Worker, or no subdomain yet. */
const NOT_THERE = new Set([10007, 10090, 10092])
const R2_IS_OFF = 10042
const R2_EXISTS = 10004

/**
 * Cloudflare, as a token may see it.
 *
 * @example const cloudflare = createCloudflare({ token }); await cloudflare.subdomain(account)
 */
export function createCloudflare(options: { token: string; base?: string }) {
  const base = options.base ?? 'https://api.cloudflare.com/client/v4'

  async function ask<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(`${base}${path}`, {
      method,
      headers: { authorization: `Bearer ${options.token}`, ...(body && { 'content-type': 'application/json' }) },
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    }).catch((error: Error) => {
      throw new DeployFailure(`Cloudflare cannot be reached: ${error.message}. Nothing was done; deploy again.`)
    })
    const said = (await response.json().catch(() => undefined)) as Envelope<T> | undefined
    if (response.ok && said?.success) return said.result
    const [{ code, message } = { code: response.status, message: response.statusText }] = said?.errors ?? []
    throw new CloudflareError(code, `${message} [code: ${code}]`)
  }

  const unlessMissing = <T>(asked: Promise<T>): Promise<T | undefined> =>
    asked.catch((error: Error) => {
      if (error instanceof CloudflareError && NOT_THERE.has(error.code)) return undefined
      throw error
    })

  return {
    accounts: () => ask<Account[]>('GET', '/accounts?per_page=50'),
    /** What stands before `.workers.dev`; undefined when none was chosen. */
    subdomain: async (account: string) =>
      (await unlessMissing(ask<{ subdomain?: string }>('GET', `/accounts/${account}/workers/subdomain`)))?.subdomain,
    /** The names of a Worker's secrets; undefined when there is no such Worker. */
    secrets: async (account: string, worker: string) =>
      (
        await unlessMissing(ask<{ name: string }[]>('GET', `/accounts/${account}/workers/scripts/${worker}/secrets`))
      )?.map(({ name }) => name),
    /** 'new' or 'there'; 'off' when R2 is not enabled on the account. */
    async makeBucket(account: string, name: string): Promise<'new' | 'there' | 'off'> {
      try {
        await ask('POST', `/accounts/${account}/r2/buckets`, { name })
        return 'new'
      } catch (error) {
        if (error instanceof CloudflareError && error.code === R2_EXISTS) return 'there'
        if (error instanceof CloudflareError && error.code === R2_IS_OFF) return 'off'
        throw error
      }
    },
    /** Whether there was one. */
    removeWorker: async (account: string, worker: string) =>
      (await unlessMissing(
        ask('DELETE', `/accounts/${account}/workers/scripts/${worker}?force=true`).then(() => true),
      )) ?? false,
  }
}

export type Cloudflare = ReturnType<typeof createCloudflare>
