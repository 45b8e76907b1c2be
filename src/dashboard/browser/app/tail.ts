import { clock } from '../../words/text.ts'
import { made, readZone } from './page.ts'

/** Maximum lines on the page, and maximum characters of a line. */
const [MOST, LONGEST] = [200, 400]

export type ChannelMessage<Message = unknown> = { channel: string; message: Message }

const list = (): HTMLElement | null => document.getElementById('tail')

export const isTailing = (): boolean => list() !== null

export function showSaid({ channel, message }: ChannelMessage): void {
  const line = made(
    'li',
    {},
    made('time', {}, clock(Date.now(), readZone())),
    made('span', { className: 'lv' }),
    made('span', { className: 'clip' }, `${channel} ${JSON.stringify(message).slice(0, LONGEST)}`),
  )
  list()!.prepend(line)
  if (list()!.childElementCount > MOST) list()!.lastElementChild!.remove()
}
