import { matchesGlob } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// Tests that depend on Upstash's Lua and limits: scripts, their rules, and each path once through the API.
const strict = [
  'redis/{scripts,rules,rules.slow,races,pieces,refusals}',
  'e2e/conformance/*',
  'e2e/workerd/{stack,demo.slow,calls.slow}',
  'limits/{hold-up,hold-up.slow,extremes.slow}',
  'infra/{strict,lua-rules}',
]

/** Files that take more than ten seconds. They start first, because a core would be idle if they started last. */
const slowest = [
  'dashboard/{each-page,scopes}.browser',
  'limits/hold-up',
  'e2e/cli/cli',
  'e2e/conformance/push',
  'facades/jq',
  'history/outbox',
  'redis/rules',
  'heavy/chaos/interleavings',
]

/** By default, vitest orders files by size, but size says little about time. */
class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isSlow = ({ moduleId }: TestSpecification) =>
      slowest.some((file) => matchesGlob(moduleId, `**/test/${file}.test.ts`))
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))]
  }
}

export default defineConfig({
  // `SIDEJOB_ZOD=zod-low` runs tests with the oldest zod of the peer range.
  resolve: { alias: process.env.SIDEJOB_ZOD ? { zod: process.env.SIDEJOB_ZOD } : {} },
  test: {
    include:
      process.env.SIDEJOB_REDIS === 'strict' ? strict.map((file) => `test/${file}.test.ts`) : ['test/**/*.test.ts'],
    globalSetup: ['test/kit/generate.ts', ...(process.env.SIDEJOB_REDIS === 'strict' ? ['test/kit/strict.ts'] : [])],
    // Loading the modules again for each of two hundred files would take a third of the time of all tests. Modules keep
    // state only in engines, stores and clients, and each file creates its own.
    isolate: false,
    setupFiles: ['test/kit/after-file.ts', ...(process.env.SIDEJOB_TEST_COSTS ? ['test/kit/costs.ts'] : [])],
    // Redis keeps the memory that it frees, because a new page takes up to 18 µs on a virtual machine.
    env: { MALLOC_CONF: 'dirty_decay_ms:-1,muzzy_decay_ms:-1,oversize_threshold:0,lg_extent_max_active_fit:20' },
    // On a busy machine a test that waits for real time may be late, so it runs a second time.
    retry: process.env.CI ? 1 : 0,
    // A slow machine needs more time.
    testTimeout: process.env.CI ? 90_000 : 30_000,
    hookTimeout: process.env.CI ? 90_000 : 30_000,
    expect: { poll: { timeout: 10_000 } },
    // Test files wait for a third of their run time, so two cores can run three files.
    maxWorkers: 3,
    sequence: { sequencer: SlowestFirst },
  },
})
