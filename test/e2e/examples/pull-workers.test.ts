import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { KEY } from '../../dashboard/kit.ts'
import { serve } from '../../dashboard/served.ts'
import { answered, sent } from '../../http/worker-document.ts'

const root = join(import.meta.dirname, '../../..')
const isThere = (...command: string[]) => spawnSync(command[0]!, command.slice(1)).status === 0

const temporary = mkdtempSync(join(tmpdir(), 'sidejob-pull-'))
const built = join(temporary, 'worker')

/** `go run` would start a second process, which would survive the kill of the first process. */
const build = () =>
  spawnSync('go', ['build', '-o', built, join(root, 'examples/go-worker/worker.go')], {
    env: { ...process.env, GO111MODULE: 'off' },
    stdio: 'inherit',
  })

const examples = [
  {
    queue: 'python',
    command: ['python3', join(root, 'templates/python/worker.py')],
    missing: !isThere('python3', '--version'),
    stops: true,
  },
  { queue: 'go', command: [built], missing: !isThere('go', 'version'), prepare: build, stops: true },
  {
    queue: 'shell',
    command: ['bash', join(root, 'examples/shell-worker/worker.sh')],
    missing: !isThere('jq', '--version') || !isThere('curl', '--version'),
    stops: false,
  },
]

const start = (command: readonly string[], url: string) =>
  spawn(command[0]!, command.slice(1), {
    env: { ...process.env, SIDEJOB_URL: url, SIDEJOB_API_KEY: KEY },
    stdio: ['ignore', 'pipe', 'inherit'],
    // The whole process group is killed, because a waiting curl outlives bash.
    detached: true,
  })

/** Starts a worker with a stand-in for sidejob. */
async function against(
  command: readonly string[],
  answer: (request: IncomingMessage, response: ServerResponse) => unknown,
  use: () => Promise<unknown>,
): Promise<void> {
  const server = createServer((request, response) => {
    if (request.method === 'PUT') response.end('{}')
    else answer(request, response)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const worker = start(command, `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const exit = once(worker, 'exit')
  try {
    await Promise.race([use(), exit.then(([code]) => expect.fail(`the worker ended with ${code}`))])
  } finally {
    if (worker.exitCode === null) process.kill(-worker.pid!)
    await exit
    server.closeAllConnections()
    server.close()
  }
}

const isClaim = ({ url }: IncomingMessage): boolean => url!.endsWith('/claim')

let site: Awaited<ReturnType<typeof serve>>
beforeAll(async () => {
  site = await serve()
})
afterAll(async () => {
  await site.close()
  rmSync(temporary, { recursive: true, force: true })
})

describe.each(examples)('a pull worker of queue $queue', ({ queue, command, missing, prepare, stops }) => {
  const may = test.skipIf(missing)
  let worker: ChildProcess
  let exit: Promise<unknown>

  beforeAll(async () => {
    if (missing) return console.warn(`skipped: what ${queue} needs is not on this machine`)
    prepare?.()
    worker = start(command, site.url)
    exit = once(worker, 'exit')
    const [line] = await once(createInterface(worker.stdout!), 'line')
    expect(line).toBe('waiting for work')
  }, 120_000)
  afterAll(async () => {
    if (missing || worker.exitCode !== null) return
    process.kill(-worker.pid!)
    await exit
  })

  may('performs a job and returns its result', async () => {
    const id = await site.make('shout', { queue, args: '{"text":"hello"}', keepResult: true })
    await site.rest(id, 'completed')
    expect(await site.engine.jobs.result(String(id), {})).toMatchObject({ result: { result: '"HELLO"' } })
  })

  may('fails a job with wrong args, and continues', async () => {
    const bad = await site.make('shout', { queue, args: '{}', retry: { max: 0 } })
    await site.rest(bad, 'failed')
    expect(JSON.parse((await site.engine.jobs.get(String(bad))).error!).message).toMatch(/text/)
    const id = await site.make('shout', { queue, args: '{"text":"again"}' })
    await site.rest(id, 'completed')
  })

  may('ended or asked without a pause when the connection was cut or a proxy answered 502', async () => {
    let claims = 0
    const twice = Promise.withResolvers<void>()
    const answer = (_: IncomingMessage, response: ServerResponse) => {
      claims++
      if (claims === 1) return response.destroy()
      response.writeHead(502).end()
      if (claims === 2) twice.resolve()
    }
    await against(command, answer, async () => {
      await twice.promise
      await new Promise((done) => setTimeout(done, 500))
      expect(claims).toBe(2)
    })
  })

  // curl in bash accepts at most 128 KiB of a body.
  test.skipIf(missing || !stops)('left the other runs of a claim when sidejob refused one commit', async () => {
    const runs = ['ΐ', 'a'].map((text, i) => ({
      run: { token: `${i}.1.x` },
      job: { id: i, class: 'shout', args: { text } },
    }))
    let claims = 0
    const committed = new Set<string>()
    const done = Promise.withResolvers<void>()
    const answer = (request: IncomingMessage, response: ServerResponse) => {
      if (isClaim(request)) {
        if (claims++ === 0) response.end(JSON.stringify({ runs }))
        return
      }
      committed.add(request.url!)
      response.writeHead(request.url!.includes('/0.1.x/') ? 413 : 200).end('{}')
      if (committed.size === runs.length) done.resolve()
    }
    await against(command, answer, () => done.promise)
  })

  test.skipIf(missing || !stops)('ends when it is asked to end', async () => {
    const { processes } = await site.engine.processes.list()
    const own = processes.find((one) => one.id.includes(String(worker.pid)))!
    await site.engine.processes.signal(own.id, 'stop')
    await site.make('shout', { queue, args: '{"text":"late"}' })
    expect(await exit).toEqual([0, null])
  })
})

test.skipIf(!isThere('go', 'version'))(
  'the worker in Go performed the runs of a claim one after the other',
  async () => {
    const runs = [7, 8].map((id) => ({ run: { token: `${id}.1.x` }, job: { id, args: { text: 'a' } } }))
    let claims = 0
    const waiting: ServerResponse[] = []
    const both = Promise.withResolvers<void>()
    const answer = (request: IncomingMessage, response: ServerResponse) => {
      if (isClaim(request)) {
        if (claims++ === 0) response.end(JSON.stringify({ runs }))
        return
      }
      waiting.push(response)
      if (waiting.length < runs.length) return
      for (const one of waiting) one.end('{}')
      both.resolve()
    }
    await against([built], answer, () => both.promise)
  },
)

describe.skipIf(examples[0]!.missing)('the worker in Python shows no traceback', () => {
  const begin = (url: string, key: string) => {
    const env = { ...process.env, SIDEJOB_URL: url, SIDEJOB_API_KEY: key }
    const [command, ...words] = examples[0]!.command
    return spawn(command!, words, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  }

  test.each([
    ['its key is wrong', () => site.url, 'HTTP Error 401: {"error":{"code":"UNAUTHENTICATED"'],
    ['sidejob does not answer', () => 'http://127.0.0.1:9', 'refused'],
  ])('if it cannot start because %s', async (_, url, why) => {
    const printed = await text(begin(url(), 'wrong').stderr!)
    expect(printed).toMatch(new RegExp(`^cannot register at ${url()}: .*\\n$`))
    expect(printed).toContain(why)
  })

  test('after Ctrl-C', async () => {
    const worker = begin(site.url, KEY)
    const [printed, noted] = [text(worker.stdout!), text(worker.stderr!)]
    worker.stdout!.once('data', () => setTimeout(() => worker.kill('SIGINT'), 300))
    expect([await printed, await noted]).toEqual(['waiting for work\nstopped\n', ''])
  })
})

const read = (path: string) => readFileSync(join(root, path), 'utf8')

test('the snapshot and the changes in docs/languages.md follow the run protocol', () => {
  const shown = [...read('docs/languages.md').matchAll(/^```json\n([\s\S]*?)^```/gm)].map(([, text]) =>
    JSON.parse(text!),
  )
  expect(shown).toHaveLength(2)
  expect(sent.safeParse(shown[0]).error?.issues).toBeUndefined()
  expect(answered.safeParse(shown[1]).error?.issues).toBeUndefined()
})

test('docs/languages.md shows the current workers in bash and Python', () => {
  for (const file of ['examples/python-worker/worker.py', 'templates/python/worker.py'])
    expect(read('docs/languages.md')).toContain(`\`\`\`python\n${read(file)}\`\`\`\n`)
  expect(read('docs/languages.md')).toContain(`\`\`\`bash\n${read('examples/shell-worker/worker.sh')}\`\`\`\n`)
})
