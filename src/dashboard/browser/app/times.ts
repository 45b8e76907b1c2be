import { about, ago, span } from '../../words/text.ts'
import { write } from '../board/svg.ts'
import { readZone } from './page.ts'

export function updateTimes(root: ParentNode = document): void {
  const now = Date.now()
  const zone = readZone()
  for (const time of root.querySelectorAll<HTMLTimeElement>('time[data-ago], time[data-since]')) {
    const { ago: at, since, short } = time.dataset
    const text =
      at === undefined ? (short === undefined ? span : about)(now - Number(since)) : ago(Number(at), now, zone)
    write(time, text)
  }
}

export function startTimes(): void {
  setInterval(() => document.hidden || updateTimes(), 1_000)
}
