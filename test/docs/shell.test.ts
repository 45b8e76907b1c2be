// What the first pages show of a shell runs as it stands there: with the real command line, against a deployment of its own.

import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import * as z from 'zod'
import { defineWorker, port } from '../../src/index.ts'
import { KEY } from '../dashboard/kit.ts'
import { serve } from '../dashboard/served.ts'

const root = join(import.meta.dirname, '../..')
const may = test.skipIf(spawnSync('bash', ['-c', 'curl --version']).status !== 0)

// `npx sidejob …` is the command line of this repository.
const bin = mkdtempSync(join(tmpdir(), 'sidejob-shell-'))
writeFileSync(
  join(bin, 'npx'),
  `#!/bin/sh\nshift\nexec '${process.execPath}' '${join(root, 'src/cli/index.ts')}' "$@"\n`,
)
chmodSync(join(bin, 'npx'), 0o755)
afterAll(() => rmSync(bin, { recursive: true, force: true }))

const workers = [
  defineWorker({
    class: 'double',
    in: { n: port(z.number()) },
    out: { doubled: port(z.number()) },
    async perform(job) {
      for await (const { n } of job.inputs('n')) job.write('doubled', n * 2)
    },
  }),
  defineWorker({
    class: 'greet',
    in: { name: port(z.string()), greeting: port(z.string(), { default: 'Hello' }) },
    out: { text: port(z.string()) },
    async perform(job) {
      for await (const { name, greeting } of job.inputs('name', 'greeting')) job.write('text', `${greeting}, ${name}!`)
    },
  }),
  defineWorker({ class: 'sync', limits: [{ key: 'crm', concurrency: 2 }], perform: () => undefined }),
  defineWorker({
    class: 'hello',
    args: z.object({ name: z.string() }),
    result: z.string(),
    perform: (job) => `Hello, ${job.args.name}!`,
  }),
]

/** The block of a page that begins with this line, without what needs a browser or a vendor. */
function blockOf(page: string, start: string): string {
  const blocks = [...readFileSync(join(root, page), 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(
    ([, text]) => text!,
  )
  const found = blocks.find((block) => block.startsWith(start))
  expect(found, `${page} has no block that begins with ${start}`).toBeDefined()
  return found!
    .split('\n')
    .filter((line) => !/sidejob (open|deploy)\b/.test(line))
    .join('\n')
}

/** Runs a block as a shell would, line by line; answers all that was printed. */
async function played(block: string): Promise<string> {
  const site = await serve({ workers, retry: {} })
  const env = {
    ...process.env,
    PATH: `${bin}${delimiter}${process.env.PATH}`,
    SIDEJOB_URL: site.url,
    SIDEJOB_API_KEY: KEY,
    S: site.url,
    H: `authorization: Bearer ${KEY}`,
  }
  const { stdout } = await promisify(execFile)('bash', ['-c', `exec 2>&1\n${block}`], { env }).catch((error) => error)
  await site.close()
  return stdout
}

may.each([
  ['README.md', 'npx sidejob run double'],
  ['docs/start.md', 'npx sidejob run double'],
])('the first job of %s is made, waited for, and its values are read', async (page, start) => {
  expect(await played(blockOf(page, start))).toMatch(/^type +success\n[\s\S]*\n2\n4\n/)
})

may('a function of your own answers, and says which args it wants', async () => {
  const printed = await played(blockOf('docs/start.md', 'npx sidejob run hello'))
  expect(printed).toContain('Hello, Ann!')
  expect(printed).toContain('422 args.name: is missing (args of class hello)')
})

may('values are written to a port and read from one, as docs/ports.md does it', async () => {
  const block = blockOf('docs/ports.md', 'curl --json \'{"class": "greet"').replaceAll('/jobs/7/', '/jobs/1/')
  const printed = await played(block)
  const values = [...printed.matchAll(/"data":"(Hello, \w+!)"/g)].map(([, text]) => text)
  expect(values.slice(-3)).toEqual(['Hello, Ann!', 'Hello, Bob!', 'Hello, Eve!'])
})

may('a limit is set and paused, as docs/concurrency.md does it', async () => {
  const block = blockOf('docs/concurrency.md', 'npx sidejob limits set crm')
  const printed = await played(`${block}\ncurl -H "$H" "$S/v1/limits/crm"`)
  expect(JSON.parse(/\{[^\n]*\}$/.exec(printed.trim())![0])).toMatchObject({
    key: 'crm',
    concurrency: 5,
    rate: { limit: 100, period: 60 },
    paused: true,
  })
})
