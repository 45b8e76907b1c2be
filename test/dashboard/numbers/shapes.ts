import type { Page } from 'playwright-core'
import { columnsOf, counted, type Facts, maximaOf, openIn, waitingIn } from './facts.ts'
import { slicesOf } from './messages.ts'
import { inOrder } from './queues.ts'
import { sum } from './words.ts'

const sharesOf = (values: readonly number[]): number[] => values.map((one) => one / Math.max(1, ...values))

/** Heights of bars. A bar with the class `f-line2` has a height, but shows the value 0. */
const barsOf = async (page: Page, selector: string, bar = 'rect'): Promise<number[][]> => {
  const found = await page
    .locator(selector)
    .evaluateAll(
      (charts, bar) =>
        charts.map((chart) =>
          [...chart.querySelectorAll<SVGRectElement>(bar)].map((bar) =>
            bar.classList.contains('f-line2') ? 0 : bar.height.baseVal.value,
          ),
        ),
      bar,
    )
  return found.map((heights) => sharesOf(heights))
}

const linesOf = async (page: Page, selector: string): Promise<number[][]> => {
  const paths = await page.locator(selector).evaluateAll((lines) => lines.map((line) => line.getAttribute('d')!))
  return paths.map((path) =>
    path
      .slice(1)
      .split('L')
      .map((point) => (31 - Number(point.split(' ')[1])) / 27),
  )
}

/** Numbers are shares of the whole height or width, not pixels. */
type Shape = { path: string; read: (page: Page) => Promise<unknown>; expected: (facts: Facts) => unknown }

const QUARTER = 900_000

function quartersOf(facts: Facts, minutes: readonly { at: number; count: number }[]): number[] {
  const from = (Math.floor(facts.now / QUARTER + 1) - 24) * QUARTER
  const within = (i: number) => minutes.filter(({ at }) => Math.floor((at - from) / QUARTER) === i)
  return Array.from({ length: 24 }, (_, i) => sum(within(i).map(({ count }) => count)))
}

const hoursOf = (hours: readonly { at: number; runs: number }[] = []): number[] =>
  Array.from({ length: 24 }, (_, i) => hours.find(({ at }) => new Date(at).getUTCHours() === i)?.runs ?? 0)

const texts = (page: Page, selector: string) =>
  page.locator(selector).evaluateAll((all) => all.map((one) => one.textContent!.trim()))

export const shapes: Record<string, Shape> = {
  'lines of tiles': {
    path: '/',
    read: (page) => linesOf(page, '.tiles .spark .ln'),
    expected(facts) {
      const sums = columnsOf(facts)
      const waits = maximaOf(facts)
      return [
        waits,
        ...(['runs', 'completed', 'failed'] as const).map((name) => sums.map((one) => one[name])),
        waits,
      ].map(sharesOf)
    },
  },
  'ends of each queue': {
    path: '/queues',
    read: async (page) => {
      const names = await texts(page, 'main tbody td:first-child b')
      const bars = await barsOf(page, 'main tbody td.wide svg', 'rect:not(.f-failed)')
      return Object.fromEntries(names.map((name, i) => [name, bars[i]!.map((share) => Math.max(0.1, share))]))
    },
    expected: (facts) =>
      Object.fromEntries(
        facts.queues.map(({ name }) => {
          const ends = columnsOf(facts, name, 24).map(({ completed, failed }) => completed + failed)
          return [name, sharesOf(ends).map((share) => Math.max(0.1, share))]
        }),
      ),
  },
  'failures of each queue': {
    path: '/queues',
    read: (page) =>
      page
        .locator('main tbody td.wide svg')
        .evaluateAll((charts) =>
          charts.map((chart) =>
            [...chart.querySelectorAll<SVGRectElement>('.f-failed')].map((bar) => bar.height.baseVal.value / 18),
          ),
        ),
    expected: (facts) =>
      inOrder(facts).map(({ name }) => {
        const columns = columnsOf(facts, name, 24)
        const most = Math.max(...columns.map(({ completed, failed }) => completed + failed))
        return columns.flatMap(({ failed }) => (failed > 0 ? Math.max(1.5 / 18, failed / most) : []))
      }),
  },
  'failures of each kind': {
    path: '/jobs?status=failed',
    read: (page) => barsOf(page, '.kinds td.wide svg'),
    expected: (facts) => facts.errors.map(({ minutes = [] }) => sharesOf(quartersOf(facts, minutes))),
  },
  'runs of a class by the hour': {
    path: '/workers/default/charge',
    read: async (page) => (await barsOf(page, '.body.row svg', 'rect:not(.f-failed)'))[0],
    expected: (facts) =>
      sharesOf(hoursOf(facts.classes.find((one) => one.queue === 'default' && one.class === 'charge')!.hours)),
  },
  'failed runs of a class by the hour': {
    path: '/workers/default/charge',
    read: (page) =>
      page
        .locator('.body.row rect.f-failed')
        .evaluateAll((bars) => bars.map((bar) => (bar as SVGRectElement).height.baseVal.value / 18)),
    expected: (facts) => {
      const { hours = [] } = facts.classes.find((one) => one.queue === 'default' && one.class === 'charge')!
      const most = Math.max(...hours.map(({ runs }) => runs))
      return hours
        .filter(({ errors }) => errors > 0)
        .toSorted((a, b) => new Date(a.at).getUTCHours() - new Date(b.at).getUTCHours())
        .map(({ errors }) => Math.max(1.5 / 18, errors / most))
    },
  },
  'entries of the log': {
    path: '/log',
    read: (page) =>
      page
        .locator('.plot a')
        .evaluateAll((all) =>
          all.map((bar) =>
            [...bar.querySelectorAll('rect:not(.hit)')].map((part) => [
              part.getAttribute('class'),
              Number(part.getAttribute('height')) / 45,
            ]),
          ),
        ),
    expected({ log }) {
      const slices = slicesOf(log.entries)
      const most = Math.max(...slices.map(({ of }) => of.length))
      const tones = { error: 'f-failed', warn: 'f-suspended', info: 'f-queued' }
      return slices.map(({ of }) =>
        Object.entries(tones).flatMap(([level, tone]) => {
          const n = of.filter((one) => one.level === level).length
          return n > 0 ? [[tone, Math.max(1.5 / 45, n / most)]] : []
        }),
      )
    },
  },
  'open lanes': {
    path: '/queues',
    read: (page) =>
      page
        .locator('main .lanes')
        .evaluateAll((all) =>
          all.map((one) => [one.querySelectorAll('.on').length, one.querySelectorAll('.pip').length]),
        ),
    expected: (facts) =>
      inOrder(facts)
        .filter(({ name: queue, paused, lanes }) => {
          const served = waitingIn(facts, { queue }).pull + counted(facts, { queue, status: 'running' })
          return !paused && (lanes > 0 || served === 0)
        })
        .map(({ lanes, maxLanes }) => [lanes, Math.min(12, maxLanes)]),
  },
  'slots of limits': {
    path: '/limits',
    read: (page) =>
      page
        .locator('.limit > .line .bar:has(.g)')
        .evaluateAll((all) => all.map((one) => one.querySelectorAll('.g').length).toSorted()),
    expected: (facts) =>
      facts.limits
        .filter(({ concurrency, rate, running }) => concurrency !== null && rate === null && running > 0)
        .map(({ running }) => running)
        .toSorted(),
  },
  'shares of open jobs': {
    path: '/',
    read: (page) =>
      page
        .locator('.where .shares rect')
        .evaluateAll((all) => all.map((one) => Number.parseFloat(one.getAttribute('width')!) / 100)),
    expected(facts) {
      const open = openIn(facts).filter((n) => n > 0)
      return open.map((n) => Math.max(0.004, n / sum(open) - 0.004))
    },
  },
}
