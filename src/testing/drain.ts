import { counted } from '../core/counted.ts'
import { duration } from '../core/time.ts'
import type { Performed } from '../engine/api/run-one.ts'
import type { Engine } from '../engine/index.ts'

/** Order of jobs with equal priority. */
export type Order = 'fifo' | 'lifo' | { seed: number }

type Drained = Pick<Engine, 'ready' | 'performOne'> & { tick: () => Promise<unknown> }
type Runnable = Drained & { jobs: { run: (job: string, options: { force?: boolean }) => Promise<unknown> } }
type Held<E> = E | { engine: E }

export type DrainOptions = {
  order?: Order
  /** 'keep' returns failed runs instead of throwing. */
  errors?: 'throw' | 'keep'
  limit?: number
}

type Ready = Awaited<ReturnType<Engine['ready']>>[number]

const engineOf = <E extends object>(held: Held<E>): E => ('engine' in held ? held.engine : held)

function chance(seed: number): () => number {
  let state = Math.imul(seed + 1, 0x9e3779b1)
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

function chooser(order: Order): (ready: Ready[]) => Ready {
  const random = chance(typeof order === 'object' ? order.seed : 0)
  return (ready) => {
    const most = Map.groupBy(ready, ({ queue }) => queue)
    const urgent = ready.filter(({ queue, priority }) => priority === most.get(queue)![0]!.priority)
    urgent.sort((a, b) => (a.since < b.since ? -1 : 1))
    if (order === 'fifo') return urgent[0]!
    return order === 'lifo' ? urgent.at(-1)! : urgent[Math.floor(random() * urgent.length)]!
  }
}

async function readyNow(engine: Drained): Promise<Ready[]> {
  const ready = await engine.ready()
  if (ready.length > 0) return ready
  await engine.tick()
  return engine.ready()
}

function thrown({ id, class: name, error }: Performed): void {
  if (error) throw new Error(`job ${id} (${name}) failed: ${error.message}`, { cause: error })
}

/**
 * Performs all ready jobs and returns the runs in order. Advance the clock to perform later jobs.
 *
 * @example for (let seed = 0; seed < 100; seed++) await drain(engine, { order: { seed } })
 */
export async function drain(
  held: Held<Drained>,
  { order = 'fifo', errors = 'throw', limit = 10_000 }: DrainOptions = {},
): Promise<Performed[]> {
  const engine = engineOf(held)
  const choose = chooser(order)
  const runs: Performed[] = []
  for (let n = 0; ; n++) {
    const ready = await readyNow(engine)
    if (ready.length === 0) return runs
    if (n === limit)
      throw new Error(`${counted(ready.length, 'job is', 'jobs are')} still ready after ${counted(limit, 'run')}`)
    const performed = await engine.performOne(choose(ready))
    if (performed) runs.push(performed)
    if (performed && errors === 'throw') thrown(performed)
  }
}

/**
 * Performs one run of a job, by force if necessary. Returns undefined if the job would not run.
 *
 * @example await runInline(engine, id)
 */
export async function runInline(
  held: Held<Runnable>,
  id: number,
  { force = true, errors = 'throw' }: Pick<DrainOptions, 'errors'> & { force?: boolean } = {},
): Promise<Performed | undefined> {
  const engine = engineOf(held)
  await engine.jobs.run(String(id), { force })
  const ready = (await engine.ready()).find((job) => job.id === id)
  const performed = ready && (await engine.performOne(ready))
  if (performed && errors === 'throw') thrown(performed)
  return performed
}

/**
 * Creates a clock that tests can advance.
 *
 * @example
 * const clock = createClock()
 * const engine = createSidejob({ redis, qstash, workers, clock })
 * clock.advance('1h')
 */
export function createClock() {
  let ahead = 0
  return Object.assign(() => ahead, {
    advance(time: number | string): void {
      ahead += duration(time)
    },
  })
}
