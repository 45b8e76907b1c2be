import { expect, test } from 'vitest'
import { development } from '../../src/development.ts'
import { deploymentOf, type Environment } from '../../src/environment.ts'

const own: Environment = {
  UPSTASH_REDIS_REST_URL: 'https://redis.example.com',
  UPSTASH_REDIS_REST_TOKEN: 'token',
  QSTASH_TOKEN: 'own',
  QSTASH_CURRENT_SIGNING_KEY: 'sig_a',
  QSTASH_NEXT_SIGNING_KEY: 'sig_b',
  SIDEJOB_API_KEY: 'sj_own',
  PUBLIC_URL: 'https://jobs.example.com',
}

test.each([
  ['SIDEJOB_API_KEY', 'dev'],
  ['QSTASH_TOKEN', development.token],
  ['QSTASH_CURRENT_SIGNING_KEY', development.currentSigningKey],
  ['QSTASH_NEXT_SIGNING_KEY', development.nextSigningKey],
] as const)('a Worker with the published %s is refused, unless it is on this machine', (name, value) => {
  const env = { ...own, [name]: value }
  expect(() => deploymentOf(env)).toThrow(`${name}: expected your own keys, got the keys of the development stack`)
  for (const url of ['http://127.0.0.1:8787', 'http://localhost:8787/_sidejob', 'http://[::1]'])
    expect(deploymentOf({ ...env, PUBLIC_URL: url }).publicUrl).toBe(url)
})

test('a Worker with its own keys is served', () => {
  expect(deploymentOf(own).publicUrl).toBe('https://jobs.example.com')
})
