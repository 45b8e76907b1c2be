import { type Code, isTimeout, messageOf, SidejobError } from '../core/errors.ts'

/** No version of sidejob reads this schema, so no isolate changes the data during an import. */
export const IMPORTING = '9999'

type Meaning = { when: RegExp; code: Code; message: string; retryAfter?: number }

const TOKEN = 'UPSTASH_REDIS_REST_TOKEN'
/** In characters. */
const MAX_SHOWN = 200

// The first match counts. The patterns are from Upstash's troubleshooting pages and from redis-server.
const meanings: readonly Meaning[] = [
  {
    when: /WRONGPASS|NOAUTH|unauthorized/i,
    code: 'MISCONFIGURED',
    message: `Redis refused the token: set ${TOKEN} to the token of the database at UPSTASH_REDIS_REST_URL`,
  },
  {
    when: /NOPERM/,
    code: 'MISCONFIGURED',
    message: `This token lacks permissions in Redis: expected the standard token in ${TOKEN}, got the read-only token`,
  },
  {
    when: /max (request|key) size exceeded/i,
    code: 'TOO_LARGE',
    message: 'the request is larger than Redis allows: send several smaller requests',
  },
  {
    when: /max (daily |monthly )?requests? limit exceeded|budget.*exceeded/i,
    code: 'FULL',
    message: "the commands of Redis' plan are used up: choose a larger plan, or wait until its next period begins",
  },
  {
    when: /DB capacity quota exceeded|\bOOM command not allowed/i,
    code: 'FULL',
    message: "Redis' database is full: choose a larger plan, or delete jobs and keep them for a shorter time",
  },
  {
    when: /max single record size exceeded/i,
    code: 'FULL',
    message:
      'an index has the maximum size that Redis allows (about 800,000 waiting jobs of one queue): use more queues, ' +
      'create jobs more slowly, or keep ended jobs for a shorter time',
  },
  {
    when: /^(LOADING|BUSY|READONLY|MASTERDOWN|MISCONF|TRYAGAIN|CLUSTERDOWN)\b|max concurrent|rate limit/i,
    code: 'UNAVAILABLE',
    message: 'Redis is busy or is restarting',
    retryAfter: 1,
  },
  {
    when: /script|^WRONGTYPE/i,
    code: 'INTERNAL',
    message: 'a script failed in Redis; see the log of this deployment',
  },
]

/** Upstash's client appends the command to the message. The command contains users' data, so it is removed. */
const redisMessage = (error: unknown): string => messageOf(error).split(', command was:')[0]!

export const isNoScript = (error: unknown): boolean => isAnswer(error) && /^(ERR )?NOSCRIPT\b/.test(redisMessage(error))

export const isAnswer = (error: unknown): boolean => error instanceof Error && error.name === 'UpstashError'

/** lib/runtime/cache.lua writes this error. */
function schemaError(text: string): SidejobError | undefined {
  const [, found, oldest, newest] = /SCHEMA (\S+), expected (\d+) to (\d+);/.exec(text) ?? []
  if (found === undefined) return undefined
  if (found === IMPORTING)
    return new SidejobError(
      'UNAVAILABLE',
      'an import is writing to this namespace: wait until the import ends, or start it again',
      {
        retryAfter: 10,
      },
    )
  const expected = oldest === newest ? newest : `${oldest} to ${newest}`
  const remedy =
    Number(found) > Number(newest) ? 'deploy the newer version' : 'first deploy a version that can read the data'
  return new SidejobError(
    'UNAVAILABLE',
    `the data in Redis has schema ${found}, and this version of sidejob reads schema ${expected}: ${remedy}`,
    { retryAfter: 10 },
  )
}

/** The error of a script may contain users' data, so it becomes the cause and not the message. */
export function faultOf(error: unknown, timeout: number, placed = (text: string): string => text): SidejobError {
  const text = placed(redisMessage(error).slice(0, MAX_SHOWN))
  const otherSchema = schemaError(redisMessage(error))
  if (otherSchema) return otherSchema
  const meaning = isAnswer(error) ? meanings.find(({ when }) => when.test(text)) : undefined
  if (meaning) {
    const { code, message, retryAfter } = meaning
    return new SidejobError(code, message, { retryAfter, cause: new Error(text) })
  }
  const why = isTimeout(error) ? `no answer within ${timeout} ms` : text
  return new SidejobError('UNAVAILABLE', `Redis did not answer: ${why}`, { retryAfter: 1, cause: new Error(text) })
}

const REASON_LENGTH = 300

export function reasonOf({ code, message, cause }: SidejobError): string {
  if (code !== 'INTERNAL' || !(cause instanceof Error)) return message
  const text = cause.message
    .replace(/(["'`])(?![\w.:-]{1,40}\1).*?(\1|$)/gs, '$1…$1')
    .replace(/\s+/g, ' ')
    .slice(0, REASON_LENGTH)
  return `A script failed in Redis: ${text}`
}
