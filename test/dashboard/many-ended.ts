import type { HistoryQuery } from '../../src/core/schemas/history.ts'
import { sqliteDatabase } from '../../src/history/sqlite.ts'
import { createHistoryStore } from '../../src/history/store.ts'
import { NS, START } from '../history/many.ts'

/** Larger than all ids in Redis. */
export const FIRST_HISTORY_ID = 1_000_000

/** Measures CPU time in milliseconds, because other programs on the machine affect elapsed time. */
export function openPast(file: string) {
  const db = sqliteDatabase(file)
  let spent = 0
  const store = createHistoryStore({
    ...db,
    async all(statement) {
      const before = process.cpuUsage()
      const rows = await db.all(statement)
      const { user, system } = process.cpuUsage(before)
      spent += (user + system) / 1_000
      return rows
    },
  })
  return { db, store, spent: () => spent }
}

export type Ended = {
  query: string
  filter: HistoryQuery
  /** SQL conditions. `index`: conditions that an index serves. `rest`: all other conditions. */
  index?: string
  rest?: string
}

export const windowOf = ({ index = 'true' }: Ended): string =>
  `SELECT * FROM ends WHERE ns = '${NS}' AND ${index} ORDER BY ended DESC, job DESC LIMIT 10000`

export function endedLists(ended: number): [name: string, list: Ended][] {
  const last = START + ended * 10
  const [since, until] = [last - 400_000, last - 300_000]
  const span = new URLSearchParams({ since: new Date(since).toISOString(), until: new Date(until).toISOString() })
  const customer = "labels ->> '$.customer' = '77'"
  const failed = "status = 'failed'"
  const kind = '0000000000000005'
  return Object.entries({
    'no condition': { query: '', filter: {} },
    'one class': { query: 'class=class7', filter: { class: 'class7' }, index: "class = 'class7'" },
    'one queue': { query: 'queue=queue3', filter: { queue: 'queue3' }, index: "queue = 'queue3'" },
    'failed jobs': { query: 'status=failed', filter: { status: ['failed'] }, index: failed },
    'completed jobs': { query: 'status=completed', filter: { status: ['completed'] }, rest: "status = 'completed'" },
    'a kind of error': { query: `error=${kind}`, filter: { error: kind }, index: `error_kind = '${kind}'` },
    'a label': { query: 'labels.customer=77', filter: { labels: { customer: '77' } }, index: customer },
    'a label and a class': {
      query: 'labels.customer=77&class=class40',
      filter: { labels: { customer: '77' }, class: 'class40' },
      index: customer,
      rest: "class = 'class40'",
    },
    'failed jobs of a class': {
      query: 'status=failed&class=class50',
      filter: { status: ['failed'], class: 'class50' },
      index: failed,
      rest: "class = 'class50'",
    },
    args: {
      query: `args.n=${ended - 5}`,
      filter: { args: { n: String(ended - 5) } },
      rest: `args ->> '$.n' = ${ended - 5}`,
    },
    'args of no job': { query: 'args.n=-1', filter: { args: { n: '-1' } }, rest: 'false' },
    'a text in errors': {
      query: 'status=failed&text=BROKEN+1',
      filter: { status: ['failed'], text: 'BROKEN 1' },
      index: failed,
      rest: "error_text LIKE '%broken 1%'",
    },
    'a text of no job': { query: 'text=nothing', filter: { text: 'nothing' }, rest: 'false' },
    'long runs': { query: 'longer=990ms', filter: { longer: 990 }, rest: 'took >= 990' },
    'a time': { query: String(span), filter: { since, until }, index: `ended >= ${since} AND ended < ${until}` },
  } satisfies Record<string, Ended>)
}
