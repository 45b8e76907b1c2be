import { openDialog } from './app/dialog.ts'
import { base, made, pageAt } from './app/page.ts'

export { openShortcuts } from './app/shortcuts.ts'

/** Milliseconds after the last key until the server is asked. */
const REST = 150

let opened: HTMLDialogElement | undefined

const optionsIn = (list: HTMLElement): HTMLElement[] => [...list.querySelectorAll<HTMLElement>('[role="option"]')]

function choose(field: HTMLInputElement, list: HTMLElement, at: number): void {
  const options = optionsIn(list)
  for (const [i, option] of options.entries()) option.ariaSelected = String(i === at)
  const chosen = options[at]
  chosen?.scrollIntoView({ block: 'nearest' })
  field.setAttribute('aria-activedescendant', chosen?.id ?? '')
}

const chosenIn = (list: HTMLElement): number => optionsIn(list).findIndex(({ ariaSelected }) => ariaSelected === 'true')

function show(field: HTMLInputElement, list: HTMLElement, found: Document): void {
  const lines = [...found.querySelectorAll<HTMLElement>('.found > li')]
  for (const [i, line] of lines.entries()) Object.assign(line, { role: 'option', id: `found-${i}` })
  // New results keep the line that the user has chosen. The first line is the default, so it does not count as chosen.
  const chosen = optionsIn(list)[chosenIn(list) || -1]?.textContent
  list.replaceChildren(...lines)
  const at = lines.findIndex(({ textContent }) => textContent === chosen)
  choose(field, list, Math.max(0, at))
}

function press(line: HTMLElement | undefined): void {
  const button = line?.querySelector<HTMLElement>('a, button')
  if (button?.dataset.do) opened?.close('done')
  button?.click()
}

export function openPalette(typed: HTMLInputElement | null, from: Element | null): void {
  if (opened?.isConnected) return
  const list = made('ul', { className: 'checks next found', role: 'listbox', id: 'palette', ariaLabel: 'Results' })
  const field = made('input', {
    name: 'q',
    placeholder: 'Search or jump',
    autocomplete: 'off',
    role: 'combobox',
    ariaLabel: 'Search or jump',
    ariaExpanded: 'true',
    ariaAutoComplete: 'list',
  })
  field.setAttribute('aria-controls', list.id)
  let asked: AbortController | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let shown = ''

  async function ask(): Promise<void> {
    asked?.abort()
    asked = new AbortController()
    const text = field.value.trim()
    const to = text ? `find?list&q=${encodeURIComponent(text)}` : 'more'
    const found = await pageAt(`${base}/${to}`, { signal: asked.signal }).catch(() => undefined)
    if (!found) return
    show(field, list, found)
    shown = text
  }

  function enter(): void {
    const text = field.value.trim()
    if (text === shown) press(optionsIn(list)[chosenIn(list)])
    else location.assign(`${base}/find?q=${encodeURIComponent(text)}`)
  }

  field.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(ask, REST)
  })
  field.addEventListener('keydown', (event) => {
    const { key } = event
    if (key === 'Enter') enter()
    else if (key === 'ArrowDown' || key === 'ArrowUp') {
      const by = key === 'ArrowDown' ? 1 : -1
      choose(field, list, Math.max(0, Math.min(optionsIn(list).length - 1, chosenIn(list) + by)))
    } else return
    event.preventDefault()
  })
  if (typed) {
    field.value = typed.value
    typed.value = ''
    typed.blur()
  }
  opened = openDialog([field, list, made('p', { className: 'note foot' }, '↑ ↓ choose, Enter opens, Esc closes')], {
    kind: 'palette',
    label: 'Search or jump',
    isLight: true,
    from,
  })
  opened.addEventListener('close', () => {
    clearTimeout(timer)
    asked?.abort()
    // After an action, letters are shortcuts: `u` undoes it.
    if (opened?.returnValue) typed?.blur()
  })
  field.focus()
  void ask()
}
