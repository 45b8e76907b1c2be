import * as z from 'zod'
import {
  childName,
  closed,
  count,
  cursor,
  enqueued,
  flag,
  inputs,
  jobId,
  jobInputs,
  jobPage,
  jobPatch,
  jobQuery,
  jobRows,
  jobView,
  keptPatch,
  keptStep,
  keptWait,
  label,
  logPage,
  logPaging,
  pastRuns,
  pastRunView,
  portSpecs,
  ref,
  result,
  runAnswer,
  runOptions,
  stateChange,
  status,
  stepped,
  tree,
  waitTime,
  why,
} from '../core/schemas.ts'
import type { Enqueued } from '../engine/engine.ts'
import type { Engine } from '../engine/index.ts'
import { locks } from './locks.ts'
import { reply, route } from './route.ts'

const state = z.record(z.string(), closed)
const enqueuedList = z.object({ jobs: z.array(enqueued), existing: z.literal(true).optional() })

export const jobs = {
  enqueue: route('POST /v1/jobs', {
    scope: 'write',
    summary: 'Create one job, or up to 1,000',
    description: 'The call is atomic: it creates all jobs or none.',
    body: jobInputs,
    answers: { 201: z.union([enqueued, enqueuedList]), 200: enqueued },
    named: { 200: 'A job with this unique key already exists' },
    handle: async ({ engine, body, call }) => {
      const made = await engine.jobs.enqueue(Array.isArray(body) ? body : [body], call)
      return Array.isArray(body) ? many(made) : one(made.jobs[0]!, made.existing)
    },
  }),

  list: route('GET /v1/jobs', {
    scope: 'read',
    summary: 'List jobs',
    description: 'Returns the newest jobs first.',
    query: jobQuery,
    mapped: ['args', 'labels'],
    answers: { 200: z.union([jobPage, jobRows]) },
    handle: async ({ engine, query: { fields, ...filter } }) =>
      fields === 'row' ? engine.jobs.rows(filter) : engine.jobs.list(filter),
  }),

  get: route('GET /v1/jobs/:job', {
    scope: 'read',
    summary: 'Get a job',
    description: 'Returns the settings, status, ports and children of the job.',
    query: z.strictObject({
      schemas: flag.optional().describe('true to add the JSON Schemas of the ports'),
      details: flag.optional().describe('true to add the cost of the runs'),
    }),
    answers: { 200: jobView },
    handle: ({ engine, params, query }) => engine.jobs.get(params.job, query),
  }),

  patch: route('PATCH /v1/jobs/:job', {
    scope: 'write',
    summary: 'Update a job',
    description: 'Changes the args, the options or the time of the next run.',
    body: jobPatch,
    answers: { 200: jobView },
    handle: ({ engine, params, body, call }) => engine.jobs.update(params.job, body, call),
  }),

  remove: route('DELETE /v1/jobs/:job', {
    scope: 'write',
    forced: 'admin',
    summary: 'Delete a job',
    description: 'Fails unless the job and all jobs below it are terminated. `force=true` terminates them first.',
    query: z.strictObject({ force: flag.optional() }),
    answers: { 200: z.object({ status: z.literal('gone') }), 202: z.object({ status: z.literal('ending') }) },
    named: { 200: 'Deleted', 202: 'Will be deleted after its current runs. A large tree is deleted step by step' },
    handle: async ({ engine, params, query, call }) => {
      const status = await engine.jobs.remove(params.job, query, call)
      return status === 'gone' ? { status } : reply(202, { status })
    },
  }),

  run: route('POST /v1/jobs/:job/run', {
    scope: 'write',
    summary: 'Run a job',
    description:
      'Runs the job now or at a given time. A failed or terminated job runs only with `force`; otherwise `ran` is false.',
    body: runOptions,
    answers: { 200: runAnswer },
    handle: ({ engine, params, body, call }) => engine.jobs.run(params.job, body, call),
  }),

  terminate: route('POST /v1/jobs/:job/terminate', {
    scope: 'write',
    summary: 'Terminate a job',
    description: 'The shutdown handler of the class, if there is one, runs first.',
    body: z.strictObject({ recursive: z.boolean().optional() }),
    answers: {
      200: stepped.extend({
        rest: jobId
          .optional()
          .describe(
            'internal job that terminates the remaining jobs; present if there were too many jobs for one call',
          ),
      }),
    },
    handle: ({ engine, params, body, call }) => engine.jobs.terminate(params.job, body, call),
  }),

  retry: route('POST /v1/jobs/:job/retry', {
    scope: 'write',
    summary: 'Retry a failed job',
    description: 'Resets the number of attempts to zero.',
    answers: { 200: stepped },
    handle: ({ engine, params, call }) => engine.jobs.retry(params.job, call),
  }),

  copy: route('POST /v1/jobs/:job/copy', {
    scope: 'write',
    summary: 'Copy a job',
    description:
      'Creates a job with the queue, class, args and options of another job, but without its parent, aliases, ports, callback, unique key and schedule. The request can replace the args and add input values.',
    body: z.strictObject({
      args: closed.optional(),
      inputs: z
        .union([inputs, z.literal('last')], 'expected an object of values by port, or "last"')
        .optional()
        .describe(
          'initial values by port, or `last` to repeat the inputs of the last run (the default for a job with a history)',
        ),
    }),
    answers: { 201: enqueued },
    handle: async ({ engine, params, body, call }) => reply(201, await engine.jobs.copy(params.job, body, call)),
  }),

  cancel: route('POST /v1/jobs/:job/cancel', {
    scope: 'write',
    summary: 'Cancel a job',
    description:
      'Terminates the job and reports it to its parent as cancelled. Fails with 409 if the job is completed or terminated.',
    answers: { 200: stepped },
    handle: ({ engine, params, call }) => engine.jobs.cancel(params.job, call),
  }),

  state: route('GET /v1/jobs/:job/state', {
    scope: 'read',
    summary: 'Get the state of a job',
    description: 'Returns each value of the state by its name.',
    answers: { 200: state },
    handle: ({ engine, params }) => engine.jobs.state(params.job),
  }),

  setState: route('PATCH /v1/jobs/:job/state', {
    scope: 'write',
    summary: 'Update the state of a job',
    description: 'Merges the given members into the state.',
    body: stateChange,
    answers: { 200: state },
    handle: ({ engine, params, body, call }) => engine.jobs.setState(params.job, body, call),
  }),

  result: route('GET /v1/jobs/:job/result', {
    scope: 'read',
    summary: 'Get the result of a job',
    description: 'Returns the result without removing it. `wait` is the maximum time to wait for the result.',
    query: z.strictObject({
      wait: waitTime.optional(),
      peek: flag.optional().describe('has no effect: this route never removes the result'),
    }),
    answers: { 200: result.nullable(), 202: z.object({ status }) },
    listens: true,
    handle: async ({ engine, params, query: { peek: _, ...query }, call, c }) =>
      resultOf(await engine.jobs.result(params.job, query, { ...call, signal: c.req.raw.signal })),
  }),

  takeResult: route('POST /v1/jobs/:job/result/take', {
    scope: 'write',
    summary: 'Take the result of a job',
    description: 'Returns the result and deletes it. `wait` is the maximum time to wait for the result.',
    body: z.strictObject({ wait: waitTime.optional() }),
    answers: { 200: result.nullable(), 202: z.object({ status }) },
    listens: true,
    handle: async ({ engine, params, body, call, c }) =>
      resultOf(await engine.jobs.result(params.job, { ...body, take: true }, { ...call, signal: c.req.raw.signal })),
  }),

  why: route('GET /v1/jobs/:job/why', {
    scope: 'read',
    summary: 'Explain why a job is not running',
    description:
      'Returns the reasons, starting with the immediate cause. `deep` adds the reasons of the jobs that this job waits for.',
    query: z.strictObject({
      deep: count(0, 5)
        .optional()
        .describe('maximum length of the chain of jobs to examine, where each job blocks the previous job'),
    }),
    answers: { 200: why },
    handle: ({ engine, params, query }) => engine.jobs.why(params.job, query),
  }),

  runs: route('GET /v1/jobs/:job/runs', {
    scope: 'read',
    summary: 'List the runs of a job',
    description:
      'Returns the last run and the recorded runs, newest first. By default, only the last 10 failed or lost runs are recorded.',
    query: z.strictObject({
      details: flag.optional().describe('true to add the number, ready time and commits of each run'),
    }),
    answers: { 200: pastRuns },
    handle: ({ engine, params, query }) => engine.jobs.runs(params.job, query),
  }),

  pastRun: route('GET /v1/jobs/:job/runs/:n', {
    scope: 'read',
    summary: 'Get one run of a job',
    description: 'Returns the times, outcome, changes and log of the run. The job must keep a history.',
    answers: { 200: pastRunView },
    handle: ({ engine, params }) => engine.jobs.pastRun(params.job, Number(params.n)),
  }),

  steps: route('GET /v1/jobs/:job/steps', {
    scope: 'read',
    summary: 'List the completed steps of a job',
    description:
      'Returns the time, duration and run of each step and of each wait. After the job has completed or was terminated, its steps remain only if the job takes at most 8 KiB. `patches` has the stored answers of `job.patched`.',
    query: z.strictObject({ cursor: cursor.optional() }),
    answers: {
      200: z.object({
        steps: z.array(keptStep),
        waits: z.array(keptWait),
        patches: z.array(keptPatch),
        cursor: z.string().nullable(),
      }),
    },
    handle: ({ engine, params, query }) => engine.jobs.steps(params.job, query.cursor),
  }),

  log: route('GET /v1/jobs/:job/log', {
    scope: 'read',
    summary: 'List the log of a job',
    description: 'Returns the newest entries first.',
    query: z.strictObject({ level: label.optional(), ...logPaging }),
    answers: { 200: logPage },
    handle: ({ engine, params, query }) => engine.log.read({ ...query, job: params.job }),
  }),

  tree: route('GET /v1/jobs/:job/tree', {
    scope: 'read',
    summary: 'Get the tree of jobs below a job',
    description: 'Returns the job and its descendants, nearest first: at most `limit` jobs (5,000 by default).',
    query: z.strictObject({ limit: count(1, 5_000).optional() }),
    answers: { 200: tree },
    handle: ({ engine, params, query }) => engine.jobs.tree(params.job, query.limit),
  }),

  adopt: route('POST /v1/jobs/:job/adopt', {
    scope: 'write',
    summary: 'Adopt a job as a child',
    description: 'The adopted job becomes a child of this job, under the given name.',
    body: z.strictObject({ job: ref, name: childName }),
    handle: ({ engine, params, body, call }) => engine.jobs.adopt(params.job, body, call),
  }),

  disown: route('POST /v1/jobs/:job/disown', {
    scope: 'write',
    summary: 'Detach a child',
    description: 'The child continues as a job without a parent.',
    body: z.strictObject({ name: childName }),
    handle: ({ engine, params, body, call }) => engine.jobs.disown(params.job, body, call),
  }),

  addAlias: route('PUT /v1/jobs/:job/aliases/:alias', {
    scope: 'write',
    summary: 'Add an alias',
    description: 'An alias can be used instead of the id in all paths, except in paths of the history.',
    handle: ({ engine, params, call }) => engine.jobs.setAlias(params.job, params.alias, 'add', call),
  }),

  removeAlias: route('DELETE /v1/jobs/:job/aliases/:alias', {
    scope: 'write',
    summary: 'Remove an alias',
    description: 'The name can be used again.',
    handle: ({ engine, params, call }) => engine.jobs.setAlias(params.job, params.alias, 'remove', call),
  }),

  ...locks,

  ports: route('PUT /v1/jobs/:job/ports', {
    scope: 'write',
    summary: 'Replace the ports of a job',
    description: 'Ports that remain keep their waiting values.',
    body: z.strictObject({ in: portSpecs.optional(), out: portSpecs.optional() }),
    answers: { 200: jobView },
    handle: ({ engine, params, body, call }) => engine.ports.define(params.job, body, call),
  }),
}

const resultOf = (found: Awaited<ReturnType<Engine['jobs']['result']>>) =>
  found.ended ? found.result : reply(202, { status: found.status })

type Made = { jobs: Enqueued[]; existing: boolean }

const asExisting = (job: Enqueued): Enqueued => ({ ...job, existing: true })

const many = ({ jobs, existing }: Made) =>
  reply(201, existing ? { jobs: jobs.map(asExisting), existing: true as const } : { jobs })

// Returns 200 if the `unique` key already had a job. A repeated call returns 201, like the first call.
const one = (job: Enqueued, repeated: boolean) => {
  if (repeated) return reply(201, asExisting(job))
  return job.existing ? job : reply(201, job)
}
