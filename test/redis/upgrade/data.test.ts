// What a former version has left behind, written by its own code (see make.ts), is carried on by ours: every kind of job
// ends as it should, and nothing is left that is not as it must be.

import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Redis } from '@upstash/redis'
import { afterEach, expect, test } from 'vitest'
import { core } from '../../../functions/core.ts'
import { decodeValue, encodeValue } from '../../../src/core/codec/value.ts'
import type { Engine } from '../../../src/engine/index.ts'
import * as library from '../../../src/index.ts'
import { type Kit, startKit } from '../../kit/index.ts'
import { type Line, load } from './dump.ts'
import { workersOf } from './workers.ts'

const [MINUTE, HOUR] = [60_000, 3_600_000]
type Ids = Record<string, number> & { lock: string; apiKey: string } & Record<`tokens of ${string}`, string[]>

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** Who is called back; answers what it was told. */
async function listener() {
  const told: unknown[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    told.push(JSON.parse(Buffer.concat(chunks).toString()))
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  return { told, host: `127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** Our engine on a former version's data, at the moment at which they were written. */
async function playing(file: string, host: string) {
  const kit = await startKit({ hold: true, workers: [...workersOf(library), ...core] })
  closing.push(() => kit.close())
  const lines = readFileSync(join(import.meta.dirname, file), 'utf8')
    .replaceAll('127.0.0.1:65535', host)
    .split('\n')
  const { made, ids } = JSON.parse(lines[0]!) as { made: number; ids: Ids }
  await kit.advance(made - kit.now())
  const redis = new Redis({ ...kit.options, automaticDeserialization: false })
  for (const line of lines.slice(1)) if (line) await load(redis, JSON.parse(line) as Line)
  return { kit, ids }
}

/** Everything that can be done now is done. */
async function settle({ engine }: Kit): Promise<void> {
  for (let ran = 1; ran > 0; ) {
    await engine.tick()
    ran = 0
    for (const queue of ['default', 'core', 'sidejob']) ran += (await engine.dispatch(queue, 'none')).runs
  }
}

const resultOf = async (engine: Engine, id: number) => {
  const answer = await engine.jobs.result(String(id), { take: false })
  return answer.ended && answer.result?.type === 'success' ? decodeValue(answer.result.result) : answer
}

test('data that the version before schemas has written are carried on, whatever kind of job', {
  timeout: 60_000,
}, async () => {
  const { told, host } = await listener()
  const { kit, ids } = await playing('data-before-schemas.jsonl', host)
  const { engine } = kit
  const status = (name: string) => kit.statusOf(ids[name]!)
  const outputs = async (name: string, port = 'out') =>
    (await engine.ports.take(String(ids[name]), 'out', port, { max: 100 })).values.map(({ data }) => decodeValue(data))

  await settle(kit)
  for (const name of ['ready 1', 'ready 2', 'urgent']) expect([name, await status(name)]).toEqual([name, 'completed'])
  expect(await outputs('suspended')).toEqual(['aa'])
  expect(await outputs('flow', 'y')).toEqual([1, 'x'.repeat(700)])
  expect(await resultOf(engine, ids.answered!)).toEqual({ kept: true })
  expect((await engine.jobs.get('by-name')).id).toBe(ids.named)
  expect(await engine.keys.authenticate(ids.apiKey)).toMatchObject({ name: 'of before', scopes: ['read'] })
  const [{ id: keyId } = { id: '' }] = (await engine.keys.list()).keys
  expect(keyId).toMatch(/^[0-9a-f]{16}$/)
  await engine.keys.remove(keyId)
  expect(await engine.keys.authenticate(ids.apiKey)).toBeUndefined()
  expect(await engine.channels.publish('/news', encodeValue('n'))).toMatchObject({ subscribers: 1 })
  await settle(kit)
  expect(await outputs('listens')).toEqual(['nn'])

  // Runs under way are committed by the tokens of before; who waits at their limits follows, one by one.
  for (const className of ['chore', 'narrow', 'crowd']) {
    const [token] = ids[`tokens of ${className}`]!
    await engine.runs.commit(token!, { end: 'completed', ops: [] } as never)
    for (const n of [2, 3]) {
      const runs = await engine.runs.claim('pull', { max: className === 'chore' ? 1 : 3, names: [className] })
      expect(runs.map(({ job }) => job.id)).toEqual([ids[`${className} ${n}`]])
      await engine.runs.commit(runs[0]!.run.token, { end: 'completed', ops: [] } as never)
    }
    expect(await engine.runs.claim('pull', { max: 3, names: [className] })).toEqual([])
  }

  // What waited for time: not before it, and then once.
  expect(await engine.jobs.enqueue([{ queue: 'default', class: 'plain', unique: 'only-one' }])).toMatchObject({
    jobs: [{ id: ids.unique, existing: true }],
  })
  for (const name of ['parent', 'pause', 'later', 'unique', 'locked', 'told', 'rated 2'])
    expect([name, await status(name)]).toEqual([name, expect.stringMatching(/queued|suspended/)])
  await engine.jobs.unlock(String(ids.locked), { token: ids.lock })
  await settle(kit)
  expect(await status('locked')).toBe('completed')
  await kit.advance(HOUR + MINUTE)
  await settle(kit)
  expect(await resultOf(engine, ids.pause!)).toBe(42)
  expect(await resultOf(engine, ids.brittle!)).toBe('now')
  expect(await resultOf(engine, ids['rated 2']!)).toEqual({ rated: true })
  expect(await outputs('values')).toEqual(['bb', 'c'.repeat(1_200)])
  expect(told).toMatchObject([{ id: ids.told, status: 'completed' }])
  for (const name of ['parent', 'told']) expect([name, await status(name)]).toEqual([name, 'completed'])
  expect(await resultOf(engine, ids.hourly!)).toBe('tick')
  expect(await status('hourly')).toBe('queued')
  await kit.advance(HOUR)
  await settle(kit)
  for (const name of ['later', 'unique']) expect([name, await status(name)]).toEqual([name, 'completed'])
  expect(await engine.doctor.verify()).toEqual([])
})
