// Looks for what is not as it must be.

import type { Parts } from '../context.ts'
import type { Engine, Fault } from '../engine.ts'

export function createDoctor({ store }: Parts): Pick<Engine, 'examine'> & { verify: () => Promise<Fault[]> } {
  async function examine(cursor = '1') {
    const { faults, seen, next } = await store.verify(Number(cursor))
    return { faults, jobs: seen, cursor: next === null ? null : String(next) }
  }
  return {
    examine,
    async verify() {
      const faults: Fault[] = []
      for (let cursor: string | null = '1'; cursor !== null; ) {
        const slice: Awaited<ReturnType<typeof examine>> = await examine(cursor)
        faults.push(...slice.faults)
        cursor = slice.cursor
      }
      return faults
    },
  }
}
