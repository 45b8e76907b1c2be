import type { Context } from 'hono'
import { SidejobError } from '../core/errors.ts'
import { leaveWord } from './cookies.ts'
import { type Draw, wantsData } from './draw.tsx'
import { formOf } from './form.ts'
import { htmlOf, type Look, may } from './look.ts'
import type { ActAsked, Confirm, Done, Page } from './page.ts'
import { ConfirmForm } from './parts/confirm.tsx'
import { Shell } from './parts/shell.tsx'
import { type Env, expectOurs } from './session.ts'

/** Maximum bytes of a form. Browsers encode a value of 1 MiB in up to 3 MiB, and other fields need space too. */
const MOST = 4 * 1024 * 1024

type Parts = { base: string; draw: Draw }

const isSure = ({ verb, type = 'yes', isCounting = false, fields = {} }: Confirm, form: FormData): boolean =>
  verb !== '' && !isCounting && form.get('sure') === type && Object.keys(fields).every((name) => form.has(name))

export function createActs({ base, draw }: Parts) {
  function confirmation(c: Context<Env>, page: Page, asked: ActAsked, confirm: Confirm) {
    const form = <ConfirmForm confirm={confirm} form={asked.form} />
    const { look } = asked
    if (wantsData(c)) return c.json({ confirm: htmlOf(look, form) })
    const shell = htmlOf(
      look,
      <Shell look={look} title={confirm.title} at={page.nav} there={draw.there}>
        <div class="card confirm">{form}</div>
      </Shell>,
    )
    return c.html(`<!doctype html>${shell}`)
  }

  function answer(c: Context<Env>, { look }: ActAsked, done: Done): Response {
    if (wantsData(c)) return c.json(done)
    if (done.secret) return c.html(`<!doctype html>${secretPage(done, look)}`)
    leaveWord(c, base, done.say)
    return c.redirect(`${base}${done.to ?? look.here}`, 303)
  }

  /** Shows a secret in the response to the form. A redirect would have to store the secret for the next page. */
  const secretPage = ({ say, secret }: Done, look: Look): string =>
    htmlOf(
      look,
      <Shell look={look} title="Copy it now" at="keys" there={draw.there}>
        <div class="card confirm">
          <p>{say}</p>
          <pre>{secret}</pre>
        </div>
      </Shell>,
    )

  return async (c: Context<Env>, page: Page): Promise<Response> => {
    const form = await formOf(c.req.raw, MOST)
    const { csrf } = c.get('seen')
    expectOurs(c.req.raw, c.req.header('x-csrf') ?? String(form.get('csrf') ?? ''), csrf)
    const name = String(form.get('act') ?? '')
    const act = Object.hasOwn(page.acts ?? {}, name) ? page.acts![name] : undefined
    if (!act)
      throw new SidejobError('BAD_REQUEST', `act: expected one of ${Object.keys(page.acts!).join(', ')}, got "${name}"`)
    const asked: ActAsked = { ...draw.asked(c), form }
    if (!may(asked.look, act.scope))
      throw new SidejobError(
        'FORBIDDEN',
        `this action needs the scope "${act.scope}"; your key has ${asked.look.who.scopes.join(', ') || 'none'}`,
      )
    const confirm = await act.confirm?.(asked)
    if (confirm && !isSure(confirm, form)) return confirmation(c, page, asked, confirm)
    try {
      return answer(c, asked, await act.does(asked))
    } finally {
      draw.forget(asked.engine)
    }
  }
}
