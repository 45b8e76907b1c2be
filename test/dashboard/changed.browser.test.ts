import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { core } from '../../functions/core.ts'
import { encodeValue } from '../../src/core/codec/value.ts'
import { defineWorker } from '../../src/index.ts'
import { startReceiver } from '../kit/receiver.ts'
import { program, startBrowser } from './browser.ts'
import { count, countsOf } from './counted.ts'
import { fails } from './seed-jobs.ts'
import { serve } from './served.ts'
import { visit } from './visit.ts'

const answers = defineWorker({ class: 'answers', perform: () => 42 })
const NODES = 301

describe.skipIf(!program())('in a browser', { timeout: 90_000 }, () => {
  let site: Awaited<ReturnType<typeof serve>>
  let browser: Browser

  beforeAll(async () => {
    site = await serve({ workers: [answers, fails, ...core] })
    await site.engine.workers.register('default', 'pulled', { pull: true })
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  /** `parts`: number of elements that show the row. */
  type Row = {
    path: string
    text: string
    was?: string
    is?: string
    parts?: number
    change: () => Promise<unknown>
  }

  async function schedule(name: string) {
    const repeat = { cron: '0 0 1 1 *' }
    const { job } = await site.engine.schedules.set(name, { queue: 'default', class: 'fails', repeat } as never)
    return { path: '/schedules', text: name, parts: 4, job: String(job) }
  }

  async function flow(nodes: object): Promise<string> {
    const id = await site.make('flow', { queue: 'core', inputs: { __graph: [encodeValue({ nodes, edges: [] })] } })
    await site.until(async () => (await site.engine.flows.get(String(id))).graph !== null)
    return String(id)
  }

  const rows: Record<string, () => Promise<Row>> = {
    async Flows() {
      const id = await flow({ a: { queue: 'default', class: 'pulled', init: true } })
      const change = () => site.engine.jobs.terminate(id, { recursive: true })
      return { path: '/flows', text: `#${id}`, was: 'suspended', is: 'terminated', change }
    },
    async 'a flow of many nodes, as a list'() {
      const names = Array.from({ length: NODES }, (_, i) => `n${i}`)
      const node = { queue: 'default', class: 'pulled' }
      const id = await flow(
        Object.fromEntries(names.map((name) => [name, name === 'n7' ? { ...node, init: true } : node])),
      )
      await site.until(async () => (await site.engine.jobs.get(id)).children.n7 !== undefined)
      const child = String((await site.engine.jobs.get(id)).children.n7!.id)
      const change = () => site.engine.jobs.terminate(child, {})
      return { path: `/flows/${id}`, text: 'n7', was: 'queued', is: 'terminated', change }
    },
    async Callbacks() {
      const receiver = await startReceiver()
      receiver.answer = (_, response) => response.writeHead(404).end()
      const id = await site.make('answers', { callback: { url: `${receiver.url}/hook`, retry: [] } })
      const state = async () => (await site.engine.callbacks.list({})).callbacks.find(({ of }) => of === id)?.state
      await site.until(async () => (await state()) === 'FAILED')
      receiver.answer = (_, response) => response.end()
      const change = async () => {
        await site.engine.callbacks.resend(String(id))
        await site.until(async () => (await state()) === 'DELIVERED')
        await receiver.close()
      }
      return { path: '/callbacks', text: `#${id}`, was: 'failed', is: 'completed', change }
    },
    async Queues() {
      await site.engine.queues.update('default', { paused: false })
      const change = () => site.engine.queues.update('default', { paused: true })
      return { path: '/queues', text: 'default', is: 'suspended', change }
    },
    async 'Queues, one of them resumed'() {
      await site.engine.queues.update('default', { paused: true })
      const change = () => site.engine.queues.update('default', { paused: false })
      return { path: '/queues', text: 'default', was: 'suspended', change }
    },
    async Schedules() {
      const { job, ...row } = await schedule(`yearly_${Date.now()}`)
      const change = async () => {
        await site.engine.jobs.run(job, {})
        await site.until(async () => (await site.engine.schedules.get(job)).failing)
      }
      return { ...row, is: 'failed', change }
    },
    async 'Schedules, one of them paused'() {
      const { job, ...row } = await schedule(`paused_${Date.now()}`)
      return { ...row, is: 'suspended', change: () => site.engine.schedules.pause(job) }
    },
    async 'the family of a job'() {
      const [parent, child] = [await site.make('pulled'), await site.make('pulled')]
      await site.engine.jobs.adopt(String(parent), { job: String(child), name: 'parcel' })
      const change = () => site.engine.jobs.terminate(String(child), {})
      return { path: `/jobs/${parent}`, text: 'parcel', was: 'queued', is: 'terminated', change }
    },
  }

  async function lookUntil(page: Page, isShown: () => Promise<boolean>): Promise<void> {
    await site.until(async () => {
      await page.keyboard.press('.')
      return isShown()
    })
  }

  const both = [
    ['has the ground of its new status', false],
    ['has none where motion is not wanted', true],
  ] as const

  describe.each(Object.keys(rows))('%s: a changed row', (name) => {
    test.each(both)('%s', async (_, still) => {
      const { path, text, was, is, parts = 1, change } = await rows[name]!()
      await visit(browser, site, { path, still, before: count }, async (page) => {
        const row = page.locator('#main :is(tr, li, .sch)', { hasText: text }).first()
        const whole = parts === 1 ? row : row.locator('xpath=self::*|following-sibling::*[position()<4]')
        const has = async (status?: string) =>
          status === undefined
            ? (await row.count()) === 1 && (await whole.locator('.st').count()) === 0
            : (await whole.locator(`.st.${status}`).count()) > 0
        await site.until(() => has(was))
        expect((await countsOf(page)).grounds).toEqual([])
        await change()
        await lookUntil(page, () => has(is))
        const { grounds } = await countsOf(page)
        expect(grounds.length).toBe(still ? 0 : parts)
        if (!still) expect(grounds[0]).toContain(text)
      })
    })
  })
})
