import type { Context } from 'hono'
import { hashOf } from '../core/crypto.ts'
import { codes, errorBody, type SidejobError } from '../core/errors.ts'
import { isLocal } from '../core/url.ts'
import type { Deps } from '../http/deps.ts'
import { type Around, around } from './around.ts'
import { createAnswers, createCache } from './cache.ts'
import { type AskApi, callerOf } from './call.ts'
import { preferencesOf, takeFlash } from './cookies.ts'
import { costs } from './costs.ts'
import { documentOf, htmlOf, type Look } from './look.ts'
import { entryOf } from './nav.ts'
import type { Asked, Brief, Page } from './page.ts'
import { ErrorPage } from './parts/error.tsx'
import { type Frame, Shell } from './parts/shell.tsx'
import { type Env, expectScope } from './session.ts'
import { patchOf, withoutTimes } from './words/chunks.ts'

export type Draw = ReturnType<typeof createDraw>

export const wantsData = (c: Context): boolean => c.req.header('accept')?.startsWith('application/json') ?? false

/** The path below `/ui`, with its query. */
export function hereIn({ req }: Context): string {
  const { pathname, search } = new URL(req.url)
  return `${pathname.slice(pathname.indexOf('/ui') + 3) || '/'}${search}`
}

type Parts = { deps: Deps; base: string; name?: string; pages: readonly Page[]; ask: AskApi }

async function isSeen(c: Context, text: string): Promise<boolean> {
  const tag = `"${(await hashOf(withoutTimes(text))).slice(0, 20)}"`
  if (c.req.header('if-none-match') === tag) return true
  c.header('etag', tag)
  return false
}

async function answer(c: Context, html: string): Promise<Response> {
  if (await isSeen(c, html)) return c.body(null, 304)
  const names = c.req.header('x-live')
  const patch = names === undefined ? undefined : patchOf(html, names)
  return patch ? c.json({ patch }) : c.html(html)
}

async function drawBrief(
  c: Context<Env>,
  { as, data: dataOf, parts }: Brief<unknown>,
  { look, query }: Asked,
  data: unknown,
) {
  const drawn = Object.entries(parts).map(([id, View]) => [
    id,
    htmlOf(look, <View data={data} look={look} query={query} />),
  ])
  const brief = { as: as(data), data: dataOf(data), parts: Object.fromEntries(drawn) }
  if (await isSeen(c, JSON.stringify(brief))) return c.body(null, 304)
  return c.json({ ...brief, now: look.now })
}

export function createDraw({ deps, base, name: ownName, pages, ask }: Parts) {
  const { publicUrl: url } = deps
  const { host } = new URL(url)
  const answers = createAnswers()
  const there = new Set(pages.flatMap(({ nav = [] }) => nav))

  const whole = (frame: Omit<Frame, 'there'>): string => documentOf(frame.look, <Shell {...frame} there={there} />)

  function asked(c: Context<Env>): Asked {
    const { place, caller, csrf } = c.get('seen')
    const { name, scopes, tenant } = caller
    const look: Look = {
      base,
      host,
      url,
      name: ownName ?? (isLocal(url) ? 'local' : undefined),
      tenant,
      now: Date.now(),
      here: hereIn(c),
      who: { name, scopes },
      csrf,
      ...preferencesOf(c),
    }
    const { engine } = place
    return {
      engine,
      deps,
      params: c.req.param() as Record<string, string>,
      query: new URL(c.req.url).searchParams,
      look,
      call: callerOf(ask, c),
      cache: createCache(answers.of(engine), engine),
    }
  }

  async function show(c: Context<Env>, page: Page, given = asked(c)): Promise<Response> {
    const { path, nav, navOf, every, slim, scripts, styles, title: titleOf, crumbs, View, brief } = page
    const { look, query } = given
    expectScope(look, 'read', 'this page')
    if (brief && c.req.header('x-live') && wantsData(c)) return drawBrief(c, brief, given, await page.load(given))
    const [data, signs] = await Promise.all([page.load(given), around(given)])
    const word = takeFlash(c, base)
    const at = navOf?.(data) ?? nav
    const entry = at && entryOf(at)
    const title = titleOf?.(data, look) ?? entry!.title
    const own = entry?.path === path ? [] : [{ name: title }]
    const html = whole({
      look,
      title,
      at,
      crumbs: [...(entry ? [{ name: entry.title, to: entry.path }] : []), ...(crumbs?.(data, look) ?? own)],
      every,
      commands: costs[path]?.[1],
      slim,
      scripts,
      styles,
      ...signs,
      children: (
        <>
          <View data={data} look={look} query={query} />
          {word && (
            <p class="toast" role="status">
              {word}
            </p>
          )}
        </>
      ),
    })
    return answer(c, html)
  }

  async function error(c: Context<Env>, error: SidejobError): Promise<Response> {
    const { code, message, retryAfter } = error
    const status = codes[code]
    if (retryAfter !== undefined) c.header('retry-after', String(Math.ceil(retryAfter)))
    if (!c.get('seen') || wantsData(c)) return c.json(errorBody(error, url), status as 400)
    const page = asked(c)
    const { look, engine, cache } = page
    const known = code === 'NOT_FOUND' ? around(page).catch(() => undefined) : cache.last<Around>('around')
    const { signs, foot }: Partial<Around> = (await known) ?? { foot: { ok: true, text: 'Redis is up' } }
    const html = whole({
      look,
      title: code === 'NOT_FOUND' ? 'Not found' : 'Error',
      signs,
      foot: status < 500 ? foot : { ok: false, text: 'Something is wrong' },
      children: <ErrorPage code={code} message={message} hasHistory={engine.history.isOn} />,
    })
    return c.html(html, status as 400)
  }

  return { asked, whole, show, error, forget: answers.expire }
}
