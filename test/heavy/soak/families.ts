import type { Encoded } from '../../../src/core/codec/value.ts'
import { defineWorker, type Job } from '../../../src/index.ts'
import { createWorld } from '../../facades/kit.ts'
import { type Kit, startKit } from '../../kit/index.ts'
import { type Random, seeded } from '../chaos/random.ts'
import { atLeast, defineShow, exactly, told } from './show.ts'

const sizes = { trees: 60, depth: 6, seed: 1 }
const MINUTE = 60_000
const MAX_ROUNDS = 60

type Counts = Map<string, number>
type Played = { jobs: number; deepest: number; stranded: string[]; faults: number }
const ended = new Set<string>(['completed', 'failed', 'terminated'])
const add = (counts: Counts, what: string) => counts.set(what, (counts.get(what) ?? 0) + 1)

type Member = { id: number; depth: number; parent?: number }
type Answer = { code: number; body: { jobs?: { jobID: number }[]; state?: string } }

async function playBedrock(kit: Kit, random: Random, { depth }: { depth: number }, counts: Counts): Promise<Played> {
  const world = await createWorld(kit)
  await world.engine.queues.update('bedrock', { mode: 'pull' })
  const members = new Map<number, Member>()
  let [jobs, deepest] = [0, 0]

  async function send(command: string, given: object): Promise<Answer> {
    const headers = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)]))
    const response = await world.ask('POST', `/bedrock/${command}`, headers)
    add(counts, `${command}: ${response.status}`)
    return { code: response.status, body: await response.json() }
  }

  const stateOf = async (id: number) => (await send('QueryJob', { jobID: id })).body.state

  /** The engine creates grandchildren, because Bedrock's CreateJob refuses them. */
  async function create(parent?: Member): Promise<void> {
    if (parent && !/RUNNING|RUNQUEUED|PAUSED/.test((await stateOf(parent.id)) ?? '')) return
    const given = {
      queue: 'bedrock',
      class: 'any',
      args: '{}' as Encoded,
      ...(parent ? { parent: String(parent.id), joins: true } : { retain: 0 }),
      ...(random.chance(0.5) ? { redeliver: { after: '+5 MINUTES', max: 10 } } : {}),
    }
    // The parent may be terminating, and then it cannot get a child.
    const made = await world.engine.jobs.enqueue([given]).catch((error) => {
      if (error.code !== 'WRONG_STATUS') throw error
      add(counts, `create: ${error.code}`)
    })
    if (!made) return
    jobs++
    const { id } = made.jobs[0]!
    members.set(id, { id, depth: parent ? parent.depth + 1 : 0, parent: parent?.id })
  }

  const childrenOf = (id: number) => [...members.values()].filter(({ parent }) => parent === id)
  const someone = () => random.pick([...members.values()])

  async function tamper(command: string, given: { jobID?: number; jobIDs?: number }): Promise<void> {
    await send(command, given)
    const id = given.jobID ?? given.jobIDs!
    if ((await stateOf(id)) === undefined) members.delete(id)
  }

  async function work(member: Member): Promise<void> {
    const parent = member.parent === undefined ? undefined : members.get(member.parent)
    if (member.depth < depth) for (let n = random.int(member.depth === 0 ? 5 : 4); n > 0; n--) await create(member)
    if (parent && random.chance(0.3)) await create(parent)
    const fate = random.next()
    if (fate < 0.7) await send('FinishJob', { jobID: member.id })
    else if (fate < 0.8) await send('RetryJob', { jobID: member.id, delay: random.int(120) })
    else if (fate < 0.88) await send('FailJob', { jobID: member.id })
    else add(counts, 'lost')
  }

  async function take(): Promise<Member[]> {
    const { body } = await send('GetJobs', { name: '*', numResults: 1 + random.int(5) })
    return (body.jobs ?? []).map(({ jobID }) => members.get(jobID)!)
  }

  for (let step = 0; step < 100; step++) {
    if (members.size === 0) await create()
    const what = random.next()
    if (what < 0.7) for (const member of await take()) await work(member)
    else if (what < 0.8) await tamper('CancelJob', { jobID: someone().id })
    else if (what < 0.84) await tamper('DeleteJob', { jobID: someone().id })
    else if (what < 0.88) await tamper('FailJob', { jobID: someone().id })
    else if (what < 0.92) await tamper('RequeueJobs', { jobIDs: someone().id })
    else await kit.advance(random.int(6) * MINUTE)
    deepest = Math.max(deepest, ...[...members.values()].map((member) => member.depth))
  }

  async function finish({ id, parent }: Member): Promise<void> {
    const { code } = await send('FinishJob', { jobID: id })
    if (code === 200) return
    for (const child of childrenOf(id))
      if ((await stateOf(child.id)) === 'FAILED') await send('DeleteJob', { jobID: child.id })
    if ((await send('FinishJob', { jobID: id })).code === 200) return
    await send('RequeueJobs', { jobIDs: id })
    // If the parent was deleted, no job waits for this child, so delete the child too.
    if (parent !== undefined && (await stateOf(parent)) === 'CANCELLED') await send('DeleteJob', { jobID: id })
  }

  async function tidy({ id }: Member): Promise<void> {
    const state = await stateOf(id)
    if (state === undefined) members.delete(id)
    else if (state === 'RUNNING') await send('RequeueJobs', { jobIDs: id })
    else if (state === 'FAILED' && (await send('DeleteJob', { jobID: id })).code !== 200)
      await send('RequeueJobs', { jobIDs: id })
  }

  const left = async () => {
    const states = await Promise.all([...members.keys()].map(async (id) => `${id} ${await stateOf(id)}`))
    return states.filter((state) => !/undefined|FINISHED|CANCELLED|FAILED/.test(state))
  }
  let stranded = await left()
  for (let round = 0; stranded.length > 0 && round < MAX_ROUNDS; round++) {
    const jobs = members.size
    // Bedrock delivers a refused job again, so this loop needs a limit.
    for (let n = 0; n <= jobs; n++) for (const member of await take()) await finish(member)
    for (const member of [...members.values()]) await tidy(member)
    await kit.advance(6 * MINUTE)
    stranded = await left()
  }
  return { jobs, deepest, stranded, faults: (await world.faults()).length }
}

const branch = defineWorker({
  class: 'branch',
  retry: { max: 2, backoff: { base: 100 } },
  perform(job: Job) {
    const { seed, depth } = job.args as { seed: number; depth: number }
    const random = seeded(seed * 31 + Number(job.get('runs') ?? 0))
    job.set({ runs: Number(job.get('runs') ?? 0) + 1 })
    if (random.chance(0.15)) throw new Error('this time not')
    const names = Object.keys(job.children)
    const waitsFor = Object.values(job.children).some(
      ({ status }) => !['completed', 'failed', 'terminated'].includes(status),
    )
    if (names.length === 0)
      for (let n = random.int(depth === 0 ? 1 : 4); n > 0; n--) {
        names.push(`c${n}`)
        job.spawn(`c${n}`, branch, { args: { seed: seed * 7 + n, depth: depth - 1 } })
      }
    else if (!waitsFor) return undefined
    if (names.length === 0) return undefined
    return job.suspend({ waitFor: random.chance(0.7) ? 'children' : names.slice(0, 1 + random.int(names.length)) })
  },
})

async function playFunctions(kit: Kit, random: Random, { depth }: { depth: number }, counts: Counts): Promise<Played> {
  const { engine } = kit
  const args = (levels: number) => JSON.stringify({ seed: random.int(1e6), depth: levels }) as never
  const { jobs: made } = await engine.jobs.enqueue([{ queue: 'default', class: 'branch', args: args(depth) }])
  const root = made[0]!.id
  const family = async () => (await engine.jobs.list({ limit: 1_000 })).jobs.filter(({ id }) => id >= root)
  const attempt = async (what: string, act: Promise<unknown>) =>
    add(counts, `${what}: ${await act.then(() => 'done').catch(({ code }) => code ?? 'failed')}`)
  let [jobs, deepest] = [0, 0]

  function measure(members: Awaited<ReturnType<typeof family>>) {
    const parents = new Map(members.map(({ id, parent }) => [id, parent?.id]))
    const level = (id: number): number => (parents.get(id) === undefined ? 0 : 1 + level(parents.get(id)!))
    jobs = Math.max(jobs, members.length)
    deepest = Math.max(deepest, ...members.map(({ id }) => level(id)))
  }

  for (let step = 0; step < 40; step++) {
    const members = await family()
    measure(members)
    const one = members.length ? random.pick(members) : undefined
    const id = String(one?.id)
    const what = random.next()
    if (!one || what < 0.4) await new Promise((resolve) => setTimeout(resolve, random.int(40)))
    else if (what < 0.5) await attempt('terminate', engine.jobs.terminate(id, { recursive: random.chance(0.5) }))
    else if (what < 0.56) await attempt('cancel', engine.jobs.cancel(id))
    else if (what < 0.62 && one.id !== root) await attempt('delete', engine.jobs.remove(id, { force: true }))
    else if (what < 0.72)
      await attempt(
        'spawn from outside',
        engine.jobs.enqueue([{ queue: 'default', class: 'branch', parent: id, args: args(random.int(3)) }]),
      )
    else if (what < 0.78 && one.parent)
      await attempt('disown', engine.jobs.disown(String(one.parent.id), { name: one.parent.name }))
    else if (what < 0.84) await attempt('retry', engine.jobs.retry(id))
    else {
      add(counts, 'leases over')
      await kit.advance(46_000)
      await engine.tick()
    }
  }

  const open = async () =>
    (await family()).filter(({ status }) => !ended.has(status)).map(({ id, status }) => `${id} ${status}`)
  let stranded = await open()
  for (let round = 0; stranded.length > 0 && round < MAX_ROUNDS; round++) {
    await kit.advance(2 * MINUTE)
    await engine.tick()
    for (let n = 0; n < 20 && stranded.length > 0; n++) {
      await new Promise((resolve) => setTimeout(resolve, 25))
      stranded = await open()
    }
  }
  measure(await family())
  return { jobs, deepest, stranded, faults: (await engine.doctor.verify()).length }
}

export const families = defineShow({
  title: 'families, at random',
  sizes,
  async run({ trees, depth, seed }, say) {
    const counts: Counts = new Map()
    const played: Played[] = []
    async function playAll(name: string, kit: Kit, play: typeof playBedrock): Promise<void> {
      try {
        for (let n = 0; n < trees; n++) {
          const one = await play(kit, seeded(seed + n), { depth }, counts)
          played.push(one)
          if (one.stranded.length) say(`${name}, seed ${seed + n}: ${one.stranded.join(', ')}`)
        }
      } finally {
        await kit.close()
      }
    }
    await playAll('Bedrock', await startKit({ hold: true }), playBedrock)
    await playAll('functions', await startKit({ workers: [branch] }), playFunctions)
    for (const [what, n] of [...counts].sort()) say(`${n} × ${what}`)
    const sum = (of: (one: Played) => number) => played.reduce((total, one) => total + of(one), 0)
    return [
      told('families', played.length),
      told(
        'jobs in them',
        sum(({ jobs }) => jobs),
      ),
      atLeast('levels below the root, at most', Math.max(...played.map(({ deepest }) => deepest)), depth),
      exactly(
        'jobs that wait forever',
        sum(({ stranded }) => stranded.length),
        0,
      ),
      exactly(
        'faults in Redis',
        sum(({ faults }) => faults),
        0,
      ),
    ]
  },
})
