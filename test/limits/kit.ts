import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { createApp } from '../../src/http/app.ts'
import { type KitOptions, kind, rawCommand, startKit } from '../kit/index.ts'

/** Milliseconds, on the idle reference machine. */
export const MAX_CALL_MS = 50

/**
 * Scripts that measure how slow the machine is now. `ms` is the time on an idle machine on which the slowest call takes
 * 40 ms. The second script also measures a busy memory.
 */
const yardsticks = [
  { ms: 10, script: "local t = {} for i = 1, 20000 do t[i % 1000] = tostring(i) .. ':' .. i end return #t" },
  {
    ms: 40,
    script:
      "local t for i = 1, 4 do t = string.rep('x', 1048576) .. i redis.call('SET', KEYS[1], t) t = redis.call('GET', KEYS[1]) end redis.call('DEL', KEYS[1]) return #t",
  },
]

export async function startDoors(options: KitOptions = {}) {
  const kit = await startKit({ hold: true, apiKey: 'key', ...options })
  const reported: unknown[] = []
  const app = createApp({
    engine: kit.engine,
    verify: async () => true,
    publicUrl: 'http://127.0.0.1:1',
    report: (error) => reported.push(error),
  })

  async function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const response = await app.fetch(
      new Request(`http://inside.test${path}`, {
        method,
        headers: { authorization: 'Bearer key', 'content-type': 'application/json', ...headers },
        body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
      }),
    )
    const text = await response.text()
    return { status: response.status, text, headers: response.headers }
  }

  const raw = (...words: string[]) => rawCommand(kit.redis.port, ...words)
  const server = (options.on ?? kind) === 'server'
  if (server) {
    await raw('CONFIG', 'SET', 'slowlog-log-slower-than', String(MAX_CALL_MS * 1_000))
    // Redis keeps this memory (MALLOC_CONF in vitest.config.ts), so no measured call waits for new pages.
    await raw('SETRANGE', 'memory', String(128 * 1_048_576), 'x')
    await raw('DEL', 'memory')
  }

  /** Milliseconds of CPU time, which do not depend on the load of the machine. */
  async function worked(): Promise<number> {
    const info = await raw('INFO', 'cpu')
    const seconds = (name: string) => Number(new RegExp(`${name}:([\\d.]+)`).exec(info)![1])
    return (seconds('used_cpu_user_main_thread') + seconds('used_cpu_sys_main_thread')) * 1_000
  }

  /** The slowest run counts, because other processes delay some runs, as they may have delayed the measured call. */
  async function measuredSlowness(): Promise<number> {
    const factors = [1]
    for (let n = 0; n < 5; n++) {
      for (const { script, ms } of yardsticks) {
        const before = await worked()
        await raw('EVAL', script, '1', 'yardstick')
        factors.push(((await worked()) - before) / ms)
      }
      await sleep(100)
    }
    return Math.max(...factors)
  }

  let measuring: Promise<number> | undefined
  /** A measurement delays all calls, so concurrent callers share a measurement. */
  const slowness = () => {
    measuring ??= measuredSlowness().finally(() => (measuring = undefined))
    return measuring
  }

  const slow: string[] = []
  async function watched<T>(name: string, work: () => Promise<T>): Promise<T> {
    if (!server) return work()
    await raw('SLOWLOG', 'RESET')
    const before = await worked()
    const done = await work()
    const all = (await worked()) - before
    const calls = all < MAX_CALL_MS ? '' : await raw('SLOWLOG', 'GET', '100')
    const longest = Math.max(
      0,
      ...[...calls.matchAll(/\*6\r\n:\d+\r\n:\d+\r\n:(\d+)\r\n/g)].map(([, us]) => Number(us) / 1_000),
    )
    // `longest` includes waits for other processes, so it may exceed the CPU time of Redis.
    const took = Math.min(all, longest)
    if (took < MAX_CALL_MS) return done
    const factor = await slowness()
    if (took > MAX_CALL_MS * factor)
      slow.push(`${name.slice(0, 200)}: ${Math.round(took)} ms (${factor.toFixed(1)} times slower)`)
    return done
  }

  return {
    ...kit,
    app,
    reported,
    ask: (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
      watched(`${method} ${path}`, () => ask(method, path, body, headers)),
    watched,
    raw,
    slow: () => slow.splice(0),
  }
}

export type Doors = Awaited<ReturnType<typeof startDoors>>

type LargeJobs = { queue: string; jobs: number; ports: number; bytes: number }

export async function listLargeJobs(doors: Doors, { queue, jobs, ports, bytes }: LargeJobs): Promise<void> {
  const all = Object.fromEntries(Array.from({ length: ports }, (_, i) => [`port${i}`, { default: 'x'.repeat(bytes) }]))
  const job = { class: 'quick', queue, wait: '10h', in: all, out: all }
  const ids: number[] = []
  for (let i = 0; i < jobs; i++) ids.push(JSON.parse((await doors.ask('POST', '/v1/jobs', job)).text).id)
  for (const id of ids) await doors.ask('POST', `/v1/jobs/${id}/terminate`, {})
  for (const query of ['class=quick', 'status=terminated', 'sort=ended']) {
    const seen: number[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { text } = await doors.ask('GET', `/v1/jobs?queue=${queue}&${query}${cursor && `&cursor=${cursor}`}`)
      const page = JSON.parse(text)
      seen.push(...page.jobs.map(({ id }: { id: number }) => id))
      cursor = page.cursor
    }
    expect(seen.sort((a, b) => a - b)).toEqual(ids)
  }
}
