import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { core } from '../../functions/core.ts'
import { encodeValue } from '../../src/core/codec/value.ts'
import type { BoardData } from '../../src/dashboard/browser/board/data.ts'
import { program, startBrowser } from './browser.ts'
import { KEY } from './kit.ts'
import { callerOf } from './seed.ts'
import { seedFlow } from './seed-flow.ts'
import { serve } from './served.ts'
import { visits } from './visit.ts'

const OUTS = ['out', 'rejected', 'image_large']
const INS = ['in', 'image', 'offer_of_shop']

function graphOf(nodes: number) {
  const names = Array.from({ length: nodes }, (_, i) => `${['load', 'clean', 'join', 'index'][i % 4]}_${i}`)
  const edges: object[] = []
  const edge = (from: number, outport: string, to: number, inport: string) =>
    edges.push({ from: { node: names[from], outport }, to: { node: names[to], inport } })
  for (let i = 1; i < nodes; i++) {
    edge(Math.max(0, i - 1 - ((i * 7) % 6)), OUTS[i % 3]!, i, 'in')
    if (i > 3 && i % 3 === 0) edge(i - 3 - ((i * 5) % Math.min(i - 2, 9)), OUTS[(i + 1) % 3]!, i, INS[1 + (i % 2)]!)
    if (i % 9 === 2) edge(i, 'again', Math.max(0, i - 2), 'back')
  }
  return {
    nodes: Object.fromEntries(names.map((name) => [name, { queue: 'nowhere', class: 'any' }])),
    edges,
    inports: { feed: { node: names[0], inport: 'in' } },
    outports: { report: { node: names.at(-1), outport: 'report' } },
  }
}

describe.skipIf(!program())('the board of a flow', { timeout: 120_000 }, () => {
  let site: Awaited<ReturnType<typeof serve>>
  let browser: Browser

  beforeAll(async () => {
    site = await serve({ workers: core })
    browser = await startBrowser()
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  const as = visits(() => [browser, site], { ready: '.board .node' })

  async function make(nodes: number): Promise<number> {
    const id = await site.make('flow', { queue: 'core', inputs: { __graph: [encodeValue(graphOf(nodes))] } })
    await site.until(async () => (await site.engine.flows.get(String(id))).graph !== null)
    return id
  }

  const jammed = (change: (data: BoardData) => void) => (page: Page) =>
    page.route(`${site.url}/ui/flows/**`, async (route) => {
      const answer = await route.fetch()
      const html = (await answer.text())
        .replace('data-every="2000"', 'data-every="86400000"')
        .replace(/data-flow="([^"]*)"/, (_, text: string) => {
          const data = JSON.parse(text.replaceAll('&quot;', '"').replaceAll('&gt;', '>').replaceAll('&amp;', '&'))
          change(data)
          return `data-flow="${JSON.stringify(data).replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"`
        })
      await route.fulfill({ response: answer, body: html })
    })

  const allWait = jammed(({ wires }) => {
    for (const wire of wires) Object.assign(wire, { size: 123_318, oldestAt: Date.now() - 11 * 60_000, rate: 1_400 })
  })

  const overlaps = (page: Page) =>
    page.evaluate(() => {
      // Show all texts, because the page hides texts outside of the visible part.
      for (const node of document.querySelectorAll('[data-see]')) delete (node as SVGElement).dataset.see
      type Rect = { what: string; wire?: string; left: number; right: number; top: number; bottom: number }
      const rectOf = (element: Element, what: string, wire?: string): Rect => {
        const { left, right, top, bottom } = element.getBoundingClientRect()
        return { what, wire, left, right, top, bottom }
      }
      const all = (selector: string) => [...document.querySelectorAll<SVGElement>(`[data-board] ${selector}`)]
      const labels = all('.badge').map((badge) => rectOf(badge, `label ${badge.dataset.wire}`, badge.dataset.wire))
      const ports = [
        ...all('.pn').map((name) => rectOf(name, `name of port ${name.textContent}`)),
        ...all('.port:not(.ghost)').map((port) => rectOf(port, `port ${port.dataset.node}.${port.dataset.port}`)),
      ]
      const boxes = [
        ...all('.node .box').map((box) => rectOf(box, `node ${box.parentElement!.dataset.name}`)),
        ...all('.fport rect').map((box) => rectOf(box, 'port of the flow')),
      ]
      const found: string[] = []
      const solid = [...labels, ...ports, ...boxes]
      for (const [i, a] of labels.entries())
        for (const b of [...labels.slice(i + 1), ...ports, ...boxes])
          if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
            found.push(`${a.what} on ${b.what}`)
      for (const line of all('path.wire:not(.all)')) {
        const path = line as unknown as SVGPathElement
        const wire = path.parentElement!.dataset.wire!
        const [matrix, long] = [path.getScreenCTM()!, path.getTotalLength()]
        const over = new Set<string>()
        for (let at = 6; at < long - 6; at += 3) {
          const { x, y } = path.getPointAtLength(at).matrixTransform(matrix)
          for (const { what, wire: own, left, right, top, bottom } of solid)
            if (own !== wire && x > left && x < right && y > top && y < bottom) over.add(what)
        }
        found.push(...[...over].map((what) => `wire ${wire} through ${what}`))
      }
      return { found, labels: labels.length, wires: all('path.wire:not(.all)').length }
    })

  test.each([3, 8, 30, 100])('with %i nodes, no label overlaps a label, wire, port or node', async (nodes) => {
    await as(['read'], `/flows/${await make(nodes)}`, async (page) => {
      await allWait(page)
      await page.reload()
      await page.waitForSelector('.board .node')
      for (let i = 0; i < 20 && (await page.locator('[data-board][data-detail^="far"]').count()) > 0; i++)
        await page.getByRole('button', { name: 'Zoom in' }).click()
      const { found, labels, wires } = await overlaps(page)
      expect(labels).toBeGreaterThanOrEqual(wires - 1)
      expect(found).toEqual([])
    })
  })

  test('below half size, a node shows only its shape, its color and a large name', async () => {
    await as(['read'], `/flows/${await make(8)}`, async (page) => {
      await allWait(page)
      await page.reload()
      await page.waitForSelector('.board .node')
      const seen = () =>
        page.evaluate(() => {
          const isShown = (selector: string) =>
            [...document.querySelectorAll(`[data-board] ${selector}`)].some((one) => one.getClientRects().length > 0)
          const svg = document.querySelector<SVGSVGElement>('[data-board]')!
          const names = [...svg.querySelectorAll('.node .name')].map((name) => {
            const [text, box] = [
              name.getBoundingClientRect(),
              name.closest('.node')!.querySelector('.box')!.getBoundingClientRect(),
            ]
            return {
              height: text.height / svg.getScreenCTM()!.a,
              fits: text.left >= box.left && text.right <= box.right,
            }
          })
          return {
            isHalf: svg.getScreenCTM()!.a < 0.5,
            small: ['.cls', '.fact', '.pn', '.badge', '.node .port'].filter(isShown),
            shapes: isShown('.node use') && isShown('.node .box'),
            height: Math.min(...names.map(({ height }) => height)),
            fits: names.every(({ fits }) => fits),
          }
        })
      while (!(await seen()).isHalf) await page.getByRole('button', { name: 'Zoom out' }).click()
      const far = await seen()
      expect(far).toMatchObject({ small: [], shapes: true, fits: true })
      while ((await seen()).isHalf) await page.getByRole('button', { name: 'Zoom in' }).click()
      const near = await seen()
      expect(near.small).toEqual(['.cls', '.fact', '.pn', '.badge', '.node .port'])
      expect(far.height).toBeGreaterThan(near.height * 1.3)
    })
  })

  test('texts are drawn only in the visible part of the board', async () => {
    await as(['read'], `/flows/${await make(100)}`, async (page) => {
      while ((await page.locator('[data-board][data-detail^="far"]').count()) > 0)
        await page.getByRole('button', { name: 'Zoom in' }).click()
      const shown = () =>
        page
          .locator('.board .node .name')
          .evaluateAll((names) =>
            names.filter((name) => name.getClientRects().length > 0).map((name) => name.textContent),
          )
      await expect.poll(async () => (await shown()).length).toBeLessThan(60)
      for (const name of ['load_0', 'index_99']) {
        await page.locator(`.board [data-name="${name}"]`).focus()
        await expect.poll(shown).toContain(name)
      }
      expect(await shown()).not.toContain('load_0')
      await page.getByRole('button', { name: 'Fit to screen' }).click()
    })
  })

  test.each([
    [1_440, 11],
    [390, 9],
  ])('on a screen of %i pixels, the texts of eight nodes were six pixels high', async (width, least) => {
    await as(
      ['read'],
      `/flows/${await make(8)}?board=1`,
      async (page) => {
        const { left, right } = await page.locator('.board').evaluate((one) => one.getBoundingClientRect().toJSON())
        const facts = await page.locator('.board .node .fact').evaluateAll((all) =>
          all.map((one) => {
            const { left, right } = one.closest('.node')!.getBoundingClientRect()
            const { a: scale } = (one as SVGGraphicsElement).getScreenCTM()!
            return { left, right, size: Number.parseFloat(getComputedStyle(one).fontSize) * scale }
          }),
        )
        expect(facts).toHaveLength(8)
        expect(Math.min(...facts.map(({ size }) => size))).toBeGreaterThan(least)
        expect(Math.min(...facts.map((one) => one.left))).toBeGreaterThanOrEqual(left)
        expect(Math.max(...facts.map((one) => one.right))).toBeLessThanOrEqual(right)
      },
      { width, height: 900 },
    )
  })

  const emptySpot = (page: Page) =>
    page.evaluate(() => {
      const svg = document.querySelector('[data-board]')!
      for (let y = 300; y < 700; y += 5)
        for (let x = 900; x < 1_300; x += 5) if (document.elementFromPoint(x, y) === svg) return { x, y }
      throw new Error('the board is full')
    })

  test('a drag moves the board without drawing it again, until it ends or passes half of the board', async () => {
    await as(['read'], `/flows/${await make(100)}`, async (page) => {
      while ((await page.locator('[data-board][data-detail^="far"]').count()) > 0)
        await page.getByRole('button', { name: 'Zoom in' }).click()
      const spot = await emptySpot(page)
      const board = page.locator('[data-board]')
      const left = async () => Number((await board.getAttribute('viewBox'))!.split(' ')[0])
      const moved = () => board.evaluate((svg) => (svg as SVGSVGElement).style.transform)
      const hidden = () => page.locator('.board [data-see="farthest"]').count()
      const scale = await board.evaluate((svg) => (svg as SVGSVGElement).getScreenCTM()!.a)
      const [before, off] = [await left(), await hidden()]
      await page.mouse.move(spot.x, spot.y)
      await page.mouse.down()
      await page.mouse.move(spot.x - 200, spot.y, { steps: 5 })
      expect(await left()).toBe(before)
      expect(await moved()).toBe('translate(-200px, 0px)')
      expect(await hidden()).toBeLessThan(off)
      await page.mouse.up()
      expect(await left()).toBeCloseTo(before + 200 / scale)
      expect(await moved()).toBe('')

      await page.mouse.move(spot.x, spot.y)
      await page.mouse.down()
      await page.mouse.move(spot.x - 800, spot.y, { steps: 2 })
      expect(await left()).toBeCloseTo(before + 1_000 / scale)
      await page.mouse.up()
      expect(await left()).toBeCloseTo(before + 1_000 / scale)
    })
  })

  const turns = (page: Page, count: number, deltaY: number) =>
    page.locator('[data-board]').evaluate(
      (svg, { count, deltaY }) => {
        const { left, top, width, height } = svg.parentElement!.getBoundingClientRect()
        const at = { clientX: left + width / 2, clientY: top + height / 2 }
        for (let i = 0; i < count; i++)
          svg.dispatchEvent(new WheelEvent('wheel', { ...at, deltaY, ctrlKey: true, cancelable: true }))
        return (svg as SVGSVGElement).style.transform
      },
      { count, deltaY },
    )

  test('the wheel scales the board without drawing it again, until a pause or twice the size', async () => {
    await as(['read'], `/flows/${await make(100)}`, async (page) => {
      const width = async () => Number((await page.locator('[data-board]').getAttribute('viewBox'))!.split(' ')[2])
      const isDrawn = () => !document.querySelector<SVGElement>('[data-board]')!.style.transform
      const first = await width()
      await page.evaluate(() => {
        const board = document.querySelector('[data-board]')!
        const changed = () =>
          document.body.setAttribute('data-boxes', `${Number(document.body.dataset.boxes ?? 0) + 1}`)
        new MutationObserver(changed).observe(board, { attributeFilter: ['viewBox'] })
      })
      const boxes = () => page.evaluate(() => Number(document.body.dataset.boxes ?? 0))
      expect(await turns(page, 2, -100)).toMatch(/ scale\(1\.32/)
      await page.waitForFunction(isDrawn)
      expect(await boxes()).toBe(1)
      expect(await width()).toBeCloseTo(first / 1.15 ** 2)
      // Up to a factor of 2, the page scales its last drawing. Beyond that, the page draws the flow again.
      expect(await turns(page, 5, -100)).toBe('')
      expect(await width()).toBeCloseTo(first / 1.15 ** 7)
      expect(await turns(page, 1, 100)).toMatch(/ scale\(0\.86/)
      await page.waitForFunction(isDrawn)
      expect(await width()).toBeCloseTo(first / 1.15 ** 6)
    })
  })

  test('zoomed out, the status of a node was drawn next to it', async () => {
    await as(['read'], `/flows/${await make(30)}`, async (page) => {
      await page.locator('[data-board][data-detail="far"]').waitFor()
      const beside = await page.locator('.board .node').evaluateAll((nodes) =>
        nodes.flatMap((node) => {
          const [box, mark] = ['.box', 'use'].map((part) => node.querySelector(part)!.getBoundingClientRect())
          const isInside = mark!.left >= box!.left - 1 && mark!.right <= box!.right + 1 && mark!.top >= box!.top - 1
          return isInside && mark!.bottom <= box!.bottom + 1 ? [] : [node.textContent]
        }),
      )
      expect(beside).toEqual([])
    })
  })

  test('zoomed out, a node is one rectangle and all wires are one line', async () => {
    await as(['read'], `/flows/${await make(100)}`, async (page) => {
      expect(await page.locator('[data-board][data-detail="farthest"]').count()).toBe(1)
      const drawn = await page
        .locator('[data-board] :not(g, .fport > *)')
        .evaluateAll((all) =>
          all.filter((one) => one.getClientRects().length > 0).map((one) => one.getAttribute('class')!),
        )
      expect(drawn.toSorted()).toEqual([...Array.from({ length: 100 }, () => 'box'), 'wire all'])
    })
  })

  test('one step of the zoom causes one layout of the board', async () => {
    await as(
      ['read'],
      `/flows/${await make(100)}`,
      async (page) => {
        while ((await page.locator('[data-board][data-detail^="far"]').count()) > 0)
          await page.getByRole('button', { name: 'Zoom in' }).click()
        const session = await page.context().newCDPSession(page)
        await session.send('Performance.enable')
        const layouts = async () => {
          const { metrics } = await session.send('Performance.getMetrics')
          return metrics.find(({ name }) => name === 'LayoutCount')!.value
        }
        await page.clock.pauseAt(Date.now() + 1_000)
        await page.unrouteAll({ behavior: 'wait' })
        const step = async (view: 'farther' | 'nearer') => {
          await page.evaluate(() => document.body.offsetWidth)
          const before = await layouts()
          await page.evaluate((to) => {
            document.querySelector<HTMLElement>(`[data-view="${to}"]`)!.click()
            return document.body.offsetWidth
          }, view)
          return (await layouts()) - before
        }
        // The browser sometimes adds a layout between two commands, so the smallest of three counts is compared.
        const counts = [await step('farther'), await step('nearer'), await step('farther')]
        expect(Math.min(...counts)).toBe(1)
      },
      {
        before: async (page) => {
          await page.clock.install()
          await jammed(() => {})(page)
        },
      },
    )
  })

  test('when a zoom crossed a level of detail, every node of the board was drawn again', async () => {
    await as(['read'], `/flows/${await make(100)}`, async (page) => {
      await page.waitForSelector('[data-board][data-detail="farthest"]')
      const changed = await page.evaluate(async () => {
        const names = new Set<string>()
        new MutationObserver((all) => {
          for (const { target } of all) names.add((target as SVGElement).dataset.name ?? '')
        }).observe(document.querySelector('[data-board]')!, { subtree: true, attributeFilter: ['data-see'] })
        const button = document.querySelector<HTMLElement>('[data-view="nearer"]')!
        const svg = document.querySelector<SVGElement>('[data-board]')!
        while (svg.dataset.detail !== '') button.click()
        await new Promise((resolve) => setTimeout(resolve, 500))
        return names.size
      })
      expect(await page.locator('.board .node:not([data-see="farthest"])').count()).toBeGreaterThan(0)
      expect(changed).toBeLessThan(60)
    })
  })

  test('a jam is explained by its highlighted path, a sentence with the cause, and a link', async () => {
    const call = callerOf(site.url, KEY)
    await call('PUT', '/v1/workers/media/resize', { pull: true, in: { url: {} }, out: { done: {} } })
    const flow = await seedFlow(call)
    const images = (await site.engine.flows.get(String(flow))).nodes.find(({ name }) => name === 'images')!.job
    await as(['read'], `/flows/${flow}`, async (page) => {
      expect(await page.getByRole('link', { name: 'Highlight this jam' }).count()).toBe(0)
    })
    // A wire is jammed if its oldest value has waited for a minute.
    const real = Date.now
    const later = vi.spyOn(Date, 'now').mockImplementation(() => real() + 5 * 60_000)
    try {
      await as(['read'], `/flows/${flow}`, async (page) => {
        await page.getByRole('link', { name: 'Highlight this jam' }).click()
        const said = page.locator('.jamsaid')
        await said.waitFor()
        expect(await said.textContent()).toMatch(
          /^1,318 values have waited at enrich\.image → images\.url for up to \d min\. Cause: images \((waits for a worker|limit full, .+)\)\./,
        )
        await page.waitForSelector('[data-board].jam')
        const lit = (selector: string) =>
          page.locator(selector).evaluateAll((all) => all.map((one) => (one as HTMLElement).dataset.name).sort())
        expect(await lit('.board .node.lit')).toEqual(['enrich', 'images', 'rows'])
        expect(await page.locator('.board .wire.lit').count()).toBe(2)
        const opacity = (node: string) =>
          page.locator(`.board [data-name="${node}"]`).evaluate((one) => Number(getComputedStyle(one).opacity))
        expect([await opacity('images'), await opacity('price')]).toEqual([1, 0.18])
        expect(page.url()).toContain('jam=1')
        const why = page.getByRole('link', { name: 'Why is images waiting?' })
        expect(await why.getAttribute('href')).toBe(`/ui/jobs/${images}`)
        await page.getByRole('link', { name: 'Show all' }).click()
        await page.waitForSelector('[data-board]:not(.jam)')
        await page.goto(`${site.url}/ui/flows`)
        const cell = page.locator(`#row-${flow} [data-head="held by"]`)
        expect(await cell.textContent()).toMatch(/^images (waits for a worker|limit full)/)
        expect(await cell.getByRole('link').getAttribute('href')).toBe(`/ui/flows/${flow}?jam=1`)
      })
    } finally {
      later.mockRestore()
    }
  })

  const screens = [
    [1440, 900],
    [1366, 768],
    [1280, 800],
  ] as const

  test.each(screens)(
    'at %i×%i, nodes of a jam and the title of an opened wire were out of view',
    async (width, height) => {
      const call = callerOf(site.url, KEY)
      await call('PUT', '/v1/workers/media/resize', { pull: true, in: { url: {} }, out: { done: {} } })
      const flow = await seedFlow(call)
      await site.engine.flows.record(String(flow), 7_200_000)
      const hidden = (page: Page, selector: string) =>
        page.evaluate((selector) => {
          const { bottom } = document.querySelector('.board')!.getBoundingClientRect()
          const covers = [...document.querySelectorAll('.board > .tools')].map((one) => one.getBoundingClientRect())
          return [...document.querySelectorAll<HTMLElement>(selector)]
            .filter((one) => {
              const box = one.getBoundingClientRect()
              const isCovered = covers.some(
                (cover) =>
                  box.left < cover.right && cover.left < box.right && box.top < cover.bottom && cover.top < box.bottom,
              )
              return box.top < 48 || box.bottom > bottom || box.left < 0 || box.right > innerWidth || isCovered
            })
            .map(({ textContent }) => textContent)
        }, selector)
      const scrolls = (page: Page) => page.evaluate(() => document.documentElement.scrollHeight - innerHeight)
      const wire = 'images.done>join.image'
      const real = Date.now
      const later = vi.spyOn(Date, 'now').mockImplementation(() => real() + 5 * 60_000)
      try {
        await as(
          ['read'],
          `/flows/${flow}`,
          async (page) => {
            await page.getByText('Last event').waitFor()
            const explained = page.getByRole('link', { name: 'Highlight this jam' })
            await explained.waitFor()
            expect(await page.locator('.board .node').count()).toBe(8)
            expect(await hidden(page, '.board .node')).toEqual([])
            expect(await scrolls(page)).toBe(0)
            await explained.click()
            await page.waitForSelector('[data-board].jam')
            expect(await hidden(page, '.board .node')).toEqual([])
            await page.getByRole('button', { name: 'Replay', exact: true }).click()
            await page.getByRole('slider', { name: 'Time' }).waitFor()
            await expect.poll(() => hidden(page, '.board .node')).toEqual([])
            expect(await scrolls(page)).toBe(0)
          },
          { width, height },
        )
        await as(
          ['read'],
          `/flows/${flow}?wire=${encodeURIComponent(wire)}`,
          async (page) => {
            const open = page.getByRole('complementary', { name: 'Selected wire' })
            await open.waitFor()
            expect(await open.locator('.title').textContent()).toContain('images.done')
            for (const part of ['.flowbar h1', '.insp .title', `.board [data-wire="${wire}"] .wire`, '.board .node'])
              expect(await hidden(page, part)).toEqual([])
            expect(await scrolls(page)).toBe(0)
          },
          { width, height },
        )
      } finally {
        later.mockRestore()
      }
    },
  )

  test.each(screens)('at %i×%i, the board covered the replay bar and the text of a draft', async (width, height) => {
    const call = callerOf(site.url, KEY)
    await call('PUT', '/v1/workers/media/resize', { pull: true, in: { url: {} }, out: { done: {} } })
    const flow = await seedFlow(call)
    const look = { width, height }
    await as(
      ['read', 'write'],
      `/flows/${flow}`,
      async (page) => {
        const mode = (name: string, pressed: boolean) => page.getByRole('button', { name, exact: true, pressed })
        await page.getByRole('button', { name: 'Back one event' }).click({ timeout: 10_000 })
        await page.getByRole('button', { name: 'Play', exact: true }).click({ timeout: 10_000 })
        await mode('Live', false).click({ timeout: 10_000 })
        await mode('Live', true).waitFor()
        await mode('Replay', false).click({ timeout: 10_000 })
        await mode('Replay', true).waitFor()
        const { bottom } = await page.locator('.replaybox').evaluate((box) => box.getBoundingClientRect())
        expect(Math.round(bottom)).toBe(height)
        const heightOf = () => page.locator('.board').evaluate((board) => board.getBoundingClientRect().height)
        const before = await heightOf()
        await page.locator('.board [data-name="rows"]').click()
        await page.getByRole('complementary', { name: 'Selected node' }).waitFor()
        expect(await heightOf()).toBe(before)
      },
      look,
    )
    await as(
      ['read', 'write'],
      `/flows/${flow}/edit`,
      async (page) => {
        await page.locator('.board [data-name="rows"]').click()
        await page.keyboard.press('Delete')
        await page.locator('.dl.minus').first().click({ timeout: 10_000 })
        await page.getByRole('heading', { name: 'As text' }).click({ timeout: 10_000 })
      },
      look,
    )
  })
})
