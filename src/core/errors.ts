export const codes = {
  BAD_REQUEST: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  WRONG_METHOD: 405,
  BUSY: 409,
  TAKEN: 409,
  WRONG_STATUS: 409,
  CONFLICT: 409,
  SCHEMA_CHANGED: 409,
  LOST: 410,
  CHANGED: 412,
  TOO_LARGE: 413,
  UNSUPPORTED: 415,
  REFUSED: 422,
  LIMITED: 429,
  INTERNAL: 500,
  UNREADABLE: 500,
  MISCONFIGURED: 500,
  UNAVAILABLE: 503,
  FULL: 507,
} as const

export type Code = keyof typeof codes

const outages: ReadonlySet<Code> = new Set<Code>(['MISCONFIGURED', 'UNAVAILABLE', 'FULL'])

export const hasCode = (error: unknown, code: Code): error is SidejobError =>
  error instanceof SidejobError && error.code === code

export const isOutage = (error: unknown): boolean => error instanceof SidejobError && outages.has(error.code)

export const isTimeout = (error: unknown): boolean => error instanceof Error && error.name === 'TimeoutError'

/** Turns NOT_FOUND into undefined: `.catch(missing)`. */
export const missing = (error: unknown): undefined => {
  if (!hasCode(error, 'NOT_FOUND')) throw error
}

type ErrorDetail = {
  path?: (string | number)[]
  retryAfter?: number
  schema?: Skew
  cause?: unknown
}

export type Skew = { class: string; current: string; built: string }

/**
 * The only errors that callers see. The message names the expected and the received value.
 *
 * @example throw new SidejobError('NOT_FOUND', 'job 7 does not exist')
 */
export class SidejobError extends Error {
  readonly code: Code
  readonly path?: (string | number)[]
  readonly retryAfter?: number
  readonly schema?: Skew

  constructor(code: Code, message: string, { path, retryAfter, schema, cause }: ErrorDetail = {}) {
    super(message, { cause })
    this.name = 'SidejobError'
    this.code = code
    this.path = path
    this.retryAfter = retryAfter
    this.schema = schema
  }

  get status(): number {
    return codes[this.code]
  }
}

export const errorBody = ({ code, message, path, retryAfter, schema }: SidejobError, base = '') => ({
  error: { code, message, path, retryAfter, schema, doc_url: `${base}/docs/errors#${code}` },
})

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
