import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { core } from '../../functions/core.ts'
import type { Scope } from '../../src/engine/engine.ts'
import { program, startBrowser } from './browser.ts'
import { KEY } from './kit.ts'
import { callerOf, worker } from './seed.ts'
import { catalog, seedFlow } from './seed-flow.ts'
import { serve } from './served.ts'
import { arrive, leave } from './visit.ts'

const IMAGES = 'enrich.image>images.url'
const at = (wire: string) => `?wire=${encodeURIComponent(wire)}`

describe.skipIf(!program())('the pages of flows', { timeout: 90_000 }, () => {
  let site: Awaited<ReturnType<typeof serve>>
  let browser: Browser
  let flow: number
  const call = () => callerOf(site.url, KEY)

  beforeAll(async () => {
    site = await serve({ workers: core })
    await call()('PUT', '/v1/workers/media/resize', {
      pull: true,
      in: { url: { schema: { type: 'object' } } },
      out: { done: {} },
    })
    flow = await seedFlow(call())
    browser = await startBrowser()
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await site.close()
  })

  const enter = (scopes: Scope[], path: string, allowed?: RegExp) =>
    arrive(browser, site, { path, as: scopes, allowed })

  const label = (page: Page, wire: string) => page.locator(`.badge[data-wire="${wire}"] text`).textContent()
  const sizeOf = async (wire: string) => {
    const { wires } = await site.engine.flows.wires(String(flow))
    return wires.find(({ id }) => id === wire)!.size
  }

  test('the list shows the work of each flow and links to its board', async () => {
    const window = await enter(['read'], '/flows')
    const row = window.page.locator(`#row-${flow}`)
    const cells = await row.locator('td').allTextContents()
    expect(cells.slice(0, 8)).toEqual([`catalog-sync #${flow}`, 'Suspended', '8', '2', '1', '0', '5', '2,947'])
    expect(await row.getByRole('link', { name: '2', exact: true }).getAttribute('href')).toBe(
      `/ui/jobs?parent=${flow}&status=running`,
    )
    await row.getByRole('link', { name: 'catalog-sync' }).click()
    await window.page.waitForSelector('.board [data-name="images"]')
    expect(await window.page.title()).toBe('catalog-sync · sidejob')
    await leave(window)
  })

  async function failing(): Promise<number> {
    await call()('PUT', '/v1/workers/shop/dedupe', { pull: true, retry: { max: 0 }, in: { in: {} }, out: { out: {} } })
    const graph = { name: 'fails', nodes: { unique: { queue: 'shop', class: 'dedupe', init: true } }, edges: [] }
    const { id } = (await call()('POST', '/v1/jobs', {
      queue: 'core',
      class: 'flow',
      inputs: { __graph: [{ ...graph, inports: { feed: { node: 'unique', inport: 'in' } }, outports: {} }] },
    })) as unknown as { id: number }
    const shop = worker(call(), 'shop')
    let [run] = await shop.claim('dedupe', 1)
    while (!run) [run] = await shop.claim('dedupe', 1)
    await shop.commit(run, { end: 'failed', error: { message: 'no sku in row 7' } })
    await site.until(async () => (await site.engine.flows.get(String(id))).flow.failed === 1)
    return id
  }

  test('the list and the page of a flow did not show which node had failed, and why', async () => {
    const id = await failing()
    const window = await enter(['read'], '/flows')
    const { page } = window
    const row = page.locator(`#row-${id}`)
    const cells = (await row.locator('td').allTextContents()).slice(1, 6)
    expect(cells[0]).toMatch(/^(1 node failed|Failed)$/)
    expect(cells.slice(1)).toEqual(['1', '0', '0', '1'])
    await row.locator('td.up a').click()
    await page.waitForURL(`${site.url}/ui/jobs?parent=${id}&status=failed`)
    expect(await page.locator('#rows').textContent()).toContain('no sku in row 7')
    await page.goto(`${site.url}/ui/flows/${id}`)
    expect(await page.locator('#flowbar').textContent()).toContain('0 of 1 node running, 0 queued, 1 failed;')
    await page.waitForSelector('.board .node.failed use[href="#s-failed"]')
    expect(await page.locator('#lists').textContent()).toMatch(/unique.*failed (?:now|.* ago): no sku in row 7/)
    await leave(window)
  })

  test('on a phone, a flow was a board that showed four of its eight nodes', async () => {
    const window = await arrive(browser, site, { path: `/flows/${flow}`, as: ['read'], width: 390, height: 844 })
    const { page } = window
    const isWide = () => page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
    const { nodes } = await site.engine.flows.get(String(flow))
    const rows = page.locator('#lists section').first().locator('li')
    expect(await rows.count()).toBe(nodes.length)
    const images = rows.filter({ hasText: 'images' }).first()
    expect(await images.textContent()).toMatch(/Queued1,318 waiting.*waits for a worker/)
    for (const height of await rows
      .locator('a')
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height)))
      expect(height).toBeGreaterThanOrEqual(44)
    expect(await page.locator('.board').isVisible()).toBe(false)
    expect(await isWide()).toBe(false)

    await images.click()
    const open = page.getByRole('complementary', { name: 'Selected node' })
    await open.waitFor()
    expect((await open.boundingBox())!.y).toBeLessThan(300)
    await open.getByRole('link', { name: 'Close' }).click()
    await rows.first().waitFor()

    await page.getByRole('link', { name: 'Board', exact: true }).click()
    await page.locator('.board .node[data-name="rows"] .name').waitFor()
    expect(await page.locator('#lists').isVisible()).toBe(false)
    expect((await page.locator('.board .node[data-name="rows"]').boundingBox())!.width).toBeGreaterThan(40)
    await page.locator('.board .node[data-name="enrich"]').click()
    await open.waitFor()
    expect(await page.locator('.board').isVisible()).toBe(true)
    expect(await isWide()).toBe(false)
    await leave(window)
  })

  test('the board draws nodes in layers, and wires with their waiting values', async () => {
    const window = await enter(['read'], `/flows/${flow}`)
    const { page } = window
    await page.waitForSelector('.board .node')
    expect(await page.locator('.board .node').count()).toBe(8)
    expect(await page.locator('[data-board] path.wire:not(.all)').count()).toBe(12)
    const left = async (name: string) => (await page.locator(`[data-name="${name}"]`).boundingBox())!.x
    expect(await left('rows')).toBeLessThan(await left('enrich'))
    const top = async (name: string) => (await page.locator(`[data-name="${name}"]`).boundingBox())!.y
    expect(await top('clean')).toBeLessThan(await top('images'))
    expect(await left('images')).toBeLessThan(await left('join'))
    expect(await label(page, 'rejected.out>rejected')).toMatch(/^7/)
    expect(await page.locator('[data-name="join"]').getAttribute('aria-label')).toBe(
      'join, feed/merge, suspended: waits for image',
    )
    expect(await (await page.request.get(page.url())).text()).not.toContain(' style=')
    await leave(window)
  })

  test('changes are drawn without leaving the page', async () => {
    const window = await enter(['read'], `/flows/${flow}`)
    await window.page.waitForSelector('.board .node')
    await site.engine.flows.inject(String(flow), 'index.done>report', ['1', '2'])
    await window.page.waitForFunction(
      () => document.querySelector('.badge[data-wire="index.done>report"] text')?.textContent === '2',
    )
    await leave(window)
  })

  test('a click on a wire shows its values, oldest first, and why its receiver does not run', async () => {
    const window = await enter(['read'], `/flows/${flow}`)
    const { page } = window
    await page.waitForSelector('[data-board] .node')
    await page.locator(`.badge[data-wire="${IMAGES}"]`).click()
    const open = page.getByRole('complementary', { name: 'Selected wire' })
    await open.waitFor()
    expect(await open.textContent()).toMatch(/1,318values wait/)
    expect(await open.locator('.vlist li').count()).toBe(5)
    expect(await open.locator('.vlist li').first().textContent()).toContain('desk-oak')
    expect(page.url()).toContain(at(IMAGES))
    await leave(window)
  })

  test('a user with the scope read sees which scope the buttons need', async () => {
    const window = await enter(['read'], `/flows/${flow}${at(IMAGES)}`)
    for (const name of ['Inject', 'Move to…', 'Drain…', 'Edit graph e'])
      expect(await window.page.getByRole('button', { name, exact: true }).getAttribute('title')).toBe(
        'needs the scope write; your key has read',
      )
    await leave(window)
  })

  test('a value is injected, moved and drained', async () => {
    const window = await enter(['read', 'write'], `/flows/${flow}${at('join.out>index.in')}`)
    const { page } = window
    const before = await sizeOf('join.out>index.in')
    await page.waitForSelector('.board .node')
    await page.keyboard.press('i')
    await page.locator('.opens textarea[name="value"]').fill('{"sku": 12345678901234567890}')
    await page.locator('.opens form').getByRole('button', { name: 'Inject' }).click()
    await page
      .getByText(`${before + 1} value`, { exact: false })
      .first()
      .waitFor()
    const { values } = await site.engine.ports.get(await child('index'), 'in', 'in')
    expect(values.at(-1)!.data).toContain('12345678901234567890')

    await page.getByText('Move to…').click()
    await page.locator('select[name="to"]').selectOption('rows.rejected>rejected.in')
    await page.locator('.opens form').getByRole('button', { name: 'Move' }).click()
    await page.getByText('moved to rows.rejected>rejected.in').waitFor()
    expect(await sizeOf('join.out>index.in')).toBe(0)
    expect(await sizeOf('rows.rejected>rejected.in')).toBe(before + 1)

    await page.goto(`${site.url}/ui/flows/${flow}${at('rows.rejected>rejected.in')}`)
    await page.getByRole('button', { name: 'Drain…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.locator('input[name="sure"]').fill(String(before + 1))
    await dialog.getByRole('button', { name: 'Drain' }).click()
    await page.getByText('Drained').waitFor()
    expect(await sizeOf('rows.rejected>rejected.in')).toBe(0)
    await page.getByRole('button', { name: 'Undo', exact: true }).click()
    await site.until(async () => (await sizeOf('rows.rejected>rejected.in')) === before + 1)
    await leave(window)
  })

  async function started(): Promise<number> {
    const nodes = Object.fromEntries(
      Object.entries(catalog.nodes).map(([name, node]) => [name, { ...node, init: true }]),
    )
    const inputs = { __graph: [{ ...catalog, nodes }] }
    const { id } = (await call()('POST', '/v1/jobs', { queue: 'core', class: 'flow', inputs })) as unknown as {
      id: number
    }
    await site.until(async () => Object.keys((await site.engine.jobs.get(String(id))).children).length === 8)
    return id
  }

  const child = async (name: string) => String((await site.engine.jobs.get(String(flow))).children[name]!.id)

  test('a user draws a wire and a node, removes a wire, previews and applies the changes, and undoes them', async () => {
    const other = await started()
    const window = await enter(['read', 'write'], `/flows/${other}/edit`)
    const { page } = window
    await page.waitForSelector('.board .node')
    const from = page.locator('[data-node="price"][data-dir="out"]')
    const to = page.locator('[data-node="index"][data-dir="in"]')
    const [a, b] = [(await from.boundingBox())!, (await to.boundingBox())!]
    await page.mouse.move(a.x + 4, a.y + 4)
    await page.mouse.down()
    await page.mouse.move(b.x - 40, b.y + 4, { steps: 4 })
    await page.mouse.move(b.x + 4, b.y + 4)
    await page.mouse.up()
    await page.locator('#would').getByText('price.out>index.in').waitFor()

    await page.keyboard.press('n')
    await page.getByLabel('Name of the node').fill('dedupe')
    await page.getByLabel('Queue/class').fill('shop/dedupe')
    await page.keyboard.press('Enter')
    await page.locator('#would').getByText('starts when a value arrives').waitFor()
    for (const port of ['Input dedupe.in', 'Output dedupe.out'])
      await page.locator('#would').getByText(`${port} has no wire`).waitFor()
    await page.locator('.board [data-name="rejected"]').focus()
    await page.keyboard.press('Delete')
    await page
      .locator('#would')
      .getByText(/^#\d+ is removed/)
      .waitFor()
    expect(await page.locator('.board .node.old').getAttribute('data-name')).toBe('rejected')
    expect(await page.locator('[data-board] .wire.cut').count()).toBe(2)
    expect(await page.locator('#lines').textContent()).toContain('"dedupe": {"queue":"shop","class":"dedupe"}')
    expect((await site.engine.flows.get(String(other))).undo).toBe(0)

    await page.keyboard.press('Control+Enter')
    await page.waitForURL(`${site.url}/ui/flows/${other}`)
    const applied = await site.engine.flows.get(String(other))
    expect(Object.keys(applied.graph!.nodes)).toEqual([
      'rows',
      'clean',
      'enrich',
      'images',
      'price',
      'join',
      'index',
      'dedupe',
    ])
    expect(applied.wires.map(({ id }) => id)).toContain('price.out>index.in')

    await page.getByRole('button', { name: /^Undo/ }).click()
    const dialog = page.getByRole('dialog')
    expect(await dialog.textContent()).toMatch(/Undo the last change\?.*Adds node rejected/)
    await dialog.getByRole('button', { name: 'Undo' }).click()
    await site.until(async () => Object.hasOwn((await site.engine.flows.get(String(other))).graph!.nodes, 'rejected'))
    await leave(window)
  })

  async function holdPreviews(page: Page) {
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route('**/graph?preview=true', async (route) => {
      await released
      await route.continue()
    })
    return { release, asked: page.waitForRequest('**/graph?preview=true') }
  }

  test('on a phone, which has no Delete key, nothing could be deleted from a draft', async () => {
    const path = `/flows/${flow}/edit`
    const window = await arrive(browser, site, { path, as: ['read', 'write'], width: 390, height: 844 })
    const { page } = window
    await page.locator('.board [data-name="rows"]').click()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.locator('.board .node.old[data-name="rows"]').waitFor()
    await leave(window)
  })

  test('on a phone, the buttons of a draft filled two rows', async () => {
    const path = `/flows/${flow}/edit`
    const window = await arrive(browser, site, { path, as: ['read', 'write'], width: 390, height: 844 })
    const buttons = window.page.locator('.flowbar .btn[data-edit]')
    const boxes = await buttons.evaluateAll((all) =>
      all.map((one) => ({
        top: one.getBoundingClientRect().top,
        height: one.getBoundingClientRect().height,
        isCut: one.scrollWidth > one.clientWidth,
      })),
    )
    expect(boxes).toHaveLength(5)
    expect(new Set(boxes.map(({ top }) => top)).size).toBe(1)
    for (const { height, isCut } of boxes) {
      expect(height).toBeGreaterThanOrEqual(32)
      expect(isCut).toBe(false)
    }
    await leave(window)
  })

  test('the JSON of a draft opened at its end, below the tools of the drawing', async () => {
    const window = await enter(['read', 'write'], `/flows/${flow}/edit`)
    const { page } = window
    await page.waitForSelector('.board .node')
    await page.getByRole('button', { name: 'JSON' }).click()
    const at = await page.locator('#json').evaluate((one: HTMLTextAreaElement) => [one.selectionStart, one.scrollTop])
    expect(at).toEqual([0, 0])
    expect(await page.locator('.board .tools:visible').count()).toBe(0)
    await page.getByRole('button', { name: 'Drawing' }).click()
    expect(await page.locator('.board .tools:visible').count()).toBe(2)
    await leave(window)
  })

  test('a draft hid until its first change that the key may not apply it', async () => {
    const window = await enter(['read'], `/flows/${flow}/edit`)
    await window.page.getByText('Read-only: Apply changes needs the scope write; your key has read.').waitFor()
    await leave(window)
  })

  test('Delete and Undo looked enabled with nothing to delete or undo', async () => {
    const window = await enter(['read', 'write'], `/flows/${flow}/edit`)
    const { page } = window
    const enabled = (name: string) => page.locator(`[data-edit="${name}"]:enabled`)
    const disabled = (name: string) => page.locator(`[data-edit="${name}"]:disabled`)
    await page.waitForSelector('.board .node')
    await disabled('remove').waitFor()
    await disabled('back').waitFor()
    await page.locator('.board [data-name="rows"]').click()
    await enabled('remove').click()
    await page.locator('.board .node.old[data-name="rows"]').waitFor()
    await disabled('remove').waitFor()
    await enabled('back').click()
    await page.locator('.board .node.old').waitFor({ state: 'detached' })
    await disabled('back').waitFor()
    await leave(window)
  })

  test('a draft without changes said that 0 lines differ, and offered to discard them', async () => {
    const window = await enter(['read', 'write'], `/flows/${flow}/edit`)
    const { page } = window
    const text = page.getByRole('heading', { name: 'As text' })
    await page.waitForSelector('.board .node')
    await page.getByRole('link', { name: 'Close', exact: true }).waitFor()
    expect(await text.isVisible()).toBe(false)
    await page.locator('.board [data-name="rows"]').click()
    await page.keyboard.press('Delete')
    await page.getByRole('link', { name: 'Discard', exact: true }).waitFor()
    await text.waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('link', { name: 'Close', exact: true }).waitFor()
    await text.waitFor({ state: 'hidden' })
    await leave(window)
  })

  test('Ctrl+Enter while the preview is loading applies the change after the preview', async () => {
    const other = await started()
    const window = await enter(['read', 'write'], `/flows/${other}/edit`)
    const { page } = window
    await page.waitForSelector('.board .node')
    const previews = await holdPreviews(page)
    await page.locator('.board [data-name="rejected"]').focus()
    await page.keyboard.press('Delete')
    await previews.asked
    await page.keyboard.press('Control+Enter')
    await page.getByText('Loading the preview. If it has no errors, the graph is applied').waitFor()
    expect((await site.engine.flows.get(String(other))).graph!.nodes).toHaveProperty('rejected')
    previews.release()
    await page.waitForURL(`${site.url}/ui/flows/${other}`)
    expect((await site.engine.flows.get(String(other))).graph!.nodes).not.toHaveProperty('rejected')
    await leave(window)
  })

  test('Ctrl+Enter during a preview applies nothing if it has errors, or if a dialog is open', async () => {
    const other = await started()
    const window = await enter(['read', 'write'], `/flows/${other}/edit`, /status of 400/)
    const { page } = window
    const apply = page.locator('[data-edit="apply"]')
    await page.waitForSelector('.board .node')
    const previews = await holdPreviews(page)
    await page.getByRole('button', { name: 'JSON' }).click()
    await page
      .locator('#json')
      .fill(JSON.stringify({ ...catalog, edges: [{ ...catalog.edges[0], to: { node: 'no', inport: 'in' } }] }))
    await page.keyboard.press('Control+Enter')
    previews.release()
    await page.locator('#would .err').waitFor()
    await page.locator('#json').fill(JSON.stringify({ ...catalog, description: 'Every night' }))
    await page.locator('[data-edit="apply"]:not([disabled])').waitFor()
    await page.unroute('**/graph?preview=true')
    const later = await holdPreviews(page)
    await page.locator('#json').fill(JSON.stringify({ ...catalog, description: 'Every day' }))
    await later.asked
    await page.keyboard.press('Control+Enter')
    await page.locator('[data-edit="node"]').click()
    await page.getByLabel('Name of the node').press('Control+Enter')
    later.release()
    await page.getByText('Preview: nothing is applied yet').waitFor()
    expect(await apply.isDisabled()).toBe(false)
    expect(await page.getByRole('dialog', { name: 'Add a node' }).isVisible()).toBe(true)
    expect((await site.engine.flows.get(String(other))).graph!).not.toHaveProperty('description')
    await leave(window)
  })

  test('an invalid graph shows its error, and can be corrected as JSON', async () => {
    const window = await enter(['read', 'write'], `/flows/${flow}/edit`, /status of 422/)
    const { page } = window
    await page.waitForSelector('.board .node')
    await page.getByRole('button', { name: 'JSON' }).click()
    const wrong = {
      ...catalog,
      edges: [
        ...catalog.edges.slice(1),
        { from: { node: 'rows', outport: 'each' }, to: { node: 'clean', inport: 'inn' } },
      ],
    }
    await page.locator('#json').fill(JSON.stringify(wrong))
    await page
      .getByText('node clean (feed/filter) has no input port "inn"', { exact: false })
      .or(page.getByText(/has no input port "inn"/))
      .first()
      .waitFor()
    expect(await page.locator('[data-edit="apply"]').isDisabled()).toBe(true)
    await page.locator('#json').fill(JSON.stringify({ ...catalog, description: 'Every night' }))
    await page.locator('[data-edit="apply"]:not([disabled])').waitFor()
    await page.getByRole('link', { name: 'Discard' }).click()
    await page.waitForURL(`${site.url}/ui/flows/${flow}`)
    await leave(window)
  })

  test('if two users edit a graph, the second sees the conflict and overwrites nothing', async () => {
    const other = await started()
    const window = await enter(['read', 'write'], `/flows/${other}/edit`, /status of 412/)
    const { page } = window
    await page.waitForSelector('.board .node')
    await call()('PUT', `/v1/flows/${other}/graph`, { ...catalog, description: 'by somebody else' })
    await page.locator('.board [data-name="rejected"]').focus()
    await page.keyboard.press('Delete')
    await page.getByText('the graph has changed').waitFor()
    expect(await page.locator('[data-edit="apply"]').isDisabled()).toBe(true)
    expect((await site.engine.flows.get(String(other))).graph!.description).toBe('by somebody else')
    await leave(window)
  })

  test('without a mouse, a user opens a job and its flow from Overview, changes the flow, and undoes the change', async () => {
    const other = await started()
    const window = await enter(['read', 'write'], '/')
    const { page } = window
    const go = async (key: string, url: string) => {
      await page.keyboard.press('g')
      await page.keyboard.press(key)
      await page.waitForURL(url)
    }
    await go('j', `${site.url}/ui/jobs`)
    await page.goto(`${site.url}/ui/jobs?queue=core`)
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${site.url}/ui/jobs/${other}`)
    await go('f', `${site.url}/ui/flows`)
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${site.url}/ui/flows/${other}`)
    await page.waitForSelector('.board .node')
    await page.locator('.board [data-name="rows"]').focus()
    await page.keyboard.press('ArrowRight')
    const focused = () => page.evaluate(() => (document.activeElement as HTMLElement).dataset.name)
    expect(await focused()).toBe('clean')
    await page.keyboard.press('Enter')
    await page.getByRole('complementary', { name: 'Selected node' }).waitFor()
    await page.keyboard.press('e')
    await page.waitForURL(/\/edit$/)
    await page.waitForSelector('.board .node')
    await page.keyboard.press('w')
    await page.getByLabel('From: node.port').fill('price.out')
    await page.getByLabel('To: node.port').fill('index.in')
    await page.keyboard.press('Enter')
    await page.locator('[data-edit="apply"]:not([disabled])').waitFor()
    await page.keyboard.press('Control+Enter')
    await page.waitForURL(`${site.url}/ui/flows/${other}`)
    await page.getByRole('button', { name: /^Undo/ }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Enter')
    await site.until(async () => (await site.engine.flows.get(String(other))).undo === 0)
    await leave(window)
  })
})
