import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// Tests that the vendor's Lua and limits could break: scripts and their rules, and each path once from outside.
const strict = [
  'redis/{scripts,rules,rules.slow,races,pieces,refusals}',
  'e2e/conformance/*',
  'e2e/workerd/{stack,demo.slow,calls.slow}',
  'limits/{hold-up,extremes}',
  'infra/{strict,lua-rules}',
]

/** Who takes longest begins: the rules are a small file, whose tests stand in others, and would be left to the end. */
class RulesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isRules = ({ moduleId }: TestSpecification) => moduleId.endsWith('/redis/rules.test.ts')
    return [...sorted.filter(isRules), ...sorted.filter((file) => !isRules(file))]
  }
}

export default defineConfig({
  // `SIDEJOB_ZOD=zod-low` runs tests with the oldest zod of the peer range.
  resolve: { alias: process.env.SIDEJOB_ZOD ? { zod: process.env.SIDEJOB_ZOD } : {} },
  test: {
    include:
      process.env.SIDEJOB_REDIS === 'strict' ? strict.map((file) => `test/${file}.test.ts`) : ['test/**/*.test.ts'],
    globalSetup: ['test/kit/generate.ts', ...(process.env.SIDEJOB_REDIS === 'strict' ? ['test/kit/strict.ts'] : [])],
    // To read the modules anew for each of two hundred files would take a third of the time of all tests. What a module keeps
    // belongs to an engine, a store or a client, of which each file makes its own, as it does in an isolate that serves many.
    isolate: false,
    setupFiles: ['test/kit/after-file.ts'],
    // On a machine that others load too, a test that waits for real time may come late once: it is played once more.
    retry: process.env.CI ? 1 : 0,
    // A test says what becomes true, not how fast: a slow machine gets the time that it needs.
    testTimeout: process.env.CI ? 90_000 : 30_000,
    hookTimeout: process.env.CI ? 90_000 : 30_000,
    // Each file owns a Redis of its own, and waits a third of its time: two cores serve three of them well.
    maxWorkers: 3,
    sequence: { sequencer: RulesFirst },
  },
})
