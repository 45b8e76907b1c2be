// What is asked before something ends: what, how many, what is lost; the verb on the button.

import { useLook } from '../look.ts'
import type { Confirm } from '../page.ts'

/** The form once more, with what makes it sure. */
export function ConfirmForm({ confirm: { title, text, verb, type }, form }: { confirm: Confirm; form: FormData }) {
  const { base, here } = useLook()
  const wrong = type !== undefined && form.has('sure')
  return (
    <form class="ask" method="post" action={`${base}${here}`} data-act={String(form.get('act'))}>
      <h2>{title}</h2>
      {text.map((line) => (
        <p class="dim">{line}</p>
      ))}
      {[...form]
        .filter(([name]) => name !== 'sure')
        .map(([name, value]) => (
          <input type="hidden" name={name} value={String(value)} />
        ))}
      {type === undefined ? (
        <input type="hidden" name="sure" value="yes" />
      ) : (
        <label>
          <span>
            Type <b class="mono">{type}</b> to go on
          </span>
          <input class="field mono" name="sure" autocomplete="off" required aria-invalid={wrong ? 'true' : undefined} />
        </label>
      )}
      <div class="row end">
        <a class="btn" href={`${base}${here}`} data-do="close">
          Leave it
        </a>
        <button class="btn danger" type="submit">
          {verb}
        </button>
      </div>
    </form>
  )
}
