import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { commandNames } from '../../../src/cli/main.ts'
import { startReceiver } from '../../kit/receiver.ts'
import { startWorkerd, type Workerd } from '../workerd/kit.ts'
import { runInProcess } from './in-process.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

const home = mkdtempSync(join(tmpdir(), 'sidejob-cli-'))

let kit: Workerd
beforeAll(async () => {
  kit = await startWorkerd()
  vi.stubEnv('SIDEJOB_URL', kit.stack.url)
  vi.stubEnv('SIDEJOB_API_KEY', kit.stack.apiKey)
  vi.stubEnv('SIDEJOB_PROFILES', join(home, 'profiles.json'))
})
afterAll(async () => {
  await kit.close()
  rmSync(home, { recursive: true, force: true })
})

const lines: string[] = []

const run = (...words: string[]) => runInProcess(words, lines)

async function json<T = Record<string, unknown>>(...words: string[]): Promise<T> {
  const { exit, printed, noted } = await run(...words, '--json')
  expect([noted, exit]).toEqual(['', 0])
  return JSON.parse(printed) as T
}

const made = async (...words: string[]) => (await json<{ id: number }>('run', ...words)).id

test('run creates a job, and with --wait shows its result', async () => {
  const id = await made('count_words', '--input', 'text="to be or not to be"')
  await kit.reaches(id, 'completed')
  expect(await json('read', String(id), 'counts', '--peek')).toEqual([{ to: 2, be: 2, or: 1, not: 1 }])
  expect(await json('read', String(id), 'counts')).toEqual([{ to: 2, be: 2, or: 1, not: 1 }])
  expect(await json('read', String(id), 'counts')).toEqual([])
  expect(await json('run', 'count_words', '-i', 'text="a"', '--wait')).toMatchObject({ type: 'success' })
  expect((await run('run', 'noop', '--wait')).exit).toBe(0)
  expect(await run('run', 'noop', '--args', 'x')).toMatchObject({
    exit: 2,
    noted: expect.stringContaining('expected JSON, got x'),
  })
  expect(await run('run', 'missing')).toMatchObject({
    exit: 1,
    noted: expect.stringContaining('class missing is not registered'),
  })
  expect(await run('run')).toMatchObject({
    exit: 2,
    noted: 'sidejob run: expected <class>, got nothing: sidejob run <class>\n',
  })
})

test('run --wait prints id, status, outputs, result and the page, and exits with 1 if the job fails', async () => {
  const { exit, printed, noted } = await run('run', 'count_words', '-i', 'text="a b a"', '--wait')
  const [, id] = /^#(\d+) /.exec(printed)!
  expect([exit, noted]).toEqual([0, `#${id} waiting for its end\n`])
  expect(printed).toBe(`#${id} count_words completed\ncounts: {"a":2,"b":1}\n${kit.stack.url}/ui/jobs/${id}\n`)
  expect(await json('read', id!, 'counts')).toEqual([{ a: 2, b: 1 }])
  const made = await json('run', 'count_words', '-i', 'text="a"', '--wait')
  expect(made).toMatchObject({
    status: 'completed',
    out: { counts: [{ a: 1 }] },
    page: expect.stringContaining('/ui/jobs/'),
  })
})

test('JSON comes from the command line, from a file or from the input', async () => {
  const file = join(home, 'args.json')
  writeFileSync(file, '{ "order": { "id": 1 } }\n')
  const argsOf = async (id: number) => (await kit.client.jobs.get(id)).args
  expect(await argsOf(await made('noop', '--delay', '1h', '--args', `@${file}`))).toEqual({ order: { id: 1 } })
  lines.push('{ "order":', '{ "id": 2 } }')
  expect(await argsOf(await made('noop', '--delay', '1h', '--args', '-'))).toEqual({ order: { id: 2 } })
  expect(await run('run', 'noop', '--args', '@nothing.json')).toMatchObject({
    exit: 2,
    noted: 'sidejob run: --args: cannot read nothing.json (ENOENT)\n',
  })
  writeFileSync(file, '{ order')
  expect((await run('run', 'noop', '--args', `@${file}`)).noted).toContain(`--args: ${file}: expected valid JSON: `)
})

test('ls, show, why, tree, runs, log and result show jobs', async () => {
  const id = String(await made('count_words', '--delay', '1h', '--unique', 'one'))
  const { jobs } = await json<{ jobs: { id: number }[] }>('ls', '--class', 'count_words', '--status', 'queued')
  expect(jobs.map((job) => job.id)).toEqual([Number(id)])
  const paid = await made('noop', '--args', '{"order":{"id":4711}}', '--delay', '1h')
  const found = await json<{ jobs: { id: number }[]; looked: number }>('ls', '--arg', 'order.id=4711', '-q', 'default')
  expect([found.jobs.map((job) => job.id), found.looked > 0]).toEqual([[paid], true])
  expect(await run('ls', '--arg', 'order')).toMatchObject({ exit: 2, noted: expect.stringContaining('path=value') })
  const labelled = await made('noop', '--label', 'customer=7', '-l', 'plan=pro', '--delay', '1h')
  const named = await json<{ jobs: { id: number }[] }>('ls', '--label', 'customer=7', '-l', 'plan=pro')
  expect(named.jobs.map((job) => job.id)).toEqual([labelled])
  expect((await run('ls', '-c', 'count_words', '-s', 'queued')).printed).toMatch(
    new RegExp(`^id +class +queue +status +attempt +createdAt +error\\n${id} +count_words +default +queued `),
  )
  expect((await run('show', id)).printed).toMatch(new RegExp(`^id +${id}\\nqueue +default\\n`))
  expect((await run('why', id)).printed).toMatch(/^[A-Z_]+: /)
  expect((await run('tree', id)).printed).toBe(`#${id} count_words queued\n`)
  expect(await json('runs', id)).toEqual({ runs: [] })
  await kit.client.log.write({ entry: { said: 'hello' } })
  expect(await run('log', id)).toMatchObject({ exit: 0, printed: 'none\n' })
  await json('terminate', id)
  const noResult = `No result is stored. sidejob show ${id} shows the status and error\n`
  expect(await run('result', id)).toMatchObject({ exit: 0, printed: '', noted: noResult })
  expect((await run('show', '999999')).noted).toMatch(/^sidejob show: 404 /)
})

test('runs numbers the runs of a job with a history, and shows when the job became ready', async () => {
  const { id } = await kit.client.jobs.enqueue({ class: 'noop', history: 5, retain: '1h' })
  await kit.reaches(id, 'completed')
  await kit.client.jobs.run(id, { force: true })
  await vi.waitFor(async () => expect((await kit.client.jobs.runs(id)).runs.length).toBe(2), 10_000)
  const moment = expect.stringMatching(/^\d{4}-\d\d-\d\dT/)
  const { runs } = await json<{ runs: { n: number; readyAt: string; startedAt: string }[] }>('runs', String(id))
  expect(runs).toEqual([2, 1].map((n) => expect.objectContaining({ n, readyAt: moment, commits: 1 })))
  const lines = (await run('runs', String(id))).printed.split('\n')
  expect(lines[0]).toMatch(/^n +readyAt +startedAt +outcome /)
  expect(lines[1]).toMatch(new RegExp(`^2 +${runs[0]!.readyAt} +${runs[0]!.startedAt} +completed `))
})

test('send, retry, terminate and delete change jobs', async () => {
  const id = String(await made('count_words'))
  expect(await json('send', id, 'text', '"a b"')).toMatchObject({ size: expect.any(Number) })
  await kit.reaches(Number(id), 'completed')
  expect((await run('send', id, 'text', 'a')).noted).toContain('a string needs quotes')
  expect(await run('retry', id)).toMatchObject({ exit: 1, noted: expect.stringContaining('409') })
  expect(await json('terminate', id)).toMatchObject({ status: 'terminated' })
  expect(await json('delete', id)).toEqual({ status: 'gone' })
})

test('queues, limits, groups, schedules, workers, channels, callbacks, files, keys and stats have commands', async () => {
  expect(await json('queues', 'pause', 'spare')).toMatchObject({ name: 'spare', paused: true })
  expect((await run('queues')).printed).toMatch(/^name +mode +paused/)
  expect(await json('queues', 'resume', 'spare')).toMatchObject({ paused: false })
  const pulling = { body: JSON.stringify({ process: 'host:1' }), method: 'POST' }
  const headers = { authorization: `Bearer ${kit.stack.apiKey}`, 'content-type': 'application/json' }
  await fetch(`${kit.stack.url}/v1/queues/spare/claim`, { ...pulling, headers })
  expect((await run('processes')).printed).toMatch(/^host:1 +pull +spare +true/m)
  for (const word of ['quiet', 'stop', 'resume']) expect(await json('processes', word, 'host:1')).toEqual({})
  expect(await run('processes', 'stop', 'nobody')).toMatchObject({ exit: 1, noted: expect.stringMatching(/404/) })
  expect(await json('limits', 'set', 'mine', '--rate', '5', '--per', '1m')).toMatchObject({ key: 'mine' })
  expect((await run('limits', 'ls')).printed).toMatch(
    /^key +concurrency +rate +paused +running +waiting\nmine .* false +0 +0$/m,
  )
  expect(await json('limits', 'rm', 'mine')).toEqual({})
  expect(await json('groups')).toEqual({ groups: [] })
  const inGroup = JSON.stringify({ class: 'noop', wait: '1h', group: { id: 'acme', concurrency: 1 } })
  const made = await fetch(`${kit.stack.url}/v1/jobs`, { method: 'POST', body: inGroup, headers })
  expect((await run('groups', 'ls')).printed).toMatch(
    /^id +concurrency +paused +running +waiting +jobs\nacme +1 +false +0 +0 +1$/m,
  )
  await run('delete', String(((await made.json()) as { id: number }).id), '--force')
  const { id } = await json<{ id: number }>('schedules', 'add', 'noop', '--cron', '0 2 * * *', '--tz', 'Europe/Berlin')
  expect((await run('schedules')).printed).toContain('0 2 * * *')
  expect(await json('schedules', 'show', String(id))).toMatchObject({ job: id, paused: false })
  expect(await json('schedules', 'pause', String(id))).toMatchObject({ paused: true })
  expect(await json('schedules', 'resume', String(id))).toMatchObject({ paused: false })
  expect(await json('schedules', 'run', String(id))).toMatchObject({ id })
  expect(await json('schedules', 'rm', String(id))).toEqual({})
  const args = ['--cron', '0 2 * * *', '--missed', 'skip', '--args', '{"n":1}']
  const nightly = await json<{ id: number }>('schedules', 'add', 'noop', ...args)
  expect(await kit.client.jobs.get(nightly.id)).toMatchObject({ args: { n: 1 }, repeat: { missed: 'skip' } })
  await json('schedules', 'rm', String(nightly.id))
  expect((await run('schedules', 'add', 'noop')).noted).toContain("expected --cron, such as --cron '0 2 * * *'")
  expect((await run('limits', 'set', 'mine')).noted).toContain('expected --concurrency or --rate, got neither')
  expect((await run('workers')).printed).toMatch(/noop/)
  expect(await json('channels')).toEqual({ channels: [] })
  expect(await json('channels', 'publish', '/shop', '{"n":12}', '--keep')).toEqual({ subscribers: 0 })
  expect(await json('channels', 'ls')).toEqual({ channels: [] })
  expect(await json('channels', 'ls', '--last')).toMatchObject({
    channels: [{ name: '/shop', last: { message: { n: 12 } } }],
  })
  expect((await run('channels', 'ls', '--last')).printed).toMatch(/^\/shop +\S.* 1 +.*12/m)
  expect(await json('channels', 'publish', '/shop', '1', '--forget')).toEqual({ subscribers: 0 })
  expect(await json('channels', 'ls', '--last')).toEqual({ channels: [] })
  expect(await json('callbacks')).toMatchObject({ callbacks: [] })
  expect(await json('files')).toMatchObject({ files: [] })
  const key = await json<{ id: string }>('keys', 'add', 'ci', '--scope', 'read,write')
  expect((await run('keys')).printed).toContain('ci')
  expect(await json('keys', 'rm', key.id)).toEqual({})
  expect((await run('stats')).printed).toMatch(/^processed +\d+\n/)
  expect((await run('stats', '--days', '2')).printed).toMatch(/^\d{4}-\d\d-\d\d +.*runs \d/m)
  expect((await run('stats', '--hours')).printed).toMatch(/^\d{4}-\d\d-\d\dT\d\d:00:00\.000Z +\w+ +count_words +\d/m)
  expect(await json('stats', '--hours')).toMatchObject({
    classes: expect.arrayContaining([
      expect.objectContaining({
        hours: expect.arrayContaining([expect.objectContaining({ runs: expect.any(Number) })]),
      }),
    ]),
  })
  expect(await json('stats')).toMatchObject({ processed: expect.any(Number), today: { default: {} } })
})

test('bulk shows the matching jobs, and acts with --yes', async () => {
  await made('noop', '--delay', '1h')
  expect((await run('bulk', 'terminate', '--class', 'noop', '--status', 'queued')).noted).toMatch(
    /^terminate: \d+ jobs match; add --yes to change them\n$/,
  )
  expect(await json('bulk', 'terminate', '--class', 'noop', '--status', 'queued', '--yes')).toMatchObject({
    id: expect.any(Number),
  })
})

const threeOf = (group: string) =>
  kit.client.jobs.enqueue(Array.from({ length: 3 }, () => ({ class: 'noop', wait: '2h', group: { id: group } })))

test('bulk --wait ends after the last job, and reports the number of jobs', async () => {
  await threeOf('waited')
  expect((await run('bulk', 'terminate', '--group', 'waited')).noted).toBe(
    'terminate: 3 jobs match; add --yes to change them\n',
  )
  expect(await json('bulk', 'terminate', '--group', 'waited', '--yes', '--wait')).toMatchObject({
    status: 'completed',
    done: 3,
    passed: 0,
  })
})

test.skipIf(spawnSync('python3', ['-c', 'import pty']).status !== 0)(
  'in a terminal bulk shows how far it is, and waits by itself',
  async () => {
    await threeOf('shown')
    const words = [process.execPath, 'src/cli/index.ts', 'bulk', 'terminate', '--group', 'shown', '--yes']
    const child = spawn('python3', ['-c', 'import pty, sys; pty.spawn(sys.argv[1:])', ...words], {
      cwd: join(import.meta.dirname, '../../..'),
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const seen = await text(child.stdout)
    child.stdin.end()
    expect(seen).toContain(`[${'='.repeat(30)}] 3 of 3, 3 done`)
    expect(seen).toMatch(/status +completed/)
  },
)

test('flows graph shows a graph', async () => {
  const graph = { nodes: { a: { class: 'noop' } }, edges: [] }
  const { id } = (await kit.client.jobs.enqueue({ queue: 'core', class: 'flow', args: { graph } })) as { id: number }
  await vi.waitFor(
    async () => expect(await run('flows', 'graph', String(id), '--json')).toMatchObject({ exit: 0, noted: '' }),
    10_000,
  )
})

test('why prints the chain from a flow to the node that blocks it, with a reason for each job', async () => {
  const graph = { nodes: { gate: { queue: 'core', class: 'wait', inports: { in: { init: [1] } } } } }
  const { id } = await kit.client.jobs.enqueue({ queue: 'core', class: 'flow', args: { graph } })
  const gate = async () => (await kit.client.jobs.get(id)).children.gate?.id
  await expect.poll(gate).toBeTypeOf('number')
  const node = (await gate())!
  await kit.reaches(node, 'suspended')
  const { printed } = await run('why', String(id))
  expect(printed.split('\n')).toEqual([
    `CHILDREN: follows its children; 1 child has not completed: gate (job ${node}, suspended)`,
    '  Remedy: ask why the named child is not running; `?deep=3` follows the chain',
    `  job ${node} (wait, suspended):`,
    expect.stringMatching(/^ {4}INPUT: .*port (trigger|in)/),
    '',
  ])
  expect((await run('why', String(node))).printed).toMatch(
    new RegExp(`INPUT: .* port (\\w+)\\n  Remedy: .sidejob send ${node} \\1 <value>.*/v1/jobs/${node}/in/\\1`),
  )
})

test('common options may precede the command', async () => {
  const url = kit.stack.url
  expect(JSON.parse((await run('--url', url, '--json', 'queues')).printed)).toHaveProperty('queues')
  expect(await run(`--url=${url}`, 'stats', '--json')).toMatchObject({ exit: 0 })
  expect((await run('--help', 'ls')).printed).toMatch(/^sidejob ls\n/)
  expect(await run('--json')).toMatchObject({ exit: 2 })
})

test('profiles keep an address and a key under a name', async () => {
  expect(await run('profiles', 'set', 'here')).toMatchObject({ exit: 0 })
  expect((await run('profiles')).printed).toContain(`here  ${kit.stack.url}`)
  expect(await run('version', '--profile', 'there')).toMatchObject({
    exit: 2,
    noted: expect.stringContaining('known: here'),
  })
  expect(await run('profiles', 'set', 'gone', '--url', 'http://127.0.0.1:9', '--key', 'k')).toMatchObject({ exit: 0 })
  expect(await json('version', '--profile', 'gone')).toMatchObject({ server: 'none answers' })
  expect(await run('profiles', 'rm', 'here')).toMatchObject({ exit: 0 })
  expect(await json('version')).toMatchObject({
    sidejob: expect.stringMatching(/^\d/),
    server: expect.stringMatching(/^\d/),
  })
})

test('a shell completes the commands, and each help text fits on a screen', async () => {
  expect((await run('completion', 'bash')).printed).toMatch(/queues\) words="ls pause set resume"/)
  for (const name of commandNames()) {
    const { exit, printed } = await run(...name.split(' '), '--help')
    expect([name, exit]).toEqual([name, 0])
    expect(printed.split('\n').length, name).toBeLessThanOrEqual(24)
    for (const line of printed.split('\n')) expect(line.length, line).toBeLessThanOrEqual(140)
  }
})

test('tail shows jobs as they change, optionally of one class', async () => {
  let ended = false
  const tailing = run('tail', '--class', 'count_words', '-n', '2').finally(() => {
    ended = true
  })
  await vi.waitFor(
    async () => {
      await made('noop', '--delay', '1h')
      await made('count_words', '-i', 'text="a"')
      expect(ended).toBe(true)
    },
    { timeout: 30_000, interval: 200 },
  )
  const { exit, printed } = await tailing
  expect(exit).toBe(0)
  expect(printed).toMatch(/^#\d+ count_words (queued|running|completed|suspended)\n#\d+ count_words \w+\n$/)
  expect(await run('tail', '-n', 'all')).toMatchObject({ exit: 2, noted: expect.stringContaining('--count') })
})

async function pulled() {
  await kit.client.workers.register('cli', 'broken', { pull: true, retry: { max: 0 } })
  const id = await made('broken', '--queue', 'cli')
  const claimed = (await kit.client.queues.claim('cli', {}))!
  return { id, token: claimed.runs[0]!.run.token }
}

const statusIs = (id: number, status: string) =>
  vi.waitFor(async () => expect((await kit.client.jobs.get(id)).status).toBe(status), 10_000)

const documentsOf = (printed: string): unknown[] =>
  printed
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as unknown)

test('--json makes every command print JSON only', async () => {
  const id = String(await made('count_words', '--delay', '1h'))
  const { id: pulledId, token } = await pulled()
  await kit.client.runs.commit(token, { end: 'failed', error: { message: 'broken' } })
  const failed = String(pulledId)
  const schedule = String((await json<{ id: number }>('schedules', 'add', 'noop', '--cron', '0 2 * * *')).id)
  const { id: key } = await json<{ id: string }>('keys', 'add', 'json', '--scope', 'read')
  await fetch(`${kit.stack.url}/v1/queues/spare/claim`, {
    method: 'POST',
    body: JSON.stringify({ process: 'json:1' }),
    headers: { authorization: `Bearer ${kit.stack.apiKey}`, 'content-type': 'application/json' },
  })
  const done = String(await made('count_words', '-i', 'text="a"'))
  await kit.reaches(Number(done), 'completed')
  vi.stubEnv('UPSTASH_REDIS_REST_URL', kit.stack.gateway.url)
  vi.stubEnv('UPSTASH_REDIS_REST_TOKEN', kit.stack.note.gateway.token)
  const [copy, empty] = [join(home, 'json.copy'), ['--class', 'no_such_class', '--yes']]
  const words: Record<string, string[]> = {
    run: ['noop', '--wait'],
    ls: [],
    show: [id],
    why: [id],
    tree: [id],
    runs: [id],
    log: [id],
    send: [id, 'text', '"a"'],
    read: [id, 'counts', '--peek'],
    result: [done],
    retry: [failed],
    terminate: [failed],
    delete: [failed],
    'queues ls': [],
    'queues pause': ['spare'],
    'queues set': ['spare', '--lanes', '2'],
    'queues resume': ['spare'],
    'processes ls': [],
    'processes quiet': ['json:1'],
    'processes stop': ['json:1'],
    'processes resume': ['json:1'],
    'limits ls': [],
    'limits set': ['json', '--concurrency', '1'],
    'limits rm': ['json'],
    'groups ls': [],
    'deploys ls': [],
    'deploys compare': [],
    'errors ls': ['--muted'],
    'errors mute': ['0123456789abcdef'],
    'errors unmute': ['0123456789abcdef'],
    'history status': [],
    'schedules ls': [],
    'schedules show': [schedule],
    'schedules add': ['noop', '--cron', '0 3 * * *'],
    'schedules pause': [schedule],
    'schedules resume': [schedule],
    'schedules run': [schedule],
    'schedules rm': [schedule],
    'workers ls': [],
    'workers change': ['cli', 'broken', '{"timeout":"1m"}'],
    'channels ls': ['--last'],
    'channels publish': ['/shop', '1', '--keep'],
    'callbacks ls': [],
    'callbacks resend': ['--yes'],
    'files ls': [],
    'files purge': ['--older-than', '1d', '--yes'],
    'alerts ls': [],
    'alerts mute': ['slow mail', '--reason', 'known'],
    'alerts unmute': ['slow mail'],
    'audit ls': [],
    'keys ls': [],
    'keys add': ['more', '--scope', 'read'],
    'keys rm': [key],
    'bulk retry': empty,
    'bulk terminate': empty,
    'bulk delete': empty,
    'bulk requeue': empty,
    move: ['--to', 'http://127.0.0.1:9/job'],
    'profiles set': ['json', '--url', kit.stack.url, '--key', 'k'],
    'profiles ls': [],
    'profiles rm': ['json'],
    stats: [],
    doctor: [],
    version: [],
    download: ['--no-wait'],
    export: [copy],
    import: [copy],
  }
  /** These commands are interactive, or their output is not data. */
  const others = [
    'create',
    'init',
    'dev',
    'rehearse',
    'record',
    'schemas',
    'deploy',
    'destroy',
    'open',
    'key',
    'completion',
    'flows graph',
    // This command needs an open alert.
    'alerts ack',
    'alerts unack',
    'tail',
    // test/history/cli.test.ts tests these commands, because they need a database.
    'history ls',
    'history show',
    'history sql',
  ]
  expect(Object.keys(words).concat(others).sort()).toEqual(commandNames().toSorted())
  for (const name of Object.keys(words)) {
    if (name === 'import') vi.stubEnv('SIDEJOB_NAMESPACE', 'copy:')
    if (name === 'download') lines.push(`${kit.stack.url}/health`)
    const { printed, noted, exit } = await run(...name.split(' '), ...words[name]!, '--json')
    expect({ name, noted, exit }).toEqual({ name, noted: '', exit: 0 })
    expect(() => documentsOf(printed), `${name}: ${printed}`).not.toThrow()
  }
})

test('bulk retry, requeue and delete affect all matching jobs, and no other jobs', async () => {
  const bystander = await made('noop', '--delay', '1h')
  const { id, token } = await pulled()
  await kit.client.runs.commit(token, { end: 'failed', error: { message: 'broken' } })
  expect((await run('bulk', 'retry', '--class', 'broken', '--status', 'failed')).noted).toBe(
    'retry: 1 job matches; add --yes to change them\n',
  )
  await json('bulk', 'retry', '--class', 'broken', '--status', 'failed', '--yes')
  await statusIs(id, 'queued')
  await kit.client.queues.claim('cli', {})
  await statusIs(id, 'running')
  await json('bulk', 'requeue', '--class', 'broken', '--status', 'running', '--yes')
  await statusIs(id, 'queued')
  await json('bulk', 'terminate', '--class', 'broken', '--yes')
  await statusIs(id, 'terminated')
  await json('bulk', 'delete', '--class', 'broken', '--status', 'terminated', '--yes')
  await vi.waitFor(() => expect(kit.client.jobs.get(id)).rejects.toMatchObject({ status: 404 }), 10_000)
  expect(await kit.client.jobs.get(bystander)).toMatchObject({ status: 'queued' })
  expect(await run('bulk', 'delete', '--yes')).toMatchObject({
    exit: 1,
    noted: expect.stringContaining('at least one'),
  })
})

test('open opens the dashboard or the page of a job in a browser, and logs the user in', async () => {
  const opened = join(home, 'opened')
  writeFileSync(join(home, 'xdg-open'), `#!/bin/sh\necho "$1" > ${opened}\n`, { mode: 0o755 })
  vi.stubEnv('PATH', `${home}:${process.env.PATH}`)
  for (const [words, page] of [
    [[], '/ui/'],
    [['7'], '/ui/jobs/7'],
  ] as const) {
    const { exit, printed } = await run('open', ...words)
    expect(exit).toBe(0)
    await vi.waitFor(() => expect(readFileSync(opened, 'utf8')).toBe(printed), 10_000)
    const link = new URL(printed.trim())
    const login = await fetch(`${link.origin}${link.pathname}`, {
      method: 'POST',
      body: new URLSearchParams({ once: link.searchParams.get('once')!, to: link.searchParams.get('to') ?? '' }),
      headers: { 'sec-fetch-site': 'same-origin' },
      redirect: 'manual',
    })
    expect([login.status, login.headers.get('location')]).toEqual([303, expect.stringContaining(page.slice(0, -1))])
    expect(login.headers.get('set-cookie')).toBeTruthy()
  }
})

test.each(['ls', 'open'])('`sidejob %s` without a key says that none was sent, and how to set it', async (command) => {
  const { exit, noted } = await run(command, '--key', '')
  expect([exit, noted]).toEqual([
    1,
    `sidejob ${command}: 401 expected the header "Authorization: Bearer <API key>", got none. Set --key, or run the command in the folder of \`sidejob dev\`\n`,
  ])
})

test('open shows how to add a dashboard, if the Worker has none', async () => {
  const bare = await startReceiver((_, response) => response.writeHead(404).end('{}'))
  const { exit, noted, printed } = await run('open', '--url', bare.url)
  await bare.close()
  expect([exit, printed]).toEqual([1, ''])
  expect(noted).toContain('createWorker({ …, dashboard: dashboard() })')
})

test('deploy first reports missing values, and destroy asks for confirmation', async () => {
  const folder = join(home, 'project')
  mkdirSync(folder)
  expect(await run('deploy', folder)).toMatchObject({ exit: 2, noted: expect.stringContaining('wrangler.jsonc') })
  writeFileSync(join(folder, 'wrangler.jsonc'), '{ "name": "my-jobs", "main": "src/index.ts" }')
  for (const name of ['UPSTASH_REDIS_REST_URL', 'QSTASH_TOKEN']) vi.stubEnv(name, '')
  const { exit, printed } = await run('deploy', folder, '--dry-run')
  expect([exit, printed]).toEqual([1, expect.stringMatching(/my-jobs[\s\S]*UPSTASH_REDIS_REST_URL/)])
  expect(await run('destroy', folder)).toMatchObject({
    exit: 1,
    noted: 'my-jobs would be removed; add --yes to remove it\n',
  })
  expect(await run('destroy', folder, '--yes')).toMatchObject({
    exit: 1,
    noted: expect.stringContaining('QSTASH_TOKEN'),
  })
})

const LONG = '50000000000'

test.each([
  ['--per: expected a duration', ['limits', 'set', 'mine', '--rate', '5', '--per', 'banana']],
  ['--rate: expected at most 1000000, got', ['limits', 'set', 'mine', '--rate', LONG]],
  ['--concurrency: expected at most', ['limits', 'set', 'mine', '--concurrency', LONG]],
  ['--reason: expected up to 200 characters', ['limits', 'set', 'mine', '--rate', '5', '--reason', 'x'.repeat(201)]],
  ['--cron: expected 5 or 6 fields', ['schedules', 'add', 'noop', '--cron', 'banana']],
  ['--tz: expected a time zone', ['schedules', 'add', 'noop', '--cron', '0 2 * * *', '--tz', 'banana']],
  ['--missed: expected "run"', ['schedules', 'add', 'noop', '--cron', '0 2 * * *', '--missed', 'banana']],
  ['--mode: expected "push" or "pull", got "banana"', ['queues', 'set', 'default', '--mode', 'banana']],
  ['--scope: expected "admin"', ['keys', 'add', 'mine', '--scope', 'read,banana']],
  ['--until: expected a time', ['errors', 'mute', '0123456789abcdef', '--until', 'banana']],
  ['--until: expected a time', ['alerts', 'mute', 'history', '--until', 'banana']],
  ['--days: expected a whole number', ['stats', '--days', 'banana']],
  ['--limit: expected a whole number', ['audit', 'ls', '--limit', 'banana']],
  ['--delay: expected a duration', ['run', 'noop', '--delay', 'banana']],
  ['--label a b: expected a label name', ['run', 'noop', '--label', 'a b=1']],
  ['--input text[0]: expected a string, got 5 (input port "text"', ['run', 'count_words', '--input', 'text=5']],
  ['--status: expected "queued"', ['ls', '--status', 'banana']],
  ['--label a b: expected a label name', ['ls', '--label', 'a b=1']],
  ['--since: expected a time', ['history', 'ls', '--since', 'banana']],
  ['--status: expected "queued"', ['bulk', 'retry', '--status', 'banana']],
  ['--to: expected a version', ['move', '--to', 'banana']],
  ['--max: expected at most 10000', ['read', '1', 'out', '--max', LONG]],
  ['--max: expected at most 1000', ['read', '1', 'out', '--max', LONG, '--peek']],
  ['--at: expected a time', ['deploys', 'compare', 'sidejob', '--at', 'banana']],
  ['--limit: expected at most', ['download', '--limit', LONG]],
  ['--aggregation: expected 1 to 255 bytes', ['download', '--aggregation', '']],
  ['--callback: expected a URL', ['download', '--callback', 'banana']],
  ['--older-than: expected a duration', ['files', 'purge', '--older-than', 'banana']],
])('an error names the option that the user typed: %s', async (message, words) => {
  lines.splice(0, Infinity, ...(words[0] === 'download' ? ['http://127.0.0.1/file'] : []))
  const { exit, noted } = await run(...words)
  expect([exit > 0, noted.replace(/^sidejob [a-z ]+: (\d+ )?/, '').slice(0, message.length)]).toEqual([true, message])
})
