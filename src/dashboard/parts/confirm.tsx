import { useLook } from '../look.ts'
import type { Confirm } from '../page.ts'
import { Hidden } from './act.tsx'

export function ConfirmForm({ confirm, form }: { confirm: Confirm; form: FormData }) {
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
