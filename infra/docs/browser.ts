import { find, loadIndex } from './search.ts'

const input = document.querySelector<HTMLInputElement>('#search')!
const results = document.querySelector<HTMLOListElement>('#results')!
const { top: base = '' } = document.body.dataset

let index: ReturnType<typeof loadIndex> | undefined
const indexed = () => {
  index ??= loadIndex((window as unknown as { searchIndex: string }).searchIndex)
  return index
}

function show(): void {
  const found = input.value.trim() ? find(indexed(), input.value) : []
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
