import { classes, definitionIn, settingsOf } from './classes.ts'
import { createClients } from './clients.ts'
import { createConstraintClients } from './constraints.ts'
import { createLedger } from './ledger.ts'
import type { Direct } from './redis.ts'
import { createWorkers } from './workers.ts'
import { createWorld, type Violation, type World } from './world.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const MONTH = 31 * 24 * HOUR
const STEPS_PER_VERIFY = 25

export type Played = {
  seed: number
  violations: Violation[]
  counts: Map<string, number>
  steps: number
  trace: () => string[]
}

async function setUp(world: World, settings: ReturnType<typeof settingsOf>): Promise<void> {
  for (const [queue, { lanes, batch, pull }] of Object.entries(settings)) {
    const definitions = Object.keys(classes).map((name) => definitionIn(queue, name))
    await world.store.register(queue, definitions)
    await world.store.settings(queue, { lanes, batch, ...(pull ? { mode: 'pull' as const } : {}) })
  }
}

async function verify(world: World): Promise<void> {
  const { faults } = await world.store.verify()
  for (const { who, what } of faults) world.report('verify', `${who} ${what}`)
}

async function playOn(world: World, goesOn: () => boolean): Promise<void> {
  let verified = world.steps
  while (goesOn() && world.violations.length === 0) {
    await world.next()
    if (world.steps - verified < STEPS_PER_VERIFY) continue
    verified = world.steps
    await verify(world)
  }
}

async function playFor(world: World, ms: number): Promise<void> {
  const end = world.now + ms
  await playOn(world, () => world.now < end)
}

const isAtRest = ({ view }: World): boolean =>
  [...view.jobs.values()].every(({ doc }) => doc.place && 'scfT'.includes(doc.place)) &&
  [...view.queues.values()].every(({ l }) => Object.keys(l).length === 0)

async function checkLeftovers(world: World, redis: Direct): Promise<void> {
  const keys = (await redis.command('KEYS', `${world.namespace}job:*`)) as string[]
  for (const key of keys) {
    const id = Number(key.slice(`${world.namespace}job:`.length).split(':')[0])
    if (!world.view.jobs.has(id)) world.report('a deleted job left something', key)
  }
}

async function forget(world: World, redis: Direct): Promise<void> {
  const keys = (await redis.command('KEYS', `${world.namespace}*`)) as string[]
  if (keys.length) await redis.command('UNLINK', ...keys)
}

export async function play({ seed, redis }: { seed: number; redis: Direct }): Promise<Played> {
  const world = createWorld({ seed, redis })
  const settings = settingsOf(seed)
  await forget(world, redis)
  await setUp(world, settings)
  const ledger = createLedger(world)
  const constraints = createConstraintClients(world)
  const workers = createWorkers(world, { ledger, constraints, settings })
  const clients = createClients(world, ledger, constraints)
  try {
    await storm(world, clients)
    await calm(world, clients)
    await verify(world)
    if (world.violations.length === 0) await afterMonths(world, workers.tick)
    await checkLeftovers(world, redis)
  } catch (error) {
    world.report(
      'a script or the simulator broke',
      error instanceof Error ? (error.stack ?? error.message) : String(error),
    )
  }
  await forget(world, redis)
  const { violations, counts, steps, trace } = world
  return { seed, violations, counts, steps, trace }
}

type Clients = ReturnType<typeof createClients>

async function storm(world: World, clients: Clients): Promise<void> {
  let left = 30 + world.random.int(31)
  const act = () => {
    clients.act()
    if (--left > 0)
      world.after(
        world.random.chance(0.05) ? world.random.between(10_000, 60_000) : world.random.between(50, 3_000),
        act,
      )
  }
  world.after(100, act)
  await playOn(world, () => left > 0)
}

async function calm(world: World, clients: Clients): Promise<void> {
  world.calm()
  // Slots that are more than five minutes late are missed, so a longer outage tests each policy for missed slots.
  if (clients.hasSchedules() && world.random.chance(0.4)) {
    world.isDown = true
    await playFor(world, world.random.between(7, 16) * MINUTE)
    world.isDown = false
  }
  clients.settle()
  if (clients.hasSchedules()) {
    await playFor(world, 5 * MINUTE)
    if (world.violations.length === 0) world.judge.caughtUp(world.view, world.now)
  }
  clients.endSchedules()
  const end = world.now + 3 * HOUR
  const settledBy = world.now + 70_000
  await playOn(world, () => world.now < end && (world.now < settledBy || !isAtRest(world)))
  if (world.violations.length === 0) world.judge.rest(world.view)
}

async function afterMonths(world: World, tick: () => Promise<void>): Promise<void> {
  for (let n = 0; n < 3; n++) {
    world.skip(MONTH)
    await tick()
  }
  await verify(world)
}
