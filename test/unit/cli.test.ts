import { chmodSync, mkdirSync, mkdtempSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { messageOf } from '../../src/cli/failures.ts'
import { createIo } from '../../src/cli/io.ts'
import { projectCommands } from '../../src/cli/project/index.ts'
import { profileCommands, targetOf } from '../../src/cli/target.ts'
import { runInProcess } from '../e2e/cli/in-process.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sidejob-cli-'))
  vi.stubEnv('SIDEJOB_DIR', folder)
  vi.stubEnv('SIDEJOB_PROFILES', join(folder, 'config', 'profiles.json'))
  for (const name of ['SIDEJOB_URL', 'SIDEJOB_API_KEY', 'SIDEJOB_PROFILE']) vi.stubEnv(name, undefined)
})
afterEach(() => vi.unstubAllEnvs())

const stackAt = (url: string) => writeFileSync(join(folder, 'stack.json'), JSON.stringify({ url, apiKey: 'dev_7' }))

test.each([
  ['PORT', 'abc', []],
  ['--port', '99999', ['--port', '99999']],
])('sidejob dev names %s if its value %s is no port', async (setting, value, words) => {
  vi.stubEnv('PORT', setting === 'PORT' ? value : '8787')
  const { exit, noted } = await runInProcess(['dev', ...words])
  expect([exit, noted]).toEqual([2, `sidejob dev: ${setting}: expected a whole number from 1 to 65535, got ${value}\n`])
})

test('a key of the environment is not sent to an address that a folder names', () => {
  stackAt('https://evil.example')
  vi.stubEnv('SIDEJOB_API_KEY', 'sj_production')
  expect(() => targetOf({})).toThrow('SIDEJOB_API_KEY is not sent to https://evil.example')
  expect(() => targetOf({ url: 'https://other.example' })).toThrow('SIDEJOB_API_KEY is not sent to')
  expect(targetOf({ url: 'https://other.example', key: 'own' })).toEqual({ url: 'https://other.example', key: 'own' })
  vi.stubEnv('SIDEJOB_URL', 'https://jobs.example.com/')
  expect(targetOf({})).toEqual({ url: 'https://jobs.example.com', key: 'sj_production' })
  vi.stubEnv('SIDEJOB_URL', undefined)
  stackAt('http://127.0.0.1:9999')
  expect(targetOf({})).toEqual({ url: 'http://127.0.0.1:9999', key: 'sj_production' })
})

test('the key of a local stack is found in its folder, and is sent to that stack only', async () => {
  stackAt('http://127.0.0.1:9999/_sidejob')
  expect(targetOf({})).toEqual({ url: 'http://127.0.0.1:9999/_sidejob', key: 'dev_7' })
  expect(targetOf({ url: 'http://127.0.0.1:9999' }).key).toBe('dev_7')
  expect(targetOf({ url: 'http://127.0.0.1:9998' }).key).toBe('')
  expect(targetOf({ url: 'https://jobs.example.com' }).key).toBe('')
  const printed: string[] = []
  await projectCommands.key!.run({} as never, {}, { print: (line: string) => printed.push(line) } as never, [])
  expect(printed).toEqual(['dev_7'])
})

test('without a running stack, sidejob key says where to run it', async () => {
  const noted: string[] = []
  const exit = await projectCommands.key!.run(
    {} as never,
    {},
    { note: (line: string) => noted.push(line) } as never,
    [],
  )
  expect([exit, noted[0]]).toEqual([1, expect.stringContaining('in the folder of `sidejob dev` while it runs')])
})

test('a profile named with --profile keeps its key to its own address', async () => {
  const given = { url: 'https://jobs.example.com', key: 'sj_secret' }
  await profileCommands['profiles set']!.run({} as never, given, { tell: () => {} } as never, ['work'])
  expect(targetOf({ profile: 'work' }).key).toBe('sj_secret')
  expect(targetOf({ profile: 'work', url: 'https://evil.example' }).key).toBe('')
})

test('the file of profiles is private, also if it was not before', async () => {
  mkdirSync(join(folder, 'config'))
  const file = join(folder, 'config', 'profiles.json')
  writeFileSync(file, '{}')
  chmodSync(file, 0o644)
  const given = { url: 'https://jobs.example.com', key: 'sj_secret' }
  await profileCommands['profiles set']!.run({} as never, given, { tell: () => {} } as never, ['work'])
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('a profile without a key is not saved', async () => {
  expect(await runInProcess(['profiles', 'set', 'work', '--url', 'https://jobs.example.com'])).toMatchObject({
    exit: 2,
    noted: 'sidejob profiles set: expected --key, got none\n',
  })
})

test.each([
  ['limits set mine --concurrency ten', '--concurrency: expected a whole number above 0, got ten'],
  ['limits set mine --rate ten', '--rate: expected a whole number above 0, got ten'],
  ['queues set media --lanes ten', '--lanes: expected a whole number above 0, got ten'],
  ['queues set media --batch 0', '--batch: expected a whole number above 0, got 0'],
  ['read 7 out --max ten', '--max: expected a whole number above 0, got ten'],
  ['run double --waits', "Unknown option '--waits'. sidejob run --help lists the options"],
  ['run double -n', "Unknown option '-n'. sidejob run --help lists the options"],
  ['run', 'expected <class>, got nothing: sidejob run <class>'],
])('sidejob %s is refused before a request, with a remedy', async (words, message) => {
  const [, name] = /^((?:\w+ set|\w+))/.exec(words)!
  expect(await runInProcess(words.split(' '))).toEqual({
    exit: 2,
    printed: '',
    noted: `sidejob ${name}: ${message}\n`,
  })
})

test('help for an unknown command suggests a known one', async () => {
  expect(await runInProcess(['help', 'shov'])).toEqual({
    exit: 2,
    printed: '',
    noted: 'sidejob: unknown command "shov". Did you mean "sidejob show"?\n',
  })
})

test('a failure that repeats its cause is shown once', async () => {
  const cause = new Error('Not logged in')
  expect(await messageOf(new Error('Not logged in\nRun `npx wrangler login`', { cause }), undefined)).toBe(
    'Not logged in\nRun `npx wrangler login`',
  )
  expect(await messageOf(new Error('deploy failed', { cause }), undefined)).toBe('deploy failed: Not logged in')
})

test('a folder without a Worker leads to sidejob create, not to another refusal', async () => {
  for (const command of ['dev', 'init', 'deploy'])
    expect((await runInProcess([command, folder])).noted).toContain('Create a project with npx sidejob create')
})

test('foreign control characters are shown, not executed, and JSON stays JSON', () => {
  const printed: string[] = []
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation((text) => Boolean(printed.push(String(text))))
  const value = { error: 'a\u001b]0;PWNED\u0007\u009b2J\r\tb\nc' }
  createIo(false).show(value)
  createIo(true).show(value)
  spy.mockRestore()
  expect(printed[0]).toBe('error  a\\u001b]0;PWNED\\u0007\\u009b2J\\u000d\tb\nc\n')
  expect(JSON.parse(printed[1]!)).toEqual(value)
})
