import type * as z from 'zod'
import type { jobPage, jobQuery, jobRows } from '../core/schemas.ts'

type Given = z.input<typeof jobQuery>
type Query = { [Name in keyof Given]: Given[Name] | number | boolean }

export type List<Options> = {
  (input: Query & { fields: 'row' }, options?: Options): Promise<z.input<typeof jobRows>>
  (input?: Omit<Query, 'fields'>, options?: Options): Promise<z.input<typeof jobPage>>
}
