import { afterAll, expect, test } from 'vitest'
import { createWorld, type World } from '../../redis/direct.ts'
import { rules } from '../../redis/rules/index.ts'

const FACTS = 200
const DEADLINE_MS = 105_000

const { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token, SIDEJOB_PROBE_NAMESPACE: prefix } = process.env
if (!url || !token || !prefix)
  throw new Error('expected UPSTASH_REDIS_REST_URL, UPSTASH_REDIS_REST_TOKEN and SIDEJOB_PROBE_NAMESPACE')
const options = { url, token }

type Fact = [name: string, play: (world: World) => Promise<void>]

function selected(): Fact[] {
  const all = Object.entries(rules).map(([rule, facts]) =>
    Object.entries(facts).map(([name, play]): Fact => [`rule ${rule}: ${name}`, play]),
  )
  const longest = Math.max(...all.map(({ length }) => length))
  const rounds = Array.from({ length: longest }, (_, n) => all.flatMap((facts) => facts.slice(n, n + 1)))
  return rounds.flat().slice(0, FACTS)
}

const end = Date.now() + DEADLINE_MS
const worlds: World[] = []

for (const [n, [name, play]] of selected().entries())
  test.concurrent(name, async ({ skip }) => {
    if (Date.now() > end) skip('two minutes are over')
    const world = await createWorld(options, new Map(), 'as it comes', `${prefix}${n}:`)
    worlds.push(world)
    await play(world)
  })

// The doctor runs once, because a check after each test would take 15 times as long as the tests.
afterAll(async () => {
  const ids = await Promise.all(worlds.map(({ store }) => store.lastId()))
  const fullest = worlds[ids.indexOf(Math.max(...ids))]
  if (fullest) expect(await fullest.faults()).toEqual([])
})
