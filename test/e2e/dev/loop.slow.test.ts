import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Client, createClient } from '../../../src/client/index.ts'
import { type Stack, startDev } from '../../../src/dev/index.ts'
import { kind } from '../../kit/index.ts'
import { double, makeProject } from './project.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const project = makeProject()
const lines: string[] = []
let stack: Stack
let client: Client
beforeAll(async () => {
  const loops = `
export const loops = defineWorker({
  class: 'loops',
  async perform(job) {
    await job.step('before', async () => 1)
    for (;;);
  },
})
`
  project.write('src/double.ts', double('2') + loops)
  const root = new URL('../../..', import.meta.url).pathname
  project.write(
    'src/index.ts',
    `import { createWorker } from '${root}src/cloudflare/index.ts'
import { double, loops } from './double.ts'
export default createWorker({ functions: [double, loops] })
`,
  )
  stack = await startDev({
    project: project.dir,
    port: 0,
    redis: kind,
    persist: false,
    say: (line) => lines.push(line),
  })
  client = createClient({ url: stack.url, key: stack.apiKey })
})
afterAll(async () => {
  await stack?.close()
  project.remove()
})

test.skipIf(process.platform !== 'linux')(
  'an endless loop is named with job, class and place, fails after one run of 3 s of CPU, and the next job is done',
  async () => {
    const began = Date.now()
    const { id } = await client.jobs.enqueue({ class: 'loops' })
    const job = () => client.jobs.get(id).catch(() => undefined)
    await expect.poll(async () => (await job())?.status, { timeout: 40_000, interval: 200 }).toBe('failed')
    console.log(`failed after ${Date.now() - began} ms`)
    expect((await job())!.error).toMatchObject({
      message: 'The code of this run loops: it used 3 s of CPU without an answer (class at src/double.ts:19)',
    })
    await expect
      .poll(() => lines.filter((line) => line.includes('loops')))
      .toEqual([
        'Worker exceeded CPU time limit. A run used 3 s of CPU without an answer: its code loops. workerd is being restarted; its runs are lost.',
        `✗ loops #${id} (src/double.ts:19) failed and is not retried: its code loops`,
      ])
    const next = await client.jobs.enqueue({ class: 'double', inputs: { n: [2] } })
    await expect.poll(async () => (await client.jobs.get(next.id)).status, { timeout: 30_000 }).toBe('completed')
  },
)
