// Runs snippets of the manual. Other snippets are only compiled, by snippets.slow.test.ts.

import { expect } from 'vitest'
import type { Worker } from '../../src/core/worker.ts'
import { defineWorker } from '../../src/index.ts'
import { call, sandbox } from '../../src/testing/index.ts'
import { KEY, type Site } from './site.ts'

export type Claim = {
  page: string
  starts: string
  classes?: string[]
  before?: (site: Site) => Promise<unknown>
  meanwhile?: (site: Site) => Promise<unknown>
  /** Replaces texts of the snippet. */
  stands?: (site: Site) => Record<string, string>
  /** Checks the effect of the snippet. If absent, the test only requires that nothing throws. */
  after?: (site: Site, exported: Record<string, Worker>) => Promise<unknown>
}

const serves = { perform: () => undefined }
export const named = (name: string): Worker => defineWorker({ class: name, ...serves })

const jobsOf = async ({ client }: Site) => (await client.jobs.list({ limit: 50 })).jobs

const doubles: Claim['after'] = async (_site, { double }) => {
  const { out } = await call(double as never, { n: [1, 2] } as never)
  expect(out).toEqual({ doubled: [2, 4] })
}

export const claims: Claim[] = [
  { page: 'README.md', starts: 'import { defineWorker, port }', after: doubles },
  {
    page: 'README.md',
    starts: 'import { createClient }',
    stands: ({ url }) => ({
      'http://127.0.0.1:8787': url,
      'dev_…': KEY,
      'out.doubled //': 'export const shown = out.doubled //',
    }),
    after: async (_site, exported) => expect(exported.shown).toEqual([2, 4, 6]),
  },
  {
    page: 'docs/callbacks.md',
    starts: 'await client.jobs.enqueue',
    classes: ['report'],
    async after({ client, reaches }) {
      await reaches(1, 'completed')
      const callback = (await client.jobs.list({ queue: 'sidejob' })).jobs
      expect(callback).toHaveLength(1)
    },
  },
  {
    page: 'docs/client.md',
    starts: 'import { createClient }',
    stands: ({ url }) => ({ 'http://127.0.0.1:8787': url, 'dev_…': KEY }),
    after: async ({ client }) => expect((await client.ports.look(2, 'out', 'doubled')).size).toBe(3),
  },
  {
    page: 'docs/customers.md',
    starts: 'await client.jobs.enqueue',
    classes: ['sync'],
    after: async ({ client }) => expect(await client.jobs.get(1)).toMatchObject({ group: 'customer-7' }),
  },
  {
    page: 'docs/flows.md',
    starts: 'const { graph, hash }',
    async before({ client, from }) {
      await from(7)
      await client.jobs.enqueue({ queue: 'core', class: 'flow', args: { graph: { nodes: {}, name: 'before' } } })
      while (!(await client.flows.get(7).catch(() => undefined))?.hash)
        await new Promise((next) => setTimeout(next, 10))
    },
    after: async ({ client }) => expect((await client.flows.get(7)).graph).toMatchObject({ name: 'catalog' }),
  },
  {
    page: 'docs/job.md',
    starts: 'import { defineWorker',
    async after(_site, { pair }) {
      const { out, unread } = await call(pair as never, { left: [1, 2], right: ['a'] } as never)
      expect({ out, unread }).toEqual({ out: { pair: [[1, 'a']] }, unread: { left: [2], right: [] } })
    },
  },
  {
    page: 'docs/jobs.md',
    starts: 'const { id, status }',
    classes: ['resize'],
    after: async ({ client }) => expect(await client.jobs.get(1)).toMatchObject({ status: 'queued', priority: 10 }),
  },
  {
    page: 'docs/ports.md',
    starts: 'import { defineWorker',
    async after(_site, { greet }) {
      const { out } = await call(greet as never, { name: ['Ann'] } as never)
      expect(out).toEqual({ text: ['Hello, Ann!'] })
    },
  },
  {
    page: 'docs/ports.md',
    starts: 'await client.ports.write(7',
    stands: () => ({ 'const { values }': 'export const { values }' }),
    async before({ client, from }) {
      await from(7)
      await client.jobs.enqueue({ class: 'greet', inputs: { name: ['Ann'] } })
    },
    after: async (_site, { values }) =>
      expect((values as never as { data: string }[]).map(({ data }) => data)).toContain('Hello, Eve!'),
  },
  {
    page: 'docs/schedules.md',
    starts: 'await client.jobs.enqueue',
    classes: ['report', 'sync', 'clean'],
    after: async (site) => expect((await jobsOf(site)).map(({ status }) => status)).toContain('queued'),
  },
  {
    page: 'docs/schedules.md',
    starts: 'import { defineWorker }',
    after: async (_site, { report }) => expect(report!.cron).toMatchObject({ missed: 'skip' }),
  },
  {
    page: 'docs/schemas.md',
    starts: 'import { defineWorker',
    async after(_site, { double }) {
      const { out, result } = await call(double as never, { n: [1, 2] } as never, { args: {} } as never)
      expect({ out, result }).toEqual({ out: { doubled: [2, 4] }, result: { count: 2 } })
    },
  },
  {
    page: 'docs/start.md',
    starts: '// src/jobs/hello.ts',
    async after(_site, { hello }) {
      expect((await call(hello as never, {} as never, { args: { name: 'Ann' } } as never)).result).toBe('Hello, Ann!')
    },
  },
  { page: 'docs/testing.md', starts: "import { call } from 'sidejob/testing'" },
  { page: 'docs/testing.md', starts: "import { sandbox } from 'sidejob/testing'" },
  { page: 'docs/testing.md', starts: "import { createWorker } from 'sidejob/cloudflare'" },
  {
    page: 'docs/testing.md',
    starts: "import { createSidejob } from 'sidejob'",
    stands: ({ redis, qstash }) => ({
      "'http://127.0.0.1:8079', token: 'local'": `'${redis.url}', token: '${redis.token}'`,
      "'http://127.0.0.1:8080', token: 'local'": `'${qstash.url}', token: '${qstash.token}'`,
    }),
  },
  {
    page: 'docs/waits.md',
    starts: 'import { defineWorker',
    async after(_site, { order }) {
      const job = sandbox(order as never, { args: { id: '7' } } as never)
      expect((await job.settle())?.end).toBe('suspended')
      job.write('paid' as never, { amount: 12 } as never)
      const next = await job.settle()
      expect([next?.end, JSON.stringify(next?.ops)]).toEqual(['suspended', expect.stringContaining('"label"')])
    },
  },
]
