import { request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startQstash } from '../../infra/stand-ins/qstash.ts'
import { startState } from '../kit/index.ts'

let state: Awaited<ReturnType<typeof startState>>
let qstash: Awaited<ReturnType<typeof startQstash>>
beforeAll(async () => {
  state = await startState()
  qstash = await startQstash()
})
afterAll(() => Promise.all([state.close(), qstash.close()]))

const ask = (url: string, host: string, token: string) =>
  new Promise<number>((resolve, reject) => {
    const headers = { host, authorization: `Bearer ${token}` }
    request(url, { method: 'GET', headers }, (answer) => resolve(answer.resume().statusCode!))
      .once('error', reject)
      .end()
  })

test.each([
  ['evil.example', 403],
  ['evil.example:8080', 403],
  ['127.0.0.1.evil.example', 403],
  ['127.0.0.1', 200],
  ['localhost:1', 200],
  ['stack.localhost', 200],
])('a request to %s is answered with %i', async (host, status) => {
  expect(await ask(`${state.options.url}/ping`, host, state.options.token)).toBe(status)
  expect(await ask(`${qstash.url}/v2/schedules`, host, qstash.token)).toBe(status)
})
