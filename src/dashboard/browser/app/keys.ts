import { openDialog } from './dialog.ts'
import { peek } from './list.ts'
import { isWriting, made, mainLink, meta, onClick, openLink, tell } from './page.ts'
import { selectAll, selectTo } from './selection.ts'

const OFF = 'sidejob-keys'

let chord = false

const isOff = (): boolean => localStorage.getItem(OFF) === 'off'

const FOCUSED = 'a, button:not([disabled])'

function rows(): HTMLElement[] {
  const own = [...document.querySelectorAll<HTMLElement>('[data-row]')]
  if (own.length > 0) return own
  return [
    ...document.querySelectorAll<HTMLElement>('main :is(.limit, .found > li, .log > li, .tbl tbody > tr:not(.of))'),
  ].filter((row) => row.checkVisibility() && row.querySelector(FOCUSED))
}

let row: HTMLElement | undefined

const current = (): HTMLElement | undefined => (row?.isConnected ? row : undefined)

function mark(): void {
  for (const one of document.querySelectorAll('main .cur')) one.classList.remove('cur')
  current()?.classList.add('cur')
}

function move(by: number): void {
  const all = rows()
  const at = row ? all.indexOf(row) : -1
  row = all[Math.max(0, Math.min(all.length - 1, at + by))]
  mark()
  ;(mainLink(row) ?? row?.querySelector<HTMLElement>(FOCUSED))?.focus({ preventScroll: true })
  row?.scrollIntoView({ block: 'nearest' })
}

function select(isRange: boolean): boolean {
  const box = current()?.querySelector<HTMLInputElement>('.check')
  if (!box) return false
  box.checked = isRange || !box.checked
  selectTo(box, isRange)
  return true
}

/** Until the script of the palette is loaded, the search field of the page receives the letters. */
async function openPalette(): Promise<void> {
  const before = document.activeElement
  const field = document.querySelector<HTMLInputElement>('#find input')
  field?.focus()
  const palette: typeof import('../palette.ts') = await import(meta('palette'))
  palette.openPalette(field)
  document.querySelector('dialog[open]')?.addEventListener('close', () => {
    field?.blur()
    if (before instanceof HTMLElement) before.focus()
  })
}

function search(): void {
  const filter = document.querySelector<HTMLInputElement>('.filter input[name="q"]')
  if (filter) {
    filter.focus()
    filter.select()
  } else void openPalette()
}

const acts: Record<string, (event: KeyboardEvent) => unknown> = {
  '/': search,
  '?': () => show(),
  t: () => tell('like', 'theme'),
  d: () => tell('like', 'density'),
  z: () => tell('like', 'zone'),
  p: () => tell('pause'),
  '.': () => tell('look'),
  j: () => move(1),
  k: () => move(-1),
  c: () => document.querySelector<HTMLElement>('main form.form :is(input:not([type=hidden]), textarea)')?.focus(),
  o: () => openLink(mainLink(current()), true),
  Enter: () => openLink(mainLink(current()), false),
  ' ': () => current() && void peek(current()!),
  a: () => selectAll(true, true),
  Escape: () => selectAll(false),
}

const words: [string, string][] = [
  ['/', 'search or filter'],
  ['⌘K', 'open the palette'],
  ['j k', 'move down, up in a list'],
  ['Enter o space', 'open, open in a new tab, preview'],
  ['x', 'select one'],
  ['shift x', 'select a range'],
  ['a Esc', 'select all matches, none'],
  ['t d z', 'change theme, density, time zone'],
  ['p', 'pause refreshes'],
  ['.', 'show new rows'],
  ['c', 'go to the form'],
  ['u', 'undo'],
  ['?', 'show this list'],
]

const saidOn = ({ ariaLabel, childNodes }: HTMLElement): string =>
  ariaLabel ??
  [...childNodes]
    .filter((node) => !(node instanceof Element && node.matches('kbd, .n')))
    .map(({ textContent }) => textContent)
    .join('')
    .trim()

const shownWithKey = (): HTMLElement[] =>
  [...document.querySelectorAll<HTMLElement>('[data-hotkey]')].filter(({ offsetParent }) => offsetParent !== null)

function show(): void {
  const own = new Map(shownWithKey().map((one) => [one.dataset.hotkey!, saidOn(one)]))
  // This key first selects the current row.
  if (current()?.querySelector('.check')) own.delete('x')
  const goes = [...document.querySelectorAll<HTMLElement>('.nav [data-go]')].map(
    ({ dataset, title }) => [`g ${dataset.go}`, title] as const,
  )
  const list = made('dl')
  for (const [keys, what] of [...own, ...words.filter(([keys]) => !own.has(keys)), ...goes]) {
    const marks = keys.split(' ').flatMap((key) => [made('kbd', {}, key), ' '])
    list.append(made('div', {}, made('dt', {}, ...marks), made('dd', {}, what)))
  }
  const onchange = () => localStorage.setItem(OFF, box.checked ? 'on' : 'off')
  const box = made('input', { type: 'checkbox', className: 'check', checked: !isOff(), onchange })
  const close = made('button', { type: 'button', className: 'btn small', onclick: () => dialog.close() }, 'Close')
  const head = made('div', { className: 'row' }, made('h2', { className: 'grow' }, 'Keyboard shortcuts'), close)
  const label = made('label', { className: 'rowf' }, box, 'Enable keyboard shortcuts')
  const dialog = openDialog([head, label, list], { kind: 'keys', label: 'Keyboard shortcuts', isLight: true })
}

function press(key: string): boolean {
  const found = shownWithKey().findLast(({ dataset }) => dataset.hotkey === key)
  found?.click()
  return found !== undefined
}

const isPressing = (key: string, target: EventTarget | null): boolean =>
  target instanceof Element &&
  ((key === 'Enter' && target.closest('a, button, summary') !== null) ||
    (key === ' ' && target.closest('button, summary, input') !== null))

function goes(key: string): boolean {
  const isChord = chord
  chord = false
  const link = isChord && document.querySelector<HTMLAnchorElement>(`.nav [data-go="${CSS.escape(key)}"]`)
  if (link) location.assign(link.href)
  else if (key === 'g') {
    chord = true
    setTimeout(() => (chord = false), 1_500)
  } else return false
  return true
}

function handle(key: string, event: KeyboardEvent): boolean {
  if (goes(key) || (key.toLowerCase() === 'x' && select(event.shiftKey)) || press(key)) return true
  if (!Object.hasOwn(acts, key) || (key === ' ' && !current())) return false
  acts[key]!(event)
  return key !== 'Escape'
}

export function startKeys(): void {
  document.addEventListener('drawn', mark)
  onClick('[data-do="keys"]', show)
  document.addEventListener('keydown', (event) => {
    const { key, target, ctrlKey, metaKey, altKey } = event
    if (key === 'k' && ctrlKey !== metaKey && !altKey && !document.querySelector('dialog[open]')) {
      event.preventDefault()
      void openPalette()
      return
    }
    if (key === 'Enter' && (ctrlKey || metaKey) && target instanceof HTMLTextAreaElement) target.form?.requestSubmit()
    if (ctrlKey || metaKey || altKey || event.defaultPrevented) return
    if (isWriting(target)) return key === 'Escape' ? (target as HTMLElement).blur() : undefined
    if (document.querySelector('dialog[open]') || (isOff() && key !== '?')) return
    if (isPressing(key, target)) return
    // A letter that was handled must not appear in a field that gets the focus.
    if (handle(key, event)) event.preventDefault()
  })
}
