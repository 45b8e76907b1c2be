import type { Context } from 'hono'
import { SidejobError } from '../core/errors.ts'
import { setFlash } from './cookies.ts'
import { type Draw, wantsData } from './draw.tsx'
import { formOf } from './form.ts'
import { htmlOf, useLook } from './look.ts'
import type { ActAsked, Confirm, Done, Page } from './page.ts'
import { Hidden } from './parts/act.tsx'
import type { Frame } from './parts/shell.tsx'
import { checkCsrf, type Env, expectScope } from './session.ts'

/** Maximum bytes of a form. Browsers encode a value of 1 MiB in up to 3 MiB, and other fields need space too. */
const MOST = 4 * 1024 * 1024

type Parts = { base: string; draw: Draw }

const isSure = ({ verb, type = 'yes', isCounting = false, fields = {} }: Confirm, form: FormData): boolean =>
  verb !== '' && !isCounting && form.get('sure') === type && Object.keys(fields).every((name) => form.has(name))

function ConfirmForm({ confirm, form }: { confirm: Confirm; form: FormData }) {
  const { title, text, verb, type, reason, isSafe, fields = {}, isCounting = false } = confirm
  const { base, here } = useLook()
  const kept = [...form].filter(([name]) => name !== 'sure' && !Object.hasOwn(fields, name))
  const wrong = type !== undefined && form.has('sure')
  return (
    <form
      class="ask"
      method="post"
      action={`${base}${here}`}
      data-act={String(form.get('act'))}
      data-counting={isCounting ? '' : undefined}
    >
      <h2>{title}</h2>
      {text.map((line) => (
        <p class="dim">{line}</p>
      ))}
      <Hidden of={[...kept, ...Object.entries(fields)]} />
      {type === undefined && verb && !isCounting && <input type="hidden" name="sure" value="yes" />}
      {type !== undefined && (
        <label>
          <span>
            Type <b class="mono">{type}</b> to continue
          </span>
          <input class="field mono" name="sure" autocomplete="off" required aria-invalid={wrong ? 'true' : undefined} />
        </label>
      )}
      {reason && (
        <label>
          <span>Reason (required)</span>
          <input class="field" name="reason" maxlength={200} required />
        </label>
      )}
      <div class="row end">
        <a class="btn" href={`${base}${here}`} data-do="close">
          {verb ? 'Cancel' : 'Close'}
        </a>
        {verb && (
          <button class={isCounting || reason || isSafe ? 'btn primary' : 'btn danger'} type="submit">
            {verb}
          </button>
        )}
      </div>
    </form>
  )
}

export function createActs({ base, draw }: Parts) {
  const card = (c: Context<Env>, { children, ...frame }: Pick<Frame, 'look' | 'title' | 'at' | 'children'>) =>
    c.html(draw.whole({ ...frame, children: <div class="card confirm">{children}</div> }))

  function confirmation(c: Context<Env>, { nav: at }: Page, { look, form }: ActAsked, confirm: Confirm) {
    const children = <ConfirmForm confirm={confirm} form={form} />
    if (wantsData(c)) return c.json({ confirm: htmlOf(look, children) })
    return card(c, { look, title: confirm.title, at, children })
  }

  /** Shows a secret in the response to the form. A redirect would have to store the secret for the next page. */
  function answer(c: Context<Env>, { look }: ActAsked, done: Done): Response | Promise<Response> {
    if (wantsData(c)) return c.json(done)
    if (done.secret) {
      const children = [<p>{done.say}</p>, <pre>{done.secret}</pre>]
      return card(c, { look, title: 'Copy it now', at: 'keys', children })
    }
    setFlash(c, base, done.say)
    return c.redirect(`${base}${done.to ?? look.here}`, 303)
  }

  return async (c: Context<Env>, page: Page): Promise<Response> => {
    const form = await formOf(c.req.raw, MOST)
    const { csrf } = c.get('seen')
    checkCsrf(c.req.raw, c.req.header('x-csrf') ?? String(form.get('csrf') ?? ''), csrf)
    const name = String(form.get('act') ?? '')
    const asked: ActAsked = { ...draw.asked(c), form }
    // Values of a form may be secret, so a preview does not put them in a URL.
    if (name === 'preview')
      return draw.show(c, page, {
        ...asked,
        query: new URLSearchParams([...form].map(([name, value]) => [name, String(value)])),
      })
    const act = Object.hasOwn(page.acts ?? {}, name) ? page.acts![name] : undefined
    if (!act)
      throw new SidejobError('BAD_REQUEST', `act: expected one of ${Object.keys(page.acts!).join(', ')}, got "${name}"`)
    expectScope(asked.look, act.scope, 'this action')
    const confirm = await act.confirm?.(asked)
    if (confirm && !isSure(confirm, form)) return confirmation(c, page, asked, confirm)
    try {
      return answer(c, asked, await act.does(asked))
    } finally {
      draw.forget(asked.engine)
    }
  }
}
