import type { Worker } from './worker.ts'

type Listener = (functions: () => readonly Worker[]) => void

const PLACE = Symbol.for('sidejob.loading')
const here = globalThis as { [PLACE]?: Listener }

export const reportLoaded: Listener = (functions) => here[PLACE]?.(functions)

export async function workersOf(load: () => Promise<unknown>): Promise<Worker[]> {
  const found: Worker[] = []
  here[PLACE] = (functions) => void found.push(...functions())
  try {
    await load()
  } finally {
    delete here[PLACE]
  }
  return found
}
