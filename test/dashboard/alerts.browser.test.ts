import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { alerts, webhook } from '../../src/alerts/index.ts'
import { program, startBrowser } from './browser.ts'
import { ORIGIN } from './kit.ts'
import { waits } from './seed-jobs.ts'
import { serve } from './served.ts'
import { visits } from './visit.ts'

describe.skipIf(!program())('alerts on Overview', { timeout: 60_000 }, () => {
  let site: Awaited<ReturnType<typeof serve>>
  let browser: Browser
  const as = visits(() => [browser, site], { still: true })
  const watcher = alerts({ to: [webhook('http://127.0.0.1:1/')], depth: { shop: 1 }, rules: { tick: false } })

  beforeAll(async () => {
    site = await serve({ workers: [waits, watcher.worker] })
    await site.engine.workers.register('shop', 'pulled', { pull: true })
    await site.engine.queues.update('default', { paused: true })
    await site.engine.queues.update('alerts', { paused: true })
    await site.make('waits')
    for (const _ of [1, 2]) await site.make('pulled', { queue: 'shop' })
    await watcher.check({ engine: site.engine, publicUrl: ORIGIN, now: site.now() })
    browser = await startBrowser()
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  const line = (page: Page, text: string) => page.locator('.alerts li', { hasText: text })
  const stateOf = async (key: string) => (await site.engine.alerts.list()).alerts.find(({ alert }) => alert === key)!

  async function choose(page: Page, text: string, button: string) {
    await line(page, text).locator('summary').click()
    await line(page, text).getByRole('button', { name: button, exact: true }).click()
  }

  async function giveReason(page: Page, verb: string, reason: string) {
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Reason').fill(reason)
    await dialog.getByRole('button', { name: verb }).click()
    await dialog.waitFor({ state: 'detached' })
  }

  test('all users see the reason of an acknowledged alert, and Undo opens the alert again', () =>
    as(['read', 'write'], '/', async (page) => {
      const paused = 'Queue default is paused.'
      await line(page, paused).locator('summary').waitFor()
      await choose(page, paused, 'Acknowledge')
      await giveReason(page, 'Acknowledge', 'resumed after the backup')
      await line(page, paused).getByText('acknowledged by read-write').waitFor()
      expect(await line(page, paused).innerText()).toContain('“resumed after the backup”')
      const toast = page.locator('.toast', { hasText: 'Alert acknowledged' })
      expect(await toast.innerText()).not.toContain('paused default')
      expect(await stateOf('paused default')).toMatchObject({
        acknowledged: { by: 'read-write', reason: 'resumed after the backup' },
      })
      const { entries } = await site.engine.audit.read({ limit: 1 })
      expect(entries[0]).toMatchObject({
        verb: 'alerts.acknowledge',
        name: 'read-write',
        change: '{"alert":"paused default","reason":"resumed after the backup"}',
      })
      await page.getByRole('button', { name: 'Undo' }).click()
      await line(page, paused).getByText('acknowledged by').waitFor({ state: 'detached' })
      expect((await stateOf('paused default')).acknowledged).toBeUndefined()
    }))

  test('an alert of a queue depth links to its queue, and can be muted for an hour and unmuted', () =>
    as(['read', 'write'], '/', async (page) => {
      const deep = 'Queue shop has 2 ready jobs, expected at most 1.'
      await line(page, deep).locator('summary').waitFor()
      expect(await line(page, deep).getByRole('link', { name: 'Open' }).getAttribute('href')).toBe('/ui/queues/shop')
      await choose(page, deep, 'Mute for an hour')
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('heading', { name: 'Mute this alert for an hour?' }).waitFor()
      expect(await dialog.getByText(deep).isVisible()).toBe(true)
      const [label, field] = await Promise.all(
        [dialog.getByText('Reason (required)'), dialog.getByLabel('Reason')].map((one) => one.boundingBox()),
      )
      expect(field!.y - label!.y - label!.height).toBeGreaterThan(3)
      await giveReason(page, 'Mute', 'the stocktaking')
      await line(page, deep)
        .getByText(/muted by read-write, ends in/)
        .waitFor()
      const { muted } = await stateOf('depth shop')
      expect(muted).toMatchObject({ by: 'read-write', reason: 'the stocktaking' })
      expect(muted!.until! - muted!.at).toBeGreaterThan(3_500_000)
      await choose(page, deep, 'Unmute')
      await line(page, deep).getByText('muted by').waitFor({ state: 'detached' })
      expect((await stateOf('depth shop')).muted).toBeUndefined()
      await page.getByRole('button', { name: 'Undo' }).last().click()
      await line(page, deep).getByText('the stocktaking').waitFor()
      expect((await stateOf('depth shop')).muted!.until).toBe(muted!.until)
    }))

  test('on phones, the menu of an alert was cut off by its card', () =>
    as(['read', 'write'], '/', async (page) => {
      await page.setViewportSize({ width: 390, height: 844 })
      const alert = line(page, 'Queue shop has 2 ready jobs')
      await alert.locator('summary').click()
      const buttons = await alert.locator('.menu button').all()
      expect(buttons.length).toBeGreaterThan(1)
      for (const button of buttons) {
        await button.scrollIntoViewIfNeeded()
        const isInView = await button.evaluate((one) => {
          const { x, y, width, height } = one.getBoundingClientRect()
          return x >= 0 && x + width <= innerWidth && one.contains(document.elementFromPoint(x + 4, y + height / 2))
        })
        expect(isInView).toBe(true)
      }
    }))

  test('a key with the scope read sees disabled buttons in the menu of an alert', () =>
    as(['read'], '/', async (page) => {
      const paused = line(page, 'Queue default is paused.')
      await paused.locator('summary').click()
      await paused.getByRole('button', { name: 'Mute until unmuted' }).waitFor()
      const button = paused.getByRole('button', { name: 'Acknowledge' })
      expect(await button.isDisabled()).toBe(true)
      expect(await button.getAttribute('title')).toContain('needs the scope write')
    }))
})
