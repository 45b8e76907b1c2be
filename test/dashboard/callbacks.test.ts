import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineWorker } from '../../src/index.ts'
import { startReceiver } from '../kit/receiver.ts'
import { startPages, type Visitor } from './kit.ts'

const SECRET = 'M4rk3r'
const pays = defineWorker({
  class: 'pays',
  redact: ['result.receipt', 'error.message'],
  retry: { max: 0 },
  perform(job) {
    if (job.args === 'fails') throw new Error(`no: ${SECRET}`)
    return { receipt: SECRET, paid: true }
  },
})

let pages: Awaited<ReturnType<typeof startPages>>
let reader: Visitor
beforeAll(async () => {
  pages = await startPages({ workers: [pays] })
  reader = await pages.enter(['read'])
})
afterAll(() => pages.close())

const textOf = (html: string): string =>
  html
    .replace(/<[^>]*>/g, '')
    .replaceAll('&quot;', '"')
    .replace(/\s+/g, ' ')

test('shows the headers, body and answer of each attempt, without secrets', async () => {
  const heard: { headers: Record<string, unknown>; body: string }[] = []
  const receiver = await startReceiver((request, response) => {
    heard.push(request)
    response.writeHead(heard.length === 1 ? 503 : 200).end()
  })
  const callback = {
    url: `${receiver.url}/hook?token=${SECRET}`,
    retry: [10],
    headers: { 'X-Tenant': 'acme', Authorization: `Bearer ${SECRET}` },
  }
  const id = await pages.make('pays', { callback })
  await pages.until(async () => (await pages.engine.callbacks.counts()).DELIVERED === 1)
  const html = await reader.html(`/ui/callbacks?open=${id}`)
  const text = textOf(html)
  expect(heard[0]!.body).toContain(SECRET)
  expect(html).not.toContain(SECRET)
  expect(text).toContain(`"webhook-id": "${heard[0]!.headers['webhook-id']}"`)
  expect(text).toContain('"x-tenant": "acme"')
  expect(text).toContain('"content-type": "application/json"')
  expect(text).toContain(`"id": ${id}, "queue": "default", "class": "pays", "status": "completed"`)
  expect(text).toContain('"receipt": "[redacted]", "paid": true')
  expect(text).toMatch(/answered 503, then retried/)
  expect(text).toContain('its circuit breaker is closed')
  expect(text).toContain('Next attemptnone')
  expect(text).toMatch(/accepted (now|\d+ s ago)/)
  await receiver.close()
})

test('shows the time of the next attempt, and the end of the pause of a failing host', async () => {
  const receiver = await startReceiver((_, response) => response.writeHead(500).end())
  const { host } = new URL(receiver.url)
  const id = await pages.make('pays', { args: '"fails"', callback: { url: receiver.url, retry: [3_600_000] } })
  const ofJob = async () => (await pages.engine.callbacks.list({ host })).callbacks[0]
  await pages.until(async () => (await ofJob())?.nextAt != null)
  const settings = { threshold: 3, base: 60_000, cap: 60_000, probing: 5_000 }
  for (const _ of [1, 2, 3]) await pages.store.breaker(host, 'failed', settings)
  pages.forget()
  const html = await reader.html(`/ui/callbacks?open=${id}`)
  expect(html).not.toContain(SECRET)
  const text = textOf(html)
  expect(text).toMatch(/Next attemptin \d+ [hm]/)
  expect(text).toMatch(/Host127\.0\.0\.1:\d+ not called until (\d+ \w{3}, )?\d\d:\d\d:\d\d: \d failures in a row/)
  expect(html).toContain('id="breakers"')
  await receiver.close()
})

test('the list shows how many attempts a callback can have, and sends a pending one now', async () => {
  let calls = 0
  const receiver = await startReceiver((_, response) => {
    calls++
    response.writeHead(500).end()
  })
  const id = await pages.make('pays', { callback: { url: `${receiver.url}/later`, retry: [3_600_000, 3_600_000] } })
  const callbackOf = async () => (await pages.engine.callbacks.list({})).callbacks.find(({ of }) => of === id)
  await pages.until(async () => (await callbackOf())?.nextAt != null)
  pages.forget()
  const writer = await pages.enter(['read', 'write'])
  const opened = await writer.html(`/ui/callbacks?open=${id}`)
  const card = /id="tries".*?<\/section>/s.exec(opened)![0]
  expect(card).toContain(`aria-label="Send now: the callback of job ${id}"`)
  expect(card).toMatch(/href="\/ui\/callbacks"[^>]*>Close</)
  const html = await writer.html('/ui/callbacks?state=PENDING')
  expect(html).toContain('>1 of 3<')
  expect(html).toContain(`aria-label="Send now: the callback of job ${id}"`)
  expect(calls).toBe(1)
  await writer.act('/ui/callbacks', { act: 'resend', job: String(id) })
  await pages.until(() => Promise.resolve(calls === 2))
  await receiver.close()
})

test('the host of a callback ended with the id of the key that created its job', async () => {
  const receiver = await startReceiver((_, response) => response.writeHead(200).end())
  const { key } = await pages.engine.keys.add({ name: 'shop', scopes: ['write'] })
  const answer = await pages.ask('/v1/jobs', {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ class: 'pays', callback: { url: receiver.url } }),
  })
  const { id } = (await answer.json()) as { id: number }
  await pages.until(async () => (await pages.engine.callbacks.list({})).callbacks.some(({ of }) => of === id))
  pages.forget()
  const html = await reader.html(`/ui/callbacks?open=${id}`)
  expect(html).toMatch(/host=127\.0\.0\.1%3A\d+%2F\w+/)
  expect(textOf(html)).toMatch(/Host127\.0\.0\.1:\d+ called normally/)
  await receiver.close()
})

test('Overview found no failed callbacks of jobs that a key had created', async () => {
  const receiver = await startReceiver((_, response) => response.writeHead(404).end())
  const { host } = new URL(receiver.url)
  const { key } = await pages.engine.keys.add({ name: 'store', scopes: ['read', 'write'] })
  const store = await pages.enterWith(key)
  const answer = await pages.ask('/v1/jobs', {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ class: 'pays', callback: { url: receiver.url, retry: [] } }),
  })
  const { id } = (await answer.json()) as { id: number }
  await pages.until(async () =>
    (await pages.engine.callbacks.list({ state: 'FAILED' })).callbacks.some(({ of }) => of === id),
  )
  pages.forget()
  const html = await store.html('/ui/')
  expect(textOf(html)).toContain(`1 callback to ${host} ran out of attempts`)
  const link = /href="([^"]*state=FAILED&amp;host=127[^"]*)"/.exec(html)![1]!.replaceAll('&amp;', '&')
  expect(await store.html(link)).toContain(`open=${id}"`)
  const stored = new URL(link, 'http://localhost').searchParams.get('host')!
  const { confirm } = (await (await store.act('/ui/callbacks', { act: 'resend', host: stored })).json()) as {
    confirm: string
  }
  expect(textOf(confirm)).toContain(`Resend 1 callback to ${host}?`)
  await receiver.close()
})

test('a job without a sent callback shows no callback', async () => {
  const id = await pages.make('pays')
  await pages.until(async () => (await pages.statusOf(id)) === 'completed')
  expect(await reader.html(`/ui/callbacks?open=${id}`)).not.toContain('id="tries"')
})

test('a search did not find callbacks', async () => {
  const receiver = await startReceiver((_, response) => response.writeHead(200).end())
  const id = await pages.make('pays', { callback: { url: `${receiver.url}/searched` } })
  await pages.until(async () => (await pages.engine.callbacks.list({})).callbacks.some(({ of }) => of === id))
  pages.forget()
  for (const path of ['/ui/find?q=SEARCHED', '/ui/find?list&q=searched'])
    expect(await reader.html(path)).toMatch(
      new RegExp(`href="/ui/callbacks\\?open=${id}".*[a-z ]+ callback of job ${id}<`, 'si'),
    )
  await receiver.close()
})

test('after Resend, every attempt was called "1", and the page showed the outcome up to 10 s late', async () => {
  const receiver = await startReceiver((_, response) => response.writeHead(500).end())
  const id = await pages.make('pays', { callback: { url: receiver.url, retry: [] } })
  const stateOf = async () => (await pages.engine.callbacks.list({})).callbacks.find(({ of }) => of === id)?.state
  await pages.until(async () => (await stateOf()) === 'FAILED')
  const answered: (() => void)[] = []
  receiver.answer = (_, response) => void answered.push(() => response.writeHead(500).end())
  const read = async () => {
    pages.forget()
    return reader.html(`/ui/callbacks?open=${id}`)
  }
  await pages.engine.callbacks.resend(String(id))
  expect(await read()).toContain('class="card change soon" id="tries"')
  await pages.until(() => Promise.resolve(answered.length === 1))
  answered[0]!()
  await pages.until(async () => (await pages.engine.callbacks.tries(String(id))).tries.length === 2)
  const html = await read()
  expect(html).not.toContain('change soon')
  expect(textOf(html)).toMatch(/1, resentfailed.*(now|ago)1failed/)
  await receiver.close()
})

test('the page of limits named the host of a callback with the id of an API key', async () => {
  const settings = { threshold: 3, base: 60_000, cap: 60_000, probing: 5_000 }
  for (const _ of [1, 2, 3]) await pages.store.breaker('shop.example/2b1300e03fb45fd7', 'failed', settings)
  pages.forget()
  const admin = await pages.enter(['admin'])
  for (const path of ['/ui/limits', '/ui']) {
    const text = textOf(await admin.html(path))
    expect(text).toContain('shop.example')
    expect(text).not.toContain('2b1300e03fb45fd7')
  }
})

test('"Resend all failed" stopped at the first callback that could not be sent again', async () => {
  const receiver = await startReceiver((_, response) => response.writeHead(404).end())
  const { host } = new URL(receiver.url)
  const id = await pages.make('pays', { callback: { url: receiver.url, retry: [] } })
  const stateOf = async () => (await pages.engine.callbacks.list({ host })).callbacks[0]?.state
  await pages.until(async () => (await stateOf()) === 'FAILED')
  receiver.answer = (_, response) => response.writeHead(200).end()
  const writer = await pages.enter(['read', 'write'])
  const fields = { act: 'resend', host, counted: `999999,${id}`, sure: 'yes' }
  const { say } = (await (await writer.act('/ui/callbacks', fields)).json()) as { say: string }
  expect(say).toMatch(new RegExp(`^Resending 1 callback to ${host}; 1 skipped, for example #999999: .`))
  await pages.until(async () => (await stateOf()) === 'DELIVERED')
  await receiver.close()
})
