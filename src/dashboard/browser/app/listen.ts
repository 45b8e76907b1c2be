// A message only triggers a refresh, so a lost message only causes a delay.

import { base, emit, onEvent, watchIdle } from './page.ts'
import { type ChannelMessage, isTailing, showSaid } from './tail.ts'
import { toast } from './toasts.ts'

/** Milliseconds without input until the page stops listening. */
const LEFT = 15 * 60_000

let source: EventSource | undefined
let heard = ''
let of: string[] | undefined
let isPaused = false
const idle = watchIdle(LEFT, listen)

export const isHearing = (): boolean => source?.readyState === EventSource.OPEN

type Entry = { job?: number; read?: { job: number }[]; write?: { job: number }[] } | null

function isMeant({ channel, message }: ChannelMessage<Entry>): boolean {
  if (of === undefined || channel !== '/sidejob/log') return true
  const jobs = [message, ...(message?.read ?? []), ...(message?.write ?? [])].map((one) => String(one?.job))
  return jobs.some((job) => of!.includes(job))
}

function open(channels: string[]): void {
  const wanted = channels.join(' ')
  if (wanted === heard) return
  heard = wanted
  source?.close()
  source = undefined
  if (channels.length === 0) return
  source = new EventSource(
    `${base}/v1/subscribe?${channels.map((channel) => `channel=${encodeURIComponent(channel)}`).join('&')}`,
  )
  source.addEventListener('message', ({ data }) => {
    const said = JSON.parse(data)
    if (isTailing()) showSaid(said)
    else if (isMeant(said)) emit('heard')
  })
  // The stream does not repeat earlier messages, so the page refreshes when the stream opens.
  source.addEventListener('open', () => emit('heard'))
}

function listen(): void {
  const all = [...document.querySelectorAll<HTMLElement>('[data-listen]')]
  of = all.find(({ dataset }) => dataset.of !== undefined)?.dataset.of?.split(' ')
  const hasLeft = idle() > LEFT
  if (hasLeft && source) toast({ say: 'No input for 15 minutes: the page now refreshes less often' })
  const isOff = document.hidden || hasLeft || isPaused
  open(isOff ? [] : [...new Set(all.flatMap(({ dataset }) => dataset.listen!.split(' ')))])
}

export function pauseListening(is: boolean): void {
  isPaused = is
  listen()
}

export function startListening(): void {
  document.addEventListener('visibilitychange', listen)
  onEvent('drawn', listen)
  setInterval(() => {
    // Browsers do not reopen a stream that the server has refused.
    if (source?.readyState === EventSource.CLOSED) heard = ''
    listen()
  }, 60_000)
  listen()
}
