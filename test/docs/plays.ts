import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { countWords } from '../../examples/functions/word_count.ts'
import { core } from '../../functions/core.ts'
import type { Worker } from '../../src/core/worker.ts'
import { defineWorker, type Job, port } from '../../src/index.ts'
import { blockAt, root } from './blocks.ts'
import type { Play } from './play.ts'
import type { Site } from './site.ts'
import { defined, readers } from './snippet.ts'

const { approval, double } = (await readers()) as { approval: Worker; double: Worker }

const named = (name: string, perform: Worker['perform'] = () => undefined) =>
  defineWorker({ class: name, perform } as never) as Worker

/** Jobs of this class stay queued, because no worker serves it. */
const unserved = (site: Site, name: string, queue = 'default') =>
  site.client.workers.register(queue, name, { pull: true })

/** Milliseconds until the job fails. Before that, `sidejob tail` must start to listen. */
let failsAfter = 0
const failing = named('fails', async () => {
  await new Promise((resolve) => setTimeout(resolve, failsAfter))
  throw new Error('I do not like it')
})

const version = join(mkdtempSync(join(tmpdir(), 'sidejob-version-')), 'version')

function ordered(): Worker {
  writeFileSync(version, '1')
  return defineWorker({
    class: 'order',
    in: { paid: port() },
    async perform(job: Job) {
      const start = `// src/jobs/order.ts, version ${readFileSync(version, 'utf8').trim()}\n`
      const [saved] = await defined('docs/changing-code.md', start)
      return saved!.perform(job) as never
    },
  }) as Worker
}

export const plays: Play[] = [
  {
    page: 'README.md',
    workers: () => [countWords],
    folder: root,
    blocks: { 'curl --json \'{"class": "count_words"': [] },
  },
  {
    page: 'docs/bulk.md',
    before: (site) => site.from(812),
    blocks: { 'S=': [] },
  },
  {
    page: 'docs/callbacks.md',
    blocks: { 'S=': [/\{"secrets":\["whsec_\S+"\]\}/] },
  },
  {
    page: 'docs/changing-code.md',
    workers: () => [ordered()],
    before: ({ from }) => from(7),
    stands: () => ({
      'npx sidejob send': 'save 2; npx sidejob send',
      'npx sidejob retry': 'save 3; npx sidejob retry',
    }),
    env: () => ({ VERSION: version, 'BASH_FUNC_save%%': '() { echo $1 > $VERSION; }' }),
    blocks: {
      'npx sidejob run order': [/\b7\b/, 'paid'],
      'npx sidejob send 7': ['has stored paid#1', 'step "check"', 'and retry the job (docs/changing-code.md)'],
      'npx sidejob retry 7': ['reserved', 'shipped', 'order completed', '"shipped"', 'reserved', 'checked', 'shipped'],
    },
  },
  {
    page: 'docs/cli.md',
    workers: () => [double, failing],
    async before(site) {
      await site.from(7)
      await site.client.jobs.enqueue([1, 2, 3].map(() => ({ class: 'fails', retry: { max: 0 } })))
      for (const id of [7, 8, 9]) await site.reaches(id, 'failed')
      failsAfter = 1_500
    },
    stays: /^npx sidejob tail .*$/m,
    stands: ({ url }) => ({ 'https://jobs.example.com': url, 'sj_…': 'dev' }),
    blocks: {
      'npx sidejob run double': [
        'double completed',
        /\b9\b.*failed/,
        /\b8\b.*failed/,
        /\b7\b.*failed/,
        /^#[789] fails failed I do not like it$/m,
      ],
      'npx sidejob profiles set': ['production', /\bdefault\b/],
    },
  },
  {
    page: 'docs/compat/bedrock.md',
    blocks: { 'S=': [] },
  },
  {
    page: 'docs/compat/bedrock.md',
    async before({ url, from }) {
      await from(7)
      const ask = (command: string, headers: object) =>
        fetch(`${url}/bedrock/${command}`, { method: 'POST', headers: { authorization: 'Bearer dev', ...headers } })
      await ask('CreateJob', { name: 'mail/send' })
      await ask('GetJob', { name: 'mail/send' })
      await ask('FailJob', { jobID: '7' })
    },
    given: 'S=',
    blocks: { 'curl -X POST "$S/bedrock/Query"': [] },
  },
  {
    page: 'docs/compat/downloader.md',
    workers: () => [defineWorker({ queue: 'downloader', class: 'download', perform: () => undefined })],
    blocks: { 'S=': [] },
  },
  {
    page: 'docs/concurrency.md',
    workers: () => defined('docs/concurrency.md', "import { defineWorker } from 'sidejob'\n\n"),
    async before({ client, from, reaches }) {
      await from(7)
      await client.limits.set('crm', { paused: true })
      await client.jobs.enqueue({ class: 'sync' })
      while ((await client.jobs.why(7)).reasons[0]?.code === 'READY') await new Promise((next) => setTimeout(next, 10))
      await reaches(7, 'queued')
    },
    blocks: {
      'S=': ['"key":"crm"', '"concurrency":5', '"limit":100', '"paused":true'],
      'curl -X PUT -H "$H" "$S/v1/constraints/per-host"': ['"groupBy":"host"'],
      'npx sidejob why 7': [/limit crm/, '"holders":[]', '"job":7'],
    },
  },
  {
    page: 'docs/customers.md',
    workers: () =>
      defined(
        'docs/customers.md',
        "import { defineWorker } from 'sidejob'\nimport * as z from 'zod'\n\nexport const notify",
      ),
    blocks: {
      'S=': ['queued', 'customer:acme', '"limit":50', '"paused":true', 'customer:acme'],
      'curl -X PUT -H "$H" "$S/v1/constraints/per-customer"': ['"groupBy":"customer"', '"name":"free-plan"'],
    },
  },
  {
    page: 'docs/doctor.md',
    blocks: { 'npx sidejob doctor': [/nothing|0/, /nothing|0/, /nothing|0/] },
  },
  {
    page: 'docs/edges.md',
    workers: () => [approval],
    async before({ client, from }) {
      await from(7)
      await client.jobs.enqueue({ class: 'approval' })
      const isWaiting = async () => (await client.jobs.why(7)).reasons.some(({ code }) => code === 'INPUT')
      while (!(await isWaiting())) await new Promise((next) => setTimeout(next, 10))
    },
    blocks: { 'S=': [] },
  },
  {
    page: 'docs/flows.md',
    workers: () => core,
    blocks: { 'S=': [/"one".*"two".*"three"/] },
  },
  {
    page: 'docs/jobs.md',
    workers: () => [named('resize')],
    blocks: { 'curl --json \'{"class": "resize"': ['"status":"queued"', /job.*queued|queued/] },
  },
  {
    page: 'docs/languages.md',
    blocks: { 'S=': ['"url":"https://workers.example.com/zip"'] },
  },
  {
    page: 'docs/languages.md',
    files: () => ({ 'worker.py': blockAt('docs/languages.md', '"""A push worker').text }),
    stays: /^python3 worker\.py &/m,
    needs: ['python3'],
    blocks: { 'export WEBHOOK_SECRET': ['listening on', 'zip completed', '[1,"a"]', '[2,"x"]'] },
  },
  {
    page: 'docs/operate.md',
    workers: () => [double],
    before: ({ client }) => client.jobs.enqueue({ class: 'double', inputs: { n: [1] } }),
    stands: ({ redis }) => ({
      'UPSTASH_REDIS_REST_URL=…': `UPSTASH_REDIS_REST_URL=${redis.url}`,
      'UPSTASH_REDIS_REST_TOKEN=…': `UPSTASH_REDIS_REST_TOKEN=${redis.token}`,
    }),
    blocks: { 'export UPSTASH_REDIS_REST_URL': ['keys of sidejob:', 'keys', 'keys'] },
  },
  {
    page: 'docs/order.md',
    workers: () => [named('double')],
    blocks: { 'S=': ['"status":"queued"'], 'curl -X PATCH': ['"ageing":60'] },
  },
  {
    page: 'docs/ports.md',
    workers: () => defined('docs/ports.md', 'import { defineWorker'),
    before: ({ from }) => from(7),
    blocks: {
      'S=': ['"id":7', 'Hello, Ann!', 'Hello, Bob!', 'Hello, Eve!'],
      'curl --json \'{"channel"': ['{"subscribers":0}', '"message":{"open": true}', '"rate":1'],
    },
  },
  {
    page: 'docs/processes.md',
    async before(site) {
      await unserved(site, 'encode', 'media')
      await site.client.jobs.enqueue({ class: 'encode', queue: 'media' })
    },
    blocks: { 'S=': ['"runs":[{"run":{"token":'] },
  },
  {
    page: 'docs/schedules.md',
    workers: () => [named('report')],
    before: ({ client }) => client.jobs.enqueue({ class: 'report', repeat: { cron: '30 2 * * *', missed: 'run' } }),
    blocks: { 'npx sidejob queues pause': [/paused/, /resumed|default/] },
  },
  {
    page: 'docs/schedules.md',
    workers: () => [named('report')],
    blocks: { 'npx sidejob schedules add': ['Europe/Berlin', '"missed":"run"'] },
  },
  {
    page: 'docs/schemas.md',
    blocks: { 'S=': ['"pull":true'] },
  },
  {
    page: 'docs/security.md',
    blocks: { 'S=': [], 'curl -G "$S/v1/webhooks/secret"': [] },
  },
  {
    page: 'docs/unique.md',
    workers: () => [named('reindex')],
    blocks: { 'S=': ['"status":"queued"'] },
  },
  {
    page: 'examples/etl/README.md',
    workers: () => core,
    folder: root,
    blocks: {
      'node examples/etl/run.ts': [/^DE \d+ /m, /^rejected /m],
      'curl http://127.0.0.1:8787/v1/flows/1/wires': ['"size":0'],
    },
  },
  ...['node', 'python'].map(
    (language): Play => ({
      page: `examples/${language}-worker/README.md`,
      folder: root,
      needs: language === 'python' ? ['python3'] : [],
      stays: /^(node|python3) examples\/.* &/m,
      blocks: {
        'export WEBHOOK_SECRET': ['listening on'],
        'curl -X PUT': ['"push":{"url":'],
        'curl http://127.0.0.1:8787/v1/jobs': [],
      },
    }),
  ),
  ...['go', 'shell'].map(
    (language): Play => ({
      page: `examples/${language}-worker/README.md`,
      folder: root,
      needs: language === 'go' ? ['go'] : [],
      stays: /^(go run |)examples\/.*$/m,
      env: () => ({ GO111MODULE: 'off' }),
      blocks: {
        'export SIDEJOB_API_KEY': ['waiting for work'],
        'npm run -s sidejob -- run shout': ['HELLO'],
      },
    }),
  ),
]
