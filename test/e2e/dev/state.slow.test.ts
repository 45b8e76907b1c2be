import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createClient } from '../../../src/client/index.ts'
import { startDev } from '../../../src/dev/index.ts'
import { makeProject } from './project.ts'

const root = resolve(import.meta.dirname, '../../..')

const index = `
import { DurableObject } from 'cloudflare:workers'
import { createWorker } from '${root}/src/cloudflare/index.ts'
import { double } from './double.ts'

export class Counter extends DurableObject {
  async add() {
    const n = ((await this.ctx.storage.get('n')) ?? 0) + 1
    await this.ctx.storage.put('n', n)
    return n
  }
}

const jobs = createWorker({ functions: [double], mount: '/_sidejob' })

export default jobs.with({
  async fetch(request, env) {
    const { pathname } = new URL(request.url)
    const counter = env.COUNTER.get(env.COUNTER.idFromName('one'))
    if (pathname === '/write') {
      await env.CACHE.put('greeting', 'hello')
      await env.FILES.put('greeting.txt', 'hello from a file')
      await env.SHOP.prepare('insert into orders (item) values (?)').bind('book').run()
      await counter.add()
      return new Response('written')
    }
    // The dev server requests other paths after each build.
    if (pathname !== '/') return new Response('not found', { status: 404 })
    const orders = await env.SHOP.prepare('select item from orders').all()
    return Response.json({
      kv: await env.CACHE.get('greeting'),
      r2: await (await env.FILES.get('greeting.txt'))?.text(),
      d1: orders.results,
      counter: await counter.add(),
    })
  },
})
`

const project = makeProject()
afterAll(() => project.remove())

project.write('src/index.ts', index)
project.write(
  'wrangler.json',
  JSON.stringify({
    name: 'mine',
    main: 'src/index.ts',
    compatibility_date: '2026-10-20',
    compatibility_flags: ['nodejs_compat', 'enable_request_signal'],
    kv_namespaces: [{ binding: 'CACHE', id: '0123456789abcdef0123456789abcdef' }],
    r2_buckets: [{ binding: 'FILES', bucket_name: 'files' }],
    d1_databases: [{ binding: 'SHOP', database_name: 'shop', database_id: '8c9d1a1e-0000-4000-8000-000000000000' }],
    durable_objects: { bindings: [{ name: 'COUNTER', class_name: 'Counter' }] },
    migrations: [{ tag: 'v1', new_sqlite_classes: ['Counter'] }],
  }),
)
mkdirSync(join(project.dir, 'migrations'))
project.write('migrations/0001_orders.sql', 'create table orders (item text);')

const wrangler = (...words: string[]) =>
  execFileSync(process.execPath, [join(root, 'node_modules/wrangler/bin/wrangler.js'), ...words], {
    cwd: project.dir,
    encoding: 'utf8',
    env: { ...process.env, WRANGLER_SEND_METRICS: 'false', CI: 'true' },
  })

const lines: string[] = []
const start = (persist = true) =>
  startDev({ project: project.dir, port: 0, redis: 'embedded', persist, say: (line) => lines.push(line) })
const ask = async (url: string, path: string) => {
  const answer = await fetch(new URL(path, url))
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${answer.status} ${text} ${lines.join('\n')}`)
  return text
}

test('KV, R2, D1 with its migrations, Durable Objects and jobs survive a restart', async () => {
  wrangler('d1', 'migrations', 'apply', 'shop', '--local')
  const first = await start()
  expect(await ask(first.url, '/write')).toBe('written')
  const client = createClient({ url: first.url, key: first.apiKey })
  const { id } = await client.jobs.enqueue({ class: 'double', inputs: { n: [2] }, wait: '1h' })
  await first.close()

  const second = await start()
  expect(JSON.parse(await ask(second.url, '/'))).toEqual({
    kv: 'hello',
    r2: 'hello from a file',
    d1: [{ item: 'book' }],
    counter: 2,
  })
  expect(second.apiKey).toBe(first.apiKey)
  const again = createClient({ url: second.url, key: second.apiKey })
  expect(await again.jobs.get(id)).toMatchObject({ class: 'double', status: 'queued' })
  await second.close()
  expect(wrangler('kv', 'key', 'get', 'greeting', '--binding', 'CACHE', '--local')).toContain('hello')
  expect(wrangler('d1', 'execute', 'shop', '--local', '--json', '--command', 'select item from orders')).toContain(
    '"item": "book"',
  )
}, 120_000)

test('with persist: false, a start finds no earlier data', async () => {
  const stack = await start(false)
  await expect(ask(stack.url, '/')).rejects.toThrow('no such table: orders')
  const client = createClient({ url: stack.url, key: stack.apiKey })
  expect((await client.jobs.list({})).jobs).toEqual([])
  await stack.close()
})
