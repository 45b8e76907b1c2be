import { openDialog } from '../app/dialog.ts'
import { button, made } from '../app/page.ts'

type Field = { name: string; label: string; options?: readonly string[]; value?: string }

function fieldOf({ name, label, options, value = '' }: Field): HTMLElement {
  const input = made('input', { name, value, className: 'field mono', required: true, autocomplete: 'off' })
  const field = made('label', {}, made('span', { className: 'fieldname' }, label), input)
  if (options) {
    const list = made('datalist', { id: `options-${name}` }, ...options.map((value) => made('option', { value })))
    input.setAttribute('list', list.id)
    field.append(list)
  }
  return field
}

/** `take` returns an error message, or nothing. */
export function ask(
  title: string,
  verb: string,
  fields: readonly Field[],
  take: (given: Record<string, string>) => string | undefined,
  more: (given: () => Record<string, string>) => readonly Node[] = () => [],
): void {
  const message = made('p', { className: 'err', hidden: true, role: 'alert' })
  const row = made(
    'div',
    { className: 'row end' },
    button('Cancel', '', () => dialog.close()),
    made('button', { type: 'submit', className: 'btn primary' }, verb),
  )
  const form = made('form', { className: 'ask' }, made('h2', {}, title), ...fields.map(fieldOf))
  const read = () => Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value).trim()]))
  form.append(...more(read), message, row)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const wrong = take(read())
    message.hidden = wrong === undefined
    message.textContent = wrong ?? ''
    if (wrong === undefined) dialog.close()
  })
  const dialog = openDialog([form], { label: title, from: document.activeElement })
  form.querySelector('input')?.focus()
}
