// A page that rebinds its name to 127.0.0.1 could do everything on the stack of one's own machine, whose key is known.

import { expect, test } from 'vitest'
import { hold } from '../../infra/workers/invocation.ts'
import { refusedHost } from '../../infra/workers/local-host.ts'

const PUBLIC_URL = 'https://tunnel.example/base'
const asked: string[] = []
const worker = hold({
  fetch(request: Request) {
    asked.push(request.url)
    return new Response('ours')
  },
})
const context = { waitUntil: () => undefined }
const ask = async (url: string, env: object = { PUBLIC_URL }): Promise<Response> =>
  (await worker.fetch(new Request(url), ...([env, context] as unknown as []))) as Response

test.each(['http://rebound.example/v1/jobs', 'http://127.0.0.1.rebound.example:8787/', 'http://192.168.0.7:8787/'])(
  '%s does not reach the Worker, and is told what was expected',
  async (url) => {
    const answer = await ask(url)
    expect(answer.status).toBe(403)
    expect(((await answer.json()) as { error: { message: string } }).error.message).toMatch(
      /expected a request to localhost/,
    )
    expect(asked.splice(0)).toEqual([])
  },
)

test.each([
  'http://localhost:8787/',
  'http://127.0.0.1:8787/v1/jobs',
  'http://[::1]:8787/',
  'http://app.localhost:8787/',
  'https://tunnel.example/base/health',
])('%s is served', async (url) => {
  expect(await (await ask(url)).text()).toBe('ours')
  expect(asked.splice(0)).toEqual([url])
})

test('without a public address only the names of this machine are served', () => {
  expect(refusedHost(new Request('https://tunnel.example/'), {})?.status).toBe(403)
  expect(refusedHost(new Request('http://localhost/'), {})).toBeUndefined()
})
