import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SqlDatabase } from '../../src/history/database.ts'
import type { HistoryFilter } from '../../src/history/filter.ts'
import { createHistoryStore, type EndRow, type HistoryStore } from '../../src/history/store.ts'
import { databases } from './databases.ts'
import { row, T } from './rows.ts'

const NS = 'sidejob:'

const failed = (text: string) => ({
  status: 'failed',
  error: JSON.stringify({ message: text }),
  error_kind: '0123456789abcdef',
  error_text: text,
})

const rows: EndRow[] = [
  row(1, { labels: '{"customer":"7","plan":"pro"}', args: '{"order":{"id":4711,"paid":true},"list":[1,2]}' }),
  row(2, { labels: '{"customer":"7"}', class: 'mail', queue: 'post', ...failed('Card 4711 was Declined') }),
  row(3, { labels: '{"customer":"8"}', class: 'mail', queue: 'post', took: 90_000, args: '"plain text"' }),
  row(4, { status: 'terminated', error: '{"message":"terminated"}', error_text: 'terminated', grp: 'g', tag: 'gpu' }),
  row(5, { args: '~fabcdefgh.sealed', parent: 1, name: 'child', version: 'v2' }),
  row(6, { args: '{"order":{"id":"4711","paid":false}}', ...failed('timeout') }),
  row(7, { args: '{"we.ird\'s":null}' }),
]

describe.each(Object.entries(databases))('with %s', (_, open) => {
  let opened: { db: SqlDatabase; close: () => unknown }
  let store: HistoryStore
  beforeAll(async () => {
    opened = await open()
    store = createHistoryStore(opened.db)
    await store.write(NS, { ends: rows, runs: [] })
    await store.write(NS, { ends: rows.slice(0, 3), runs: [] })
    await store.write('other:', { ends: [row(1)], runs: [] })
  })
  afterAll(() => opened.close())

  const ids = async (filter: HistoryFilter) => (await store.list(NS, filter)).rows.map(({ job }) => job)

  const cases: [HistoryFilter, number[]][] = [
    [{}, [7, 6, 5, 4, 3, 2, 1]],
    [{ status: 'failed' }, [6, 2]],
    [{ status: ['failed', 'terminated'] }, [6, 4, 2]],
    [{ status: 'completed', class: 'mail' }, [3]],
    [{ class: 'mail' }, [3, 2]],
    [{ queue: 'post' }, [3, 2]],
    [{ group: 'g', tag: 'gpu' }, [4]],
    [{ error: '0123456789abcdef' }, [6, 2]],
    [{ error: '0123456789abcdef', class: 'mail' }, [2]],
    [{ labels: { customer: '7' } }, [2, 1]],
    [{ labels: { customer: '7', plan: 'pro' } }, [1]],
    [{ labels: { customer: '7' }, status: 'failed', queue: 'post' }, [2]],
    [{ labels: { customer: '9' } }, []],
    [{ args: { 'order.id': '4711' } }, [6, 1]],
    [{ args: { 'order.paid': 'true' } }, [1]],
    [{ args: { 'list.1': '2' } }, [1]],
    [{ args: { 'order.id': '4711', 'order.paid': 'false' } }, [6]],
    [{ text: 'DECLINED' }, [2]],
    [{ text: 'plain' }, [3]],
    [{ text: "'; DROP TABLE ends; --" }, []],
    [{ class: "mail' OR '1'='1" }, []],
    [{ parent: 1 }, [5]],
    [{ version: 'v2' }, [5]],
    [{ longer: 60_000 }, [3]],
    [{ since: T + 3, until: T + 6 }, [5, 4, 3]],
    [{ labels: { customer: '7' }, since: T + 2 }, [2]],
  ]
  test.each(cases)('%j', async (filter, expected) => {
    expect(await ids(filter)).toEqual(expected)
  })

  test('pages continue by the cursor, and show each job once', async () => {
    const seen: unknown[] = []
    let cursor: string | null | undefined
    do {
      const page = await store.list(NS, { limit: 2, ...(cursor ? { cursor } : {}) })
      seen.push(...page.rows.map(({ job }) => job))
      cursor = page.cursor
    } while (cursor)
    expect(seen).toEqual([7, 6, 5, 4, 3, 2, 1])
  })

  test('the history of another namespace is not found, and is erased separately', async () => {
    expect((await store.list('other:', {})).rows).toHaveLength(1)
    expect(await store.forget('other:', Number.MAX_SAFE_INTEGER)).toBe(true)
    expect(await store.forget('other:', Number.MAX_SAFE_INTEGER)).toBe(false)
    const left = await opened.db.all(['SELECT count(*) AS n FROM ends WHERE ns = ?', NS])
    expect(left).toEqual([{ n: rows.length }])
  })

  test('a page that finds nothing reports how far it searched, and the next page continues there', async () => {
    const many = Array.from({ length: 12_000 }, (_, n) => row(100 + n, { class: 'bulk' }))
    await store.write(NS, { ends: many, runs: [] })
    const first = await store.list(NS, { class: 'bulk', text: 'nothing' })
    expect(first).toMatchObject({ rows: [], searchedTo: T + 100 + 2_000 })
    expect(await store.list(NS, { class: 'bulk', text: 'nothing', cursor: first.cursor! })).toEqual({
      rows: [],
      cursor: null,
    })
  })

  test('many jobs whose args are Chinese are stored, although D1 accepts parameters of at most 2 MB', async () => {
    const args = JSON.stringify('字'.repeat(10_000))
    const ends = Array.from({ length: 120 }, (_, n) => row(n, { args, labels: '{"城市":"北京"}' }))
    // The local D1 accepts larger parameters.
    const strict = createHistoryStore({
      ...opened.db,
      async batch(statements) {
        if (statements.flat().some((value) => Buffer.byteLength(String(value)) > 2_000_000))
          throw new Error('D1_ERROR: string or blob too big: SQLITE_TOOBIG')
        await opened.db.batch(statements)
      },
    })
    await strict.write('chinese:', { ends, runs: [] })
    const page = await store.list('chinese:', { labels: { 城市: '北京' }, limit: 200 })
    expect(page.rows.map((end) => end.args)).toEqual(ends.map(() => args))
  })

  test('every list reads an index in the order of the list', async () => {
    for (const [filter] of cases) {
      const plans: string[] = []
      const spied = createHistoryStore({
        ...opened.db,
        async all(statement) {
          const [text, ...values] = statement
          if (/ORDER BY/.test(text) && !/EXPLAIN/.test(text))
            for (const { detail } of await opened.db.all([`EXPLAIN QUERY PLAN ${text}`, ...values]))
              plans.push(String(detail))
          return opened.db.all(statement)
        },
      })
      await spied.list(NS, filter)
      expect(plans.filter((line) => /TEMP B-TREE|^SCAN/.test(line))).toEqual([])
    }
  })
})
