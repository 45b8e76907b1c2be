import type { Client } from '../../../src/client/index.ts'
import { makeProject } from './project.ts'

export const mistakes = {
  runs: {
    throws: 'a function throws',
    wrong_out: 'a function writes to a port that its class does not have',
    wrong_in: 'a function reads a port that its class does not have',
    wrong_value: 'a function writes a value that the schema of the port refuses',
    never_ends: 'the promise of a function never settles',
    no_return: '`job.suspend()` is not returned',
    no_await: '`job.step()` is not awaited',
    write_first: 'a function writes, and then sleeps',
    calls_missing: 'a function calls an unregistered class',
  },
  calls: {
    'an input value of the wrong type': {
      call: (client) => client.jobs.enqueue({ class: 'typed', inputs: { n: ['x'] } }),
    },
    'an unknown input port': {
      call: (client) => client.jobs.enqueue({ class: 'typed', inputs: { m: [1] } }),
    },
    'a class that is not in `functions`': {
      call: (client) => client.jobs.enqueue({ class: 'unknown', inputs: { n: [1] } }),
    },
    'input values without a list': {
      call: (client) => client.jobs.enqueue({ class: 'typed', inputs: { n: 1 } } as never),
    },
    'an unknown member': { call: (client) => client.jobs.enqueue({ clas: 'typed', class: 'typed' } as never) },
    'an invalid time': { call: (client) => client.jobs.enqueue({ class: 'typed', at: 'tomorrow' }) },
    'a schedule in ordinary words': { call: (client) => client.jobs.enqueue({ class: 'typed', repeat: 'every day' }) },
  } as Record<string, { call: (client: Client) => Promise<unknown> }>,
}

const functions = (root: string) => `
import { defineWorker, port } from '${root}/src/index.ts'
import * as z from 'zod'

const ports = { in: { n: port(z.any()) }, out: { doubled: port(z.number()) }, retry: { max: 0 } }
export const functions = [
  defineWorker({ ...ports, class: 'throws', perform() { throw new Error('I do not like 1') } }),
  defineWorker({ ...ports, class: 'wrong_out', perform(job) { job.write('dubbled' as never, 2 as never) } }),
  defineWorker({ ...ports, class: 'wrong_in', async perform(job) { await job.read('m' as never) } }),
  defineWorker({ ...ports, class: 'wrong_value', perform(job) { job.write('doubled', 'two' as never) } }),
  defineWorker({ ...ports, class: 'never_ends', timeout: 300, perform: () => new Promise<void>(() => {}) }),
  defineWorker({ ...ports, class: 'no_return', perform(job) { job.suspend() } }),
  defineWorker({ ...ports, class: 'no_await', perform(job) { job.step('charge', async () => 1) } }),
  defineWorker({ ...ports, class: 'write_first', async perform(job) { job.write('doubled', 2); await job.sleep('1 day') } }),
  defineWorker({ ...ports, class: 'calls_missing', async perform(job) { await job.callWorker('unknown', {}) } }),
  defineWorker({ class: 'typed', in: { n: port(z.number()) }, perform: () => undefined }),
]
`

export function makeMistakes() {
  const project = makeProject()
  const root = new URL('../../..', import.meta.url).pathname.replace(/\/$/, '')
  project.write('src/functions.ts', functions(root))
  project.write(
    'src/index.ts',
    `import { createWorker } from '${root}/src/cloudflare/index.ts'
import { functions } from './functions.ts'
export default createWorker({ functions })
`,
  )
  return project
}
