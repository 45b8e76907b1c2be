import type { AnyDefined, ArgsOf, InputsOf, OutputsOf, ResultOf } from '../core/worker.ts'

export type RunOptions<W extends AnyDefined> = {
  args?: ArgsOf<W>
  inputs?: InputsOf<W>
  /** Queue of the class, if the class is a string (default: `default`). */
  queue?: string
  /** Maximum wait in milliseconds (default: an hour). */
  timeout?: number
  signal?: AbortSignal
}

export type Ran<W extends AnyDefined> = { id: number; result: ResultOf<W>; out: OutputsOf<W> }

/** The job failed, was terminated, took too long, or wrote too many values. */
export class RunFailed extends Error {
  readonly job: number

  constructor(job: number, message: string) {
    super(message)
    this.name = 'RunFailed'
    this.job = job
  }
}

type Ended = { type: string; result?: unknown; message?: string } | { status: string } | null

type Verbs = {
  jobs: {
    enqueue: (job: object, options?: object) => Promise<{ id: number }>
    result: (job: number, query: object, options?: object) => Promise<Ended>
    get: (job: number) => Promise<{ out: Record<string, unknown> }>
  }
  ports: {
    look: (
      job: number,
      dir: 'out',
      port: string,
      query: object,
      options?: object,
    ) => Promise<{ size: number; values: { data: unknown }[] }>
  }
}

const HOUR = 3_600_000
const MAX_WAIT_SECONDS = 50
const MAX_VALUES = 1_000

type Given<W extends AnyDefined> = [first?: RunOptions<W> | InputsOf<W>, options?: RunOptions<W>]

const NAMES: ReadonlySet<string> = new Set(['args', 'inputs', 'queue', 'timeout', 'signal'])

function readGiven<W extends AnyDefined>(worker: W | string, [first = {}, options]: Given<W>): RunOptions<W> {
  const ports = typeof worker === 'string' ? {} : (worker.in ?? {})
  const isOption = (name: string) => NAMES.has(name) && !Object.hasOwn(ports, name)
  if (!options && Object.keys(first).every(isOption)) return first as RunOptions<W>
  if (typeof worker !== 'string') return { ...options, inputs: first as InputsOf<W> }
  const wrong = Object.keys(first).find((name) => !isOption(name))
  throw new Error(`run(${JSON.stringify(worker)}, …): expected args, inputs, queue, timeout or signal, got ${wrong}`)
}

export async function run<W extends AnyDefined>(
  client: Verbs,
  worker: W | string,
  ...given: Given<W>
): Promise<Ran<W>> {
  const { inputs, args, timeout = HOUR, signal, queue: named } = readGiven(worker, given)
  const { queue = 'default', class: name, out } = typeof worker === 'string' ? { queue: named, class: worker } : worker
  const end = Date.now() + timeout
  const { id } = await client.jobs.enqueue({ queue, class: name, args, inputs, keepResult: '1h' }, { signal })
  const result = await resultOf(client, id, name, end, signal)
  const ports = Object.keys(out ?? (await client.jobs.get(id)).out).filter((port) => port !== '*')
  const written = await Promise.all(
    ports.map(async (port) => {
      const { size, values } = await client.ports.look(id, 'out', port, { limit: MAX_VALUES }, { signal })
      // Throws, because the first values alone would look like all values. All values stay at the port.
      if (size > values.length)
        throw new RunFailed(
          id,
          `job ${id} (${name}) has written ${size} values to port ${port}, but run() returns at most ${MAX_VALUES}. Read the values from the port`,
        )
      return [port, values.map(({ data }) => data)]
    }),
  )
  return { id, result: result as ResultOf<W>, out: Object.fromEntries(written) }
}

async function resultOf(
  { jobs }: Verbs,
  id: number,
  name: string,
  end: number,
  signal?: AbortSignal,
): Promise<unknown> {
  for (;;) {
    const wait = Math.max(0, Math.min(MAX_WAIT_SECONDS, (end - Date.now()) / 1_000))
    const ended = await jobs.result(id, { wait }, { signal })
    if (ended && 'type' in ended) {
      if (ended.type === 'success') return ended.result
      throw new RunFailed(id, `job ${id} (${name}) has failed: ${ended.message}`)
    }
    // No other caller takes the result of this job, so null means that the job has no result.
    if (ended === null) throw new RunFailed(id, `job ${id} (${name}) has ended without a result`)
    if (Date.now() >= end) throw new RunFailed(id, `job ${id} (${name}) is still ${ended.status} after the timeout`)
  }
}
