import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { core } from '../../functions/core.ts'
import { encodeValue } from '../../src/core/codec/value.ts'
import { program, startBrowser } from './browser.ts'
import { serve } from './served.ts'
import { visit } from './visit.ts'

const EVIL = '<img src=x onerror=alert(1)>'
const NAMES = [EVIL, 'مرحبا بالعالم', 'constructor', 'ü'.repeat(127), '"; style="x', '\u202Eevil', 'a.b']
const node = { queue: 'core', class: 'connect' }
const wire = (from: string, to: string, port = '') => ({
  from: { node: from, outport: `out${port}` },
  to: { node: to, inport: `in${port}` },
})
const odd = {
  name: EVIL,
  nodes: Object.fromEntries(NAMES.map((name) => [name, { ...node, init: true }])),
  edges: NAMES.slice(1).map((name, i) => wire(NAMES[i]!, name)),
  outports: { out: { node: NAMES.at(-1)!, outport: 'out' } },
}
const PAIRS = Array.from({ length: 11 }, (_, pair) => [`from${pair}`, `to${pair}`] as const)
const large = {
  nodes: Object.fromEntries(PAIRS.flat().map((name) => [name, { queue: 'nowhere', class: 'any' }])),
  edges: PAIRS.flatMap(([from, to]) => Array.from({ length: 900 }, (_, i) => wire(from, to, String(i)))),
}

let site: Awaited<ReturnType<typeof serve>>
const made: Record<string, string> = {}
const make = async (graph: object) => {
  const id = await site.make('flow', { queue: 'core', inputs: { __graph: [encodeValue(graph)] } })
  await site
    .until(async () => (await site.engine.flows.get(String(id))).graph !== null)
    .catch(async (error) => {
      throw new Error(`${error} ${JSON.stringify((await site.engine.jobs.get(String(id))).error)}`)
    })
  return String(id)
}

beforeAll(async () => {
  site = await serve({ workers: core })
  made.odd = await make(odd)
  made.large = await make(large)
}, 60_000)
afterAll(() => site.close())

test('pages of a flow show names as text in every list, link and attribute', async () => {
  const reader = await site.enter(['read', 'write'])
  const first = `?wire=${encodeURIComponent(`${EVIL}.out>${NAMES[1]}.in`)}`
  for (const path of [
    '/flows',
    ...['', '/edit', first, ...NAMES.map((name) => `?node=${encodeURIComponent(name)}`)].map(
      (rest) => `/flows/${made.odd}${rest}`,
    ),
  ]) {
    const answer = await reader.get(`/ui${path}`)
    expect(answer.status, path).toBe(200)
    const html = await answer.text()
    expect(html, path).not.toContain('<img')
    expect(html, path).not.toMatch(/\sstyle="/)
  }
})

test('a flow with ten thousand wires lists a hundred of them, and draws its board only on request', async () => {
  const reader = await site.enter(['read', 'write'])
  const html = await reader.html(`/ui/flows/${made.large}`)
  expect(html).toContain('most waiting values first: 100 of 9,900')
  expect(html).toContain('?board=1')
  expect(html).not.toContain('data-flow=')
  expect(html.length).toBeLessThan(120_000)
  for (const open of ['node=from0', `wire=${encodeURIComponent('from0.out0>to0.in0')}`]) {
    const opened = await reader.html(`/ui/flows/${made.large}?${open}`)
    expect(opened).toMatch(/aria-label="Selected (node|wire)"/)
    expect(opened.length).toBeLessThan(240_000)
  }
})

describe.skipIf(!program())('in a browser', { timeout: 90_000 }, () => {
  test('the board shows hostile names as text, and each node can be opened', async () => {
    const browser = await startBrowser()
    await visit(browser, site, { path: `/flows/${made.odd}`, as: ['read', 'write'] }, async (page) => {
      await page.waitForSelector('.board .node')
      expect(await page.locator('.board .node').count()).toBe(NAMES.length)
      expect(await page.locator('.board img').count()).toBe(0)
      const box = async (name: string) => (await page.locator('.board .node').nth(NAMES.indexOf(name)).boundingBox())!
      expect((await box(NAMES[3]!)).width).toBeLessThan(400)
      for (const name of ['constructor', EVIL]) {
        await page.locator('.board .node').nth(NAMES.indexOf(name)).click()
        await page.getByRole('complementary', { name: 'Selected node' }).getByText(name).first().waitFor()
      }
      await page.goto(`${site.url}/ui/flows/${made.odd}/edit`)
      await page.waitForSelector('.board .node')
      await page.locator('.board .node').nth(NAMES.indexOf('constructor')).focus()
      await page.keyboard.press('Delete')
      await page.getByText(/^#\d+ is removed/).waitFor()
    }).finally(() => browser.close())
  })
})
