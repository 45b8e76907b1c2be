import type { Page } from 'playwright-core'
import { pages as table } from '../../src/dashboard/pages/index.ts'
import { serveJobs } from './seed-jobs.ts'

const others = [
  '/queues/core',
  '/workers/core/split',
  '/workers/default/fails',
  '/jobs?by=class',
  '/jobs/new?queue=media&class=resize',
  '/schedules?new',
  '/jobs?status=failed',
  '/channels?at=%2Fshop',
]
export const paths = [...table.map(({ path }) => path), ...others]

/** A site with data on each page. */
export async function serveAllPages() {
  const { call, site, ids } = await serveJobs()
  await call('PUT', '/v1/schedules/report', { class: 'waits', repeat: { cron: '30 2 * * *' } })
  await call('POST', '/v1/keys', { name: 'grafana', scopes: ['read'] })
  await call(
    'POST',
    '/v1/jobs',
    Array.from({ length: 8 }, () => ({ queue: 'media', class: 'resize' })),
  )
  await site.engine.runs.claim('media', { names: ['resize'], max: 2, lease: 3_600_000 })
  const pathOf = (path: string): string =>
    path
      .replace('/flows/:job', `/flows/${ids.flow}`)
      .replace(':job', String(ids.waits))
      .replace(':queue', 'default')
      .replace(':class', 'waits')
      .replace(':id', 'x')
      .replace(':wire', 'x')
  return { site, ids, pathOf }
}

export const missingLabels = (page: Page) =>
  page.evaluate(() => {
    const found: string[] = []
    for (const one of document.querySelectorAll('main table'))
      if (!one.querySelector('caption') || (one.querySelector('tbody tr') && !one.querySelector('th[scope]')))
        found.push(`no caption or no heads: ${one.outerHTML.slice(0, 80)}`)
    for (const one of document.querySelectorAll('main th'))
      if (!one.hasAttribute('scope')) found.push(`no scope: ${one.outerHTML.slice(0, 80)}`)
    for (const one of document.querySelectorAll('main time:not([hidden])'))
      if (!one.hasAttribute('datetime')) found.push(`no datetime: ${one.outerHTML.slice(0, 80)}`)
    for (const svg of document.querySelectorAll('main svg[role="img"]'))
      if (!svg.getAttribute('aria-label')) found.push(`has no label: ${svg.outerHTML.slice(0, 80)}`)
    for (const table of document.querySelectorAll('main tbody')) {
      const names = [...table.querySelectorAll('button')].map((one) => one.ariaLabel ?? one.textContent)
      const twice = names.filter((name, i) => names.indexOf(name) !== i)
      if (twice.length > 0) found.push(`buttons of one name: ${twice[0]}`)
    }
    return found
  })

export const widerThanCard = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('main .card :is(table, form, dl, ul, section, header)')]
      .filter((one) => one.checkVisibility() && !one.closest('.menu, pre'))
      .map((one) => {
        const card = one.closest('.card')!.getBoundingClientRect()
        return { by: Math.round(one.getBoundingClientRect().right - card.right), html: one.outerHTML.slice(0, 100) }
      })
      .filter(({ by }) => by > 1),
  )

/** Links inside a sentence may be small. */
export const smallControls = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('a, button, summary, select, textarea, input:not([type=hidden])')]
      .filter((one) => one.offsetParent !== null && !one.closest('.board, .vh'))
      .filter((one) => one.parentElement?.tagName === 'TD' || getComputedStyle(one).display !== 'inline')
      .map((one) => {
        const { width, height } = (one.closest('label') ?? one).getBoundingClientRect()
        const isNumber = one.parentElement?.tagName === 'TD'
        return { size: isNumber ? Math.min(width, height) : height, html: one.outerHTML.slice(0, 100) }
      })
      .filter(({ size }) => size > 0 && size < 31.5),
  )
