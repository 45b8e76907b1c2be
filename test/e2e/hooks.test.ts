import { createHash, createHmac } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { createWorker, type HookEvent } from '../../src/cloudflare/node.ts'
import { checkSignature } from '../../src/core/hook-signature.ts'
import { requestLimits } from '../../src/core/limits.ts'
import { defineWorker, port } from '../../src/index.ts'
import { type Kit, rawCommand, startKit } from '../kit/index.ts'

const paid = defineWorker({
  class: 'paid',
  args: z.object({ amount: z.number() }),
  result: z.number(),
  perform: (job) => job.args.amount,
})
const approval = defineWorker({ class: 'approval', in: { decision: port(z.boolean()) }, perform: () => undefined })

const STANDARD = `whsec_${Buffer.from('a secret of 24 characters').toString('base64')}`
const secrets = { STRIPE: 'whsec_stripe, whsec_old', GITHUB: "It's a Secret to Everybody", STANDARD }

type Body = { data?: { amount?: number; job?: number } }
const amountOf = ({ body }: HookEvent) => ({ class: 'paid', args: { amount: (body as Body).data?.amount } })
const isolate = () =>
  createWorker<Record<string, unknown>>({
    functions: [paid, approval],
    mount: '/_jobs',
    hooks: {
      stripe: {
        signed: 'stripe',
        secret: 'STRIPE',
        to: (event) => (event.type === 'paid' ? amountOf(event) : undefined),
      },
      github: { signed: 'github', secret: 'GITHUB', to: amountOf },
      decisions: {
        signed: 'standard',
        secret: 'STANDARD',
        to: ({ body }) => ({ job: (body as Body).data!.job!, port: 'decision', value: true }),
      },
      bare: { signed: 'github', secret: 'NOWHERE', to: amountOf },
      timed: {
        signed: 'github',
        secret: 'GITHUB',
        to: () => ({ class: 'paid', args: { amount: performance.now() } }),
      },
    },
  })
const jobs = isolate()

let kit: Kit
let env: Record<string, unknown>
beforeAll(async () => {
  kit = await startKit({ hold: true })
  const { url, token } = kit.options
  env = {
    UPSTASH_REDIS_REST_URL: url,
    UPSTASH_REDIS_REST_TOKEN: token,
    SIDEJOB_API_KEY: 'key',
    QSTASH_URL: kit.qstash.url,
    QSTASH_TOKEN: kit.qstash.token,
    PUBLIC_URL: 'http://127.0.0.1:1',
    QSTASH_CURRENT_SIGNING_KEY: 'a',
    QSTASH_NEXT_SIGNING_KEY: 'b',
    ...secrets,
  }
})
afterAll(() => kit.close())

async function send(name: string, headers: Record<string, string>, body: string, method = 'POST', to = jobs, on = env) {
  const request = new Request(`http://127.0.0.1/_jobs/hooks/${name}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(method === 'POST' ? { body } : {}),
  })
  const waiting: Promise<unknown>[] = []
  const response = await to.fetch(request, on, { waitUntil: (work) => void waiting.push(work) })
  await Promise.all(waiting)
  const answer = (await response.json()) as {
    id?: number
    existing?: boolean
    error?: { code: string; message: string }
  }
  return { status: response.status, answer }
}

const seconds = () => Math.floor(Date.now() / 1_000)
const hex = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex')
const stripe = (body: string, secret = 'whsec_stripe', t = seconds()) =>
  send('stripe', { 'stripe-signature': `t=${t},v1=${hex(secret, `${t}.${body}`)},v0=00` }, body)
const github = (body: string, id: string, secret = secrets.GITHUB, name = 'github') =>
  send(name, { 'x-hub-signature-256': `sha256=${hex(secret, body)}`, 'x-github-delivery': id }, body)
const standard = (body: string, id: string, t = seconds()) => {
  const key = Buffer.from(STANDARD.slice(6), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${t}.${body}`).digest('base64')
  const headers = { 'webhook-id': id, 'webhook-timestamp': `${t}`, 'webhook-signature': `v1,bm8= v1,${signature}` }
  return send('decisions', headers, body)
}

const event = (id: string, amount: unknown, type = 'paid') => JSON.stringify({ id, type, data: { amount } })

describe('an event becomes a job', () => {
  test('a repeated Stripe event creates one job, with the secret before or after a rotation', async () => {
    const { status, answer } = await stripe(event('evt_1', 5))
    expect([status, await kit.engine.jobs.get(String(answer.id))]).toMatchObject([
      200,
      { class: 'paid', args: '{"amount":5}' },
    ])
    const again = await stripe(event('evt_1', 5), 'whsec_old')
    expect(again.answer).toMatchObject({ id: answer.id, existing: true })
    expect((await stripe(event('evt_2', 5))).answer.id).toBeGreaterThan(answer.id!)
  })

  test('a GitHub event that is sent again under another delivery id creates no second job', async () => {
    const first = await github(event('', 7), 'delivery-1')
    expect(await kit.engine.jobs.get(String(first.answer.id))).toMatchObject({ args: '{"amount":7}' })
    for (const delivery of ['delivery-1', 'delivery-2'])
      expect((await github(event('', 7), delivery)).answer).toMatchObject({ id: first.answer.id, existing: true })
    expect((await github(event('', 8), 'delivery-1')).answer.id).toBeGreaterThan(first.answer.id!)
  })

  test('the id of an event is kept for a week', async () => {
    await github(event('', 70), 'delivery')
    const kept = (await rawCommand(kit.redis.port, 'KEYS', '*hook:github:*'))
      .split('\r\n')
      .filter((l) => l.includes(':hook:'))
    expect(kept.length).toBeGreaterThan(0)
    const left = await rawCommand(kit.redis.port, 'TTL', kept[0]!)
    expect(Number(left.slice(1))).toBeGreaterThan(6.9 * 86_400)
  })

  test('the job is in the trace of the sender', async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
    const body = event('evt_traced', 5)
    const [t, v1] = [seconds(), hex('whsec_stripe', `${seconds()}.${body}`)]
    const { answer } = await send('stripe', { 'stripe-signature': `t=${t},v1=${v1}`, traceparent }, body)
    expect((await kit.store.inspect(String(answer.id))).document).toMatchObject({ traceparent })
    const client = jobs.client(env)
    const { id } = await client.jobs.enqueue({ class: 'paid', args: { amount: 1 } }, { traceparent: 'malformed' })
    expect((await kit.store.inspect(String(id))).document).not.toHaveProperty('traceparent')
  })

  test('an event creates no job if the code returns none', async () => {
    expect((await stripe(event('evt_3', 5, 'created'))).answer).toEqual({ ignored: true })
  })
})

test('a repeated event with Standard Webhooks writes one value to a port', async () => {
  const { id } = await jobs.client(env).jobs.enqueue({ class: 'approval' })
  const body = JSON.stringify({ data: { job: id } })
  for (const _ of [1, 2]) expect((await standard(body, 'msg_1')).answer).toEqual({ job: id, port: 'decision', size: 1 })
  expect((await standard(body, 'msg_2')).answer).toMatchObject({ size: 2 })
})

describe.each([
  ['with the key of the deployment', 'key'],
  ['without a key of the deployment', undefined],
])('isolates %s act as one', (_, SIDEJOB_API_KEY) => {
  const keyed = () => ({ ...env, SIDEJOB_API_KEY })
  const [first, second] = [isolate(), isolate()]
  const deliver = (to: typeof jobs, name: string, body: string) =>
    send(name, { 'x-hub-signature-256': `sha256=${hex(secrets.GITHUB, body)}` }, body, 'POST', to, keyed())

  test('an event that is sent again to another isolate creates no second job', async () => {
    const body = JSON.stringify({ data: { amount: 9 }, of: String(SIDEJOB_API_KEY) })
    const { answer } = await deliver(first, 'github', body)
    expect((await deliver(second, 'github', body)).answer).toMatchObject({ id: answer.id, existing: true })
  })

  test('an event that is sent again gets the first answer, even if the code returns other args', async () => {
    const body = JSON.stringify({ of: String(SIDEJOB_API_KEY) })
    const { answer } = await deliver(first, 'timed', body)
    expect(await deliver(second, 'timed', body)).toMatchObject({ status: 200, answer: { id: answer.id } })
  })

  test('a link of the client in one isolate is valid in another isolate', async () => {
    const client = first.client(keyed())
    const { id } = await client.jobs.enqueue({ class: 'approval' })
    const { url } = await client.links.make(id, 'decision', {})
    const answer = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"value":true}' }
    const response = await second.fetch(new Request(url, answer), keyed(), { waitUntil: () => {} })
    expect([response.status, await response.json()]).toEqual([200, { size: 1 }])
  })

  test('a stream of the client stays open after its first beat', async () => {
    const client = first.client(keyed())
    vi.useFakeTimers({ toFake: ['setInterval'] })
    const messages = (await client.channels.subscribe('/isolates'))[Symbol.asyncIterator]()
    const next = messages.next()
    vi.advanceTimersByTime(requestLimits.stream.beat)
    vi.useRealTimers()
    await pause(300)
    await client.channels.publish({ channel: '/isolates', message: 1 })
    expect((await next).value).toEqual({ channel: '/isolates', message: 1 })
    await messages.return?.()
  })
})

describe('a refusal names the reason', () => {
  test('a request with another secret, another body, no signature or an old signature is refused', async () => {
    const refusal = (message: string) => ({
      status: 401,
      answer: { error: { code: 'UNAUTHENTICATED', message, doc_url: '/docs/errors#UNAUTHENTICATED' } },
    })
    const another = (header: string) =>
      refusal(`${header}: expected a signature of this body made with the secret of this hook, got a different one`)
    expect(await stripe(event('evt_9', 1), 'whsec_other')).toEqual(another('stripe-signature'))
    expect(await github(event('', 1), 'd', 'other')).toEqual(another('x-hub-signature-256'))
    expect(await send('github', {}, '{}')).toEqual(refusal('expected the header x-hub-signature-256, got none'))
    const old = seconds() - 301
    expect(await stripe(event('evt_9', 1), 'whsec_stripe', old)).toEqual(
      refusal(`stripe-signature, t: expected a time within 300 seconds of now, got ${old}`),
    )
    expect((await standard('{}', 'msg_9', old)).status).toBe(401)
    for (const signature of ['v1,', 'v1,&&', 'v2,AAAA', 'nothing']) {
      const headers = { 'webhook-id': 'm', 'webhook-timestamp': `${seconds()}`, 'webhook-signature': signature }
      expect(await send('decisions', headers, '{}')).toEqual(another('webhook-signature'))
    }
  })

  test('invalid JSON, a missing id and args that the class refuses are refused', async () => {
    expect((await github('x=1', 'd2')).answer.error!.message).toContain('expected JSON')
    expect((await stripe('{"type":"paid"}')).answer.error!.message).toContain('the event has no id')
    const wrong = await github(event('', 'much'), 'd3')
    expect(wrong).toMatchObject({ status: 422, answer: { error: { code: 'REFUSED' } } })
    expect(wrong.answer.error!.message).toContain('args.amount: expected a number')
  })

  test('another method, an unknown hook, a missing secret and a large body are refused', async () => {
    expect((await send('github', {}, '', 'GET')).answer.error!.message).toBe('/hooks/github accepts POST, got GET')
    expect((await send('constructor', {}, '{}')).status).toBe(404)
    expect((await github('{}', 'd', 'x', 'bare')).answer.error).toEqual({
      code: 'MISCONFIGURED',
      message: 'hook bare: expected the secret of the hook in the variable NOWHERE, got none',
      doc_url: '/docs/errors#MISCONFIGURED',
    })
    expect((await github(`"${'x'.repeat(1_048_576)}"`, 'd4')).status).toBe(413)
  })
})

test("the signature in GitHub's documentation is accepted", async () => {
  const headers = new Headers({
    'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    'x-github-delivery': 'd',
  })
  const bytes = new TextEncoder().encode('Hello, World!')
  const signed = { headers, body: async () => bytes, secrets: [secrets.GITHUB], now: Date.now() }
  expect(await checkSignature('github', signed)).toEqual({
    id: createHash('sha256').update(bytes).digest('hex'),
    bytes,
  })
})

describe('a request without a valid signature costs little', () => {
  const MIB = new Uint8Array(1_048_576).fill(32)
  const wrong = { base64: `v1,${'A'.repeat(43)}=`, hex: `v1=${'0'.repeat(64)}` }
  const fillTo = (part: string, separator: string, size: number) =>
    Array.from({ length: Math.floor(size / (part.length + 1)) }, () => part).join(separator)
  const now = Date.now()
  const t = String(Math.floor(now / 1_000))
  const standardHeaders = (signature: string, time = t) =>
    new Headers({ 'webhook-id': 'm', 'webhook-timestamp': time, 'webhook-signature': signature })
  const attempt = (dialect: 'standard' | 'stripe' | 'github', headers: Headers, body: () => Promise<Uint8Array>) =>
    checkSignature(dialect, { headers, body, secrets: [STANDARD, STANDARD], now }).catch((error) => error.code)

  test.each([
    ['standard', standardHeaders(fillTo(wrong.base64, ' ', 30_000))],
    ['standard', standardHeaders(fillTo('v1,', ' ', 30_000))],
    ['stripe', new Headers({ 'stripe-signature': `t=${t},${fillTo(wrong.hex, ',', 30_000)}` })],
    ['github', new Headers({ 'x-hub-signature-256': `sha256=${'0'.repeat(30_000)}` })],
  ] as const)('%s: 30 KB of signatures over 1 MiB, below 50 ms of CPU', async (dialect, headers) => {
    const costs: number[] = []
    for (let call = 0; call < 5; call++) {
      const before = process.cpuUsage()
      expect(await attempt(dialect, headers, async () => MIB)).toBe('UNAUTHENTICATED')
      const { user, system } = process.cpuUsage(before)
      costs.push((user + system) / 1_000)
    }
    // The cheapest call counts, because the process may compile or collect garbage during the other calls.
    expect(Math.min(...costs)).toBeLessThan(50)
  })

  test.each([
    ['no signature', 'standard', new Headers({ 'webhook-id': 'm', 'webhook-timestamp': t })],
    ['an old time', 'standard', standardHeaders(wrong.base64, '1')],
    ['a signature of another length', 'standard', standardHeaders('v1,bm8=')],
    ['an old time', 'stripe', new Headers({ 'stripe-signature': `t=1,${wrong.hex}` })],
    ['another algorithm', 'github', new Headers({ 'x-hub-signature-256': 'sha1=00' })],
  ] as const)('with %s the body is not read (%s)', async (_, dialect, headers) => {
    let isRead = false
    const body = async () => {
      isRead = true
      return MIB
    }
    expect([await attempt(dialect, headers, body), isRead]).toEqual(['UNAUTHENTICATED', false])
  })
})

test('empty parts in a list of secrets are ignored, and a list of empty parts is no secret', async () => {
  const former = env.GITHUB
  env.GITHUB = `${former},`
  expect((await github(event('', 71), 'd')).status).toBe(200)
  env.GITHUB = ' , '
  expect((await github(event('', 71), 'd')).answer.error!.code).toBe('MISCONFIGURED')
  env.GITHUB = former
})

test.each(['scheduled', 'queue', 'email'] as const)(
  'a job that the own handler %s created delayed the handler until the run had ended',
  async (name) => {
    const held = Promise.withResolvers<void>()
    const lasts = defineWorker({ class: 'lasts', queue: 'own', timeout: 5_000, perform: () => held.promise })
    const worker = createWorker<Record<string, unknown>>({ functions: [lasts], mount: '/_jobs' })
    const create = (_: object, on: typeof env) => worker.client(on).jobs.enqueue({ class: 'lasts', queue: 'own' })
    const own = worker.with({ fetch: () => new Response('own'), scheduled: create, queue: create, email: create })
    const waiting: Promise<unknown>[] = []
    const context = { waitUntil: (work: Promise<unknown>) => void waiting.push(work) }
    const handle = own[name] as (event: { cron: string }, on: typeof env, by: typeof context) => Promise<unknown>
    await handle({ cron: '0 0 * * *' }, { ...env, SIDEJOB_DISPATCH: 'eager' }, context)
    expect(waiting.length).toBeGreaterThan(0)
    held.resolve()
    await Promise.all(waiting)
  },
)

test('an audit entry is also in the log, and callers without a key see the mount, not the version', async () => {
  const lines: string[] = []
  const print = vi.spyOn(console, 'log').mockImplementation((line) => void lines.push(String(line)))
  await jobs.client(env).keys.add({ name: 'logged', scopes: ['read'] })
  print.mockRestore()
  expect(lines.map((line) => JSON.parse(line))).toContainEqual({
    sidejob: 'audit',
    by: expect.stringMatching(/^key:/),
    name: 'deployment',
    verb: 'keys.add',
    method: 'POST',
    path: '/v1/keys',
    change: '{"name":"logged","scopes":["read"]}',
    url: 'http://127.0.0.1:1/_jobs',
  })
  const own = jobs.with({ fetch: () => new Response('own') })
  const answer = await own.fetch(new Request('http://127.0.0.1/.well-known/sidejob'), env, { waitUntil: () => {} })
  expect(Object.keys((await answer.json()) as object)).toEqual(['mount', 'cron'])
})
