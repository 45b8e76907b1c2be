import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pages as table } from '../../../src/dashboard/pages/index.ts'
import { fillHistory } from '../../history/many.ts'
import { openLoggedIn, program, startBrowser } from '../browser.ts'
import { KEY } from '../kit.ts'
import { FIRST_HISTORY_ID, openPast } from '../many-ended.ts'
import { claimsOf, namesIn, pages, pathOf } from './claims.ts'
import { allJobs, factsOf, type Job } from './facts.ts'
import { type Scene, startScene } from './scene.ts'
import { shapes } from './shapes.ts'
import { differences } from './survey.ts'

const OVERVIEW_REQUESTS = 8
/** A page shows answers that are up to ten seconds old. */
const REPEATED_FOR_MS = 15_000
/** With more jobs, the page of the doctor would take minutes, because it checks 50 jobs per request. */
const MAX_EXAMINED_JOBS = 10_000

/** Accepts a difference below 0.005 in each number. */
function about(value: unknown): unknown {
  if (typeof value === 'number') return expect.closeTo(value, 2)
  if (Array.isArray(value)) return value.map(about)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, about(one)]))
}

function isAbout(received: unknown, expected: unknown): boolean {
  try {
    expect(received).toEqual(about(expected))
    return true
  } catch {
    return false
  }
}

export function suite(size: number, ended: number): void {
  describe.skipIf(!program())('each number of a page', { timeout: 180_000 }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'sidejob-numbers-'))
    const past = openPast(join(folder, 'history.sqlite'))
    let scene: Scene
    let jobs: Job[]
    let browser: Browser
    let page: Page

    beforeAll(async () => {
      await fillHistory(past.db, ended, { first: FIRST_HISTORY_ID })
      scene = await startScene(folder, past, size)
      jobs = await allJobs(scene.site.engine)
      browser = await startBrowser()
      ;({ page } = await openLoggedIn(browser, scene.site.url, KEY))
      for (let n = 0; n < OVERVIEW_REQUESTS; n++) await page.goto(`${scene.site.url}/ui`)
    }, 1_800_000)
    afterAll(async () => {
      await browser?.close()
      await scene?.close()
      past.db.close()
      rmSync(folder, { recursive: true })
    }, 300_000)

    test('each page of the dashboard is read', () => {
      const read = Object.keys(pages).map((path) => path.replace(/\?.*/, ''))
      const isRead = (path: string) => read.some((one) => new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`).test(one))
      expect(table.map(({ path }) => path).filter((path) => !isRead(path))).toEqual([])
    })

    test.each(Object.entries(shapes))('%s', async (_, { path, read, expected }) => {
      for (const end = Date.now() + REPEATED_FOR_MS; Date.now() < end; ) {
        await page.goto(`${scene.site.url}/ui${path}`, { waitUntil: 'networkidle' })
        const facts = await factsOf(scene, jobs)
        if (isAbout(await read(page), expected(facts))) return
      }
      expect(await read(page)).toEqual(about(expected(await factsOf(scene, jobs))))
    })

    const isOpen = ({ status }: Job) => status === 'queued' || status === 'running' || status === 'suspended'
    test.each<[query: string, verb: string, fits: (job: Job) => boolean]>([
      ['class=charge&status=failed', 'retry', (job) => job.class === 'charge' && job.status === 'failed'],
      ['queue=store', 'terminate', (job) => job.queue === 'store' && isOpen(job)],
      ['group=north', 'terminate', (job) => job.group === 'north' && isOpen(job)],
      ['class=digest&queue=mail', 'run', (job) => job.class === 'digest' && (job.runAt ?? 0) > Date.now()],
    ])('%s: the button %s counts each matching job', async (query, verb, fits) => {
      await page.goto(`${scene.site.url}/ui/jobs?${query}`)
      const asks = (fields: [string, string][]) =>
        page.evaluate(async (fields) => {
          const body = new FormData()
          for (const [name, value] of fields) body.append(name, value)
          const csrf = document.querySelector<HTMLMetaElement>('meta[name=csrf]')!.content
          const headers = { accept: 'application/json', 'x-csrf': csrf }
          const { confirm } = await (await fetch(location.href, { method: 'POST', body, headers })).json()
          const dialog = new DOMParser().parseFromString(confirm, 'text/html')
          const hidden = [...dialog.querySelectorAll<HTMLInputElement>('input[type=hidden]')]
          return {
            isCounting: dialog.querySelector('[data-counting]') !== null,
            fields: hidden.map(({ name, value }): [string, string] => [name, value]),
            buttons: [...dialog.querySelectorAll('button')].map((one) => one.textContent!.trim()),
          }
        }, fields)
      let asked = await asks(Object.entries({ act: 'selected', do: verb, fit: 'all' }))
      for (let n = 0; asked.isCounting && n < 200; n++) asked = await asks(asked.fields)
      const number = Number(/[\d,]+/.exec(asked.buttons.find((text) => /\d/.test(text)) ?? '')?.[0].replaceAll(',', ''))
      expect(number).toBe(jobs.filter(fits).length)
    })

    test.each(['', '/queues/store'])('the meters of %s show the used shares of leases', async (path) => {
      const from = Date.now()
      await page.goto(`${scene.site.url}/ui${path}`, { waitUntil: 'networkidle' })
      const shown = await page.locator('tr:has(rect.ghost)').evaluateAll((rows) =>
        rows.map((row) => ({
          job: row.querySelector('.id')!.textContent!.slice(1),
          share: row.querySelector<SVGRectElement>('rect:not(.ghost)')!.width.baseVal.value / 56,
        })),
      )
      const to = Date.now()
      expect(shown).toHaveLength(6)
      for (const { job, share } of shown) {
        const { startedAt, leaseUntil } = (await scene.site.engine.jobs.get(job)).run!
        const used = (at: number) => Math.min(1, (at - startedAt) / (leaseUntil - startedAt))
        // The browser rounds widths to hundredths of a pixel.
        expect(share).toBeGreaterThan(used(from) - 0.0002)
        expect(share).toBeLessThan(used(to) + 0.0002)
      }
    })

    const isFast = (path: string) => size <= MAX_EXAMINED_JOBS || !path.endsWith('&run')
    test.each(Object.keys(pages).filter(isFast))('%s', async (path) => {
      let found: object = {}
      for (const end = Date.now() + REPEATED_FOR_MS; Date.now() < end; ) {
        const facts = await factsOf(scene, jobs)
        const claims = await claimsOf(path, facts, scene)
        const from = Date.now()
        const isExamining = path.endsWith('&run')
        const waitUntil = isExamining ? 'load' : 'networkidle'
        await page.goto(`${scene.site.url}/ui${pathOf(path, scene)}`, { waitUntil })
        if (isExamining) await page.getByText('All jobs are checked').waitFor()
        found = await differences(page, claims, namesIn(facts), from)
        if (Object.keys(found).length === 0) return
      }
      expect(found).toEqual({})
    })
  })
}
