import { queryWith } from '../../words/query.ts'
import { base, made, onClick, tell } from './page.ts'

const KEPT = 'sidejob-views'

type View = { name: string; query: string }

const kept = (): View[] => JSON.parse(localStorage.getItem(KEPT) ?? '[]') as View[]

const keep = (views: View[]): void => localStorage.setItem(KEPT, JSON.stringify(views))

const shown = (): string => queryWith(location.search, { cursor: undefined, bulk: undefined, q: undefined }).slice(1)

function draw(): void {
  const box = document.getElementById('own-views')
  if (!box) return
  const links = kept().flatMap(({ name, query }) => {
    const link = made('a', { href: `${base}/jobs?${query}` }, name)
    if (query !== shown()) return [link]
    link.ariaCurrent = 'page'
    const onclick = () => {
      keep(kept().filter((one) => one.name !== name))
      draw()
    }
    const ariaLabel = `Delete view ${name}`
    const away = made('button', { type: 'button', className: 'btn small quiet', ariaLabel, onclick }, '×')
    return [link, away]
  })
  box.replaceChildren(...links)
}

export function startViews(): void {
  onClick('[data-do="keep-view"]', (button) => {
    const field = button.closest('form')?.querySelector<HTMLInputElement>('input[name="name"]')
    if (!field?.reportValidity()) return
    keep([...kept().filter(({ name }) => name !== field.value), { name: field.value, query: shown() }])
    button.closest('details')?.removeAttribute('open')
    draw()
    tell('say', { say: `View ${field.value} is saved in this browser` })
  })
  document.addEventListener('drawn', draw)
  draw()
}
