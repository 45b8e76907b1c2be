import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    // Each file owns a Redis of its own; two cores serve two of them well.
    maxWorkers: 2,
  },
})
