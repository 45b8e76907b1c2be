import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { core } from '../../functions/core.ts'
import { decodeValue, encodeValue } from '../../src/core/codec/value.ts'
import { duration } from '../../src/core/time.ts'
import type { Worker } from '../../src/core/worker.ts'
import type { PortSpecs } from '../../src/engine/engine.ts'
import { createEngine } from '../../src/engine/index.ts'
import { type Kit, startKit } from '../kit/index.ts'
import { type Player, play, type Seen } from './play.ts'
import { type Row, table } from './table.ts'

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ hold: true, workers: core })
})
afterAll(() => kit.close())

const specsOf = (ports: Row['with']['in'] = {}): PortSpecs =>
  Object.fromEntries(
    Object.entries(ports).map(([name, spec]) => [
      name,
      'default' in spec ? { default: encodeValue(spec.default) } : {},
    ]),
  )

const mapped = <A, B>(from: Record<string, A>, to: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(from).map(([name, value]) => [name, to(value)]))

async function player(className: string, { in: ins, out: outs, args }: Row['with']): Promise<Player> {
  const id = String(
    await kit.make(className, {
      queue: 'core',
      in: specsOf(ins),
      out: specsOf(outs),
      ...(args === undefined ? {} : { args: encodeValue(args) }),
    }),
  )
  return {
    advance: (time) => kit.advance(duration(time)),
    setDefault: (port, value) => kit.engine.ports.setDefault(id, 'in', port, encodeValue(value)),
    async write(port, values) {
      await kit.engine.ports.write(id, 'in', port, values.map(encodeValue))
    },
    async settle(ask) {
      if (ask) await kit.engine.jobs.run(id, {})
      await kit.engine.dispatch('core', 'none')
    },
    async look(): Promise<Seen> {
      const { status, error, in: inputs, out: outputs } = await kit.engine.jobs.get(id)
      const out: Record<string, unknown[]> = {}
      for (const [port, { size }] of Object.entries(outputs)) {
        const { values } = size > 0 ? await kit.engine.ports.take(id, 'out', port, { max: size }) : { values: [] }
        out[port] = values.map(({ data }) => decodeValue(data))
      }
      const defaults = Object.entries(outputs).filter(([, port]) => port.default !== undefined)
      return {
        status,
        error: error === null ? undefined : (decodeValue(error) as { message: string }).message,
        out,
        outDefaults: mapped(Object.fromEntries(defaults), (port) => decodeValue(port.default!)),
        left: mapped(inputs, ({ size }) => size),
      }
    },
  }
}

describe.each(core)('$class', ({ class: className }) => {
  test.each(table[className]!)('$name', async (row) => play(row, await player(className, row.with)))
})

test.each(core)(
  '$class, imported without the rest of the library, refuses no value when it is written',
  async ({ class: className, in: ins = {} }) => {
    const own = Object.values<Worker>(await import(`../../functions/${className}.ts`))
    const alone = createEngine({ ...kit.engineOptions, workers: own.filter((one) => one.class === className) })
    const ports = Object.keys(ins).map((port) => port.replace('*', 'any'))
    const inputs = Object.fromEntries(ports.map((port) => [port, [encodeValue(null)]]))
    const { jobs } = await alone.jobs.enqueue([{ queue: 'core', class: className, inputs }])
    const { in: written } = await alone.jobs.get(String(jobs[0]!.id))
    expect(mapped(written, ({ size }) => size)).toMatchObject(mapped(inputs, () => 1))
  },
)

test('the doctor finds no fault after all rows', async () => {
  expect(await kit.engine.doctor.verify()).toEqual([])
})
