import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { defineWorker, type Job } from '../../src/index.ts'
import { drain } from '../../src/testing/index.ts'
import { type Doors, startDoors } from './kit.ts'

const MiB = 1_048_576
const oneMiB = (letter: string) => letter.repeat(MiB - 2)

const sleeper = defineWorker({ class: 'sleeper', in: { in: {} }, perform: (job: Job) => job.suspend() })
const seen: Record<string, number>[] = []
const reader = defineWorker({
  class: 'reader',
  queue: 'read',
  retain: 60_000,
  perform(job: Job) {
    const names = ['f0', 'f1', 'f2', 'f3', 'f4', 'f5', 'f6']
    seen.push(Object.fromEntries(names.map((name) => [name, String(job.get(name)).length])))
  },
})
const writer = defineWorker({
  class: 'writer',
  queue: 'batch',
  in: { in: {} },
  retry: { max: 0 },
  perform(job: Job) {
    if (job.args === 'too much') for (let i = 0; i < 7; i++) job.set({ [`more${i}`]: oneMiB('y') })
    return job.suspend()
  },
})

let doors: Doors
beforeAll(async () => {
  doors = await startDoors({ workers: [sleeper, reader, writer] })
})
afterAll(() => doors.close())
afterEach(async () => {
  expect(doors.slow()).toEqual([])
  expect(doors.reported.splice(0)).toEqual([])
})

const make = async (job: object): Promise<number> => {
  const { status, text } = await doors.ask('POST', '/v1/jobs', job)
  expect({ status, text }).toMatchObject({ status: 201 })
  return JSON.parse(text).id
}
const setState = (id: number, state: object) => doors.ask('PATCH', `/v1/jobs/${id}/state`, { set: state })
const fill = async (id: number, n: number) =>
  expect(
    await setState(id, Object.fromEntries(Array.from({ length: n }, (_, i) => [`f${i}`, oneMiB('x')]))),
  ).toMatchObject({ status: 200 })
const jobOf = async (id: number) => {
  const { status, text } = await doors.ask('GET', `/v1/jobs/${id}`)
  expect(status).toBe(200)
  return JSON.parse(text)
}

test('a job holds 7 MB of state and can be read completely; a write above 8 MB is refused', {
  timeout: 60_000,
}, async () => {
  seen.length = 0
  const id = await make({ class: 'reader', queue: 'read', wait: '10h' })
  await fill(id, 7)
  const over = await setState(id, { f7: oneMiB('x') })
  expect(over.status).toBe(413)
  expect(JSON.parse(over.text)).toMatchObject({
    error: { code: 'TOO_LARGE', message: expect.stringContaining('expected at most 8388608 bytes') },
  })
  const state = JSON.parse((await doors.ask('GET', `/v1/jobs/${id}/state`)).text)
  expect(Object.keys(state.state ?? state).sort()).toEqual(['f0', 'f1', 'f2', 'f3', 'f4', 'f5', 'f6'])
  expect((await jobOf(id)).id).toBe(id)
  for (const path of ['/v1/jobs?queue=read', '/v1/jobs'])
    expect(await doors.ask('GET', path)).toMatchObject({ status: 200 })
  await doors.ask('POST', `/v1/jobs/${id}/run`, {})
  await drain(doors.engine)
  expect(seen).toEqual([{ f0: MiB - 2, f1: MiB - 2, f2: MiB - 2, f3: MiB - 2, f4: MiB - 2, f5: MiB - 2, f6: MiB - 2 }])
})

test('removed values free their bytes, no matter how often a value is replaced', { timeout: 60_000 }, async () => {
  const id = await make({ class: 'sleeper', wait: '10h' })
  await fill(id, 7)
  for (let i = 0; i < 2; i++) expect(await setState(id, { f0: oneMiB('z') })).toMatchObject({ status: 200 })
  expect(await setState(id, { f7: oneMiB('x') })).toMatchObject({ status: 413 })
  expect(await setState(id, { f0: 1 })).toMatchObject({ status: 200 })
  expect(await setState(id, { f7: oneMiB('x') })).toMatchObject({ status: 200 })
  expect(await doors.engine.doctor.verify()).toEqual([])
})

test('values waiting at ports count as well, until they are read', { timeout: 60_000 }, async () => {
  const id = await make({ class: 'sleeper', wait: '10h', in: { in: {}, other: {} } })
  const write = (port: string) => doors.ask('POST', `/v1/jobs/${id}/in/${port}`, { value: oneMiB('v') })
  for (let i = 0; i < 7; i++) expect(await write(i % 2 ? 'in' : 'other')).toMatchObject({ status: 200 })
  expect(await write('in')).toMatchObject({ status: 413 })
  expect(await doors.ask('POST', `/v1/jobs/${id}/in/in/read`, { max: 1 })).toMatchObject({ status: 200 })
  expect(await write('in')).toMatchObject({ status: 200 })
  expect(await write('in')).toMatchObject({ status: 413 })
  expect(await setState(id, { f: oneMiB('x') })).toMatchObject({ status: 413 })
})

test('counting a full port of 100,000 small values delays no other call', { timeout: 60_000 }, async () => {
  const id = await make({ class: 'sleeper', wait: '10h', in: { in: {}, other: {} } })
  const values = Array.from({ length: 10_000 }, (_, i) => `${'v'.repeat(60)}${i}`)
  for (let i = 0; i < 10; i++)
    expect(await doors.ask('POST', `/v1/jobs/${id}/in/in`, { values })).toMatchObject({ status: 200 })
  await doors.ask('POST', `/v1/jobs/${id}/in/in/read`, { max: 1 })
  expect(await doors.ask('POST', `/v1/jobs/${id}/in/other`, { value: oneMiB('v') })).toMatchObject({ status: 200 })
  expect(await doors.ask('POST', `/v1/jobs/${id}/in/other`, { value: oneMiB('v') })).toMatchObject({ status: 413 })
})

test('a full listener misses the message, and the publisher is not affected', {
  timeout: 60_000,
}, async () => {
  const full = await make({ class: 'sleeper', wait: '10h', in: { in: { channels: ['/size'] } } })
  const other = await make({ class: 'sleeper', wait: '10h', in: { in: { channels: ['/size'] } } })
  await fill(full, 7)
  expect(await doors.ask('POST', '/v1/publish', { channel: '/size', message: oneMiB('m') })).toMatchObject({
    status: 200,
  })
  const sizes = await Promise.all(
    [full, other].map(async (id) => JSON.parse((await doors.ask('GET', `/v1/jobs/${id}/in/in`)).text).size),
  )
  expect(sizes).toEqual([0, 1])
})

test('a run that would make its job too large fails with the reason, and other runs complete', {
  timeout: 60_000,
}, async () => {
  const fat = await make({ class: 'writer', queue: 'batch', wait: '10h', args: 'too much' })
  await fill(fat, 3)
  const others = await Promise.all([1, 2, 3].map(() => make({ class: 'writer', queue: 'batch' })))
  await doors.ask('POST', `/v1/jobs/${fat}/run`, {})
  await doors.engine.dispatch('batch', 'bell')
  expect(await jobOf(fat)).toMatchObject({
    status: 'failed',
    error: { code: 'TOO_LARGE', message: expect.stringContaining('expected at most 8388608 bytes') },
  })
  for (const id of others) expect(await doors.statusOf(id)).toBe('suspended')
})

test('a job has at most 1,000 state fields, 1,000 input ports, 1,000 output ports and 100 aliases', {
  timeout: 60_000,
}, async () => {
  const some = (from: number, n: number) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`n${from + i}`, 1]))
  // The port `*` and the input port of the class count too.
  const ports = Object.fromEntries(Array.from({ length: 988 }, (_, i) => [`p${i}`, {}]))
  const alias = Array.from({ length: 95 }, (_, i) => `a${i}`)
  const id = await make({ class: 'sleeper', wait: '10h', in: { '*': {}, ...ports }, alias })
  expect(await setState(id, some(0, 600))).toMatchObject({ status: 200 })
  expect(await setState(id, some(600, 401))).toMatchObject({ status: 413 })
  expect(await setState(id, some(600, 400))).toMatchObject({ status: 200 })
  expect(await setState(id, some(0, 600))).toMatchObject({ status: 200 })
  for (let i = 988; i < 998; i++)
    expect(await doors.ask('POST', `/v1/jobs/${id}/in/p${i}`, { value: 1 })).toMatchObject({ status: 200 })
  const one = await doors.ask('POST', `/v1/jobs/${id}/in/one_more`, { value: 1 })
  expect(one.status).toBe(413)
  expect(one.text).toContain('expected at most 1000 in ports')
  for (let i = 95; i < 100; i++)
    expect(await doors.ask('PUT', `/v1/jobs/${id}/aliases/a${i}`, {})).toMatchObject({ status: 200 })
  expect(await doors.ask('PUT', `/v1/jobs/${id}/aliases/a100`, {})).toMatchObject({ status: 413 })
  expect(await doors.engine.doctor.verify()).toEqual([])
})
