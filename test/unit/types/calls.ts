// The compiler is the test (`npm run types`): each line below a `@ts-expect-error` must cause an error, and all other
// lines must compile. This code never runs.

import * as z from 'zod'
import { createClient } from '../../../src/client/index.ts'
import { defineWorker, port } from '../../../src/index.ts'

const double = defineWorker({
  class: 'double',
  in: { n: port(z.number()) },
  out: { doubled: port(z.number()) },
  async perform(job) {
    for await (const { n } of job.inputs('n')) job.write('doubled', n * 2)
    // @ts-expect-error: a text is no number
    job.write('doubled', 'x')
    // @ts-expect-error: there is no such port
    job.write('dubbled', 1)
    // @ts-expect-error: there is no such port
    await job.read('m')
    // @ts-expect-error: there is no such port
    for await (const _ of job.inputs('m')) break
    // @ts-expect-error: a text is no number
    job.setDefault('doubled', 'x')
    const n: number | undefined = await job.read('n')
    // @ts-expect-error: it is a number
    const text: string | undefined = await job.read('n')
    return [n, text] as never
  },
})

const approval = defineWorker({
  class: 'approval',
  args: z.object({ amount: z.number(), currency: z.string().default('EUR') }),
  in: { decision: port(z.object({ ok: z.boolean(), by: z.string() })) },
  result: z.object({ approved: z.boolean() }),
  async perform(job) {
    const amount: number = job.args.amount
    const currency: string = job.args.currency
    // @ts-expect-error: there is no such argument
    job.args.sum
    // @ts-expect-error: it is a number
    job.args.amount.trim()
    const decision = await job.waitFor('decision', { timeout: '3 days' })
    const by: string | undefined = decision?.by
    // @ts-expect-error: it has no such member
    decision?.who
    // @ts-expect-error: there is no such port
    await job.waitFor('decisions')
    const message = await job.waitFor('/orders/7')
    // @ts-expect-error: the type of a message is unknown
    message.by
    return { approved: decision?.ok === true && amount > 0 && currency !== '' && by !== '' && message !== 1 }
  },
})

const silent = defineWorker({ class: 'silent', queue: 'quiet', perform: () => undefined })
const open = defineWorker({ class: 'open', in: { '*': port() }, perform: (job) => job.suspend() })

defineWorker({
  class: 'wrong_result',
  result: z.object({ approved: z.boolean() }),
  // @ts-expect-error: it is true or false
  perform: () => ({ approved: 'yes' }),
})
defineWorker({
  class: 'wrong_results',
  result: z.number(),
  // @ts-expect-error: it is a number
  perform: async () => 'seven',
})
defineWorker({ class: 'right_result', result: z.number(), perform: async () => 7 })
defineWorker({
  class: 'result_later',
  result: z.number(),
  in: { n: port(z.number()) },
  perform: (job) => job.suspend(),
})
// @ts-expect-error: the option is called timeout
defineWorker({ class: 'wrong_option', timeOut: 1, perform: () => undefined })
// @ts-expect-error: every class has a name
defineWorker({ perform: () => undefined })

defineWorker({
  class: 'caller',
  async perform(job) {
    job.spawn('a', double, { inputs: { n: [1, 2] } })
    job.spawn('b', approval, { args: { amount: 1 } })
    job.spawn('c', approval, { args: { amount: 1, currency: 'USD' }, wait: 1_000 })
    job.spawn('d', { class: 'elsewhere' }, { args: [1], inputs: { any: ['thing'] } })
    job.spawn('e', open, { inputs: { any: ['thing'] } })
    job.spawn('f', silent)
    // @ts-expect-error: there is no such port
    job.spawn('g', double, { inputs: { m: [1] } })
    // @ts-expect-error: a text is no number
    job.spawn('h', double, { inputs: { n: ['x'] } })
    // @ts-expect-error: the amount is missing
    job.spawn('i', approval, { args: {} })
    // @ts-expect-error: the amount is a number
    job.spawn('j', approval, { args: { amount: '1' } })
    // @ts-expect-error: it has no input ports
    job.spawn('k', silent, { inputs: { n: [1] } })
    // @ts-expect-error: the option is called wait
    job.spawn('l', double, { delay: 1 })
    const { approved } = await job.callWorker(approval, { amount: 1 })
    const yes: boolean = approved
    // @ts-expect-error: it is true or false
    const no: string = approved
    // @ts-expect-error: it has no such member
    ;(await job.callWorker(approval, { amount: 1 })).denied
    // @ts-expect-error: the amount is a number
    await job.callWorker(approval, { amount: 'x' })
    // @ts-expect-error: there is no such argument
    await job.callWorker(approval, { sum: 1 })
    const named = await job.callWorker<number>('elsewhere', { any: 'thing' })
    const sum: number = named + 1
    // @ts-expect-error: without await it is a promise
    const later: { approved: boolean } = job.callWorker(approval, { amount: 1 })
    return [yes, no, sum, later]
  },
})

const functions = [double, approval, silent, open]
const address = { url: 'http://127.0.0.1:8787', key: 'dev' }
const client = createClient<typeof functions>(address)

export async function calls() {
  await client.jobs.enqueue({ class: 'double', inputs: { n: [1, 2, 3] } })
  await client.jobs.enqueue({ class: 'double', queue: 'default', wait: '5m', retry: { max: 3 } })
  await client.jobs.enqueue({ class: 'approval', args: { amount: 1 } })
  await client.jobs.enqueue({ class: 'open', inputs: { any: ['thing'] } })
  await client.jobs.enqueue([
    { class: 'double', inputs: { n: [1] } },
    { class: 'approval', args: { amount: 2 } },
  ])
  const { id } = await client.jobs.enqueue({ class: 'silent' })
  const number: number = id
  // @ts-expect-error: there is no such class
  await client.jobs.enqueue({ class: 'duble' })
  // @ts-expect-error: there is no such port
  await client.jobs.enqueue({ class: 'double', inputs: { m: [1] } })
  // @ts-expect-error: a text is no number
  await client.jobs.enqueue({ class: 'double', inputs: { n: ['x'] } })
  // @ts-expect-error: values are a list
  await client.jobs.enqueue({ class: 'double', inputs: { n: 1 } })
  // @ts-expect-error: the amount is a number
  await client.jobs.enqueue({ class: 'approval', args: { amount: 'x' } })
  // @ts-expect-error: the amount is missing
  await client.jobs.enqueue({ class: 'approval', args: {} })
  // @ts-expect-error: there is no such option
  await client.jobs.enqueue({ class: 'double', delay: 5 })
  // @ts-expect-error: it has no input ports
  await client.jobs.enqueue({ class: 'silent', inputs: { n: [1] } })
  // @ts-expect-error: one of the two is no class
  await client.jobs.enqueue([{ class: 'double' }, { class: 'duble' }])

  const { out, result } = await client.run(double, { n: [1, 2, 3] })
  const doubled: number[] = out.doubled
  // @ts-expect-error: there is no such port
  out.dubbled
  // @ts-expect-error: they are numbers
  const texts: string[] = out.doubled
  // @ts-expect-error: the type of its result is unknown
  result.any
  const decided = await client.run(approval, {}, { args: { amount: 1 } })
  const approved: boolean = decided.result.approved
  // @ts-expect-error: it has no such member
  decided.result.denied
  // @ts-expect-error: a text is no number
  await client.run(double, { n: ['x'] })
  // @ts-expect-error: there is no such port
  await client.run(double, { m: [1] })
  // @ts-expect-error: the amount is a number
  await client.run(approval, {}, { args: { amount: 'x' } })
  // @ts-expect-error: without await it is a promise
  client.run(double, { n: [1] }).out
  // @ts-expect-error: it is no class
  await client.run('double', { n: [1] })

  // @ts-expect-error: only other versions may call it
  client.system.perform
  // @ts-expect-error: only QStash may call it
  client.system.tick

  const any = createClient(address)
  await any.jobs.enqueue({ class: 'whatever', args: [1], inputs: { any: ['thing'] } })
  const ran = await any.run(double, { n: [1] })
  return [number, doubled, texts, approved, ran.out.doubled]
}

declare const ok: boolean
const status = z.object({ status: z.enum(['a', 'b']) })
const pair = z.tuple([z.literal('x'), z.number()])

defineWorker({
  class: 'waits',
  result: status,
  async perform(job) {
    await job.sleep('1 day')
    return { status: ok ? 'a' : 'b' }
  },
})
defineWorker({ class: 'arrow', result: status, perform: () => ({ status: ok ? 'a' : 'b' }) })
defineWorker({ class: 'enum', result: z.enum(['a', 'b']), perform: (job) => (job.args ? 'a' : 'b') })
defineWorker({
  class: 'suspends',
  result: z.object({ list: z.array(pair), tags: z.array(z.string()).optional() }),
  async perform(job) {
    if (ok) return job.suspend()
    const tags: string[] = []
    return { list: [['x', 1]], tags }
  },
})
defineWorker({ class: 'returns nothing', result: status, perform() {} })
defineWorker({
  class: 'steps',
  result: status,
  perform: async (job) => job.step('one', async (): Promise<z.infer<typeof status>> => ({ status: 'a' })),
})
// @ts-expect-error: c is not in the enum
defineWorker({ class: 'wrong enum', result: status, perform: () => ({ status: ok ? 'a' : 'c' }) })
// @ts-expect-error: a text is no number
defineWorker({ class: 'wrong list', result: z.array(z.number()), perform: async () => [1, 'x'] })
// @ts-expect-error: a member is missing
defineWorker({ class: 'missing member', result: status, perform: async () => ({}) })

const byName = createClient<readonly [typeof approval, typeof double]>({ url: '', key: '' })
async function runs() {
  const { result } = await byName.run('approval', { args: { amount: 1 } })
  const approved: boolean = result.approved
  const { out } = await byName.run('double', { inputs: { n: [1] } })
  const doubled: number[] = out.doubled
  const { result: again } = await byName.run(approval, { args: { amount: 1 } })
  const { out: more } = await byName.run(double, { n: [1] }, { timeout: 5 })
  // @ts-expect-error: there is no such class
  await byName.run('aproval', { args: { amount: 1 } })
  // @ts-expect-error: a text is no number
  await byName.run('approval', { args: { amount: '1' } })
  // @ts-expect-error: a text is no number
  await byName.run(approval, { args: { amount: '1' } })
  const { result: any } = await createClient({ url: '', key: '' }).run('whatever', { args: 1 })
  return [approved, doubled, again.approved satisfies boolean, more.doubled satisfies number[], any]
}
void runs

defineWorker({
  class: 'limited',
  args: z.object({ customer: z.string() }),
  limits: [{ key: (args) => `customer:${args.customer}`, rate: { limit: 2, period: '1s' } }],
  async perform(job) {
    await job.callWorker(approval, { amount: 1 }, { group: { id: job.args.customer, concurrency: 2 }, wait: '5m' })
  },
})
defineWorker({
  class: 'limited by nothing',
  args: z.object({ customer: z.string() }),
  // @ts-expect-error: there is no such member of the args
  limits: [{ key: (args) => args.client }],
  perform() {},
})
