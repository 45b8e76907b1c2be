import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Stack, startLocalStack } from '../../../infra/stack.ts'
import type { PlanName } from '../../../infra/stand-ins/plan.ts'
import { configOf } from '../../../src/dev/index.ts'
import { kind } from '../../kit/index.ts'
import { type Receiver, startReceiver } from '../../kit/receiver.ts'
import { makeProject } from '../dev/project.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 90_000 })

const root = new URL('../../..', import.meta.url).pathname

const source = `
import { WorkerEntrypoint } from 'cloudflare:workers'
import { createWorker } from '${root}src/cloudflare/index.ts'

const held = []
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const jobs = createWorker({ functions: [], mount: '/_sidejob' })

const routes = {
  async many(url, n, env, context, { signal }) {
    const all = Array.from({ length: n }, () => fetch(url, signal && { signal }))
    const answers = await Promise.allSettled(all)
    return answers.map(({ value, reason }) => value?.status ?? reason.message)
  },
  async oneByOne(url, n) {
    for (let i = 0; i < n; i++) await (await fetch(url)).text()
    return n
  },
  async impatient(url, n) {
    return routes.many(url, n, 0, 0, { signal: AbortSignal.timeout(300) })
  },
  later(url, n, env, context) {
    context.waitUntil((async () => {
      for (let i = 0; i < n; i++) {
        await fetch(url)
        await sleep(100)
      }
    })())
    return 'answered'
  },
  async isolates(url, n, env, context) {
    for (let i = 0; i < n; i++) await context.exports.Isolate.run()
    return n
  },
  fat(url, n) {
    held.push(new Uint8Array(n * 1024 * 1024).fill(1))
    return held.length
  },
  async garbage(url, n) {
    let sum = 0
    for (let i = 0; i < n; i++) {
      sum += new Uint8Array(8 * 1024 * 1024).fill(1)[i]
      await sleep(20)
    }
    return sum
  },
  loop: () => {
    for (;;);
  },
  env: (url, n, env) => Object.keys(env).filter((name) => name.includes('BOUNDS')),
}

export class Isolate extends WorkerEntrypoint {
  run() {}
}

export default jobs.with({
  async fetch(request, env, context) {
    const { pathname, searchParams } = new URL(request.url)
    const url = searchParams.get('url')
    if (pathname === '/stream') {
      const lines = new ReadableStream({
        async start(controller) {
          for (let i = 0; i < 15; i++) {
            await (await fetch(url)).text()
            controller.enqueue(new TextEncoder().encode('data: ' + i + '\\n\\n'))
            await sleep(150)
          }
          controller.close()
        },
      })
      return new Response(lines, { headers: { 'content-type': 'text/event-stream' } })
    }
    try {
      return Response.json(await routes[pathname.slice(1)](url, Number(searchParams.get('n')), env, context, {}))
    } catch (error) {
      return Response.json({ error: error.message }, { status: 500 })
    }
  },
})
`

const project = makeProject()
const printed: string[] = []
let stack: Stack
let receiver: Receiver
const start = (plan: PlanName) =>
  startLocalStack({
    dir: project.dir,
    config: configOf(project.dir),
    redis: kind,
    persist: false,
    plan,
    // Maximum milliseconds of background work, 30 s on Cloudflare.
    bounds: { kept: 1_000 },
    say: (line) => printed.push(line),
  })
beforeAll(async () => {
  receiver = await startReceiver()
  project.write('src/index.ts', source)
  stack = await start('free')
})
afterAll(async () => {
  await stack?.close()
  await receiver?.close()
  project.remove()
})

const ask = async (path: string, n = 0) => {
  const answer = await fetch(`${new URL(path, stack.url)}?n=${n}&url=${encodeURIComponent(receiver.url)}`)
  return (await answer.json()) as unknown
}

const said = (text: string) =>
  expect.poll(() => printed.filter((line) => line.includes(text)).length, { timeout: 20_000 })

const alive = () => expect.poll(() => ask('/env').catch(() => 'not yet'), { timeout: 30_000 }).toEqual([])

describe('an invocation', () => {
  test('has at most six requests without headers: the seventh is sent when one of them has its headers', async () => {
    receiver.answer = (_, response) => void setTimeout(() => response.end(), 100)
    const before = receiver.came.length
    expect(await ask('/many', 20)).toEqual(Array(20).fill(200))
    expect(receiver.came.length - before).toBe(20)
    expect(receiver.most()).toBe(6)
  })

  test('abandons requests that wait too long for a connection, without sending them', async () => {
    const before = receiver.came.length
    receiver.answer = (_, response) => void setTimeout(() => response.end(), 2_000)
    const answers = (await ask('/impatient', 8)) as string[]
    expect(answers).toHaveLength(8)
    expect(answers.every((one) => /timeout|aborted/i.test(one))).toBe(true)
    expect(receiver.came.length - before).toBe(6)
  })

  test('sends 50 requests on the free plan', async () => {
    receiver.answer = (_, response) => response.end()
    expect(await ask('/oneByOne', 50)).toBe(50)
    expect(await ask('/oneByOne', 51)).toEqual({
      error: expect.stringContaining('Too many subrequests by single Worker invocation.'),
    })
  })

  test('may start at most 31 further invocations', async () => {
    expect(await ask('/isolates', 31)).toBe(31)
    expect(await ask('/isolates', 32)).toEqual({ error: 'Too many Worker invocations by a single request.' })
  })

  test('is cut off if its background work takes too long: its requests end, and it sends no further requests', async () => {
    let aborted = 0
    receiver.answer = (_, response) => response.once('close', () => void (response.writableFinished || aborted++))
    expect(await ask('/later', 1)).toBe('answered')
    await said('waitUntil() tasks did not complete within the allowed time after invocation end').toBe(1)
    await expect.poll(() => aborted).toBe(1)

    receiver.answer = (_, response) => response.end()
    const before = receiver.came.length
    expect(await ask('/later', 100)).toBe('answered')
    await said('waitUntil() tasks did not complete within the allowed time after invocation end').toBe(2)
    const sent = receiver.came.length - before
    expect(sent).toBeGreaterThan(0)
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(receiver.came.length - before).toBe(sent)
  })

  test('that streams continues until its client disconnects', async () => {
    receiver.answer = (_, response) => response.end()
    const answer = await fetch(`${new URL('/stream', stack.url)}?url=${encodeURIComponent(receiver.url)}`)
    expect((await answer.text()).match(/data: \d+/g)).toHaveLength(15)
  })

  test('does not see the bindings that enforce its limits', async () => {
    expect(await ask('/env')).toEqual([])
  })
})

describe('an isolate', () => {
  test('that no longer uses its memory continues', async () => {
    expect(await ask('/garbage', 60)).toBe(60)
    await alive()
    expect(printed.filter((line) => line.includes('memory'))).toEqual([])
  })

  test('that holds more than 128 MB is ended, and another replaces it', async () => {
    expect(await ask('/fat', 100)).toBe(1)
    await ask('/fat', 60).catch(() => undefined)
    await said('Worker exceeded memory limit.').toBe(1)
    await alive()
    expect(await ask('/fat', 1)).toBe(1)
  })

  test('with an endless loop is ended', async () => {
    await ask('/loop').catch(() => undefined)
    await said('Worker exceeded CPU time limit.').toBe(1)
    await alive()
  })
})

test('without a plan there are no limits', async () => {
  await stack.close()
  stack = await start('off')
  receiver.answer = (_, response) => response.end()
  expect(await ask('/oneByOne', 51)).toBe(51)
  expect(await ask('/isolates', 32)).toBe(32)
  expect(await ask('/fat', 100)).toBe(1)
  expect(await ask('/fat', 60)).toBe(2)
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  expect(await ask('/fat', 1)).toBe(3)
})
