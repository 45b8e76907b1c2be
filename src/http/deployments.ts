import * as z from 'zod'
import { errorKindView, moment, time } from '../core/schemas.ts'
import { classCounts } from '../core/stats.ts'
import { route } from './route.ts'

const version = z.string().nullable().describe('version of the code, such as a commit; null if unknown')
const author = z.string().nullable().describe('author of the deployed commit; null if unknown')
const deploy = z.object({ version, author, at: moment })

const deploymentList = z.object({
  deployments: z.array(
    z.object({
      id: z.string(),
      /** Time at which the newest version announced itself. */
      at: moment,
      classes: z.int(),
      version,
      deploys: z.array(deploy).describe('last 20 deploys of the deployment, newest first'),
    }),
  ),
})

const comparisonQuery = z.strictObject({
  at: time.optional().describe('time of the deploy, as listed by GET /v1/deployments; by default the newest deploy'),
})

const { counts, took } = classCounts.shape
const period = z.object({ version, from: moment, to: moment })
const ofPeriod = z.object({ counts, took })

const comparison = z.object({
  deployment: z.string(),
  ...deploy.shape,
  before: period,
  after: period,
  isWhole: z
    .boolean()
    .describe('false if the counts from the time of the deploy are no longer kept. In that case, no class is compared'),
  classes: z
    .array(
      z.object({
        queue: classCounts.shape.queue,
        class: classCounts.shape.class,
        before: ofPeriod.nullable(),
        after: ofPeriod.nullable(),
      }),
    )
    .describe(
      'classes, ordered by queue and name. `before` or `after` is null if the class had no events in that period',
    ),
  errors: z.array(errorKindView).describe('kinds of error that first occurred in the period `after` and are not muted'),
  more: z.boolean().describe('true if some failed jobs are not yet counted; repeat the call'),
})

export const deployments = {
  list: route('GET /v1/deployments', {
    scope: 'read',
    summary: 'List deployments',
    description: 'Returns the version and the last deploys of each deployment.',
    answers: { 200: deploymentList },
    handle: ({ engine }) => engine.deployments.list(),
  }),

  compare: route('GET /v1/deployments/:deployment/comparison', {
    scope: 'read',
    summary: 'Compare the periods before and after a deploy',
    description:
      'Compares the counts and run times of each class, and lists new kinds of error. `before` starts at the previous deploy, and `after` ends at the next deploy. Counts are kept for two days, so a longer period is cut: it starts at midnight UTC on the day before its end.',
    query: comparisonQuery,
    answers: { 200: comparison },
    handle: ({ engine, params, query }) => engine.deployments.compare(params.deployment, query),
  }),
}
