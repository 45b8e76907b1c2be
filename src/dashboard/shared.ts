// What several tabs ask for at once is asked for once: an answer is shared for a moment within an isolate.

import { Lru } from '../core/lru.ts'

const REMEMBERED = 500

export type Fresh<T> = number | ((answer: T) => number)

/** `round`: how often its owner had forgotten what it was told, when this was asked. */
type Kept = { until: number; round: number; answer: Promise<unknown> }

/**
 * Makes a store of answers, each asked for at most once in so many milliseconds, for each owner and name. Who has changed
 * something forgets what its owner was told.
 *
 * @example const shared = createShared(); await shared.take(engine, 'queues', 1_000, () => engine.queues())
 */
export function createShared(now: () => number = Date.now) {
  const owners = new WeakMap<object, { round: number; answers: Lru<string, Kept> }>()

  function ownOf(owner: object) {
    let own = owners.get(owner)
    if (!own) owners.set(owner, (own = { round: 0, answers: new Lru(REMEMBERED) }))
    return own
  }

  /** Whether it would not be asked for again. */
  function isFresh(owner: object, name: string): boolean {
    const { round, answers } = ownOf(owner)
    const last = answers.get(name)
    return last !== undefined && now() < last.until && last.round === round
  }

  /** `fresh`: in milliseconds, and longer for an answer that cost more. */
  async function take<T>(owner: object, name: string, fresh: Fresh<T>, ask: () => Promise<T>): Promise<T> {
    const { round, answers } = ownOf(owner)
    if (isFresh(owner, name)) return (await answers.get(name)!.answer) as T
    const begun = now()
    const answer = ask()
    const kept = { until: Number.POSITIVE_INFINITY, round, answer }
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

  /** What was answered last, however long ago that was; nothing is asked for. */
  const last = async <T>(owner: object, name: string): Promise<T | undefined> =>
    (await ownOf(owner)
      .answers.get(name)
      ?.answer.catch(() => undefined)) as T | undefined

  return { take, isFresh, last, forget: (owner: object) => void ownOf(owner).round++ }
}
