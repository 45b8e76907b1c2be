import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { commandNames } from '../../../src/cli/main.ts'
import { type Receiver, startReceiver } from '../../kit/receiver.ts'
import { startWorkerd, type Workerd } from '../workerd/kit.ts'
import { runInProcess } from './in-process.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const CLI = fileURLToPath(new URL('../../../src/cli/index.ts', import.meta.url))

let kit: Workerd
let origin: Receiver
beforeAll(async () => {
  kit = await startWorkerd()
  origin = await startReceiver(({ path }, response) => response.writeHead(path === '/none' ? 404 : 200).end(path))
})
afterAll(() => Promise.all([kit.close(), origin.close()]))
afterEach(() => {
  origin.came.length = 0
})

type Ended = { exit: number; printed: string; noted: string }

const wordsIn = (text: string): string[] => text.split(' ').filter(Boolean)
const withRows = (ended: Ended) => ({ ...ended, rows: ended.printed.split('\n').filter(Boolean) })

async function run(words: string, input = '', url = kit.stack.url) {
  vi.stubEnv('SIDEJOB_URL', url)
  vi.stubEnv('SIDEJOB_API_KEY', kit.stack.apiKey)
  return withRows(await runInProcess(wordsIn(words), input.split('\n')))
}

async function spawned(words: string, input = '') {
  const env = { ...process.env, SIDEJOB_URL: kit.stack.url, SIDEJOB_API_KEY: kit.stack.apiKey }
  const child = spawn(process.execPath, [CLI, ...wordsIn(words)], { env })
  const exit = new Promise<number>((resolve) => child.once('close', resolve))
  child.stdin.end(input)
  const [printed, noted] = await Promise.all([text(child.stdout), text(child.stderr)])
  return withRows({ exit: await exit, printed, noted })
}

const urls = (...paths: string[]) => paths.map((path) => `${origin.url}/${path}\n`).join('')
const contentOf = async (id: string) => (await fetch((await kit.client.files.show(id)).url)).text()

test('download submits the URLs of its input, and shows their progress', async () => {
  const { exit, rows, noted } = await spawned('download --limit 2', `# a comment\n\n${urls('a', 'b', 'none')}`)
  expect(exit).toBe(1)
  expect(rows.map((row) => row.split('\t')[1]).sort()).toEqual([`${origin.url}/a`, `${origin.url}/b`])
  for (const row of rows) expect(await contentOf(row.split('\t')[0]!)).toBe(new URL(row.split('\t')[1]!).pathname)
  expect(noted).toContain(`failed: ${origin.url}/none: Error while processing response, Received status code 404`)
  expect(noted).toMatch(/^3 of 3, 1 failed$/m)
  expect(noted).toMatch(/^2 stored, 1 failed$/m)
  const [job] = (await kit.client.jobs.list({ queue: 'downloader', limit: 1 })).jobs
  expect(job).toMatchObject({ group: new URL(origin.url).host })
})

test('download --no-wait does not wait for the downloads', async () => {
  const { exit, rows } = await run('download --no-wait --aggregation nightly', urls('a'))
  expect([exit, rows.length]).toEqual([0, 1])
  expect(await kit.reaches(Number(rows[0]!.split('\t')[0]), 'completed')).toMatchObject({ group: 'nightly' })
})

test('download reports an invalid line, and submits nothing', async () => {
  const { exit, noted } = await spawned('download', `${urls('a')}not a URL\n`)
  expect([exit, noted]).toEqual([2, 'sidejob download: line 2: expected a URL, got not a URL\n'])
  expect((await run('download')).exit).toBe(2)
  expect(origin.came).toEqual([])
})

test('callbacks resend previews its effects, and acts with --yes', async () => {
  let answers = 410
  origin.answer = (_, response) => response.writeHead(answers).end()
  const callback = { url: `${origin.url}/hook` }
  const { id } = await kit.client.jobs.enqueue({ class: 'count_words', callback })
  const state = async () => (await kit.client.jobs.get(id)).callback?.state
  await expect.poll(state).toBe('FAILED')
  answers = 200
  const dry = await run('callbacks resend')
  expect([dry.exit, dry.rows.length, dry.noted]).toEqual([
    0,
    1,
    '1 callbacks would be resent; add --yes to resend them\n',
  ])
  expect(dry.printed).toContain(`job ${id}\t${origin.url}/hook\t1 tries`)
  expect((await run('callbacks resend --host example.com --yes')).noted).toContain('0 resent')
  expect(origin.came).toHaveLength(1)
  expect((await run('callbacks resend --yes')).noted).toContain('1 resent')
  await expect.poll(state).toBe('DELIVERED')
  expect((await run('callbacks resend')).rows).toEqual([])
})

test('files purge previews its effects, and acts with --yes', async () => {
  origin.answer = ({ path }, response) => response.end(path)
  const { rows } = await run('download', urls('x', 'y'))
  const [first, second] = rows.map((row) => row.split('\t')[0]!) as [string, string]
  const log = `10.1.1.1 GET /files/${first.slice(0, 3)}/${first} 200\n`
  const dry = await run('files purge --named', log)
  expect(dry.rows.map((row) => row.split('\t')[0])).toEqual([first])
  expect(dry.noted).toBe('1 files, 0.0 MiB would be removed; add --yes to remove them\n')
  expect(await contentOf(first)).toMatch(/^\/[xy]$/)
  expect((await run('files purge --named --yes', log)).exit).toBe(0)
  await expect(kit.client.files.show(first)).rejects.toThrow('there is no such file')
  expect((await run('files purge --older-than 1h')).rows).toEqual([])
  await new Promise((resolve) => setTimeout(resolve, 1_100))
  const all = await run('files purge --older-than 1s --yes')
  expect(all.rows.map((row) => row.split('\t')[0])).toContain(second)
  expect((await kit.client.files.list()).files).toEqual([])
})

test('files purge does nothing unless the files are specified', async () => {
  expect(await run('files purge --yes')).toMatchObject({ exit: 2, printed: '' })
  expect(await run('files purge --named --yes', 'no id\n')).toMatchObject({ exit: 2, printed: '' })
  expect(await run('files purge --older-than soon --yes')).toMatchObject({ exit: 2, printed: '' })
})

test('an unknown option or an incomplete command is refused with the list of expected options', async () => {
  expect(await run('bulk')).toMatchObject({
    exit: 2,
    noted: expect.stringContaining('expected one of retry, terminate'),
  })
  expect(await spawned('download --fast')).toMatchObject({ exit: 2, noted: expect.stringContaining('--fast') })
  expect(await run('download --help')).toMatchObject({ exit: 0, printed: expect.stringContaining('--aggregation') })
})

test('an address without a server is explained', async () => {
  const { exit, noted } = await run('callbacks resend', '', 'http://127.0.0.1:18999')
  expect([exit, noted]).toEqual([
    1,
    'sidejob callbacks resend: Cannot reach http://127.0.0.1:18999 (ECONNREFUSED). Start `sidejob dev`, or set --url if it runs elsewhere\n',
  ])
})

test('help has a line for each command, and --help of a command lists only its own options', async () => {
  const { printed } = await run('--help')
  for (const name of commandNames()) expect(printed).toMatch(new RegExp(`^ {2}${name}( .*)? {2}[A-Z].{5,}$`, 'm'))
  expect(await run('help')).toMatchObject({ exit: 0, printed })
  expect(await run('')).toMatchObject({ exit: 0, printed })
  expect((await run('help run')).printed).toBe((await run('run --help')).printed)
  for (const name of ['create', 'completion', 'dev'])
    expect((await run(`${name} --help`)).printed).not.toMatch(/--(url|profile)\b/)
  expect(await run('create x --url http://127.0.0.1:1')).toMatchObject({
    exit: 2,
    noted: expect.stringContaining('--url'),
  })
})

test.each(['schedules --help', 'schedules -h', 'help schedules'])(
  '%s lists the commands of schedules',
  async (words) => {
    const { exit, printed } = await run(words)
    expect(exit).toBe(0)
    for (const verb of ['ls', 'show', 'add', 'pause', 'resume', 'run', 'rm'])
      expect(printed).toMatch(new RegExp(`^ {2}schedules ${verb}\\b`, 'm'))
    expect(printed).not.toContain('queues')
    expect((await run('schedules ls --help')).printed).toContain('--json')
  },
)

test('a command ends although its input stays open, as in a terminal', async () => {
  const env = { ...process.env, SIDEJOB_URL: kit.stack.url, SIDEJOB_API_KEY: kit.stack.apiKey }
  const child = spawn(process.execPath, [CLI, 'run', 'count_words', '-i', 'text="a"', '--args', '{}', '--wait'], {
    env,
  })
  const exit = new Promise((resolve) => child.once('close', resolve))
  expect(await exit).toBe(0)
  child.stdin.end()
})

test.each([
  ['lst', 'sidejob: unknown command "lst". Did you mean "sidejob ls"?'],
  ['logs 7', 'sidejob: unknown command "logs". Did you mean "sidejob log"?'],
  ['rnu double', 'sidejob: unknown command "rnu". Did you mean "sidejob run"?'],
  ['jobs ls', 'sidejob: unknown command "jobs". Did you mean "sidejob ls"?'],
  [
    'queues puase x',
    'sidejob queues: expected one of ls, pause, set, resume, got puase. Did you mean "sidejob queues pause"?',
  ],
  [
    'queues paus x',
    'sidejob queues: expected one of ls, pause, set, resume, got paus. Did you mean "sidejob queues pause"?',
  ],
  ['xyzzy', 'sidejob: unknown command "xyzzy". sidejob --help lists all commands'],
])('`sidejob %s` suggests the nearest command', async (words, noted) => {
  expect(await run(words)).toMatchObject({ exit: 2, noted: `${noted}\n`, printed: '' })
})

test('an address without the mount is refused with the right address', async () => {
  const app = await startReceiver(({ path }, response) => {
    const isKnown = path === '/.well-known/sidejob'
    response.writeHead(isKnown ? 200 : 404).end(isKnown ? '{"mount":"/_sidejob"}' : '404 Not Found')
  })
  const { exit, noted } = await run('ls', '', app.url)
  await app.close()
  expect(exit).toBe(1)
  expect(noted).toContain('got 404 Not Found. This Worker has sidejob below /_sidejob: use --url ')
  expect(noted).toContain(`${app.url}/_sidejob`)
})

test('a command ends without an error if its output pipe is closed', async () => {
  const command = `"${process.execPath}" "${CLI}" --help | head -1`
  const child = spawn('bash', ['-o', 'pipefail', '-c', command])
  const exit = new Promise((resolve) => child.once('close', resolve))
  const [printed, noted] = await Promise.all([text(child.stdout), text(child.stderr)])
  expect([await exit, printed, noted]).toEqual([0, 'sidejob <command> [options]\n', ''])
})

const OLD = '/usr/bin/node'
const oldVersion = spawnSync(OLD, ['--version'], { encoding: 'utf8' }).stdout?.trim() ?? ''

test.skipIf(!/^v(18|20)\./.test(oldVersion))('an old Node is refused in one sentence', () => {
  // Removes the types, because the package contains JavaScript.
  const code = stripTypeScriptTypes(readFileSync(CLI, 'utf8'))
  const { status, stderr } = spawnSync(OLD, ['--input-type=module', '-e', code], { encoding: 'utf8' })
  expect([status, stderr]).toEqual([
    1,
    `sidejob needs Node 22 or newer, but this is ${oldVersion}. Install a newer version from https://nodejs.org or with your version manager (nvm install 22)\n`,
  ])
})

test('doctor finds no faults in sound data', async () => {
  await kit.client.jobs.enqueue({ queue: 'default', class: 'noop', wait: '1h' })
  expect(await run('doctor')).toMatchObject({
    exit: 0,
    printed: '',
    noted: expect.stringMatching(/^\d+ jobs, no faults\n$/),
  })
})

test('doctor lists the faults of all jobs, and exits with 1', async () => {
  const sick = await startReceiver(({ path }, response) => {
    const second = path.includes('cursor=501')
    const answer = {
      faults: [{ who: second ? '502' : '7', what: 'is in 2 places' }],
      jobs: 500,
      cursor: second ? null : '501',
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  const { exit, rows, noted } = await run('doctor', '', sick.url)
  await sick.close()
  expect([exit, rows]).toEqual([1, ['7\tis in 2 places', '502\tis in 2 places']])
  expect(noted).toBe('1000 jobs, 2 faults\n')
})

test('doctor --repair shows the remedies, and repairs all jobs with --yes', async () => {
  const fault = { kind: 'job', who: '7', what: 'is in 2 places', remedy: 'it is put in one' }
  const asked: string[] = []
  const sick = await startReceiver(({ path }, response) => {
    asked.push(path)
    const page = { jobs: 1, cursor: path.includes('cursor=501') ? null : '501' }
    const answer = path.includes('repair') ? { repaired: [fault], left: [], ...page } : { faults: [fault], ...page }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  const dry = await run('doctor --repair', '', sick.url)
  const dryRow = '7\tis in 2 places\tit is put in one'
  expect([dry.exit, dry.rows]).toEqual([1, [dryRow, dryRow]])
  expect(asked.filter((path) => path.includes('repair'))).toEqual([])
  const done = await run('doctor --repair --yes', '', sick.url)
  await sick.close()
  const doneRow = `repaired\t${dryRow}`
  expect([done.exit, done.rows.slice(-2)]).toEqual([0, [doneRow, doneRow]])
  expect(done.noted).toContain('2 repaired, 0 left\n')
  expect(asked.filter((path) => path.includes('repair'))).toEqual(['/v1/doctor/repair', '/v1/doctor/repair?cursor=501'])
})
