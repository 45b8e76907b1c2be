import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, createClient } from '../../../src/client/index.ts'
import { type Stack, startDev } from '../../../src/dev/index.ts'
import { kind } from '../../kit/index.ts'
import { double, makeProject } from './project.ts'

const project = makeProject()
let stack: Stack
const lines: string[] = []
const waiting = new Set<() => void>()

const tell = (line: string) => {
  lines.push(line)
  for (const wake of waiting) wake()
}

async function line(like: RegExp, from = 0): Promise<string> {
  for (;;) {
    const found = lines.slice(from).find((one) => like.test(one))
    if (found !== undefined) return found
    await new Promise<void>((resolve) => {
      const wake = () => {
        waiting.delete(wake)
        resolve()
      }
      waiting.add(wake)
    })
  }
}

let version = 0
/** Each text is unique, because a repeated test must cause a reload too. */
const save = (text: string) => project.write('src/double.ts', `${text}// version ${++version}\n`)

const ask = (path: string, init?: RequestInit) => fetch(new URL(path, stack.url), init)
const post = (numbers: unknown[]) =>
  ask('/numbers', { method: 'POST', body: JSON.stringify(numbers) }).then(
    (answer) => answer.json() as Promise<{ id: number }>,
  )

/** Waits for the commit too, because the line of a run appears before its commit. */
async function completed(id: number): Promise<Client> {
  await line(new RegExp(`^✓ double #${id} \\d+ ms$`))
  const client = createClient({ url: stack.url, key: stack.apiKey })
  await expect.poll(async () => (await client.jobs.get(id)).status).toBe('completed')
  return client
}

beforeAll(async () => {
  const options = { project: project.dir, port: 0, redis: kind, persist: false }
  stack = await startDev({ ...options, say: tell, onReload: () => tell('reloaded') })
})
afterAll(async () => {
  await stack?.close()
  project.remove()
})

test('the app serves its own routes next to sidejob, and creates jobs in the same process', async () => {
  expect(stack.url).toMatch(/\/_sidejob$/)
  expect(await (await ask('/')).text()).toBe('my own page')
  const { id } = await post([1, 2])
  const client = await completed(id)
  const { values } = await client.ports.read(id, 'out', 'doubled', { max: 2 })
  expect(values.map(({ data }) => data)).toEqual([2, 4])
})

test('in development, a job keeps its runs', async () => {
  const { id } = await post([1])
  const client = await completed(id)
  expect((await client.jobs.runs(id, { details: true })).runs).toMatchObject([{ n: 1, outcome: 'completed' }])
})

test('links and addresses begin with the mount', async () => {
  const document = (await (await ask('/_sidejob/openapi.json')).json()) as { servers: { url: string }[] }
  expect(document.servers).toEqual([{ url: stack.url }])
  expect(await (await ask('/_sidejob/docs')).text()).toContain('href="openapi.json"')
  expect(await (await ask('/_sidejob/nothing')).text()).toContain('/_sidejob/docs lists all routes')
  expect((await ask('/v1/jobs')).status).toBe(404)
})

test('values of .dev.vars reach the function, and its console output names the job', async () => {
  const { id } = await post([1])
  expect(await line(new RegExp(`double #${id} for`))).toBe(`  double #${id} for ann`)
})

test('a failed run prints a line with its error and source position', async () => {
  const { id } = await post(['x'])
  expect(await line(new RegExp(`#${id} \\d+ ms I do`))).toMatch(
    /^✗ double #\d+ \d+ ms I do not like x src\/double\.ts:12/,
  )
})

test('the error of a job names the file in the project, and shows five lines of source', async () => {
  const { id } = await post(['x'])
  const client = createClient({ url: stack.url, key: stack.apiKey })
  await expect.poll(async () => (await client.jobs.get(id)).error).not.toBeNull()
  const { stack: shown } = (await client.jobs.get(id)).error as { stack: string }
  expect(shown).toMatch(/\n {4}at .*\(src\/double\.ts:12:\d+\)\n/)
  expect(shown).toContain("    > 12 |       if (n === 'x') throw new Error('I do not like x')")
  expect(shown.match(/^ {4}[> ] +\d+ \|/gm)).toHaveLength(5)
})

test('after a reload, errors name the lines of the new code, even if a run failed as the reload began', async () => {
  const from = lines.length
  save(`${'\n'.repeat(40)}${double('2')}`)
  while (!lines.slice(from).includes('reloaded')) await post(['x']).catch(() => undefined)
  const { id } = await post(['x'])
  expect(await line(new RegExp(`#${id} \\d+ ms I do`))).toContain('src/double.ts:52')
})

test('changes by API keys print no raw entries of the audit', async () => {
  const from = lines.length
  await createClient({ url: stack.url, key: stack.apiKey }).keys.add({ name: 'web', scopes: ['read'] })
  const { id } = await post([1])
  await line(new RegExp(`^✓ double #${id} `))
  expect(lines.slice(from).filter((one) => one.startsWith('{'))).toEqual([])
})

test('a rejected promise that no code awaits prints a line with its job', async () => {
  const { id } = await post(['floating'])
  expect(await line(/A promise that no code awaits was rejected/)).toMatch(
    new RegExp(`^ {2}double #${id} A promise that no code awaits was rejected: Error: not awaited`),
  )
})

test('the next job runs a changed function', async () => {
  const from = lines.length
  save(double('3'))
  await line(/^reloaded$/, from)
  const { id } = await post([7])
  const client = await completed(id)
  expect((await client.ports.read(id, 'out', 'doubled', { max: 1 })).values[0]?.data).toBe(21)
})

test('a job that runs during a reload runs again with the new code at once, and no attempt is lost', async () => {
  const start = lines.length
  save(double('5').replace('console.log(', "console.log('begins'); await new Promise(() => {}); console.log("))
  await line(/^reloaded$/, start)
  const { id } = await post([7])
  await line(new RegExp(`double #${id} begins`))
  const from = lines.length
  save(double('3'))
  await line(/^reloaded$/, from)
  const reloaded = Date.now()
  const client = await completed(id)
  // A lost run would begin again 10.5 seconds after the reload.
  expect(Date.now() - reloaded).toBeLessThan(10_000)
  expect((await client.jobs.runs(id, { details: true })).runs.map(({ outcome }) => outcome)).toEqual([
    'completed',
    'released',
  ])
  expect((await client.ports.read(id, 'out', 'doubled', { max: 1 })).values[0]?.data).toBe(21)
})

test('a failed build prints the reason, and the last good build continues', async () => {
  const from = lines.length
  save(double(''))
  const said = await line(/ERROR/, from)
  expect(said).toMatch(/^✘ \[ERROR\] Unexpected "\)"\n\n {4}src\/double\.ts:13:/)
  const { id } = await post([2])
  await line(new RegExp(`^✓ double #${id} `))
})

test('a Worker that throws on start prints the position, and the last good build continues', async () => {
  const from = lines.length
  save(`${double('4')}\nthrow new Error('at import')\n`)
  expect(await line(/Uncaught/, from)).toMatch(/^Uncaught Error: at import\n\s+at src\/double\.ts:18/)
  const { id } = await post([2])
  const client = await completed(id)
  expect((await client.ports.read(id, 'out', 'doubled', { max: 1 })).values[0]?.data).toBe(6)
})
