import { about, ago, span } from '../../words/text.ts'
import { write } from '../board/svg.ts'
import { readZone } from './page.ts'

export function updateTimes(root: ParentNode = document): void {
  const now = Date.now()
  const zone = readZone()
  for (const time of root.querySelectorAll<HTMLTimeElement>('time[data-ago], time[data-since]')) {
    const { ago: at, since, short } = time.dataset
    const lasted = short === undefined ? span : about
    write(time, at ? ago(Number(at), now, zone) : lasted(now - Number(since)))
  }
}

export function startTimes(): void {
  setInterval(() => document.hidden || updateTimes(), 1_000)
}
