import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Encoded } from '../../src/core/codec/value.ts'
import type { WorkerDefinition } from '../../src/engine/engine.ts'
import { KEY, startPages, type Visitor } from './kit.ts'

let pages: Awaited<ReturnType<typeof startPages>>
let admin: Visitor

beforeAll(async () => {
  pages = await startPages()
  admin = await pages.enter(['admin'])
})
afterAll(() => pages.close())

type Done = { say?: string; undo?: Record<string, string>; error?: { message: string } }

const press = async (path: string, fields: Record<string, string | string[]>) =>
  (await (await admin.act(`/ui${path}`, fields)).json()) as Done

const WHOLE = `{
  "push": { "url": "http://127.0.0.1:1/a", "secret": "${'s'.repeat(32)}", "format": "jq" },
  "args": { "maximum": 12345678901234567890 }, "result": { "maximum": 12345678901234567891 },
  "in": { "n": { "default": 1.0, "schema": { "maximum": 12345678901234567892 }, "channels": ["/a"] }, "m": {} },
  "out": { "o": { "schema": { "minimum": 0.10 } } },
  "concurrency": 3, "limits": [{ "key": "stripe", "concurrency": 8, "rate": { "limit": 5, "period": "90s" } }],
  "retry": { "max": 4, "backoff": { "base": "10s", "factor": 3, "cap": "1h", "jitter": 0.1 } },
  "timeout": "1500ms", "retain": "forever", "history": 7, "redeliver": { "after": "1m", "max": 3 },
  "shutdown": true, "reach": "all", "redact": ["args.card"], "description": "all of it"
}`

async function wholeOf(name: string): Promise<Record<string, string>> {
  const path = `/workers/default/${name}`
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
  const answer = await pages.ask(`/v1${path}`, { method: 'PUT', headers, body: WHOLE })
  expect(answer.status).toBe(200)
  const html = await admin.html(`/ui${path}?change`)
  const hidden = [...html.matchAll(/<input type="hidden" name="was_(\w+)" value="([^"]*)"/g)]
  return Object.fromEntries(hidden.map(([, field, value]) => [field!, value!.replaceAll('&quot;', '"')]))
}

const classOf = async (name: string) =>
  (await pages.engine.workers.list()).workers.find(({ class: one, queue }) => queue === 'default' && one === name)!

const typings: [field: string, text: string, (was: WorkerDefinition) => WorkerDefinition][] = [
  ['url', 'http://127.0.0.1:1/b', (was) => ({ ...was, push: { ...was.push!, url: 'http://127.0.0.1:1/b' } })],
  ['concurrency', '9', (was) => ({ ...was, concurrency: 9 })],
  ['retries', '0', (was) => ({ ...was, retry: { ...was.retry, max: 0 } })],
  ['backoff', '1m', (was) => ({ ...was, retry: { max: 4, backoff: { ...was.retry!.backoff, base: 60_000 } } })],
  [
    'backoff',
    '1s, 1m',
    (was) => ({ ...was, retry: { max: 4, backoff: { ...was.retry!.backoff, delays: [1_000, 60_000] } } }),
  ],
  [
    'backoff',
    '',
    ({ retry, ...was }) => ({ ...was, retry: { max: 4, backoff: { factor: 3, cap: 3_600_000, jitter: 0.1 } } }),
  ],
  ['timeout', '2m', (was) => ({ ...was, timeout: 120_000 })],
  ['retain', '', ({ retain: _, ...was }) => was],
  ['history', '0', (was) => ({ ...was, history: 0 })],
  ['description', 'some', (was) => ({ ...was, description: 'some' })],
  [
    'in',
    '{"n":{"default":1.0,"schema":{"maximum":98765432109876543210},"channels":["/a"]},"m":{}}',
    (was) => ({
      ...was,
      in: { ...was.in, n: { ...was.in!.n, schema: '{"maximum":98765432109876543210}' as Encoded } },
    }),
  ],
  [
    'in',
    '{"n":{"schema":{ "maximum": 12345678901234567892 },"channels":["/a"]},"m":{},"l":{"default":10000000000000000001}}',
    ({ in: { n: { default: _, ...n } = {}, ...more } = {}, ...was }) => ({
      ...was,
      in: { n, ...more, l: { default: '10000000000000000001' as Encoded } },
    }),
  ],
  ['out', '', (was) => ({ ...was, out: {} })],
  [
    'args',
    '{"minimum":-12345678901234567890}',
    (was) => ({ ...was, args: '{"minimum":-12345678901234567890}' as Encoded }),
  ],
  ['result', '', ({ result: _, ...was }) => was],
  [
    'limits',
    '[{"rate":{"limit":1,"period":"1s"}}]',
    (was) => ({ ...was, limits: [{ rate: { limit: 1, period: 1_000 } }] }),
  ],
]

test.each(typings)(
  '%s of a class is changed to %j: all other settings stay equal, and Undo restores the old value',
  async (...typed) => {
    const [field, text, made] = typed
    const drawn = await wholeOf('whole')
    expect(Object.keys(drawn)).toContain(field)
    const was = await classOf('whole')
    const form = {
      ...drawn,
      ...Object.fromEntries(Object.entries(drawn).map(([name, value]) => [`was_${name}`, value])),
    }
    const { say, undo } = await press('/workers/default/whole', { ...form, act: 'change', [field]: text })
    expect(say).toBe(`whole changed: ${field}`)
    const now = await classOf('whole')
    expect(now).toEqual({ ...made(was), schema: now.schema })
    await press('/workers/default/whole', undo!)
    expect(await classOf('whole')).toEqual(was)
  },
)

test('the form names the settings that are removed with the address, and offers no incomplete Undo', async () => {
  await wholeOf('moved')
  const told = await press('/workers/default/moved', { act: 'change', served: 'pull', was_served: 'push' })
  expect(told).toMatchObject({
    say: 'moved changed: served; the secret and format of its address were also removed',
  })
  expect(told).not.toHaveProperty('undo')
  expect(await classOf('moved')).toMatchObject({ pull: true, timeout: 1_500 })
})

test('a class is registered by a form, and its numbers keep all digits', async () => {
  const fields = { act: 'register', queue: 'default', class: 'typed', served: 'pull', url: '', concurrency: '2' }
  const texts = { in: '{"n":{"schema":{"maximum":12345678901234567890}}}', out: '{"o":{}}', args: '{"minimum":1.50}' }
  const more = {
    backoff: '5s, 1m',
    retries: '2',
    retain: '7d',
    history: '3',
    limits: '[{"concurrency":2}]',
    result: '',
  }
  expect(await press('/workers', { ...fields, ...texts, ...more })).toMatchObject({
    say: 'default/typed registered',
  })
  expect(await classOf('typed')).toMatchObject({
    in: { n: { schema: '{"maximum":12345678901234567890}' } },
    out: { o: {} },
    args: '{"minimum":1.50}',
    concurrency: 2,
    retain: 7 * 86_400_000,
    history: 3,
    limits: [{ concurrency: 2 }],
    retry: { max: 2, backoff: { delays: [5_000, 60_000] } },
  })
})

test('a class is changed port by port, and changes by other users since the form was opened are kept', async () => {
  const path = '/workers/default/cards'
  const url = { schema: '{"maximum":12345678901234567890}' as never }
  await pages.engine.workers.register('default', 'cards', {
    pull: true,
    in: { url, gone: {}, n: { default: '1' as never } },
  })
  const was = `{"url":{"schema":${url.schema}},"gone":{},"n":{"default":1}}`
  const is = `{"url":{"schema":${url.schema}},"n":{"schema":{"type":"number"}},"more":{}}`
  const form = { act: 'change', in: is, was_in: was, timeout: '', was_timeout: '' }
  await pages.engine.workers.update('default', 'cards', { concurrency: 3 })
  expect(await press(path, form)).toMatchObject({ say: 'cards changed: in' })
  const now = (await pages.engine.workers.list()).workers.find(({ class: name }) => name === 'cards')
  expect(now).toMatchObject({ concurrency: 3, pull: true })
  expect(now!.in).toEqual({ url, n: { schema: '{"type":"number"}' }, more: {} })
  expect(await press(path, form)).toMatchObject({
    error: {
      message: expect.stringMatching(
        /^in: another user changed it from .* to .*\. Reload the page, then change it again$/,
      ),
    },
  })
  expect(await press(path, { act: 'change', timeout: '', was_timeout: '' })).toMatchObject({
    say: 'cards is unchanged',
  })
  expect(await press(path, { act: 'change', in: '[1]', was_in: '' })).toMatchObject({ error: {} })
})

test('the form of a class shows admins which waiting jobs would not fit, before anything changes', async () => {
  const path = '/workers/default/fitted'
  await pages.engine.workers.register('default', 'fitted', { pull: true })
  const made = await pages.make('fitted', { args: '{"sum":"1"}' })
  const previewed = async (typed: object, who = admin) => {
    const html = await who.html(`/ui${path}?${new URLSearchParams({ change: '', ...typed })}`)
    return /id="preview"[^>]*><p[^>]*>([^<]*)</.exec(html)?.[1]
  }
  expect(await previewed({})).toBe('')
  const typed = { args: '{"properties":{"sum":{"type":"number"}}}' }
  expect(await previewed(typed)).toBe(
    `1 of 1 waiting job would not match the new schemas. For example, #${made}, args: sum: expected a number, got &quot;1&quot;`,
  )
  expect(await previewed({ args: '{}' })).toBe('Checked 1 waiting job. All match.')
  expect(await previewed({ args: '{' })).toMatch(/^args: expected JSON/)
  expect(await previewed(typed, await pages.enter(['read']))).toBeUndefined()
  const now = (await pages.engine.workers.list()).workers.find(({ class: name }) => name === 'fitted')
  expect(now).not.toHaveProperty('args')
})

test('the form that registers a class shows which waiting jobs of its name would not fit', async () => {
  await pages.engine.workers.register('default', 'once', { pull: true })
  const made = await pages.make('once', { args: '{"sum":"1"}' })
  const typed = { queue: 'default', class: 'once', in: '', args: '{"properties":{"sum":{"type":"number"}}}' }
  const previewed = async (more: object, who = admin) => {
    const html = await who.html(`/ui/workers?${new URLSearchParams({ register: '', ...typed, ...more })}`)
    return /id="preview"[^>]*><p[^>]*>([^<]*)</.exec(html)?.[1]
  }
  const fault = `1 of 1 waiting job would not match the new schemas. For example, #${made}, args: sum: expected a number, got &quot;1&quot;`
  const taken = 'once is registered already (pull): this form replaces it entirely.'
  expect(await previewed({})).toBe(`${taken} ${fault}`)
  expect(await previewed({ args: '' })).toBe(`${taken} Checked 1 waiting job. All match.`)
  expect(await previewed({}, await pages.enter(['read']))).toBe('')
  expect((await classOf('once')).args).toBeUndefined()
  await pages.engine.workers.unregister('default', 'once')
  expect(await previewed({})).toBe(fault)
  expect(await previewed({ class: 'never' })).toBe('No jobs of this class are waiting.')
  expect(await previewed({ class: '' })).toBe('')
  expect(await previewed({ queue: 'a/b' })).toMatch(/^queue: expected a queue/)
  expect(await previewed({ args: '{' })).toMatch(/^args: expected JSON/)
})

test('a change of a class was saved before its difference was shown', async () => {
  await pages.engine.workers.register('default', 'seen', { pull: true, concurrency: 2, in: { a: {}, b: {} } })
  const shown = async (typed: object) => {
    const html = await admin.html(`/ui/workers/default/seen?${new URLSearchParams({ change: '', ...typed })}`)
    return /id="preview".*?<button class="btn primary"/s
      .exec(html)![0]
      .replace(/<[^>]*>/g, '')
      .replaceAll('&quot;', '"')
      .replaceAll('&#39;', "'")
  }
  expect(await shown({})).not.toContain('curl')
  const text = await shown({ concurrency: '5', in: '{\n  "a":{},\n  "c":{}\n}' })
  expect(text).toContain('Max running\n- 2\n+ 5\n')
  expect(text).toContain('Input ports\n-   "b":{}\n+   "c":{}\n')
  expect(text).toMatch(/curl -X PATCH '\S*\/v1\/workers\/default\/seen'/)
  expect(JSON.parse(/-d '(.*)'/s.exec(text)![1]!)).toEqual({ concurrency: 5, in: { b: null, c: {} } })
  expect((await classOf('seen')).concurrency).toBe(2)
})

test('the form that registers a class shows the same request for curl', async () => {
  const html = await admin.html('/ui/workers?register=&queue=press&class=print&served=push&url=https%3A%2F%2Fa.example')
  expect(html).toContain('/v1/workers/press/print&#39;')
  expect(html).toContain('&quot;url&quot;: &quot;https://a.example&quot;')
})
