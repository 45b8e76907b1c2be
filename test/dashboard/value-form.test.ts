import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readSchema } from '../../src/dashboard/words/schema.ts'
import { fieldsFor, memberOf, neededIn, valueIn } from '../../src/dashboard/words/value-form.ts'
import { KEY, startPages, type Visitor } from './kit.ts'

const order = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    gift: { type: 'boolean' },
    speed: { enum: ['slow', 'fast'] },
    tags: { type: 'array', items: { type: 'string' } },
    to: { type: 'object', properties: { city: { type: 'string' }, 'a/b': { type: 'number' } } },
    rest: { anyOf: [{ type: 'string' }, { type: 'null' }] },
  },
  required: ['id'],
}
const schema = readSchema(JSON.stringify(order))

describe('typed values', () => {
  const read = (fields: Record<string, string>) => valueIn(schema, 'v', { at: (field) => fields[field] })

  test('members are read by their own schemas, without empty fields', () => {
    const typed = {
      'v/id': '12345678901234567890',
      'v/gift': 'true',
      'v/speed': 'fast',
      'v/tags/-': ' a\n\nb"c ',
      'v/to/city': 'Łódź',
      [memberOf('v/to', 'a/b')]: '1.50',
      'v/rest': 'null',
    }
    expect(read(typed)).toBe(
      '{"id":12345678901234567890,"gift":true,"speed":"fast","tags":["a","b\\"c"],"to":{"city":"Łódź","a/b":1.50},"rest":null}',
    )
    expect(read({ 'v/id': '1' })).toBe('{"id":1}')
  })

  test('a duplicate left the fields of the args empty, and showed the args only as JSON', () => {
    const json = '{"id":7,"gift":true,"speed":"fast","tags":["a","b"],"to":{"city":"Łódź","a/b":1.5},"rest":null}'
    const fields = fieldsFor(schema, 'v', json)
    expect(fields).toMatchObject({ 'v/id': '7', 'v/tags/-': 'a\nb', 'v/to/city': 'Łódź', 'v/to/a~1b': '1.5' })
    expect(fields).not.toHaveProperty('v')
    expect(read(fields)).toBe(json)
    expect(fieldsFor(schema, 'v', '{ "id": 7 }')).toEqual({ 'v/id': '7' })
  })

  test.each([
    '{"id":12345678901234567890}',
    '{"id":7,"unknown":1}',
    '{"id":"seven"}',
    '{"id":7,"gift":null}',
    '{"id":7,"tags":[]}',
    '{"id":7,"tags":[" a"]}',
    '{"id":7,"to":{}}',
    '{"id":7,"to":{"city":""}}',
    '{"id":7,"to":{"city":"two\\nlines"}}',
    '{}',
  ])('a value that the fields cannot hold remains JSON in a duplicate: %s', (json) =>
    expect(fieldsFor(schema, 'v', json)).toEqual({ v: json }),
  )

  test('JSON of a whole value replaces the fields of its members', () =>
    expect(read({ v: '{"id": 2}', 'v/id': '1' })).toBe('{"id":2}'))

  test('an error of invalid JSON names its member', () =>
    expect(() => read({ 'v/rest': 'oops' })).toThrow('rest: expected JSON'))

  test('a value is absent if no field has text, and a required value is then empty', () => {
    expect(read({})).toBeUndefined()
    const at = () => ''
    expect(neededIn(schema, 'v', { at })).toBe('{}')
    expect(neededIn({ type: 'string' }, 'v', { at })).toBe('""')
    expect(neededIn({ type: 'array', items: { type: 'number' } }, 'v', { at })).toBe('[]')
    expect(() => neededIn({ type: 'number' }, 'v', { at })).toThrow('v: expected JSON')
  })
})

describe('the ports of a job', () => {
  let pages: Awaited<ReturnType<typeof startPages>>
  let writer: Visitor
  let path: string

  beforeAll(async () => {
    pages = await startPages()
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
    const ports = { in: { order: { schema: order }, odd: { schema: { type: ['string', 'null'] } } }, out: { sum: {} } }
    const made = await pages.ask('/v1/workers/shop/packs', {
      method: 'PUT',
      headers,
      body: JSON.stringify({ pull: true, ...ports }),
    })
    expect(made.status).toBe(200)
    path = `/ui/jobs/${await pages.make('packs', { queue: 'shop' })}`
    writer = await pages.enter(['read', 'write'])
  })
  afterAll(() => pages.close())

  const formOf = (html: string, act: string, port: string): string =>
    html
      .split('<form')
      .find((form) => form.includes(`data-act="${act}"`) && form.includes(`name="port" value="${port}"`))!

  test('have fields from their schemas, for a value and for the default', async () => {
    const html = await writer.html(path)
    for (const act of ['write', 'default']) {
      const form = formOf(html, act, 'order')
      expect(form).toMatch(/<input[^>]*name="value\/id"[^>]*type="number"/)
      expect(form).toMatch(/<select[^>]*name="value\/gift".*?<option value="true">yes<\/option>/s)
      expect(form).toMatch(/<select[^>]*name="value\/speed".*?<option value="fast">fast<\/option>/s)
      expect(form).toMatch(/<textarea[^>]*name="value\/tags\/-"/)
      expect(form).toMatch(/<input[^>]*name="value\/to\/city"[^>]*type="text"/)
    }
  })

  test('with an unsupported schema have a box for JSON, with the schema next to it', async () => {
    const form = formOf(await writer.html(path), 'write', 'odd')
    expect(form).toMatch(/<textarea[^>]*name="value"/)
    expect(form).toMatch(/class="schema".*&quot;null&quot;/s)
  })

  test('are written from the typed fields, and an invalid port is refused with its path', async () => {
    const port = { dir: 'in', port: 'order' }
    const done = await writer.act(path, { act: 'write', ...port, 'value/id': '12345678901234567890' })
    expect(await done.json()).toMatchObject({ say: 'Value written to order' })
    const job = path.slice('/ui/jobs/'.length)
    const { values } = await pages.engine.ports.get(job, 'in', 'order', 1)
    expect(values[0]!.data).toBe('{"id":12345678901234567890}')

    const set = await writer.act(path, { act: 'default', ...port, 'value/id': '7', 'value/gift': 'false' })
    expect(await set.json()).toMatchObject({ say: 'Default of order set' })
    expect((await pages.engine.jobs.get(job)).in.order!.default).toBe('{"id":7,"gift":false}')

    const refused = await writer.act(path, { act: 'write', ...port, 'value/gift': 'true' })
    expect(((await refused.json()) as { error: { path: unknown[] } }).error.path).toContain('id')
  })
})
