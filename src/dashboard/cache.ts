import { Lru } from '../core/lru.ts'
import { MINUTE, SECOND } from '../core/units.ts'
import type { Glance } from '../engine/engine.ts'
import type { Engine } from '../engine/index.ts'

const REMEMBERED = 500
const TEN_SECONDS = 10 * SECOND

/** Milliseconds. A more expensive answer may be shared for longer. */
type Fresh<T> = number | ((answer: T) => number)
type Kept = { begun: number; until: number; answer: unknown }
type Answers = { changedAt: number; kept: Lru<string, Kept> }

export type Cache = ReturnType<typeof createCache>

/** `expire`: after a user changes something, all cached answers of the engine are outdated. */
export function createAnswers() {
  const owners = new WeakMap<Engine, Answers>()
  return {
    of(engine: Engine): Answers {
      let answers = owners.get(engine)
      if (!answers) owners.set(engine, (answers = { changedAt: 0, kept: new Lru(REMEMBERED) }))
      return answers
    },
    expire(engine: Engine): void {
      const answers = owners.get(engine)
      if (answers) answers.changedAt = Date.now()
    },
  }
}

/** Requests share answers, not promises: if the platform cuts off a request, its promises never settle. */
export function createCache(answers: Answers, engine: Engine) {
  const asked = new Map<string, Promise<unknown>>()

  function isFresh(name: string): boolean {
    const last = answers.kept.get(name)
    return last !== undefined && Date.now() < last.until && last.begun > answers.changedAt
  }

  async function load<T>(name: string, fresh: Fresh<T>, ask: () => Promise<T>): Promise<T> {
    const begun = Date.now()
    const answer = await ask()
    answers.kept.set(name, { begun, until: begun + (typeof fresh === 'number' ? fresh : fresh(answer)), answer })
    return answer
  }

  function get<T>(name: string, fresh: Fresh<T>, ask: () => Promise<T>): Promise<T> {
    if (isFresh(name)) return Promise.resolve(answers.kept.get(name)!.answer as T)
    let answer = asked.get(name) as Promise<T> | undefined
    if (!answer) asked.set(name, (answer = load(name, fresh, ask).finally(() => asked.delete(name))))
    return answer
  }

  type Glanced = Glance & { isNew: boolean }
  let glanced: Promise<Glanced> | undefined

  /** After an action, the jobs may change for some seconds. */
  const soon = (): number => (Date.now() < answers.changedAt + TEN_SECONDS ? SECOND : TEN_SECONDS)

  async function look(step?: 'minute' | 'hour'): Promise<Glanced> {
    let isNew = false
    const seen = await get(`glance ${step ?? ''}`, soon(), () => {
      isNew = true
      return engine.stats.glance(step ? { step } : {})
    })
    return { ...seen, isNew }
  }

  return {
    get,
    isFresh,
    last: async <T>(name: string): Promise<T | undefined> =>
      (await (asked.get(name) ?? answers.kept.get(name)?.answer)) as T | undefined,
    glance: (step?: 'minute' | 'hour'): Promise<Glanced> => (glanced ??= look(step)),
    bounds: () =>
      get(
        'bounds',
        ({ limits, groups }) => Math.min(MINUTE, TEN_SECONDS + 100 * (limits.length + groups.length)),
        () => engine.limits.withGroups(),
      ),
  }
}
