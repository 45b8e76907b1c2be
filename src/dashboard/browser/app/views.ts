// Views of the list of jobs that this browser keeps.

import { base, tell } from './page.ts'

const KEPT = 'sidejob-views'

type View = { name: string; query: string }

const kept = (): View[] => JSON.parse(localStorage.getItem(KEPT) ?? '[]') as View[]

const keep = (views: View[]): void => localStorage.setItem(KEPT, JSON.stringify(views))

function shown(): string {
  const query = new URLSearchParams(location.search)
  for (const name of ['cursor', 'bulk', 'q']) query.delete(name)
  return query.toString()
}

function draw(): void {
  const box = document.getElementById('own-views')
  if (!box) return
  const links = kept().flatMap(({ name, query }) => {
    const link = Object.assign(document.createElement('a'), { href: `${base}/jobs?${query}`, textContent: name })
    if (query !== shown()) return [link]
    link.setAttribute('aria-current', 'page')
    const away = Object.assign(document.createElement('button'), {
      type: 'button',
      className: 'btn small quiet',
      textContent: '×',
    })
    away.setAttribute('aria-label', `Delete view ${name}`)
    away.addEventListener('click', () => {
      keep(kept().filter((one) => one.name !== name))
      draw()
    })
    return [link, away]
  })
  box.replaceChildren(...links)
}

export function startViews(): void {
  document.addEventListener('click', ({ target }) => {
    const button = target instanceof Element ? target.closest('[data-do="keep-view"]') : null
    const field = button?.closest('form')?.querySelector<HTMLInputElement>('input[name="name"]')
    if (!button || !field?.reportValidity()) return
    keep([...kept().filter(({ name }) => name !== field.value), { name: field.value, query: shown() }])
    button.closest('details')?.removeAttribute('open')
    draw()
    tell('say', { say: `View ${field.value} is kept in this browser` })
  })
  document.addEventListener('drawn', draw)
  draw()
}
