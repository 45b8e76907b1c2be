// Calls Cloudflare's API directly, because wrangler would ask questions.

import type { SqlDatabase, SqlRow, Statement } from '../history/database.ts'
import { fetchAgain } from './again.ts'
import { CloudflareError, DeployFailure } from './failure.ts'

type D1Database = { uuid: string; name: string }

export type Account = { id: string; name: string }

type Envelope<T> = {
  success: boolean
  result: T
  errors?: { code: number; message: string }[]
  result_info?: { total_pages?: number }
}
type Region = string | { id?: string }

const PAGE = 50

const NOT_THERE = new Set([10007, 10090, 10092])
const R2_IS_OFF = 10042
const R2_EXISTS = 10004

export function createCloudflare(options: { token: string; base?: string }) {
  const base = options.base ?? 'https://api.cloudflare.com/client/v4'

  async function envelope<T>(method: string, path: string, body?: object): Promise<Envelope<T>> {
    const response = await fetchAgain(`${base}${path}`, {
      method,
      headers: { authorization: `Bearer ${options.token}`, ...(body && { 'content-type': 'application/json' }) },
      body: body && JSON.stringify(body),
    }).catch((error: Error) => {
      throw new DeployFailure(
        `Cloudflare cannot be reached: ${error.message}. Try again: completed steps are not repeated.`,
      )
    })
    const answer = (await response.json().catch(() => undefined)) as Envelope<T> | undefined
    if (response.ok && answer?.success) return answer
    const [{ code, message } = { code: response.status, message: response.statusText }] = answer?.errors ?? []
    throw new CloudflareError(code, `${message} [code: ${code}]`)
  }

  const ask = async <T>(method: string, path: string, body?: object): Promise<T> =>
    (await envelope<T>(method, path, body)).result

  async function list<T>(path: string): Promise<T[]> {
    const all: T[] = []
    for (let page = 1, pages = 1; page <= pages; page++) {
      const { result, result_info } = await envelope<T[]>('GET', `${path}?page=${page}&per_page=${PAGE}`)
      all.push(...result)
      pages = result_info?.total_pages ?? 1
    }
    return all
  }

  const unlessMissing = <T>(asked: Promise<T>): Promise<T | undefined> =>
    asked.catch((error: Error) => {
      if (error instanceof CloudflareError && NOT_THERE.has(error.code)) return undefined
      throw error
    })

  return {
    accounts: () => list<Account>('/accounts'),
    async placements(account: string): Promise<Set<string> | undefined> {
      type Providers = { providers?: { id: string; regions: Region[] }[] }
      const path = `/accounts/${account}/workers/placement/regions`
      const answer = await ask<Providers>('GET', path).catch(() => undefined)
      const all = answer?.providers?.flatMap(({ id, regions }) =>
        regions.map((region) => `${id}:${typeof region === 'string' ? region : region.id}`),
      )
      return all?.length ? new Set(all) : undefined
    },
    subdomain: async (account: string) =>
      (await unlessMissing(ask<{ subdomain?: string }>('GET', `/accounts/${account}/workers/subdomain`)))?.subdomain,
    secrets: async (account: string, worker: string) =>
      (
        await unlessMissing(ask<{ name: string }[]>('GET', `/accounts/${account}/workers/scripts/${worker}/secrets`))
      )?.map(({ name }) => name),
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
    async makeDatabase(account: string, name: string) {
      const at = `/accounts/${account}/d1/database`
      const found = (await ask<D1Database[]>('GET', `${at}?name=${name}`)).find((one) => one.name === name)
      if (found) return { id: found.uuid, isNew: false }
      return { id: (await ask<D1Database>('POST', at, { name })).uuid, isNew: true }
    },
    /** Without a transaction, each statement must be safe to repeat. */
    sqlOf(account: string, id: string): SqlDatabase {
      const all = async ([sql, ...params]: Statement) =>
        (
          await ask<{ results: SqlRow[] }[]>('POST', `/accounts/${account}/d1/database/${id}/query`, { sql, params })
        )[0]!.results
      return {
        all,
        async batch(statements) {
          for (const statement of statements) await all(statement)
        },
      }
    },
    removeWorker: async (account: string, worker: string) =>
      (await unlessMissing(
        ask('DELETE', `/accounts/${account}/workers/scripts/${worker}?force=true`).then(() => true),
      )) ?? false,
  }
}

export type Cloudflare = ReturnType<typeof createCloudflare>
