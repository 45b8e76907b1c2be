// npm run chaos runs thousands of random interleavings on a real Redis
// npm run chaos -- --seed 123 --trace    repeats an interleaving and prints its steps
// npm run chaos -- --count 500 --from 1 --together 8 --minutes 10

import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startRedis } from '../../../infra/stand-ins/redis.ts'
import { type Played, play } from './interleavings.ts'
import { directClient } from './redis.ts'

const { values: given } = parseArgs({
  options: {
    seed: { type: 'string' },
    trace: { type: 'boolean', default: false },
    count: { type: 'string', default: '10000' },
    from: { type: 'string' },
    together: { type: 'string', default: '8' },
    minutes: { type: 'string', default: '60' },
  },
})

type Total = { played: number; steps: number; failed: number; kinds: Map<string, number>; faults: Map<string, number> }

const add = (into: Map<string, number>, kind: string, n: number) => into.set(kind, (into.get(kind) ?? 0) + n)

function table(counts: Map<string, number>): string {
  const rows = [...counts].sort(([a], [b]) => a.localeCompare(b))
  return rows.map(([kind, n]) => `${String(n).padStart(10)}  ${kind}`).join('\n')
}

/** Writes the steps to a file, because a second run with the same seed can differ slightly: real time passes. */
function complain({ seed, violations, trace }: Played): void {
  const file = join(tmpdir(), `sidejob-chaos-${seed}.txt`)
  writeFileSync(file, trace().join('\n'))
  for (const { fault, detail, step } of violations) console.error(`seed ${seed}, step ${step}: ${fault}: ${detail}`)
  console.error(`  trace: ${file}; again: npm run chaos -- --seed ${seed} --trace`)
}

function note(total: Total, result: Played): void {
  total.played++
  total.steps += result.steps
  for (const [kind, n] of result.counts) add(total.kinds, kind, n)
  for (const fault of new Set(result.violations.map(({ fault }) => fault))) add(total.faults, fault, 1)
  if (given.trace) console.log(result.trace().join('\n'))
  if (result.violations.length) {
    total.failed++
    complain(result)
  }
  if (total.played % 1_000 === 0) console.log(summaryOf(total))
}

const summaryOf = ({ played, steps, failed }: Total): string =>
  `${played} interleavings, ${steps} transitions, ${failed} failed`

async function main(): Promise<number> {
  const redis = await startRedis({ persist: false })
  const first = Number(given.seed ?? given.from ?? 1 + (Date.now() % 1_000_000) * 1_000)
  const last = first + (given.seed ? 1 : Number(given.count)) - 1
  const started = performance.now()
  const until = started + Number(given.minutes) * 60_000
  const total: Total = { played: 0, steps: 0, failed: 0, kinds: new Map(), faults: new Map() }
  let next = first

  async function playOn(): Promise<void> {
    const direct = await directClient(redis)
    while (next <= last && performance.now() < until) note(total, await play({ seed: next++, redis: direct }))
    await direct.close()
  }

  console.log(`seeds ${first} to ${last} on ${redis.describe}`)
  await Promise.all(Array.from({ length: Math.min(last - first + 1, Number(given.together)) }, playOn))
  await redis.close()
  console.log(`transitions by kind:\n${table(total.kinds)}`)
  if (total.failed) console.log(`failed interleavings by kind:\n${table(total.faults)}`)
  const seconds = Math.round((performance.now() - started) / 1_000)
  console.log(`${summaryOf(total)}; seeds ${first} to ${next - 1}, ${seconds} s`)
  return total.failed ? 1 : 0
}

process.exit(await main())
