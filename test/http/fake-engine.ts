import type { Encoded } from '../../src/core/codec/value.ts'
import { SidejobError } from '../../src/core/errors.ts'
import { readGraph } from '../../src/core/graph.ts'
import type { RecordedJob } from '../../src/core/recorded.ts'
import type { Snapshot } from '../../src/core/run.ts'
import type {
  CallbackView,
  DeliveredJob,
  FlowNodeView,
  FlowRow,
  FlowView,
  GraphChange,
  HistoryJob,
  HistoryRun,
  JobBase,
  JobRow,
  JobView,
  QueueView,
  Scope,
  WireView,
} from '../../src/engine/engine.ts'
import type { Engine } from '../../src/engine/index.ts'

const T = 1_800_000_000_000

export async function* twoMessages(channel: string) {
  yield { channel, message: '{\n"n": 1 }' }
  yield { channel: `${channel}/b`, message: '~kQE=' }
}

const deployed = { version: '88f62d2b', author: 'Ann', at: T }
export const zeroes = { made: 0, runs: 0, errors: 0, completed: 0, failed: 0, terminated: 0, lost: 0, skipped: 0 }

export const facts: Omit<JobView, keyof JobBase> = {
  limits: ['group:g'],
  waitingAt: null,
  tag: null,
  retry: { max: 3, backoff: { base: 1_000 } },
  timeout: 30_000,
  retain: null,
  keepResult: null,
  history: 0,
  unique: { key: 'k', until: 'ended' },
  lockedUntil: null,
  run: { startedAt: T, leaseUntil: T, process: null, lane: 'abcdef' },
  keptUntil: T,
  version: '88f62d2b',
  pinnedTo: null,
}

export const view: JobView = {
  ...facts,
  id: 7,
  queue: 'downloader',
  class: 'zip',
  status: 'queued',
  args: '{"big":12345678901234567890}',
  name: null,
  parent: null,
  aliases: ['nightly'],
  group: null,
  priority: 0,
  attempt: 0,
  lost: 0,
  createdAt: T,
  createdBy: '',
  labels: {},
  ranAt: null,
  endedAt: null,
  runAt: T + 1000,
  waitingFor: null,
  error: null,
  progress: null,
  repeat: null,
  callback: { state: 'FAILED', attempts: 10, lastError: 'a.com: answered 500', job: 9 },
  in: { left: { size: 1, taken: 4, default: '[]', channels: ['/a'] } },
  out: {},
  children: { a: { id: 8, class: 'zip', status: 'completed' } },
}

const row: JobRow = {
  id: 7,
  queue: 'core',
  class: 'zip',
  status: 'queued',
  name: null,
  parent: null,
  aliases: [],
  priority: 0,
  group: 'g',
  labels: {},
  tag: null,
  attempt: 0,
  createdAt: T,
  ranAt: null,
  endedAt: null,
  runAt: null,
  progress: '[1.0]',
  run: null,
  message: null,
  callback: null,
  reason: { code: 'LIMITED', message: 'limit api is full', since: T, key: 'api', data: { limit: 'api' } },
}

export const snapshot: Snapshot = {
  run: { token: 't-1', attempt: 1, lost: 0, reason: 'run', timeout: 30_000, startedAt: T, leaseUntil: T },
  job: {
    id: 7,
    queue: 'core',
    class: 'zip',
    args: '[1.0]',
    name: null,
    createdAt: T,
    createdBy: '',
    ranAt: null,
    parent: null,
    aliases: [],
  },
  state: { n: '3' },
  in: { left: { cursor: 4, values: [{ data: '1', context: '{"job":3}' }], more: 0, default: { data: '"x"' } } },
  out: { pair: { size: 0, channels: ['/pairs'] } },
  children: {},
}

const queue: QueueView = {
  name: 'core',
  paused: false,
  mode: 'push',
  lanes: 0,
  maxLanes: 4,
  batch: 50,
  ageing: null,
  counts: {
    queued: 1,
    running: 0,
    suspended: 0,
    completed: 0,
    failed: 0,
    terminating: 0,
    terminated: 0,
    scheduled: 0,
    limited: 0,
    pull: 0,
  },
  oldestReady: T,
}

const limitShown = {
  key: 'api',
  concurrency: 3,
  rate: { limit: 5, period: 1000 },
  paused: false,
  running: 1,
  waiting: 2,
  shutUntil: null,
}
const roomShown = { ...limitShown, started: 4, fullSince: T, nextRoom: T }
const at = { job: 7, queue: 'core', class: 'zip', group: 'g' }
const holderShown = { ...at, startedAt: T, leaseUntil: T, process: null }
const constraintShown = { name: 'host', match: { args: { host: 'a.com' } }, concurrency: 2 }
const scheduleShown = {
  job: 7,
  queue: 'core',
  class: 'zip',
  status: 'queued' as const,
  aliases: [],
  repeat: '{"cron":"0 4 * * *"}',
  paused: false,
  failing: false,
  error: null,
  lastRun: null,
  next: [T],
  nextAt: T,
  missed: null,
  catchingUp: false,
  moved: null,
}
const faultShown = {
  kind: 'job' as const,
  who: '7',
  what: 'is in 2 places',
  remedy: 'it is put in one',
  link: '/v1/jobs/7',
}
const groupShown = { id: 'g', concurrency: 3, paused: false, running: 1, waiting: 2, jobs: 3 }
const graphShown = readGraph('{"nodes":{"a":{"class":"zip","args":[1.0]}},"inports":{"x":{"node":"a","inport":"in"}}}')
const graphChanged: GraphChange = {
  applied: true,
  start: ['a'],
  adopt: [],
  stop: [{ node: 'b', job: 8 }],
  replace: [],
  wires: { added: ['x>a.in'], removed: [] },
  orphaned: [{ node: 'b', job: 8, dir: 'in', port: 'in', values: 2 }],
}
const wireShown: WireView = {
  id: 'x>a.in',
  from: { node: null, port: 'x' },
  to: { node: 'a', port: 'in' },
  laid: true,
  size: 2,
  behind: 0,
  oldest: { data: '[1.0]' },
  oldestAt: T,
  passed: [{ data: '[2.0]', at: T }],
  rate: 3,
  in: [0, 0, 0, 0, 0, 0, 0, 0, 2, 3],
  out: [0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
}
const flowShown: FlowRow = {
  id: 7,
  name: 'catalog',
  aliases: ['nightly'],
  status: 'suspended',
  createdAt: T,
  nodes: 3,
  active: 2,
  running: 1,
  queued: 1,
  failed: 0,
  wires: 4,
  values: 12,
  oldestAt: T,
  changedAt: T,
  changedBy: 'key:3',
}
const nodeShown: FlowNodeView = {
  name: 'a',
  queue: 'default',
  class: 'zip',
  job: 8,
  status: 'queued',
  ranAt: T,
  lastRun: null,
  limit: 'stripe',
  leaseUntil: null,
  until: null,
}
const flowViewShown: FlowView = {
  flow: flowShown,
  hash: 'abc',
  undo: 2,
  record: 7_200_000,
  graph: graphShown,
  nodes: [nodeShown],
  wires: [wireShown],
}
const told: CallbackView = {
  of: 7,
  end: 1,
  job: 9,
  state: 'FAILED',
  attempts: 10,
  maxAttempts: 10,
  lastError: 'example.com: answered 500',
  url: 'https://example.com/hook',
  createdAt: T,
  nextAt: null,
  endedAt: T,
}

const stepped = { id: 7, status: 'queued' as const }

const historyJob: HistoryJob = {
  id: 7,
  queue: 'core',
  class: 'zip',
  status: 'failed',
  args: '{"big":12345678901234567890}',
  result: null,
  error: '{"message":"no"}',
  kind: '0123456789abcdef',
  labels: { customer: '7' },
  group: null,
  tag: null,
  priority: 0,
  parent: null,
  createdAt: T,
  startedAt: T,
  endedAt: T,
  took: 1_500,
  waited: 20,
  attempts: 4,
  lost: 0,
  version: '88f62d2b',
  createdBy: '',
}

const historyRun: HistoryRun = {
  startedAt: T,
  endedAt: T,
  outcome: 'failed',
  attempt: 4,
  version: null,
  by: null,
  error: '{"message":"no"}',
}

const ward: DeliveredJob = {
  ...view,
  dueAt: T,
  slot: null,
  redeliver: null,
  deliveries: 0,
  unanswered: false,
  leaseUntil: null,
  tag: null,
  cancelled: false,
}

const recordedJob: RecordedJob = {
  id: 7,
  queue: 'core',
  class: 'zip',
  status: 'completed',
  run: { snapshot, commits: [{ end: 'completed', result: '1' as Encoded }] },
}

type Unperformed = Omit<Engine, 'ready' | 'performOne' | 'performAlone' | 'doctor'> & {
  doctor: Omit<Engine['doctor'], 'verify'>
}

const answers: Unperformed = {
  deliveries: {
    get: async () => ward,
    list: async () => ({ jobs: [ward], cursor: null }),
    claim: async () => ({ deliveries: [{ token: 't-1', job: ward, family: [] }], failed: 0 }),
    finish: async () => ({ status: 'completed' }),
    requeue: async () => {},
    requeueAll: async () => {},
    giveBack: async () => {},
    once: async (_, act) => act(),
    withdraw: async () => {},
    update: async () => {},
    block: async () => {},
  },
  waiting: {
    list: async () => ({ jobs: [{ status: 'suspended', snapshot, masked: ['args'], servedBy: [] }], cursor: null }),
    steps: async () => ({ steps: { charge: '10' as Encoded }, cursor: null }),
    children: async () => ({ children: {}, cursor: null }),
  },
  recorded: {
    list: async () => ({ jobs: [recordedJob], cursor: null }),
    get: async () => recordedJob,
  },
  bulk: {
    start: async () => ({ id: 9, status: 'queued' }),
    preview: async () => ({ fits: 3, looked: 10, more: false, ids: [9, 8, 7], cursor: null }),
  },
  errors: {
    list: async () => ({
      errors: [
        {
          error: '0123456789abcdef',
          class: 'zip',
          queues: ['core'],
          message: 'card #',
          example: 'card 7',
          frame: null,
          count: 2,
          firstAt: T,
          lastAt: T,
          jobs: [7],
        },
      ],
      looked: 2,
      cursor: null,
      muted: [{ error: 'fedcba9876543210', class: null, by: 'ann', at: T, until: null }],
    }),
    mute: async (kind, { by, until = null }) => ({ kind, muted: { by, at: T, until }, was: null }),
  },
  search: async () => ({
    jobs: [{ id: 7, class: 'zip', queue: 'core', status: 'queued', alias: 'nightly' }],
    queues: ['core'],
    limits: [],
    groups: [],
    channels: [],
  }),
  health: async () => ({ ok: true, redis: true, version: '1' }),
  dispatch: async () => ({ runs: 0, ended: 'empty' }),
  performPinned: async () => ({ outcome: undefined }),
  tick: async () => ({ rung: ['core'], more: false }),
  jobs: {
    copy: async () => ({ id: 8, status: 'queued' }),
    children: async () => [],
    existed: async () => true,
    enqueue: async (jobs) => ({ jobs: jobs.map((_, i) => ({ id: 7 + i, status: 'queued' })), existing: false }),
    get: async () => view,
    withSchemas: async (job) => job,
    list: async () => ({ jobs: [view], cursor: null }),
    rows: async () => ({ jobs: [row], cursor: null, total: 1 }),
    update: async () => view,
    remove: async (_, { force }) => (force ? 'ending' : 'gone'),
    run: async () => ({ ...stepped, ran: false }),
    terminate: async () => stepped,
    retry: async () => stepped,
    cancel: async () => stepped,
    state: async () => ({ n: '1.0' }),
    setState: async () => ({ n: '~kQE=' }),
    result: async () => ({ ended: true, result: { type: 'success', finishedAt: T, result: '[1.0]' } }),
    why: async () => ({
      job: 7,
      class: 'zip',
      queue: 'core',
      status: 'queued',
      running: false,
      run: null,
      reasons: [{ code: 'LIMITED', message: 'full', since: T, until: T, key: 'api', data: { ahead: 2, limit: 'api' } }],
      chain: [
        {
          job: 8,
          class: 'zip',
          queue: 'core',
          status: 'queued',
          running: false,
          run: null,
          reasons: [],
          limit: { ...roomShown, holders: [holderShown] },
        },
      ],
    }),
    steps: async () => ({
      steps: [{ name: 'charge', at: T, took: 1_500, run: 2, bytes: 12 }],
      waits: [{ name: 'sleep#1', kind: 'sleep', at: T, took: 60_000, run: null, bytes: 40 }],
      patches: [{ name: 'audit', patched: true, at: T }],
      cursor: '9',
    }),
    runs: async () => ({ runs: [{ startedAt: T, endedAt: T + 1, outcome: 'completed', attempt: 1 }] }),
    withRuns: async () => ({ job: view, runs: [] }),
    pastRun: async () => ({
      startedAt: T,
      endedAt: T + 1,
      outcome: 'completed',
      attempt: 1,
      n: 3,
      readyAt: T,
      commits: 2,
      reads: [{ job: 7, dir: 'in', port: 'left', values: 4 }],
      writes: [],
      published: [{ channel: '/sums', messages: 1 }],
      made: [{ id: 8, name: 'a' }],
      more: 0,
      log: {
        entries: [{ id: '1-0', at: T, job: 7, class: 'zip', level: 'info', entry: '"x"' as Encoded }],
        cursor: null,
      },
    }),
    tree: async () => ({ id: 7, class: 'zip', status: 'queued', children: {} }),
    adopt: async () => {},
    disown: async () => {},
    setAlias: async () => {},
    lock: async () => ({ token: 'l-1' }),
    refreshLock: async () => {},
    unlock: async () => {},
  },
  callbacks: {
    secrets: async () => ({ secrets: ['whsec_c2VjcmV0'] }),
    list: async () => ({ callbacks: [told], cursor: null }),
    counts: async () => ({ PENDING: 1, IN_PROGRESS: 2, DELIVERED: 3, FAILED: 4 }),
    tries: async () => ({
      tries: [{ at: T, took: 40, outcome: 'failed' as const, attempt: 1, again: true, answer: 'a.com: answered 500' }],
    }),
    get: async () => ({ callback: told, tries: [], sent: null, host: null }),
    resend: async () => ({ id: 9, status: 'queued' }),
  },
  ports: {
    define: async () => view,
    get: async () => ({ size: 1, taken: 4, channels: [], values: [{ data: '1', context: '{}' }] }),
    write: async (_job, _dir, _port, values) => ({ size: values.length }),
    take: async () => ({ values: [{ data: '"x"', default: true }] }),
    setDefault: async () => {},
    setChannels: async () => {},
    connect: async () => ({ moved: 2 }),
  },
  channels: {
    publish: async () => ({ subscribers: 1 }),
    list: async () => ({
      channels: [
        {
          name: '/a',
          subscribers: [{ job: 7, port: 'left' }],
          publishers: [{ queue: 'core', class: 'zip', port: 'pair' }],
        },
      ],
      cursor: null,
    }),
    subscribe: async ([channel]) => twoMessages(channel!),
  },
  log: {
    write: async () => {},
    read: async () => ({
      entries: [{ id: '1-0', at: T, level: 'info', job: 7, class: 'zip', entry: '{"info":"x"}' }],
      cursor: null,
    }),
  },
  deployments: {
    list: async () => ({ deployments: [{ ...deployed, id: 'jobs.example', classes: 3, deploys: [deployed] }] }),
    compare: async (deployment = '') => ({
      deployment,
      ...deployed,
      isWhole: true,
      errors: [],
      more: false,
      before: { version: null, from: T, to: T },
      after: { version: '88f62d2b', from: T, to: T },
      classes: [{ queue: 'core', class: 'zip', before: null, after: { counts: zeroes, took: null } }],
    }),
  },
  workers: {
    list: async () => ({
      workers: [
        {
          queue: 'core',
          class: 'zip',
          push: { url: 'https://w.example.com/?token=hush', secret: 'whsec_hush' },
          seen: T,
          servedBy: [{ id: 'abc', ...deployed }],
        },
      ],
    }),
    register: async (_queue, _class, definition) => definition,
    update: async () => ({ pull: true, timeout: 60_000 }),
    unregister: async () => {},
  },
  queues: {
    list: async () => ({ queues: [queue] }),
    get: async () => ({
      ...queue,
      open: [{ id: 'abcdef123', kind: 'lane', since: T, until: T }],
      runs: [{ job: 7, class: 'zip', startedAt: T, leaseUntil: T, process: null, lane: 'abcdef' }],
      claims: [{ id: 'w', names: ['zip'], until: T }],
      next: [{ job: 8, class: 'zip', priority: 0, since: T, group: null, pull: false }],
    }),
    update: async () => queue,
  },
  limits: {
    list: async () => ({ limits: [limitShown] }),
    get: async () => limitShown,
    usage: async (_, { holders, waiting }) => ({
      limit: roomShown,
      jobs: 1,
      holders: holders ? [holderShown] : [],
      waiting: waiting ? [{ ...at, priority: 0, since: T }] : [],
    }),
    set: async () => ({ ...limitShown, preview: { wouldStart: 1, first: [{ ...at, priority: 0, since: T }] } }),
    remove: async () => {},
    withGroups: async () => ({ limits: [], groups: [groupShown] }),
  },
  constraints: {
    list: async () => ({ constraints: [constraintShown] }),
    get: async () => constraintShown,
    set: async () => constraintShown,
    remove: async () => {},
  },
  schedules: {
    list: async () => ({ schedules: [scheduleShown], cursor: null }),
    get: async () => scheduleShown,
    set: async () => scheduleShown,
    backfill: async () => ({ jobs: [{ id: 8, scheduledFor: T }], next: null }),
    update: async () => scheduleShown,
    end: async () => {},
    pause: async () => scheduleShown,
    resume: async () => scheduleShown,
  },
  flows: {
    graph: async () => ({ graph: graphShown, hash: 'abc' }),
    graphHistory: async () => ({
      versions: [{ hash: 'abc', at: T, by: 'key:3', back: false, nodes: 1, edges: 1, graph: graphShown }],
    }),
    list: async () => ({ flows: [flowShown], cursor: '7' }),
    views: async () => ({ flows: [flowViewShown], cursor: '7' }),
    get: async () => flowViewShown,
    setGraph: async (_job, _graph, { preview }) => ({ ...graphChanged, applied: !preview }),
    undoGraph: async () => graphChanged,
    record: async () => {},
    recorded: async () => ({
      keep: 7_200_000,
      events: [
        {
          id: '1-0',
          at: T,
          more: 0,
          moves: [{ node: 'a', job: 8, was: 'running', is: 'completed', run: null }],
          counts: [{ node: 'a', dir: 'in', port: 'in', was: 2, is: 0 }],
        },
      ],
      cursor: '1-0',
    }),
    wires: async () => ({ wires: [wireShown] }),
    inject: async () => ({ size: 1 }),
    drain: async () => ({ values: [{ data: '[1.0]' }] }),
    tryWire: async () => ({ runs: [{ in: '[1.0]', out: { y: ['2.0'] }, note: 'slow' }] }),
    moveWire: async () => ({ moved: 2 }),
  },
  graphs: {
    get: async () => graphShown,
    list: async () => ({ graphs: [{ name: 'nightly' }], cursor: null }),
    set: async () => {},
    remove: async () => {},
  },
  groups: {
    list: async () => ({ groups: [groupShown] }),
    get: async () => groupShown,
    set: async () => groupShown,
  },
  flags: {
    get: async () => false,
    set: async () => {},
  },
  stats: {
    totals: async () => ({
      queues: [],
      processed: 3,
      failed: 0,
      waits: {},
      today: { core: { runs: 3 } },
      total: { core: { runs: 3 } },
    }),
    glance: () => {
      throw new Error('no route asks for it')
    },
    classes: async () => ({
      day: '2027-01-15',
      classes: [
        {
          queue: 'core',
          class: 'zip',
          counts: { made: 2, runs: 1, errors: 0, completed: 1, failed: 0, terminated: 0, lost: 0, skipped: 0 },
          waited: { mean: 8, p50: 10, p95: 10, buckets: [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] },
          took: null,
        },
      ],
      more: false,
    }),
    series: async () => ({
      step: 'hour',
      points: [
        {
          at: T,
          longestWait: 4,
          made: 1,
          runs: 1,
          errors: 0,
          completed: 1,
          failed: 0,
          terminated: 0,
          lost: 0,
          skipped: 0,
          ready: 2,
          running: 1,
          limited: 0,
          oldestReady: T,
        },
      ],
      more: false,
    }),
  },
  doctor: {
    examine: async () => ({ faults: [faultShown], jobs: 50, cursor: '510' }),
    repair: async () => ({ repaired: [faultShown], left: [], jobs: 50, cursor: null }),
  },
  runs: {
    claim: async () => [snapshot],
    commit: async () => ({ status: 'queued', snapshot }),
    heartbeat: async () => ({ leaseUntil: T }),
    release: async () => ({ status: 'queued' }),
    values: async () => ({ values: [{ data: '1' }], more: 0 }),
    children: async () => ({ children: { a: { id: 8, class: 'map', status: 'completed' } }, cursor: '17' }),
    steps: async () => ({ steps: { charge: '1' }, cursor: '17' }),
  },
  keys: {
    list: async () => ({ keys: [{ id: 'k1', name: 'ci', scopes: ['read'], createdAt: T }] }),
    add: async () => ({ id: 'k1', key: 'sk_new' }),
    rotate: async () => ({ id: 'k2', key: 'sk_newer', until: T }),
    remove: async () => {},
    isActive: async () => true,
    authenticate: async () => undefined,
  },
  history: {
    isOn: true,
    begin: async () => {},
    committed: async () => {},
    drain: async () => {},
    forget: async () => {},
    erase: async () => false,
    problemOf: () => undefined,
    list: async () => ({ jobs: [historyJob], searchedTo: T, cursor: `${T}.7` }),
    get: async () => ({ ends: [historyJob], runs: [historyRun] }),
    sql: async () => ({ rows: [{ class: 'zip', n: 7 }], more: false }),
    status: async () => ({ on: true, waiting: 120, full: false, storedAt: T, error: null, keptDays: 90 }),
  },
  audit: {
    write: async () => {},
    read: async () => ({
      entries: [{ id: '1-0', at: T, by: 'key:k1', name: 'ann', verb: 'keys.add', method: 'POST', path: '/v1/keys' }],
      cursor: null,
    }),
  },
  processes: {
    list: async () => ({
      processes: [
        { id: 'host:7', kind: 'pull', queues: ['core'], startedAt: T, seenAt: T, live: true, signal: null, runs: [] },
      ],
      others: [],
      more: false,
    }),
    signal: async () => {},
  },
  tenants: {
    list: async () => ({ tenants: [{ name: 'acme', createdAt: T }] }),
    set: async () => {},
    remove: async () => {},
    get: async (name) => ({ name, createdAt: 0 }),
    erase: async () => ({ keys: 0, cursor: null }),
  },
  alerts: {
    states: async () => new Map(),
    open: async (_: string, state: object) => state,
    save: async () => {},
    list: async () => ({
      alerts: [{ alert: 'slow mail', isOpen: true, rule: 'slow', text: 'slow', since: T, link: 'https://a', told: T }],
    }),
    acknowledge: async () => {},
    mute: async () => {},
    unmute: async () => {},
  },
  views: {
    list: async () => ({ views: [{ name: 'Night', query: 'status=failed', by: 'ann', at: T }] }),
    set: async () => {},
    remove: async () => {},
  },
  breakers: {
    list: async () => ({ breakers: [{ host: 'a.example', of: 'callbacks' as const, failures: 5, until: T }] }),
    reset: async () => {},
  },
  streamTokens: {
    create: async () => ({ token: 'a.1.b', expiresAt: T }),
    authenticate: async () => undefined,
  },
  sessions: {
    open: async () => 'a',
    peek: async () => undefined,
    redeem: async () => undefined,
    get: async () => undefined,
    end: async () => {},
  },
}

export type Recorded = { verb: string; args: unknown[] }

export const scopesOf: Record<string, Scope[]> = {
  admin: ['admin'],
  read: ['read'],
  write: ['write'],
  work: ['work'],
  'read-write': ['read', 'write'],
}

export type Answers = {
  [Noun in keyof Engine]?: Engine[Noun] extends (...args: never[]) => unknown ? Engine[Noun] : Partial<Engine[Noun]>
}

/** The code around the routes makes these calls, so they are not recorded. */
const ofTheDoor = ['keys.authenticate', 'keys.isActive', 'audit.write']

export const fakeEngine = (given: Answers = {}) => {
  const calls: Recorded[] = []
  type Verb = (...args: unknown[]) => unknown

  const recorded = (verb: string, answer: Verb): Verb =>
    ofTheDoor.includes(verb)
      ? answer
      : (...args) => {
          calls.push({ verb, args })
          return answer(...args)
        }

  const known = async (key: string) => (scopesOf[key] ? { id: key, name: key, scopes: scopesOf[key] } : undefined)
  const usual = { ...answers, keys: { ...answers.keys, authenticate: known } }
  const nouns = Object.entries(usual).map(([noun, verbs]) => {
    const own = given[noun as keyof Answers]
    if (typeof verbs === 'function') return [noun, recorded(noun, (own ?? verbs) as Verb)]
    const all = Object.entries({ ...verbs, ...own } as Record<string, Verb>)
    return [noun, Object.fromEntries(all.map(([verb, answer]) => [verb, recorded(`${noun}.${verb}`, answer)]))]
  })
  return { engine: Object.fromEntries(nouns) as Engine, calls }
}

export const strictVerbs: Answers = {
  jobs: {
    enqueue: async (jobs) => {
      const stranger = jobs.findIndex((job) => job.class !== 'zip')
      if (stranger >= 0) throw new SidejobError('REFUSED', `no worker is registered for ${jobs[stranger]!.class}`)
      return answers.jobs.enqueue(jobs)
    },
    get: async (job) => (job === '7' ? view : missing(job)),
    run: async (job, options) => (job === '7' ? answers.jobs.run(job, options) : missing(job)),
  },
  ports: {
    write: async (job, dir, port, values) => {
      if (job !== '7') return missing(job)
      if (port !== 'left') throw new SidejobError('REFUSED', `job 7 has no ${dir}put port "${port}"`)
      return answers.ports.write(job, dir, port, values)
    },
  },
  runs: {
    commit: async (token) => {
      throw new SidejobError('LOST', `the run ${token} is not leased to you any more`)
    },
  },
}

const missing = (job: string): never => {
  throw new SidejobError('NOT_FOUND', `job ${job} does not exist`)
}
