// Rule 110: what people set on a queue.

import { expect } from 'vitest'
import type { Facts, World } from '../direct.ts'

const settings = async (world: World) => (await world.queueOf()).settings

const rule110: Facts = {
  async 'what is not said stays as others have set it'(world) {
    await Promise.all([
      world.store.settings('q', { lanes: 2, batch: 10 }),
      world.store.settings('q', { ageing: 60_000 }),
    ])
    await world.store.settings('q', { batch: 20 })
    await world.store.settings('q', { paused: true })
    expect(await settings(world)).toMatchObject({ mostLanes: 2, batch: 20, ageing: 60_000, paused: true })
  },
  async 'how it was before is answered, and said again it is so again'(world) {
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

export const set: Record<number, Facts> = { 110: rule110 }
