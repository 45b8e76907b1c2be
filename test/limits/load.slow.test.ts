import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWorkerd, type Workerd } from '../e2e/workerd/kit.ts'
import { kind } from '../kit/index.ts'

const SECONDS = Number(process.env.SIDEJOB_TEST_LOAD ?? 15)
const ROUND = 5_000
const TRIES = 3
const CLIENTS = 10
const limits = { requestsPerSecond: 2, jobs: 60, bytes: 1_000_000 }
/** Clients exceed their rate by this factor, and ignore Retry-After. */
const EAGER = 2.5

let workerd: Workerd
beforeAll(async () => {
  workerd = await startWorkerd()
}, 120_000)
afterAll(async () => {
  console.log(workerd?.printed.join('\n'))
  await workerd?.close()
})

type Ask = (method: string, path: string, body?: unknown) => Promise<{ status: number; text: string }>

/** Closes idle connections after 2 s: workerd closes them after 5 s, and a request at that moment would fail. */
const agent = new Agent({ keepAlive: true, timeout: 2_000 })

const asking =
  (key: string): Ask =>
  async (method, path, body) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const asked = request(`${workerd.stack.url}${path}`, { method, headers, agent })
    asked.end(body === undefined ? undefined : JSON.stringify(body))
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    return { status: answer.statusCode!, text: await text(answer) }
  }

/** The order matters: the refusal for bytes also mentions jobs. */
const limitsHit = { 'requests with this API key': 0, 'bytes of jobs': 0, 'jobs that have not ended': 0 }
type Limit = keyof typeof limitsHit
const seen = { let: 0, refused: { ...limitsHit }, other: [] as string[] }

function note({ status, text }: { status: number; text: string }): void {
  if (status < 300) {
    seen.let++
    return
  }
  const limit = (Object.keys(seen.refused) as Limit[]).find((one) => status === 429 && text.includes(one))
  if (limit) seen.refused[limit]++
  else seen.other.push(`${status} ${text}`.slice(0, 300))
}

async function startClient(place: number) {
  const made = await asking(workerd.stack.apiKey)('POST', '/v1/keys', {
    name: `client ${place}`,
    scopes: ['read', 'write'],
    limits,
  })
  const ask = asking((JSON.parse(made.text) as { key: string }).key)
  const parked = Array.from({ length: 40 }, () => ({ class: 'noop', wait: '10h', args: 'x'.repeat(22_000) }))
  expect(await ask('POST', '/v1/jobs', parked)).toMatchObject({ status: 201 })
  const turns = [
    () => ask('POST', '/v1/jobs', Array(10).fill({ class: 'noop' })),
    () => ask('GET', '/v1/jobs?limit=10'),
    () => ask('POST', '/v1/jobs', { class: 'noop', args: 'y'.repeat(150_000) }),
    () => ask('POST', '/v1/jobs', Array(25).fill({ class: 'noop' })),
  ]
  const pace = 1_000 / limits.requestsPerSecond / EAGER
  return async (until: number) => {
    await sleep((pace * place) / CLIENTS)
    const open: Promise<void>[] = []
    for (let turn = 0; Date.now() < until; turn++) {
      open.push(turns[turn % turns.length]!().then(note, (error) => void seen.other.push(String(error.cause ?? error))))
      await sleep(pace)
    }
    await Promise.all(open)
  }
}

type Times = { work: number[]; look: number[] }
const parts = ['work', 'look'] as const

async function timed<T>(into: number[], work: () => Promise<T>): Promise<T> {
  const begun = performance.now()
  const done = await work()
  into.push(performance.now() - begun)
  return done
}

async function eleventh(ask: Ask, until: number, { work, look }: Times) {
  while (Date.now() < until) {
    const id = await timed(work, async () => {
      const job = { queue: 'core', class: 'zip', inputs: { in: [[[1], [2]]] }, keepResult: '1h' }
      const { id } = JSON.parse((await ask('POST', '/v1/jobs', job)).text) as { id: number }
      const { status, text } = await ask('GET', `/v1/jobs/${id}/result?wait=30`)
      expect({ status, text }).toMatchObject({ status: 200, text: expect.stringContaining('"success"') })
      return id
    })
    const job = await timed(look, () => ask('GET', `/v1/jobs/${id}`))
    expect(JSON.parse(job.text)).toMatchObject({ status: 'completed' })
  }
}

const quantile = (all: number[], q: number) => all.toSorted((a, b) => a - b)[Math.floor((all.length - 1) * q)]!
const told = (all: number[]) =>
  `${all.length} times, p50 ${quantile(all, 0.5).toFixed(0)} ms, p99 ${quantile(all, 0.99).toFixed(0)} ms`

const quiet = () =>
  expect
    .poll(
      async () => {
        const { queues } = await workerd.client.queues.list()
        const { queued, running } = queues.find(({ name }) => name === 'default')!.counts
        return queued + running
      },
      { timeout: 60_000, interval: 100 },
    )
    .toBeLessThanOrEqual(CLIENTS * 40)

type Client = Awaited<ReturnType<typeof startClient>>

type Pair = { idle: Times; loaded: Times }

const times = (): Times => ({ work: [], look: [] })

async function measure(clients: Client[], ask: Ask) {
  const pairs: Pair[] = []
  for (let spent = 0; spent < SECONDS * 1_000; spent += ROUND) {
    const pair = { idle: times(), loaded: times() }
    await eleventh(ask, Date.now() + ROUND / 2, pair.idle)
    const end = Date.now() + ROUND
    await Promise.all([eleventh(ask, end, pair.loaded), ...clients.map((client) => client(end))])
    await quiet()
    pairs.push(pair)
  }
  const ratios = parts.map((part) => {
    const [idle, loaded] = (['idle', 'loaded'] as const).map((of) => pairs.flatMap((pair) => pair[of][part]))
    const paired = quantile(
      pairs.map((pair) => quantile(pair.loaded[part], 0.99) / quantile(pair.idle[part], 0.99)),
      0.5,
    )
    const pooled = quantile(loaded!, 0.99) / quantile(idle!, 0.99)
    const both = `${pooled.toFixed(2)} times, ${paired.toFixed(2)} in the middle of ${pairs.length} pairs`
    console.log(`${part}: idle ${told(idle!)}; with ten ${told(loaded!)}; p99 ${both}`)
    return pooled
  })
  return Math.max(...ratios)
}

test.skipIf(kind !== 'server')(
  'ten clients at their limits: the p99 of an eleventh stays within twice the idle p99',
  { timeout: TRIES * SECONDS * 5_000 + 120_000 },
  async () => {
    const clients = await Promise.all(Array.from({ length: CLIENTS }, (_, place) => startClient(place)))
    const ask = asking(workerd.stack.apiKey)
    await eleventh(ask, Date.now() + 1_000, times())
    let ratio = Number.POSITIVE_INFINITY
    for (let tries = 0; tries < TRIES && ratio > 2; tries++) ratio = await measure(clients, ask)
    console.log(`ten clients: ${seen.let} requests let through; refused: ${JSON.stringify(seen.refused)}`)

    expect(seen.other).toEqual([])
    expect(Math.min(...Object.values(seen.refused))).toBeGreaterThan(0)
    expect(ratio).toBeLessThanOrEqual(2)
  },
)
