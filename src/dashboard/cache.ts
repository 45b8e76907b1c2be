// Answers of the engine, shared by all tabs of an isolate.

import { Lru } from '../core/lru.ts'
import type { Glance } from '../engine/engine.ts'
import type { Engine } from '../engine/index.ts'

const REMEMBERED = 500
const TEN_SECONDS = 10_000
const MINUTE = 60_000

/** Milliseconds. A more expensive answer may be shared for longer. */
type Fresh<T> = number | ((answer: T) => number)
type Kept = { until: number; round: number; answer: Promise<unknown> }
type Answers = { round: number; kept: Lru<string, Kept> }

export type Cache = ReturnType<typeof createCache>

/** After an action of a user, all stored answers of that engine are outdated. */
export function createAnswers() {
  const owners = new WeakMap<Engine, Answers>()
  return {
    of(engine: Engine): Answers {
      let answers = owners.get(engine)
      if (!answers) owners.set(engine, (answers = { round: 0, kept: new Lru(REMEMBERED) }))
      return answers
    },
    expire(engine: Engine): void {
      const answers = owners.get(engine)
      if (answers) answers.round++
    },
  }
}

export function createCache(answers: Answers, engine: Engine) {
  function isFresh(name: string): boolean {
    const last = answers.kept.get(name)
    return last !== undefined && Date.now() < last.until && last.round === answers.round
  }

  async function get<T>(name: string, fresh: Fresh<T>, ask: () => Promise<T>): Promise<T> {
    if (isFresh(name)) return answers.kept.get(name)!.answer as Promise<T>
    const begun = Date.now()
    const kept: Kept = { until: Number.POSITIVE_INFINITY, round: answers.round, answer: ask() }
    answers.kept.set(name, kept)
    try {
      const found = (await kept.answer) as T
      kept.until = begun + (typeof fresh === 'number' ? fresh : fresh(found))
      return found
    } catch (error) {
      answers.kept.delete(name)
      throw error
    }
  }

  type Glanced = Glance & { isNew: boolean }
  let glanced: Promise<Glanced> | undefined

  async function look(step?: 'minute' | 'hour'): Promise<Glanced> {
    let isNew = false
    const seen = await get(`glance ${step ?? ''}`, TEN_SECONDS, () => {
      isNew = true
      return engine.stats.glance(step ? { step } : {})
    })
    return { ...seen, isNew }
  }

  return {
    get,
    isFresh,
    /** Returns the last answer of any age, without asking the engine. */
    last: async <T>(name: string): Promise<T | undefined> =>
      (await answers.kept.get(name)?.answer.catch(() => undefined)) as T | undefined,
    glance: (step?: 'minute' | 'hour'): Promise<Glanced> => (glanced ??= look(step)),
    bounds: () =>
      get(
        'bounds',
        ({ limits, groups }) => Math.min(MINUTE, TEN_SECONDS + 100 * (limits.length + groups.length)),
        () => engine.limits.withGroups(),
      ),
  }
}
