// Rules 90–94: what is written down for whoever looks, at no command more.

import { expect } from 'vitest'
import type { Facts, World } from '../direct.ts'

const bellAt = async ({ store }: World) => (await store.standing()).bellAt

const rule90: Facts = {
  async 'the bell that became a lane last is told with its moment'(world) {
    const { rings } = await world.store.enqueue([{ queue: 'q', class: 'plain', known: true }])
    expect(await bellAt(world)).toBeNull()
    world.advance(5_000)
    await world.lane().ask({ bell: rings[0]!.bell })
    const came = (await bellAt(world))!
    expect(Math.abs(came - world.now())).toBeLessThan(2_000)
    world.advance(60_000)
    await world.lane().ask({ bell: 'not-a-bell-of-ours' })
    expect(await bellAt(world)).toBe(came)
  },
}

export const told: Record<number, Facts> = { 90: rule90 }
