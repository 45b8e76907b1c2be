import { base, tell } from './page.ts'

/** A drag over less than this share of the chart counts as a click. */
const LEAST = 0.02

const partOf = (chart: Element, { clientX }: PointerEvent): number => {
  const { left, width } = chart.getBoundingClientRect()
  return Math.max(0, Math.min(1, (clientX - left) / Math.max(1, width)))
}

function addressOf({ dataset }: SVGSVGElement, parts: readonly [from: number, to: number]): string {
  const [from, to] = [Number(dataset.from), Number(dataset.to)]
  const url = new URL(location.href)
  for (const [i, name] of ['from', 'to'].entries())
    url.searchParams.set(name, String(Math.round(from + parts[i]! * (to - from))))
  return url.href
}

export function startZoom(): void {
  let begun: { chart: SVGSVGElement; part: number; mark: SVGElement } | undefined
  const spanTo = ({ chart, part }: NonNullable<typeof begun>, event: PointerEvent): [number, number] => {
    const here = partOf(chart, event)
    return [Math.min(part, here), Math.max(part, here)]
  }
  document.addEventListener('pointerdown', (event) => {
    const chart = (event.target as Element).closest<SVGSVGElement>('svg[data-from]')
    if (!chart || event.button !== 0) return
    const mark = document.createElementNS('http://www.w3.org/2000/svg', 'rect')
    mark.setAttribute('class', 'f-accent area')
    mark.setAttribute('height', '100%')
    mark.setAttribute('pointer-events', 'none')
    chart.append(mark)
    begun = { chart, part: partOf(chart, event), mark }
  })
  document.addEventListener('pointermove', (event) => {
    if (!begun) return
    const [from, to] = spanTo(begun, event)
    begun.mark.setAttribute('x', `${from * 100}%`)
    begun.mark.setAttribute('width', `${(to - from) * 100}%`)
  })
  document.addEventListener('pointerup', (event) => {
    if (!begun) return
    const parts = spanTo(begun, event)
    begun.mark.remove()
    const to = (event.target as Element).closest<SVGElement>('.hit[data-to]')?.dataset.to
    if (parts[1] - parts[0] >= LEAST) tell('go', addressOf(begun.chart, parts))
    else if (to) location.assign(base + to)
    begun = undefined
  })
}
