import type { Encoded } from '../../core/codec/value.ts'
import type { Snapshot } from '../../core/run.ts'
import { shownItem } from '../../redis/item.ts'
import { countsOf, sideOf } from '../../redis/record.ts'
import type { Store } from '../../redis/store.ts'

const PAGE = 1_000

type PortOf = { id: number; dir: 'in' | 'out'; port: string }

async function scanned<P extends { cursor: string | null }, V>(
  read: (cursor: string) => Promise<P>,
  membersOf: (page: P) => Record<string, V>,
): Promise<Record<string, V>> {
  const all: Record<string, V> = Object.create(null)
  for (let cursor: string | null = '0'; cursor !== null; ) {
    const page: P = await read(cursor)
    Object.assign(all, membersOf(page))
    cursor = page.cursor
  }
  return all
}

export async function stepPage(store: Store, id: number, cursor: string) {
  const { kept: _, ...page } = await store.steps(id, cursor)
  return page
}

export function createReader(store: Store) {
  async function allOf(
    { id, dir, port }: PortOf,
    { items, more }: { items: string[]; more: number },
  ): Promise<string[]> {
    const all = [...items]
    const wanted = items.length + more
    while (all.length < wanted) {
      const page = await store.values(id, dir, port, all.length, PAGE)
      if (page.length === 0) break
      all.push(...page)
    }
    return all
  }

  return {
    async page(id: number, port: string, after: number) {
      const { document } = await store.inspect(String(id))
      const { pushed, taken } = countsOf(document, 'i', port) ?? { pushed: 0, taken: 0 }
      const skip = after - taken
      const items = await store.values(id, 'in', port, Math.max(0, skip), PAGE)
      const values = items.map(shownItem)
      return { values, more: Math.max(0, pushed - taken - skip - values.length) }
    },

    async peek(of: PortOf[]) {
      const rows = await store.peek(
        of.map(({ id, dir, port }) => ({ id, dir: sideOf(dir), port })),
        PAGE,
      )
      return Promise.all(
        rows.map(async (row, i) => row && { taken: row.taken, values: (await allOf(of[i]!, row)).map(shownItem) }),
      )
    },

    steps: (id: number): Promise<Record<string, Encoded>> =>
      scanned(
        (cursor) => store.steps(id, cursor),
        ({ steps }) => steps,
      ),

    children: (id: number): Promise<Snapshot['children']> =>
      scanned(
        (cursor) => store.children(id, cursor),
        ({ children }) => children,
      ),
  }
}
