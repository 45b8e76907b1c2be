import { describe, expect, test } from 'vitest'
import type { Retry } from '../../src/core/retry.ts'
import { outcomeOf } from '../../src/engine/jobs/outcome.ts'
import type { Registry } from '../../src/engine/jobs/registry.ts'
import type { JobRecord } from '../../src/redis/record.ts'
import { createVault } from '../../src/redis/vault.ts'

async function isTriedAgain(
  failures: number,
  { own, ...said }: { own?: Retry; unreached?: boolean; set?: Retry } = {},
) {
  const document = { token: '7.1.x', failures, ...(own ? { retry: JSON.stringify(own) } : {}) } as JobRecord
  const registry = { retry: said.set ?? {} } as Registry
  const changes = { end: 'failed' as const, error: { message: 'no' } }
  const deciding = { document, vault: createVault(), registry, unreached: said.unreached, random: () => 0, now: 0 }
  return (await outcomeOf('7.1.x', changes, deciding)).words.includes('retry')
}

describe('a failed run is tried again', () => {
  test('three times by default', async () => {
    expect(await Promise.all([0, 2, 3].map((n) => isTriedAgain(n)))).toEqual([true, true, false])
  })

  test('ten times if its worker could not be reached', async () => {
    const tries = [3, 9, 10].map((n) => isTriedAgain(n, { unreached: true }))
    expect(await Promise.all(tries)).toEqual([true, true, false])
  })

  test('by the setting of the deployment, overridden by the job', async () => {
    expect(await isTriedAgain(0, { set: { max: 0 } })).toBe(false)
    expect(await isTriedAgain(0, { set: { max: 0 }, unreached: true })).toBe(false)
    expect(await isTriedAgain(4, { set: { max: 0 }, own: { max: 5 } })).toBe(true)
    expect(await isTriedAgain(1, { own: { max: 1 }, unreached: true })).toBe(false)
    expect(await isTriedAgain(2, { own: { backoff: { base: 1 } } })).toBe(true)
  })
})
