import { clock } from '../../words/text.ts'
import { hear, made, readZone } from './page.ts'

/** Lines on the page, and characters in each. */
const [MOST, LONGEST] = [200, 400]

type Said = { channel: string; message: unknown }

const list = (): HTMLElement | null => document.getElementById('tail')

export const isTailing = (): boolean => list() !== null

function sift(line: HTMLElement): void {
  const wanted = document.querySelector<HTMLInputElement>('#sift')?.value.toLowerCase() ?? ''
  line.hidden = !line.textContent!.toLowerCase().includes(wanted)
}

function show({ channel, message }: Said): void {
  const line = made(
    'li',
    {},
    made('time', {}, clock(Date.now(), readZone())),
    made('span', { className: 'lv' }),
    made('span', { className: 'clip' }, `${channel} ${JSON.stringify(message).slice(0, LONGEST)}`),
  )
  sift(line)
  list()!.prepend(line)
  if (list()!.childElementCount > MOST) list()!.lastElementChild!.remove()
}

export function startTail(): void {
  hear('said', (said) => show(said as Said))
  document.addEventListener('input', ({ target }) => {
    if ((target as Element).id === 'sift') for (const line of list()!.children) sift(line as HTMLElement)
  })
}
