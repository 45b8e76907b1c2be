// Rules 110 and 112: settings of queues and of their classes.

import { expect } from 'vitest'
import type { Facts, World } from '../direct.ts'

const settings = async (world: World) => (await world.queueOf()).settings

const rule110: Facts = {
  async 'omitted settings keep their values'(world) {
    await Promise.all([
      world.store.settings('q', { lanes: 2, batch: 10 }),
      world.store.settings('q', { ageing: 60_000 }),
    ])
    await world.store.settings('q', { batch: 20 })
    await world.store.settings('q', { paused: true })
    expect(await settings(world)).toMatchObject({ mostLanes: 2, batch: 20, ageing: 60_000, paused: true })
  },
  async 'the previous settings are returned, and restore the state'(world) {
    const usual = { lanes: null, batch: null, paused: false, mode: 'push', ageing: null }
    const set = { lanes: 3, batch: 7, paused: true, mode: 'pull', ageing: 1_000 } as const
    expect((await world.store.settings('q', set)).was).toEqual(usual)
    const { was } = await world.store.settings('q', { lanes: 5 })
    expect(was).toEqual(set)
    expect((await world.store.settings('q', was)).was).toEqual({ ...set, lanes: 5 })
    await world.store.settings('q', { ...usual, mode: 'push' })
    for (const name of ['mostLanes', 'batch', 'ageing', 'mode', 'paused'])
      expect(await settings(world)).not.toHaveProperty(name)
  },
}

const classOf = (definition: string, replaces?: string) =>
  ({ name: 'c', definition, serves: 'pull', ...(replaces === undefined ? {} : { replaces }) }) as const
const kept = async (world: World) => world.store.definition('q', 'c')

const rule112: Facts = {
  async 'a definition replaces its own origin'(world) {
    await world.store.register('q', [classOf('{"pull":true}')])
    expect(await world.store.register('q', [classOf('{"timeout":1}', '{"pull":true}')])).toMatchObject({
      changed: true,
    })
    expect(await kept(world)).toBe('{"timeout":1}')
  },
  async 'if another definition has replaced it in between, the call reports it and writes nothing'(world) {
    await world.store.register('q', [classOf('{"pull":true}')])
    await world.store.register('q', [classOf('{"timeout":1}')])
    const late = { ...classOf('{"timeout":2}', '{"pull":true}'), concurrency: 7 }
    expect(await world.store.register('q', [late])).toEqual({ rings: [], changed: false, overtaken: '{"timeout":1}' })
    expect(await kept(world)).toBe('{"timeout":1}')
    await world.store.register('q', [{ ...classOf(''), definition: null }])
    expect(await world.store.register('q', [classOf('{}', '{"timeout":1}')])).toMatchObject({ overtaken: '' })
    expect(await kept(world)).toBeNull()
  },
  async 'a registration never replaces the definition of a function'(world) {
    const ours = { ...classOf('{"timeout":1,"local":true}'), serves: 'push' } as const
    await world.store.register('q', [ours])
    expect(await world.store.register('q', [{ ...classOf('{"pull":true}', '*'), concurrency: 7 }])).toEqual({
      rings: [],
      changed: false,
      overtaken: '{"timeout":1,"local":true}',
    })
    expect(await kept(world)).toBe('{"timeout":1,"local":true}')
    await world.store.register('q', [{ ...ours, definition: '{"timeout":2,"local":true}' }])
    expect(await kept(world)).toBe('{"timeout":2,"local":true}')
  },
  async 'a registration replaces another registration, and registers a new class'(world) {
    expect(await world.store.register('q', [classOf('{"pull":true}', '*')])).toMatchObject({ changed: true })
    expect(await world.store.register('q', [classOf('{"timeout":1}', '*')])).toMatchObject({ changed: true })
    expect(await kept(world)).toBe('{"timeout":1}')
  },
}

export const set: Record<number, Facts> = { 110: rule110, 112: rule112 }
