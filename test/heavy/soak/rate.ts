import { atLeast, atMost, defineShow, exactly, told } from './show.ts'
import { startSoak } from './stack.ts'
import { startTarget } from './target.ts'

const PERIOD = 1_000
const USED = 0.95
const sizes = { rate: 50, seconds: 60 }

function mostWithin(moments: readonly number[], period: number): number {
  let most = 0
  for (let from = 0, to = 0; from < moments.length; from++) {
    while (to < moments.length && moments[to]! < moments[from]! + period) to++
    most = Math.max(most, to - from)
  }
  return most
}

export const rate = defineShow({
  title: 'a rate, as the server that is called sees it',
  sizes,
  async run({ rate, seconds }, say) {
    const target = await startTarget(() => 10)
    const soak = await startSoak()
    try {
      const limits = [{ key: 'calls', rate: { limit: rate, period: '1s' } }]
      await soak.client.workers.register('default', 'call', { push: { url: target.url }, limits } as never)
      const jobs = rate * seconds
      await soak.enqueue(Array.from({ length: jobs }, () => ({ class: 'call' })))
      await soak.allCompleted(jobs, { say })
      const moments = target.arrivals.map(({ at }) => at).sort((a, b) => a - b)
      // In the first period, all calls may come at once, so they do not count.
      const span = (moments.at(-1)! - moments[0]!) / PERIOD
      return [
        atMost('calls in the fullest second', mostWithin(moments, PERIOD), rate),
        atLeast('calls a second on average, the first window left out', (jobs - rate) / span, rate * USED),
        exactly('calls', moments.length, jobs),
        told('seconds', span),
        exactly('faults in Redis', await soak.faults(), 0),
      ]
    } finally {
      await soak.close()
      await target.close()
    }
  },
})
