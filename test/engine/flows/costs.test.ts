import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encodeValue } from '../../../src/core/codec/value.ts'
import { type Kit, kind, startKit } from '../../kit/index.ts'
import { costOf } from '../../redis/commandstats.ts'
import { chain, workers } from './kit.ts'

describe.skipIf(kind === 'embedded')('a value from end to end', () => {
  let kit: Kit
  beforeAll(async () => {
    kit = await startKit({ workers })
    await kit.engine.tick()
    await kit.engine.queues.update('core', { lanes: 1 })
  })
  afterAll(() => kit.close())

  const cost = (work: () => Promise<unknown>) => costOf(kit, work)

  async function measure(n: number) {
    let id = 0
    await cost(async () => {
      id = await kit.make('flow', { queue: 'core', inputs: { __graph: [encodeValue(chain(n))] } })
    })
    const value = async (what: string) => {
      const spent = await cost(() => kit.engine.ports.write(String(id), 'in', 'x', [what]))
      expect((await kit.engine.ports.take(String(id), 'out', 'y', {})).values.map(({ data }) => data)).toEqual([what])
      expect(await kit.statusOf(id)).toBe('completed')
      return spent
    }
    return { fresh: await value('1'), running: await value('2') }
  }

  /** Maximum round trips. `original`: SideJob, an older system. `fresh`: a new flow. `running`: a running flow. */
  const rows: [n: number, original: number, fresh: number, running: number][] = [
    [1, 251, 5, 3],
    [2, 431, 7, 4],
    [5, 1043, 13, 7],
    [10, 2303, 23, 12],
    [20, 5723, 43, 22],
  ]
  const page = readFileSync(join(import.meta.dirname, '../../../docs/flows.md'), 'utf8')

  test.each(rows)(
    'through %i nodes took %i round trips before, and now takes %i if the nodes start for it and %i if they run',
    async (n, original, fresh, running) => {
      const spent = await measure(n)
      expect(spent.fresh.calls).toBeLessThanOrEqual(fresh)
      expect(spent.running.calls).toBeLessThanOrEqual(running)
      expect(page).toContain(`| ${n} | ${original.toLocaleString('en')} | ${fresh} | ${running} |`)
    },
  )

  test('only a recorded flow costs one more command for each script that moves something', async () => {
    let id = ''
    await cost(async () => {
      id = String(await kit.make('flow', { queue: 'core', inputs: { __graph: [encodeValue(chain(5))] } }))
    })
    const value = () => cost(() => kit.engine.ports.write(id, 'in', 'x', ['1']))
    await value()
    const plain = await value()
    expect(plain.commands.xadd).toBeUndefined()
    await kit.engine.flows.record(id, 3_600_000)
    const recorded = await value()
    const { xadd, ...others } = recorded.commands
    expect(others).toEqual(plain.commands)
    expect(recorded.calls).toBe(plain.calls)
    expect(xadd).toBeLessThanOrEqual(plain.calls)
    const { events } = await kit.engine.flows.recorded(id, { limit: 100 })
    expect(events).toHaveLength(xadd!)
    expect(new Set(events.flatMap(({ moves }) => moves.map(({ node }) => node))).size).toBeGreaterThanOrEqual(5)
    const shown = await cost(() => kit.engine.flows.recorded(id, { limit: 100 }))
    expect(shown.commands.xrevrange).toBe(1)
    expect(shown.calls).toBe(2)
  })
})
