import { areKeysOff, shownWithKey } from './hotkeys.ts'
import { peek } from './list.ts'
import { togglePause } from './live.ts'
import { looks } from './looks.ts'
import { emit, isWriting, mainLink, meta, onClick, onEvent, openLink } from './page.ts'
import { selectAll, selectTo } from './selection.ts'

let chord = false

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

const dialogs = (): Promise<typeof import('../palette.ts')> => import(meta('palette'))

async function show(): Promise<void> {
  const { openShortcuts } = await dialogs()
  openShortcuts(rows().length > 0, Boolean(current()?.querySelector('.check')))
}

let isOpening = false

/** Until the palette's script is loaded, the page's search field receives the letters. */
async function openPalette(): Promise<void> {
  if (isOpening) return
  isOpening = true
  const before = document.activeElement
  const field = document.querySelector<HTMLInputElement>('#find input')
  field?.focus()
  const { openPalette } = await dialogs().finally(() => (isOpening = false))
  openPalette(field, before)
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
  t: looks.theme,
  d: looks.density,
  z: looks.zone,
  p: togglePause,
  '.': () => emit('look'),
  j: () => move(1),
  k: () => move(-1),
  c: () => document.querySelector<HTMLElement>('main form.form :is(input:not([type=hidden]), textarea)')?.focus(),
  o: () => openLink(mainLink(current()), true),
  Enter: () => openLink(mainLink(current()), false),
  ' ': () => current() && void peek(current()!),
  a: () => selectAll(true, true),
  Escape: () => selectAll(false),
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
  onEvent('drawn', mark)
  onClick('[data-do="keys"]', show)
  document.getElementById('find')?.addEventListener('input', ({ isComposing }) => {
    if (!isComposing) void openPalette()
  })
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
    if (document.querySelector('dialog[open]') || (areKeysOff() && key !== '?')) return
    if (isPressing(key, target)) return
    // A letter that was handled must not appear in a field that gets the focus.
    if (handle(key, event)) event.preventDefault()
  })
}
