import type { Bar } from '../../words/replay.ts'
import { made } from '../app/page.ts'
import { make, partOf, set } from './svg.ts'

export type Mark = { at: number; text: string }
export type Range = { from: number; to: number }
type Lane = { name: string; bars: readonly Bar[] }

const [WIDE, HIGH, BAR] = [1_000, 15, 9] as const
const LEAST = 2
/** Pixels for the text of a mark. */
const TEXT = 160

const xOf = ({ from, to }: Range, at: number): number =>
  Math.round(Math.max(0, Math.min(WIDE, ((at - from) / Math.max(1, to - from)) * WIDE)) * 10) / 10

/** One path for all bars of a kind, so that a thousand runs cost as much as one. */
const pathOf = (bars: readonly Bar[], range: Range, row: number): string =>
  bars
    .map(({ from, to }) => {
      const x = xOf(range, from)
      const width = Math.max(LEAST, xOf(range, to) - x)
      return `M${x} ${row * HIGH + 2}h${width}v${BAR}h-${width}z`
    })
    .join('')

function together(marks: readonly Mark[], range: Range, near: number): Mark[] {
  const found: Mark[] = []
  for (const { at, text } of [...marks].sort((a, b) => a.at - b.at)) {
    const last = found.at(-1)
    if (!last || xOf(range, at) - xOf(range, last.at) > near) found.push({ at, text })
    else if (!last.text.split(', ').includes(text)) last.text += `, ${text}`
  }
  return found
}

const texts = (names: readonly string[]): HTMLElement[] =>
  names.map((name) => made('span', { className: 'clip', title: name }, name))

export function createLanes(box: HTMLElement) {
  const [names, axis] = [box.querySelector('.lnames')!, box.querySelector('.laxis')!]
  const slider = box.querySelector<HTMLElement>('.ltime')!
  const svg = slider.querySelector('svg')!
  const line = make('path', { class: 's-accent cursor' })
  let range: Range = { from: 0, to: 1 }

  function tick(at: number, text: string, kind = ''): SVGElement {
    const x = (xOf(range, at) / WIDE) * 100
    const anchor = x < 6 ? 'start' : x > 94 ? 'end' : 'middle'
    return make('text', { class: `t11 ${kind}`, x: `${x}%`, y: 12, 'text-anchor': anchor }, text)
  }

  return {
    draw(lanes: readonly Lane[], marks: readonly Mark[], over: Range, clock: (at: number) => string): void {
      range = over
      names.replaceChildren(...texts(lanes.map(({ name }) => name)))
      set(svg, { viewBox: `0 0 ${WIDE} ${lanes.length * HIGH}`, height: lanes.length * HIGH })
      const bars = lanes.flatMap(({ bars: all }, row) =>
        (['done', 'running', 'failed'] as const).map((kind) => {
          const own = all.filter((bar) => bar.kind === kind)
          return make('path', { class: `f-${kind}`, d: pathOf(own, range, row) })
        }),
      )
      const lines = marks.map(({ at }) =>
        make('path', { class: 's-ink3 mark', d: `M${xOf(range, at)} 0V${lanes.length * HIGH}` }),
      )
      svg.replaceChildren(...bars, ...lines, line)
      const near = (TEXT / Math.max(1, slider.clientWidth)) * WIDE
      const labels = together(marks, range, near).map(({ at, text }) => ({ at, text: `${clock(at)} ${text}` }))
      const isFree = (end: number) => labels.every(({ at }) => Math.abs(xOf(range, at) - xOf(range, end)) > near)
      const ends = [range.from, range.to].filter(isFree).map((at) => ({ at, text: clock(at) }))
      axis.replaceChildren(...[...ends, ...labels].sort((a, b) => a.at - b.at).map(({ at, text }) => tick(at, text)))
    },
    at(at: number): void {
      set(line, { d: `M${xOf(range, at)} 0V10000` })
    },
    momentAt: (event: MouseEvent): number => range.from + partOf(svg, event) * (range.to - range.from),
    slider,
  }
}
