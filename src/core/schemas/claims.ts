import * as z from 'zod'
import { limits } from '../limits.ts'
import { atMost } from './at-most.ts'
import { waitTime } from './job-options.ts'
import { className, isText, label, processName, schemaHash } from './names.ts'
import { positive } from './values.ts'

export const claimOptions = z.strictObject({
  names: z
    .array(
      label.refine((name) => isText(name, limits.claimName.most), `expected at most ${limits.claimName.most} bytes`),
    )
    .max(limits.claimNames.most)
    .optional(),
  tags: z.array(label).max(limits.claimNames.most).optional(),
  max: z.int().min(1).max(1_000).optional(),
  wait: waitTime.optional(),
  lease: positive.optional(),
  process: processName.optional(),
  schemas: z
    .record(className, schemaHash)
    .refine(...atMost(limits.claimNames.most, 'classes'))
    .optional()
    .describe('hashes of the schemas that the worker was built against, by class'),
})
export type ClaimOptions = z.output<typeof claimOptions>
