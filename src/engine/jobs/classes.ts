// Which class a job is of, for whoever has only its id: what is written to it, and what it answers, is checked by that.

import { isId } from '../../core/job.ts'
import { Lru } from '../../core/lru.ts'
import type { Store } from '../../redis/store.ts'
import type { Registered, Registry } from './registry.ts'

/** Jobs that are remembered. */
const REMEMBERED = 10_000
/** A delivery can be given back under another class: who has not done that itself looks again after so long. */
const KNOWN_FOR = 60_000

type Named = { queue: string; class: string }

/**
 * Makes the memory. A job that is not remembered costs a look at it, once in each isolate.
 *
 * @example const found = await classes.of('7')
 */
export function createClasses({ store, registry }: { store: Store; registry: Registry }) {
  const known = new Lru<string, Named & { until: number }>(REMEMBERED)
  const note = (id: number | string, { queue, class: name }: Named): void => {
    known.set(String(id), { queue, class: name, until: store.now() + KNOWN_FOR })
  }
  async function look(job: string): Promise<Named> {
    const { id, document } = await store.inspect(job)
    const named = { queue: document.queue, class: document.class }
    note(id, named)
    return named
  }
  return {
    note,
    async of(job: string): Promise<{ name: string; found: Registered | undefined }> {
      const noted = isId(job) ? known.get(job) : undefined
      const named = noted && noted.until > store.now() ? noted : await look(job)
      return { name: named.class, found: await registry.find(named.queue, named.class) }
    },
  }
}

export type Classes = ReturnType<typeof createClasses>
