import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { makeProject } from '../dev/project.ts'
import { startWorkerd, type Workerd } from './kit.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const root = new URL('../../..', import.meta.url).pathname
const JOBS = 300

const source = `
import { createWorker } from '${root}src/cloudflare/index.ts'
import { dashboard } from '${root}src/dashboard/index.ts'
import { defineWorker, Terminal } from '${root}src/index.ts'

const zip = defineWorker({
  class: 'zip',
  retain: 0,
  perform({ args }) {
    if (args.fail) throw new Terminal('archive 77 is broken')
    return { size: args.n }
  },
})

export default createWorker({ functions: [zip], dashboard: dashboard() })
`

const project = makeProject()
const config = `${project.dir}/wrangler.json`
const start = () => startWorkerd({ config, persist: true, state: `${project.dir}/state` })

let workerd: Workerd
beforeAll(async () => {
  project.write('src/index.ts', source)
  project.write(
    'wrangler.json',
    JSON.stringify({
      name: 'mine',
      main: 'src/index.ts',
      compatibility_date: '2026-10-20',
      compatibility_flags: ['nodejs_compat', 'enable_request_signal'],
      d1_databases: [{ binding: 'HISTORY' }],
    }),
  )
  workerd = await start()
})
afterAll(async () => {
  await workerd?.close()
  project.remove()
})

async function stored(jobs: number): Promise<void> {
  const sql = 'SELECT count(*) AS n FROM ends'
  await expect
    .poll(async () => (await workerd.client.history.sql({ sql })).rows[0]!.n, { timeout: 60_000, interval: 500 })
    .toBe(jobs)
}

test('each job that ended is in D1 once, and is found by its label, args and error', async () => {
  const { client } = workerd
  await client.jobs.enqueue(
    Array.from({ length: JOBS }, (_, n) => ({
      class: 'zip',
      args: { n, fail: n === 77 },
      labels: { customer: String(n % 7) },
    })),
  )
  await stored(JOBS)
  const { jobs } = await client.history.list({ labels: { customer: '3' }, args: { n: '10' } })
  expect(jobs).toMatchObject([{ class: 'zip', status: 'completed', result: { size: 10 } }])
  await expect(client.jobs.get(jobs[0]!.id)).rejects.toThrow('does not exist')
  const [failed] = (await client.history.list({ text: 'ARCHIVE 77' })).jobs
  expect(failed).toMatchObject({ status: 'failed', args: { n: 77 } })
  expect((await client.history.get(failed!.id)).runs).toMatchObject([{ outcome: 'failed' }])
  const sql = "SELECT count(*) AS n FROM labels WHERE name = 'customer' AND value = '3'"
  expect((await client.history.sql({ sql })).rows).toEqual([{ n: 43 }])
  await expect(client.history.sql({ sql: 'SELECT 1) ; DROP TABLE ends --' })).rejects.toThrow('expected one query')
  await expect(client.history.sql({ sql: 'WITH x AS (SELECT 1) DELETE FROM ends' })).rejects.toThrow('syntax error')
  expect(await client.history.status()).toMatchObject({ on: true, waiting: 0, error: null })
})

test('the dashboard searches the history, and the history survives a restart', async () => {
  await workerd.close()
  workerd = await start()
  await stored(JOBS)
  const { url, apiKey } = workerd.stack
  const body = new FormData()
  body.set('key', apiKey)
  const headers = { 'sec-fetch-site': 'same-origin' }
  const opened = await fetch(`${url}/ui/login`, { method: 'POST', body, redirect: 'manual', headers })
  const cookie = opened.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ')
  const page = await fetch(`${url}/ui/jobs?in=history&args.n=10`, { headers: { cookie } })
  const html = await page.text()
  expect(html.match(/id="row-\d+-\d+"/g)).toHaveLength(1)
  expect(html).toContain('1 job')
})
