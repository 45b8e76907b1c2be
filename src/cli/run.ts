import { ApiError, type Client } from '../client/index.ts'
import {
  argsIn,
  type Command,
  chosen,
  type Given,
  type Io,
  JSON_HELP,
  jsonFrom,
  pairsIn,
  UsageError,
} from './command.ts'
import { type Target, targetOf } from './target.ts'

const WAIT = '20s'
const OUTPUTS = 100

async function inputsOf(given: string[], io: Io): Promise<Record<string, unknown[]>> {
  const inputs: Record<string, unknown[]> = {}
  for (const one of given) {
    const [, port, text] = /^(\w+)=(.*)$/s.exec(one) ?? []
    if (!port) throw new UsageError(`--input: expected port=json, got ${one}`)
    const value = await jsonFrom(text!, `--input ${port}`, io)
    inputs[port] = [...(inputs[port] ?? []), value]
  }
  return inputs
}

export async function resultOf(client: Client, job: number | string, query: Record<string, string | boolean>) {
  for (;;) {
    const result = await client.jobs.result(job, { wait: WAIT, ...query })
    if (result === null || !('status' in result)) return result
  }
}

async function outputsOf(
  client: Client,
  id: number,
  ports: Record<string, unknown>,
): Promise<Record<string, unknown[]>> {
  const outputs = await Promise.all(
    Object.keys(ports).map(async (port): Promise<[string, unknown[]]> => {
      const { values } = await client.ports.look(id, 'out', port, { limit: OUTPUTS })
      return [port, values.map(({ data }) => data)]
    }),
  )
  return Object.fromEntries(outputs.filter(([, values]) => values.length > 0))
}

const PATIENCE_MS = 10_000

async function pageOf({ url }: Target, job: number): Promise<string | undefined> {
  const login = await fetch(`${url}/ui/login`, { signal: AbortSignal.timeout(PATIENCE_MS) }).catch(() => undefined)
  await login?.body?.cancel()
  return login?.ok ? `${url}/ui/jobs/${job}` : undefined
}

type Ended = {
  id: number
  class: string
  status: string
  result?: unknown
  error?: unknown
  out: Record<string, unknown[]>
}

function endedLines({ id, class: name, status, result, error, out }: Ended, page: string | undefined): string[] {
  const { message } = (error ?? {}) as { message?: string }
  return [
    `#${id} ${name} ${status}`,
    ...(message === undefined ? [] : [`error: ${message}`]),
    ...(result === undefined || result === null ? [] : [`result: ${JSON.stringify(result)}`]),
    ...Object.entries(out).map(
      ([port, values]) => `${port}: ${values.map((value) => JSON.stringify(value)).join(', ')}`,
    ),
    ...(page === undefined ? [] : [page]),
  ]
}

async function waitFor(client: Client, id: number, given: Given, { show, print, note, json }: Io): Promise<number> {
  if (!json) note(`#${id} waiting for its end`)
  const result = await resultOf(client, id, { peek: true })
  const job = await client.jobs.get(id)
  const [out, page] = await Promise.all([outputsOf(client, id, job.out), pageOf(targetOf(given), id)])
  const { class: name, status, error } = job
  const value = (result as { result?: unknown } | null)?.result
  if (json) show({ ...result, id, class: name, status, out, ...(page ? { page } : {}) })
  else for (const line of endedLines({ id, class: name, status, result: value, error, out }, page)) print(line)
  return status === 'completed' ? 0 : 1
}

export const run: Command = {
  does: 'Create a job; with --wait, wait until it ends and show its outputs',
  takes: ['class'],
  options: {
    args: { short: 'a', does: `arguments of the job: ${JSON_HELP}` },
    input: {
      short: 'i',
      multiple: true,
      fields: ['inputs'],
      does: `initial value of an input port, as port=value; repeatable. The value is ${JSON_HELP}`,
    },
    queue: { short: 'q', does: 'queue of the job' },
    delay: { fields: ['wait'], does: "delay before the job starts: '5m', '2 days'" },
    label: {
      short: 'l',
      multiple: true,
      fields: ['labels'],
      does: 'label of the job, as name=value; repeatable',
    },
    unique: { does: 'key that only one job of the class can hold at a time' },
    wait: { type: 'boolean', short: 'w', does: 'wait until the job ends; exit code 1 unless it completes' },
  },
  async run(client, given, io, [name]) {
    const input = given.input as unknown as string[] | undefined
    const made = await client.jobs.enqueue({
      class: name!,
      ...chosen(given, 'queue', 'unique'),
      args: await argsIn(given, io),
      inputs: input && (await inputsOf(input, io)),
      labels: pairsIn(given, 'label'),
      wait: given.delay as string | undefined,
      keepResult: given.wait ? true : undefined,
    })
    if (!given.wait) return void io.show(made)
    try {
      return await waitFor(client, made.id, given, io)
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error
      io.tell({ id: made.id, status: 'gone' }, `#${made.id} has ended. Its class keeps no ended jobs`)
      return 0
    }
  },
}
