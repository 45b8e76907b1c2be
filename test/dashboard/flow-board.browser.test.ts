import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { core } from '../../functions/core.ts'
import { encodeValue } from '../../src/core/codec/value.ts'
import { createEngine } from '../../src/engine/index.ts'
import { defineWorker } from '../../src/index.ts'
import { program, startBrowser } from './browser.ts'
import { above, count, countsOf, isQuiet } from './counted.ts'
import { KEY } from './kit.ts'
import { callerOf } from './seed.ts'
import { catalog, seedFlow } from './seed-flow.ts'
import { serve } from './served.ts'
import { visits } from './visit.ts'

const NODES = 64
const later = defineWorker({ class: 'later', perform: () => undefined })

describe.skipIf(!program())('the board of a flow', { timeout: 90_000 }, () => {
  let site: Awaited<ReturnType<typeof serve>>
  let browser: Browser
  let flow: number

  beforeAll(async () => {
    site = await serve({ workers: core })
    const call = callerOf(site.url, KEY)
    await call('PUT', '/v1/workers/media/resize', { pull: true, in: { url: {} }, out: { done: {} } })
    flow = await seedFlow(call)
    browser = await startBrowser()
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  const as = visits(() => [browser, site], { ready: '.board .node' })

  const fact = (page: Page, node: string) => page.locator(`.board [data-name="${node}"] .fact`).textContent()
  const label = (page: Page, wire: string) => page.locator(`.badge[data-wire="${wire}"] text`).textContent()
  const sizeOf = async (wire: string) =>
    (await site.engine.flows.wires(String(flow))).wires.find(({ id }) => id === wire)!.size

  async function large(): Promise<number> {
    const names = Array.from({ length: NODES }, (_, i) => `n${i}`)
    const graph = {
      nodes: Object.fromEntries(names.map((name) => [name, { queue: 'feed', class: 'filter' }])),
      edges: names.slice(1).map((name, i) => ({
        from: { node: `n${i}`, outport: 'out' },
        to: { node: name, inport: 'in' },
      })),
      inports: { feed: { node: 'n0', inport: 'in' } },
    }
    const id = await site.make('flow', {
      queue: 'core',
      inputs: { __graph: [encodeValue(graph)], feed: [1, 2, 3].map((n) => encodeValue(n)) },
    })
    const hasValues = async () => (await site.engine.flows.wires(String(id))).wires.some(({ size }) => size > 0)
    await site.until(() => hasValues().catch(() => false))
    return id
  }

  // This test must be the first, because pages read the list of deployments once a minute.
  test('a deployment is marked in the lanes, next to changes of the graph', async () => {
    const { qstash } = site.engineOptions
    await createEngine({
      ...site.engineOptions,
      workers: [later],
      qstash: { ...qstash, publicUrl: 'http://127.0.0.1:9' },
    }).tick()
    await site.until(async () => (await site.engine.deployments.list()).deployments.length > 0)
    const fresh = await site.make('flow', { queue: 'core', inputs: { __graph: [encodeValue(catalog)] } })
    await site.until(async () => (await site.engine.flows.get(String(fresh))).graph !== null)
    await callerOf(site.url, KEY)('PUT', `/v1/flows/${fresh}/record`, { keep: '2h' })
    await as(['read'], `/flows/${fresh}`, async (page) => {
      await page.getByRole('button', { name: 'Replay', exact: true }).click()
      await page
        .locator('.laxis text', { hasText: /\bdeploy$|deploy,/ })
        .first()
        .waitFor()
      await page.locator('.laxis text', { hasText: 'graph changed' }).first().waitFor()
      const { deployments } = await site.engine.deployments.list()
      const recent = deployments.flatMap(({ deploys }) => deploys).filter(({ at }) => at > Date.now() - 60_000)
      expect(recent.length).toBeGreaterThan(0)
      expect(await page.locator('.runlanes .mark').count()).toBe(recent.length + 1)
    })
  })

  test('the board of a small flow labels every wire that moves values', () =>
    as(['read'], `/flows/${flow}`, async (page) => {
      const id = 'rows.rejected>rejected.in'
      const rate = async () => (await site.engine.flows.wires(String(flow))).wires.find((wire) => wire.id === id)!.rate
      // The rate falls from minute to minute, so wait until both numbers are from the same minute.
      await site.until(async () => (await label(page, id)) === `${await rate()}/min`)
    }))

  test('zoomed in, wires show their last values in short form, and in full on hover and focus', async () => {
    const wire = 'feed>rows.in'
    const [secret, text] = ['{"sku":"lamp-03","note":"a long text","token":"s3cr3t"}', '"token":"•••"']
    await site.engine.ports.write(String(flow), 'in', 'feed', [secret as never])
    await as(['read'], `/flows/${flow}`, async (page) => {
      const value = page.locator(`.badge[data-wire="${wire}"] .value`)
      const line = page.locator(`g[role="button"][data-wire="${wire}"]`)
      const whole = page.locator('.board .whole')
      expect(await value.count()).toBe(0)
      expect(await whole.isVisible()).toBe(false)
      for (let i = 0; i < 10 && (await page.locator('[data-board][data-detail="near"]').count()) === 0; i++)
        await page.getByRole('button', { name: 'Zoom in' }).click()
      await expect.poll(() => value.textContent()).toBe('{"sku":"lamp-03","…')
      await line.focus()
      await whole.getByText('"note":"a long text"').waitFor()
      expect(await whole.textContent()).toContain(text)
      expect(await line.getAttribute('aria-label')).toContain('last value {"sku":"lamp-03"')
      expect((await page.content()).includes('s3cr3t')).toBe(false)
      await page.locator('.board [data-name="rows"]').focus()
      expect(await whole.isVisible()).toBe(false)
      await line.dispatchEvent('pointerover')
      await whole.getByText('"note":"a long text"').waitFor()
      await page.getByRole('button', { name: 'Fit to screen' }).click()
      await value.waitFor({ state: 'detached' })
    })
  })

  test('above 60 nodes, a wire has a label only on hover and focus, and a map moves the view', async () => {
    await as(['read'], `/flows/${await large()}`, async (page) => {
      const first = page.locator('g[role="button"][data-wire="feed>n0.in"]')
      const labels = page.locator('.board .badge')
      expect(await labels.count()).toBe(0)
      await first.focus()
      expect(await label(page, 'feed>n0.in')).toBe('3')
      await page.locator('.board [data-name="n1"]').focus()
      expect(await labels.count()).toBe(0)
      await first.dispatchEvent('pointerover')
      expect(await label(page, 'feed>n0.in')).toBe('3')

      const map = page.locator('.board .map')
      expect(await map.locator('rect').count()).toBe(NODES + 1)
      for (let i = 0; i < 8; i++) await page.getByRole('button', { name: 'Zoom in' }).click()
      const left = async () => Number((await page.locator('[data-board]').getAttribute('viewBox'))!.split(' ')[0])
      const seen = async () => Number(await map.locator('.seen').getAttribute('x'))
      expect(await seen()).toBeCloseTo(await left())
      const { x, y, width, height } = (await map.boundingBox())!
      await page.mouse.click(x + width - 3, y + height / 2)
      const right = await left()
      await page.mouse.click(x + 3, y + height / 2)
      expect(await left()).toBeLessThan(right)
      expect(await seen()).toBeCloseTo(await left())
      await page.locator('.board [data-name="n63"]').focus()
      expect(await left()).toBeGreaterThan(right / 2)

      await page.setViewportSize({ width: 390, height: 844 })
      await page.goto(`${page.url()}?board=1`)
      await page.locator('.board .node[data-name="n0"]').waitFor()
      expect(await map.isVisible()).toBe(false)
    })
  })

  test('above 60 nodes, lists next to the board move the view to a node at a readable size', async () => {
    await as(['read'], `/flows/${await large()}`, async (page) => {
      const [lists, board] = [page.locator('#lists'), page.locator('.board')]
      expect(await lists.locator('section').first().locator('li').count()).toBe(NODES)
      expect((await lists.boundingBox())!.height).toBeLessThanOrEqual((await board.boundingBox())!.height)
      expect(await page.locator('[data-board][data-detail^="far"]').count()).toBe(1)
      await lists.getByRole('link', { name: /^n40/ }).first().click()
      await page.locator('#insp').getByText('n40', { exact: true }).first().waitFor()
      await page.locator('[data-board]:not([data-detail^="far"])').waitFor()
      const [all, node] = [
        (await board.boundingBox())!,
        (await page.locator('.board [data-name="n40"]').boundingBox())!,
      ]
      expect(node.x).toBeGreaterThan(all.x)
      expect(node.x + node.width).toBeLessThan(all.x + all.width)
      expect(node.width).toBeGreaterThan(140)
    })
  })

  test('each node that had not started was drawn like a queued node', async () => {
    const id = await large()
    await as(['read'], `/flows/${id}`, async (page) => {
      const { nodes } = await site.engine.flows.get(String(id))
      const queued = nodes.filter(({ status }) => status === 'queued').map(({ name }) => name)
      expect(queued.length).toBeGreaterThan(0)
      const marked = await page
        .locator('.board .node:has(use[href])')
        .evaluateAll((all) => all.map((one) => (one as unknown as HTMLElement).dataset.name))
      expect(marked).toEqual(queued)
    })
  })

  test('a node or wire is found by its name, class or job, and the view moves to it', async () => {
    await as(['read'], `/flows/${await large()}`, async (page) => {
      const find = async (text?: string) => {
        await page.keyboard.press('/')
        const field = page.getByRole('dialog', { name: 'Find' }).getByLabel('Node name, class or #job, or wire name')
        if (text !== undefined) await field.fill(text)
        await page.keyboard.press('Enter')
      }
      const focused = (selector: string) =>
        page.waitForFunction((wanted) => {
          const [board, found] = [document.querySelector('.board')!, document.activeElement!]
          const [all, seen] = [board.getBoundingClientRect(), found.getBoundingClientRect()]
          return found.matches(wanted) && seen.left >= all.left - 1 && seen.right <= all.right + 1
        }, selector)
      expect(await page.locator('[data-board][data-detail^="far"]').count()).toBe(1)
      await find('n63')
      await focused('[data-name="n63"]')
      expect(await page.locator('[data-board][data-detail^="far"]').count()).toBe(0)
      await find('n40.out>n41.in')
      await focused('[data-wire="n40.out>n41.in"]')
      await find('feed/filter')
      await focused('[data-name="n0"]')
      await find()
      await focused('[data-name="n1"]')
      await find('nothing')
      await page.getByText('no node or wire has "nothing" in its name, class or job').waitFor()
      await page.keyboard.press('Escape')
      await page.locator('.board [data-name="n0"]').focus()
    })
    await as(['read'], `/flows/${flow}/edit`, async (page) => {
      await page.keyboard.press('/')
      await page.getByRole('dialog', { name: 'Find' }).getByRole('combobox').fill('shop/price')
      await page.keyboard.press('Enter')
      await page.waitForFunction(() => (document.activeElement as SVGElement).dataset.name === 'price')
    })
  })

  test('the page of a flow counted its running nodes as queued', () =>
    as(['read'], `/flows/${flow}`, async (page) => {
      const { nodes } = await site.engine.flows.get(String(flow))
      const named = (wanted: string) => nodes.flatMap(({ name, status }) => (status === wanted ? [name] : []))
      expect(named('running')).toEqual(['clean', 'enrich'])
      const queued = named('queued').length
      expect(await page.locator('#flowbar > .dim').textContent()).toContain(`2 of 8 nodes running, ${queued} queued; `)
    }))

  const unhurried = (page: Page) =>
    page.route(`${site.url}/ui/flows/**`, async (route) => {
      const answer = await route.fetch()
      const html = (await answer.text()).replace('data-every="2000"', 'data-every="86400000"')
      await route.fulfill({ response: answer, body: html })
    })

  test('the values of a wire can be watched: each arrival is shown until the watch ends', async () => {
    const wire = 'index.done>report'
    const streams: string[] = []
    await as(
      ['read'],
      `/flows/${flow}?wire=${encodeURIComponent(wire)}`,
      async (page) => {
        page.on('request', (request) => request.url().includes('/v1/subscribe') && streams.push(request.url()))
        expect(await page.getByText('While you watch').count()).toBe(0)
        const told = page.waitForResponse((answer) => answer.url().includes('/v1/subscribe'))
        await page.getByRole('link', { name: 'Watch the values' }).click()
        await told
        await page.getByText('which slows the system down').waitFor()
        expect(decodeURIComponent(streams[0]!)).toContain(`channel=/sidejob/children/${flow}&channel=/sidejob/log`)
        expect(page.url()).toContain('watch=1')
        await site.engine.flows.inject(String(flow), wire, ['"watched"'])
        await page.locator('.vlist .val', { hasText: 'watched' }).waitFor()
        await page.getByRole('link', { name: 'Stop watching' }).click()
        await page.getByText('While you watch').waitFor({ state: 'detached' })
      },
      { before: unhurried },
    )
    await site.engine.flows.drain(String(flow), wire, {})
  })

  test('a draft keeps showing the activity of each node', () =>
    as(['read'], `/flows/${flow}/edit`, async (page) => {
      expect(await fact(page, 'join')).toBe('waits for image')
      expect(await fact(page, 'rejected')).toMatch(/^idle for/)
      await page.getByRole('button', { name: 'Live' }).waitFor()
      await site.engine.flows.inject(String(flow), 'images.done>join.image', ['1'])
      await page.waitForFunction(
        () => document.querySelector('.board [data-name="join"] .fact')?.textContent === 'waits for a worker',
      )
    }))

  test('values that a draft would leave behind are moved on the page of their wire, and the draft is kept', () =>
    as(['read', 'write'], `/flows/${flow}/edit`, async (page) => {
      const [from, to] = ['enrich.offer>price.in', 'rows.rejected>rejected.in'] as const
      await site.engine.flows.inject(String(flow), from, ['1', '2'])
      const [left, there] = [await sizeOf(from), await sizeOf(to)]
      expect(left).toBeGreaterThan(2)
      await page.locator('.board [data-name="price"]').focus()
      await page.keyboard.press('Delete')
      const would = page.locator('#would')
      await would.getByText('left behind in price.in').waitFor()
      await would.locator('li', { hasText: 'left behind in price.in' }).getByRole('link', { name: 'Move…' }).click()
      await page.getByRole('complementary', { name: 'Selected wire' }).getByText('Move to…').click()
      await page.locator('select[name="to"]').selectOption(to)
      await page.locator('.opens form').getByRole('button', { name: 'Move' }).click()
      await page.getByText(`${left} values moved to ${to}`).waitFor()
      await page.goto(`${site.url}/ui/flows/${flow}/edit`)
      await would.getByText(/^#\d+ is removed/).waitFor()
      await would.getByText('left behind in price.in').waitFor({ state: 'detached' })
      expect(await sizeOf(from)).toBe(0)
      expect(await sizeOf(to)).toBe(there + left)
      expect(Object.keys((await site.engine.flows.get(String(flow))).graph!.nodes)).toEqual(Object.keys(catalog.nodes))
    }))

  test('a node is spliced into a wire after a dry run with its last values, and Ctrl+Z removes it', () =>
    as(
      ['read', 'write'],
      `/flows/${flow}/edit`,
      async (page) => {
        const wire = 'rows.rejected>rejected.in'
        const passed = (await site.engine.flows.get(String(flow))).wires.find(({ id }) => id === wire)!.passed.length
        expect(passed).toBe(7)
        await page.locator(`g[role="button"][data-wire="${wire}"]`).focus()
        await page.keyboard.press('s')
        const dialog = page.getByRole('dialog', { name: `Splice a node into ${wire}` })
        await dialog.getByText('Requests that the code sends outside steps are really sent.').waitFor()
        await dialog.getByLabel('Queue/class').fill('shop/price')
        await dialog.getByRole('button', { name: 'Dry run' }).click()
        await dialog.getByText('class: expected a function of this deployment, got shop/price').waitFor()
        await dialog.getByLabel('Queue/class').fill('core/array')
        await dialog.getByRole('button', { name: 'Dry run' }).click()
        await dialog.getByText('7 values, oldest first; nothing is saved').waitFor()
        const lines = (await dialog.locator('pre').textContent())!.split('\n')
        expect(lines).toHaveLength(7)
        expect(lines[0]).toBe('{"sku":"desk-oak","url":"/u/881.heic"} → out [{"sku":"desk-oak","url":"/u/881.heic"}]')
        await dialog.getByLabel('Name of the node').fill('rows')
        await dialog.getByRole('button', { name: 'Splice' }).click()
        await dialog.getByText('name: the graph already has a node rows').waitFor()
        await dialog.getByLabel('Name of the node').fill('tap')
        await page.keyboard.press('Enter')
        const tap = page.locator('.board [data-name="tap"]')
        await tap.waitFor()
        await page.locator('#would').getByText('rows.rejected>tap.in').waitFor()
        await page.locator('#would').getByText('tap.out>rejected.in').waitFor()
        expect((await site.engine.flows.get(String(flow))).graph!.nodes).not.toHaveProperty('tap')
        await tap.focus()
        await page.keyboard.press('Control+z')
        await tap.waitFor({ state: 'detached' })
        await page.locator('#would').getByText('Nothing has changed').waitFor()

        const own = 'feed>rows.in'
        await page.locator('[data-edit="splice"]').dragTo(page.locator(`g[role="button"][data-wire="${own}"] .reach`))
        await page.getByRole('dialog', { name: `Splice a node into ${own}` }).waitFor()
      },
      { allowed: /status of 422 .*\/try$/ },
    ))

  test('a refresh sends data to the board, and the page is drawn again only if its graph or the open element changes', async () => {
    const looks: string[] = []
    await as(
      ['read'],
      `/flows/${flow}`,
      async (page) => {
        await page.evaluate(() =>
          document.addEventListener('drawn', () => {
            document.body.dataset.drawn = String(Number(document.body.dataset.drawn ?? 0) + 1)
          }),
        )
        const drawn = () => page.evaluate(() => Number(document.body.dataset.drawn ?? 0))
        await site.engine.flows.inject(String(flow), 'images.done>join.image', ['1', '2'])
        await page.waitForFunction(
          () => document.querySelector('.board [data-name="join"] .fact')?.textContent === 'waits for a worker',
        )
        const before = await page.locator('#flowbar .dim').textContent()
        await site.engine.flows.inject(String(flow), 'rows.rejected>rejected.in', ['1', '2'])
        await page.waitForFunction((text) => document.querySelector('#flowbar .dim')?.textContent !== text, before)
        expect(await drawn()).toBe(0)
        expect(new Set(looks)).toEqual(new Set(['application/json']))
        await page.locator('.board [data-name="join"]').click()
        await page.locator('#insp').getByText('join', { exact: true }).first().waitFor()
        expect(await drawn()).toBe(1)
        const graph = { ...catalog, name: 'renamed' }
        await site.engine.flows.setGraph(String(flow), graph, {})
        await page.getByRole('heading', { name: 'renamed' }).waitFor()
        expect(await drawn()).toBe(2)
      },
      {
        before: async (page) => {
          await page.clock.setFixedTime(Date.now())
          page.on('request', (request) => {
            if (request.headers()['x-live'] && request.url().endsWith(`/flows/${flow}`))
              looks.push(request.headers().accept!)
          })
        },
      },
    )
  })

  test('while a user watches values, the page refreshes after events instead of at intervals', async () => {
    const wire = 'index.done>report'
    await as(
      ['read'],
      `/flows/${flow}?wire=${encodeURIComponent(wire)}`,
      async (page) => {
        await page.getByRole('link', { name: 'Watch the values' }).click()
        await page.getByText('which slows the system down').waitFor()
        await expect.poll(() => isQuiet(page, 3_000), { timeout: 30_000 }).toBe(true)
        expect(await isQuiet(page, 3_000)).toBe(true)
        const { looks } = await countsOf(page)
        await site.engine.flows.inject(String(flow), 'rows.rejected>rejected.in', ['1'])
        await above(page, 'looks', looks)
        await page.getByRole('link', { name: 'Stop watching' }).click()
        await page.getByText('While you watch').waitFor({ state: 'detached' })
        expect(await isQuiet(page, 3_000)).toBe(false)
      },
      {
        before: async (page) => {
          await page.clock.install()
          await count(page)
        },
      },
    )
  })
})
