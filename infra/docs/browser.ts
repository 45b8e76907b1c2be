// The search of the manual, in the browser.

import MiniSearch from 'minisearch'
import { searchOptions } from './search-options.ts'

const MOST = 12

const input = document.querySelector<HTMLInputElement>('#search')!
const results = document.querySelector<HTMLOListElement>('#results')!
/** Path from this page to the top of the site. */
const { top: base = '' } = document.body.dataset

let index: MiniSearch | undefined
const indexed = (): MiniSearch => {
  index ??= MiniSearch.loadJSON((window as unknown as { searchIndex: string }).searchIndex, searchOptions)
  return index
}

function show(): void {
  const found = input.value.trim() ? indexed().search(input.value).slice(0, MOST) : []
  results.replaceChildren(
    ...found.map(({ id, title }) => {
      const link = document.createElement('a')
      link.href = base + id
      link.textContent = title
      const item = document.createElement('li')
      item.append(link)
      return item
    }),
  )
  results.hidden = !input.value.trim()
  if (input.value.trim() && found.length === 0)
    results.append(Object.assign(document.createElement('li'), { textContent: 'nothing found' }))
}

input.addEventListener('input', show)
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && document.activeElement !== input) {
    event.preventDefault()
    input.focus()
  }
  if (event.key === 'Escape') {
    input.value = ''
    show()
  }
  if (event.key === 'Enter' && document.activeElement === input) results.querySelector('a')?.click()
})
