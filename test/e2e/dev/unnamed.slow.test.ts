import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, createClient } from '../../../src/client/index.ts'
import { type Stack, startDev } from '../../../src/dev/index.ts'
import { kind } from '../../kit/index.ts'
import { makeProject } from './project.ts'

const root = new URL('../../..', import.meta.url).pathname

const jobs = (price: number) => `
import { defineWorker } from '${root}src/index.ts'

export const trial = defineWorker({
  class: 'trial',
  in: { paid: {} },
  async perform(job) {
    await job.sleep(1)
    await job.step('price', () => ${price})
    await job.parallel([
      (at) => at.sleep('14 days'),
      (at) => at.waitFor('paid', { name: 'payment' }),
      (at) => at.sleep('1 day'),
    ])
  },
})
export const order = defineWorker({
  class: 'order',
  in: { paid: {} },
  async perform(job) {
    await job.waitFor('paid', { timeout: '1 week' })
  },
})
`

const project = makeProject()
const lines: string[] = []
let reloads = 0
let stack: Stack
let client: Client
beforeAll(async () => {
  project.write('src/double.ts', jobs(1))
  project.write(
    'src/index.ts',
    `import { createWorker } from '${root}src/cloudflare/index.ts'
import { order, trial } from './double.ts'
export default createWorker({ functions: [order, trial] })
`,
  )
  stack = await startDev({
    project: project.dir,
    port: 0,
    redis: kind,
    persist: false,
    say: (line) => lines.push(line),
    onReload: () => reloads++,
  })
  client = createClient({ url: stack.url, key: stack.apiKey })
})
afterAll(async () => {
  await stack?.close()
  project.remove()
})

const reports = () => lines.filter((line) => line.includes('Name it')).sort()

async function reload(price: number): Promise<void> {
  const before = reloads
  project.write('src/double.ts', jobs(price))
  await expect.poll(() => reloads, { timeout: 20_000 }).toBeGreaterThan(before)
}

test('a reload reports once each wait without a name, if jobs wait there', async () => {
  const { id } = await client.jobs.enqueue({ class: 'trial' })
  await client.jobs.enqueue([{ class: 'order' }, { class: 'order' }])
  await expect.poll(async () => (await client.jobs.why(id)).reasons.length, { timeout: 20_000 }).toBeGreaterThan(0)
  await expect
    .poll(async () => (await client.jobs.list({ status: 'queued', limit: 10 })).jobs.length, { timeout: 20_000 })
    .toBe(3)
  await expect.poll(async () => (await client.jobs.steps(id)).steps.length, { timeout: 20_000 }).toBe(1)
  await reload(2)
  const expected = [
    "1 job of class trial waits at sleep#1 in parallel#1 (sleep of 14d). Name it before you add or remove waits around it: { name: '…' } in its options",
    "1 job of class trial waits at sleep#1 in parallel#1 (sleep of 1d). Name it before you add or remove waits around it: { name: '…' } in its options",
    '2 jobs of class order wait at paid#1 (waitFor "paid", timeout 7d). Name it before you add or remove waits around it: { name: \'…\' } in its options',
  ]
  await expect.poll(reports, { timeout: 10_000 }).toEqual(expected)
  await reload(3)
  await reload(4)
  expect(reports()).toEqual(expected)
})
