// What the vendor's Lua takes for the two calls that carry most jobs: one enqueue, and a commit of a hundred runs with the
// claim of the next hundred. CPU of the stand-in, which is gopher-lua and its calls, beside the time until the answer.

import { startGateway } from '../../../infra/gateway.ts'
import { startRedis } from '../../../infra/redis.ts'
import { startStrict } from '../../../infra/strict/index.ts'
import { createWorld, type World } from '../../redis/direct.ts'
import { usedBy } from './cpu.ts'

const TOKEN = 'strict'
const LONE = 300
const BATCHES = 40
const BATCH = 100

type Taken = { cpu: number; wall: number }

/** Milliseconds each: of CPU, and the median until the answer. */
async function measure(pid: number, times: number, work: () => Promise<unknown>): Promise<Taken> {
  const walls: number[] = []
  const before = usedBy(pid)
  for (let i = 0; i < times; i++) {
    const from = performance.now()
    await work()
    walls.push(performance.now() - from)
  }
  return { cpu: (usedBy(pid) - before) / 1_000 / times, wall: walls.toSorted((a, b) => a - b)[times >> 1]! }
}

async function batches(world: World, pid: number): Promise<Taken> {
  const job = { queue: 'q', class: 'plain', known: true }
  for (let i = 0; i < BATCHES + 1; i++) await world.store.enqueue(Array.from({ length: BATCH }, () => job))
  const lane = world.lane()
  let { runs } = await lane.ask()
  const taken = await measure(pid, BATCHES, async () => {
    const ended = await Promise.all(runs.map((run) => run.settled({})))
    runs = (await lane.ask({ runs: ended })).runs
    if (runs.length !== BATCH) throw new Error(`${BATCH} were to be claimed, ${runs.length} came`)
  })
  await lane.ask({ runs: await Promise.all(runs.map((run) => run.settled({}))), leave: true })
  return taken
}

/**
 * Scripts are kept compiled, as a setting of the stand-in has it: nobody outside knows whether the vendor does.
 *
 * @example const { enqueue, batch } = await measureScripts() // milliseconds
 */
export async function measureScripts(): Promise<{ enqueue: Taken; batch: Taken }> {
  const server = await startRedis({ force: 'server', persist: false })
  const strict = await startStrict({ redis: server, plan: 'off', compileEach: false })
  const gateway = await startGateway({ redis: strict.address, token: TOKEN })
  try {
    const world = await createWorld({ url: gateway.url, token: TOKEN })
    await batches(world, strict.pid)
    const batch = await batches(world, strict.pid)
    await world.make()
    const enqueue = await measure(strict.pid, LONE, () => world.make())
    return { enqueue, batch }
  } finally {
    await gateway.close()
    await strict.close()
    await server.close()
  }
}

const ms = ({ cpu, wall }: Taken, most: number): string =>
  `${cpu.toFixed(1)} ms of CPU, ${wall.toFixed(1)} ms until the answer (goal ${most}${cpu > most ? ', MISSED' : ''})`

/** Both, as lines. */
export async function reportScripts(): Promise<string[]> {
  const { enqueue, batch } = await measureScripts()
  return [
    "\nscripts in the vendor's Lua, kept compiled",
    `  one enqueue                          ${ms(enqueue, 20)}`,
    `  commit of ${BATCH} with claim of ${BATCH}     ${ms(batch, 15)}`,
  ]
}
