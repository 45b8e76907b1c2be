import { groupIdOf } from '../../core/constraint.ts'
import { isId } from '../../core/job.ts'
import { statusOf } from '../../redis/record.ts'
import type { Context } from '../context.ts'
import type { Found } from '../engine.ts'

const MOST = 10

function like(names: readonly string[], text: string): string[] {
  const wanted = text.toLowerCase()
  const at = (name: string) => name.toLowerCase().indexOf(wanted)
  return names
    .filter((name) => at(name) >= 0)
    .sort((a, b) => at(a) - at(b) || (a < b ? -1 : 1))
    .slice(0, MOST)
}

export function createFind({ store }: Context) {
  async function jobsLike(text: string): Promise<Found['jobs']> {
    const named = isId(text) ? [{ alias: null, id: text }] : await store.aliasesLike(text, MOST)
    const looked = await Promise.all(named.map(({ id }) => store.inspect(id).catch(() => null)))
    return looked.flatMap((found, i) => {
      if (!found) return []
      const { id, document } = found
      const { class: name, queue } = document
      return [{ id, class: name, queue, status: statusOf(document), alias: named[i]!.alias }]
    })
  }

  return {
    async search(text: string): Promise<Found> {
      const [jobs, queues, keys, channels] = await Promise.all([
        jobsLike(text),
        store.queueNames(),
        store.limitNames(),
        store.channelsLike(text),
      ])
      const groups = keys.flatMap((key) => groupIdOf(key) ?? [])
      const limits = keys.filter((key) => groupIdOf(key) === undefined)
      return {
        jobs,
        queues: like(queues, text),
        limits: like(limits, text),
        groups: like(groups, text),
        channels: like(channels, text),
      }
    },
  }
}
