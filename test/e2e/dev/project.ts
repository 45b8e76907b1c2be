import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../../..')

export const double = (factor: string) => `
import { defineWorker, port } from '${root}/src/index.ts'
import * as z from 'zod'

export const double = defineWorker({
  class: 'double',
  in: { n: port(z.any()) },
  out: { doubled: port(z.any()) },
  async perform(job) {
    console.log('for', job.env.WHO)
    for await (const { n } of job.inputs('n')) {
      if (n === 'x') throw new Error('I do not like x')
      if (n === 'floating') void Promise.reject(new Error('not awaited')); job.write('doubled', n * ${factor})
    }
  },
})
`

const index = `
import { Hono } from 'hono'
import { createWorker } from '${root}/src/cloudflare/index.ts'
import { double } from './double.ts'

const jobs = createWorker({ functions: [double], mount: '/_sidejob' })
const app = new Hono()
app.get('/', (c) => c.text('my own page'))
app.post('/numbers', async (c) =>
  c.json(await jobs.client(c.env).jobs.enqueue({ class: 'double', inputs: { n: await c.req.json() } })))
export default jobs.with(app)
`

const config = {
  name: 'mine',
  main: 'src/index.ts',
  compatibility_date: '2026-10-20',
  compatibility_flags: ['nodejs_compat', 'enable_request_signal'],
  vars: { WHO: 'everybody' },
}

export function makeProject() {
  const dir = mkdtempSync(join(tmpdir(), 'sidejob-project-'))
  const write = (path: string, text: string) => writeFileSync(join(dir, path), text)
  for (const folder of ['src', 'node_modules']) mkdirSync(join(dir, folder))
  for (const name of ['hono', 'zod', 'wrangler'])
    symlinkSync(join(root, 'node_modules', name), join(dir, 'node_modules', name))
  write('package.json', JSON.stringify({ name: 'mine', type: 'module' }))
  write('wrangler.json', JSON.stringify(config))
  write('.dev.vars', '# secrets\nWHO="ann"\n')
  write('src/double.ts', double('2'))
  write('src/index.ts', index)
  return { dir, write, remove: () => rmSync(dir, { recursive: true, force: true }) }
}
