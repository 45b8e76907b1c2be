// What several tabs ask for at once is asked for once: an answer is shared for a moment within an isolate.

import { Lru } from '../core/lru.ts'

const REMEMBERED = 500

export type Fresh<T> = number | ((answer: T) => number)

/**
 * Makes a store of answers, each asked for at most once in so many milliseconds, for each owner and name. Who has changed
 * something forgets what its owner was told.
 *
 * @example const shared = createShared(); await shared.take(engine, 'queues', 1_000, () => engine.queues())
 */
export function createShared(now: () => number = Date.now) {
  const owners = new WeakMap<object, Lru<string, { until: number; answer: Promise<unknown> }>>()

  /** `fresh`: in milliseconds, and longer for an answer that cost more. */
  async function take<T>(owner: object, name: string, fresh: Fresh<T>, ask: () => Promise<T>): Promise<T> {
    let answers = owners.get(owner)
    if (!answers) owners.set(owner, (answers = new Lru(REMEMBERED)))
    const last = answers.get(name)
    if (last && now() < last.until) return (await last.answer) as T
    const begun = now()
    const answer = ask()
    const kept = { until: Number.POSITIVE_INFINITY, answer }
    answers.set(name, kept)
    try {
      const found = await answer
      kept.until = begun + (typeof fresh === 'number' ? fresh : fresh(found))
      return found
    } catch (error) {
      answers.delete(name)
      throw error
    }
  }

  return { take, forget: (owner: object) => void owners.delete(owner) }
}
