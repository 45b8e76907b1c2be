import { expect, test } from 'vitest'
import { createExporter } from '../../src/engine/trace/exporter.ts'

const span = { traceId: 'a', spanId: 'b', name: 'run', kind: 'internal', start: 0, end: 1, attributes: {} } as const

test('traces are sent again after an invocation was cut off while it sent some', async () => {
  let at = 1_000_000
  let sent = 0
  const fetch = (() => {
    sent++
    return new Promise(() => {})
  }) as typeof globalThis.fetch
  const exporter = createExporter({ endpoint: 'http://127.0.0.1:1', resource: {}, fetch, now: () => at })
  const add = async () => {
    exporter.add([span])
    await new Promise((resolve) => setTimeout(resolve))
    return sent
  }
  expect(await add()).toBe(1)
  expect(await add()).toBe(1)
  at += 30_000
  expect(await add()).toBe(2)
})
