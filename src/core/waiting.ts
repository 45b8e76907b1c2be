import * as z from 'zod'
import { snapshot } from './run.ts'
import { label, ofClass, page, status } from './schemas.ts'

export const waitingQuery = z.strictObject({
  ...ofClass,
  deployment: label.optional().describe('only jobs of classes that this deployment announced'),
  ...page,
})

export type WaitingQuery = z.output<typeof waitingQuery>

export const waitingJob = z.object({
  status,
  snapshot: snapshot.describe(
    'snapshot that the next run would receive when the job is due; `run.token` is not valid in calls',
  ),
  masked: z
    .array(z.string())
    .describe(
      'parts whose values are redacted, or encrypted with a key that the deployment lacks, such as `args` or `state.card`',
    ),
  servedBy: z
    .array(z.string())
    .nullable()
    .describe('deployments that announced the class of the job; null if a push or pull worker serves the class'),
  pinnedTo: z.string().optional().describe('version of the code, or address of a push worker, that continues the job'),
  fault: z.string().optional().describe('reason why the snapshot is incomplete'),
})

export const waitingPage = z.object({ jobs: z.array(waitingJob), cursor: z.string().nullable() })

export type WaitingJob = z.output<typeof waitingJob>
export type WaitingJobInput = z.input<typeof waitingJob>
