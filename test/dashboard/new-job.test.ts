import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { core } from '../../functions/core.ts'
import { KEY, startPages, type Visitor } from './kit.ts'

const PAGE = '/ui/jobs/new?queue=media&class=thumb'
const URL_OF_PICTURE = 'https://cdn.example/881.heic'

describe('a new job of a class with a required input', () => {
  let pages: Awaited<ReturnType<typeof startPages>>
  let writer: Visitor

  beforeAll(async () => {
    pages = await startPages()
    const made = await pages.ask('/v1/workers/media/thumb', {
      method: 'PUT',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        pull: true,
        in: {
          url: { schema: { type: 'string', format: 'uri' } },
          sizes: { schema: { type: 'array', items: { type: 'integer' } }, default: [320, 960] },
          news: { schema: { type: 'string' }, channels: ['/news'] },
        },
      }),
    })
    expect(made.status).toBe(200)
    writer = await pages.enter(['read', 'write'])
  })
  afterAll(() => pages.close())

  type Answer = { to?: string; error?: { message: string; path: unknown[] } }

  async function create(fields: Record<string, string>): Promise<Answer> {
    const typed = fields.body === undefined ? { queue: 'media', class: 'thumb', ...fields } : fields
    return (await (await writer.act(PAGE, { act: 'make', ...typed })).json()) as Answer
  }

  const jobs = async () => (await pages.engine.jobs.list({ class: 'thumb', limit: 50 })).jobs.length

  async function valuesOf({ to }: Answer, port: string): Promise<string[]> {
    const { values } = await pages.engine.ports.get(to!.slice('/jobs/'.length), 'in', port, 10)
    return values.map(({ data }) => data)
  }

  const boxOf = (html: string): string =>
    /<textarea[^>]*name="body"[^>]*>([^<]*)/.exec(html)![1]!.replaceAll('&quot;', '"')

  test('an empty form creates no job, and the error names the input', async () => {
    const { error } = await create({})
    expect(error).toMatchObject({ path: ['inputs', 'url'] })
    expect(error!.message).toMatch(/^inputs\.url: expected a value/)
    expect(await jobs()).toBe(0)
  })

  test('the JSON that the page shows first creates no job', async () => {
    const html = await writer.html(PAGE)
    const body = boxOf(html)
    expect(JSON.parse(body)).toEqual({ queue: 'media', class: 'thumb', inputs: { url: [] } })
    expect(await create({ body })).toMatchObject({ error: { path: ['inputs', 'url'] } })
    expect(await create({ body: '{"queue":"media","class":"thumb"}' })).toMatchObject({
      error: { path: ['inputs', 'url'] },
    })
    expect(await jobs()).toBe(0)
    expect(html.includes('url: [&quot;https://example.com/&quot;]')).toBe(true)
  })

  test('a JSON text other than an object creates no job, and the error names the expected type', async () => {
    const before = await jobs()
    for (const body of ['null', '7', '[]']) {
      const { error } = await create({ body })
      expect(error!.message).toContain('expected')
    }
    expect(await jobs()).toBe(before)
  })

  test('a job is created if the input has a value, from the form and from JSON', async () => {
    const made = await create({ 'in.url': URL_OF_PICTURE })
    expect(await valuesOf(made, 'url')).toEqual([`"${URL_OF_PICTURE}"`])
    const body = boxOf(await writer.html(`${PAGE}&in.url=${encodeURIComponent(URL_OF_PICTURE)}`))
    expect(await valuesOf(await create({ body }), 'url')).toEqual([`"${URL_OF_PICTURE}"`])
    const inputs = JSON.stringify({ url: [URL_OF_PICTURE, URL_OF_PICTURE] })
    expect(await valuesOf(await create({ inputs }), 'url')).toHaveLength(2)
  })

  test('the preview of a new job had the typed values in its address', async () => {
    const before = await jobs()
    const fields = { queue: 'media', class: 'thumb', 'in.url': URL_OF_PICTURE }
    const answer = await writer.act('/ui/jobs/new', { act: 'preview', ...fields }, { accept: 'text/html' })
    expect(JSON.parse(boxOf(await answer.text()))).toMatchObject({ inputs: { url: [URL_OF_PICTURE] } })
    expect(await jobs()).toBe(before)
    const elsewhere = { 'sec-fetch-site': 'cross-site', accept: 'text/html' }
    expect((await writer.act('/ui/jobs/new', { act: 'preview', ...fields }, elsewhere)).status).toBe(403)
  })

  test('a job without the input is created if the user chooses to write the input later', async () => {
    expect(await valuesOf(await create({ later: 'on' }), 'url')).toEqual([])
    const html = await writer.html(`${PAGE}&later=on`)
    expect(JSON.parse(boxOf(html))).toEqual({ queue: 'media', class: 'thumb' })
    expect(await valuesOf(await create({ body: boxOf(html), later: 'on' }), 'url')).toEqual([])
  })

  test('a value from a text box has no line breaks of the browser', async () => {
    const made = await create({ 'in.url': URL_OF_PICTURE, 'in.sizes': '[\r\n  320,\r\n  960\r\n]' })
    expect(await valuesOf(made, 'sizes')).toEqual(['[320,960]'])
    const body = `{\r\n "queue": "media", "class": "thumb",\r\n "inputs": { "url": ["${URL_OF_PICTURE}"], "sizes": [[\r\n 12345678901234567890 ]] } }`
    expect(await valuesOf(await create({ body }), 'sizes')).toEqual(['[12345678901234567890]'])
  })

  test('the page of a job does not show line breaks between values as codes', async () => {
    const job = await pages.make('thumb', { queue: 'media' })
    const sent = await pages.ask(`/v1/jobs/${job}/in/sizes`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: '{"value": [\r\n  320,\r\n  960\r\n]}',
    })
    expect(sent.status).toBe(200)
    const html = await writer.html(`/ui/jobs/${job}`)
    expect(html.includes('[ 320, 960 ]')).toBe(true)
    expect(html.includes('u000d')).toBe(false)
  })

  test('a duplicate has the values that wait at the input ports of the job', async () => {
    for (const inputs of [
      { url: [URL_OF_PICTURE] },
      { url: [URL_OF_PICTURE], sizes: [[64]] },
      { url: [URL_OF_PICTURE, 'https://cdn.example/882.heic'], sizes: [[64]] },
    ]) {
      const { to } = await create({ inputs: JSON.stringify(inputs) })
      const html = await writer.html(`/ui/jobs/new?from=${to!.slice('/jobs/'.length)}`)
      expect(JSON.parse(boxOf(html))).toMatchObject({ class: 'thumb', inputs })
      expect(html).not.toContain('Not copied')
    }
  })

  test('a duplicate printed a secret of the args in its code, and left the fields of the args empty', async () => {
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
    const args = { type: 'object', properties: { note: { type: 'string' }, token: { type: 'string' } } }
    await pages.ask('/v1/workers/media/mail', { method: 'PUT', headers, body: JSON.stringify({ pull: true, args }) })
    const body = JSON.stringify({ queue: 'media', class: 'mail', args: { note: 'hello', token: 'M4rk3r' } })
    const made = await pages.ask('/v1/jobs', { method: 'POST', headers, body })
    const { id } = (await made.json()) as { id: number }
    const html = await writer.html(`/ui/jobs/new?from=${id}`)
    const fieldOf = (name: string) => new RegExp(`<input[^>]*name="args/${name}"[^>]*>`).exec(html)![0]
    expect(fieldOf('note')).toContain('value="hello"')
    expect(fieldOf('token')).toMatch(/value="M4rk3r".*type="password"/)
    const code = [...html.matchAll(/<pre[^>]*>(.*?)<\/pre>/gs)].map(([, text]) => text).join()
    expect(code).toContain('hello')
    expect(code).not.toContain('M4rk3r')
  })

  test('a duplicate printed a secret of args without a schema in the field of the args', async () => {
    const { to } = await create({ 'in.url': URL_OF_PICTURE, args: '{"token":"M4rk3r"}' })
    const html = await writer.html(`/ui/jobs/new?from=${to!.slice('/jobs/'.length)}`)
    expect(html).toMatch(/<details><summary>Args: show hidden values<\/summary><label>.*?M4rk3r/s)
  })

  test('a duplicate called an input required although it holds two values, or the job ran without it', async () => {
    const noteOf = async (fields: Record<string, string>) => {
      const { to } = await create(fields)
      const html = await writer.html(`/ui/jobs/new?from=${to!.slice('/jobs/'.length)}`)
      const note = /url <span class="note">([^<]*)/.exec(html)![1]
      return `${note}${/name="later" checked/.test(html) ? ', or later' : ''}`
    }
    const two = JSON.stringify({ url: [URL_OF_PICTURE, URL_OF_PICTURE] })
    expect(await noteOf({ inputs: two })).toBe('text, a URL; 2 values, under Options')
    expect(await noteOf({ later: 'on' })).toBe('text, a URL, or later')
    expect(await noteOf({ 'in.url': URL_OF_PICTURE })).toBe('text, a URL, required')
  })

  test('a value that a user typed into the field of a port was lost because Inputs under Options also had values', async () => {
    const before = await jobs()
    const inputs = JSON.stringify({ url: [URL_OF_PICTURE, URL_OF_PICTURE] })
    const { error } = await create({ 'in.url': 'https://cdn.example/typed.heic', inputs })
    expect(error).toMatchObject({ path: ['inputs', 'url'] })
    expect(error!.message).toBe(
      'inputs.url: expected a value in this field or in Inputs under Options, but not in both',
    )
    expect(await create({ 'in.sizes': '[64]', inputs })).toMatchObject({ error: { path: ['inputs', 'sizes'] } })
    expect(await jobs()).toBe(before)
  })

  test('a duplicate showed all options although only its group and its priority are set', async () => {
    const detailsOf = async (fields: Record<string, string>) => {
      const { to } = await create({ 'in.url': URL_OF_PICTURE, ...fields })
      const html = await writer.html(`/ui/jobs/new?from=${to!.slice('/jobs/'.length)}`)
      return /<details[^>]*><summary>Options:[^<]*/.exec(html)![0]
    }
    expect(await detailsOf({ group: 'shop-114', priority: '5' })).toMatch(
      /^<details><summary>Options: args, priority 5, group shop-114, delay,/,
    )
    expect(await detailsOf({ labels: 'shop=114' })).toMatch(/^<details open/)
  })

  test('a duplicate of a job with more waiting values than a form can hold says that they are not copied', async () => {
    const inputs = { url: Array.from({ length: 21 }, () => URL_OF_PICTURE) }
    const { to } = await create({ inputs: JSON.stringify(inputs) })
    const html = await writer.html(`/ui/jobs/new?from=${to!.slice('/jobs/'.length)}`)
    expect(html).toContain('Not copied: values that wait at its input ports.')
  })
})

test('New flow opened an empty field for a graph', async () => {
  const pages = await startPages({ workers: [...core] })
  const writer = await pages.enter(['read', 'write'])
  const path = /href="([^"]*class=flow[^"]*)"/.exec(await writer.html('/ui/flows'))![1]!
  const html = await writer.html(path.replaceAll('&amp;', '&'))
  const body = /<textarea[^>]*name="body"[^>]*>([^<]*)/.exec(html)![1]!.replaceAll('&quot;', '"')
  const { to } = (await (await writer.act('/ui/jobs/new', { act: 'make', body })).json()) as { to: string }
  const flow = to.slice('/flows/'.length)
  await pages.until(async () => (await pages.engine.flows.get(flow)).wires.length > 0)
  expect(await writer.html(`/ui/flows/${flow}`)).toContain('split')
  await pages.close()
})

test('the form of core/flow had an empty graph unless it was opened from Flows', async () => {
  const pages = await startPages({ workers: [...core] })
  const writer = await pages.enter(['read', 'write'])
  const html = await writer.html('/ui/jobs/new?queue=core&class=flow')
  expect(html).not.toContain('__graph&quot;: [null]')
  const graph = /<textarea[^>]*name="in.__graph"[^>]*>([^<]*)/.exec(html)![1]!.replaceAll('&quot;', '"')
  expect(JSON.parse(graph)).toHaveProperty('nodes.split')
  await pages.close()
})

test('New flow was a form of a job that led to a page without the graph, and its example did nothing', async () => {
  const pages = await startPages({ workers: [...core] })
  const writer = await pages.enter(['read', 'write'])
  const path = /href="([^"]*class=flow[^"]*)"/.exec(await writer.html('/ui/flows'))![1]!.replaceAll('&amp;', '&')
  const html = await writer.html(path)
  expect(html).toMatch(/<h1>New flow</)
  expect(html).toContain('<title>New flow')
  expect(html).toMatch(/href="\/ui\/flows" aria-current="page"/)
  const [, rows, sample] = /Graph <span[^>]*>[^<]*<\/span><\/span><textarea[^>]*rows="(\d+)"[^>]*>([^<]*)/.exec(html)!
  const graph = sample!.replaceAll('&quot;', '"')
  expect(Number(rows)).toBe(Math.min(20, graph.split('\n').length))
  const form = { act: 'make', queue: 'core', class: 'flow', 'in.__graph': graph }
  const { to } = (await (await writer.act(path, form)).json()) as { to: string }
  const id = /^\/flows\/(\d+)$/.exec(to)![1]!
  await pages.until(async () => (await pages.engine.jobs.get(id)).status === 'completed')
  const { values } = await pages.engine.ports.get(id, 'out', 'word', 10)
  expect(values.map(({ data }) => data)).toEqual(['to', 'be', 'or', 'not', 'to', 'be'].map((word) => `"${word}"`))
  expect(await writer.html(`/ui/jobs/${id}`)).toMatch(new RegExp(`href="/ui/flows/${id}"[^]*?Open graph`))
  await pages.close()
})
