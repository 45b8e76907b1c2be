// Small dialogs of the editor: a node, or a wire, by its names.

export type Field = { name: string; label: string; options?: readonly string[]; value?: string }

let count = 0

function fieldOf({ name, label, options, value = '' }: Field): HTMLElement {
  const made = document.createElement('label')
  const said = Object.assign(document.createElement('span'), { className: 'fieldname', textContent: label })
  const input = Object.assign(document.createElement('input'), {
    name,
    value,
    className: 'field mono',
    required: true,
    autocomplete: 'off',
  })
  made.append(said, input)
  if (options) {
    count += 1
    const list = document.createElement('datalist')
    list.id = `options-${count}`
    list.append(...options.map((option) => Object.assign(document.createElement('option'), { value: option })))
    input.setAttribute('list', list.id)
    made.append(list)
  }
  return made
}

const button = (text: string, kind: string, type: 'submit' | 'button'): HTMLButtonElement =>
  Object.assign(document.createElement('button'), { textContent: text, className: kind, type })

/** Asks for texts. `take` returns an error message, or nothing. */
export function ask(
  title: string,
  verb: string,
  fields: readonly Field[],
  take: (given: Record<string, string>) => string | undefined,
): void {
  const from = document.activeElement
  const dialog = Object.assign(document.createElement('dialog'), { className: 'dialog' })
  dialog.setAttribute('aria-label', title)
  const form = Object.assign(document.createElement('form'), { className: 'ask' })
  const told = Object.assign(document.createElement('p'), { className: 'err', hidden: true })
  told.setAttribute('role', 'alert')
  const row = Object.assign(document.createElement('div'), { className: 'row end' })
  const leave = button('Cancel', 'btn', 'button')
  leave.addEventListener('click', () => dialog.close())
  row.append(leave, button(verb, 'btn primary', 'submit'))
  form.append(Object.assign(document.createElement('h2'), { textContent: title }), ...fields.map(fieldOf), told, row)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const given = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value).trim()]))
    const wrong = take(given)
    told.hidden = wrong === undefined
    told.textContent = wrong ?? ''
    if (wrong === undefined) dialog.close()
  })
  dialog.append(form)
  dialog.addEventListener('close', () => {
    dialog.remove()
    if (from instanceof HTMLElement) from.focus()
  })
  document.body.append(dialog)
  dialog.showModal()
  form.querySelector('input')?.focus()
}
