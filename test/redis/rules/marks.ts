// Rule 132: a mark in the record of a job replaces a large value, which has its own key. A user's string is never
// mistaken for a mark.

import { expect } from 'vitest'
import type { Facts, Making, World } from '../direct.ts'

const MARK = '^'

const named: Making = {
  class: MARK,
  createdBy: MARK,
  group: MARK,
  limits: [{ key: MARK, how: 'set', concurrency: 1 }],
}
const called = { class: MARK, createdBy: MARK, group: MARK }

const args = `=${'x'.repeat(600)}`

const lose = ({ client, namespace }: World, id: number) =>
  client.ask((redis) => redis.del(`${namespace}job:${id}:f:a`)).then((gone) => expect(gone).toBe(1))

export const marks: Record<number, Facts> = {
  132: {
    async 'a job whose names are all `^` is leased with these names'(world) {
      const parent = await world.make()
      await (await world.claimOne()).suspend()
      await world.make({ ...named, parent: String(parent), name: MARK })
      expect((await world.claimOne()).document).toMatchObject({ ...called, childName: MARK })
    },
    async 'a job waits at a limit named `^` and ends, and no data is missing'(world) {
      const ids = [await world.make({ ...named, args }), await world.make({ ...named, args })]
      for (const id of ids) {
        const [run, ...others] = await world.claim()
        expect([run!.id, others]).toEqual([id, []])
        expect((await world.store.verify()).faults).toEqual([])
        await run!.commit()
        expect((await world.store.verify()).faults).toEqual([])
        expect(await world.document(id)).toMatchObject(called)
      }
    },
    async 'a pull worker gets a job by the tag `^`'(world) {
      const id = await world.make({ pull: true, tag: MARK })
      const claim = { max: 1, lease: 45_000, begun: 1, pull: true, tags: [MARK] }
      const { claimed } = await world.store.commit({ queue: 'q', claim })
      expect(claimed).toMatchObject([{ id, document: { tag: MARK } }])
      expect(await world.faults()).toEqual([])
    },
    async 'a repair of a lost value keeps names that are `^`'(world) {
      const id = await world.make({ ...named, limits: [], args })
      await lose(world, id)
      expect(await world.faults()).toEqual([expect.stringContaining('value a is missing')])
      await world.store.repair([{ kind: 'job', who: String(id) }])
      expect(await world.document(id)).toMatchObject(called)
      expect(await world.status(id)).toBe('failed')
      expect(await world.faults()).toEqual([])
    },
  },
}
