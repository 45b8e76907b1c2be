import type { FlowEvent } from '../../../engine/engine.ts'
import { deployName } from '../../words/deploy.ts'
import { barsOf, eventSaid, lastBy, momentOf, type Timeline, timelineOf } from '../../words/replay.ts'
import { about, clock, count, MINUTE } from '../../words/text.ts'
import { addressWith, made, putInUrl, readZone, tell } from '../app/page.ts'
import type { BoardData } from './data.ts'
import { createEvents, type Version, versionsOf } from './events.ts'
import { createLanes, type Range } from './lanes.ts'

/** Milliseconds between requests for new events, and between replayed frames. */
const [ASK, DRAW] = [10_000, 80]
const SPEEDS = [1, 10, 60]

export type Replay = ReturnType<typeof createReplay>
type Shown = { at: number; data: BoardData }

const inUrl = (name: string): number | undefined => {
  const text = new URLSearchParams(location.search).get(name)
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

const graphAt = (versions: readonly Version[], at: number) =>
  (versions.find((one) => one.at <= at) ?? versions.at(-1))?.graph

export function createReplay(
  box: HTMLElement,
  now: () => { data: BoardData; at: number },
  show: (moment: Shown | undefined) => void,
) {
  const { job, keep } = box.dataset as { job: string; keep: string }
  let zone = readZone()
  const lanes = createLanes(box)
  const events = createEvents(Number(job))
  const said = box.querySelector<HTMLElement>('.event')!
  let timeline: Timeline = timelineOf([])
  let versions: Version[] = []
  let start = inUrl('play')
  let at = start ?? inUrl('at')
  let speed = SPEEDS.find((one) => one === inUrl('speed')) ?? 10
  let playing: number | undefined
  let range: Range = { from: 0, to: 1 }
  let [asked, hash] = [0, '']

  const within = (at: number): number => Math.max(range.from, Math.min(range.to, at))

  const moment = (): Shown | undefined => {
    const { data } = now()
    const graph = at === undefined ? undefined : graphAt(versions, at)
    if (at === undefined || !graph) return undefined
    return { at, data: { ...data, ...momentOf(timeline, { graph, nodes: data.nodes, wires: data.wires }, at) } }
  }

  function say(event: FlowEvent | undefined): void {
    const { who, did } = event ? eventSaid(event) : { who: 'Nothing', did: 'has happened since recording started' }
    said.replaceChildren(event ? `${clock(event.at, zone)} · ` : '', made('b', {}, who), ` ${did}`)
  }

  function pressed(): void {
    for (const one of box.querySelectorAll<HTMLElement>('[data-replay]')) {
      const { replay: what } = one.dataset
      const isOn = { live: at === undefined, replay: at !== undefined, [`x${speed}`]: true }[what!]
      if (one.hasAttribute('aria-pressed')) one.setAttribute('aria-pressed', String(isOn === true))
      if (what === 'play') one.querySelector('.word')!.textContent = playing === undefined ? 'Play' : 'Pause'
    }
    const moment = at ?? range.to
    const { from, to } = range
    for (const [name, value] of Object.entries({ valuemin: from, valuemax: to, valuenow: moment }))
      lanes.slider.setAttribute(`aria-${name}`, String(Math.round(value)))
    lanes.slider.setAttribute('aria-valuetext', at === undefined ? 'now' : clock(at, zone))
  }

  function drawMoment(): void {
    lanes.at(at ?? range.to)
    say(events.all[at === undefined ? events.all.length - 1 : lastBy(events.all, at)])
    show(moment())
  }

  function drawAll(): void {
    const { data, at: clockNow } = now()
    const first = events.all[0]?.at ?? clockNow
    range = { from: Math.max(clockNow - Number(keep), Math.min(first, clockNow - MINUTE)), to: clockNow }
    const changes = versions.map((one) => ({ at: one.at, text: `graph changed${one.by ? ` by ${one.by}` : ''}` }))
    const deploys = data.deploys.map((one) => ({ at: one.at, text: deployName(one) }))
    const marks = [...changes, ...deploys].filter((one) => one.at > range.from)
    const rows = data.nodes.map(({ name }) => ({ name, bars: barsOf(timeline.moves.get(name) ?? []) }))
    lanes.draw(rows, marks, range, (moment) => clock(moment, zone).slice(0, 5))
    box.querySelector('.kept')!.textContent =
      `Last ${about(range.to - range.from)}, ${count(events.all.length)}${events.isAll ? '' : ' newest'} events`
    drawMoment()
    pressed()
  }

  async function ask(): Promise<void> {
    asked = Date.now()
    const { hash: fresh = '' } = now().data
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
        play: undefined,
        speed: at === undefined || speed === 10 ? undefined : speed,
      })
    drawMoment()
    pressed()
  }

  function play(): void {
    if (playing !== undefined) {
      stop()
      go(at)
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
      if (at >= range.to) {
        stop()
        return go(undefined)
      }
      playing = requestAnimationFrame(frame)
    }
    playing = requestAnimationFrame(frame)
    pressed()
  }

  function step(by: 1 | -1): void {
    stop()
    const here = at === undefined ? events.all.length : lastBy(events.all, at)
    const next = at === undefined ? here - 1 : by > 0 ? here + 1 : events.all[here]?.at === at ? here - 1 : here
    const event = events.all[next]
    if (event) go(event.at)
  }

  async function copyLink(): Promise<void> {
    const link = addressWith({ at: undefined, play: Math.round(at ?? range.from), speed })
    await navigator.clipboard.writeText(location.origin + link)
    tell('say', { say: 'Link copied. It plays from this moment.' })
  }

  const acts: Record<string, () => void> = {
    play,
    link: () => void copyLink(),
    back: () => step(-1),
    fwd: () => step(1),
    live: () => {
      stop()
      go(undefined)
    },
    replay: () => go(at ?? range.to),
  }
  for (const one of SPEEDS)
    acts[`x${one}`] = () => {
      speed = one
      if (at !== undefined) putInUrl({ speed: one === 10 ? undefined : one })
      pressed()
    }

  const keys: Record<string, (part: number) => number | undefined> = {
    ArrowLeft: (part) => (at ?? range.to) - part,
    ArrowRight: (part) => (at ?? range.to) + part,
    Home: () => range.from,
    End: () => undefined,
  }

  function listen(): void {
    box.addEventListener('click', ({ target }) => {
      const what = (target as Element).closest<HTMLElement>('[data-replay]')?.dataset.replay
      if (what !== undefined) acts[what]?.()
    })
    lanes.slider.addEventListener('pointerdown', (event) => {
      stop()
      lanes.slider.setPointerCapture(event.pointerId)
      go(lanes.momentAt(event), false)
    })
    lanes.slider.addEventListener('pointermove', (event) => event.buttons > 0 && go(lanes.momentAt(event), false))
    lanes.slider.addEventListener('pointerup', () => go(at))
    lanes.slider.addEventListener('keydown', (event) => {
      if (!Object.hasOwn(keys, event.key)) return
      event.preventDefault()
      stop()
      go(keys[event.key]!((range.to - range.from) / 100))
    })
  }

  listen()
  void ask()
  return {
    look(): void {
      const isElsewhere = zone !== readZone()
      zone = readZone()
      if (Date.now() - asked >= ASK) void ask()
      else if (isElsewhere) drawAll()
      else show(moment())
    },
    at: () => at && Math.round(at),
  }
}
