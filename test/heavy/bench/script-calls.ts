import { join } from 'node:path'
import type * as clients from '../../../src/redis/client.ts'
import type * as stores from '../../../src/redis/store.ts'
import type { ClaimedJob } from '../../../src/redis/types.ts'
import { cpuOf } from './cpu.ts'
import type { Host, Lua } from './luas.ts'

/** CPU time in milliseconds by kind of call. */
export type Calls = Record<string, number>

type Make = () => ReturnType<typeof stores.createStore>

type Workload = { times: number; ready: (store: ReturnType<Make>, times: number) => Promise<() => Promise<unknown>> }

const BATCH = 100
const plain = { queue: 'q', class: 'plain', known: true }
/** Redis stores several equal jobs in one record, but never a job with a unique key. */
const single = () => ({ ...plain, unique: { key: crypto.randomUUID() } })

const LEASE = 45_000

const lane =
  (batch: number, job: () => object, madeAtOnce = batch): Workload['ready'] =>
  async (store, times) => {
    for (let left = (times + 2) * batch; left > 0; left -= madeAtOnce)
      await store.enqueue(Array.from({ length: madeAtOnce }, job) as Parameters<typeof store.enqueue>[0])
    const id = crypto.randomUUID()
    let seq = 0
    let claimed: ClaimedJob[] = []
    const goOn = async () => {
      const runs = claimed.map(({ document }) => ({
        token: document.token!,
        n: 0,
        end: 'completed' as const,
        words: [],
      }))
      const asked = { id, seq: ++seq, bell: '', waits: 0, warm: 0 }
      const answer = await store.commit({
        queue: 'q',
        runs,
        lane: asked,
        claim: { max: batch, lease: LEASE, begun: batch },
      })
      if (answer.claimed.length !== batch) throw new Error(`${batch} were to be claimed, ${answer.claimed.length} came`)
      claimed = answer.claimed
    }
    await goOn()
    return goOn
  }

const workloads: Record<string, Workload> = {
  'a claim that finds nothing': {
    times: 300,
    async ready(store) {
      await store.enqueue([{ ...plain, wait: 3_600_000 }])
      return () => store.commit({ queue: 'q', claim: { max: BATCH, lease: LEASE, begun: 1 } })
    },
  },
  'an enqueue of 1': { times: 300, ready: async (store) => () => store.enqueue([plain]) },
  [`an enqueue of ${BATCH} equal jobs`]: {
    times: 100,
    ready: async (store) => () => store.enqueue(Array.from({ length: BATCH }, () => plain)),
  },
  'a commit of 1 with a claim of 1': { times: 200, ready: lane(1, () => plain) },
  [`a commit of ${BATCH} with a claim of ${BATCH}, equal jobs`]: { times: 100, ready: lane(BATCH, () => plain) },
  [`a commit of ${BATCH} with a claim of ${BATCH}, different jobs`]: { times: 30, ready: lane(BATCH, single) },
}

export async function callsOf(folder: string, { options }: Host): Promise<Make> {
  const { createStore }: typeof stores = await import(join(folder, 'src/redis/store.ts'))
  const { createClient }: typeof clients = await import(join(folder, 'src/redis/client.ts'))
  const client = createClient(options)
  return () => createStore({ client, namespace: `${crypto.randomUUID().slice(0, 8)}:` })
}

const LUA = ', Lua only'

const timesIn = (lua: Lua, times: number): number => (lua === 'embedded' ? Math.ceil(times / 10) : times)

/** `share`: fraction of the usual number of calls. */
export async function measureCalls(make: Make, { pid, luaMs }: Host, lua: Lua, share = 1): Promise<Calls> {
  const found: Calls = {}
  for (const [title, { times: usual, ready }] of Object.entries(workloads)) {
    const times = timesIn(lua, Math.ceil(usual * share))
    const call = await ready(make(), times)
    const [before, luaBefore] = [cpuOf(pid), await luaMs?.()]
    for (let i = 0; i < times; i++) await call()
    found[title] = (cpuOf(pid) - before) / times
    if (luaMs) found[`${title}${LUA}`] = ((await luaMs()) - luaBefore!) / times
  }
  return found
}
