import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiError, createClient } from '../../../src/client/index.ts'
import { type Stack, startDev } from '../../../src/dev/index.ts'
import { kind } from '../../kit/index.ts'
import { makeMistakes, mistakes } from './mistakes.ts'

const path = new URL('../../../docs/mistakes.md', import.meta.url)
const page = readFileSync(path, 'utf8')

const rows = new Map(
  [...page.matchAll(/^\| ([^|]+) \| `([^`]+)` \|/gm)].map(([, mistake, says]) => [mistake!, says!] as const),
)

const project = makeMistakes()
let stack: Stack
const lines: string[] = []
beforeAll(async () => {
  const options = {
    project: project.dir,
    port: 0,
    redis: kind,
    persist: false,
    say: (line: string) => void lines.push(line),
  }
  stack = await startDev(options)
})
afterAll(async () => {
  await stack?.close()
  project.remove()
})

async function until<T>(find: () => T | undefined): Promise<T> {
  for (;;) {
    const found = find()
    if (found !== undefined) return found
    await new Promise((done) => setTimeout(done, 20))
  }
}

const plain = (text: string): string =>
  text
    .split('\n')[0]!
    .replace(/#\d+/, '#7')
    .replace(/\b\d+ ms\b(?! )/, '12 ms')
    .replace(/ \d+ ms /, ' 12 ms ')
    .replace(/job \d+/g, 'job 7')

const client = () => createClient({ url: stack.url, key: stack.apiKey })

test.each(Object.keys(mistakes.runs))('%s', async (name) => {
  const { id } = await client().jobs.enqueue({ class: name, inputs: { n: [1] } })
  const line = await until(() => lines.find((one) => one.startsWith(`✗ ${name} #${id} `)))
  expect(plain(line)).toBe(rows.get(mistakes.runs[name as keyof typeof mistakes.runs]))
})

test.each(Object.keys(mistakes.calls))('%s', async (name) => {
  const { call } = mistakes.calls[name]!
  const error = await Promise.resolve(call(client())).then(
    () => undefined,
    (refusal: ApiError) => refusal,
  )
  expect(plain(`${error?.status} ${error?.message}`)).toBe(rows.get(name))
})

test('a test shows each row of the page', () => {
  const shown = new Set([...Object.values(mistakes.runs), ...Object.keys(mistakes.calls)])
  expect([...rows.keys()].filter((mistake) => !shown.has(mistake))).toEqual([])
})
