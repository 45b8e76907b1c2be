// Small dialogs of the editor: a node, or a wire, by its names.

import { openDialog } from '../app/dialog.ts'
import { made } from '../app/page.ts'

export type Field = { name: string; label: string; options?: readonly string[]; value?: string }

let count = 0

function fieldOf({ name, label, options, value = '' }: Field): HTMLElement {
  const field = made('label')
  const said = made('span', { className: 'fieldname', textContent: label })
  const input = made('input', {
    name,
    value,
    className: 'field mono',
    required: true,
    autocomplete: 'off',
  })
  field.append(said, input)
  if (options) {
    count += 1
    const list = made('datalist', { id: `options-${count}` })
    list.append(...options.map((option) => made('option', { value: option })))
    input.setAttribute('list', list.id)
    field.append(list)
  }
  return field
}

const button = (text: string, kind: string, type: 'submit' | 'button'): HTMLButtonElement =>
  made('button', { textContent: text, className: kind, type })

/** Asks for texts. `take` returns an error message, or nothing. */
export function ask(
  title: string,
  verb: string,
  fields: readonly Field[],
  take: (given: Record<string, string>) => string | undefined,
): void {
  const form = made('form', { className: 'ask' })
  const told = made('p', { className: 'err', hidden: true })
  told.setAttribute('role', 'alert')
  const row = made('div', { className: 'row end' })
  const leave = button('Cancel', 'btn', 'button')
  leave.addEventListener('click', () => dialog.close())
  row.append(leave, button(verb, 'btn primary', 'submit'))
  form.append(made('h2', { textContent: title }), ...fields.map(fieldOf), told, row)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const given = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value).trim()]))
    const wrong = take(given)
    told.hidden = wrong === undefined
    told.textContent = wrong ?? ''
    if (wrong === undefined) dialog.close()
  })
  const dialog = openDialog([form], { label: title, from: document.activeElement })
  form.querySelector('input')?.focus()
}
