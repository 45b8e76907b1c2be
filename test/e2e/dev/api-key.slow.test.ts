import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { startDev } from '../../../src/dev/index.ts'
import { makeProject } from './project.ts'

const project = makeProject()
afterAll(() => project.remove())

test('each project has a random API key that only its user can read', async () => {
  const stack = await startDev({ project: project.dir, port: 0, redis: 'embedded', persist: true, say: () => {} })
  const file = join(project.dir, '.sidejob/api-key')
  expect(readFileSync(file, 'utf8')).toBe(stack.apiKey)
  expect(stack.apiKey).toMatch(/^dev_[0-9a-f]{48}$/)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const answer = await fetch(`${stack.url}/v1/me`, { headers: { authorization: 'Bearer dev' } })
  expect(answer.status).toBe(401)
  await stack.close()
})
