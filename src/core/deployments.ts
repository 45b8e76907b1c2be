// Deployments, their deploys, and what changed with one.

import * as z from 'zod'
import { errorKindView, moment, time } from './schemas.ts'
import { classCounts } from './stats.ts'

const version = z.string().nullable().meta({ description: 'version of the code, such as a commit; null if unknown' })
const deploy = z.object({ version, at: moment })

export const deploymentList = z.object({
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

export const comparisonQuery = z.strictObject({
  at: time
    .optional()
    .meta({ description: 'time of the deploy, as GET /v1/deployments lists it; by default the newest' }),
})

const { counts, took } = classCounts.shape
const ofPeriod = z.object({ counts, took })

export const comparison = z.object({
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
