// Rule 84: limits of the bytes, ports, fields and aliases of a job.

import { expect } from 'vitest'
import type { Encoded } from '../../../src/core/codec/value.ts'
import type { Facts, World } from '../direct.ts'

const DAY = 86_400_000
const later = (world: World) => world.now() + DAY
const MB = 1_000_000
const large = (n = MB) => `"${'x'.repeat(n)}"`
const tooLarge = { code: 'TOO_LARGE' }

const set = (world: World, id: number, field: string, value: string) => world.change(id, 'set', field, value)
const write = (world: World, id: number, port: string, ...values: string[]) =>
  world.change(id, 'write', '', 'i', port, '', values.length, ...values.map((value) => `=${value}`))
const sleeper = (world: World, inports: object = { in: {} }) =>
  world.make({ at: later(world), in: inports as Record<string, object> })

async function fill(world: World, id: number, n: number): Promise<void> {
  for (let i = 0; i < n; i++) await set(world, id, `f${i}`, large())
}

async function inHundreds(world: World, id: number, n: number, words: (i: number) => string[]): Promise<void> {
  for (let from = 0; from < n; from += 100)
    await world.store.change(
      String(id),
      Array.from({ length: Math.min(100, n - from) }, (_, i) => words(from + i)),
    )
}

const rule84: Facts = {
  async 'a job holds eight megabytes of state, and replaced values do not count'(world) {
    const id = await sleeper(world)
    await fill(world, id, 8)
    await expect(set(world, id, 'f8', large())).rejects.toMatchObject(tooLarge)
    await set(world, id, 'f0', large())
    await set(world, id, 'f0', '1')
    await set(world, id, 'f8', large())
    await expect(set(world, id, 'f0', large())).rejects.toMatchObject(tooLarge)
    await world.change(id, 'unset', 'f8')
    await set(world, id, 'f0', large())
  },
  async 'values waiting at its ports count, until they are taken'(world) {
    const id = await sleeper(world)
    for (let i = 0; i < 8; i++) await write(world, id, 'in', large())
    await expect(write(world, id, 'in', large())).rejects.toMatchObject(tooLarge)
    await world.change(id, 'take', '', 'i', 'in', 2)
    await write(world, id, 'in', large())
    await expect(set(world, id, 'f', large())).resolves.toBeDefined()
    await expect(set(world, id, 'g', large())).rejects.toMatchObject(tooLarge)
  },
  async 'small values count together, and so do defaults'(world) {
    const id = await sleeper(world)
    await fill(world, id, 8)
    const fields = (n: number) => Array.from({ length: 100 }, (_, i) => ['set', `n${n}_${i}`, large(500)])
    for (let n = 0; n < 7; n++) await world.store.change(String(id), fields(n))
    await expect(world.store.change(String(id), fields(7))).rejects.toMatchObject(tooLarge)
    await world.change(id, 'unset', 'f0')
    await write(world, id, 'in', ...Array<string>(1_000).fill(large(698)))
    await expect(world.change(id, 'default', '', 'i', 'in', '1', `=${large()}`)).rejects.toMatchObject(tooLarge)
  },
  async 'two writes in one call count twice'(world) {
    const id = await sleeper(world)
    await fill(world, id, 7)
    const once = ['write', '', 'i', 'in', '', '1', `=${large(700_000)}`]
    await expect(world.store.change(String(id), [once, once])).rejects.toMatchObject(tooLarge)
    expect((await world.engine().ports.get(String(id), 'in', 'in')).size).toBe(0)
    await world.store.change(String(id), [once])
  },
  async 'steps count until their run has ended'(world) {
    const id = await world.make({ in: { in: {} } })
    const run = await world.claimOne()
    const step = (n: number) => ({ op: 'step' as const, name: `s${n}`, value: large() as Encoded })
    expect(await run.commit({ end: 'checkpoint', ops: [0, 1, 2, 3].map(step) })).toBe('running')
    await expect(fill(world, id, 5)).rejects.toMatchObject(tooLarge)
    expect(await run.commit({ end: 'suspended', n: 1 } as never)).toBe('suspended')
    for (let i = 0; i < 4; i++) await write(world, id, 'in', large())
  },
  async 'a run that makes its job too large fails with the reason, and other runs of the batch complete'(world) {
    const [fat] = [await world.make({}), await world.make({})]
    const runs = await world.claim()
    await fill(world, fat!, 8)
    const [own] = runs.filter(({ id }) => id === fat)
    const said = await Promise.all(
      runs.map((run) => run.settled(run === own ? { state: { set: { more: large() as Encoded } } } : {})),
    )
    const { answers } = await world.store.commit({ queue: 'q', runs: said })
    expect(answers.map((answer) => answer.slice(0, 16)).sort()).toEqual(['completed', 'refused:TOO_LARG'])
  },
  async 'a listening job misses messages without room'(world) {
    const ids = [
      await sleeper(world, { in: { channels: ['/full'] } }),
      await sleeper(world, { in: { channels: ['/full'] } }),
    ]
    await fill(world, ids[0]!, 8)
    expect(await world.change('', 'publish', '/full', `=${large()}`)).toEqual(['1'])
  },
  async 'a job has at most 1,000 state fields, 1,000 ports in each direction, and 100 aliases'(world) {
    const id = await sleeper(world, { '*': {} })
    await inHundreds(world, id, 1_000, (i) => ['set', `n${i}`, '1'])
    await set(world, id, 'n0', '2')
    await expect(set(world, id, 'n1000', '1')).rejects.toMatchObject(tooLarge)
    await inHundreds(world, id, 999, (i) => ['write', '', 'i', `p${i + 1}`, '', '1', '=1'])
    await write(world, id, 'p1', '1')
    await expect(write(world, id, 'p1000', '1')).rejects.toMatchObject(tooLarge)
    await inHundreds(world, id, 100, (i) => ['alias', `a${i}`])
    await expect(world.change(id, 'alias', 'a100')).rejects.toMatchObject(tooLarge)
  },
}

export const sizes: Record<number, Facts> = { 84: rule84 }
