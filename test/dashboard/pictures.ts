// `node test/dashboard/pictures.ts <url> <key> <folder> <job> <flow> [page …]`: pictures of pages, in light, dark and on a phone.
// `npm run docs:pictures`, without arguments: takes those that docs/pictures has anew, of a stack of its own.

import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { startWorkerd } from '../e2e/workerd/kit.ts'
import { logIn, startBrowser } from './browser.ts'
import { seed } from './seed.ts'

/** Name → path below the base; `order` and `flow` are jobs that the seed made. */
export const pathsOf = (order: number, flow: number): Record<string, string> => ({
  overview: '/',
  jobs: '/jobs?status=failed',
  job: `/jobs/${order}`,
  new: '/jobs/new?queue=media&class=resize',
  flows: '/flows',
  flow: `/flows/${flow}?wire=${encodeURIComponent('enrich.image>images.url')}`,
  'flow-edit': `/flows/${flow}/edit`,
  queues: '/queues',
  queue: '/queues/media',
  schedules: '/schedules',
  limits: '/limits?open=worker:media/resize',
  workers: '/workers/media/resize',
  'workers-change': '/workers/media/resize?change',
  'workers-register': '/workers?register',
  channels: '/channels',
  callbacks: '/callbacks',
  files: '/files',
  log: '/log',
  keys: '/settings/keys',
  doctor: '/doctor',
})

const looks = [
  { name: 'light', theme: 'light', width: 1440, height: 1000 },
  { name: 'dark', theme: 'dark', width: 1440, height: 1000 },
  { name: 'phone', theme: 'light', width: 390, height: 844 },
] as const

type Wanted = { url: string; key: string; folder: string; order: number; flow: number; only: string[] }

async function take({ url, key, folder, order, flow, only }: Wanted): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const browser = await startBrowser()
  for (const look of looks) {
    const { context, page, faults } = await logIn(browser, url, key, look)
    for (const [name, path] of Object.entries(pathsOf(order, flow))) {
      if (only.length > 0 && !only.includes(name) && !only.includes(`${name}-${look.name}`)) continue
      // Twice: what a page shows below comes with the second look.
      for (const _ of [1, 2]) await page.goto(`${url}/ui${path}`)
      await page.evaluate(() => document.fonts.ready.then(() => undefined))
      await page.screenshot({ path: join(folder, `${name}-${look.name}.png`) })
    }
    if (faults.length > 0) console.error(`${look.name}: ${faults.join('\n')}`)
    await context.close()
  }
  await browser.close()
}

/** Those of the manual, each anew. */
async function takeManual(): Promise<void> {
  const folder = join(import.meta.dirname, '../../docs/pictures')
  const only = readdirSync(folder).map((file) => file.replace(/\.png$/, ''))
  const workerd = await startWorkerd()
  const { url, apiKey: key } = workerd.stack
  const { order, flow } = await seed(url, key)
  await take({ url, key, folder, order, flow, only })
  await workerd.close()
  console.log(`${only.length} pictures in docs/pictures: ${only.join(', ')}`)
}

const [url, key, folder, order = '0', flow = '0', ...only] = process.argv.slice(2)
if (!url) await takeManual()
else if (key && folder) await take({ url, key, folder, order: Number(order), flow: Number(flow), only })
else throw new Error('expected: pictures.ts <url> <key> <folder> <job> <flow> [page …]')
