import { askCounted, startCounted } from '../../counted.ts'
import type { Act } from '../../page.ts'
import { sampleGraph } from '../../words/flow.ts'
import { jobLink } from '../../words/paths.ts'

export const GROUP = 'demo'
const JOBS = 24

const group = { id: GROUP }

const flow = { queue: 'core', class: 'flow', group, inputs: { __graph: [sampleGraph] } }

const single = (n: number) => ({ queue: 'core', class: 'split', group, inputs: { in: [`job ${n},of,the,demo`] } })

export const demo: Record<string, Act> = {
  demo: {
    scope: 'write',
    async does({ call }) {
      const jobs = [flow, ...Array.from({ length: JOBS }, (_, i) => single(i + 1))]
      const { jobs: made } = await call<{ jobs: { id: number }[] }>('POST', '/v1/jobs', jobs)
      const { id } = made[0]!
      return { say: `A flow and ${JOBS} jobs were created`, to: `/?first=${id}`, link: jobLink(id) }
    },
  },
  undemo: {
    scope: 'admin',
    confirm: (asked) =>
      askCounted(asked, {
        of: { filter: { group: GROUP }, action: 'delete' },
        verb: 'Delete',
        what: ' of the demo',
        text: [`This terminates and deletes all jobs of the group "${GROUP}", and cannot be undone.`],
        isTyped: true,
      }),
    async does(asked) {
      await startCounted(asked, 'terminate')
      const id = await startCounted(asked, 'delete')
      return { say: 'The demo is being removed', to: '/', link: jobLink(id) }
    },
  },
}
