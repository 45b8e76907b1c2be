import { describe, expect, test } from 'vitest'
import { core } from '../../functions/core.ts'
import { sandbox } from '../../src/testing/index.ts'
import { type Player, play } from './play.ts'
import { type Row, table } from './table.ts'

function player(worker: (typeof core)[number], made: Row['with']): Player {
  const job = sandbox(worker, made)
  let error: string | undefined
  return {
    advance: (time) => job.advance(time),
    setDefault: (port, value) => job.setDefault(port, value),
    write: async (port, values) => job.write(port, ...values),
    async settle(ask) {
      if (ask) job.wake()
      const last = await job.settle()
      if (last) error = last.error?.message
    },
    async look() {
      const { status, defaults, unread } = job
      const out = Object.fromEntries(Object.keys(job.out).map((port) => [port, job.take(port)]))
      const left = Object.fromEntries(Object.entries(unread).map(([port, values]) => [port, values.length]))
      return { status, error, out, outDefaults: defaults, left }
    },
  }
}

describe.each(core)('$class', (worker) => {
  test.each(table[worker.class]!)('$name', (row) => play(row, player(worker, row.with)))
})

test('every function of the library has six rows, one of them an error', () => {
  for (const { class: name } of core) {
    expect(table[name]?.length, name).toBeGreaterThanOrEqual(6)
    expect(
      table[name]!.some(({ steps }) => steps.some((step) => step.error ?? step.refused)),
      name,
    ).toBe(true)
  }
  expect(Object.keys(table)).toEqual(core.map((worker) => worker.class))
})
