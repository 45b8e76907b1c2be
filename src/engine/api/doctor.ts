// Looks for what is not as it must be, and puts it right.

import type { Fault } from '../../redis/types.ts'
import type { Context } from '../context.ts'
import type { Engine } from '../engine.ts'

const FIRST = '10'

type Target = Pick<Fault, 'kind' | 'who'>

/** Each thing once, however much is wrong with it. */
function targetsOf(faults: readonly Fault[]): Target[] {
  const targets = new Map(faults.map(({ kind, who }) => [`${kind} ${who}`, { kind, who }]))
  return [...targets.values()]
}

export function createDoctor({
  store,
  ring,
}: Context): Pick<Engine, 'examine' | 'repair'> & { verify: () => Promise<Fault[]> } {
  async function examine(cursor = FIRST) {
    const { faults, seen, next } = await store.verify(Number(cursor))
    return { faults, jobs: seen, cursor: next === null ? null : String(next) }
  }
  return {
    examine,

    async repair(cursor = FIRST) {
      const { faults, jobs, cursor: next } = await examine(cursor)
      if (faults.length === 0) return { repaired: [], left: [], jobs, cursor: next }
      // One script each: what is mended is mended whole, and others have their turn in between.
      for (const target of targetsOf(faults)) await ring(await store.repair([target]))
      const left = new Set((await examine(cursor)).faults.map(({ who, what }) => `${who} ${what}`))
      const isLeft = ({ who, what }: Fault) => left.has(`${who} ${what}`)
      return { repaired: faults.filter((one) => !isLeft(one)), left: faults.filter(isLeft), jobs, cursor: next }
    },

    async verify() {
      const faults: Fault[] = []
      for (let cursor: string | null = FIRST; cursor !== null; ) {
        const slice: Awaited<ReturnType<typeof examine>> = await examine(cursor)
        faults.push(...slice.faults)
        cursor = slice.cursor
      }
      return faults
    },
  }
}
