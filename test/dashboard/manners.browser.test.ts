import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encodeValue } from '../../src/core/codec/value.ts'
import { type Look, program, startBrowser } from './browser.ts'
import { KEY } from './kit.ts'
import { serveJobs } from './seed-jobs.ts'
import type { serve } from './served.ts'
import { visit } from './visit.ts'

describe.skipIf(!program())('in a browser', { timeout: 90_000 }, () => {
  let site: Awaited<ReturnType<typeof serve>>
  let browser: Browser
  let ids: Record<string, number>

  beforeAll(async () => {
    ;({ site, ids } = await serveJobs())
    browser = await startBrowser()
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  const at = (path: string, use: (page: Page) => Promise<void>, look: Look = {}, allowed?: RegExp) =>
    visit(browser, site, { ...look, path, allowed }, use)

  describe('feedback after an action', () => {
    test('a toast with Undo stays for ten seconds, and no longer', () =>
      at('/queues/core', async (page) => {
        await page.clock.install()
        await page.reload()
        await page.getByRole('button', { name: 'Pause' }).waitFor()
        await page.clock.pauseAt(Date.now() + 60_000)
        await page.getByRole('button', { name: 'Pause' }).click()
        const undo = page.getByRole('button', { name: 'Undo' })
        await site.until(async () => {
          await page.clock.runFor(10)
          return (await undo.count()) === 1
        })
        await page.clock.runFor(7_000)
        expect(await undo.count()).toBe(1)
        await page.clock.runFor(3_500)
        expect(await undo.count()).toBe(0)
        await page.clock.resume()
        await page.getByRole('button', { name: 'Resume' }).click()
        await site.until(async () => !(await site.engine.queues.list()).queues.some(({ paused }) => paused))
      }))

    test('after a pause was resumed, a second Undo stayed, and no toast could be closed', () =>
      at('/queues/core', async (page) => {
        await page.getByRole('button', { name: 'Pause' }).click()
        await page.locator('.toast', { hasText: 'was paused' }).waitFor()
        await page.getByRole('button', { name: 'Resume' }).click()
        await page.locator('.toast', { hasText: 'was resumed' }).waitFor()
        expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(1)
        await page.locator('.toast').getByRole('button', { name: 'Close' }).click()
        expect(await page.locator('.toast').count()).toBe(0)
      }))

    test('above a new job, the breadcrumb said "New job" and the page did not refresh itself', () =>
      at('/jobs/new?queue=default&class=fails', async (page) => {
        expect(await page.locator('#live').count()).toBe(0)
        await page.locator('form[data-preview]').getByRole('button', { name: 'Create job' }).click()
        await page.locator('.crumbs [aria-current]', { hasText: /^fails #\d+$/ }).waitFor()
        await page.locator('#live.live', { hasText: 'Live' }).waitFor()
      }))

    const publishInVain = async (page: Page) => {
      await page.route('**/ui/channels', (route) => {
        const body = route.request().postData()
        return body && !body.includes('preview') ? route.abort() : route.continue()
      })
      await page.locator('input[name="channel"]').fill('/news')
      await page.getByText('No port would receive it.').waitFor()
      await page.locator('textarea[name="message"]').fill('1')
      await page.getByRole('button', { name: 'Publish' }).click()
      const alert = page.getByRole('alert').filter({ hasText: 'No response' })
      await alert.waitFor()
      return alert
    }

    test('an error stays until it is read, and is an alert', () =>
      at(
        '/channels',
        async (page) => {
          await page.clock.install()
          await page.reload()
          const alert = await publishInVain(page)
          await page.clock.runFor(120_000)
          expect(await alert.count()).toBe(1)
          await alert.getByRole('button', { name: 'Close' }).click()
          expect(await alert.count()).toBe(0)
        },
        {},
        /ERR_FAILED/,
      ))

    test('an error appears next to the pressed button, and in the corner if there is no room or the page scrolls', async () => {
      const wrong = async (page: Page) => {
        const alert = await publishInVain(page)
        const [button, told] = [
          (await page.getByRole('button', { name: 'Publish' }).boundingBox())!,
          (await alert.boundingBox())!,
        ]
        return { alert, below: told.y - button.y - button.height, left: told.x - button.x }
      }
      await at(
        '/channels',
        async (page) => {
          const { alert, below, left } = await wrong(page)
          expect([below, left].map(Math.round)).toEqual([8, 0])
          await page.evaluate(() => dispatchEvent(new Event('scroll')))
          const { x, width } = (await alert.boundingBox())!
          expect(Math.round(x + width)).toBe(1440 - 20)
        },
        {},
        /ERR_FAILED/,
      )
      const phone = { width: 390, height: 844 }
      await at(
        '/channels',
        async (page) => expect(await (await wrong(page)).alert.getAttribute('class')).toBe('toast bad'),
        phone,
        /ERR_FAILED/,
      )
    })

    test('on a phone a notification covered the tab bar', () =>
      at(
        '/channels',
        async (page) => {
          const { y, height } = (await (await publishInVain(page)).boundingBox())!
          expect(y + height).toBeLessThan((await page.locator('.tabbar').boundingBox())!.y)
        },
        { width: 390, height: 844 },
        /ERR_FAILED/,
      ))

    test('a double press of a button sends one request, and a later press sends another', () =>
      at('/queues/core', async (page) => {
        const keys: (string | undefined)[] = []
        let letThrough = (): void => undefined
        await page.route('**/ui/queues/core', async (route) => {
          if (route.request().method() !== 'POST') return route.continue()
          keys.push(route.request().headers()['idempotency-key'])
          await new Promise<void>((resolve) => (letThrough = resolve))
          await route.continue()
        })
        const pause = page.getByRole('button', { name: 'Pause' })
        await pause.dblclick()
        await page.locator('.btn.busy').waitFor()
        await pause.click()
        await site.until(() => keys.length > 0)
        letThrough()
        await page.locator('.toast').waitFor()
        expect(keys).toHaveLength(1)
        await page.getByRole('button', { name: 'Resume' }).click()
        await site.until(() => keys.length === 2)
        letThrough()
        await page.getByRole('button', { name: 'Pause' }).waitFor()
        expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/)
        expect(keys[1]).toMatch(/^[0-9a-f-]{36}$/)
        expect(keys[1]).not.toBe(keys[0])
      }))

    test('a dialog keeps the focus, Enter confirms, and then the focus returns', async () => {
      const id = await site.make('waits')
      await site.rest(id)
      await at(`/jobs/${id}`, async (page) => {
        const button = page.getByRole('button', { name: /^Terminate/ })
        await button.focus()
        await page.keyboard.press('Enter')
        await page.getByRole('dialog').waitFor()
        for (let i = 0; i < 6; i++) {
          await page.keyboard.press('Tab')
          const where = await page.evaluate(() => document.activeElement?.closest('dialog, body')?.nodeName)
          const isBelow = await page.evaluate(() => document.activeElement?.closest('.app') !== null)
          expect(isBelow, where).toBe(false)
        }
        await page.keyboard.press('Escape')
        expect(await page.evaluate(() => document.activeElement?.textContent)).toContain('Terminate')
        await page.keyboard.press('Enter')
        await page.getByRole('dialog').waitFor()
        await page.keyboard.press('Enter')
        await page.locator('.toast', { hasText: `#${id} ends` }).waitFor()
      })
    })
  })

  describe('when the server, a job or the session is gone', () => {
    test('while the server does not answer, the page shows since when, greys its data, and retries', () =>
      at(
        '/queues',
        async (page) => {
          const said = '<div class="page-error"><p>Redis does not answer <code>UNAVAILABLE</code></p></div>'
          await page.route('**/ui/queues', (route) =>
            route.fulfill({ status: 503, contentType: 'text/html', body: said }),
          )
          await page
            .getByText(/^Redis does not answer \(UNAVAILABLE\)\. This page shows the state at \d\d:\d\d:\d\d\./)
            .waitFor()
          await page
            .locator('.live', { hasText: /^No connection for .*; showing the state at \d\d:\d\d:\d\d/ })
            .waitFor()
          expect(await page.evaluate(() => document.body.classList.contains('stale'))).toBe(true)
          expect(await page.locator('.tbl tbody tr').count()).toBeGreaterThan(0)
          await page.unroute('**/ui/queues')
          await page.getByRole('button', { name: 'Retry' }).click()
          await page.locator('.live', { hasText: 'Live' }).waitFor()
          expect(await page.locator('.gone').count()).toBe(0)
          expect(await page.evaluate(() => document.body.classList.contains('stale'))).toBe(false)
        },
        {},
        /status of 503|Redis does not answer/,
      ))

    test('on phones a lost connection pushed the name of the page out of the bar, and greyed its Retry', () =>
      at(
        '/queues',
        async (page) => {
          await page.route('**/ui/queues', (route) => route.abort())
          const retry = page.locator('.gone', { has: page.getByRole('button', { name: 'Retry' }) })
          await retry.waitFor()
          expect(await page.locator('#live').innerText()).toBe('No connection')
          expect(
            await page.locator('.crumbs [aria-current]').evaluate((name) => name.scrollWidth - name.clientWidth),
          ).toBe(0)
          expect(await page.getByRole('button', { name: 'Light or dark' }).boundingBox()).toMatchObject({ width: 32 })
          const opacityOf = (selector: string) =>
            page
              .locator(selector)
              .first()
              .evaluate((one) => getComputedStyle(one).opacity)
          expect(await opacityOf('main')).toBe('1')
          expect(await opacityOf('.gone')).toBe('1')
          expect(await opacityOf('main .card')).toBe('0.6')
        },
        { width: 390, height: 844 },
        /ERR_FAILED|could not be refreshed/,
      ))

    test('if a job is deleted while its page is open, the page stays, and its first line reports the deletion', async () => {
      const id = await site.make('waits')
      await site.rest(id)
      await at(
        `/jobs/${id}`,
        async (page) => {
          await site.engine.jobs.remove(String(id), { force: true })
          await page.getByText('This no longer exists. The page shows the state at').waitFor()
          expect(await page.locator('.jobhead h1').textContent()).toContain(`#${id}`)
          expect(await page.locator('.gone').count()).toBe(1)
        },
        {},
        /status of 404/,
      )
    })

    test('if a job ends while its page is open, the first line reports the end until the job continues', async () => {
      const id = await site.make('waits')
      await site.rest(id)
      await at(`/jobs/${id}`, async (page) => {
        const line = page.locator('.gone')
        expect(await line.count()).toBe(0)
        await site.engine.jobs.terminate(String(id), {})
        await page.getByText(/^It ended while this page was open: terminated at \d\d:\d\d:\d\d\.$/).waitFor()
        await site.engine.jobs.run(String(id), { force: true })
        await line.waitFor({ state: 'detached' })
      })
    })

    test('after a retry failed, the page said only that the job ended while the page was open', async () => {
      const id = await site.make('fails')
      await site.rest(id)
      await at(`/jobs/${id}`, async (page) => {
        await page.getByRole('button', { name: /^Retry/ }).click()
        await page.getByText(/^Your retry failed again at \d\d:\d\d:\d\d\.$/).waitFor()
      })
    })

    test('two minutes before its end the session offers another login, and continues with it', () =>
      at('/limits?q=str', async (page) => {
        await page.clock.install()
        await page.reload()
        const warned = page.getByRole('alert').filter({ hasText: /Your session ends at \d\d:\d\d/ })
        await page.evaluate(() => {
          // biome-ignore lint/suspicious/noDocumentCookie: sets the cookie like the server, with an earlier time.
          document.cookie = `until=${Date.now() + 150_000}; path=/ui; samesite=strict`
        })
        await page.clock.runFor(20_000)
        expect(await warned.count()).toBe(0)
        await page.clock.runFor(20_000)
        expect(await warned.count()).toBe(1)
        await page.clock.runFor(60_000)
        expect(await warned.count()).toBe(1)
        await warned.getByRole('link', { name: 'Log in again' }).click()
        await page.getByLabel('API key').fill(KEY)
        await page.getByRole('button', { name: 'Log in' }).click()
        await page.waitForURL(`${site.url}/ui/limits?q=str`)
        const until = (await page.context().cookies()).find(({ name }) => name === 'until')!
        expect(Number(until.value) - Date.now()).toBeGreaterThan(43_100_000)
      }))
  })

  test('the first Tab skips the side bar', () =>
    at('/jobs', async (page) => {
      await page.keyboard.press('Tab')
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to content')
      await page.keyboard.press('Enter')
      expect(await page.evaluate(() => document.activeElement?.id)).toBe('main')
    }))

  test('with reduced motion nothing moves, and otherwise running jobs have a spinner', async () => {
    const moving = (page: Page) =>
      page.evaluate(() => document.getAnimations().filter(({ playState }) => playState === 'running').length)
    for (const path of [`/jobs/${ids.running}`, '/jobs?status=running', `/flows/${ids.flow}`]) {
      await at(path, async (page) => expect(await moving(page)).toBe(0), { still: true })
    }
    await at('/jobs?status=running', async (page) => expect(await moving(page)).toBeGreaterThan(0), { still: false })
  })

  test('with forced colours cards and buttons have borders, statuses keep their shapes, and the selection is visible', () =>
    at('/jobs?status=failed', async (page) => {
      await page.emulateMedia({ forcedColors: 'active' })
      const border = (selector: string) =>
        page
          .locator(selector)
          .first()
          .evaluate((one) => Number.parseFloat(getComputedStyle(one).borderTopWidth))
      for (const selector of ['.card', 'main .btn', '.tag']) expect(await border(selector), selector).toBeGreaterThan(0)
      const shape = await page.locator('#rows .st svg').first().boundingBox()
      expect(shape!.width).toBeGreaterThan(8)
      const outline = await page
        .locator('.nav [aria-current="page"]')
        .evaluate((one) => getComputedStyle(one).outlineStyle)
      expect(outline).toBe('solid')
    }))

  test('members with secret names are hidden until they are clicked', async () => {
    const id = await site.make('waits', { args: encodeValue({ shop: 7, password: 'sesame', token: 'sk_live' }) })
    await site.rest(id)
    await at(`/jobs/${id}`, async (page) => {
      const cover = page.locator('.cover').first()
      expect(await page.getByText('sesame').isVisible()).toBe(false)
      expect(await page.getByText('sk_live').isVisible()).toBe(false)
      await cover.getByText('hidden').click()
      expect(await page.getByText('sesame').isVisible()).toBe(true)
      expect(await page.getByText('sk_live').isVisible()).toBe(false)
    })
  })

  test('screen readers get the number of matches, and actions that started and failed immediately', () =>
    at('/jobs', async (page) => {
      const note = page.locator('.head .note[aria-live="polite"]')
      await note.waitFor()
      expect(await page.locator('main [aria-live="assertive"]').count()).toBe(0)
      expect(await page.locator('#toasts').getAttribute('aria-label')).toBe('Notifications')
    }))
})
