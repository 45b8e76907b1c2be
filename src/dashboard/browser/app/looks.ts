import { cookie, emit, onClick, readZone } from './page.ts'

const root = document.documentElement

const isDark = (): boolean =>
  root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches

function set(name: 'theme' | 'density', value: string): void {
  root.dataset[name] = value
  cookie(name, value)
}

export const looks = {
  theme: () => set('theme', isDark() ? 'light' : 'dark'),
  density: () => set('density', root.dataset.density === 'compact' ? 'comfortable' : 'compact'),
  zone(): void {
    const named = document.querySelector<HTMLElement>('[data-zones]')?.dataset.zones?.split(' ') ?? []
    const zones = [...new Set(['UTC', Intl.DateTimeFormat().resolvedOptions().timeZone, ...named])]
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
