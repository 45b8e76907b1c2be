import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { type AlertMessage, alerts, pagerDuty, slack, webhook } from '../../src/alerts/index.ts'
import { createWorker } from '../../src/cloudflare/node.ts'
import { defineWorker } from '../../src/index.ts'
import { type Kit, startKit } from '../kit/index.ts'
import { type Came, type Receiver, startReceiver } from '../kit/receiver.ts'

const MINUTE = 60_000
const SECRET = `whsec_${Buffer.from('a secret of 24 characters').toString('base64')}`
const URL = 'https://jobs.example.com'

const send = defineWorker({ queue: 'mail', class: 'send', perform: () => undefined })
const pays = defineWorker({
  class: 'pay',
  perform() {
    throw new Error('card declined')
  },
})
const sirens = defineWorker({
  class: 'alerts',
  perform() {
    throw new Error('no siren')
  },
})
const asks = defineWorker({ class: 'ask', perform: (job) => job.count('tokens', 600) })
let isHealed = false
const heals = defineWorker({
  class: 'heal',
  perform() {
    if (!isHealed) throw new Error('no such column')
  },
})

let kit: Kit
let ops: Receiver
let alerting: ReturnType<typeof alerts>

beforeAll(async () => {
  ops = await startReceiver()
  alerting = alerts({
    to: [
      slack('SLACK_WEBHOOK'),
      pagerDuty('PAGERDUTY_KEY', `${ops.url}/pagerduty`),
      webhook(`${ops.url}/hook`, { secret: 'ALERT_SECRET' }),
    ],
    rules: { paused: { after: '2m' }, lost: false, tick: false, slow: false, busy: false },
    depth: { mail: 2 },
    budget: { tokens: 1_000 },
    every: '1h',
  })
  kit = await startKit({
    workers: [send, pays, sirens, heals, asks, alerting.worker],
    env: { SLACK_WEBHOOK: `${ops.url}/slack`, PAGERDUTY_KEY: 'integration', ALERT_SECRET: SECRET },
    retry: undefined,
  })
})
beforeEach(() => {
  ops.came.length = 0
})
afterAll(async () => {
  await ops.close()
  await kit.close()
})

const check = () => alerting.check({ engine: kit.engine, publicUrl: URL, now: kit.now() })

async function minutes(n: number): Promise<void> {
  for (let i = 0; i < n; i++) {
    await kit.advance(MINUTE)
    await kit.engine.tick()
    await check()
    await rest()
  }
}

const rest = () =>
  kit.until(async () => {
    const { jobs } = await kit.engine.jobs.list({ queue: 'alerts', status: ['queued', 'running'] })
    return jobs.every(({ status, runAt }) => status === 'queued' && runAt !== null && runAt > kit.now())
  })

const at = (path: string): Came[] => ops.came.filter((came) => came.path === path)
const bodies = (path: string) => at(path).map(({ body }) => JSON.parse(body))
const texts = (about = ''): string[] => bodies('/slack').flatMap(({ text }) => (text.includes(about) ? [text] : []))
const told = (n: number) => kit.until(() => ops.came.length >= 3 * n)

const paused = (is: boolean) => kit.engine.queues.update('mail', { paused: is })

test('an error about a Slack address names the secret, but not its value', () => {
  const call = () =>
    slack('SLACK_WEBHOOK').call({ since: 0 } as AlertMessage, { SLACK_WEBHOOK: 'hooks.slack.com/s3cret' })
  const expected = 'expected an address that begins with https:// or http://, got another value of 22 characters'
  expect(call).toThrow(`SLACK_WEBHOOK: ${expected}`)
})

const message = (more: Partial<AlertMessage>): AlertMessage => ({
  ...{ key: 'paused mail', what: 'lasts', text: 'Queue mail is paused.', rule: 'paused' },
  ...{ since: 0, link: `${URL}/ui/`, isSevere: false, at: MINUTE },
  ...more,
})

test('Slack shows an error that contains <!channel> as text, so it notifies no channel', async () => {
  const { body } = await slack('SLACK_WEBHOOK').call(message({ text: 'AT&T refused <!channel>' }), {
    SLACK_WEBHOOK: `${URL}/slack`,
  })
  expect(JSON.parse(body).text).toMatch(/^Still: AT&amp;T refused &lt;!channel&gt; \(<!date/)
})

test('each reminder has its own webhook-id, which a header accepts for any name of a queue', async () => {
  const idOf = async (more: Partial<AlertMessage>) => {
    const target = webhook(`${URL}/hook`, { secret: 'ALERT_SECRET' })
    const { headers } = await target.call(message(more), { ALERT_SECRET: SECRET })
    return new Headers(headers).get('webhook-id')
  }
  const first = await idOf({ key: 'paused заказы' })
  expect(await idOf({ key: 'paused заказы' })).toBe(first)
  expect(await idOf({ key: 'paused заказы', at: 2 * MINUTE })).not.toBe(first)
})

test('a paused queue causes a message after two minutes, and another when it is resumed', async () => {
  await paused(true)
  await kit.make('send', { queue: 'mail' })
  await minutes(2)
  expect(ops.came).toEqual([])
  await minutes(2)
  await told(1)
  expect(texts()).toEqual([
    expect.stringMatching(
      /^Queue mail is paused\. 1 job waits \(<!date\^\d+\^since \{time\}\|since 2.*Z>\) <https:\/\/jobs\.example\.com\/ui\/.*\|Open>$/,
    ),
  ])
  const [event] = bodies('/pagerduty')
  expect(event).toMatchObject({
    routing_key: 'integration',
    event_action: 'trigger',
    dedup_key: `${URL} paused mail`,
    payload: { severity: 'warning', summary: 'Queue mail is paused. 1 job waits', source: 'jobs.example.com' },
  })
  const [hook] = at('/hook')
  const { 'webhook-id': id, 'webhook-timestamp': t, 'webhook-signature': signature } = hook!.headers
  const key = Buffer.from(SECRET.slice(6), 'base64')
  expect(signature).toBe(`v1,${createHmac('sha256', key).update(`${id}.${t}.${hook!.body}`).digest('base64')}`)
  expect((await kit.engine.alerts.list()).alerts).toMatchObject([
    { alert: 'paused mail', isOpen: true, rule: 'paused', told: expect.any(Number) },
  ])
  await paused(false)
  await minutes(4)
  await told(2)
  expect(texts()[1]).toMatch(/^Resolved: Queue mail is paused/)
  expect(bodies('/pagerduty')[1]).toMatchObject({ event_action: 'resolve', dedup_key: event.dedup_key })
  expect((await kit.engine.alerts.list()).alerts).toEqual([])
})

test('a counter above its budget of the day causes a message, and midnight UTC ends it', async () => {
  await kit.rest(await kit.make('ask'), 'completed')
  await minutes(1)
  expect(texts('tokens')).toEqual([])
  await kit.rest(await kit.make('ask'), 'completed')
  await minutes(1)
  await told(1)
  expect(texts('tokens')).toEqual([
    expect.stringMatching(/^Today’s count of tokens is 1,200, expected at most 1,000\. .*\/ui\/jobs\?by=class\|Open>$/),
  ])
  await kit.advance(86_400_000 - (kit.now() % 86_400_000))
  await minutes(4)
  expect(texts('tokens')[1]).toMatch(/^Resolved: Today’s count of tokens/)
})

test('a class that fails causes one message with its error, although the check is repeated', async () => {
  for (let i = 0; i < 6; i++) await kit.rest(await kit.make('pay', { retry: { max: 0 } }), 'failed')
  await Promise.all([check(), check(), check()])
  await check()
  await told(1)
  await minutes(2)
  expect(texts()).toHaveLength(1)
  expect(texts()[0]).toMatch(/^6 jobs of pay failed in the last 15 minutes.*card declined/)
  expect(bodies('/pagerduty')[0]).toMatchObject({ payload: { severity: 'error' } })
})

test('an open alert is sent again each hour until a key acknowledges it, and never while it is muted', async () => {
  await paused(true)
  for (let i = 0; i < 3; i++) await kit.make('send', { queue: 'mail' })
  await minutes(1)
  await told(1)
  expect(texts('Queue')).toEqual([expect.stringMatching(/^Queue mail has \d ready jobs, expected at most 2\./)])
  await minutes(3)
  await told(2)
  expect(texts('Queue')[1]).toContain('is paused')
  await kit.engine.alerts.acknowledge('paused mail', { by: 'ana', reason: 'DHL is down' })
  await kit.advance(61 * MINUTE)
  await minutes(1)
  await kit.until(() => texts('Queue').length >= 3)
  expect(texts('Queue').slice(2)).toEqual([expect.stringMatching(/^Still: Queue mail has \d ready jobs/)])
  const open = (await kit.engine.alerts.list()).alerts.find(({ alert }) => alert === 'paused mail')
  expect(open).toMatchObject({ acknowledged: { by: 'ana', reason: 'DHL is down', at: expect.any(Number) } })
  await kit.engine.alerts.mute('depth mail', { by: 'ana', until: kit.now() + 90 * MINUTE })
  await kit.advance(61 * MINUTE)
  await minutes(1)
  expect(texts('Queue')).toHaveLength(3)
  await kit.advance(31 * MINUTE)
  await minutes(1)
  await kit.until(() => texts('Queue').length >= 4)
  expect(texts('Queue')[3]).toMatch(/^Still: Queue mail has \d ready jobs/)
  await paused(false)
  await minutes(4)
  await kit.until(async () => (await kit.engine.alerts.list()).alerts.every(({ rule }) => rule === 'failing'))
  await expect(kit.engine.alerts.acknowledge('paused mail', { by: 'ana' })).rejects.toThrow('is not open')
  await expect(kit.engine.alerts.unmute('depth mail')).rejects.toThrow('is not muted')
})

test('a failing target is tried again, and each other target gets one message', async () => {
  let isDown = true
  ops.answer = (came, response) => response.writeHead(isDown && came.path === '/slack' ? 500 : 200).end()
  await paused(true)
  await kit.make('send', { queue: 'mail' })
  await minutes(4)
  await kit.until(() => ops.came.length >= 3)
  isDown = false
  await minutes(2)
  await kit.until(() => at('/slack').length >= 2)
  expect([at('/pagerduty'), at('/hook')].map(({ length }) => length)).toEqual([1, 1])
  await paused(false)
  await minutes(4)
})

test('a job of a pull class that no pull worker claims causes a message', async () => {
  await kit.engine.workers.register('shop', 'resize', { pull: true })
  await kit.make('resize', { queue: 'shop' })
  await minutes(3)
  await kit.until(() => texts('queue shop').length > 0)
  expect(texts('queue shop')[0]).toMatch(/^A job in queue shop has waited for a pull worker for/)
})

test('a schedule whose run does not begin within five minutes of its slot causes a message until it runs', async () => {
  await paused(true)
  const repeat = { cron: '0 * * * *' }
  const { nextAt } = await kit.engine.schedules.set('hourly', { queue: 'mail', class: 'send', repeat })
  const about = () => texts('hourly')
  const minutesLeft = Math.ceil((nextAt! - kit.now()) / MINUTE)
  await minutes(minutesLeft + 4)
  expect(about()).toEqual([])
  await minutes(2)
  await kit.until(() => about().length > 0)
  expect(about()[0]).toMatch(/^Schedule hourly is more than five minutes late\./)
  await paused(false)
  await minutes(4)
  await kit.until(() => about().length > 1)
  expect(about()[1]).toMatch(/^Resolved: Schedule hourly is more than five minutes late/)
  await kit.engine.schedules.end('hourly')
})

test('a failing class whose name is alerts causes a message, and failed messages about alerts cause none', async () => {
  for (let i = 0; i < 6; i++) {
    await kit.rest(await kit.make('alerts', { retry: { max: 0 } }), 'failed')
    const args = JSON.stringify({ to: 'slack SLACK_WEBHOOK', message: {} })
    await kit.rest(await kit.make('alert', { queue: 'alerts', args, retry: { max: 0 } }), 'failed')
  }
  await check()
  await kit.until(() => texts('jobs of alerts failed').length === 1)
  await minutes(1)
  expect(texts('jobs of alert failed')).toEqual([])
})

test('failed jobs that were all retried cause no second message about the same failures', async () => {
  const ids: number[] = []
  for (let i = 0; i < 24; i++) ids.push(await kit.make('heal', { retry: { max: 0 } }))
  for (const id of ids) await kit.rest(id, 'failed')
  await check()
  await kit.until(() => texts('24 jobs of heal failed').length === 1)
  isHealed = true
  for (const id of ids) await kit.engine.jobs.retry(String(id))
  for (const id of ids) await kit.rest(id, 'completed')
  await minutes(3)
  await kit.until(() => texts('Resolved: 24 jobs of heal failed').length === 1)
  expect(texts('jobs failed in the last 15 minutes')).toEqual([])
})

async function tick(check: () => Promise<void>, settings: Record<string, string> = {}): Promise<unknown[]> {
  const said = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const jobs = createWorker<Record<string, unknown>>({ functions: [send], alerts: { ...alerting, check } })
  const { url, token } = kit.options
  const env = {
    UPSTASH_REDIS_REST_URL: url,
    UPSTASH_REDIS_REST_TOKEN: token,
    QSTASH_URL: kit.qstash.url,
    QSTASH_TOKEN: kit.qstash.token,
    PUBLIC_URL: 'http://127.0.0.1:1',
    QSTASH_CURRENT_SIGNING_KEY: 'a',
    QSTASH_NEXT_SIGNING_KEY: 'b',
    SIDEJOB_NAMESPACE: 'other:',
    ...settings,
  }
  const waiting: Promise<unknown>[] = []
  jobs.scheduled({}, env, { waitUntil: (work) => void waiting.push(work) })
  for (let done = 0; done < waiting.length; done = waiting.length) await Promise.allSettled(waiting)
  const errors = said.mock.calls.flat()
  said.mockRestore()
  return errors
}

test('the tick of a Worker checks the alerts, and a fault of an alert does not stop it', async () => {
  const checked = vi.fn(() => Promise.reject(new Error('no rule')))
  expect(await tick(checked)).toEqual([new Error('no rule')])
  expect(checked).toHaveBeenCalledWith(expect.objectContaining({ publicUrl: 'http://127.0.0.1:1' }))
})

test('a failed tick checks the alerts too', async () => {
  const checked = vi.fn(async () => undefined)
  await tick(checked, { UPSTASH_REDIS_REST_URL: 'http://127.0.0.1:1' })
  expect(checked).toHaveBeenCalledTimes(1)
})

test('each successful tick calls the monitor, and a tick without Redis or alerts does not', async () => {
  const SIDEJOB_HEARTBEAT_URL = `${ops.url}/ping/secret`
  const calls = () => at('/ping/secret').map(({ method }) => method)
  const checks = async () => undefined
  expect(await tick(checks, { SIDEJOB_HEARTBEAT_URL })).toEqual([])
  expect(calls()).toEqual(['GET'])
  await tick(() => Promise.reject(new Error('no rule')), { SIDEJOB_HEARTBEAT_URL })
  await tick(checks, { SIDEJOB_HEARTBEAT_URL, UPSTASH_REDIS_REST_URL: 'http://127.0.0.1:1' })
  expect(calls()).toEqual(['GET'])
})

test('the error of a refusing monitor is printed without the secret path', async () => {
  ops.answer = (_, response) => response.writeHead(404).end()
  const settings = { SIDEJOB_HEARTBEAT_URL: `${ops.url}/ping/secret` }
  const printed = await tick(async () => undefined, settings)
  expect(printed).toEqual([new Error(`SIDEJOB_HEARTBEAT_URL: ${ops.url.slice('http://'.length)} answered 404`)])
})
