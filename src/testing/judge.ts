import type { Worker } from '../core/worker.ts'
import { type Fail, type JudgeOptions, judging as judgingIn } from '../engine/run/judge.ts'

export type { Fail, JudgeOptions } from '../engine/run/judge.ts'

export const workerOf = (
  workers: readonly Worker[],
  { queue, class: name }: { queue: string; class: string },
): Worker | undefined => workers.find((one) => one.class === name && (one.queue ?? 'default') === queue)

const REQUEST = 'it makes a request outside of a step'

/** Runs replace the global `fetch`, so each run waits for the previous one. */
let turn: Promise<unknown> = Promise.resolve()

function withoutFetch<T>(give: Fail, run: () => Promise<T>): Promise<T> {
  const mine = turn.then(async () => {
    const { fetch } = globalThis
    globalThis.fetch = async () => give(REQUEST)
    try {
      return await run()
    } finally {
      globalThis.fetch = fetch
    }
  })
  turn = mine.catch(() => undefined)
  return mine
}

type Asked = Parameters<typeof judgingIn>

export const judging = (worker: Worker, snapshot: Asked[1], options: JudgeOptions, own: Asked[3]) =>
  judgingIn(worker, snapshot, options, own, withoutFetch)
