import { about, ago, span } from '../../words/text.ts'
import { readZone } from './page.ts'

export function updateTimes(root: ParentNode = document): void {
  const now = Date.now()
  const zone = readZone()
  for (const time of root.querySelectorAll<HTMLTimeElement>('time[data-ago], time[data-since]')) {
    const { ago: at, since, short } = time.dataset
    const text =
      at === undefined ? (short === undefined ? span : about)(now - Number(since)) : ago(Number(at), now, zone)
    if (time.textContent !== text) time.textContent = text
  }
}

export function startTimes(): void {
  setInterval(() => document.hidden || updateTimes(), 1_000)
}
