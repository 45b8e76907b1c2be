import { type Chunk, htmlOf, namesIn, type Patch, patched } from '../../words/chunks.ts'
import { about, clock, many, span } from '../../words/text.ts'
import { write } from '../board/svg.ts'
import { isHearing, pauseListening } from './listen.ts'
import { take, takeParts } from './morph.ts'
import { button, emit, logIn, made, onClick, onEvent, parsed, readZone, watchIdle } from './page.ts'

const [SOON, LATER, SELDOM, FAST] = [60_000, 600_000, 60_000, 2_000]
/** Milliseconds between refreshes while listening, and minimum milliseconds between any two refreshes. */
const [HEARING, AT_MOST_EVERY] = [30_000, 1_000]
/** A page drawn by a script is reloaded as a whole after this many milliseconds. */
const WHOLE = 30_000
const retries = [1_000, 2_000, 5_000, 10_000]

let every = 0
let isPaused = false
let failures = 0
/** The number of refreshes. */
let looks = 0
let chunks: Chunk[] = []
let tag: string | undefined
let timer: ReturnType<typeof setTimeout> | undefined
let lookedAt = 0
let wholeAt = Date.now()
/** Time of the shown state. */
let since = Date.now()
/** Time of a refresh that a message has requested. */
let due: number | undefined
/** The user's last action. */
let asked: string | undefined
/** The line about the end of the shown job. */
let endLine: string | undefined

const idle = watchIdle(SOON, plan)

const pageOf = (): string => location.pathname + location.search

let shown = pageOf()

const dot = (): HTMLElement | null => document.getElementById('live')

type Kind = 'live' | 'slower' | 'paused' | 'cut'

/** Phones show `text` without `news`. */
function sign(kind: Kind, text: string, news = ''): void {
  const live = dot()
  if (!live) return
  live.className = `live ${kind}`
  write(live.querySelector('.word')!, text)
  live.title = costs(kind)
  live.querySelector('.news')!.textContent = news
}

function pause(): number {
  if (failures > 0) return retries[Math.min(failures, retries.length) - 1]!
  if (isHearing()) return Math.max(HEARING, every)
  if (idle() < SOON) return document.querySelector('.soon') ? FAST : every
  return idle() < LATER ? Math.max(10_000, every) : SELDOM
}

function costs(kind: Kind): string {
  if (kind === 'paused') return 'Paused: sends no Redis commands. Click to resume (p)'
  const how = kind === 'live' && isHearing() ? 'Updates at each change, with at most ' : 'At most '
  return `${how}${many(Number(dot()?.dataset.commands ?? 0), 'command')} every ${about(pause())}. Click to pause (p)`
}

function plan(): void {
  clearTimeout(timer)
  if (isPaused) sign('paused', 'Paused')
  if (every === 0 || isPaused || document.hidden) return
  const wait = Math.min(pause(), Math.max(0, (due ?? Number.POSITIVE_INFINITY) - Date.now()))
  const isSlower = wait > every && !isHearing()
  if (failures === 0) {
    if (isSlower) sign('slower', 'Slower')
    else sign('live', 'Live', isHearing() ? '' : `· every ${about(pause())}`)
  }
  timer = setTimeout(() => void look(), wait)
}

const isHeld = (): boolean =>
  document.querySelector('dialog[open], details.more[open]') !== null ||
  (document.activeElement instanceof HTMLElement &&
    document.activeElement.closest('#main form input, #main form textarea') !== null &&
    !document.activeElement.matches('.check'))

const timeOf = (at: number): string => clock(at, readZone())

function showLine(text: string): HTMLElement {
  document.querySelector('.gone')?.remove()
  const line = made('p', { className: 'gone', role: 'status' }, text)
  document.getElementById('main')!.prepend(line)
  return line
}

function showGone(): void {
  clearTimeout(timer)
  every = 0
  showLine(`This no longer exists. The page shows the state at ${timeOf(since)}.`)
  sign('paused', 'Gone')
}

const headOf = (): DOMStringMap => ({ ...document.querySelector<HTMLElement>('.jobhead')?.dataset })

function showEnded(was: DOMStringMap): void {
  const { job, status, ended } = headOf()
  if (job !== was.job || !ended) endLine = undefined
  else if (was.ended !== ended) {
    const isRetry = asked === 'retry'
    const again = isRetry && status === 'failed' ? ' again' : ''
    const what = isRetry ? 'Your retry' : 'It ended while this page was open:'
    endLine = `${what} ${status}${again} at ${timeOf(Number(ended))}.`
    asked = undefined
  }
  const line = document.querySelector('.gone')
  if (!endLine) line?.remove()
  else if (line?.textContent !== endLine) showLine(endLine)
}

function showCut(why: string): void {
  const line = showLine(`${why}. This page shows the state at ${timeOf(since)}. `)
  line.append(button('Retry', 'small', () => look(true)))
}

async function reasonOf(answer: Response): Promise<string> {
  const said = parsed(await answer.text()).querySelector('.page-error p')
  const message = said?.firstChild?.textContent?.trim()
  return message ? `${message} (${said!.querySelector('code')!.textContent})` : `The server returned ${answer.status}`
}

const briefOf = (): string | undefined => document.querySelector<HTMLElement>('[data-brief]')?.dataset.brief

/** The script of the page draws `data`. `parts` is HTML from the server. */
type LiveAnswer = { as: string; now: number; data: unknown; parts: Record<string, string> }

async function show(answer: Response, force: boolean, known: Chunk[]): Promise<void> {
  if (!answer.headers.get('content-type')?.includes('json')) return take(await answer.text(), force)
  const answered: Partial<LiveAnswer> & { patch?: Patch } = await answer.json()
  if (answered.patch) return take(htmlOf((chunks = patched(known, answered.patch))), force)
  if (answered.as !== briefOf()) return look(true)
  takeParts(answered.parts!)
  emit('data', answered)
}

async function look(force = false): Promise<void> {
  if (!force && isHeld()) {
    if (due !== undefined) due = Date.now() + AT_MOST_EVERY
    return plan()
  }
  due = undefined
  lookedAt = Date.now()
  const own = ++looks
  try {
    const isBrief = !force && briefOf() !== undefined && Date.now() - wholeAt < WHOLE
    const known = chunks
    const headers: Record<string, string> = {
      'x-live': namesIn(known) || '1',
      accept: isBrief ? 'application/json' : 'text/html',
    }
    if (tag && !force) headers['if-none-match'] = tag
    const { href } = location
    const answer = await fetch(href, { headers, cache: 'no-store' })
    // A later refresh shows the effect of an action that this answer may lack.
    if (own !== looks) return
    if (location.href !== href) return plan()
    if (answer.status === 401) return logIn()
    if (answer.status >= 500) throw new Error(await reasonOf(answer))
    if (answer.status === 404) return showGone()
    failures = 0
    since = Date.now()
    tag = answer.headers.get('etag') ?? undefined
    document.body.classList.remove('stale')
    const was = headOf()
    if (!isBrief) wholeAt = Date.now()
    if (answer.status !== 304) await show(answer, force, known)
    showEnded(was)
  } catch (error) {
    if (own !== looks) return
    console.warn('this page could not be refreshed', error)
    failures += 1
    document.body.classList.add('stale')
    showCut(error instanceof TypeError ? 'No response' : (error as Error).message)
    sign('cut', 'No connection', ` for ${span(Date.now() - since)}; showing the state at ${timeOf(since)}`)
  }
  plan()
}

async function go(url: string): Promise<void> {
  history.pushState(null, '', url)
  shown = pageOf()
  tag = undefined
  await look(true)
  begin()
}

function lookSoon(): void {
  if (every === 0) return
  due ??= Math.max(Date.now(), lookedAt + AT_MOST_EVERY)
  plan()
}

export function togglePause(): void {
  isPaused = !isPaused
  pauseListening(isPaused)
  if (isPaused) plan()
  else void look(true)
}

function begin(): void {
  every = Number(dot()?.dataset.every ?? 0)
  plan()
}

export function startLive(): void {
  onClick('#live', togglePause)
  document.addEventListener('visibilitychange', () =>
    document.hidden ? clearTimeout(timer) : every > 0 && !isPaused && void look(),
  )
  addEventListener('popstate', () => pageOf() !== shown && location.reload())
  onEvent('acted', (act) => (asked = String(act)))
  onEvent('look', () => void look(true))
  onEvent('go', (url) => void go(String(url)))
  onEvent('heard', lookSoon)
  begin()
}
