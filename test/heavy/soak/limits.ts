import { setTimeout as sleep } from 'node:timers/promises'
import { atLeast, atMost, defineShow, exactly, told } from './show.ts'
import { createCrashes, startSoak } from './stack.ts'
import { startTarget } from './target.ts'

const sizes = { groups: 5, limit: 3, jobs: 10_000, crashes: 16 }

export const limits = defineShow({
  title: 'groups with a limit each, under crashes',
  sizes,
  async run({ groups, limit, jobs, crashes: wanted }, say) {
    const target = await startTarget(() => 5 + Math.random() * 35)
    const soak = await startSoak({ vars: { SIDEJOB_LANE_LEASE: '5s' } })
    const ticking = setInterval(() => soak.tick().catch(() => {}), 5_000)
    try {
      await soak.client.workers.register('default', 'call', { push: { url: target.url } })
      const { crashes, strike } = createCrashes(soak)
      const began = performance.now()
      await soak.enqueue(
        Array.from({ length: jobs }, (_, i) => {
          const key = `g${i % groups}`
          return { class: 'call', args: { key }, group: { id: key, concurrency: limit } }
        }),
      )
      const all = soak.allCompleted(jobs, { say })
      let over = false
      void all.finally(() => (over = true)).catch(() => {})
      for (let n = 1; n <= wanted && !over; ) {
        if (target.arrivals.length >= (n / (wanted + 1)) * jobs) {
          strike()
          n++
        }
        await sleep(20 + Math.random() * 30)
      }
      await all
      const seconds = (performance.now() - began) / 1_000
      const lost = (await soak.allJobs()).reduce((sum, { lost }) => sum + lost, 0)
      const most = [...target.most.values()]
      return [
        atMost(`running at once in one of ${most.length} groups`, Math.max(...most), limit),
        atLeast('the same in the group that had the fewest', Math.min(...most), limit),
        exactly('jobs that were called for', new Set(target.arrivals.map(({ id }) => id)).size, jobs),
        exactly('jobs completed', (await soak.counts()).completed ?? 0, jobs),
        told('calls', target.arrivals.length),
        told('lanes cut off', crashes.lanes),
        told('Workers killed', crashes.workers),
        atLeast('runs lost', lost, 1),
        exactly('faults in Redis', await soak.faults(), 0),
        told('seconds', seconds),
      ]
    } finally {
      clearInterval(ticking)
      await soak.close()
      await target.close()
    }
  },
})
