/** Rates are per second. Each isolate counts separately. */
export const requestLimits = {
  /** For each API key. */
  requests: { rate: 1_000, burst: 2_000 },
  /** Unknown keys, by IPv4 address or IPv6 /64 network. */
  strangers: { rate: 0.5, burst: 30 },
  remembered: 10_000,
  signedBody: 65_536,
  /** Maximum streams of an API key, and of the channel `/`. */
  listeners: { key: 500, root: 50 },
  stream: { life: 3_600_000, beat: 15_000 },
} as const

/** Maximum unfinished jobs of an API key, and their bytes. */
export const quotas = { jobs: 250_000, bytes: 268_435_456 } as const

// docs/limits.md is generated from this table.

const limit = (most: number, unit: string, of: string, above: string) => ({ most, unit, of, above })

export type Limit = ReturnType<typeof limit>

const refused = 'a call fails with 400 BAD_REQUEST'
const tooLarge = 'a call fails with 413 TOO_LARGE'
const failsRun = 'a run fails with TOO_LARGE'
const tooMuch = `${tooLarge}; ${failsRun}`
const refusedOrTooMuch = `a call fails with 400 BAD_REQUEST or 413 TOO_LARGE; ${failsRun}`
const limited = 'a call fails with 429 LIMITED'

const NEXT_PAGE = 'the answer contains the condition for the next page'

export const limits = {
  valueBytes: limit(1_048_576, 'bytes', 'one value: args, a state field, a value at a port, a result', tooMuch),
  runBytes: limit(8_388_608, 'bytes', 'all changes of one run', failsRun),
  ops: limit(10_000, 'ops', 'operations of one run', tooMuch),
  countNames: limit(50, 'names', 'different counts of one run', `${refused}; ${failsRun}`),
  logBytes: limit(16_384, 'bytes', 'one log entry', 'only the size of the entry is stored'),
  globText: limit(1_000, 'characters', 'a string that a constraint compares with a glob', 'the rest is ignored'),
  waitMs: limit(60_000, 'ms', 'maximum wait of one call for a result or for work', refused),
  claimNames: limit(20, 'names', 'globs or tags of one claim', tooLarge),
  claimName: limit(64, 'bytes', 'one glob of a claim', refused),
  jobBytes: limit(
    8_388_608,
    'bytes',
    'one job in total, with its args, state, defaults, waiting values and steps',
    `${tooMuch}; a listening port misses the message`,
  ),
  ports: limit(1_000, 'ports', 'input ports or output ports of one job, including removed ports', refusedOrTooMuch),
  stateFields: limit(1_000, 'fields', 'the state of one job', refusedOrTooMuch),
  labels: limit(8, 'labels', 'one job, including the labels of its class', refused),
  labelsBytes: limit(512, 'bytes', 'the labels of one job as JSON', refused),
  headers: limit(50, 'headers', 'custom headers of a callback or download', refused),
  errorText: limit(16_384, 'characters', 'the error message of a failed run, and its stack', 'the rest is cut off'),
  aliases: limit(100, 'aliases', 'one job', tooMuch),
  durationMs: limit(315_576_000_000, 'ms', 'each duration (ten years)', refused),
  pageBytes: limit(
    4_194_304,
    'bytes',
    'the jobs on one page of a list',
    'the page ends earlier, with a cursor; one job is always shown',
  ),
  published: limit(10_000, 'messages', 'messages of one call or run (values × channels)', tooMuch),
  publishedNames: limit(
    10_000,
    'names',
    'channels of all messages of one call or run. Each message counts its channel and all channels above it',
    tooMuch,
  ),
  delivered: limit(
    1_000,
    'messages',
    'writes to listening ports in one step',
    'the relay of the channel continues page by page',
  ),
  keptMessage: limit(
    4_096,
    'bytes',
    'the last message that a channel keeps, as stored in Redis',
    'only the size of the message is kept',
  ),
  keptChannels: limit(
    500,
    'channels',
    'channels whose last message is kept',
    'the channel with the oldest last message is dropped',
  ),
  listeners: limit(100_000, 'ports', 'the input ports that listen to one channel', `${limited}; a run fails`),
  channelLevels: limit(16, 'names', 'segments of a channel name', refused),
  waiting: limit(
    100_000,
    'values',
    'values waiting at one port',
    `${limited}; a run fails; a listening port misses the message`,
  ),
  moved: limit(
    5_000,
    'values',
    'values that connected ports or wires move at once (values × targets)',
    'the rest stays until the next request',
  ),
  copied: limit(
    8_388_608,
    'bytes',
    'copies of a value or default for connected ports or wires (bytes × targets)',
    tooMuch,
  ),
  family: limit(
    500,
    'jobs',
    'a job and its descendants that one call ends or deletes together',
    'an internal job continues in steps of the same size',
  ),
  keptJobs: limit(
    500_000,
    'jobs',
    'ended jobs that a queue keeps, for each status',
    'the jobs that would expire next are removed early',
  ),
  generations: limit(1_000, 'generations', 'generations of jobs, from the topmost parent to the last child', limited),
  queriedJobs: limit(10_000, 'jobs', 'rows that one Query of Bedrock reads', NEXT_PAGE),
  queriedRows: limit(1_000, 'rows', 'rows that one Query of Bedrock returns', NEXT_PAGE),
  requeued: limit(1_000, 'ids', 'ids in one call of Bedrock’s RequeueJobs', 'a call fails with a Bedrock error'),
  runWords: limit(100_000, 'words', 'operations and values of one run, with their names', failsRun),
  keptInputs: limit(
    65_536,
    'bytes',
    'stored inputs of the last run of a job with `history`, for copies of the job. Each value counts 32 bytes more than its size',
    'no inputs are kept',
  ),
  bulkIds: limit(10_000, 'ids', 'jobs of one bulk action', tooLarge),
  kinds: limit(
    100,
    'kinds',
    'kinds of error whose failure times a queue keeps',
    'the times of the kind that failed longest ago are dropped; the jobs of this kind stay in all lists',
  ),
  mutes: limit(200, 'kinds', 'muted kinds of error', limited),
  commitBytes: limit(
    4_194_304,
    'bytes',
    'one request of a lane that commits runs',
    'the remaining runs are committed with the next request',
  ),
}
