// A message only triggers a refresh, so a lost message only causes a delay.

import { base, hear, tell, watchIdle } from './page.ts'
import { isTailing } from './tail.ts'

/** Milliseconds without input until the page stops listening. */
const LEFT = 15 * 60_000

let source: EventSource | undefined
let heard = ''
let of: string[] | undefined
const idle = watchIdle(LEFT, listen)

export const isHearing = (): boolean => source?.readyState === EventSource.OPEN

type Entry = { job?: number; read?: { job: number }[]; write?: { job: number }[] } | null

function isMeant(data: string): boolean {
  const { channel, message } = JSON.parse(data) as { channel: string; message: Entry }
  if (of === undefined || channel !== '/sidejob/log') return true
  const jobs = [message, ...(message?.read ?? []), ...(message?.write ?? [])].map((one) => String(one?.job))
  return jobs.some((job) => of!.includes(job))
}

function close(): void {
  source?.close()
  source = undefined
  heard = ''
}

function open(channels: string[]): void {
  const wanted = channels.join(' ')
  if (wanted === heard) return
  close()
  if (channels.length === 0) return
  heard = wanted
  source = new EventSource(
    `${base}/v1/subscribe?${channels.map((channel) => `channel=${encodeURIComponent(channel)}`).join('&')}`,
  )
  source.addEventListener('message', ({ data }) => {
    if (isTailing()) tell('said', JSON.parse(data))
    else if (isMeant(data)) tell('heard')
  })
  // The stream does not repeat earlier messages, so the page refreshes when the stream opens.
  source.addEventListener('open', () => tell('heard'))
}

function listen(): void {
  const all = [...document.querySelectorAll<HTMLElement>('[data-listen]')]
  of = all.find(({ dataset }) => dataset.of !== undefined)?.dataset.of?.split(' ')
  const hasLeft = idle() > LEFT
  if (hasLeft && source) tell('say', { say: 'No input for 15 minutes: the page now refreshes less often' })
  open(document.hidden || hasLeft ? [] : [...new Set(all.flatMap(({ dataset }) => dataset.listen!.split(' ')))])
}

export function startListening(): void {
  document.addEventListener('visibilitychange', listen)
  hear('drawn', listen)
  hear('paused', (isPaused) => (isPaused ? close() : listen()))
  setInterval(listen, 60_000)
  listen()
}
