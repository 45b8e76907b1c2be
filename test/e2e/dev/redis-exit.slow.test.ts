import { writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { findServer } from '../../../infra/stand-ins/redis.ts'
import { connect, text } from '../../../infra/stand-ins/resp.ts'
import { createClient } from '../../../src/client/index.ts'
import { type Stack, startDev } from '../../../src/dev/index.ts'
import { makeProject } from './project.ts'

describe.skipIf(!findServer())('if the Redis of sidejob dev is killed', () => {
  let project: ReturnType<typeof makeProject>
  let stack: Stack
  let lines: string[]
  beforeEach(() => {
    project = makeProject()
    lines = []
  })
  afterEach(async () => {
    await stack.close()
    project.remove()
  })

  async function start(persist: boolean) {
    const options = { project: project.dir, port: 0, redis: 'server', persist }
    stack = await startDev({ ...options, say: (line) => void lines.push(line) })
  }

  async function killRedis(): Promise<void> {
    const redis = await connect(stack.redis)
    const pid = Number(/process_id:(\d+)/.exec(text(await redis.call('INFO', 'server')))![1])
    process.kill(pid, 'SIGKILL')
    await redis.closed
  }

  test('it reports this and restarts Redis with its data', async () => {
    await start(true)
    const client = createClient({ url: stack.url, key: stack.apiKey })
    const { id } = await client.jobs.enqueue({ class: 'double', inputs: { n: [2] }, wait: '1h' })
    await killRedis()
    await vi.waitFor(
      async () => expect(await client.jobs.get(id)).toMatchObject({ class: 'double', status: 'queued' }),
      10_000,
    )
    expect(lines).toContain('Redis exited unexpectedly. It is being restarted with its data.')
    const next = await client.jobs.enqueue({ class: 'double', inputs: { n: [2] } })
    await vi.waitFor(async () => expect(await client.jobs.get(next.id)).toMatchObject({ status: 'completed' }), 10_000)
  })

  test('it ends with the reason if Redis does not start again', async () => {
    await start(true)
    const data = join(project.dir, '.sidejob/redis/appendonlydir')
    await rm(data, { recursive: true })
    writeFileSync(data, 'not a folder')
    const gone = expect(stack.gone).rejects.toThrow(/redis-server does not start:[\s\S]*appendonlydir/)
    await killRedis()
    await gone
  })

  test('it ends if the data was only in memory', async () => {
    await start(false)
    const gone = expect(stack.gone).rejects.toThrow(
      'Redis exited unexpectedly. Its data was only in memory and is lost',
    )
    await killRedis()
    await gone
  })
})
