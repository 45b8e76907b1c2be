import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { encodeValue } from '../../src/core/codec/value.ts'
import { createEngine } from '../../src/engine/index.ts'
import { defineWorker } from '../../src/index.ts'
import { type Kit, startKit } from '../kit/index.ts'

const adder = defineWorker({
  class: 'adder',
  history: 3,
  in: { n: {}, note: {} },
  async perform(job) {
    let sum = 0
    while (job.size('n') > 0) sum += (await job.read('n')) as number
    if (job.size('note') > 0) await job.read('note')
    return sum
  },
})

const sealing = { encryptionKeys: [new Uint8Array(32).fill(7)] }

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ workers: [adder], ...sealing })
})
afterAll(() => kit.close())
afterEach(async () => {
  expect(await kit.engine.doctor.verify()).toEqual([])
})

const resultOf = async (id: number): Promise<unknown> => {
  await kit.until(async () => ['completed', 'failed'].includes((await kit.engine.jobs.get(String(id))).status))
  const found = await kit.engine.jobs.result(String(id), {})
  return found.ended && found.result?.type === 'success' ? JSON.parse(found.result.result) : found
}

test('a copy starts with the inputs of the last run, or with given inputs', async () => {
  const id = await kit.make('adder', { inputs: { n: [1, 2, 3].map((n) => encodeValue(n)) } })
  expect(await resultOf(id)).toBe(6)
  expect(await resultOf((await kit.engine.jobs.copy(String(id), {})).id)).toBe(6)
  const named = await kit.engine.jobs.copy(String(id), { inputs: 'last', args: encodeValue({ by: 'hand' }) })
  expect(await resultOf(named.id)).toBe(6)
  expect((await kit.engine.jobs.get(String(named.id))).args).toBe('{"by":"hand"}')
  expect(await resultOf((await kit.engine.jobs.copy(String(id), { inputs: { n: [encodeValue(5)] } })).id)).toBe(5)
  expect(await resultOf((await kit.engine.jobs.copy(String(id), { inputs: {} })).id)).toBe(0)
  expect(await resultOf((await kit.engine.jobs.copy(String(named.id), { inputs: 'last' })).id)).toBe(6)
})

test('without kept inputs, a copy starts with none, and a request for inputs gets the reason', async () => {
  const large = `"${'x'.repeat(70_000)}"` as never
  const [none, much] = [
    await kit.make('adder', { history: 0, inputs: { n: [encodeValue(1)] } }),
    await kit.make('adder', { inputs: { note: [large] } }),
  ]
  for (const [id, why] of [
    [none, 'no run has read inputs since the history of the job began'],
    [much, 'its last run read more than 65536 bytes, the maximum'],
  ] as const) {
    await resultOf(id)
    expect(await resultOf((await kit.engine.jobs.copy(String(id), {})).id)).toBe(0)
    await expect(kit.engine.jobs.copy(String(id), { inputs: 'last' })).rejects.toMatchObject({
      code: 'REFUSED',
      message: `the last inputs of job ${id} were not kept: ${why}`,
    })
  }
})

test('kept inputs are encrypted if values are, and a deployment without the key cannot copy them', async () => {
  const id = await kit.make('adder', { inputs: { n: [encodeValue(4)] } })
  expect(await resultOf(id)).toBe(4)
  const { encryptionKeys: _, ...plain } = kit.engineOptions as typeof kit.engineOptions & typeof sealing
  const other = createEngine({ ...plain, workers: [adder] })
  for (const inputs of [undefined, 'last'] as const)
    await expect(other.jobs.copy(String(id), { inputs })).rejects.toMatchObject({
      code: 'REFUSED',
      message: `the inputs of job ${id} cannot be decrypted: add the key that encrypted them to SIDEJOB_ENCRYPTION_KEY`,
    })
})
