import { onClick, onEvent, putInUrl } from './page.ts'

let last: HTMLInputElement | undefined

const boxes = (): HTMLInputElement[] => [...document.querySelectorAll<HTMLInputElement>('input.check[name="sel"]')]

const matchingBox = (): HTMLInputElement | null => document.querySelector('.bulk [name="fit"]')

function count(): void {
  const all = boxes()
  const isFit = matchingBox()?.checked
  if (isFit) for (const box of all) box.checked = true
  const n = all.filter(({ checked }) => checked).length
  const label = document.querySelector('.bulk .selected')
  const matching = document.getElementById('new-rows')?.dataset.total || 'All matching'
  if (label) label.textContent = `${isFit ? matching : n} selected`
  document.querySelector('.bulk')?.classList.toggle('on', n > 0)
  for (const box of all) box.closest('tr')?.setAttribute('aria-selected', String(box.checked))
  const every = document.querySelector<HTMLInputElement>('[data-do="select-all"]')
  if (every) {
    every.checked = n > 0 && n === all.length
    every.indeterminate = n > 0 && n < all.length
  }
}

/** `isFit`: also selects matching jobs that the page does not show. */
function settle(isFit: boolean): void {
  const box = matchingBox()
  if (box) box.checked = isFit
  count()
  const chosen = boxes().flatMap((box) => (box.checked ? [box.value] : []))
  putInUrl({ sel: chosen.join(',') })
}

export function selectTo(box: HTMLInputElement, isRange: boolean): void {
  const all = boxes()
  const [from, to] = [last ? all.indexOf(last) : -1, all.indexOf(box)]
  if (isRange && from >= 0)
    for (const one of all.slice(Math.min(from, to), Math.max(from, to) + 1)) one.checked = box.checked
  last = box
  settle(false)
}

export function selectAll(checked: boolean, isFit = false): void {
  for (const box of boxes()) box.checked = checked
  settle(isFit)
}

export function startSelection(): void {
  onClick('input.check', (box, { shiftKey }) => {
    const { name, checked } = box as HTMLInputElement
    if (name === 'sel') selectTo(box as HTMLInputElement, shiftKey)
    else if (name === 'fit') selectAll(checked, checked)
    else if (box.dataset.do === 'select-all') selectAll(checked)
  })
  onClick('[data-do="clear"]', () => setTimeout(() => selectAll(false)))
  onEvent('drawn', count)
  onEvent('appended', count)
  if (boxes().length > 0) count()
  onEvent('acted', (act) => act === 'selected' && selectAll(false))
}
