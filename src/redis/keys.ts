// Names in Redis: keys, and short names of record fields.

import { isOfTenant, namespaceOf } from '../core/tenant.ts'

/** A text as a pattern of SCAN that matches only this text. @example literal('a*') // 'a\\*' */
export const literal = (text: string): string => text.replace(/[\\*?[\]^-]/g, '\\$&')

/** Keys that TypeScript names. Scripts build theirs the same way. */
export const keysOf = (ns: string) => ({
  lastId: `${ns}jobs:last_id`,
  highestId: `${ns}jobs:highest`,
  aliases: `${ns}jobs:aliases`,
  limits: `${ns}limits`,
  hints: `${ns}hints`,
  listened: `${ns}listened`,
  schema: `${ns}schema`,
  epoch: `${ns}epoch`,
  constraints: `${ns}constraints`,
  queues: `${ns}queues`,
  wake: `${ns}wake`,
  log: `${ns}log`,
  apiKeys: `${ns}keys`,
  audit: `${ns}audit`,
  session: (hash: string) => `${ns}session:${hash}`,
  processes: `${ns}processes`,
  tenants: `${ns}tenants`,
  ofTenant: (name: string) => namespaceOf(ns, name),
  views: `${ns}views`,
  muted: `${ns}muted`,
  sources: `${ns}sources`,
  breakers: `${ns}breakers`,
  flags: `${ns}flags`,
  days: `${ns}days`,
  bells: `${ns}bells`,
  lastTick: `${ns}ticked`,
  lastHeart: `${ns}heart`,
  lastBell: `${ns}rung`,
  examined: `${ns}examined`,
  unreadable: `${ns}unreadable`,
  /** Never exists. Deleting it lets a script write although Redis is full. */
  room: `${ns}room`,
  deployed: `${ns}deployed`,
  deploys: `${ns}deploys`,
  flows: `${ns}flows`,
  channels: `${ns}channels`,
  job: (id: string | number) => `${ns}job:${id}`,
  piece: (number: string | number) => `${ns}jobs:${number}`,
  queue: (queue: string) => `${ns}queue:${queue}`,
  classCounts: (queue: string) => `${ns}counts:${queue}:c`,
  lane: (lane: string) => `${ns}lane:${lane}`,
  once: (key: string) => `${ns}once:${key}`,
  shelf: (key: string) => `${ns}again:${slotOf(key)}`,
  limit: (key: string) => `${ns}limit:${key}`,
  limitWindow: (key: string) => `${ns}limit-window:${key}`,
  result: (id: string | number) => `${ns}result:${id}`,
  steps: (id: string | number) => `${ns}job:${id}:steps`,
  runs: (id: string | number) => `${ns}job:${id}:runs`,
  inputs: (id: string | number) => `${ns}job:${id}:inputs`,
  jobLog: (id: string | number) => `${ns}job:${id}:log`,
  record: (id: string | number) => `${ns}job:${id}:record`,
  value: (id: string | number, field: string) => `${ns}job:${id}:f:${field}`,
  children: (id: string | number) => `${ns}job:${id}:children`,
  /** What counts the jobs of an API key, and those of its tenant. */
  quota: (by: string) =>
    [by.replace(/^key:/, ''), ...(isOfTenant(ns) ? ['tenant'] : [])].flatMap((of) => [
      `${ns}quota:${of}`,
      `${ns}quota:${of}:kept`,
    ]),
  workers: (queue: string) => `${ns}workers:${queue}`,
  breaker: (host: string) => `${ns}breaker:${host}`,
  channel: (name: string) => `${ns}channel:${name}`,
  audience: (name: string) => `${ns}audience:${name}`,
  messages: `${ns}messages`,
  message: (channel: string) => `${ns}message:${channel}`,
  live: (name: string) => `${ns}live:${name}`,
  /** Channel that calls a waiting claim. */
  calls: (waiter: string) => `${ns}call:${waiter}`,
  ended: (job: string) => `${ns}ended:${job}`,
})

export type Keys = ReturnType<typeof keysOf>

/** At 34 calls a second each shelf holds five answers of the last ten minutes, and has room for fifteen more. */
const SHELVES = 4_096

/** FNV-1a, so that the same key has the same shelf. */
const slotOf = (key: string): number => {
  let hash = 0x811c9dc5
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  return (hash >>> 0) % SHELVES
}

/**
 * A record field: its short name, its meaning, and whether it is a number, or a text of a user, in which `^` does not
 * mark a value beside the record.
 */
type Field = readonly [short: string, note: string, kind?: 'number' | 'text']

/**
 * Fields of a job's record: long names in TypeScript and Lua sources, short ones in Redis, where every waiting job
 * pays for them.
 */
export const jobFields = {
  sequence: ['n', 'sequence: microseconds of becoming ready, 13 hex digits'],
  createdAt: ['t', 'createdAt; absent if the sequence holds it', 'number'],
  queue: ['q', 'queue', 'text'],
  class: ['c', 'class', 'text'],
  args: ['a', 'args, a closed value'],
  priority: ['p', 'priority, when not 0', 'number'],
  keptBytes: ['kk', 'bytes that it counts for the quota of its API key while at rest', 'number'],
  quotaBytes: ['kl', 'bytes outside its record that count towards the quota of its API key', 'number'],
  createdBy: ['b', 'createdBy', 'text'],
  apiKey: ['by', 'the API key that created it, as key:<id>'],
  place: [
    'z',
    'place: absent = ready, p = ready:pull, t = timers, l = leases, w = waiting at a limit, s c f T = at rest',
  ],
  terminating: ['x', 'must terminate; 2 during its shutdown run'],
  cancelled: ['ca', 'cancelled'],
  deleteRequested: ['dl', 'will be deleted when its tree has ended; f by the job that walks its family'],
  familyTop: ['fm', 'job that walks a family: the job at the top'],
  familyBefore: [
    'fb',
    'job that walks a family: the last parent in its line; in such a parent: the walking job and the parent before it',
  ],
  familyRound: ['fr', 'job that walks a family: number of rounds', 'number'],
  familyCursor: ['fc', 'job that deletes a family: cursor in the children of that parent'],
  redeliverAfter: ['rv', 'redeliver: time without an answer until another worker gets it, as modifiers'],
  redeliverAfterMs: ['rm', 'the same in milliseconds, if it is constant', 'number'],
  maxDeliveries: ['rx', 'deliveries without an answer before it fails', 'number'],
  deliveries: ['dc', 'deliveries since the last answer', 'number'],
  unanswered: ['rq', 'its last run had no answer, and it has not been claimed since'],
  tag: ['tg', 'tag: only claims for this tag receive it', 'text'],
  redacts: ['vd', 'masked values, a list of paths'],
  ranAt: ['l', 'ranAt: when the last run began', 'number'],
  previousRanAt: ['l0', 'ranAt before the current run', 'number'],
  startedUp: ['su', 'a run was committed (startup is over)'],
  endedAt: ['e', 'endedAt', 'number'],
  token: ['tk', 'token of the current run'],
  leaseUntil: ['le', 'its lease end', 'number'],
  leaseLength: [
    'ln',
    'length of its lease if it differs from the default of the lane: pull workers, push workers that answer later',
    'number',
  ],
  begun: ['bg', 'its run has begun'],
  nextCommit: ['cn', 'number of its next commit after a checkpoint', 'number'],
  runNumber: ['k', 'number of the run: the same on all its attempts', 'number'],
  failures: ['f', 'failures since the last success', 'number'],
  lostRuns: ['lo', 'total number of lost runs', 'number'],
  maxLost: ['ml', 'number of consecutive lost runs after which it fails, if not 10', 'number'],
  lostInARow: ['lc', 'consecutive lost runs', 'number'],
  conflictsInARow: ['cf', 'consecutive conflicts', 'number'],
  runsThisMinute: ['m', 'runs of a minute, as minute:count'],
  notBefore: ['w', 'at: requested earliest time', 'number'],
  backoffUntil: ['bo', 'backoffUntil', 'number'],
  lockUntil: ['lu', 'lockUntil', 'number'],
  lockToken: ['lk', 'lock token'],
  nextSlot: ['ns', 'nextSlot of the repeat', 'number'],
  slotMissed: ['ms', 'the slot was missed: it runs only if the repeat runs missed slots'],
  catchUpAt: ['nc', 'the slot was missed and will be made up, not before this time', 'number'],
  passedSlots: ['px', 'the last missed slots without their own run: from,to, and what replaces them'],
  failedInARow: ['fx', 'job that repeats: consecutive slots that failed', 'number'],
  sleepUntil: ['sl', 'its function sleeps until then', 'number'],
  awaitedChildren: ['aw', 'children that its function waits for, a list of names'],
  wantedEarly: ['ey', 'must run before its at, as soon as backoff and lock allow'],
  repeats: ['rp', 'repeat'],
  repeatPaused: ['rz', 'the repeat is paused; the next slot at that time, from versions that report missed slots'],
  scheduleHash: ['sp', 'hash of the last input of its schedule'],
  inputDuringRun: ['ro', 'input or a request arrived during the run'],
  childDuringRun: [
    'rc',
    'a child ended or wrote during the run; 2 if this matters only to a job that does not follow its children',
  ],
  retry: ['rt', 'retry'],
  timeout: ['to', 'timeout', 'number'],
  keepResult: ['kr', 'retention time of its result', 'number'],
  resultUntil: ['ku', 'end of that time; absent if the result was taken', 'number'],
  retain: ['rd', 'retain', 'number'],
  retainFailed: ['rf', 'retain when failed', 'number'],
  hasShutdown: ['sh', 'its class has a shutdown hook'],
  quiet: ['np', 'publishes no status'],
  parent: ['pa', 'parent'],
  childName: ['pn', 'name as a child', 'text'],
  hasChildren: ['ch', 'has children'],
  rootAndLevel: ['tr', 'the root job of its family, and its level below it'],
  descendants: ['tn', 'number of existing descendants', 'number'],
  waitsFor: ['wf', 'waits for: * or a list of names'],
  waitsForCount: ['wn', 'number of awaited children', 'number'],
  followed: ['fo', 'follows its children: numbers of busy, suspended and broken ones'],
  followedAs: ['fk', 'its state for a parent that follows it: b busy, s suspended, c completed, x broken'],
  waitOver: ['fw', 'its wait is over: the next run receives the ended children'],
  held: ['hp', 'held until the run of its parent ends'],
  holdsChildren: ['hc', 'has held children'],
  group: ['g', 'group', 'text'],
  groupConcurrency: ['gc', 'concurrency of its group, to set it again', 'number'],
  limits: ['lm', 'its limits, one per line', 'text'],
  heldLimits: ['hk', 'limits of which the current run holds a slot', 'text'],
  reservedLimit: ['ad', 'the limit with a slot reserved for it', 'text'],
  waitingLimit: ['wl', 'the limit it waits at', 'text'],
  turns: [
    'wt',
    'its turns at limits that groups share, one per line: turn,priority,length of the group,group and limit',
  ],
  constraintsVersion: ['cv', 'version of the constraints of its tags'],
  uniqueScope: ['u', 'unique scope'],
  uniqueHeld: ['uk', 'unique is not held until it ends: 1 until deleted, s until started, b like 1 but debounced'],
  timedUniqueScope: ['ut', 'unique scope that is held for a fixed time'],
  aliases: ['al', 'aliases'],
  hasSteps: ['st', 'has steps'],
  progress: ['pg', 'progress'],
  lastError: ['er', 'last error'],
  callback: ['cb', 'callback: the receiver and the format of the report of its end'],
  endsTold: ['ce', 'number of reported ends', 'number'],
  callbackJob: ['cj', 'the job that reports its last end'],
  callbackStatus: ['cs', 'result of that: DELIVERED or FAILED'],
  callbackHost: ['cd', 'host of the callback and the API key: host/key'],
  endWasTold: ['et', 'it had ended before it had to terminate, and that end was reported'],
  callbackOf: ['of', 'callback: the job whose end it reports'],
  callbackEnd: ['oe', 'callback: number of that end', 'number'],
  callbackResult: ['ct', 'callback: result or error of that end'],
  resentAt: ['rs', 'callback: time of the last resend', 'number'],
  scheduledFor: ['sf', 'the slot of a schedule that it was created for', 'number'],
  relayChannel: ['rl', 'relay: its channel'],
  relayCursor: ['ru', 'relay: the last port that received its oldest message'],
  saidEndedAt: ['sa', 'end of the last run, as its worker reported it', 'number'],
  branchwiseAfter: [
    'bb',
    'the end after which its branches end one by one, because the family is too large for one script',
  ],
  lastRun: ['lr', 'last run: startedAt,endedAt,outcome,attempt version; the version of the code only if it is known'],
  history: ['hn', 'number of runs that it keeps', 'number'],
  historyKept: ['hl', 'number of runs kept now', 'number'],
  runsNoted: ['hr', 'number of runs that ended since it has kept a history', 'number'],
  inputsKept: ['hi', 'the inputs of the last run that took any are kept'],
  runDid: ['hd', 'changes that the current run saved before its last checkpoint'],
  recorded: ['rg', 'flow: how long its recorded events are kept', 'number'],
  process: ['pr', 'name of the process that holds the current run'],
  waitedUntil: ['wu', 'until when a caller waits for its end', 'number'],
  size: ['sz', 'bytes outside its record: values, lists, steps; followed by ~ if it is an upper bound'],
  lastCommit: ['cm', 'last commit: token|n|answer'],
} as const satisfies Record<string, Field>

/** Fields that exist per port or per state field. */
export const namedFields = {
  'i:<port>': 'input port: pushed,taken[,d when dropped]',
  'o:<port>': 'output port: pushed,taken[,d when dropped]',
  'vi:<port>': 'waiting values, a list of items, if they are small together',
  'vo:<port>': 'waiting values, a list of items, if they are small together',
  'di:<port>': 'default, an item',
  'do:<port>': 'default, an item',
  'ci:<port>': 'channels',
  'co:<port>': 'channels',
  'wi:<port>': 'wires: targets of its values, id:side:port, one after the other',
  'wo:<port>': 'wires; ! calls the parent',
  'mi:<port>': 'values that left it, if it is at an end of a wire: minute:count:count …, at most ten, newest first',
  'mo:<port>': 'the same',
  's:<field>': 'state, a closed value',
} as const

/** Fields of a queue's record. */
export const queueFields = {
  mode: ['m', 'pull; absent: lanes serve it'],
  pulledClasses: ['pc', 'its classes that pull workers serve'],
  boundedClasses: ['cn', 'its classes with their own limit'],
  banned: ['bn', 'globs of classes that fail instead of being claimed'],
  calledClasses: ['cl', 'its classes whose runs call other services'],
  mostLanes: ['ml', 'maximum number of lanes'],
  batch: ['b', 'number of jobs per claim of a lane'],
  paused: ['paused', 'nothing is claimed'],
  ageing: ['ag', 'waiting time after which a job gains one priority'],
  lanes: ['l', 'lane or bell → its end'],
  warm: ['wm', 'the waiting lane and its end: lane moment'],
  handed: ['hd', 'jobs given to the waiting lane with calls that it has not confirmed: lane since token …'],
  emptied: ['em', 'when a lane last found nothing'],
  jobsAt: ['at', 'number of jobs in each of its indexes, by the first letter; terminated is T'],
  packed: [
    'pk',
    'number of jobs that its indexes hold beyond their entries, by the same letters: a piece is one entry for all of its jobs',
  ],
  suspectsServed: [
    'su',
    'the last claim took jobs with lost runs, so the next claim takes jobs without lost runs first',
  ],
  firstReady: ['fr', 'sequence of the first ready job'],
  firstPull: ['fp', 'the same for pull workers'],
  counts: ['c', 'counts of the day by event'],
  day: ['day', 'the day of these counts, since 1970'],
  earlierCounts: ['ca', 'counts of all earlier days'],
  dayWaits: ['wh', 'number of runs of that day by waiting time'],
  classCounts: ['cc', 'counts by class since their text was last written'],
  classHour: ['ch', 'the last hour with counts by class, since 1970'],
  minute: ['mn', 'the last minute with counts, since 1970'],
  minuteWait: ['mw', 'the longest wait of that minute'],
  hourWait: ['hw', 'the longest wait of that hour'],
  leased: ['ls', 'leases of a few runs: id → end; the other leases are in the index'],
  nextLease: ['nl', 'the earliest lease end'],
  nextTimer: ['nt', 'the earliest timer'],
  nextRemoval: ['nr', 'the earliest time at which a job at rest may be removed'],
  limitMoments: ['lw', 'limit with waiting jobs → when it has room'],
  atLimits: ['wc', 'number of jobs at limits'],
  ending: ['en', 'number of jobs that must terminate and have not ended'],
  moving: ['mv', 'progress of moving waiting jobs to the other side: side:skipped:moved'],
  reordering: ['so', 'progress of the new order of waiting jobs after a change of ageing: place:cursor'],
  timerBell: ['tb', 'the moment for which a bell is on its way'],
  wakeAt: ['wk', 'its moment in `~wake`'],
  pullsUntil: ['pw', 'until when claims of pull workers wait'],
} as const satisfies Record<string, Field>

/** The last answer of a lane, so that a repeated request gets the same one. Its number precedes it. */
export const laneFields = {
  word: ['w', 'result for the lane'],
  answers: ['a', 'result of each run'],
  tokens: ['t', 'the runs that it received'],
} as const satisfies Record<string, Field>

/** Counts of a queue on a past day. */
export const dayFields = {
  counts: ['c', 'counts by event'],
  waits: ['w', 'number of runs by waiting time'],
} as const satisfies Record<string, Field>

/** Fields of a limit's record. Turns of groups are beside them, as `turn:<tier>,<limit>`. */
export const limitFields = {
  concurrency: ['c', 'maximum number of concurrent runs'],
  rate: ['r', 'maximum number of starts in a period'],
  period: ['p', 'the period, in milliseconds'],
  paused: ['paused', 'no job starts'],
  shut: ['shut', 'no job starts before this time'],
  open: ['open', 'every job starts'],
  auto: ['auto', 'a group that is deleted when its last job has ended'],
  gone: ['gone', 'removed, but kept for its waiting jobs'],
  fixed: ['f', 'numbers set through the API: jobs do not change them'],
  promised: ['a', 'slots reserved for ready jobs'],
  jobs: ['j', 'jobs of the group that are not at rest'],
  reordering: ['so', 'cursor of the new order of its waiting jobs'],
  waiting: ['w', 'number of waiting jobs'],
  running: ['u', 'limit with waiting jobs: number of held slots when the last slot was given'],
  waitedSince: ['ws', 'since when at least one job has waited', 'number'],
} as const satisfies Record<string, Field>
