import { defineConfig } from 'vitest/config'

// What the vendor's Lua and limits could break: scripts and their rules, and each path once from outside.
const strict = [
  'redis/{scripts,rules,rules.slow,races,pieces,refusals}',
  'redis/upgrade/data',
  'e2e/conformance/*',
  'e2e/workerd/{stack,demo.slow,calls.slow}',
  'limits/{hold-up,extremes}',
  'infra/{strict,lua-rules}',
]

export default defineConfig({
  test: {
    include:
      process.env.SIDEJOB_REDIS === 'strict' ? strict.map((file) => `test/${file}.test.ts`) : ['test/**/*.test.ts'],
    globalSetup: process.env.SIDEJOB_REDIS === 'strict' ? ['test/kit/strict.ts'] : [],
    // On a machine that others load too, a test that waits for real time may come late once: it is played once more.
    retry: process.env.CI ? 1 : 0,
    // A test says what becomes true, not how fast: a slow machine gets the time that it needs.
    testTimeout: process.env.CI ? 90_000 : 30_000,
    hookTimeout: process.env.CI ? 90_000 : 30_000,
    // Each file owns a Redis of its own, and waits a third of its time: two cores serve three of them well.
    maxWorkers: 3,
  },
})
