import { isId } from '../../core/job.ts'
import { Lru } from '../../core/lru.ts'
import type { Store } from '../../redis/store.ts'
import type { Registry } from './registry.ts'

const REMEMBERED = 10_000
/** A delivery can change the class of a job, so isolates read the class again after this many milliseconds. */
const KNOWN_FOR = 60_000

const SERIES = 1_000
const OF_CALL = 100

type Named = { queue: string; class: string }
type Series = Named & { first: number; last: number; until: number }

function seriesOf(made: readonly { id: number }[], inputs: readonly Named[], until: number): Series[] {
  const all: Series[] = []
  let before: Series | undefined
  for (let i = 0; i < made.length; i++) {
    const { id } = made[i]!
    const { queue, class: name } = inputs[i]!
    if (before && before.last === id - 1 && before.class === name && before.queue === queue) before.last = id
    else all.push((before = { queue, class: name, first: id, last: id, until }))
  }
  return all
}

export function createClasses({ store, registry }: { store: Store; registry: Registry }) {
  const known = new Lru<string, Named & { until: number }>(REMEMBERED)
  const note = (id: number | string, { queue, class: name }: Named): void => {
    known.set(String(id), { queue, class: name, until: store.now() + KNOWN_FOR })
  }
  const series: Series[] = []
  const madeWith = (id: number) => series.findLast(({ first, last }) => first <= id && id <= last)
  async function look(job: string): Promise<Named> {
    const { id, document } = await store.inspect(job)
    const named = { queue: document.queue, class: document.class }
    note(id, named)
    return named
  }
  return {
    note,
    noteMade(made: readonly { id: number }[], inputs: readonly Named[]): void {
      series.push(...seriesOf(made, inputs, store.now() + KNOWN_FOR).slice(0, OF_CALL))
      if (series.length > SERIES) series.splice(0, series.length - SERIES)
    },
    async of(job: string) {
      const noted = isId(job) ? (known.get(job) ?? madeWith(Number(job))) : undefined
      const named = noted && noted.until > store.now() ? noted : await look(job)
      return { name: named.class, found: await registry.find(named.queue, named.class) }
    },
  }
}

export type Classes = ReturnType<typeof createClasses>
