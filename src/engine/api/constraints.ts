import { type Constraint, isLimitOf } from '../../core/constraint.ts'
import { SidejobError } from '../../core/errors.ts'
import type { Context } from '../context.ts'
import type { LimitSettings } from '../engine.ts'
import type { Constraints } from '../jobs/constraints.ts'

/** The next job of a constraint sets the numbers of the limit again, so other numbers are refused. */
export async function refuseNumbersOfConstraint(
  constraints: Constraints,
  key: string,
  { concurrency, rate }: LimitSettings,
) {
  if (!key.startsWith('constraint:')) return
  const found = (await constraints.list()).find(([name]) => isLimitOf(name, key))
  if (!found) return
  const [name, constraint] = found
  const isOther = (given: unknown, own: unknown) =>
    given !== undefined && JSON.stringify(given) !== JSON.stringify(own ?? null)
  if (isOther(concurrency, constraint.concurrency) || isOther(rate, constraint.rate))
    throw new SidejobError(
      'REFUSED',
      `constraint ${name} sets the concurrency and the rate of the limit ${key}. Change them with PUT /v1/constraints/${name}`,
    )
}

export function createConstraintVerbs({ store, constraints, ring }: Context) {
  async function get(name: string) {
    const found = (await constraints.list()).find(([one]) => one === name)
    if (!found) throw new SidejobError('NOT_FOUND', `there is no constraint ${name}`)
    return { name, ...found[1] }
  }

  async function put(name: string, definition: Constraint | null) {
    const answer = await store.constraint(name, definition && JSON.stringify(definition))
    constraints.learn(answer.constraints)
    await ring(answer.rings)
  }

  return {
    async list() {
      return { constraints: (await constraints.list()).map(([name, one]) => ({ name, ...one })) }
    },

    get,

    async set(name: string, definition: Constraint) {
      await put(name, definition)
      return get(name)
    },

    remove: (name: string) => put(name, null),
  }
}
