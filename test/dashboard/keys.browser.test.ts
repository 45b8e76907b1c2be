import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { core } from '../../functions/core.ts'
import { encodeValue } from '../../src/core/codec/value.ts'
import { labelsText } from '../../src/core/labels.ts'
import { entries } from '../../src/dashboard/nav.ts'
import { defineWorker, port } from '../../src/index.ts'
import { program, startBrowser } from './browser.ts'
import { count, countsOf, isQuiet } from './counted.ts'
import { KEY } from './kit.ts'
import { callerOf } from './seed.ts'
import { seedFlow } from './seed-flow.ts'
import { serve } from './served.ts'
import { type Visit, visit } from './visit.ts'

const waits = defineWorker({ class: 'waits', in: { n: port() }, perform: (job) => job.suspend() })
const breaks = defineWorker({
  class: 'breaks',
  retry: { max: 0 },
  perform() {
    throw new Error('the printer is out of paper')
  },
})
const WIRE = 'index.done>report'

describe.skipIf(!program())('the keys', { timeout: 90_000 }, () => {
  let site: Awaited<ReturnType<typeof serve>>
  let browser: Browser
  let flow: number
  const jobs: number[] = []

  beforeAll(async () => {
    site = await serve({ workers: [waits, breaks, ...core] })
    const call = callerOf(site.url, KEY)
    await call('PUT', '/v1/workers/media/resize', { pull: true, in: { url: {} }, out: { done: {} } })
    flow = await seedFlow(call)
    for (const _ of [1, 2, 3]) {
      const id = await site.make('waits', { group: { id: 'keys' } })
      await site.rest(id)
      jobs.unshift(id)
    }
    await site.rest(await site.make('waits', { labels: labelsText({ customer: 'customer-4711' }) }))
    await site.rest(await site.make('waits', { args: encodeValue({ shoes: 'blue-suede' }) }))
    await site.rest(await site.make('breaks'), 'failed')
    await call('PUT', '/v1/schedules/report', {
      class: 'waits',
      repeat: { cron: '30 2 * * *', tz: 'Asia/Tokyo' },
    })
    browser = await startBrowser()
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  const at = (path: string, use: (page: Page) => Promise<void>, before?: Visit['before']) =>
    visit(browser, site, { path, zone: 'America/Lima', before }, use)

  const list = '/jobs?group=keys'
  const root = (page: Page) => page.evaluate(() => ({ ...document.documentElement.dataset }))
  const isAt = (page: Page, path: string) => page.waitForURL(`${site.url}/ui${path}`)
  const selected = (page: Page) =>
    page.locator('input[name="sel"]:checked').evaluateAll((all) => all.map((one) => (one as HTMLInputElement).value))
  const press = async (page: Page, ...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key)
  }

  test.each(entries)('g $key goes to $title', ({ key, path }) =>
    at('/more', async (page) => {
      await press(page, 'g', key)
      await isAt(page, path)
      expect(await page.locator('.nav [aria-current="page"]').getAttribute('data-go')).toBe(key)
    }),
  )

  test('/ puts the cursor into the filter of a list', async () => {
    const focused = (page: Page) => page.evaluate(() => document.activeElement?.closest('form')?.className)
    await at(list, async (page) => {
      await press(page, '/')
      expect(await focused(page)).toContain('filter')
    })
    await at('/limits', async (page) => {
      await press(page, '/')
      expect(await focused(page)).toMatch(/filter|find/)
    })
  })

  test.each(['/', 'Control+k', 'Meta+k'])('%s opens the palette, whose results change while the user types', (keys) =>
    at('/queues', async (page) => {
      await press(page, keys)
      const field = page.getByRole('combobox', { name: 'Search or jump' })
      const option = page.getByRole('option')
      await option.first().filter({ hasText: 'Overview' }).waitFor()
      await field.pressSequentially('sched', { delay: 20 })
      await option.last().filter({ hasText: 'List jobs with sched in labels, args or errors' }).waitFor()
      expect(await option.first().innerText()).toMatch(/^Schedules\s+page/)
      expect(await field.getAttribute('aria-activedescendant')).toBe(await option.first().getAttribute('id'))
      await press(page, 'Enter')
      await isAt(page, '/schedules')
    }),
  )

  test('typing into the search field of the side bar listed nothing', () =>
    at('/queues', async (page) => {
      await page.getByRole('searchbox', { name: 'Search or jump' }).click()
      await page.keyboard.type('sched')
      const option = page.getByRole('option')
      await option.last().filter({ hasText: 'List jobs with sched in labels, args or errors' }).waitFor()
      expect(await option.first().innerText()).toMatch(/^Schedules\s+page/)
      expect(await page.getByRole('combobox', { name: 'Search or jump' }).inputValue()).toBe('sched')
      await press(page, 'Enter')
      await isAt(page, '/schedules')
    }))

  test('the arrows choose in the palette, and a job is found by its number and its alias', async () => {
    await site.engine.jobs.setAlias(String(jobs[0]), 'order-7003', 'add')
    await at('/limits?none', async (page) => {
      await press(page, 'Control+k')
      await page.keyboard.type('order-7003')
      await page.getByRole('option', { name: 'List jobs with order-7003 in labels' }).waitFor()
      await page.getByRole('option', { name: /order-7003.*waits, suspended job/ }).waitFor()
      const chosen = page.locator('[role="option"][aria-selected="true"]')
      await press(page, 'ArrowDown', 'ArrowDown', 'ArrowDown')
      expect(await chosen.innerText()).toContain('in labels, args or errors')
      await press(page, 'ArrowUp')
      expect(await chosen.innerText()).toContain('order-7003')
      await press(page, 'Enter')
      await isAt(page, `/jobs/${jobs[0]}`)
      await press(page, 'Control+k')
      await page.keyboard.type(String(jobs[1]))
      await page.getByRole('option', { name: `waits #${jobs[1]}` }).waitFor()
      await press(page, 'Escape')
      expect(await page.getByRole('combobox').count()).toBe(0)
    })
  })

  test('a chosen line of the palette stays chosen when more results arrive', () =>
    at('/limits?none', async (page) => {
      await press(page, 'Control+k')
      await page.keyboard.type('out of pap')
      await page.getByRole('option', { name: 'List jobs with out of pap in labels' }).waitFor()
      const chosen = page.locator('[role="option"][aria-selected="true"]')
      await press(page, 'ArrowDown')
      const text = await chosen.innerText()
      expect(text).toMatch(/^breaks #\d+/)
      await page.keyboard.type('er')
      await page.getByRole('option', { name: 'List jobs with out of paper in labels' }).waitFor()
      expect(await chosen.innerText()).toBe(text)
      await press(page, 'Enter')
      await page.waitForURL(/\/jobs\/\d+$/)
    }))

  test.each([
    ['customer-4711', /waits #\d+\s+suspended job, customer=customer-4711/],
    ['blue-suede', /waits #\d+\s+suspended job, in its args/],
    ['out of paper', /breaks #\d+\s+failed job, the printer is out of paper/],
  ])('the palette finds a job by a label, a value of its args and its error: %s', (text, line) =>
    at('/queues', async (page) => {
      await press(page, 'Control+k')
      await page.keyboard.type(text)
      const option = page.getByRole('option', { name: line })
      await option.waitFor()
      expect(await page.getByRole('option').last().innerText()).toMatch(/searched all jobs$/)
      const id = /#(\d+)/.exec(await option.innerText())![1]
      await option.getByRole('link').click()
      await isAt(page, `/jobs/${id}`)
    }),
  )

  test('the palette finds a kind of error, and opens its failed jobs', () =>
    at('/queues', async (page) => {
      await press(page, 'Control+k')
      await page.keyboard.type('out of paper')
      await page
        .getByRole('option', { name: /breaks: the printer is out of paper\s+1 failed job/ })
        .getByRole('link')
        .click()
      await page.waitForURL(/\/jobs\?status=failed&error=\w+$/)
      await page.getByText('the printer is out of paper').first().waitFor()
    }))

  test('the palette finds a setting of the browser and changes it', () =>
    at('/queues', async (page) => {
      const before = await root(page)
      await press(page, 'Control+k')
      await page.keyboard.type('theme')
      await page.getByRole('option', { name: /Theme: light or dark\s+setting/ }).waitFor()
      await page.getByRole('option', { name: 'List jobs with theme in labels' }).waitFor()
      await press(page, 'Enter')
      expect(await page.getByRole('combobox').count()).toBe(0)
      expect((await root(page)).theme).not.toBe(before.theme)
    }))

  test('"pause media" in the palette pauses the queue', () =>
    at('/workers', async (page) => {
      await press(page, 'Control+k')
      await page.keyboard.type('pause default')
      await page.getByRole('option', { name: 'Pause queue default' }).waitFor()
      await page.getByRole('option', { name: 'List jobs with default in labels' }).waitFor()
      await press(page, 'Enter')
      await page.getByText('Queue default was paused').first().waitFor()
      expect((await site.engine.queues.get('default')).paused).toBe(true)
      await site.engine.queues.update('default', { paused: false })
    }))

  test('? lists all keys, including the keys of buttons on the page', () =>
    at(`/jobs/${jobs[0]}`, async (page) => {
      await press(page, '?')
      const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
      const said = await dialog.innerText()
      for (const what of ['Run now', 'Duplicate', 'Terminate', 'Log', 'State', 'Search or filter', 'Overview'])
        expect(said).toContain(what)
      expect(await dialog.locator('dt kbd').allInnerTexts()).toEqual(
        expect.arrayContaining(['r', 'e', 'x', 'l', 's', '/', '?', 't', 'd', 'z', 'p', '.', 'j', 'k', 'o', 'a', 'Esc']),
      )
      await press(page, 'Escape')
      expect(await page.getByRole('dialog').count()).toBe(0)
    }))

  test('? opened at its end, had no button to close it, and listed x, c and counts such as "Log 0"', async () => {
    const keysOf = (page: Page) =>
      page
        .locator('.keys dl > div')
        .evaluateAll((rows) => rows.map((row) => row.textContent.replace(/\s+/g, ' ').trim()))
    await at(`/jobs/${jobs[0]}`, async (page) => {
      await page.setViewportSize({ width: 1_280, height: 800 })
      await press(page, '?')
      const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
      const title = (await dialog.getByRole('heading', { name: 'Keyboard shortcuts' }).boundingBox())!
      const box = (await dialog.boundingBox())!
      expect(title.y).toBeGreaterThan(box.y)
      expect(box.y + box.height).toBeLessThan(800)
      const said = await keysOf(page)
      expect(said).toEqual(expect.arrayContaining(['l Log', 's State', 'x Terminate', 'shift x Select a range']))
      expect(said.filter((row) => row.startsWith('x '))).toHaveLength(1)
      await page.setViewportSize({ width: 390, height: 844 })
      expect(await dialog.locator('kbd').first().isVisible()).toBe(true)
      await dialog.getByRole('button', { name: 'Close' }).click()
      await dialog.waitFor({ state: 'detached' })
    })
    await at(list, async (page) => {
      await press(page, '?')
      expect((await keysOf(page)).filter((row) => /^[cx] /.test(row)).sort()).toEqual(['c New job', 'x Select one'])
      await press(page, 'Escape', 'j', 'x')
      await page.getByRole('button', { name: 'Terminate' }).waitFor()
      await press(page, '?')
      expect((await keysOf(page)).filter((row) => row.startsWith('x '))).toEqual(['x Select one'])
    })
  })

  test('? on a flow listed the keys of lists, although the page has no list', async () => {
    const groupsOf = async (page: Page) => {
      await page.waitForSelector('.keys dl')
      return page.locator('.keys dl').evaluateAll((lists) => {
        const keysIn = (list: Element) => [...list.querySelectorAll('kbd')].map((key) => key.textContent)
        return Object.fromEntries(lists.map((one) => [one.previousElementSibling!.textContent, keysIn(one)]))
      })
    }
    await at(`/flows/${flow}`, async (page) => {
      await page.waitForSelector('.board .node')
      await press(page, '?')
      const groups = await groupsOf(page)
      expect(Object.keys(groups)).toEqual(['This page', 'Everywhere', 'Go to'])
      expect(groups.Everywhere).toEqual(['⌘K', 't', 'd', 'z', 'p', 'c', 'u', '?'])
    })
    await at(list, async (page) => {
      await press(page, '?')
      const groups = await groupsOf(page)
      expect(Object.keys(groups)).toEqual(['This page', 'Lists', 'Everywhere', 'Go to'])
      expect(groups.Lists).toEqual(['j', 'k', 'Enter', 'o', 'space', 'x', 'shift', 'x', 'a', 'Esc', '.'])
      expect(groups.Everywhere).not.toContain('j')
    })
  })

  test('t changes the theme and d the density, and both are saved', () =>
    at('/queues', async (page) => {
      const before = await root(page)
      await press(page, 't', 'd')
      const after = await root(page)
      expect(after.theme).not.toBe(before.theme)
      expect(after.density).toBe('compact')
      await page.reload()
      expect(await root(page)).toMatchObject({ theme: after.theme, density: 'compact' })
      await press(page, 'd')
      expect((await root(page)).density).toBe('comfortable')
    }))

  test('z shows times in UTC, in the zone of the browser, and in the zone of a schedule', () =>
    at('/schedules', async (page) => {
      const button = page.locator('[data-do="zone"]')
      const zone = (name: string) => button.filter({ hasText: name }).waitFor()
      await zone('UTC')
      for (const name of ['America/Lima', 'Asia/Tokyo', 'UTC']) {
        const before = await page.locator('.cal').innerText()
        await press(page, 'z')
        await zone(name)
        await page.waitForFunction((was) => document.querySelector<HTMLElement>('.cal')!.innerText !== was, before)
      }
      await press(page, 'z')
      await page.reload()
      await zone('America/Lima')
    }))

  test('p pauses and resumes the page', () =>
    at(
      '/queues',
      async (page) => {
        await press(page, 'p')
        await page.locator('.live', { hasText: 'Paused' }).waitFor()
        expect(await isQuiet(page, 60_000)).toBe(true)
        const { looks } = await countsOf(page)
        await press(page, 'p')
        await page.locator('.live', { hasText: 'Live' }).waitFor()
        expect((await countsOf(page)).looks).toBeGreaterThan(looks)
      },
      async (page) => {
        await page.clock.install()
        await count(page)
      },
    ))

  test('j and k move in a list, Enter opens, o opens in a new tab', () =>
    at(list, async (page) => {
      const current = () => page.locator('tr.cur').getAttribute('data-row')
      await press(page, 'j')
      expect(await current()).toBe(String(jobs[0]))
      await press(page, 'j', 'j', 'k')
      expect(await current()).toBe(String(jobs[1]))
      const drawn = page.evaluate(() => new Promise((done) => document.addEventListener('drawn', done, { once: true })))
      await press(page, '.')
      await drawn
      expect(await current()).toBe(String(jobs[1]))
      const [beside] = await Promise.all([page.context().waitForEvent('page'), press(page, 'o')])
      await beside.waitForURL(`${site.url}/ui/jobs/${jobs[1]}`)
      await beside.close()
      await press(page, 'Enter')
      await isAt(page, `/jobs/${jobs[1]}`)
    }))

  test.each([
    ['/queues', /\/queues\/./],
    ['/workers', /\/workers\/./],
    ['/flows', /\/flows\/./],
  ])('j and k also move through the rows of %s', (path, to) =>
    at(path, async (page) => {
      await press(page, 'j')
      expect(await page.locator('tr.cur').count()).toBe(1)
      await press(page, 'Enter')
      await page.waitForURL(to)
    }),
  )

  test('space opens a preview of a job, Escape closes it', () =>
    at(list, async (page) => {
      await press(page, 'j', ' ')
      await page.getByRole('dialog', { name: new RegExp(`#${jobs[0]}`) }).waitFor()
      await press(page, 'Escape')
      expect(await page.getByRole('dialog').count()).toBe(0)
      await isAt(page, list)
    }))

  test('x selects a row, Shift+X a range, a all matches, and Escape clears the selection', () =>
    at(list, async (page) => {
      const all = jobs.map(String)
      await press(page, 'j', 'x')
      expect(await selected(page)).toEqual([all[0]])
      await press(page, 'j', 'j', 'Shift+X')
      expect(await selected(page)).toEqual(all)
      await press(page, 'Escape')
      expect(await selected(page)).toEqual([])
      await press(page, 'a')
      expect(await selected(page)).toEqual(all)
      expect(await page.locator('.bulk [name="fit"]').isChecked()).toBe(true)
      await press(page, 'Escape')
      expect(await page.locator('.bulk [name="fit"]').isChecked()).toBe(false)
    }))

  test('Enter on a callback opened its job', async () => {
    const id = await site.make('breaks', { callback: { url: 'http://127.0.0.1:9/hook' } })
    await site.rest(id, 'failed')
    await site.until(async () => (await site.engine.callbacks.list({ limit: 1 })).callbacks[0]?.of === id)
    await at('/callbacks', async (page) => {
      await press(page, 'j', 'Enter')
      await isAt(page, `/callbacks?open=${id}`)
    })
  })

  test('j did nothing in the log', async () => {
    await site.engine.log.write(encodeValue({ message: 'the printer is warm' }))
    await at('/log', async (page) => {
      await page.locator('.log > li', { hasText: 'the printer is warm' }).waitFor()
      await press(page, 'j')
      await page.locator('.log > li.cur', { hasText: 'the printer is warm' }).waitFor()
    })
  })

  test('r retries the selected jobs, and x on its button terminates after a question; c creates a job', () =>
    at(list, async (page) => {
      await press(page, 'j', 'x', 'r')
      await page.locator('.toast', { hasText: /^Retry: / }).waitFor()
      await press(page, 'c')
      await isAt(page, '/jobs/new')
    }))

  test('on a job: r runs it, e opens the form with its values, x asks, l and s are tabs', async () => {
    const id = await site.make('waits')
    await site.rest(id)
    await at(`/jobs/${id}`, async (page) => {
      await press(page, 's')
      await page.waitForURL(/tab=state/)
      await press(page, 'l')
      await page.waitForURL((url) => !url.search.includes('tab='))
      await press(page, 'r')
      await page.locator('.toast', { hasText: 'a run is requested' }).waitFor()
      await press(page, 'x')
      await page.getByRole('dialog', { name: `Terminate waits #${id}?` }).waitFor()
      await press(page, 'Enter')
      await site.rest(id, 'terminated')
      await page.locator('.toast', { hasText: `#${id} ends` }).waitFor()
      await press(page, 'e')
      await isAt(page, `/jobs/new?from=${id}`)
    })
  })

  test('[ and ] open the previous and the next job of the list', () =>
    at(list, async (page) => {
      await press(page, 'j', 'Enter')
      await isAt(page, `/jobs/${jobs[0]}`)
      await page.getByText(/^1 of 3$/).waitFor()
      await press(page, ']')
      await isAt(page, `/jobs/${jobs[1]}`)
      await page.getByText(/^2 of 3$/).waitFor()
      await press(page, '[')
      await isAt(page, `/jobs/${jobs[0]}`)
    }))

  test('on a board, Tab and arrows move along wires, Enter opens, i injects, f fits, e edits', () =>
    at(`/flows/${flow}`, async (page) => {
      await page.waitForSelector('.board .node')
      const focused = () => page.evaluate(() => ({ ...(document.activeElement as HTMLElement).dataset }))
      await page.locator('.board g[role="button"][data-wire]').first().focus()
      const order: string[] = []
      for (let i = 0; i < 12; i++) {
        order.push((await focused()).wire!)
        await press(page, 'Tab')
      }
      expect(order[0]).toBe('feed>rows.in')
      expect(order.indexOf('rows.out>enrich.in')).toBeLessThan(order.indexOf('enrich.image>images.url'))
      expect(order.indexOf('enrich.image>images.url')).toBeLessThan(order.indexOf('join.out>index.in'))
      expect(new Set(order).size).toBe(12)
      expect(await focused()).toHaveProperty('name')
      await page.locator('.board [data-name="join"]').focus()
      await press(page, 'ArrowRight')
      expect(await focused()).toMatchObject({ name: 'index' })
      await press(page, 'ArrowLeft')
      expect(await focused()).toMatchObject({ name: 'join' })
      await press(page, 'ArrowUp')
      expect(await focused()).not.toMatchObject({ name: 'join' })
      await page.locator(`.board g[role="button"][data-wire="${WIRE}"]`).focus()
      await press(page, 'Enter')
      await page.getByRole('complementary', { name: 'Selected wire' }).waitFor()
      await press(page, 'i')
      await page.locator('.opens[open] textarea[name="value"]').waitFor()
      await press(page, 'Escape')
      const wide = async () => Number((await page.locator('[data-board]').getAttribute('viewBox'))!.split(' ')[2])
      await page.getByRole('button', { name: 'Zoom in' }).click()
      const near = await wide()
      await press(page, 'f')
      expect(await wide()).toBeGreaterThan(near)
      const outside = await page.evaluate(() => {
        const board = document.querySelector('[data-board]')!.getBoundingClientRect()
        const boxes = [...document.querySelectorAll('.board .node')].map((node) => node.getBoundingClientRect())
        return boxes.filter(({ left, right }) => left < board.left || right > board.right).length
      })
      expect(outside).toBe(0)
      await press(page, 'e')
      await isAt(page, `/flows/${flow}/edit`)
    }))

  test('in a draft, n adds a node, w adds a wire, Delete removes, Ctrl+Z undoes', () =>
    at(`/flows/${flow}/edit`, async (page) => {
      await page.waitForSelector('.board .node')
      await press(page, 'n')
      await page.getByRole('dialog', { name: 'Add a node' }).waitFor()
      await press(page, 'Escape', 'w')
      await page.getByRole('dialog', { name: 'Add a wire' }).waitFor()
      await press(page, 'Escape')
      await page.locator('.board [data-name="rejected"]').focus()
      await press(page, 'Delete')
      await page.locator('.board .node.old').waitFor()
      await press(page, 'Control+z')
      await page.locator('.board .node.old').waitFor({ state: 'detached' })
    }))

  test('in a draft, a key that opens a dialog does not type its letter into the dialog', () =>
    at(`/flows/${flow}/edit`, async (page) => {
      await page.waitForSelector('.board .node')
      for (const key of ['n', 'w']) {
        await press(page, key)
        const dialog = page.getByRole('dialog')
        await dialog.waitFor()
        expect(await dialog.locator('input').first().inputValue()).toBe('')
        await press(page, 'Escape')
        await dialog.waitFor({ state: 'detached' })
      }
    }))

  test('Ctrl+Enter in a dialog does not apply the draft', () =>
    at(`/flows/${flow}/edit`, async (page) => {
      await page.waitForSelector('.board .node')
      await press(page, 'n')
      const dialog = page.getByRole('dialog', { name: 'Add a node' })
      await dialog.locator('input').first().fill('counter')
      await dialog.locator('input').nth(1).fill('default/waits')
      await press(page, 'Enter')
      await dialog.waitFor({ state: 'detached' })
      const before = (await site.engine.flows.get(String(flow))).hash
      await press(page, 'w')
      await page.getByRole('dialog', { name: 'Add a wire' }).waitFor()
      await press(page, 'Control+Enter')
      await page.waitForTimeout(500)
      expect((await site.engine.flows.get(String(flow))).hash).toBe(before)
      expect(page.url()).toContain('/edit')
      await press(page, 'Escape')
    }))

  test('j and k move the focus, and Enter opens the focused row', () =>
    at(list, async (page) => {
      const focused = () => page.evaluate(() => document.activeElement?.closest('tr')?.id)
      await press(page, 'j')
      expect(await focused()).toBe(`row-${jobs[0]}`)
      await press(page, 'j', 'j', 'k')
      expect(await focused()).toBe(`row-${jobs[1]}`)
      await press(page, 'Enter')
      await isAt(page, `/jobs/${jobs[1]}`)
    }))

  test.each(['/limits?change=', '/schedules?new', '/workers?register'])('%s: its form has the focus', (path) =>
    at(path, async (page) => {
      await page.waitForFunction(() => document.activeElement?.matches('form.form :is(input, select, textarea)'))
    }),
  )

  test('keys do nothing in a field or when they are disabled, and ? enables them', () =>
    at('/queues', async (page) => {
      const before = await root(page)
      await page.getByRole('searchbox', { name: 'Search or jump' }).focus()
      await press(page, 't', 'd', '?')
      expect(await root(page)).toEqual(before)
      await page.waitForFunction(() => document.querySelector<HTMLInputElement>('.palette input')?.value === 'td?')
      await press(page, 'Escape')
      await page.waitForFunction(() => document.activeElement?.matches('#find input'))
      await press(page, 'Escape', '?')
      await page.getByRole('checkbox', { name: 'Enable keyboard shortcuts' }).uncheck()
      await press(page, 'Escape', 't', 'g', 'l')
      expect(await root(page)).toEqual(before)
      await page.reload()
      await press(page, 'd', 'g', 'j')
      expect(await root(page)).toEqual(before)
      expect(page.url()).toContain('/queues')
      await press(page, '?')
      await page.getByRole('checkbox', { name: 'Enable keyboard shortcuts' }).check()
      await press(page, 'Escape', 't')
      expect((await root(page)).theme).not.toBe(before.theme)
    }))

  test.each([
    [() => list, ['c', '/']],
    [() => `/jobs/${jobs[0]}`, ['r', 'e', 'x', 'l', 's', '/']],
    [() => `/flows/${flow}?wire=${encodeURIComponent(WIRE)}`, ['e', 'i']],
    [() => `/flows/${flow}/edit`, ['n', 'w', 'ctrl ↵']],
  ])('page %#: buttons show their keys', (path, keys) =>
    at(path(), async (page) => {
      const printed = await page.locator('kbd:visible').allInnerTexts()
      expect(printed).toEqual(expect.arrayContaining(keys))
    }),
  )

  test.each([
    ['/queues', 'z'],
    ['/queues', 't'],
    ['/queues', '?'],
    [`/flows/FLOW`, 'f'],
    [`/flows/FLOW`, ','],
    [`/flows/FLOW`, '.'],
  ])('on %s, a small button shows %s on hover', (path, key) =>
    at(path.replace('FLOW', String(flow)), async (page) => {
      expect(await page.locator(`button[title$="(${key})"]`).count()).toBe(1)
    }),
  )

  test('on a phone, the search showed nothing while the user typed', () =>
    visit(browser, site, { path: '/find', width: 390, height: 844 }, async (page) => {
      const field = page.locator('main input[type="search"]')
      const hits = (name: string) => page.locator('main .found').getByRole('link', { name, exact: true })
      await hits('Schedules').waitFor()
      await field.pressSequentially('media')
      await hits('media').waitFor()
      expect(await hits('Schedules').count()).toBe(0)
      expect(await field.inputValue()).toBe('media')
      await field.fill('pause media')
      await page.getByRole('button', { name: 'Pause queue media' }).waitFor()
      await field.fill(String(jobs[0]))
      await page
        .locator('main .found')
        .getByRole('link', { name: `waits #${jobs[0]}` })
        .waitFor()
      await field.press('Enter')
      await page.waitForURL(new RegExp(`/jobs/${jobs[0]}$`))
    }))

  test('the search opens an id or an alias directly, lists matching names, and accepts a filter', async () => {
    await site.make('waits', { alias: ['order-9917'], in: { n: { channels: ['/waits/told'] } } })
    await at('/queues', async (page) => {
      const search = async (text: string) => {
        await press(page, '/')
        await page.keyboard.type(text)
        await press(page, 'Enter')
      }
      await search(`#${jobs[1]}`)
      await isAt(page, `/jobs/${jobs[1]}`)
      await press(page, 'g', 'q')
      await isAt(page, '/queues')
      await search('order-9917')
      await page.waitForURL(/\/jobs\/\d+$/)
      await press(page, 'g', 'q')
      await isAt(page, '/queues')
      await search('waits')
      await page.waitForURL(/\/find/)
      for (const [text, what] of [
        ['default/waits', /^\d+ runs? today/],
        ['/waits/told', /^channel$/],
      ] as const)
        expect(await page.locator('.found li', { hasText: text }).locator('.right').innerText()).toMatch(what)
      await page.goto(`${site.url}/ui/queues`)
      await search('class:waits')
      await page.waitForURL(/\/jobs\?.*waits/)
    })
  })
})
