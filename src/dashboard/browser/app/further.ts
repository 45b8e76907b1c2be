// Loads rows until a page is full, for up to three seconds.

import { moreText } from '../../words/further.ts'
import { addressWith, emit, onClick, onEvent, opensNewTab, pageAt } from './page.ts'

const BY_ITSELF = 3_000

type State = { for: string; next: string | null; rows: Element[]; attributes: DOMStringMap; until: number }

let state: State | undefined
let isRunning = false
/** The rows of the page before a refresh. */
let before: Element[] = []

const listOf = (): string => addressWith({ sel: undefined, bulk: undefined })

const box = (): HTMLElement | null => document.getElementById('further')
const older = (): HTMLElement | null => document.querySelector('[data-older]')
const rowsIn = (root: ParentNode): Element[] => [...root.querySelectorAll('[data-found] > *')]

function show(): void {
  const [at, into] = [box(), older()]
  if (!state || !into) return
  const known = new Set(rowsIn(document).map(({ id }) => id))
  into.replaceChildren(...state.rows.filter(({ id }) => !id || !known.has(id)))
  if (!at) return
  const { where, done } = state.attributes
  const [word, bar, link] = [at.querySelector('.word'), at.querySelector('progress'), at.querySelector('a')!]
  const rows = rowsIn(document).length + into.childElementCount
  const isOver = state.next === null
  at.hidden = isOver && rows > 0
  if (word && isOver) word.textContent = 'No matches'
  else if (word && where) word.textContent = moreText(rows, where)
  if (bar && done) bar.value = Number(done)
  if (bar) bar.hidden = isOver
  link.hidden = isOver
  if (!isOver) link.href = state.next!
}

async function step(): Promise<void> {
  const from = state!
  const page = await pageAt(from.next!)
  if (state !== from) return
  const next = page.getElementById('further')
  from.rows.push(...rowsIn(page).map((row) => document.importNode(row, true)))
  from.next = next?.querySelector('a')?.getAttribute('href') ?? null
  from.attributes = next ? { ...next.dataset } : from.attributes
  show()
  emit('appended')
}

async function run(wanted: number): Promise<void> {
  if (isRunning || !state) return
  isRunning = true
  const own = state
  box()?.classList.add('busy')
  const had = own.rows.length
  try {
    while (state === own && own.next !== null && own.rows.length - had < wanted && Date.now() < own.until) await step()
  } catch (error) {
    console.warn('could not load older rows', error)
  }
  isRunning = false
  box()?.classList.remove('busy')
  if (state !== own) begin()
}

function begin(): void {
  const at = box()
  if (state?.for === listOf()) {
    show()
    return
  }
  state = undefined
  older()?.replaceChildren()
  if (!at) return
  const next = at.querySelector('a')?.getAttribute('href') ?? null
  state = { for: listOf(), next, rows: [], attributes: { ...at.dataset }, until: Date.now() + BY_ITSELF }
  if (at.dataset.more) void run(Number(at.dataset.more))
}

/** New rows push the last rows off the page. They come before the older rows, or the list begins again. */
function keepRows(): void {
  const last = rowsIn(document).at(-1)
  if (!state || !last?.id) return
  const rows = state.rows.length > 0 || isRunning ? [...before, ...state.rows] : []
  const at = rows.findIndex(({ id }) => id === last.id)
  if (at >= 0) state.rows = rows.slice(at + 1)
  else if (box()?.dataset.more === undefined) state = undefined
}

export function startFurther(): void {
  onClick('#further a', (_, event) => {
    if (!older() || opensNewTab(event)) return
    begin()
    if (!state) return
    event.preventDefault()
    state.until = Date.now() + BY_ITSELF
    void run(Number(box()!.dataset.limit))
  })
  onEvent('drawing', () => (before = rowsIn(document).map((row) => row.cloneNode(true) as Element)))
  onEvent('drawn', () => {
    keepRows()
    begin()
  })
  begin()
}
