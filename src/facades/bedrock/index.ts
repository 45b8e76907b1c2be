import type { Context } from 'hono'
import * as z from 'zod'
import { hashOf } from '../../core/crypto.ts'
import type { SidejobError } from '../../core/errors.ts'
import type { Call, Scope } from '../../engine/engine.ts'
import type { Engine } from '../../engine/index.ts'
import { respond, retryHeaders, wanted } from '../../http/format.ts'
import { route } from '../../http/route.ts'
import { cancelJob, clearCrashed, crash, deleteJob, requeueJobs, updateJob } from './change.ts'
import { createAll } from './create.ts'
import { failJob, finishJob, retryJob } from './finish.ts'
import { type Given, given, givenJobs, isSet, needJob } from './given.ts'
import { openQueue, ownedJob } from './jobs.ts'
import { query } from './query.ts'
import { inBedrock, Refusal } from './refusal.ts'
import { queried } from './shown.ts'
import { take } from './take.ts'

const failure = z.object({ code: z.int(), message: z.string() })

function answer(c: Context, status: string, tree: unknown, headers: Record<string, string> = {}): Response {
  const format = wanted(c.req.header('accept'))
  return respond(tree, format, Number(status.slice(0, 3)), { 'x-bedrock-status': status, ...headers })
}

// A header value has one line, and clients may misread characters that are not ASCII.
const oneLine = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?')

const fail = (c: Context, error: SidejobError): Response => {
  const { number, text } = inBedrock(error)
  return answer(c, `${number} ${oneLine(text)}`, { code: number, message: `${number} ${text}` }, retryHeaders(error))
}

const facade = { failure, fail }

type Asked = { engine: Engine; from: Given; call: Call; signal: AbortSignal }
const withoutBody =
  (act: (asked: Asked) => Promise<void>) =>
  async (asked: Asked): Promise<Answer> => {
    await asked.engine.deliveries.once(asked.call, () => act(asked))
    return {}
  }

/** Parameters may be headers, so a repeated call must also have the same headers. */
async function keyed(call: Call, from: Given, names: string[]): Promise<Call> {
  if (call.key === undefined) return call
  const said = JSON.stringify([call.fingerprint, ...names.map((name) => from(name) ?? null)])
  return { ...call, fingerprint: await hashOf(said) }
}

type Answer = { body?: unknown; headers?: Record<string, string> }

const text = z.string().optional()
const json = z.unknown().optional()

const body = (names: Record<string, z.ZodType>) => z.looseObject(names)

// Bedrock accepts the names of its commands in any case.
const inAnyCase = (word: string): string =>
  word.replace(/[a-z]/gi, (letter) => `[${letter.toUpperCase()}${letter.toLowerCase()}]`)

const command = <const Name extends string>(
  name: Name,
  scope: Scope,
  summary: string,
  description: string,
  parameters: Record<string, z.ZodType>,
  act: (asked: Asked) => Promise<Answer>,
  shape: z.ZodType = z.object({}),
) =>
  route(`POST /bedrock/${name}`, {
    pattern: `/bedrock/:command{${inAnyCase(name)}}`,
    scope,
    summary,
    description,
    body: body(parameters),
    answers: { 200: shape },
    facade,
    handle: async ({ engine, bytes, call, c }) => {
      await openQueue(engine)
      const request = c.req.raw
      const from = given(request, bytes)
      const asked = { engine, from, call: await keyed(call, from, Object.keys(parameters)), signal: request.signal }
      const done = await act(asked)
      return answer(c, '200 OK', done.body ?? {}, done.headers)
    },
  })

const mocked = (from: Given): boolean => isSet(from, 'mockRequest')

const jobID = { jobID: z.int() }
const creation = {
  name: z.string(),
  data: json,
  firstRun: text,
  repeat: text,
  retryAfter: text,
  overwrite: text,
  mockRequest: text,
  jobPriority: z.int().optional(),
  unique: z.boolean().optional(),
  parentJobID: z.int().optional(),
}
const taking = {
  name: z.string(),
  jobPriority: z.int().optional(),
  Connection: z.literal('wait').optional(),
  timeout: z.int().optional(),
  mockRequest: text,
  getMockedJobs: text,
}
const job = z.record(z.string(), z.unknown())

/** Finish, Retry and Fail with this token are refused if another worker has taken the job. */
const tokens = (given: string[]): Record<string, string> =>
  given.length > 0 ? { 'x-bedrock-token': given.join(',') } : {}

export const bedrock = {
  CreateJob: command(
    'CreateJob',
    'write',
    'Create a job',
    'Returns the job that holds this name if `unique` is set. Merges `data` into it unless `overwrite` is `false`.',
    creation,
    async ({ engine, from, call }) => {
      const [made] = await createAll(engine, [from], mocked(from), call)
      return { body: { jobID: made } }
    },
    z.object({ jobID: z.int() }),
  ),

  CreateJobs: command(
    'CreateJobs',
    'write',
    'Create many jobs',
    'Creates all jobs or none.',
    { jobs: z.array(z.looseObject(creation)), mockRequest: text },
    async ({ engine, from, call }) => ({
      body: { jobIDs: await createAll(engine, givenJobs(from('jobs')), mocked(from), call) },
    }),
    z.object({ jobIDs: z.array(z.int()) }),
  ),

  GetJob: command(
    'GetJob',
    'work',
    'Claim the first job whose name matches',
    'Returns 404 if no job matches. `Connection: wait` waits up to `timeout` milliseconds, and then returns 303.',
    taking,
    async ({ engine, from, call, signal }) => {
      const { jobs, tokens: given } = await take(engine, from, false, { ...call, signal })
      return { body: jobs[0], headers: tokens(given) }
    },
    job,
  ),

  GetJobs: command(
    'GetJobs',
    'work',
    'Claim the first jobs whose names match a pattern',
    'Returns at most `numResults` jobs. `Connection: wait` waits for the first job.',
    { ...taking, numResults: z.int() },
    async ({ engine, from, call, signal }) => {
      const { jobs, tokens: given } = await take(engine, from, true, { ...call, signal })
      return { body: { jobs }, headers: tokens(given) }
    },
    z.object({ jobs: z.array(job) }),
  ),

  QueryJob: command(
    'QueryJob',
    'read',
    'Get a job',
    'Returns the state, name, data and times of the job.',
    jobID,
    async ({ engine, from }) => ({ body: queried(await ownedJob(engine, needJob(from))) }),
    job,
  ),

  Query: command(
    'Query',
    'read',
    'Run a bounded SELECT on jobs',
    'Reads the table `jobs`, newest first. If the query stops at a limit, `more` has the condition for the next page.',
    { query: z.string() },
    async ({ engine, from }) => ({ body: await query(engine, from) }),
    z.object({
      headers: z.array(z.string()),
      rows: z.array(z.array(z.unknown())),
      more: z.string().optional(),
    }),
  ),

  UpdateJob: command(
    'UpdateJob',
    'write',
    "Replace a job's data, and change its repeat, priority and next run",
    'Omitted parameters stay unchanged, but a new `repeat` also sets the next run.',
    {
      ...jobID,
      data: z.unknown(),
      repeat: text,
      jobPriority: z.int().optional(),
      nextRun: text,
      shouldClearRepeat: json,
    },
    withoutBody(({ engine, from, call }) => updateJob(engine, from, call)),
  ),

  RetryJob: command(
    'RetryJob',
    'work',
    'End a run and schedule the next run of the job',
    'The repeat rule sets the next run. Without a rule or with `ignoreRepeat`, `nextRun` or `delay` (seconds) sets it.',
    {
      ...jobID,
      data: json,
      nextRun: text,
      delay: z.int().optional(),
      name: text,
      jobPriority: z.int().optional(),
      ignoreRepeat: json,
      token: text,
    },
    withoutBody(({ engine, from }) => retryJob(engine, from)),
  ),

  FinishJob: command(
    'FinishJob',
    'work',
    'Finish a run',
    'The job repeats, waits for its children, or ends. A child that ends becomes FINISHED; other jobs are deleted.',
    { ...jobID, data: json, ignoreRepeat: json, token: text },
    withoutBody(({ engine, from }) => finishJob(engine, from)),
  ),

  CancelJob: command(
    'CancelJob',
    'write',
    'Cancel a child',
    'Fails unless the job has a parent and no children. A RUNNING, PAUSED or FINISHED child does not change.',
    jobID,
    withoutBody(({ engine, from, call }) => cancelJob(engine, from, call)),
  ),

  FailJob: command(
    'FailJob',
    'work',
    'Fail a job',
    'The job is not retried and does not repeat. `RequeueJobs` can queue it again.',
    { ...jobID, data: json, token: text },
    withoutBody(({ engine, from }) => failJob(engine, from)),
  ),

  DeleteJob: command(
    'DeleteJob',
    'write',
    'Delete a job',
    'Fails if the job is RUNNING or PAUSED. Its children are deleted too.',
    jobID,
    withoutBody(({ engine, from, call }) => deleteJob(engine, from, call)),
  ),

  RequeueJobs: command(
    'RequeueJobs',
    'write',
    'Put jobs in any state back into the queue',
    '`jobIDs` is a comma-separated list of ids. Runs in progress end without effect.',
    { jobIDs: z.string(), name: text, decrementFailures: json },
    withoutBody(({ engine, from }) => requeueJobs(engine, from)),
  ),

  CrashBedrockJob: command(
    'CrashBedrockJob',
    'admin',
    'Fail jobs with certain names instead of delivering them',
    'Jobs with these names fail instead of being delivered, until `ClearCrashedBedrockJobs` is called.',
    { names: z.string() },
    withoutBody(({ engine, from }) => crash(engine, from)),
  ),

  ClearCrashedBedrockJobs: command(
    'ClearCrashedBedrockJobs',
    'admin',
    'Clear the list of job names to fail',
    'Undoes `CrashBedrockJob`: all jobs are delivered again.',
    {},
    withoutBody(({ engine }) => clearCrashed(engine)),
  ),

  other: route('POST /bedrock/:command', {
    scope: 'read',
    summary: 'Refuse an unknown command',
    description: 'Returns 430 `Unrecognized command`.',
    answers: { 430: failure },
    named: { 430: 'Unrecognized command' },
    facade,
    handle: async () => {
      throw new Refusal(430, 'Unrecognized command')
    },
  }),
}
