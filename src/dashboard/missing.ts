// Engine errors for a thing that does not exist, as undefined.

import { SidejobError } from '../core/errors.ts'

export const missing = (error: unknown): undefined => {
  if (error instanceof SidejobError && error.code === 'NOT_FOUND') return undefined
  throw error
}
