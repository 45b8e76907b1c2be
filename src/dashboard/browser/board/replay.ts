import { MINUTE } from '../../../core/units.ts'
import type { FlowEvent } from '../../../engine/engine.ts'
import { deployName } from '../../words/deploy.ts'
import { barsOf, eventText, lastBy, momentOf, timelineOf } from '../../words/replay.ts'
import { about, clock, count, dayOf } from '../../words/text.ts'
import { addressWith, emit, made, putInUrl, readZone } from '../app/page.ts'
import { type BoardData, serverNow } from './data.ts'
import { createEvents, type Version, versionsOf } from './events.ts'
import { createLanes, type Mark, type Range } from './lanes.ts'
import { onDrag, set } from './svg.ts'

/** Milliseconds between requests for new events, and between replayed frames. */
const [ASK, DRAW] = [10_000, 80]
const SPEEDS = [1, 10, 60]

export type Replay = ReturnType<typeof createReplay>
export type Moment = { at: number; data: BoardData }

const inUrl = (name: string): number | undefined => {
  const text = new URLSearchParams(location.search).get(name)
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

const graphAt = (versions: readonly Version[], at: number) =>
  (versions.find((one) => one.at <= at) ?? versions.at(-1))?.graph

const marksOf = (versions: readonly Version[], { deploys }: BoardData): Mark[] => [
  ...versions.map(({ at, by }) => ({ at, text: `graph changed${by ? ` by ${by}` : ''}` })),
  ...deploys.map((one) => ({ at: one.at, text: deployName(one) })),
]

function adjacentEvent(events: readonly FlowEvent[], at: number | undefined, by: 1 | -1): FlowEvent | undefined {
  if (at === undefined) return events.at(-1)
  const here = lastBy(events, at)
  if (by > 0) return events[here + 1]
  return events[here]?.at === at ? events[here - 1] : events[here]
}

function showEvent(line: HTMLElement, event: FlowEvent | undefined, zone: string): void {
  const { who, did } = event ? eventText(event) : { who: 'Nothing', did: 'has happened since recording started' }
  line.replaceChildren(event ? `Last event ${clock(event.at, zone)}: ` : '', made('b', {}, who), ` ${did}`)
}

function showButtons(box: HTMLElement, pressed: readonly string[], isPlaying: boolean): void {
  for (const one of box.querySelectorAll<HTMLElement>('[data-replay]')) {
    const { replay = '' } = one.dataset
    if (one.hasAttribute('aria-pressed')) set(one, { 'aria-pressed': String(pressed.includes(replay)) })
    if (replay !== 'play') continue
    one.querySelector('.word')!.textContent = isPlaying ? 'Pause' : 'Play'
    set(one.querySelector('use')!, { href: isPlaying ? '#pause' : '#play' })
  }
}

export function createReplay(box: HTMLElement, live: () => BoardData, show: (moment: Moment | undefined) => void) {
  const { job, keep } = box.dataset as { job: string; keep: string }
  let zone = readZone()
  const lanes = createLanes(box)
  const events = createEvents(Number(job))
  const said = box.querySelector<HTMLElement>('.event')!
  const head = document.querySelector<HTMLElement>('[data-island="moment"]')!
  let timeline = timelineOf([])
  let versions: Version[] = []
  let start = inUrl('play')
  let at = start ?? inUrl('at')
  let speed = SPEEDS.find((one) => one === inUrl('speed')) ?? 10
  let playing: number | undefined
  let range: Range = { from: 0, to: 1 }
  let [asked, hash] = [0, '']

  const within = (at: number): number => Math.max(range.from, Math.min(range.to, at))
  const here = (): number => at ?? range.to

  const moment = (): Moment | undefined => {
    if (at === undefined) return undefined
    const data = live()
    const graph = graphAt(versions, at)
    return graph && { at, data: { ...data, ...momentOf(timeline, { ...data, graph }, at) } }
  }

  function showState(): void {
    showButtons(box, [at === undefined ? 'live' : 'replay', `x${speed}`], playing !== undefined)
    set(lanes.slider, {
      'aria-valuemin': Math.round(range.from),
      'aria-valuemax': Math.round(range.to),
      'aria-valuenow': Math.round(here()),
      'aria-valuetext': at === undefined ? 'now' : clock(at, zone),
    })
  }

  function drawMoment(): void {
    lanes.at(here())
    const time = at === undefined ? '' : clock(at, zone)
    showEvent(said, events.all[lastBy(events.all, at ?? Infinity)], zone)
    if (time) said.prepend(made('b', {}, time), ' · ')
    head.textContent = time && `Replay of ${dayOf(at!, zone)}, ${time}`
    show(moment())
  }

  function drawAll(): void {
    const [data, now] = [live(), serverNow()]
    const first = events.all[0]?.at ?? now
    range = { from: Math.max(now - Number(keep), Math.min(first, now - MINUTE)), to: now }
    const marks = marksOf(versions, data).filter((one) => one.at > range.from)
    const rows = data.nodes.map((node) => {
      const moves = timeline.moves.get(node.name) ?? []
      return { name: node.name, bars: barsOf(moves, node, now) }
    })
    lanes.draw(rows, marks, range, (moment) => clock(moment, zone).slice(0, 5))
    box.querySelector('.kept')!.textContent =
      `Last ${about(range.to - range.from)}, ${count(events.all.length)}${events.isAll ? '' : ' newest'} events`
    drawMoment()
    showState()
  }

  async function ask(): Promise<void> {
    asked = Date.now()
    const { hash: fresh = '' } = live()
    try {
      if (fresh !== hash || versions.length === 0) versions = await versionsOf(Number(job))
      hash = fresh
      await events.more()
      timeline = timelineOf(events.all)
    } catch {
      said.textContent = 'The recording is not available now'
      return
    }
    drawAll()
    if (start === undefined) return
    at = within(start)
    start = undefined
    play()
  }

  function stop(): void {
    if (playing !== undefined) cancelAnimationFrame(playing)
    playing = undefined
  }

  function go(to: number | undefined, isLasting = true): void {
    at = to === undefined ? undefined : within(to)
    if (isLasting)
      putInUrl({
        at: at && Math.round(at),
        board: '1',
        play: undefined,
        speed: at === undefined || speed === 10 ? undefined : speed,
      })
    drawMoment()
    showState()
  }

  function jump(to: number | undefined): void {
    stop()
    go(to)
  }

  function play(): void {
    if (playing !== undefined) {
      jump(at)
      return
    }
    if (at === undefined || at >= range.to) at = range.from
    let [last, drawn] = [performance.now(), 0]
    const frame = (time: number) => {
      at = Math.min(range.to, at! + (time - last) * speed)
      last = time
      if (time - drawn >= DRAW) {
        drawn = time
        drawMoment()
      } else lanes.at(at)
      if (at >= range.to) return jump(undefined)
      playing = requestAnimationFrame(frame)
    }
    playing = requestAnimationFrame(frame)
    showState()
  }

  function step(by: 1 | -1): void {
    stop()
    const event = adjacentEvent(events.all, at, by)
    if (event) go(event.at)
  }

  async function copyLink(): Promise<void> {
    const link = addressWith({ at: undefined, play: Math.round(at ?? range.from), speed })
    await navigator.clipboard.writeText(location.origin + link)
    emit('say', { say: 'Link copied. It plays from this moment.' })
  }

  const acts: Record<string, () => void> = {
    play,
    link: () => void copyLink(),
    back: () => step(-1),
    fwd: () => step(1),
    live: () => jump(undefined),
    replay: () => go(here()),
  }
  for (const one of SPEEDS)
    acts[`x${one}`] = () => {
      speed = one
      if (at !== undefined) putInUrl({ speed: one === 10 ? undefined : one })
      showState()
    }

  const keys: Record<string, (part: number) => number | undefined> = {
    ArrowLeft: (part) => here() - part,
    ArrowRight: (part) => here() + part,
    Home: () => range.from,
    End: () => undefined,
  }

  box.addEventListener('click', ({ target }) => {
    const what = (target as Element).closest<HTMLElement>('[data-replay]')?.dataset.replay
    if (what !== undefined) acts[what]?.()
  })
  onDrag(lanes.slider, (event) => {
    stop()
    go(lanes.momentAt(event), false)
  })
  lanes.slider.addEventListener('pointerup', () => go(at))
  lanes.slider.addEventListener('keydown', (event) => {
    if (!Object.hasOwn(keys, event.key)) return
    event.preventDefault()
    jump(keys[event.key]!((range.to - range.from) / 100))
  })
  void ask().then(() => {
    if (at !== undefined) box.scrollIntoView({ block: 'center' })
  })
  return {
    look(): void {
      const isElsewhere = zone !== readZone()
      zone = readZone()
      if (Date.now() - asked >= ASK) void ask()
      else if (isElsewhere) drawAll()
      else show(moment())
    },
    at: () => at && Math.round(at),
    stop,
  }
}
