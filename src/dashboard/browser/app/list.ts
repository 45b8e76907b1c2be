import { closeButton, openDialog } from './dialog.ts'
import { base, emit, made, onClick, onEvent, openLink, opensNewTab, parsed, putInUrl } from './page.ts'

const FROM = 'sidejob-list'
/** Milliseconds after the last key until the server is asked. */
const REST = 150

const rowsOf = (root: ParentNode, older = ''): HTMLElement[] => [
  ...root.querySelectorAll<HTMLElement>(`#rows > [data-row]${older}`),
]
const allRows = (): HTMLElement[] => rowsOf(document, ', tbody[data-older] > [data-row]')

export function holdBack(fresh: Document): number {
  const known = new Set(rowsOf(document).map(({ id }) => id))
  const rows = rowsOf(fresh)
  const first = rows.findIndex(({ id }) => known.has(id))
  if (first <= 0) return 0
  for (const row of rows.slice(0, first)) row.remove()
  return first
}

export function showHeld(n: number): void {
  const pill = document.getElementById('new-rows')
  if (!pill) return
  pill.hidden = n === 0
  pill.querySelector('.word')!.textContent = `Show ${n} new`
}

type From = { to: string; ids: string[]; total: string }

function remember(): void {
  const ids = allRows().map(({ dataset }) => dataset.row!)
  if (ids.length === 0) return
  const total = document.getElementById('new-rows')?.dataset.total || String(ids.length)
  const from: From = { to: `${location.pathname}${location.search}`, ids, total }
  sessionStorage.setItem(FROM, JSON.stringify(from))
}

function link(text: string, href: string, key: string, label: string): HTMLAnchorElement {
  const link = made('a', { className: 'btn small icon', href, title: `${label} (${key})`, ariaLabel: label }, text)
  link.dataset.hotkey = key
  return link
}

function showNeighbours(): void {
  const box = document.getElementById('neighbours')
  const kept = sessionStorage.getItem(FROM)
  if (!box || !kept) return
  const { to, ids, total } = JSON.parse(kept) as From
  const at = ids.indexOf(box.dataset.job!)
  if (at < 0) return
  const here = made('a', { className: 'link', href: to }, `${at + 1} of ${total}`)
  const [before, after] = [ids[at - 1], ids[at + 1]]
  box.replaceChildren(
    ...(before ? [link('‹', `${base}/jobs/${before}`, '[', 'Previous job')] : []),
    here,
    ...(after ? [link('›', `${base}/jobs/${after}`, ']', 'Next job')] : []),
  )
}

export async function peek(row: HTMLElement): Promise<void> {
  const href = row.querySelector<HTMLAnchorElement>('a')?.href
  if (!href) return
  // Does not check the HTTP status, because the preview also shows error pages.
  const answer = await fetch(href, { headers: { accept: 'text/html' }, cache: 'no-store' })
  const page = parsed(await answer.text())
  const parts = page.querySelectorAll(
    '#main .jobhead, #main .why, #main .failure, #main .values, #main .ports, #main .page-error, #main ol.log',
  )
  if (parts.length === 0) return
  const open = made('a', { className: 'btn primary', href, autofocus: true }, 'Open')
  const foot = made('div', { className: 'row end' }, open, closeButton())
  const label = page.querySelector('h1')?.textContent?.trim() ?? 'A job'
  openDialog([...parts, foot], { kind: 'drawer', label, isLight: true })
}

/** Searches while the user types. With `list=1`, the server shows an exact match instead of opening its page. */
function startSeeking(): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  document.addEventListener('input', ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.dataset.seeks === undefined) return
    putInUrl({ q: target.value.trim(), list: '1' })
    clearTimeout(timer)
    timer = setTimeout(() => emit('look'), REST)
  })
}

const CONTROLS = 'a, button, input, label, summary, textarea, select, .menu'

/** A click on an empty part of a row opens its main link. While the user selects rows on a phone, it selects the row. */
function pressRow(row: HTMLElement, event: MouseEvent): void {
  const box = row.querySelector<HTMLInputElement>('.check')
  if (box && box !== event.target && document.querySelector('#selecting:checked')) {
    event.preventDefault()
    box.click()
  } else if (!(event.target as Element).closest(CONTROLS) && getSelection()?.isCollapsed)
    openLink(row.querySelector<HTMLAnchorElement>('a:has(> b)'), opensNewTab(event))
}

export function startList(): void {
  startSeeking()
  const drawn = (): void => {
    remember()
    showNeighbours()
  }
  onClick('#new-rows', () => emit('look'))
  onClick('main .tbl tbody > tr', pressRow)
  onEvent('drawn', drawn)
  onEvent('appended', remember)
  drawn()
}
