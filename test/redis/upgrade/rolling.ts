// Two versions that serve the same data: scripts from before `~schema`, and ours. Only scripts are those of then; who calls
// them is of today.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { expect } from 'vitest'
import type { Script } from '../../../src/redis/script.ts'
import type { startState } from '../../kit/index.ts'
import { createWorld, type World } from '../direct.ts'

const packed = readFileSync(join(import.meta.dirname, 'scripts-before-schemas.json.br'))

/** What a commit answered had no name then; our client, which calls them, expects one. */
const answer = (raw: unknown): unknown => ['committed', ...(raw as unknown[])]

/** Lists of patterns and tags came first then, and behind them no list of what was heard by calls. */
function rest(words: string[]): string[] {
  const behind = (at: number) => at + 1 + Number(words[at])
  const at = behind(behind(0))
  return [...words.slice(0, at), ...words.slice(behind(at))]
}

/** What is of today's callers: how many calls go with the first one was not said then. */
const adapted: Record<string, object> = {
  commit: { rest, answer },
  enqueue: { rest: (words: string[]) => words.slice(1) },
}

const former = new Map(
  (JSON.parse(brotliDecompressSync(packed).toString()) as Script<never>[]).map((script) => [
    script.name,
    { ...script, ...adapted[script.name] },
  ]),
)
// Then one script was for all commits.
former.set('commit_verbs', former.get('commit')!)

export type State = Awaited<ReturnType<typeof startState>>

/** The same namespace, served by the former scripts and by ours. */
export async function both({ options }: State) {
  const ours = await createWorld(options)
  const theirs = await createWorld(options, former, 'as it comes', ours.namespace)
  return { ours, theirs }
}

export const kinds = {
  plain: {},
  'in time': { wait: 1_000 },
  'with a port': { in: { in: {} }, inputs: { in: ['=1', '=2'] } },
  'in a group': { group: 'g', limits: [{ key: 'group:g', how: 'first', concurrency: 2 }] },
  'of a limit': { limits: [{ key: 'narrow', how: 'set', concurrency: 1 }] },
  'one of its kind': { unique: { key: 'once' } },
  'told of': { callback: { spec: '{"url":"http://127.0.0.1:9/"}', host: '127.0.0.1:9' } },
} as const

/** Claims and completes whatever is ready, until nothing is any more; answers the ids. */
export async function serve(world: World, max = 100): Promise<number[]> {
  const runs = await world.claim({ max })
  for (const run of runs) expect(await run.commit()).toMatch(/completed|suspended/)
  return runs.map(({ id }) => id)
}

/** Jobs that both make, one after the other, and serve in turns: one claims and the other commits. Each is done once. */
export async function rollOut(state: State, jobs: number): Promise<void> {
  const { ours, theirs } = await both(state)
  const made = new Set<number>()
  const done: number[] = []
  const shapes = [{}, kinds['with a port'], kinds['in time']] as object[]
  for (let i = 0; i < jobs; i++) made.add(await (i % 2 ? ours : theirs).make(shapes[i % 3]))
  for (const world of [ours, theirs]) world.advance(120_000)
  for (let round = 0; done.length < made.size && round < 500; round++) {
    const [claims, commits] = round % 2 ? [ours, theirs] : [theirs, ours]
    await claims.tick()
    for (const run of await claims.claim({ max: 40 })) {
      expect(await commits.runOf(run.lent).commit()).toMatch(/completed/)
      done.push(run.id)
    }
  }
  expect(new Set(done)).toEqual(made)
  expect(done).toHaveLength(jobs)
  expect(await ours.faults()).toEqual([])
}
