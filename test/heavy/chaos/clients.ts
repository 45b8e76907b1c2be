import { encodeValue } from '../../../src/core/codec/value.ts'
import type { Status } from '../../../src/core/job.ts'
import { writeWords } from '../../../src/redis/changes.ts'
import { itemText } from '../../../src/redis/item.ts'
import { limitWords, type NewJob } from '../../../src/redis/new-job.ts'
import type { Words } from '../../../src/redis/ops.ts'
import { type JobRecord, statusOf } from '../../../src/redis/record.ts'
import { createVault } from '../../../src/redis/vault.ts'
import { inputOf, outputOf, text } from './behaviours.ts'
import {
  BOUNDED,
  callback,
  classes,
  classNames,
  definitionIn,
  type Group,
  isCallback,
  jobOf,
  limitKeysOf,
  limits,
  NEWS,
  QUEUES,
  renames,
  TAG,
} from './classes.ts'
import { argsWith, type ConstraintClients, HOSTS } from './constraints.ts'
import { type Facts, portOf } from './judge.ts'
import type { Ledger } from './ledger.ts'
import { idOf, type SeenJob } from './redis.ts'
import { createScheduleClients } from './schedules.ts'
import type { World } from './world.ts'

const MINUTE = 60_000
const hasEnded = (status: Status): boolean => ['completed', 'failed', 'terminated'].includes(status)
const atRest = ({ doc }: SeenJob): boolean => 'scfT'.includes(doc.place ?? '-')
const MOST_JOBS = 14

export function createClients(world: World, ledger: Ledger, constraints: ConstraintClients) {
  const { store, random } = world
  let made = 0
  let calls = 0
  const locks = new Map<number, string>()

  const once = () => ({ key: `k${++calls}`, period: 10 * MINUTE, fingerprint: '' })
  const newValue = (quiet = false): string => `${quiet ? 'q' : 'c'}${++made}`
  const wait = (from = 1_000, to = 60_000): number => Math.round(random.between(from, to))

  function someJob(fits: (job: SeenJob) => boolean = () => true): SeenJob | undefined {
    const all = [...world.view.jobs.values()].filter((job) => fits(job) && (!isCallback(job) || random.chance(0.1)))
    return all.length ? random.pick(all) : undefined
  }

  function call(
    label: string,
    job: number | '',
    ops: Words[],
    facts: (answer: string[]) => Partial<Facts> = () => ({}),
  ): void {
    const key = once()
    world.send({
      label,
      call: () => store.change(String(job), ops, key),
      facts: ({ answer }) => (ledger.isFirst(key.key, answer) ? facts(answer) : {}),
      got: ({ rings }) => world.ring(rings),
    })
  }

  const tell = (label: string, words: (job: SeenJob) => Words, fits?: (job: SeenJob) => boolean) => () => {
    const job = someJob(fits)
    if (job) call(label, job.id, [words(job)], () => ({ meddled: true }))
  }

  const isFull = (): boolean => [...world.view.jobs.values()].filter((job) => !isCallback(job)).length >= MOST_JOBS

  function enqueueSome(): void {
    if (isFull()) return
    const asked: NewJob[] = []
    const must: string[] = []
    for (let n = random.chance(0.2) ? 3 : 1; n > 0; n--) asked.push(newJob(must))
    enqueue(asked, must)
  }

  function enqueue(asked: NewJob[], must: string[]): void {
    const key = once()
    world.send({
      label: 'enqueue',
      call: () => constraints.enqueue(asked, key),
      facts: ({ made: jobs }) => {
        const ids = jobs.map(({ id }) => String(id))
        const first = ledger.isFirst(key.key, ids)
        const found = first ? jobs.filter(({ existing }) => existing) : []
        for (const { id, status } of found)
          if (hasEnded(status)) world.report('a unique key outlasts its job', String(id))
        return first && found.length === 0 ? { must, may: must } : { may: must }
      },
      got: ({ rings }) => world.ring(rings),
    })
  }

  function pack(): void {
    if (isFull()) return
    const queue = random.pick(QUEUES)
    const shared = random.chance(0.5)
      ? { queue, class: 'alike', known: false, retain: random.pick([0, 120_000]) }
      : jobOf(queue, 'ported')
    const must: string[] = []
    const inputs = () => {
      must.push(newValue())
      return { [inputOf('ported')!]: [itemText({ data: text(must.at(-1)!) })] }
    }
    const asked = Array.from(
      { length: 2 + random.int(5) },
      (): NewJob => ({
        ...shared,
        args: encodeValue(`${++made}`),
        ...(shared.class === 'ported' && { inputs: inputs() }),
      }),
    )
    const key = once()
    world.send({
      label: 'pack',
      call: () => constraints.enqueue(asked, key),
      facts: ({ made: jobs }) => {
        const first = ledger.isFirst(
          key.key,
          jobs.map(({ id }) => String(id)),
        )
        return first ? { must, may: must } : { may: must }
      },
      got: ({ rings }) => world.ring(rings),
    })
  }

  const someGroup = (p: number): Group | undefined => (random.chance(p) ? random.pick(['g', 'h'] as const) : undefined)

  function trigger(): void {
    if (isFull()) return
    const most = random.chance(0.5) ? wait(5_000, 30_000) : undefined
    const asked = Array.from(
      { length: random.chance(0.2) ? 2 : 1 },
      (): NewJob => ({
        ...jobOf('a', 'narrow', someGroup(0.3)),
        args: encodeValue(`${++made}`.padStart(random.chance(0.2) ? 600 : 1)),
        wait: wait(1_000, 20_000),
        unique: { key: 'd', held: 'started', debounce: { max: most } },
      }),
    )
    const key = once()
    world.send({
      label: 'trigger',
      call: () => constraints.enqueue(asked, key),
      facts: ({ made: jobs }) => {
        const ids = jobs.map(({ id }) => id)
        if (!ledger.isFirst(key.key, ids.map(String))) return {}
        return { timed: ids, told: [[ids.at(-1)!, asked.at(-1)!.args!]] }
      },
      got: ({ rings }) => world.ring(rings),
    })
  }

  function newJob(must: string[]): NewJob {
    // All unique jobs have one class, because only jobs of the same class can have the same key.
    const unique = random.chance(0.15)
    const name = unique ? 'stream' : random.pick(classNames)
    const port = inputOf(name)
    const parent = random.chance(0.15) ? someJob()?.id : undefined
    const values = port && random.chance(0.5) ? [newValue(), newValue()] : []
    const job: NewJob = {
      ...jobOf(unique ? 'a' : random.pick(QUEUES), name, someGroup(0.2)),
      priority: random.chance(0.3) ? random.int(3) : 0,
    }
    if (values.length) job.inputs = { [port!]: values.map((value) => itemText({ data: text(value) })) }
    if (random.chance(0.2)) job.wait = wait()
    if (unique) job.unique = { key: 'u' }
    if (random.chance(0.3)) job.args = argsWith(random.pick(HOSTS))
    if (parent !== undefined) Object.assign(job, { parent: String(parent), name: `e${random.int(9)}` })
    if (parent !== undefined && random.chance(0.4)) job.joins = true
    if (random.chance(0.3)) job.callback = callback
    if (random.chance(0.2)) job.history = 1 + random.int(3)
    if (classes[name]!.pull && random.chance(0.2)) job.tag = TAG
    must.push(...values)
    return job
  }

  function write(): void {
    const job = someJob(({ doc }) => inputOf(doc.class) !== undefined)
    if (!job) return
    const quiet = random.chance(0.1)
    const values = Array.from({ length: 1 + random.int(2) }, () => newValue(quiet))
    const words = writeWords(
      { in: inputOf(job.doc.class)! },
      { values: values.map(text), notify: !quiet },
      createVault(),
    )
    call('write', job.id, [words], () => ({ must: values, may: values }))
  }

  function take(): void {
    const job = someJob(({ lists }) => Object.keys(lists).length > 0)
    if (!job) return
    const field = random.pick(Object.keys(job.lists))
    const words = ['take', '', field[0]!, field.slice(2), String(1 + random.int(2))]
    call('take', job.id, [words], ([isDefault, ...items]) =>
      isDefault ? {} : { read: [{ port: portOf(job.id, field), values: items.map(idOf) }] },
    )
  }

  function publish(): void {
    const value = newValue()
    call('publish', '', [['publish', NEWS, itemText({ data: text(value), channel: NEWS })]], () => ({ may: [value] }))
  }

  function connect(): void {
    const from = someJob(({ doc, lists }) => lists['o:out'] !== undefined && doc.class !== 'herald')
    const to = someJob(({ doc }) => inputOf(doc.class) !== undefined)
    if (from && to)
      call('connect', from.id, [['connect', '', 'o', 'out', '1', String(to.id), 'i', inputOf(to.doc.class)!]])
  }

  function run(): void {
    const job = someJob()
    const force = random.chance(0.4)
    const later = random.chance(0.25) ? String(wait()) : ''
    if (!job) return
    call('run', job.id, [['run', '', force ? '1' : '', '', later, '']], ([, , ran]) => ({
      meddled: true,
      wanted: ran && !later ? [job.id] : [],
    }))
  }

  function callIf(label: string, id: number, expected: Words, words: Words[], is: (doc: JobRecord) => boolean): void {
    call(label, id, [expected, ...words], () => {
      if (!is(world.view.jobs.get(id)!.doc))
        world.report('a condition did not hold back', `${label} ${id}: ${expected}`)
      return { meddled: true }
    })
  }

  function callIfStatus(label: string, { id, doc }: SeenJob, words: Words[]): void {
    const status = statusOf(doc)
    callIf(label, id, ['expect', '1', status], words, (now) => statusOf(now) === status)
  }

  function requeue(): void {
    const job = someJob()
    if (!job) return
    const words = ['requeue', '', flag(0.5)]
    if (random.chance(0.3)) callIfStatus('requeue if so', job, [words])
    else call('requeue', job.id, [words], () => ({ meddled: true, wanted: [job.id] }))
  }

  function rename(): void {
    const job = someJob(({ doc }) => renames[doc.class] !== undefined)
    if (job)
      call(
        'rename',
        job.id,
        [
          ['rename', renames[job.doc.class]!],
          ['requeue', '', ''],
        ],
        () => ({ meddled: true }),
      )
  }

  function withdraw(): void {
    const job = someJob()
    if (!job) return
    const taken = job.doc.place === 'l' ? [['requeue', '', '']] : []
    callIfStatus('withdraw', job, [...taken, random.chance(0.5) ? ['cancel', ''] : ['delete', '', '1']])
  }

  function amend(): void {
    const job = someJob()
    if (!job) return
    const seen = random.chance(0.3) ? String(1 + random.int(2)) : String(job.doc.priority ?? '')
    const words = [['patch', '1', 'p', String(random.int(3))]]
    callIf('amend', job.id, ['was', 'p', '1', seen], words, ({ priority = '' }) => String(priority) === seen)
  }

  function resend(): void {
    const job = someJob(({ doc }) => doc.callbackJob !== undefined || doc.callbackOf !== undefined)
    if (job) call('resend', job.id, [['resend', '']], ([told]) => ({ meddled: true, wanted: [Number(told)] }))
  }

  function setBan(queue: string, globs?: string[]): void {
    world.send({
      label: globs ? 'ban' : 'unban',
      call: async () => (await store.settings(queue, {}, globs ? { ban: globs } : { unban: true })).rings,
      got: (rings) => world.ring(rings),
    })
  }

  function ban(): void {
    const queue = random.pick(QUEUES)
    setBan(queue, [random.pick(classNames)])
    world.after(wait(2_000, 20_000), () => setBan(queue))
  }

  function lock(): void {
    const job = someJob()
    if (!job) return
    const token = `t${++made}`
    locks.set(job.id, token)
    call('lock', job.id, [['lock', String(wait(5_000, 40_000)), token]])
  }

  function useLock(): void {
    const held = [...locks]
    if (held.length === 0) return
    const [id, token] = random.pick(held)
    if (random.chance(0.3)) call('refresh', id, [['refresh', token, String(wait(5_000, 40_000))]])
    else call('unlock', id, [['unlock', token]])
  }

  function patch(): void {
    const job = someJob()
    if (!job) return
    const moment = random.chance(0.3) ? '' : String(Math.round(world.now + wait()))
    const field = atRest(job) || random.chance(0.5) ? ['p', String(random.int(3))] : ['w', moment]
    call('patch', job.id, [['patch', '1', ...field]], () => ({ meddled: true }))
  }

  function adopt(): void {
    const parent = someJob()
    const orphan = someJob(({ doc }) => !doc.parent)
    if (parent && orphan) call('adopt', parent.id, [['adopt', String(orphan.id), `o${random.int(9)}`]])
  }

  function disown(): void {
    const child = someJob(({ doc }) => doc.parent !== undefined)
    if (child) call('disown', Number(child.doc.parent), [['disown', child.doc.childName!]], () => ({ meddled: true }))
  }

  function setPaused(queue: string, paused: boolean): void {
    world.send({
      label: paused ? 'pause' : 'resume',
      call: async () => (await store.settings(queue, { paused })).rings,
      got: (rings) => world.ring(rings),
    })
  }

  function pause(): void {
    const queue = random.pick(QUEUES)
    setPaused(queue, true)
    world.after(wait(2_000, 20_000), () => setPaused(queue, false))
  }

  function age(): void {
    const ageing = random.pick([null, 2_000, 60_000])
    world.send({
      label: ageing ? 'ageing' : 'no ageing',
      call: async () => (await store.settings(random.pick(QUEUES), { ageing })).rings,
      got: (rings) => world.ring(rings),
    })
  }

  function setLimit(key: string, paused: boolean): void {
    world.send({
      label: paused ? 'limit paused' : 'limit resumed',
      call: () => store.limit(key, 'change', { paused }),
      got: (rings) => world.ring(rings),
    })
  }

  function pauseLimit(): void {
    const key = random.pick(Object.keys(limits))
    setLimit(key, true)
    world.after(wait(2_000, 20_000), () => setLimit(key, false))
  }

  function shut(key: string, until?: number): void {
    world.send({
      label: until ? 'limit shut' : 'limit open',
      call: () => store.limit(key, 'shut', { until }),
      got: (rings) => world.ring(rings),
    })
  }

  function shutLimit(): void {
    shut(random.pick(Object.keys(limits)), Math.round(world.now + wait(5_000, 40_000)))
  }

  function bind(less: number): void {
    world.send({
      label: less ? 'bound closer' : 'bound as before',
      call: () => store.register(BOUNDED.queue, [definitionIn(BOUNDED.queue, BOUNDED.class, less)]),
      got: ({ rings }) => world.ring(rings),
    })
  }

  function rebind(): void {
    bind(1)
    world.after(wait(2_000, 20_000), () => bind(0))
  }

  function regroup(): void {
    const job = someJob()
    if (!job) return
    const group = someGroup(0.6)
    const keys = limitKeysOf(job.doc.queue, job.doc.class, group)
    const words = ['tag', '', '', String(keys.length), ...keys.flatMap(limitWords), group ?? '', '0', '']
    call('regroup', job.id, [words], () => ({ meddled: true }))
  }

  const flag = (p: number): string => (random.chance(p) ? '1' : '')
  const isFailed = ({ doc }: SeenJob): boolean => doc.place === 'f'

  const acts: { weight: number; act: () => void }[] = [
    { weight: 16, act: enqueueSome },
    { weight: 5, act: trigger },
    { weight: 5, act: pack },
    { weight: 22, act: write },
    { weight: 8, act: take },
    { weight: 3, act: publish },
    { weight: 3, act: connect },
    { weight: 6, act: run },
    { weight: 4, act: tell('terminate', () => ['terminate', '', flag(0.5)]) },
    { weight: 3, act: tell('delete', () => ['delete', '', flag(0.6)]) },
    { weight: 2, act: tell('cancel', () => ['cancel', '']) },
    { weight: 3, act: tell('retry', () => ['retry', ''], isFailed) },
    { weight: 4, act: lock },
    { weight: 3, act: useLock },
    { weight: 4, act: patch },
    { weight: 3, act: adopt },
    { weight: 2, act: disown },
    { weight: 1, act: pause },
    { weight: 1, act: age },
    { weight: 1, act: pauseLimit },
    { weight: 1, act: shutLimit },
    { weight: 1, act: rebind },
    { weight: 3, act: regroup },
    { weight: 3, act: requeue },
    { weight: 2, act: rename },
    { weight: 2, act: withdraw },
    { weight: 2, act: amend },
    { weight: 3, act: resend },
    {
      weight: 1,
      act: tell(
        'forget',
        () => ['forget'],
        ({ doc }) => doc.hasChildren !== undefined,
      ),
    },
    { weight: 0.5, act: ban },
    { weight: 1, act: tell('default', ({ doc }) => ['default', '', 'o', outputOf(doc.class) ?? 'out', '1', '=0']) },
  ]

  const scheduleJob = (name: string): NewJob => ({
    ...jobOf(random.pick(QUEUES), name, someGroup(0.2)),
    ...(random.chance(0.5) ? { args: argsWith(random.pick(HOSTS)) } : {}),
    ...(random.chance(0.3) ? { history: 1 + random.int(3) } : {}),
  })
  const schedules = createScheduleClients(world, { call, newJob: scheduleJob, enqueue: (job) => enqueue([job], []) })
  const every = [...acts, ...schedules.acts, ...constraints.acts]

  return {
    act: (): void => random.weighted(every).act(),

    hasSchedules: schedules.isAny,

    settle: (): void => {
      settle()
      world.after(MINUTE, settle)
    },

    endSchedules: (): void => {
      schedules.endAll()
      world.after(MINUTE, schedules.endAll)
    },
  }

  function settle(): void {
    for (const queue of QUEUES) setPaused(queue, false)
    for (const queue of QUEUES) setBan(queue)
    for (const key of Object.keys(limits)) {
      setLimit(key, false)
      if (random.chance(0.5)) shut(key)
    }
  }
}
