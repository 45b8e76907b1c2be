// What several tabs ask for at once is asked for once: an answer is shared for a moment within an isolate.

import { Lru } from '../core/lru.ts'

const REMEMBERED = 500

/**
 * Makes something that is asked for at most once in so many milliseconds, for each owner and name.
 *
 * @example const shared = createShared(); await shared(engine, 'queues', 1_000, () => engine.queues())
 */
export function createShared(now: () => number = Date.now) {
  const owners = new WeakMap<object, Lru<string, { at: number; answer: Promise<unknown> }>>()

  return async <T>(owner: object, name: string, fresh: number, ask: () => Promise<T>): Promise<T> => {
    let answers = owners.get(owner)
    if (!answers) owners.set(owner, (answers = new Lru(REMEMBERED)))
    const last = answers.get(name)
    if (last && now() - last.at < fresh) return (await last.answer) as T
    const answer = ask()
    answers.set(name, { at: now(), answer })
    return answer.catch((error) => {
      answers.delete(name)
      throw error
    })
  }
}
