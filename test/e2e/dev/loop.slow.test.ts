// A function that never lets go, under development: it is ended by its CPU time, its job fails, and the stack lives on.

import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Stack, startDev } from '../../../infra/dev/index.ts'
import { type Client, createClient } from '../../../src/client/index.ts'
import { kind } from '../../kit/index.ts'
import { double, makeProject } from './project.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 })

const project = makeProject()
const lines: string[] = []
let stack: Stack
let client: Client
beforeAll(async () => {
  const loops = "\nexport const loops = defineWorker({ class: 'loops', perform() { for (;;); } })\n"
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
    ...{ project: project.dir, port: 0, redis: kind, persist: false, say: (line) => lines.push(line) },
    // The plan of 10 ms of CPU: a loop is noticed after 2 s.
    ...{ plan: 'free', vars: { SIDEJOB_LANE_LEASE: '1s' } },
  })
  client = createClient({ url: stack.url, key: stack.apiKey })
})
afterAll(async () => {
  await stack?.close()
  project.remove()
})

test.skipIf(process.platform !== 'linux')(
  'a loop fails its job after three runs, and the next job is done',
  async () => {
    const { id } = (await client.jobs.enqueue({ class: 'loops' })) as { id: number }
    // The bell died with the Worker: ticks find what was lost, here without waiting for their minute.
    const ticking = setInterval(() => void stack.tick().catch(() => undefined), 1_000)
    const job = () => client.jobs.get(id).catch(() => undefined)
    await expect.poll(async () => (await job())?.status, { timeout: 150_000, interval: 500 }).toBe('failed')
    clearInterval(ticking)
    expect((await job())!.error).toMatchObject({ message: 'lost 3 times: the run never answered' })
    expect(lines.filter((line) => line.includes('its code loops'))).toHaveLength(3)
    const next = (await client.jobs.enqueue({ class: 'double', inputs: { n: [2] } })) as { id: number }
    await expect.poll(async () => (await client.jobs.get(next.id)).status, { timeout: 30_000 }).toBe('completed')
  },
)
