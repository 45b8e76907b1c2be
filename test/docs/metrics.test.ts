import { expect, test } from 'vitest'
import type { LimitView, QueueView } from '../../src/engine/engine.ts'
import { metrics } from '../../src/http/metrics.ts'
import { expectMade, table } from './made.ts'

const queue = { name: 'q', counts: { queued: 1 }, oldestReady: 1_000, lanes: 1, maxLanes: 4, paused: false }
const limit = { key: 'l', running: 1, waiting: 1 }

test('docs/stats.md has every metric', async () => {
  const text = metrics({
    queues: [queue as unknown as QueueView],
    total: { q: { runs: 1 } },
    waits: { q: [1] },
    classes: [{ queue: 'q', class: 'c', took: { mean: 1, p50: 10, p95: 10, buckets: [1] } }],
    limits: [limit as unknown as LimitView],
    groups: [],
  })
  const rows = [...text.matchAll(/^# HELP (\S+) (.+)\n# TYPE \S+ (\w+)\n\S+?\{(.*)\} /gm)].map(
    ([, name, help, type, labels]) => [
      `\`${name}\``,
      type!,
      [...labels!.matchAll(/(\w+)="/g)].map(([, label]) => `\`${label}\``).join(' '),
      help!,
    ],
  )
  expect(rows.length).toBe(text.match(/^# HELP/gm)!.length)
  await expectMade('stats.md', { metrics: table(['metric', 'type', 'labels', 'description'], rows) })
})
