/** Each isolate counts separately. */
export const doors = {
  /** Default for each API key. The burst is twice the rate. */
  requests: { rate: 1_000, burst: 2_000 },
  /** Key lookups of unknown callers, by IPv4 address or IPv6 /64 network. */
  strangers: { rate: 0.5, burst: 30 },
  remembered: 10_000,
  /** In bytes. */
  signedBody: 65_536,
  /** Maximum streams of one API key, and maximum streams of the channel `/`. */
  listeners: { key: 500, root: 50 },
  /** In milliseconds. */
  stream: { life: 3_600_000, beat: 15_000 },
} as const

/** Maximum unfinished jobs of one API key, and maximum bytes of these jobs. */
export const quotas = { jobs: 250_000, bytes: 268_435_456 } as const

// docs/limits.md is generated from this table.

export type Limit = { most: number; unit: string; of: string; above: string }

const refused = '400 BAD_REQUEST; nothing is changed'
const tooLarge = '413 TOO_LARGE; nothing is changed'
const failsRun = 'the run fails with TOO_LARGE'
const tooMuch = `${tooLarge}; ${failsRun}`
const limited = '429 LIMITED; nothing is changed'

export const limits = {
  valueBytes: {
    most: 1_048_576,
    unit: 'bytes',
    of: 'one value: args, a state field, a value at a port, a result',
    above: tooMuch,
  },
  runBytes: { most: 8_388_608, unit: 'bytes', of: 'all changes of one run', above: failsRun },
  ops: { most: 10_000, unit: 'ops', of: 'operations of one run', above: `${refused}; ${failsRun}` },
  countNames: { most: 50, unit: 'names', of: 'different counts of one run', above: `${refused}; ${failsRun}` },
  logBytes: {
    most: 16_384,
    unit: 'bytes',
    of: 'one log entry',
    above: `${tooLarge}; in a run, only its size is logged`,
  },
  globText: {
    most: 1_000,
    unit: 'characters',
    of: 'a string that a constraint compares with a glob',
    above: 'the rest is ignored',
  },
  waitMs: { most: 60_000, unit: 'ms', of: 'maximum wait of one call for a result or for work', above: refused },
  claimNames: { most: 20, unit: 'names', of: 'globs or tags of one claim', above: tooLarge },
  claimName: { most: 64, unit: 'bytes', of: 'one glob of a claim', above: refused },
  jobBytes: {
    most: 8_388_608,
    unit: 'bytes',
    of: 'one job in total, with its args, state, defaults, waiting values and steps',
    above: `${tooMuch}; a port that listens misses the message`,
  },
  ports: {
    most: 1_000,
    unit: 'ports',
    of: 'input or output ports of one job, including removed ones',
    above: `${refused}, or ${tooMuch}`,
  },
  stateFields: {
    most: 1_000,
    unit: 'fields',
    of: 'the state of one job',
    above: `${refused}, or ${tooMuch}`,
  },
  labels: { most: 8, unit: 'labels', of: 'one job, including the labels of its class', above: refused },
  labelsBytes: { most: 512, unit: 'bytes', of: 'the labels of one job as JSON', above: refused },
  headers: { most: 50, unit: 'headers', of: 'custom headers of a callback or download', above: refused },
  errorText: {
    most: 16_384,
    unit: 'characters',
    of: 'the error message of a failed run, and its stack',
    above: 'the rest is cut off',
  },
  aliases: { most: 100, unit: 'aliases', of: 'one job', above: tooMuch },
  durationMs: { most: 315_576_000_000, unit: 'ms', of: 'each duration (ten years)', above: refused },
  pageBytes: {
    most: 4_194_304,
    unit: 'bytes',
    of: 'the jobs on one page of a list',
    above: 'the page ends earlier, with a cursor; one job is always shown',
  },
  published: {
    most: 10_000,
    unit: 'messages',
    of: 'messages of one call or run (values × channels)',
    above: tooMuch,
  },
  publishedNames: {
    most: 10_000,
    unit: 'names',
    of: 'channels to which one call or run publishes, including all channels above; counted for each message',
    above: tooMuch,
  },
  delivered: {
    most: 1_000,
    unit: 'messages',
    of: 'writes to listening ports in one step',
    above: 'the relay of the channel continues page by page',
  },
  keptMessage: {
    most: 4_096,
    unit: 'bytes',
    of: 'the kept last message of a channel, as stored in Redis',
    above: 'only its size is kept',
  },
  keptChannels: {
    most: 500,
    unit: 'channels',
    of: 'channels whose last message is kept',
    above: 'the channel with the oldest last message is dropped',
  },
  listeners: {
    most: 100_000,
    unit: 'ports',
    of: 'the input ports that listen to one channel',
    above: `${limited}; the run fails`,
  },
  channelLevels: { most: 16, unit: 'names', of: 'segments of a channel name', above: refused },
  waiting: {
    most: 100_000,
    unit: 'values',
    of: 'values waiting at one port',
    above: `${limited}; the run fails; a port that listens misses the message`,
  },
  moved: {
    most: 5_000,
    unit: 'values',
    of: 'values that connected ports or wires move at once (values × targets)',
    above: 'the rest stays until the next request',
  },
  copied: {
    most: 8_388_608,
    unit: 'bytes',
    of: 'copies of a value or default for connected ports or wires (bytes × targets)',
    above: tooMuch,
  },
  family: {
    most: 500,
    unit: 'jobs',
    of: 'jobs (one and its descendants) that one call ends or deletes together',
    above: 'an internal job continues in steps of the same size',
  },
  keptJobs: {
    most: 500_000,
    unit: 'jobs',
    of: 'ended jobs that a queue keeps, for each status',
    above: 'the jobs that would expire next are removed early',
  },
  generations: {
    most: 1_000,
    unit: 'jobs',
    of: 'generations of jobs, from the topmost parent to the last child',
    above: limited,
  },
  queriedJobs: {
    most: 10_000,
    unit: 'jobs',
    of: 'rows that one Bedrock Query reads',
    above: 'the answer contains the condition for the next page',
  },
  queriedRows: {
    most: 1_000,
    unit: 'rows',
    of: 'rows that one Bedrock Query returns',
    above: 'the answer contains the condition for the next page',
  },
  requeued: { most: 1_000, unit: 'ids', of: 'one Bedrock RequeueJobs', above: 'refused with a Bedrock error' },
  runWords: { most: 100_000, unit: 'words', of: 'operations and values of one run, with their names', above: failsRun },
  keptInputs: {
    most: 65_536,
    unit: 'bytes',
    of: 'inputs of the last run that are kept for copies of a job with a history; each value counts 32 bytes more',
    above: 'none of them is kept',
  },
  bulkIds: {
    most: 10_000,
    unit: 'ids',
    of: 'jobs listed in one bulk action',
    above: refused,
  },
  kinds: {
    most: 100,
    unit: 'kinds',
    of: 'kinds of error whose failure times a queue keeps',
    above: 'the times of the kind that failed longest ago are dropped; its jobs stay in all lists',
  },
  mutes: {
    most: 200,
    unit: 'kinds',
    of: 'muted kinds of error',
    above: limited,
  },
  commitBytes: {
    most: 4_194_304,
    unit: 'bytes',
    of: 'one request of a lane that commits runs',
    above: 'the remaining runs are committed with the next request',
  },
} as const satisfies Record<string, Limit>
