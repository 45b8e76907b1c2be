// Plays the incident that docs/incident.md describes.

import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { startGateway } from '../../infra/stand-ins/gateway.ts'
import { development, startQstash } from '../../infra/stand-ins/qstash.ts'
import { startRedis } from '../../infra/stand-ins/redis.ts'
import { createClient } from '../../src/client/index.ts'
import { askForTick, EVERY_MINUTE, scheduleTick } from '../../src/deploy/tick.ts'
import { configOf } from '../../src/dev/index.ts'
import { claimPort } from '../../src/dev/ports.ts'
import { type RunningWorker, startWorker } from '../../src/dev/worker.ts'
import { makeProject } from '../e2e/dev/project.ts'
import { kind } from '../kit/index.ts'
import { startReceiver } from '../kit/receiver.ts'

const root = new URL('../..', import.meta.url).pathname
const KEY = 'key-of-the-shop-with-a-failing-deploy'
const GATEWAY = 'token-of-the-shop-with-a-failing-deploy'

/** The test clock skips minutes, so the alert about missing ticks is off. */
const index = `import { alerts, slack } from '${root}src/alerts/index.ts'
import { createWorker } from '${root}src/cloudflare/index.ts'
import { dashboard } from '${root}src/dashboard/index.ts'
import { charge } from './charge.ts'

export default createWorker({
  functions: [charge],
  dashboard: dashboard({ name: 'production' }),
  alerts: alerts({ to: [slack('SLACK_WEBHOOK')], rules: { tick: false } }),
})
`

const chargeOf = (amount: string) => `import { defineWorker } from '${root}src/index.ts'

/** Charges the card of a customer. */
export const charge = defineWorker({
  class: 'charge',
  retry: { max: 0 },
  async perform(job) {
    const { order, customer } = job.args
    job.log(\`charges \${customer} for \${order}\`)
    const { value, currency } = ${amount}
    return { order, charged: \`\${value} \${currency}\` }
  },
})
`

export const versions = {
  good: { version: 'a41c07e9', author: 'Ann Lee', source: chargeOf('job.args.amount') },
  bad: { version: '88f62d2b', author: 'Ben Ode', source: chargeOf('job.args.total.amount') },
}
type Version = (typeof versions)[keyof typeof versions]

const order = (n: number) => ({
  class: 'charge',
  args: { order: `ORD-${n}`, customer: `shop-${n % 7}`, amount: { value: 19 + n, currency: 'EUR' } },
  labels: { customer: `shop-${n % 7}` },
})

async function until<T>(look: () => Promise<T | undefined | false> | T | undefined | false, ms = 60_000): Promise<T> {
  for (const end = Date.now() + ms; ; ) {
    const found = await look()
    if (found) return found
    if (Date.now() > end) throw new Error(`not within ${ms / 1_000} s: ${look}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** @example const shop = await startShop(); await shop.deploy(versions.good) */
export async function startShop() {
  const project = makeProject()
  const redis = await startRedis({ force: kind, persist: false })
  const gateway = await startGateway({ redis, token: GATEWAY })
  const qstash = await startQstash({ token: 'qstash-of-the-shop', control: true })
  const channel = await startReceiver()
  const port = await claimPort(0, { setting: 'PORT' })
  const url = `http://127.0.0.1:${port}`
  const vars = {
    UPSTASH_REDIS_REST_URL: gateway.url,
    UPSTASH_REDIS_REST_TOKEN: GATEWAY,
    QSTASH_URL: qstash.url,
    QSTASH_TOKEN: qstash.token,
    QSTASH_CURRENT_SIGNING_KEY: development.currentSigningKey,
    QSTASH_NEXT_SIGNING_KEY: development.nextSigningKey,
    PUBLIC_URL: url,
    SIDEJOB_API_KEY: KEY,
    SIDEJOB_ALLOW_HOSTS: '127.0.0.1',
    SIDEJOB_LANE_WARM: '0s',
    SIDEJOB_TEST_CLOCK: '1',
    SLACK_WEBHOOK: `${channel.url}/slack`,
  }
  const client = createClient({ url, key: KEY })
  let worker: RunningWorker | undefined

  const ticking = { url: qstash.url, token: qstash.token, publicUrl: url }
  await scheduleTick(ticking, 'shop', EVERY_MINUTE)
  const tick = () => askForTick(ticking)

  async function deploy({ version, author, source }: Version): Promise<void> {
    await worker?.close()
    project.write('src/charge.ts', source)
    project.write('src/index.ts', index)
    worker = await startWorker({
      port,
      dir: join(project.dir, 'built'),
      config: configOf(project.dir),
      vars: { ...vars, SIDEJOB_VERSION: version, SIDEJOB_AUTHOR: author },
      isWatching: true,
      say: () => undefined,
      onExit: () => undefined,
    })
    await worker.ready
    await until(async () => (await fetch(`${url}/health`).catch(() => undefined))?.ok)
    await tick()
    await until(async () => (await client.deployments.list()).deployments.some((one) => one.version === version))
  }

  return {
    url,
    key: KEY,
    client,
    tick,
    deploy,
    messages: (): string[] => channel.came.map(({ body }) => (JSON.parse(body) as { text: string }).text),
    async passes(ms: number): Promise<void> {
      const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
      await fetch(`${url}/v1/test/clock`, { method: 'POST', headers, body: JSON.stringify({ advance: ms }) })
    },
    async close(): Promise<void> {
      await qstash.close()
      await worker?.close()
      await gateway.close()
      await redis.close()
      await channel.close()
      project.remove()
    },
  }
}

export type Shop = Awaited<ReturnType<typeof startShop>>

const GOOD = 3
export const FAILED = 24

const counts = async ({ client }: Shop): Promise<Record<string, number>> => {
  const { jobs } = await client.jobs.list({ class: 'charge', limit: '100' })
  return Object.fromEntries([...Map.groupBy(jobs, ({ status }) => status)].map(([status, of]) => [status, of.length]))
}

const makeOrders = ({ client }: Shop, from: number, n: number) =>
  client.jobs.enqueue(Array.from({ length: n }, (_, i) => order(from + i)) as never)

export type Stage = 'overview' | 'jobs' | 'job' | 'deploys' | 'over'

export async function playIncident(shop: Shop, page: Page, see: (stage: Stage) => Promise<unknown>): Promise<void> {
  const go = (path: string) => page.goto(`${shop.url}/ui${path}`)
  /** A new deploy does not answer for about a second, so the browser leaves the dashboard first. */
  const deploy = async (version: Version) => {
    await page.goto('about:blank')
    await shop.deploy(version)
  }
  await makeOrders(shop, 7_001, GOOD)
  await until(async () => (await counts(shop)).completed === GOOD)
  await deploy(versions.bad)
  await makeOrders(shop, 7_001 + GOOD, FAILED)
  await until(async () => (await counts(shop)).failed === FAILED)
  await shop.tick()
  const [message] = await until(() => shop.messages().length > 0 && shop.messages())

  await go('/')
  await page.locator('.alerts li summary').waitFor()
  await see('overview')
  const [, link] = /<(\S+)\|Open>/.exec(message!)!
  await page.goto(link!)
  await see('jobs')
  await page.locator('#rows tr a').first().click()
  await page.locator('#failure').waitFor()
  await see('job')
  await page.locator('#failure').getByRole('link', { name: versions.bad.version }).click()
  await page.getByRole('heading', { name: `Deploy of ${versions.bad.version}` }).waitFor()
  await see('deploys')

  await deploy(versions.good)
  await go('/')
  await page.locator('.alerts').getByRole('button', { name: 'Retry all' }).click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Retry/ })
    .click()
  await until(async () => (await counts(shop)).completed === GOOD + FAILED)
  await go('/')
  // The dashboard reads kinds of errors once a minute.
  await page.getByText('All quiet').waitFor({ timeout: 90_000 })
  await page.locator('.nav .n').waitFor({ state: 'detached' })
  await see('over')
  await shop.tick()
  await until(async () => {
    if (shop.messages().length > 1) return true
    await shop.passes(60_000)
    await shop.tick()
    return until(() => shop.messages().length > 1, 2_000).catch(() => false)
  })
}
