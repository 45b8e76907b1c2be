import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { exported } from '../../../src/redis/backup.ts'
import { createClient } from '../../../src/redis/client.ts'
import { startWorkerd, type Workerd } from './kit.ts'

const MARK = 'M4rk3r'

let workerd: Workerd
beforeAll(async () => {
  const key = randomBytes(32).toString('base64')
  workerd = await startWorkerd({ vars: { SIDEJOB_TEST_CLOCK: '1', SIDEJOB_ENCRYPTION_KEY: key } })
}, 120_000)
afterAll(() => workerd?.close())

async function everything(): Promise<string> {
  const { gateway } = workerd.stack.note
  const client = createClient({ url: gateway.url, token: gateway.token })
  let text = ''
  for await (const line of exported({ client, namespace: '' })) text += JSON.stringify(line)
  return text
}

test('the Worker runs a job, and Redis contains none of its values in readable form', async () => {
  const { client } = workerd
  const lists = [[[MARK, `${MARK} ${'x'.repeat(2_000)}`], [2]]]
  const { id } = await client.jobs.enqueue({ queue: 'core', class: 'zip', inputs: { in: lists }, keepResult: '1h' })
  await workerd.reaches(id, 'completed')
  const text = await everything()
  expect(text).toContain('~f')
  expect(text).not.toContain(MARK)
  const { values } = await client.ports.look(id, 'out', 'out')
  expect(JSON.stringify(values)).toContain(MARK)
})
