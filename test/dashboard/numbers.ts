// Every text with a digit on every page is compared with the API, with SQL, or with the jobs as the API lists them.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pages as table } from '../../src/dashboard/pages/index.ts'
import { fillHistory } from '../history/many.ts'
import { logIn, program, startBrowser } from './browser.ts'
import { KEY } from './kit.ts'
import { FIRST, openPast } from './many-ended.ts'
import { allJobs, claimsOf, factsOf, type Job, namesIn, pages, pathOf } from './numbers-claims.ts'
import { type Scene, startScene } from './numbers-scene.ts'
import { differences } from './numbers-survey.ts'

/** Overview asks for its parts one after the other. */
const LOOKS = 8
const TRIES = 3

/** `ended`: number of older ended jobs in the history. */
export function suite(size: number, ended: number): void {
  describe.skipIf(!program())('each number of a page', { timeout: 180_000 }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'sidejob-numbers-'))
    const past = openPast(join(folder, 'history.sqlite'))
    let scene: Scene
    let jobs: Job[]
    let browser: Browser
    let page: Page

    beforeAll(async () => {
      await fillHistory(past.db, ended, { first: FIRST })
      scene = await startScene(folder, past, size)
      jobs = await allJobs(scene.site.engine)
      browser = await startBrowser()
      ;({ page } = await logIn(browser, scene.site.url, KEY))
      for (let n = 0; n < LOOKS; n++) await page.goto(`${scene.site.url}/ui`)
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

    /** A minute may begin between the page and the API. */
    test.each(Object.keys(pages))('%s', async (path) => {
      let found: object = {}
      for (let n = 0; n < TRIES; n++) {
        const facts = await factsOf(scene, jobs)
        const claims = await claimsOf(path, facts, scene)
        await page.goto(`${scene.site.url}/ui${pathOf(path, scene)}`, { waitUntil: 'networkidle' })
        found = await differences(page, claims, namesIn(facts))
        if (Object.keys(found).length === 0) return
      }
      expect(found).toEqual({})
    })
  })
}
