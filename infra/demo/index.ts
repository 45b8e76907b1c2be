// `npm run demo`

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '../../src/client/index.ts'
import { noteOf, type StackNote, startLocalStack } from '../stack.ts'
import { type Counted, countWords, patientClient } from './count.ts'
import { differences, directCount } from './direct.ts'
import { type Reading, read, spent } from './meter.ts'
import { progress } from './progress.ts'
import { allTexts, type Text } from './texts.ts'

const { env } = process
const ENOUGH = { files: 300, bytes: 1_000_000 }
const TOP = 20

type Target = { url: string; key: string; note?: StackNote; close: () => Promise<void> }

let close = async () => {}
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => void close().finally(() => process.exit(1)))

try {
  const texts = enoughTexts()
  const target = (await runningStack()) ?? (await ownStack())
  close = target.close
  try {
    await demonstrate(target, texts)
  } finally {
    await close()
  }
} catch (error) {
  console.error(`demo: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}

async function demonstrate({ url, key, note }: Target, texts: Text[]) {
  const client = patientClient(url, key)
  const before = await read(client, note)
  const started = performance.now()
  const page = (id: number) => console.log(`Its page: ${url}/ui/jobs/${id}`)
  const counted = await countWords(client, texts, progress(texts.length, 'files'), page)
  const seconds = (performance.now() - started) / 1000
  report(counted, texts.length + 1, seconds, spent(before, await read(client, note)))
  const direct = directCount(texts)
  const wrong = differences(counted.total, direct)
  if (wrong.length > 0)
    throw new Error(`a direct count differs in ${wrong.length} words: ${wrong.slice(0, 5).join(', ')}`)
  const words = [...direct.values()].reduce((sum, n) => sum + n, 0)
  console.log(`A direct count has the same result: ${figure(words)} words, ${figure(direct.size)} different.`)
}

function report({ total }: Counted, jobs: number, seconds: number, { runs, lost, trips, billed, messages }: Reading) {
  const words = Object.entries(total).sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
  console.log(`\nThe ${TOP} most frequent words`)
  for (const [word, n] of words.slice(0, TOP)) console.log(`${figure(n).padStart(9)}  ${word}`)
  const perRun = (n?: number) => (n === undefined ? 'not available' : `${figure(n)} (${(n / runs).toFixed(2)} per run)`)
  const rows = {
    Jobs: figure(jobs),
    Runs: lost > 0 ? `${figure(runs)}, and ${figure(lost)} lost runs, which were repeated` : figure(runs),
    Time: `${seconds.toFixed(1)} s, ${figure(jobs / seconds)} jobs/s`,
    'Redis round trips': perRun(trips),
    'Redis commands': perRun(billed),
    'QStash messages': messages === undefined ? 'not available' : figure(messages),
  }
  console.log()
  for (const [name, value] of Object.entries(rows)) console.log(`${name.padEnd(18)} ${value}`)
}

function figure(n: number) {
  return Math.round(n).toLocaleString('en')
}

function enoughTexts() {
  const texts = allTexts()
  const bytes = texts.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
  if (texts.length < ENOUGH.files || bytes < ENOUGH.bytes) {
    throw new Error(
      `node_modules has ${texts.length} texts of ${figure(bytes)} bytes, expected at least ${ENOUGH.files} of ${figure(ENOUGH.bytes)}: run npm install`,
    )
  }
  console.log(`Counting the words of ${texts.length} files, ${(bytes / 1e6).toFixed(1)} MB, with one job per file`)
  return texts
}

async function runningStack(): Promise<Target | undefined> {
  const url = (env.SIDEJOB_URL || `http://127.0.0.1:${env.PORT || 8787}`).replace(/\/+$/, '')
  const note = noteFor(url)
  const key = env.SIDEJOB_API_KEY || note?.apiKey || ''
  const client = createClient({ url, key, attempts: 1 })
  try {
    await client.system.health()
    await client.stats.show()
  } catch (error) {
    if (env.SIDEJOB_URL) throw new Error(`${url} cannot be used: ${(error as Error).message}`)
    return undefined
  }
  console.log(`Using the sidejob at ${url}`)
  return { url, key, note, close: async () => {} }
}

function noteFor(url: string): StackNote | undefined {
  try {
    const note: StackNote = JSON.parse(readFileSync(noteOf(env.SIDEJOB_DIR || '.sidejob'), 'utf8'))
    return note.url === url ? note : undefined
  } catch {
    return undefined
  }
}

async function ownStack(): Promise<Target> {
  console.log('No sidejob is running here: starting one')
  const dir = mkdtempSync(join(tmpdir(), 'sidejob-demo-'))
  const stack = await startLocalStack({ dir, persist: false, say: console.log })
  console.log(stack.redis.describe)
  return {
    url: stack.url,
    key: stack.apiKey,
    note: stack.note,
    async close() {
      await stack.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
