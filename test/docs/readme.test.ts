import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { countWords } from '../../examples/functions/word_count.ts'
import { createClient, type RunFailed } from '../../src/client/index.ts'
import { statuses, transitions } from '../../src/core/job.ts'
import { createApp } from '../../src/http/app.ts'
import { defineWorker, port } from '../../src/index.ts'
import { type Kit, startKit } from '../kit/index.ts'

const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8')

/** A single result may be right by accident. */
const TIMES = 100

const double = defineWorker({
  class: 'double',
  in: { n: port(z.number()) },
  out: { doubled: port(z.number()) },
  async perform(job) {
    for await (const { n } of job.inputs('n')) job.write('doubled', n * 2)
  },
})

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ workers: [double, countWords] })
})
afterAll(() => kit.close())

test('a worker in ten lines, a job in three', async () => {
  const app = createApp({ engine: kit.engine, verify: async () => false, publicUrl: 'http://127.0.0.1' })
  const client = createClient({
    url: 'http://127.0.0.1',
    key: 'dev',
    fetch: (...args) => Promise.resolve(app.request(...args)),
  })
  for (const line of ['const { out } = await client.run(double, { n: [1, 2, 3] })', 'out.doubled // [2, 4, 6]'])
    expect(readme).toContain(line)
  for (let n = 0; n < TIMES; n++) {
    const { out } = await client.run(double, { n: [1, 2, 3] })
    expect(out.doubled).toEqual([2, 4, 6])
  }
})

test('run() fails if a job has more output than a call returns, and the values stay at the port', async () => {
  const app = createApp({ engine: kit.engine, verify: async () => false, publicUrl: 'http://127.0.0.1' })
  const client = createClient({
    url: 'http://127.0.0.1',
    key: 'dev',
    fetch: (...args) => Promise.resolve(app.request(...args)),
  })
  const running = client.run(double, { n: Array.from({ length: 1_001 }, (_, n) => n) })
  await expect(running).rejects.toThrow(
    /^job \d+ \(double\) has written 1001 values to port doubled, but run\(\) returns at most 1000/,
  )
  const { job } = (await running.catch((error) => error)) as RunFailed
  expect((await client.ports.look(job, 'out', 'doubled')).size).toBe(1_001)
})

test('the commands for a first job print the shown answers', async () => {
  const app = createApp({ engine: kit.engine, verify: async () => false, publicUrl: 'http://127.0.0.1' })
  const shown = [...readme.matchAll(/^curl --json '(.*)'[ \\\n]+-H "(\w+): (.*)" http:\S+?:8787(\S+)\n# (.*)$/gm)]
  expect(shown).toHaveLength(2)
  for (let n = 0; n < TIMES; n++) {
    let id = ''
    for (const [, body, name, value, path, answer] of shown) {
      const headers = {
        [name!]: value!.replace('$(npm run -s sidejob key)', 'dev'),
        'content-type': 'application/json',
        accept: '*/*',
      }
      const response = await app.request(path!.replace('/1/', `/${id}/`), { method: 'POST', body, headers })
      const text = await response.text()
      id ||= String(JSON.parse(text).id)
      expect(text.replace(/("id"|"job"):\d+/, '$1:1')).toBe(answer)
    }
  }
})

test('the status diagram shows all statuses, and only existing transitions', () => {
  const drawn = [...readme.matchAll(/^ {2}(\S+) --> (\w+)/gm)].map(([, from, to]) => [from!.replace('[*]', 'new'), to!])
  expect(drawn.length).toBeGreaterThan(10)
  for (const [from, to] of drawn) expect(Object.keys(transitions[from as keyof typeof transitions])).toContain(to)
  for (const status of statuses) expect(drawn.flat()).toContain(status)
})
