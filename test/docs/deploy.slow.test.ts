import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Cloud, startCloud } from '../infra/deploy/cloud.ts'
import { blockAt, root } from './blocks.ts'
import { readersFolder, shell } from './play.ts'

const reroute = (base: string) => `const real = globalThis.fetch
globalThis.fetch = (input, init) => {
  const found = /^https:\\/\\/([^.]+)\\.acme\\.workers\\.dev(\\/.*)$/.exec(String(input instanceof Request ? input.url : input))
  return found ? real('${base}/' + found[1] + found[2], init) : real(input, init)
}
`

const project = {
  'wrangler.toml': `name = "my-jobs"
main = "w.js"
compatibility_date = "2026-10-20"
workers_dev = true
preview_urls = false
triggers = { crons = ["* * * * *"] }
`,
  'w.js': "export default { fetch: () => new Response('') }",
  'package.json': '{ "name": "my-jobs", "private": true }',
  'package-lock.json': '{ "name": "my-jobs", "lockfileVersion": 3, "packages": { "": { "name": "my-jobs" } } }',
}

let cloud: Cloud
let place: ReturnType<typeof readersFolder>
let env: Record<string, string | undefined>
beforeEach(async () => {
  cloud = await startCloud()
  cloud.state.busyEvery = 0
  place = readersFolder(project)
  const preload = join(place.scratch, 'reroute.mjs')
  writeFileSync(preload, reroute(cloud.base))
  const { PATH: _, ...vars } = cloud.env
  const noBranch = {
    BRANCH: '',
    GITHUB_HEAD_REF: '',
    GITHUB_REF_NAME: '',
    CI_COMMIT_REF_NAME: '',
    WORKERS_CI_BRANCH: '',
  }
  env = { ...vars, ...noBranch, NODE_OPTIONS: `--import ${preload}`, WRANGLER_SEND_METRICS: 'false', CI: '' }
})
afterEach(async () => {
  place.remove()
  await cloud.close()
})

/** Removes the lines that cannot run here, and answers the prompts. */
const without = (block: string): string =>
  block
    .replace('npx wrangler login\n', '')
    .replace(/^export [\s\S]*?[^\\]\n/m, '')
    .replace(/^(npx wrangler secret put)/gm, 'echo secret | $1')
    .replace(/^npx sidejob (profiles|ls) .*\n/gm, '')
    .replace(/^(npx sidejob destroy(?!.*--yes) .*?)( +#.*)?$/m, '$1 --yes')

test('docs/deploy.md deploys twice, takes one down, and goes back', { timeout: 240_000 }, async () => {
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.test', ...words], { cwd: place.folder })
  git('init', '--quiet')
  for (const version of ['one', 'two']) {
    writeFileSync(join(place.folder, 'w.js'), `export default { fetch: () => new Response('${version}') }`)
    git('add', '.')
    git('commit', '--quiet', '-m', version)
  }
  const blocks = ['npx wrangler login', 'git checkout'].map((start) => without(blockAt('docs/deploy.md', start).text))
  const [deployed, back] = await shell(blocks, place, env)
  expect(deployed).not.toMatch(/^!!/m)
  expect(deployed).toContain('https://my-jobs.acme.workers.dev')
  expect(deployed).toContain('my-jobs-staging')
  expect(back).not.toMatch(/^!!/m)
  expect(execFileSync('cat', [join(place.folder, 'w.js')], { encoding: 'utf8' })).toContain("'one'")
  expect([...cloud.workers.keys()]).toEqual(['my-jobs'])
  expect([...cloud.schedules.keys()]).toEqual(['sidejob-tick-my-jobs'])
  const versions = cloud.state.seen.filter((line) => /^(PUT|POST) .*\/scripts\/my-jobs(\/versions)?$/.test(line))
  expect(versions.length).toBe(2)
})

test('docs/start.md deploys, and docs/environments.md deploys staging and a preview', {
  timeout: 400_000,
}, async () => {
  const wrangler = `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'node_modules/wrangler/bin/wrangler.js')}' "$@"\n`
  writeFileSync(join(place.bin, 'wrangler'), wrangler, { mode: 0o755 })
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.test', ...words], { cwd: place.folder })
  git('init', '--quiet', '--initial-branch', 'new-page')
  git('add', '.')
  git('commit', '--quiet', '-m', 'one')
  const blocks = [
    blockAt('docs/start.md', 'npx wrangler login'),
    blockAt('docs/environments.md', 'npx sidejob deploy --name'),
    blockAt('docs/environments.md', 'BRANCH='),
  ].map(({ text }) => without(text))
  const printed = await shell(blocks, place, { ...env, CLOUDFLARE_ACCOUNT_ID: 'acc1' })
  for (const text of printed) expect(text).not.toMatch(/^!!/m)
  expect(printed[0]).toContain('https://my-jobs.acme.workers.dev')
  expect(printed[2]).toContain('my-jobs-new-page')
  expect([...cloud.workers.keys()].toSorted()).toEqual(['my-jobs', 'my-jobs-staging'])
  expect(cloud.workers.get('my-jobs-staging')!.secrets.PAYMENTS_KEY).toBe('secret')
})

test('docs/security.md gives the Worker a key to encrypt with', { timeout: 120_000 }, async () => {
  cloud.workers.set('my-jobs', { secrets: {}, buckets: [], databases: [], crons: [] })
  const wrangler = `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'node_modules/wrangler/bin/wrangler.js')}' "$@"\n`
  writeFileSync(join(place.bin, 'wrangler'), wrangler, { mode: 0o755 })
  const [printed] = await shell([blockAt('docs/security.md', 'openssl rand').text], place, {
    ...env,
    CLOUDFLARE_ACCOUNT_ID: 'acc1',
  })
  expect(printed).not.toMatch(/^!!/m)
  expect(Buffer.from(cloud.workers.get('my-jobs')!.secrets.SIDEJOB_ENCRYPTION_KEY!, 'base64')).toHaveLength(32)
})
