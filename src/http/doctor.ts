import * as z from 'zod'
import { faultKinds } from '../core/faults.ts'
import { cursor } from '../core/schemas.ts'
import { route } from './route.ts'

const fault = z.object({
  kind: z.enum(faultKinds),
  who: z.string(),
  what: z.string(),
  remedy: z.string().describe('action that a repair would take'),
  link: z.string().describe('API address of the damaged object'),
})

const slice = z.strictObject({ cursor: cursor.optional() })
const page = { jobs: z.int(), cursor: z.string().nullable() }

export const doctor = {
  examine: route('GET /v1/doctor', {
    scope: 'read',
    summary: 'Check the data',
    description: 'Checks one slice of the jobs. Pass the returned cursor to continue.',
    query: slice,
    answers: { 200: z.object({ faults: z.array(fault), ...page }) },
    handle: ({ engine, query }) => engine.doctor.examine(query.cursor),
  }),

  repair: route('POST /v1/doctor/repair', {
    scope: 'admin',
    summary: 'Repair the data',
    description: 'Repairs one slice of the jobs. Run the check first: it shows each repair.',
    query: slice,
    answers: { 200: z.object({ repaired: z.array(fault), left: z.array(fault), ...page }) },
    handle: ({ engine, query }) => engine.doctor.repair(query.cursor),
  }),
}
