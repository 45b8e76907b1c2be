import { sleep } from '../../src/core/sleep.ts'
import { checkHealth, checkSignature, checkTick } from '../../src/deploy/checks.ts'
import { clientFor, type Where } from '../../src/deploy/tick.ts'
import { bellUrl } from '../../src/engine/lane/bells.ts'
import { is, type Question, refusalOf, unknown } from './verdict.ts'

type WorkerPlace = Where & {
  queue: string
  key?: string
  versionUrl?: string
  cronMaxWait?: number
  maxWait?: number
  pause?: number
}

const [PATIENCE, PAUSE] = [60_000, 1_000]
const ENDED = new Set(['DELIVERED', 'FAILED', 'CANCELED'])

/** Milliseconds. A Worker records ticks of cron at most every two minutes. */
const CRON_PATIENCE_MS = 130_000

type Ticked = { tickAt?: string | null; tickBy?: 'cron' | 'qstash' | null }

async function cronArrives(url: string, maxWait: number, pause: number): Promise<{ as?: boolean; got: string }> {
  const asked = Date.now()
  const look = async () => (await (await fetch(`${url}/health?details=true`)).json()) as Ticked
  const first = await look()
  for (const end = asked + maxWait; ; await sleep(pause)) {
    const { tickAt, tickBy } = await look()
    const isNew = tickAt && tickAt !== first.tickAt
    if (isNew && tickBy === 'cron')
      return is(true, `cron ticked at ${tickAt}, ${Math.round((Date.now() - asked) / 1_000)} s later`)
    if (Date.now() > end) return is(false, `last tick at ${tickAt ?? 'no time'} by ${tickBy ?? 'an unknown source'}`)
  }
}

/** Pinned jobs run at the address of their version, even after the deploy of a newer version. */
function earlierVersion(url: string | undefined): Question {
  const about = 'the address of a version that no longer serves PUBLIC_URL'
  const expected = 'healthy with the secrets of its upload, and refuses unsigned runs with 401'
  if (!url) return unknown(about, expected, 'set SIDEJOB_VERSION_URL to the address of an earlier version to check it')
  return {
    about,
    expected,
    async ask() {
      const health = await fetch(`${url}/health`)
      const run = await fetch(`${url}/perform`, { method: 'POST', body: '{}' })
      return is(health.status === 200 && run.status === 401, `health ${health.status}, an unsigned run ${run.status}`)
    },
  }
}

export function questionsOfWorker(place: WorkerPlace): Question[] {
  const { maxWait = PATIENCE, pause = PAUSE, cronMaxWait = CRON_PATIENCE_MS } = place
  const waits = { patience: maxWait, pause }

  async function ring(): Promise<string> {
    const client = clientFor(place)
    const [sent] = await client.batch([
      {
        url: bellUrl(place.publicUrl, place.queue),
        method: 'POST',
        body: JSON.stringify({ bell: 'probe' }),
        retries: 0,
      },
    ])
    const { messageId } = sent as { messageId: string }
    for (const end = Date.now() + maxWait; ; await sleep(pause)) {
      const { logs } = await client.logs({ filter: { messageId } })
      const state = logs.map((log) => log.state as string).find((one) => ENDED.has(one))
      if (state || Date.now() > end) return state ?? 'not delivered yet'
    }
  }

  return [
    {
      about: 'the Worker',
      expected: 'it responds with this version, and reaches Redis within 50 ms',
      async ask() {
        const { version = 'unknown', redisMs } = await checkHealth(place.publicUrl, { ...waits, key: place.key })
        if (redisMs === undefined) return { got: `version ${version}; without the time that Redis took` }
        return is(redisMs <= 50, `version ${version}, ${redisMs} ms to Redis`)
      },
    },
    {
      about: 'a call that QStash has not signed',
      expected: 'refused with 401 by the Worker itself',
      async ask() {
        const said = await refusalOf(checkSignature(place.publicUrl, waits))
        return is(said === undefined, said ?? 'refused with 401')
      },
    },
    {
      about: 'a tick published through QStash',
      expected: 'delivered, with a signature that the Worker accepts',
      async ask() {
        const said = await refusalOf(checkTick(place, waits))
        return is(said === undefined, said ?? 'delivered')
      },
    },
    {
      about: "a tick of Cloudflare's cron trigger",
      expected: `recorded within ${cronMaxWait / 1_000} s, in \`tickAt\` and \`tickBy\` of /health`,
      ask: () => cronArrives(place.publicUrl, cronMaxWait, pause),
    },
    {
      about: `the bell of a queue whose name has to be escaped, "${place.queue}"`,
      expected: 'delivered: the signature names the address that was called',
      async ask() {
        const state = await ring()
        return is(state === 'DELIVERED', state)
      },
    },
    earlierVersion(place.versionUrl),
    unknown(
      'a run that the serving version sends to the address of an earlier one',
      'performed there: a Worker may call another version of itself with global_fetch_strictly_public',
      'needs a job of your deployment: let a job of a class with `pin` wait, deploy again, wake it, and read its version',
    ),
    unknown(
      'the time for which a replaced version keeps its address',
      'while the version is one of the 100 that Cloudflare lists',
      'needs 100 deploys: request /health at the oldest address of `wrangler versions list`',
    ),
    unknown(
      'concurrent connections of an invocation',
      'six that wait for headers; a lane calls at most four workers at once',
      'needs a host that answers after 10 s: create 20 push jobs to it and count the requests that arrive together',
    ),
    unknown(
      'isolated runs of one invocation, and their shared memory',
      '32 calls of a binding, and 128 MB per isolate; a lane has four such runs at once and hands over after 30',
      'needs your own functions with `isolate: true`, and the memory chart of the Worker',
    ),
    unknown(
      'a waiting claim whose caller disconnects',
      'its claimed jobs are released immediately (enable_request_signal); otherwise after their lease',
      'needs jobs in the deployment’s namespace: claim with `wait`, disconnect, enqueue, and claim again',
    ),
    unknown(
      'the cost of an idle day',
      '1,440 ticks of cron and 144 messages, 3 commands each',
      'leave the deployment idle for a day, and read the counters in the consoles of Upstash and Cloudflare',
    ),
  ]
}
