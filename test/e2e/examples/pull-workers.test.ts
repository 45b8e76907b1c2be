import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
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
    worker = spawn(command[0]!, command.slice(1), {
      env: { ...process.env, SIDEJOB_URL: site.url, SIDEJOB_API_KEY: KEY },
      stdio: ['ignore', 'pipe', 'inherit'],
      // The whole process group is killed, because a waiting curl outlives bash.
      detached: true,
    })
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

  test.skipIf(missing || !stops)('ends when it is asked to end', async () => {
    const { processes } = await site.engine.processes.list()
    const own = processes.find((one) => one.id.includes(String(worker.pid)))!
    await site.engine.processes.signal(own.id, 'stop')
    await site.make('shout', { queue, args: '{"text":"late"}' })
    expect(await exit).toEqual([0, null])
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
