import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { startLocalStack } from '../../infra/stack.ts'
import { createClient } from '../../src/client/index.ts'

const dir = mkdtempSync(join(tmpdir(), 'sidejob-alone-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

test('workerd alone runs jobs, and ends with its stack', async () => {
  const vars = { SIDEJOB_LANE_WARM: '10s', ODD: 'a "quote", a \\ and a line\n\u0001' }
  const stack = await startLocalStack({ dir, persist: false, alone: true, plan: 'off', vars })
  const client = createClient({ url: stack.url, key: stack.apiKey })
  const { id } = await client.jobs.enqueue({ class: 'noop' })
  const seen = () => client.jobs.get(id).then(({ status }) => status, String)
  await expect.poll(seen, { timeout: 10_000 }).toContain('does not exist')
  await stack.close()
  await expect(fetch(stack.url)).rejects.toThrow('fetch failed')
}, 60_000)
