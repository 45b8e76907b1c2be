import { expect, test } from 'vitest'
import { buildScripts } from '../../infra/lua-build/index.ts'
import { play } from '../heavy/chaos/interleavings.ts'
import { directClient } from '../heavy/chaos/redis.ts'
import { kind, startState } from '../kit/index.ts'
import { createWorld } from '../redis/direct.ts'
import { rules } from '../redis/rules/index.ts'
import { monitor } from './monitor.ts'

test.skipIf(kind === 'embedded')(
  'scripts touch only the keys that their headers name',
  async () => {
    const state = await startState()
    const watched = await monitor(state.redis)
    const facts = [25, 26, 27, 29, 31, 34].flatMap((rule) => Object.values(rules[rule] ?? {}))
    for (const fact of facts) await fact(await createWorld(state.direct))
    const direct = await directClient(state.redis)
    await play({ seed: 1, redis: direct })
    await direct.close()
    await watched.close()
    await state.close()
    const beyond = [...buildScripts().scripts].flatMap(([name, { sha, access }]) => {
      const { reads = [], writes = [] } = watched.touched.get(sha) ?? {}
      const read = [...reads].filter((word) => !access.reads.includes(word) && !access.writes.includes(word))
      return [...read, ...[...writes].filter((word) => !access.writes.includes(word))].map((word) => `${name}: ${word}`)
    })
    expect(watched.touched.size).toBeGreaterThan(4)
    expect(beyond).toEqual([])
  },
  120_000,
)
