import { afterAll, beforeAll, expect, test } from 'vitest'
import { examples as workers } from '../../../examples/functions/index.ts'
import { type Kit, startKit } from '../../kit/index.ts'

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ workers })
})
afterAll(() => kit?.close())

async function count(files: { name: string; text: string }[]) {
  const id = await kit.make('word_count', { args: JSON.stringify({ files: files.length }) })
  const values = files.map((file) => JSON.stringify(file))
  for (let i = 0; i < values.length; i += 1000)
    await kit.engine.ports.write(String(id), 'in', 'files', values.slice(i, i + 1000))
  return id
}

test('each of 1,250 files is counted once, by at most 500 children at a time', {
  timeout: 60_000,
}, async () => {
  const files = Array.from({ length: 1_250 }, (_, i) => ({
    name: `f${i}`,
    text: `all f${i} ${i % 2 ? 'odd' : 'even even'}`,
  }))
  const id = await count(files)
  let most = 0
  await kit.until(async () => {
    const { status, children } = await kit.engine.jobs.get(String(id))
    most = Math.max(most, Object.keys(children).length)
    return status === 'completed'
  }, 50_000)
  const { values } = await kit.engine.ports.take(String(id), 'out', 'total', {})
  const total = JSON.parse(values[0]!.data)
  expect(total).toMatchObject({ all: 1_250, odd: 625, even: 1_250, f0: 1, f1249: 1 })
  expect(Object.keys(total)).toHaveLength(1_253)
  expect(most).toBeLessThanOrEqual(500)
  expect(await kit.engine.doctor.verify()).toEqual([])
})

test('a count of no files has no words', async () => {
  const id = await count([])
  await kit.rest(id, 'completed')
  expect(await kit.engine.ports.take(String(id), 'out', 'total', {})).toMatchObject({ values: [{ data: '{}' }] })
})
