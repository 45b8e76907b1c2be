import { cookie, emit, onClick, readZone } from './page.ts'

const root = document.documentElement

const isDark = (): boolean =>
  root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches

const own = Intl.DateTimeFormat().resolvedOptions().timeZone

export const looks = {
  theme(): void {
    root.dataset.theme = isDark() ? 'light' : 'dark'
    cookie('theme', root.dataset.theme)
  },
  density(): void {
    root.dataset.density = root.dataset.density === 'compact' ? 'comfortable' : 'compact'
    cookie('density', root.dataset.density)
  },
  zone(): void {
    const named = document.querySelector<HTMLElement>('[data-zones]')?.dataset.zones?.split(' ') ?? []
    const zones = [...new Set(['UTC', own, ...named])]
    const zone = readZone()
    const next = zones[(zones.indexOf(zone) + 1) % zones.length]!
    cookie('zone', encodeURIComponent(next))
    document.querySelector('[data-do="zone"]')?.lastChild?.replaceWith(next)
    emit('look')
  },
}

export function startPreferences(): void {
  onClick('[data-do]', ({ dataset }) => {
    if (Object.hasOwn(looks, dataset.do!)) looks[dataset.do as keyof typeof looks]()
  })
}
