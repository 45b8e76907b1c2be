import { map } from '../../../functions/map.ts'
import { merge } from '../../../functions/merge.ts'
import { waitEach } from '../../../functions/wait_each.ts'
import { defineWorker, type Job, Terminal } from '../../../src/index.ts'

export const calls: string[] = []
const call = (what: string, job: Job) => {
  calls.push(`${what} ${job.id}`)
}
export const taken = () => calls.splice(0)

const nop = defineWorker({ class: 'nop', in: { '*': {} }, out: { '*': {} }, perform: (job) => call('perform', job) })
const deaf = defineWorker({
  class: 'deaf',
  statusPublish: false,
  in: { ear: {} },
  perform: (job) => job.suspend(),
})

const double = defineWorker({
  class: 'double',
  in: { in: {} },
  out: { out: {} },
  async perform(job) {
    for await (const { in: n } of job.inputs('in')) job.write('out', 2 * (n as number))
  },
})

const sum = defineWorker({
  class: 'sum',
  in: { in: {}, ready: {} },
  out: { sum: {} },
  async perform(job) {
    if (!job.hasData('ready')) return job.suspend()
    let total = 0
    while (job.size('in') > 0) total += (await job.read('in')) as number
    job.write('sum', total)
    return undefined
  },
})

const pair = defineWorker({
  class: 'pair',
  in: { in1: {}, in2: {}, d: { default: 'default' }, dn: { default: null } },
  out: { out1: {} },
  async perform(job) {
    for await (const { in1, in2 } of job.inputs('in1', 'in2')) job.write('out1', [in1, (in2 as unknown[])[0]])
  },
})

const tuples = defineWorker({
  class: 'tuples',
  in: { in2: {}, d: { default: 'default' }, dn: { default: null } },
  out: { out1: {} },
  async perform(job) {
    const ports = job.args as ('in2' | 'd' | 'dn')[]
    for await (const tuple of job.inputs(...ports))
      job.write(
        'out1',
        ports.map((name) => tuple[name]),
      )
  },
})

const suspending = defineWorker({
  class: 'suspending',
  in: { '*': {} },
  out: { '*': {} },
  perform(job) {
    call('perform', job)
    return job.suspend()
  },
})

const closing = defineWorker({
  class: 'closing',
  in: { '*': {} },
  out: { '*': {} },
  startup: (job) => call('startup', job),
  perform: (job) => call('perform', job),
  shutdown: (job) => call('shutdown', job),
})

const stubborn = defineWorker({
  class: 'stubborn',
  perform: (job) => call('perform', job),
  shutdown() {
    throw new Error('shutdown error')
  },
})

const failing = defineWorker({
  class: 'failing',
  in: { '*': {} },
  out: { '*': {} },
  async perform(job) {
    call('perform', job)
    if (job.inPorts().includes('in')) await job.read('in')
    throw new Error('test error')
  },
})

const asking = defineWorker({
  class: 'asking',
  perform(job) {
    const asks = job.get('asked') === undefined
    job.set({ asked: true })
    if (asks) job.op({ op: 'run', job: job.id })
    return job.args === 'suspend' ? job.suspend() : undefined
  },
})

const nesting = defineWorker({
  class: 'nesting',
  out: { out: {} },
  perform: (job) =>
    job.context({ user: 'foo' }, () =>
      job.group({}, async () => {
        job.write('out', 'hello')
        await job.group({}, () => job.write('out', 2))
      }),
    ),
})

const contexts = defineWorker({
  class: 'contexts',
  perform: (job) =>
    job
      .context({ data1: 1 }, async () => {
        job.log({ x: 1 })
        await job.context({ data2: 2 }, () => job.log({ x: 2 }))
        job.log({ x: 3 })
      })
      .then(() => job.log({ x: 4 })),
})

const detailed = defineWorker({
  class: 'detailed',
  perform() {
    throw new Terminal('a ","reason":" b', { detail: { stack: 'mine', error: 'also mine', deep: [1] } })
  },
})

const twins = defineWorker({
  class: 'twins',
  perform(job) {
    for (let i = 0; i < 2; i++) job.spawn('a', { class: 'nop' })
  },
})

const answering = defineWorker({ class: 'answering', perform: () => 42 })
const answeringLast = defineWorker({ class: 'answering_last', perform: () => 42, shutdown: () => undefined })

export const workers = [
  nop,
  deaf,
  double,
  sum,
  pair,
  tuples,
  suspending,
  closing,
  stubborn,
  failing,
  asking,
  nesting,
  contexts,
  detailed,
  twins,
  answering,
  answeringLast,
  map,
  merge,
  waitEach,
]
