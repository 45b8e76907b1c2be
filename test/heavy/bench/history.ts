// `npm run bench:history -- 100000` measures lists in SQLite with 100,000 ended jobs (default: ten million).

import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HistoryFilter } from '../../../src/history/filter.ts'
import { sqliteDatabase } from '../../../src/history/sqlite.ts'
import { createHistoryStore } from '../../../src/history/store.ts'
import { fillHistory, NS, START } from '../../history/many.ts'

const ROWS = Number(process.argv[2] ?? 10_000_000)
const MOST_MS = 100
const TRIES = 5

const middleOf = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[Math.floor(TRIES / 2)]!

const last = START + ROWS * 10
const filters: Record<string, HistoryFilter> = {
  'no condition': {},
  'one class': { class: 'class7' },
  'one queue': { queue: 'queue3' },
  'failed jobs': { status: 'failed' },
  'completed jobs': { status: 'completed' },
  'one kind of error': { error: '0000000000000005' },
  'a label': { labels: { customer: '77' } },
  'a label and a class': { labels: { customer: '77' }, class: 'class40' },
  'failed jobs of one class': { class: 'class50', status: 'failed' },
  'args by path, found': { args: { n: String(ROWS - 5) } },
  'args by path, not found': { args: { n: '-1' } },
  'a text in errors': { status: 'failed', text: 'broken 1' },
  'a text that no job has': { text: 'nothing has this' },
  'runs above 990 ms': { longer: 990 },
  'an hour in the past': { since: last - 50_000_000, until: last - 46_400_000 },
  'a class in the distant past': { class: 'class7', until: START + 1_000_000 },
}

const dir = mkdtempSync(join(tmpdir(), 'sidejob-history-'))
try {
  const file = join(dir, 'history.sqlite')
  const db = sqliteDatabase(file)
  const store = createHistoryStore(db)
  await fillHistory(db, ROWS, { say: console.error })
  const [counted] = await db.all(['SELECT count(*) AS n FROM ends WHERE ns = ?', NS])
  console.log(`${Number(counted!.n).toLocaleString('en')} rows, ${Math.round(statSync(file).size / 1e6)} MB\n`)
  console.log('| list | rows | first, ms | median, ms | median of CPU, ms |\n|---|---|---|---|---|')
  let slow = 0
  for (const [name, filter] of Object.entries(filters)) {
    const [times, used]: [number[], number[]] = [[], []]
    let found = 0
    for (let n = 0; n < TRIES; n++) {
      const [at, cpu] = [performance.now(), process.cpuUsage()]
      const { rows } = await store.list(NS, { ...filter, limit: 50 })
      times.push(performance.now() - at)
      const { user, system } = process.cpuUsage(cpu)
      used.push((user + system) / 1_000)
      found = rows.length
    }
    const median = middleOf(used)
    if (median > MOST_MS) slow++
    console.log(
      `| ${name} | ${found} | ${times[0]!.toFixed(1)} | ${middleOf(times).toFixed(1)} | ${median.toFixed(1)} |`,
    )
  }
  db.close()
  if (slow > 0) {
    console.error(`${slow} lists took more than ${MOST_MS} ms`)
    process.exitCode = 1
  }
} finally {
  rmSync(dir, { recursive: true, force: true })
}
