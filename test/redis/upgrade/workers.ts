// The classes of jobs that one version leaves behind and another carries on: written with what either of them exports.

import type * as Library from '../../../src/index.ts'

const HOUR = 3_600_000

export const workersOf = ({ defineWorker, port }: Pick<typeof Library, 'defineWorker' | 'port'>) => [
  defineWorker({ class: 'plain', queue: 'default', perform: () => undefined }),
  defineWorker({ class: 'answer', queue: 'default', perform: (job) => job.args }),
  defineWorker({
    class: 'double',
    queue: 'default',
    in: { in: port() },
    out: { out: port() },
    async perform(job) {
      for await (const { in: value } of job.inputs('in')) job.write('out', `${value}${value}`)
      return job.suspend()
    },
  }),
  defineWorker({
    class: 'pause',
    queue: 'default',
    async perform(job) {
      const half = await job.step('half', () => 21)
      await job.sleep(HOUR)
      return half * 2
    },
  }),
  defineWorker({
    class: 'parent',
    queue: 'default',
    perform(job) {
      if (job.children.child) return { child: job.children.child.status }
      job.spawn('child', { class: 'answer', queue: 'default' }, { args: 7, wait: HOUR })
      return job.suspend({ waitFor: 'children' })
    },
  }),
  defineWorker({
    class: 'brittle',
    queue: 'default',
    retry: { max: 3, backoff: { base: HOUR, jitter: 0 } },
    perform(job) {
      if (job.attempt === 1) throw new Error('not yet')
      return 'now'
    },
  }),
]
