import { dashboard } from '../../src/dashboard/index.ts'
import type { Scope } from '../../src/engine/engine.ts'
import { createApp } from '../../src/http/app.ts'
import type { Deps } from '../../src/http/deps.ts'
import { type Kit, type KitOptions, startKit } from '../kit/index.ts'

export const ORIGIN = 'http://127.0.0.1:8787'
export const KEY = 'the-key-of-the-deployment'

export function fieldsOf(html: string): Record<string, string[]> {
  const fields: Record<string, string[]> = {}
  for (const [, name, value] of html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g))
    (fields[name!] ??= []).push(value!.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&'))
  return fields
}

export const typedOf = (html: string): string | undefined => /<b class="mono">([^<]*)/.exec(html)?.[1]

export type Visitor = Awaited<ReturnType<Awaited<ReturnType<typeof startPages>>['enter']>>

export async function startPages(options: KitOptions = {}, more: (kit: Kit) => Partial<Deps> = () => ({})) {
  const kit = await startKit({ apiKey: KEY, ...options })
  const deps = more(kit)
  const reported: unknown[] = []
  const startApp = () =>
    createApp({
      engine: kit.engine,
      verify: async () => false,
      publicUrl: ORIGIN,
      dashboard: dashboard({ name: 'test' }),
      report: (error) => reported.push(error),
      ...deps,
    })
  let app = startApp()
  const ask = async (path: string, init: RequestInit = {}): Promise<Response> =>
    app.request(`${ORIGIN}${path}`, { redirect: 'manual', ...init })

  async function enterWith(key: string) {
    const form = new FormData()
    form.set('key', key)
    const answer = await ask('/ui/login', { method: 'POST', body: form, headers: { 'sec-fetch-site': 'same-origin' } })
    const cookie = answer.headers
      .getSetCookie()
      .map((one) => one.split(';')[0]!)
      .join('; ')
    const get = (path: string, headers: Record<string, string> = {}) => ask(path, { headers: { cookie, ...headers } })
    const html = async (path: string) => (await get(path)).text()
    const csrf = /<meta name="csrf" content="(\w+)"/.exec(await html('/ui/jobs'))?.[1] ?? ''
    const act = async (
      path: string,
      fields: Record<string, string | string[]>,
      headers: Record<string, string> = {},
    ) => {
      const body = new FormData()
      for (const [name, value] of Object.entries(fields)) for (const one of [value].flat()) body.append(name, one)
      const sent = { cookie, 'x-csrf': csrf, 'sec-fetch-site': 'same-origin', accept: 'application/json', ...headers }
      return ask(path, { method: 'POST', body, headers: sent })
    }
    return { answer, cookie, csrf, get, html, act }
  }

  return {
    ...kit,
    app,
    forget() {
      app = startApp()
    },
    ask,
    reported,
    enterWith,
    async enter(scopes: Scope[]) {
      const { key } = await kit.engine.keys.add({ name: scopes.join('-'), scopes })
      return enterWith(key)
    },
  }
}
