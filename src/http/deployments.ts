import * as z from 'zod'
import { errorKindView, moment, time } from '../core/schemas.ts'
import { classCounts } from '../core/stats.ts'
import { route } from './route.ts'

const version = z.string().nullable().meta({ description: 'version of the code, such as a commit; null if unknown' })
const author = z.string().nullable().meta({ description: 'author of the code; null if unknown' })
const deploy = z.object({ version, author, at: moment })

const deploymentList = z.object({
  deployments: z.array(
    z.object({
      id: z.string(),
      /** When its newest version announced itself. */
      at: moment,
      classes: z.int(),
      version,
      deploys: z.array(deploy).meta({ description: 'its last 20 deploys, newest first' }),
    }),
  ),
})

const comparisonQuery = z.strictObject({
  at: time
    .optional()
    .meta({ description: 'time of the deploy, as GET /v1/deployments lists it; by default the newest' }),
})

const { counts, took } = classCounts.shape
const ofPeriod = z.object({ counts, took })

const comparison = z.object({
  deployment: z.string(),
  ...deploy.shape,
  before: z.object({ version, from: moment, to: moment }),
  after: z.object({ version, from: moment, to: moment }),
  isWhole: z.boolean().meta({
    description: 'false if the counts at the deploy are not kept: then no class is compared',
  }),
  classes: z
    .array(
      z.object({
        queue: classCounts.shape.queue,
        class: classCounts.shape.class,
        before: ofPeriod.nullable(),
        after: ofPeriod.nullable(),
      }),
    )
    .meta({ description: 'by queue and name; null for a period without events' }),
  errors: z.array(errorKindView).meta({ description: 'kinds of errors whose first failed job came after the deploy' }),
  more: z.boolean().meta({ description: 'some failed jobs are not counted yet: repeat the call' }),
})

export const deployments = {
  list: route('GET /v1/deployments', {
    scope: 'read',
    summary: 'List deployments',
    description: 'Each with its version and its last deploys.',
    answers: { 200: deploymentList },
    handle: ({ engine }) => engine.deployments.list(),
  }),

  compare: route('GET /v1/deployments/:deployment/comparison', {
    scope: 'read',
    summary: 'Compare the time before and after a deploy',
    description:
      'Counts and run times of each class, and kinds of errors that are new. The time before begins with the ' +
      'previous deploy, and the time after ends with the next one. Counts are kept for two days, so a longer time ' +
      'begins at midnight UTC of the day before its end.',
    query: comparisonQuery,
    answers: { 200: comparison },
    handle: ({ engine, params, query }) => engine.deployments.compare(params.deployment, query),
  }),
}
