import { core } from '../../functions/core.ts'
import { defineWorker, port } from '../../src/index.ts'
import { KEY } from './kit.ts'
import { callerOf } from './seed.ts'
import { seedFlow } from './seed-flow.ts'
import { serve } from './served.ts'

export const waits = defineWorker({
  class: 'waits',
  in: { n: port() },
  out: { o: port() },
  perform: (job) => job.suspend(),
})

export const fails = defineWorker({
  class: 'fails',
  retry: { max: 0 },
  perform(job) {
    throw new Error(`no answer from host ${job.id}`)
  },
})

const says = defineWorker({
  class: 'says',
  retry: { max: 0 },
  perform(job) {
    throw new Error(String(job.args))
  },
})

export async function serveJobs() {
  const site = await serve({ workers: [waits, fails, says, ...core] })
  const call = callerOf(site.url, KEY)
  await site.engine.workers.register('default', 'pulled', { pull: true, concurrency: 1 })
  await call('PUT', '/v1/workers/media/resize', { pull: true, in: { url: {} }, out: { done: {} } })
  const flow = await seedFlow(call)
  const [waiting, failed] = [
    await site.make('waits', { group: { id: 'a-group-with-a-rather-long-name' } }),
    await site.make('fails'),
  ]
  await Promise.all([site.rest(waiting), site.rest(failed)])
  const running = await site.make('pulled')
  await site.engine.runs.claim('default', { names: ['pulled'], lease: 3_600_000 })
  await site.make('pulled')
  await site.engine.limits.set('stripe', { concurrency: 2 })
  const ids: Record<string, number> = { flow, waits: waiting, failed, running }
  return { site, call, ids }
}
