import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defineWorker } from '../../src/index.ts'
import { contentWidth, findings, program, startBrowser } from './browser.ts'
import { count, countsOf } from './counted.ts'
import { KEY } from './kit.ts'
import { fails, waits } from './seed-jobs.ts'
import { serve } from './served.ts'
import { visit } from './visit.ts'

const quiet = defineWorker({ class: 'quiet', perform: () => {} })

describe.skipIf(!program())('in a browser', { timeout: 90_000 }, () => {
  let served: Awaited<ReturnType<typeof serve>>
  let browser: Browser

  beforeAll(async () => {
    served = await serve({ workers: [waits, fails, quiet] })
    for (const _ of [1, 2, 3]) await served.rest(await served.make('waits'))
    for (const _ of [1, 2]) await served.rest(await served.make('fails'))
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await served?.close()
  })

  const at = (path: string, use: (page: Page) => Promise<void>, as = KEY, still = true) =>
    visit(browser, served, { path, as, still, before: count }, use)

  test('new rows wait above the list until the user shows them', () =>
    at('/jobs', async (page) => {
      const first = page.locator('#rows > tr').first()
      const id = await first.getAttribute('id')
      const made = await served.make('waits')
      await page.getByRole('button', { name: /Show 1 new/ }).waitFor()
      expect(await first.getAttribute('id')).toBe(id)
      await page.keyboard.press('.')
      await page.locator(`#row-${made}`).waitFor()
      expect(await page.locator('#new-rows').isHidden()).toBe(true)
    }))

  test('a refresh that began before an action showed the former state after it', async () => {
    await served.engine.workers.register('many', 'idle', { pull: true })
    await at('/queues/many', async (page) => {
      const [read, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      let refreshes = 0
      await page.route('**/ui/queues/many', async (route) => {
        if (!route.request().headers()['x-live'] || refreshes++ > 0) return route.continue()
        const response = await route.fetch()
        read.resolve()
        await released.promise
        await route.fulfill({ response })
      })
      await read.promise
      await page.locator('form[data-act="pause"] button').first().click()
      const resume = page.locator('form[data-act="resume"] button').first()
      await resume.waitFor()
      const { looks } = await countsOf(page)
      released.resolve()
      await page.waitForTimeout(500)
      expect((await countsOf(page)).looks).toBe(looks)
      expect(await resume.isVisible()).toBe(true)
      await resume.click()
    })
  })

  test('the address contains the selection, and opening it restores the selection', () =>
    at('/jobs', async (page) => {
      const boxes = page.locator('#rows input[name="sel"]')
      const ids = await boxes.evaluateAll((all) => all.map((one) => (one as HTMLInputElement).value))
      await boxes.nth(0).check()
      await boxes.nth(2).check()
      const said = () => new URL(page.url()).searchParams.get('sel')
      expect(said()).toBe([ids[0], ids[2]].join(','))
      await page.reload()
      await page.locator('.bulk').getByText('2 selected').waitFor()
      expect(await boxes.nth(2).isChecked()).toBe(true)
      await boxes.nth(2).uncheck()
      expect(said()).toBe(ids[0])
      await page.keyboard.press('Escape')
      expect(said()).toBeNull()
    }))

  test('a row lit up under the pointer, but a click on its empty part did nothing', () =>
    at('/jobs', async (page) => {
      const row = page.locator('#rows > tr').last()
      const id = await row.getAttribute('data-row')
      await row.locator('td.fill').click()
      await page.waitForURL(`${served.url}/ui/jobs/${id}`)
    }))

  test('a click between the fields of a menu in a row opened the row, and the input was lost', () =>
    at('/jobs', async (page) => {
      const id = await served.make('waits')
      await served.rest(id)
      await page.goto(`${served.url}/ui/jobs/${id}`)
      const write = page.locator('.ports tr:has(b) details.more:has(form[data-act="write"])').first()
      await write.locator('summary').click()
      await write.locator('input, textarea').last().fill('7')
      await write.locator('.menu').click({ position: { x: 3, y: 3 } })
      await write.getByRole('button', { name: /^Write/ }).click()
      await page.locator('.toast').getByText('Value written').waitFor()
    }))

  test('on phones jobs could not be selected, so waiting jobs could not be terminated', () =>
    visit(browser, served, { path: '/jobs?status=suspended', width: 390, height: 844 }, async (page) => {
      const ids = await Promise.all([1, 2].map(() => served.make('waits')))
      for (const id of ids) await served.rest(id)
      await page.goto(`${served.url}/ui/jobs?status=suspended`)
      await page.waitForLoadState()
      const box = page.locator(`#row-${ids[0]} .check`)
      expect(await box.isVisible()).toBe(false)
      await page.getByLabel('Select', { exact: true }).check()
      await page.locator(`#row-${ids[0]} td.fill`).click()
      await page
        .locator(`#row-${ids[1]}`)
        .getByRole('link', { name: `#${ids[1]}` })
        .click()
      await page.locator('.bulk').getByText('2 selected').waitFor()
      expect(await box.isVisible()).toBe(true)
      expect(await contentWidth(page)).toBe(390)
      await page.locator('.bulk').getByRole('button', { name: 'Terminate' }).click()
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /^Terminate/ })
        .click()
      await page.locator(`#row-${ids[0]}`).waitFor({ state: 'detached' })
      for (const id of ids)
        await served.until(async () => (await served.engine.jobs.get(String(id))).status === 'terminated')
    }))

  test('a row opens in a drawer, and its buttons work there', () =>
    at('/jobs', async (page) => {
      const id = await served.make('waits')
      await served.rest(id)
      await page.goto(`${served.url}/ui/jobs`)
      await page.keyboard.press('j')
      await page.keyboard.press(' ')
      const drawer = page.getByRole('dialog', { name: new RegExp(`#${id}`) })
      await drawer.getByText('It waits for a value on port n.').waitFor()
      await drawer.getByRole('button', { name: /^Run now/ }).click()
      await page.locator('.toast', { hasText: `#${id}` }).waitFor()
      await page.keyboard.press('Escape')
      expect(await page.getByRole('dialog').count()).toBe(0)
    }))

  test('the preview of a job showed "No result" below the card, and the focus was on a link of its facts', () =>
    at('/jobs', async (page) => {
      const id = await served.make('quiet', { args: { n: 1 } })
      await served.rest(id)
      await page.goto(`${served.url}/ui/jobs`)
      await page.keyboard.press('j')
      await page.keyboard.press(' ')
      const drawer = page.getByRole('dialog', { name: new RegExp(`#${id}`) })
      await drawer.getByRole('region', { name: 'Result' }).getByText('No result').waitFor()
      expect(await drawer.locator('> .empty').count()).toBe(0)
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Open')
      await page.keyboard.press('Enter')
      await page.waitForURL(`**/jobs/${id}`)
    }))

  test('with all matching jobs chosen, the bar counted the rows of the page, and most rows were not marked', () =>
    at('/jobs?status=suspended', async (page) => {
      await page.locator('#rows input[name="sel"]').first().check()
      await page.locator('.bulk').getByText('1 selected').waitFor()
      const all = await page.locator('#rows > tr').count()
      expect(all).toBeGreaterThan(1)
      await page.getByLabel('all matching jobs').check()
      await page.locator('.bulk').getByText(`${all} selected`).waitFor()
      const marked = page.locator('#rows > tr[aria-selected="true"]')
      const head = page.locator('[data-do="select-all"]')
      expect(await marked.count()).toBe(all)
      expect(await head.isChecked()).toBe(true)
      await page.locator('#rows input[name="sel"]').first().uncheck()
      await page
        .locator('.bulk')
        .getByText(`${all - 1} selected`)
        .waitFor()
      expect(await page.getByLabel('all matching jobs').isChecked()).toBe(false)
      await page.getByLabel('all matching jobs').check()
      expect(await marked.count()).toBe(all)
      await page.keyboard.press('Escape')
      expect(await marked.count()).toBe(0)
      await page.locator('#rows input[name="sel"]').first().check()
      await page.getByLabel('all matching jobs').check()
      await page.getByLabel('all matching jobs').uncheck()
      expect(await marked.count()).toBe(0)
      expect(await head.isChecked()).toBe(false)
    }))

  test('rows stayed selected after their action was confirmed', () =>
    at('/jobs?status=suspended', async (page) => {
      const ids = [await served.make('waits'), await served.make('waits')]
      for (const id of ids) await served.rest(id)
      await page.goto(`${served.url}/ui/jobs`)
      for (const id of ids) await page.locator(`#row-${id} input[name="sel"]`).check()
      await page.locator('.bulk').getByRole('button', { name: 'Terminate' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Terminate 2' }).click()
      await page.getByText('Terminate: 2 jobs').waitFor()
      for (const id of ids) expect(await page.locator(`#row-${id} input[name="sel"]`).isChecked()).toBe(false)
      expect(new URL(page.url()).searchParams.get('sel')).toBeNull()
    }))

  test.each([
    ['has the ground of its new status for a moment', false, 1],
    ['changes at once where motion is not wanted', true, 0],
  ] as const)('a row whose status changed %s', (_, still, grounds) =>
    at(
      '/jobs',
      async (page) => {
        const id = await served.make('waits')
        await served.rest(id)
        await page.goto(`${served.url}/ui/jobs`)
        const row = page.locator(`#row-${id}`)
        await row.waitFor()
        await served.engine.jobs.terminate(String(id), { recursive: false })
        await row.locator('.st.terminated').waitFor()
        // The page counts animations, because an animation may end before the test sees it.
        const rows = (await countsOf(page)).grounds
        expect(rows.length).toBe(grounds)
        for (const text of rows) expect(text).toContain(`#${id}`)
      },
      KEY,
      still,
    ),
  )

  test('the page of a job links to the next and previous job of the list', () =>
    at('/jobs', async (page) => {
      await page.locator('#row-2 b').click()
      await page.waitForURL(`${served.url}/ui/jobs/2`)
      await page.getByText(/^\d+ of \d+$/).waitFor()
      await page.keyboard.press(']')
      await page.waitForURL(`${served.url}/ui/jobs/1`)
      expect(await page.getByRole('link', { name: 'Next job' }).count()).toBe(0)
      await page.keyboard.press('[')
      await page.waitForURL(`${served.url}/ui/jobs/2`)
      await page.getByText(/^\d+ of \d+$/).click()
      await page.waitForURL(`${served.url}/ui/jobs`)
    }))

  test('an admin shares a view, other users see it, and the admin removes it', async () => {
    await at('/jobs?class=waits', async (page) => {
      await page.getByText('Save this view').click()
      await page.getByLabel('Name').fill('Waiters')
      await page.getByRole('button', { name: 'Share with everyone' }).click()
      await page.locator('.toast', { hasText: 'View Waiters is shared with everyone' }).waitFor()
    })
    const { key } = await served.engine.keys.add({ name: 'reader', scopes: ['read'] })
    await at(
      '/jobs',
      async (page) => {
        await page.getByRole('link', { name: 'Waiters' }).click()
        await page.waitForURL(`${served.url}/ui/jobs?class=waits`)
        expect(await page.getByRole('button', { name: 'Delete view Waiters' }).isDisabled()).toBe(true)
      },
      key,
    )
    await at('/jobs?class=waits', async (page) => {
      await page.getByRole('button', { name: 'Delete view Waiters' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
      await page.locator('.toast', { hasText: 'View Waiters deleted' }).waitFor()
      expect((await served.engine.views.list()).views).toEqual([])
    })
  })

  test('failed jobs are grouped by kind of error on Overview and Jobs, and a kind is retried after a question', async () => {
    await at('/', async (page) => {
      await page
        .getByRole('link', { name: /no answer from host/ })
        .first()
        .waitFor()
    })
    await at('/jobs?status=failed', async (page) => {
      expect(await page.locator('.kinds mark').first().innerText()).toMatch(/^\d+$/)
      await page.getByRole('button', { name: /^Retry all of this kind, fails/ }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Retry 2' }).click()
      await page.waitForURL(/class=fails&bulk=/)
      await served.until(async () =>
        (await served.engine.jobs.list({ class: 'fails' })).jobs.every(({ attempt }) => attempt >= 1),
      )
    })
  })

  test('a kind of error is muted, found among the muted kinds, and restored by Undo', async () => {
    await served.until(async () =>
      (await served.engine.jobs.list({ class: 'fails' })).jobs.every(({ status }) => status === 'failed'),
    )
    const mute = (page: Page) => page.getByRole('button', { name: /^Mute fails: no answer from host [^w]*$/ })
    await at('/jobs?status=failed', async (page) => {
      await mute(page).click()
      await page.locator('.toast', { hasText: 'Error muted until unmuted' }).waitFor()
      await page.getByText('The errors of all failed jobs are muted.').waitFor()
      await page.getByRole('link', { name: '1 muted' }).click()
      await page.waitForURL(/muted=true/)
      await page.locator('.kinds .tag', { hasText: 'muted by' }).waitFor()
      await page.getByRole('button', { name: /^Unmute fails/ }).click()
      await page.locator('.toast', { hasText: 'Error unmuted' }).getByRole('button', { name: 'Undo' }).click()
      await page.getByRole('button', { name: /^Unmute fails/ }).click()
      await mute(page).waitFor()
      expect((await served.engine.errors.list({})).muted).toEqual([])
      await page.locator('summary[aria-label^="Mute fails"]').click()
      await page.getByRole('button', { name: 'For a day' }).click()
      await page.locator('.toast', { hasText: 'Error muted for a day' }).waitFor()
      const [one] = (await served.engine.errors.list({})).muted
      expect(one!.until! - Date.now()).toBeGreaterThan(86_000_000)
    })
    await at('/', async (page) => {
      await page.getByText('The errors of all failed jobs are muted.').waitFor()
    })
  })

  test.each([390, 320])(
    'on a phone %i px wide a kind of error is muted, also for a while, and restored',
    async (width) => {
      const look = { path: '/jobs?status=failed&muted=true', width, height: 800 }
      await visit(browser, served, look, async (page) => {
        const button = (name: RegExp) => page.locator('.kinds').getByRole('button', { name })
        const isWithin = async (one: Locator) => {
          const { x, width: own, height } = (await one.boundingBox())!
          return x >= 0 && x + own <= width && height >= 32
        }
        await button(/^Unmute fails/).click()
        expect(await isWithin(button(/^Mute fails: no answer from host [^w]*$/))).toBe(true)
        expect(await isWithin(button(/^Retry all of this kind, fails/))).toBe(true)
        await page.locator('.kinds summary').click()
        expect(await isWithin(button(/^For a week$/))).toBe(true)
        expect(await page.locator('.kinds').evaluate((card) => card.scrollHeight <= card.clientHeight)).toBe(true)
        expect(await findings(page)).toEqual([])
        expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
        await button(/^For an hour$/).click()
        await page.locator('.toast', { hasText: 'Error muted for an hour' }).waitFor()
        expect(await isWithin(button(/^Unmute fails/))).toBe(true)
        await button(/^Unmute fails/).click()
        await button(/^Mute fails: no answer from host [^w]*$/).click()
        await page.locator('.toast', { hasText: 'Error muted until unmuted' }).waitFor()
        expect((await served.engine.errors.list({})).muted).toMatchObject([{ until: null }])
      })
    },
  )

  test('a host with an open breaker is called again at once', async () => {
    const host = 'hooks.example'
    const settings = { threshold: 3, base: 60_000, cap: 60_000, probing: 5_000 }
    for (const _ of [1, 2, 3]) await served.store.breaker(host, 'failed', settings)
    await at('/limits', async (page) => {
      await page.getByRole('button', { name: `Resume calls to ${host}` }).click()
      await page.locator('.toast', { hasText: `Calls to ${host} resume` }).waitFor()
      expect((await served.engine.breakers.list()).breakers).toEqual([])
      expect((await served.store.breaker(host, 'ask', settings)).state).toBe('closed')
    })
  })

  test('a refresh carries only changed rows', () =>
    at('/jobs', async (page) => {
      const answers: { type?: string; bytes: number }[] = []
      page.on('response', async (answer) => {
        if (!answer.request().headers()['x-live'] || answer.status() !== 200) return
        answers.push({ type: answer.headers()['content-type'], bytes: (await answer.body()).length })
      })
      const shown = async () => {
        const id = await served.make('waits')
        await page.getByRole('button', { name: /Show 1 new/ }).waitFor()
        await page.keyboard.press('.')
        await page.locator(`#row-${id}`).waitFor()
      }
      await shown()
      await shown()
      const [first, last] = [answers[0]!, answers.at(-1)!]
      expect([first.type, last.type]).toEqual(['application/json', 'application/json'])
      expect(last.bytes).toBeLessThan(first.bytes / 4)
    }))

  test('on a phone a long group leaves room for the id and the time of a job', async () => {
    const id = await served.make('waits', { group: { id: 'callback:127.0.0.1:43565:4c3df8a86f4' } })
    await visit(browser, served, { path: '/jobs', width: 390, height: 844 }, async (page) => {
      // In one step, because a refresh of the list restores the texts.
      const seen = await page.locator(`#row-${id}`).evaluate((row) => {
        const part = (selector: string) => row.querySelector<HTMLElement>(selector)!
        const [name, group] = [part('td.cls a'), part('td.cls .tag')]
        const [link, time] = [part('td:nth-child(3) a'), part('td:last-child time')]
        link.replaceChildren('#12345678')
        time.replaceChildren('59 min ago')
        const boxes = [name, group, link, time].map((one) => one.getBoundingClientRect())
        return {
          gaps: boxes.slice(1).map(({ left }, n) => left - boxes[n]!.right),
          end: boxes[3]!.right,
          isNameCut: name.scrollWidth > name.clientWidth,
          isGroupCut: group.scrollWidth > group.clientWidth,
          title: group.title,
          height: row.getBoundingClientRect().height,
        }
      })
      for (const gap of seen.gaps) expect(gap).toBeGreaterThanOrEqual(4)
      expect(seen.end).toBeLessThanOrEqual(374)
      expect([seen.isNameCut, seen.isGroupCut]).toEqual([false, true])
      expect(seen.title).toBe('callback:127.0.0.1:43565:4c3df8a86f4')
      expect(seen.height).toBeLessThanOrEqual(64)
    })
  })

  test('on a phone a waiting job could not be duplicated, and its menu opened the keyboard', async () => {
    const id = await served.make('waits')
    await served.rest(id)
    await visit(browser, served, { path: `/jobs/${id}`, width: 390, height: 844 }, async (page) => {
      await page.locator('.jobhead summary').click()
      expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('SUMMARY')
      await page.locator('.jobhead .menu').getByRole('link', { name: 'Duplicate', exact: true }).click()
      await page.getByRole('heading', { name: `Duplicate #${id}` }).waitFor()
    })
  })

  test.each([
    ['waited above the list', '#rows > tr'],
    ['were shown', '#new-rows'],
  ])('after new jobs %s, rows between the first page and the older rows were missing', async (_, shown) => {
    const jobs = Array.from({ length: 60 }, () => ({ queue: 'many', class: 'idle' }))
    await served.engine.workers.register('many', 'idle', { pull: true })
    await served.engine.jobs.enqueue(jobs)
    await at('/jobs?queue=many', async (page) => {
      const all = page.locator(':is(#rows, [data-older]) > tr')
      await page.getByRole('link', { name: 'Older jobs' }).click()
      await expect.poll(() => all.count()).toBeGreaterThan(50)
      const before = await all.count()
      await served.engine.jobs.enqueue(jobs.slice(0, 7))
      await page.getByRole('button', { name: /Show 7 new/ }).waitFor()
      if (shown === '#new-rows') await page.locator(shown).click()
      await expect.poll(() => all.count()).toBe(shown === '#new-rows' ? before + 7 : before)
      const ids = await all.evaluateAll((rows) => rows.map(({ id }) => Number(id.slice('row-'.length))))
      const known = (await served.engine.jobs.list({ queue: 'many', limit: 200 })).jobs.map(({ id }) => id)
      const first = known.indexOf(ids[0]!)
      expect(ids).toEqual(known.slice(first, first + ids.length))
    })
  })
})
