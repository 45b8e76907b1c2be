export type Group = 'output' | 'drawing' | 'made' | 'listed'

/** A code block of the manual that neither claims.ts nor plays.ts runs. `by`: the test that runs or compares it. */
export type Elsewhere = { page: string; starts: string; group: Group | 'run'; by?: string; why: string }

const drawing = (page: string, ...starts: string[]): Elsewhere[] =>
  starts.map((start) => ({ page, starts: start, group: 'drawing', why: 'a picture in characters' }))

const packed = 'test/infra/package/package.pack.ts'
const firstHour = 'test/infra/package/first-hour.pack.ts'
const deployed = 'test/docs/deploy.slow.test.ts'
const bench = 'test/heavy/bench/figures.ts'

const guides = 'test/docs/guides.test.ts'
const tutorial = [
  'npx sidejob run hello',
  'npx sidejob run unsteady',
  'npx sidejob run approval',
  'npx sidejob schedules add',
]

export const elsewhere: Elsewhere[] = [
  ...['README.md', 'docs/start.md'].flatMap((page) =>
    ['npm ci\n', 'cd ../my-jobs\n', ...(page === 'docs/start.md' ? tutorial : [])].map(
      (starts): Elsewhere => ({
        page,
        starts,
        group: 'run',
        by: firstHour,
        why: 'the page is followed there in an empty folder, with a clone of the repository',
      }),
    ),
  ),
  {
    page: 'README.md',
    starts: 'npm ci && npm start',
    group: 'run',
    by: 'test/e2e/workerd/start.slow.test.ts',
    why: '`npm ci` and `npm test` are how these tests come to run; `npm start` is run there',
  },
  {
    page: 'README.md',
    starts: 'stateDiagram-v2',
    group: 'drawing',
    by: 'test/docs/readme.test.ts',
    why: 'its moves are compared with the code',
  },
  {
    page: 'src/README.md',
    starts: 'stateDiagram-v2',
    group: 'drawing',
    by: 'test/engine/lane-state.test.ts',
    why: 'a picture of the states of a lane, compared with its transitions',
  },
  {
    page: 'docs/history.md',
    starts: 'npx sidejob history sql',
    group: 'run',
    by: 'test/history/cli.test.ts',
    why: 'its queries are run there',
  },
  {
    page: 'docs/history.md',
    starts: '[[d1_databases]]',
    group: 'listed',
    why: 'a part of a configuration; test/infra/deploy/deploy.slow.test.ts deploys it',
  },
  {
    page: 'docs/traces.md',
    starts: 'npx wrangler secret put OTEL_EXPORTER_OTLP_ENDPOINT',
    group: 'listed',
    why: 'it needs an account of Cloudflare',
  },
  {
    page: 'docs/traces.md',
    starts: 'queue order',
    group: 'drawing',
    by: 'test/engine/traces.test.ts',
    why: 'a tree such as the test builds',
  },
  ...drawing(
    'docs/concepts.md',
    ' worker (job class)',
    '          claim',
    '                         ┌──',
    ' job 3 (split)',
    ' order #95',
    '                       ┌─ function',
    ' enqueue ──> Redis',
    ' new ──> delay',
  ),
  ...drawing('docs/ports.md', '            in  '),
  ...drawing('examples/etl/README.md', 'text ──▶'),
  ...drawing('examples/fibonacci/README.md', 'n ──▶ request'),
  {
    page: 'examples/fibonacci/README.md',
    starts: 'node examples/fibonacci/run.ts',
    group: 'run',
    by: 'test/e2e/examples/flows.slow.test.ts',
    why: 'against the stack, with fewer numbers',
  },
  {
    page: 'docs/callbacks.md',
    starts: '{\n  "id": 7',
    group: 'output',
    by: 'test/docs/outputs.test.ts',
    why: 'compared with the body of a callback that came',
  },
  {
    page: 'docs/flows.md',
    starts: '{\n  "applied"',
    group: 'output',
    by: 'test/docs/outputs.test.ts',
    why: 'compared with the answer of this change',
  },
  {
    page: 'docs/flows.md',
    starts: '{\n  "keep"',
    group: 'output',
    by: 'test/docs/outputs.test.ts',
    why: 'its members are compared with a real record',
  },
  {
    page: 'docs/schemas.md',
    starts: 'inputs.n[1]',
    group: 'output',
    by: 'test/docs/outputs.test.ts',
    why: 'compared with the refusal of this job',
  },
  {
    page: 'docs/entry.md',
    starts: '✓ double #458',
    group: 'output',
    by: 'test/docs/outputs.test.ts',
    why: 'compared with the output of `sidejob dev`',
  },
  ...['{\n  "run"', '{\n  "end"'].map(
    (starts): Elsewhere => ({
      page: 'docs/languages.md',
      starts,
      group: 'output',
      by: 'test/e2e/examples/pull-workers.test.ts',
      why: 'parsed by the schemas of the run protocol',
    }),
  ),
  {
    page: 'docs/languages.md',
    starts: '"""A push worker',
    group: 'run',
    by: 'test/e2e/examples/push-workers.test.ts',
    why: 'the file of the example, run as a process',
  },
  {
    page: 'docs/languages.md',
    starts: '"""A pull worker',
    group: 'run',
    by: 'test/e2e/examples/pull-workers.test.ts',
    why: 'the file of the template, run as a process',
  },
  {
    page: 'docs/languages.md',
    starts: '#!/usr/bin/env bash',
    group: 'run',
    by: 'test/e2e/examples/pull-workers.test.ts',
    why: 'the file of the example, run as a process',
  },
  ...['// src/index.ts, with alerts to Slack', '// src/index.ts, with mails', '// src/sentry.ts'].map(
    (starts): Elsewhere => ({
      page: 'docs/alerts.md',
      starts,
      group: 'run',
      by: guides,
      why: 'against a server of the test',
    }),
  ),
  ...[
    '// lib/sidejob.ts',
    '// src/jobs/import_rows.ts',
    '// server.ts',
    '// app/api/imports/route.ts',
    '// app/api/imports/[id]',
  ].map(
    (starts): Elsewhere => ({
      page: 'docs/web-apps.md',
      starts,
      group: 'run',
      by: guides,
      why: 'with a job that ends',
    }),
  ),
  {
    page: 'docs/web-apps.md',
    starts: '// components/import.tsx',
    group: 'run',
    by: 'test/docs/guides.browser.test.ts',
    why: 'in a browser',
  },
  { page: 'docs/payloads.md', starts: 'import', group: 'run', by: guides, why: 'with a bucket in memory' },
  {
    page: 'docs/long.md',
    starts: "import { defineWorker } from 'sidejob'\nimport",
    group: 'run',
    by: guides,
    why: 'two runs',
  },
  {
    page: 'docs/customers.md',
    starts: "import { defineWorker } from 'sidejob'\nimport * as z from 'zod'\n\nconst args",
    group: 'run',
    by: guides,
    why: 'with a job of each plan',
  },
  ...['npx sidejob deploy --name', 'BRANCH='].map(
    (starts): Elsewhere => ({
      page: 'docs/environments.md',
      starts,
      group: 'run',
      by: deployed,
      why: 'with a Cloudflare, an Upstash and a QStash of the tests',
    }),
  ),
  {
    page: 'docs/start.md',
    starts: 'npx wrangler login',
    group: 'run',
    by: deployed,
    why: 'with a Cloudflare, an Upstash and a QStash of the tests',
  },
  ...['npx wrangler login', 'git checkout'].map(
    (starts): Elsewhere => ({
      page: 'docs/deploy.md',
      starts,
      group: 'run',
      by: deployed,
      why: 'with a Cloudflare, an Upstash and a QStash of the tests; `wrangler login` needs an account and is left out',
    }),
  ),
  {
    page: 'docs/security.md',
    starts: 'openssl rand',
    group: 'run',
    by: deployed,
    why: 'with a Cloudflare of the tests',
  },
  {
    page: 'docs/deploy.md',
    starts: 'provider "cloudflare"',
    group: 'listed',
    by: 'test/docs/settings.test.ts',
    why: 'Terraform needs accounts; its variables are compared with the module',
  },
  {
    page: 'docs/deploy.md',
    starts: 'on: { push',
    group: 'listed',
    by: 'test/docs/settings.test.ts',
    why: 'needs GitHub; its variables are settings, its commands scripts',
  },
  {
    page: 'docs/changing-code.md',
    starts: 'npx sidejob --profile production rehearse',
    group: 'run',
    by: 'test/e2e/cli/rehearse-command.slow.test.ts',
    why: 'run there with the address of the test in place of the profile',
  },
  {
    page: 'docs/changing-code.md',
    starts: 'npx sidejob rehearse --recorded',
    group: 'run',
    by: 'test/e2e/cli/rehearse.slow.test.ts',
    why: 'run there with another class and job',
  },
  {
    page: 'docs/changing-code.md',
    starts: 'order: 207 jobs',
    group: 'output',
    by: 'test/e2e/cli/rehearse-command.slow.test.ts',
    why: 'the lines are compared there, with other classes and numbers',
  },
  {
    page: 'docs/changing-code.md',
    starts: 'args.colour: unknown member',
    group: 'output',
    by: 'test/engine/schema-skew.test.ts',
    why: 'the message is compared there, with other hashes',
  },
  {
    page: 'docs/changing-code.md',
    starts: 'npx sidejob rehearse --moved',
    group: 'run',
    by: 'test/e2e/cli/rehearse-pinned.slow.test.ts',
    why: 'run there with the class and the versions of the test',
  },
  {
    page: 'docs/changing-code.md',
    starts: 'npx sidejob schemas',
    group: 'run',
    by: 'test/e2e/cli/rehearse-command.slow.test.ts',
    why: 'run there with the folder of the test',
  },
  {
    page: 'docs/changing-code.md',
    starts: '      - run: npx sidejob rehearse',
    group: 'listed',
    by: 'test/e2e/cli/rehearse-command.slow.test.ts',
    why: 'needs GitHub; the command and its exit code are tested there',
  },
  {
    page: 'docs/platforms.md',
    starts: 'export UPSTASH',
    group: 'listed',
    by: 'test/infra/probe.slow.test.ts',
    why: 'asks a real account; the same program is run there against the stand-ins',
  },
  ...['redis-server 7.0.15; node', 'redis-server 7.0.15 with'].map(
    (starts): Elsewhere => ({
      page: 'docs/benchmarks.md',
      starts,
      group: 'output',
      by: bench,
      why: 'written by `npm run bench -- --write`',
    }),
  ),
  ...['worker', 'hono', 'python'].map(
    (template): Elsewhere => ({
      page: `templates/${template}/README.md`,
      starts: 'npm test',
      group: 'run',
      by: packed,
      why: 'in a project that was made from the packed tarball',
    }),
  ),
  {
    page: 'templates/hono/README.md',
    starts: 'curl --json',
    group: 'run',
    by: packed,
    why: 'with the Worker of that project',
  },
  {
    page: 'templates/worker/README.md',
    starts: 'npx sidejob run double',
    group: 'run',
    by: packed,
    why: 'with the Worker of that project',
  },
  {
    page: 'templates/python/README.md',
    starts: 'SIDEJOB_API_KEY=$(npx sidejob key) python3 worker.py',
    group: 'run',
    by: packed,
    why: 'with the Worker of that project',
  },
  {
    page: 'templates/python/README.md',
    starts: 'npx sidejob run report',
    group: 'run',
    by: packed,
    why: 'with the Worker and the program of that project',
  },
]
