import { make, partOf, set } from '../board/svg.ts'
import { addressWith, base, emit } from './page.ts'

/** A drag over less than this share of the chart counts as a click. */
const LEAST = 0.02

function addressOf({ dataset }: SVGSVGElement, parts: readonly [from: number, to: number]): string {
  const [from, to] = [Number(dataset.from), Number(dataset.to)]
  const at = (part: number) => Math.round(from + part * (to - from))
  return addressWith({ from: at(parts[0]), to: at(parts[1]) })
}

export function startZoom(): void {
  let drag: { chart: SVGSVGElement; part: number; mark: SVGElement } | undefined
  const spanTo = ({ chart, part }: NonNullable<typeof drag>, event: PointerEvent): [number, number] => {
    const here = partOf(chart, event)
    return [Math.min(part, here), Math.max(part, here)]
  }
  document.addEventListener('pointerdown', (event) => {
    const chart = (event.target as Element).closest<SVGSVGElement>('svg[data-from]')
    if (!chart || event.button !== 0) return
    const mark = make('rect', { class: 'f-accent area', height: '100%', 'pointer-events': 'none' })
    chart.append(mark)
    drag = { chart, part: partOf(chart, event), mark }
  })
  document.addEventListener('pointermove', (event) => {
    if (!drag) return
    const [from, to] = spanTo(drag, event)
    set(drag.mark, { x: `${from * 100}%`, width: `${(to - from) * 100}%` })
  })
  document.addEventListener('pointerup', (event) => {
    if (!drag) return
    const parts = spanTo(drag, event)
    drag.mark.remove()
    const to = (event.target as Element).closest<SVGElement>('.hit[data-to]')?.dataset.to
    if (parts[1] - parts[0] >= LEAST) emit('go', addressOf(drag.chart, parts))
    else if (to) location.assign(base + to)
    drag = undefined
  })
  // The browser cancels the pointer if the drag scrolls the page.
  document.addEventListener('pointercancel', () => {
    drag?.mark.remove()
    drag = undefined
  })
}
