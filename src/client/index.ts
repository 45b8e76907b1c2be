import type * as z from 'zod'
import type { jobInput, jobPage, jobQuery, jobRows } from '../core/schemas.ts'
import type { AnyDefined, ArgsOf, InputsOf } from '../core/worker.ts'
import type { Enqueued } from '../engine/engine.ts'
import type { downloader } from '../facades/downloader/index.ts'
import type { Routes } from '../http/routes.ts'
import { type CallOptions, type ClientOptions, call } from './call.ts'
import { type Ran, type RunOptions, run } from './run.ts'
import { table } from './table.generated.ts'

export { ApiError, type CallOptions, type ClientOptions } from './call.ts'
export { type Ran, RunFailed, type RunOptions } from './run.ts'

type Param<Name> = Name extends 'job' ? string | number : Name extends 'dir' ? 'in' | 'out' : string

type PathArgs<Path> = Path extends `${string}:${infer Rest}`
  ? Rest extends `${infer Name}/${infer More}`
    ? [Param<Name>, ...PathArgs<`/${More}`>]
    : [Param<Rest>]
  : []

type Loose<Query> = { [Name in keyof Query]: Query[Name] | number | boolean }

type Input<R> = R extends { body?: infer Body; query?: infer Query }
  ? [Extract<Body, z.ZodType>, Extract<Query, z.ZodType>] extends [infer B, infer Q]
    ? [B] extends [never]
      ? [Q] extends [never]
        ? Record<string, never>
        : Loose<z.input<Q & z.ZodType>>
      : z.input<B & z.ZodType>
    : never
  : never

type Args<In> =
  Record<string, never> extends In ? [input?: In, options?: CallOptions] : [input: In, options?: CallOptions]

type Given<R> = R extends { answers: infer A }
  ? { [Status in keyof A]: A[Status] extends z.ZodType ? z.input<A[Status]> : never }[keyof A]
  : never

type Verb<R> = R extends { path: infer Path }
  ? (...args: [...PathArgs<Path>, ...Args<Input<R>>]) => Promise<Given<R>>
  : never

export type JobInput = z.input<typeof jobInput>
type Job = JobInput

type ClassesOf<F> = Extract<F extends readonly (infer W)[] ? W : F[keyof F], AnyDefined>

type JobOf<W> = W extends AnyDefined
  ? Omit<Job, 'class' | 'args' | 'inputs'> & { class: W['class']; args?: ArgsOf<W>; inputs?: InputsOf<W> }
  : never

type IsAny<F> = unknown extends F ? true : F extends undefined ? true : false

type Enqueue<One> = {
  (job: One, options?: CallOptions): Promise<Enqueued>
  (jobs: One[], options?: CallOptions): Promise<{ jobs: Enqueued[] }>
}

type NamedBy<C extends AnyDefined, Name> = string extends C['class'] ? AnyDefined : Extract<C, { class: Name }>

type Run<C extends AnyDefined> = {
  <W extends C>(worker: W, options: RunOptions<W>): Promise<Ran<W>>
  <W extends C>(worker: W, inputs?: InputsOf<W>, options?: RunOptions<W>): Promise<Ran<W>>
  <const Name extends C['class']>(name: Name, options?: RunOptions<NamedBy<C, Name>>): Promise<Ran<NamedBy<C, Name>>>
}

type JobQuery = Loose<z.input<typeof jobQuery>>

type List = {
  (input: JobQuery & { fields: 'row' }, options?: CallOptions): Promise<z.input<typeof jobRows>>
  (input?: Omit<JobQuery, 'fields'>, options?: CallOptions): Promise<z.input<typeof jobPage>>
}

type Subscribe = (
  channel: string,
  input?: Record<string, never>,
  options?: CallOptions,
) => Promise<AsyncIterable<Given<Routes['channels']['subscribe']>>>

type Listen = (
  input: { channel: string[] },
  options?: CallOptions,
) => Promise<AsyncIterable<Given<Routes['channels']['listen']>>>

// Omits the routes that only QStash and other versions call.
type Served = Omit<Routes, 'system'> & {
  system: Omit<Routes['system'], 'dispatch' | 'perform' | 'tick'>
  downloader: typeof downloader
}

type Verbs = { [R in keyof Served]: { [V in keyof Served[R]]: Verb<Served[R][V]> } }

/** `createClient<typeof functions>` checks classes, args and inputs. Without the type, any class is accepted. */
export type Client<F = undefined> = Omit<Verbs, 'jobs' | 'channels'> & {
  jobs: Omit<Verbs['jobs'], 'enqueue' | 'list'> & {
    enqueue: Enqueue<IsAny<F> extends true ? Job : JobOf<ClassesOf<F>>>
    list: List
  }
  /**
   * Creates a job, waits for its end, and returns its result and outputs. Throws `RunFailed` if the job failed.
   *
   * @example const { out } = await client.run(double, { n: [1, 2, 3] }) // out: { doubled: [2, 4, 6] }
   */
  run: Run<IsAny<F> extends true ? AnyDefined : ClassesOf<F>>
  channels: Omit<Verbs['channels'], 'subscribe' | 'listen'> & { subscribe: Subscribe; listen: Listen }
}

/**
 * Creates a client. Each method takes the parameters of its path, then its body or query.
 *
 * @example const client = createClient<typeof functions>({ url: 'https://jobs.example.com', key })
 * const { id } = await client.jobs.enqueue({ class: 'zip' })
 * await client.ports.write(id, 'in', 'left', { values: [1, 2] })
 */
export const createClient = <F = undefined>(options: ClientOptions): Client<F> => {
  for (const name of ['url', 'key'] as const)
    if (typeof options[name] !== 'string')
      throw new TypeError(`createClient: ${name}: expected a string, got ${options[name]}. Is its variable set?`)
  const verbs = (addresses: Record<string, string>) =>
    mapped(
      addresses,
      (address) =>
        (...args: unknown[]) =>
          call(options, address, args),
    )
  const plain = mapped(table, verbs)
  const { enqueue } = plain.jobs!
  const client = {
    ...plain,
    jobs: {
      ...plain.jobs,
      enqueue: (jobs: Job | Job[], ...rest: unknown[]) => enqueue!(withSchemas(options, jobs), ...rest),
    },
  }
  const runs = (...given: unknown[]) => run(client as never, ...(given as [never]))
  return { ...client, run: runs } as unknown as Client<F>
}

const withSchemas = ({ schemas = {} }: ClientOptions, jobs: Job | Job[]): Job | Job[] => {
  const withSchema = (job: Job): Job => {
    const schema = schemas[`${job.queue ?? 'default'}/${job.class}`]
    return schema === undefined ? job : { schema, ...job }
  }
  return Array.isArray(jobs) ? jobs.map(withSchema) : withSchema(jobs)
}

const mapped = <Value, To>(values: Record<string, Value>, to: (value: Value) => To): Record<string, To> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, to(value)]))
