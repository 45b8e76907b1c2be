// Runs a function without effects: the function gets no bindings, performs no steps, and reads only its snapshot.

import { mapValues } from '../../core/map-values.ts'
import type { Changes, Snapshot } from '../../core/run.ts'
import { Terminal, type Worker } from '../../core/worker.ts'
import { OlderCode } from './code-change.ts'
import { LostRun, runFunction } from './function.ts'
import { beyondSnapshot, type JobTools } from './tools.ts'

export type JudgeOptions = {
  env?: object
  patience?: number
}

export type Fail = (why: string) => never

const PATIENCE = 5_000

const unusable = (what: string, give: Fail): unknown => {
  const use = () => give(`it uses ${what}`)
  return new Proxy(() => undefined, { get: use, set: use, has: use, apply: use, construct: use, ownKeys: use })
}

const envOf = (given: object, give: Fail): object =>
  new Proxy(given, {
    get: (own, name) =>
      name in own || typeof name === 'symbol' ? Reflect.get(own, name) : unusable(`job.env.${name}`, give),
  })

const seconds = (ms: number): string => `${ms / 1_000} s`

function ended(error: unknown): Partial<Changes> {
  if (error instanceof LostRun || error instanceof OlderCode) return {}
  throw error
}

export async function judging(
  worker: Worker,
  snapshot: Snapshot,
  { env = {}, patience = PATIENCE }: JudgeOptions,
  { prepare, ...own }: Required<Pick<JobTools, 'checkpoint' | 'rehearsal'>> & { prepare?: (give: Fail) => void },
  within: <T>(give: Fail, run: () => Promise<T>) => Promise<T> = (_, run) => run(),
): Promise<{ changes: Partial<Changes>; why?: string }> {
  let why: string | undefined
  const give: Fail = (reason) => {
    why ??= reason
    throw new Terminal(`this run cannot be replayed: ${reason}`)
  }
  prepare?.(give)
  snapshot.run.timeout = Math.min(snapshot.run.timeout, patience)
  const beyond = mapValues(beyondSnapshot, (what) => async () => give(`it reads ${what}`))
  const tools: JobTools = {
    ...own,
    ...(beyond as Record<keyof typeof beyondSnapshot, () => Promise<never>>),
    progress: async () => undefined,
    now: () => 0,
    env: envOf(env, give),
  }
  const changes = await within(give, () => runFunction(worker, snapshot, tools)).catch(ended)
  if (why === undefined && changes.error?.reason === 'timeout')
    why = `it ran longer than ${seconds(patience)} outside of steps`
  return { changes, why }
}
