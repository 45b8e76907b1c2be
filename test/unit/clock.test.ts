import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { createClock } from '../../src/cloudflare/clock.ts'

async function standIn(status: number) {
  const server = createServer((_request, response) => response.writeHead(status).end('{"moved":5000}'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  return {
    env: { QSTASH_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}

test('a clock moves together with QStash’s clock', async () => {
  const { env, close } = await standIn(200)
  const clock = createClock()
  await clock.advance(env, 3_000)
  expect(clock.offset).toBe(5_000)
  await close()
})

test('the Worker’s clock does not move while QStash’s clock is stopped', async () => {
  const { env, close } = await standIn(404)
  const clock = createClock()
  await expect(clock.advance(env, 3_000)).rejects.toThrow(/restart the stack with SIDEJOB_TEST_CLOCK=1/)
  expect(clock.offset).toBe(0)
  await close()
})
