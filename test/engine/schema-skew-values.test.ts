import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encodeValue } from '../../src/core/codec/value.ts'
import type { WorkerDefinition } from '../../src/engine/engine.ts'
import { type Kit, startKit } from '../kit/index.ts'
import { startReceiver } from '../kit/receiver.ts'

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ hold: true })
})
afterAll(() => kit.close())

const object = (properties: object) => encodeValue({ type: 'object', properties })
const number = { width: { type: 'number' } }
const text = { width: { type: 'string' } }
const longer = { ...number, unit: { type: 'string' } }

const workerOf = (input: object, more: Partial<WorkerDefinition> = {}): WorkerDefinition => ({
  pull: true,
  in: { n: { schema: object(input) } },
  out: {},
  retry: { max: 1 },
  ...more,
})

let names = 0

async function versions(first: WorkerDefinition, second: WorkerDefinition) {
  const queue = `values${names++}`
  const register = async (definition: WorkerDefinition) =>
    (await kit.engine.workers.register(queue, 'sum', definition)).schema!
  const made = (...values: unknown[]) => kit.make('sum', { queue, inputs: { n: values.map(encodeValue) } })
  const claim = (schema: string, max = 5) => kit.engine.runs.claim(queue, { max, schemas: { sum: schema } })
  const built = await register(first)
  return { queue, made, claim, register, built, upgrade: () => register(second) }
}

const idsOf = (runs: { job: { id: number } }[]) => runs.map(({ job }) => job.id)

const faultOf = (work: Promise<unknown>) =>
  work.then(
    () => 'taken',
    ({ code, path, message, schema }) => ({ code, path, message, schema }),
  )

const write = (id: number, ...values: unknown[]) =>
  kit.engine.ports.write(String(id), 'in', 'n', values.map(encodeValue))

describe('an older pull worker', () => {
  test('received values of the newer schema at its ports: it gets 409 with both hashes, and the newer one gets the job', async () => {
    const { made, claim, built, upgrade } = await versions(workerOf(number), workerOf(text))
    const is = await upgrade()
    const id = await made({ width: 'wide' })
    expect(await faultOf(claim(built))).toEqual({
      code: 'SCHEMA_CHANGED',
      path: ['inputs', 'n', 0, 'width'],
      message: `job ${id}: inputs.n[0].width: expected a number, got "wide". Class sum has schema ${is}, and the worker was built against ${built}: build and deploy the worker again`,
      schema: { class: 'sum', current: is, built },
    })
    expect((await kit.engine.jobs.get(String(id))).attempt).toBe(0)
    expect(idsOf(await claim(is))).toEqual([id])
  })

  test('received a newer value at a port of a job that it had created itself', async () => {
    const { made, claim, built, upgrade } = await versions(workerOf(number), workerOf(text))
    const [job, other] = [await made({ width: 1 }), await made({ width: 2 })]
    await upgrade()
    await write(job, { width: 'wide' })
    expect(idsOf(await claim(built))).toEqual([other])
  })

  test('dropped a member of a value that its schema does not name', async () => {
    const { made, claim, built, upgrade } = await versions(workerOf(number), workerOf(longer))
    const is = await upgrade()
    const [job, other] = [await made({ width: 1, unit: 'mm' }), await made({ width: 2 })]
    expect(idsOf(await claim(built))).toEqual([other])
    expect(await faultOf(claim(built))).toMatchObject({
      code: 'SCHEMA_CHANGED',
      path: ['inputs', 'n', 0, 'unit'],
      message: expect.stringContaining('inputs.n[0].unit: unknown member'),
    })
    expect(idsOf(await claim(is))).toEqual([job])
  })

  test('still gets values with more members if the schema of their port is the same in both versions', async () => {
    const result = (properties: object) => ({ result: object(properties) })
    const { made, claim, built, upgrade } = await versions(
      workerOf(number, result(number)),
      workerOf(number, result(longer)),
    )
    await upgrade()
    const id = await made({ width: 1, sender: 'a webhook' })
    expect(idsOf(await claim(built))).toEqual([id])
  })

  test('never saw the values of a port that its schema does not name', async () => {
    const newer = workerOf(number, { in: { n: { schema: object(number) }, cancel: { schema: encodeValue({}) } } })
    const { queue, claim, built, upgrade } = await versions(workerOf(number), newer)
    const is = await upgrade()
    const quiet = await kit.make('sum', { queue })
    const id = await kit.make('sum', { queue, inputs: { cancel: ['true'] } })
    expect(idsOf(await claim(built))).toEqual([quiet])
    expect(await faultOf(claim(built))).toMatchObject({
      code: 'SCHEMA_CHANGED',
      path: ['inputs', 'cancel'],
      message: expect.stringContaining('inputs.cancel: unknown port'),
    })
    expect(idsOf(await claim(is))).toEqual([id])
  })

  test('received a default of the newer schema', async () => {
    const { made, claim, built, upgrade } = await versions(workerOf(number), workerOf(text))
    await upgrade()
    const id = await made()
    await kit.engine.ports.setDefault(String(id), 'in', 'n', encodeValue({ width: 'wide' }))
    expect(await faultOf(claim(built))).toMatchObject({
      code: 'SCHEMA_CHANGED',
      path: ['inputs', 'n', 'default', 'width'],
    })
  })

  test('received a newer value with the snapshot of a checkpoint: its changes are kept, and the job is given back', async () => {
    const { made, claim, built, upgrade } = await versions(workerOf(number), workerOf(text))
    const id = await made()
    const [run] = await claim(built)
    const is = await upgrade()
    await write(id, { width: 'wide' })
    const changes = { end: 'checkpoint', state: { set: { seen: '1' } }, schema: built } as const
    expect(await faultOf(kit.engine.runs.commit(run!.run.token, changes))).toMatchObject({
      code: 'SCHEMA_CHANGED',
      path: ['inputs', 'n', 0, 'width'],
      schema: { class: 'sum', current: is, built },
    })
    const [next] = await claim(is)
    expect(next).toMatchObject({ job: { id }, run: { attempt: 1 }, state: { seen: '1' } })
  })

  test('reads further values of a port only if they fit the schema that it names', async () => {
    const { made, claim, built, upgrade } = await versions(workerOf(number), workerOf(text))
    const id = await made({ width: 1 })
    const [run] = await claim(built)
    const is = await upgrade()
    await write(id, { width: 'wide' })
    const page = (schema?: string) => kit.engine.runs.values(run!.run.token, 'n', 0, schema)
    expect(await faultOf(page(built))).toMatchObject({
      code: 'SCHEMA_CHANGED',
      path: ['inputs', 'n', 1, 'width'],
      schema: { class: 'sum', current: is, built },
    })
    expect(await faultOf(page('0123456789abcdef'))).toMatchObject({ code: 'SCHEMA_CHANGED' })
    expect((await page()).values).toHaveLength(2)
  })

  test('committed a result with a member that the current schema does not name: 409, and the run is retried', async () => {
    const result = (properties: object) => ({ result: object(properties) })
    const { made, claim, built, upgrade } = await versions(
      workerOf(number, result({ colour: {} })),
      workerOf(number, result({ color: {} })),
    )
    const id = await made({ width: 1 })
    const [run] = await claim(built)
    const is = await upgrade()
    const commit = { end: 'completed', result: encodeValue({ colour: 'red' }), schema: built } as const
    expect(await faultOf(kit.engine.runs.commit(run!.run.token, commit))).toMatchObject({
      code: 'SCHEMA_CHANGED',
      path: ['result', 'colour'],
      message: expect.stringContaining('result.colour: unknown member; the run has failed'),
      schema: { class: 'sum', current: is, built },
    })
    const { status, runAt } = await kit.engine.jobs.get(String(id))
    expect({ status, runAt }).toEqual({ status: 'queued', runAt: expect.any(Number) })
  })

  test('commits a result with more members if the schema of results is the same in both versions', async () => {
    const result = { result: object({ sum: {} }) }
    const { made, claim, built, upgrade } = await versions(workerOf(number, result), workerOf(longer, result))
    await made({ width: 1 })
    const [run] = await claim(built)
    await upgrade()
    const commit = { end: 'completed', result: encodeValue({ sum: 1, took: 5 }), schema: built } as const
    expect(await faultOf(kit.engine.runs.commit(run!.run.token, commit))).toBe('taken')
  })
})

describe('a worker of the current schema', () => {
  test('received values that an older job waited with: the job fails with both hashes and the remedy', async () => {
    const { made, claim, built, upgrade } = await versions(workerOf(number), workerOf(text))
    const [old, fits] = [await made({ width: 1 }), await made()]
    const is = await upgrade()
    await write(fits, { width: 'wide' })
    expect(idsOf(await claim(is))).toEqual([fits])
    const { status, error } = await kit.engine.jobs.get(String(old))
    expect(status).toBe('failed')
    expect(JSON.parse(error!).message).toBe(
      `SCHEMA_CHANGED: inputs.n[0].width: expected a string, got 1. Class sum has schema ${is}, but job ${old} was created for ${built}: take the value out with POST /v1/jobs/${old}/in/n/read, then retry it`,
    )
    await kit.engine.ports.take(String(old), 'in', 'n', {})
    await kit.engine.jobs.retry(String(old))
    expect(idsOf(await claim(is))).toEqual([old])
  })

  test('gets values with more members, because no schema changed for them', async () => {
    const { made, claim, upgrade } = await versions(workerOf(number), workerOf(longer))
    const id = await made({ width: 1, sender: 'a webhook' })
    expect(idsOf(await claim(await upgrade()))).toEqual([id])
  })

  test('that is called by sidejob is not sent a value of an older schema', async () => {
    const receiver = await startReceiver((_, response) => response.end(JSON.stringify({ end: 'completed' })))
    const push = { pull: undefined, push: { url: receiver.url } }
    const { queue, made, upgrade } = await versions(workerOf(number, push), workerOf(text, push))
    const id = await made({ width: 1 })
    await upgrade()
    await kit.engine.dispatch(queue, '')
    await receiver.close()
    expect(receiver.came).toEqual([])
    expect((await kit.engine.jobs.get(String(id))).error).toContain('inputs.n[0].width: expected a string, got 1')
  })
})
