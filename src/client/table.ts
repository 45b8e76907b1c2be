// Method and path of each verb of the client.

import type * as z from 'zod'
import type { downloader } from '../facades/downloader/index.ts'
import type { Routes } from '../http/routes.ts'

// Leaves out routes that only QStash may call.
export type Served = Omit<Routes, 'system'> & {
  system: Omit<Routes['system'], 'dispatch' | 'tick'>
  downloader: typeof downloader
}

type Address<R> = R extends { method: infer M extends string; path: infer P extends string } ? `${M} ${P}` : never

/** Method and path of each verb. The compiler holds this against the table of routes: a missing or wrong line is an error. */
export const table = {
  jobs: {
    enqueue: 'POST /v1/jobs',
    list: 'GET /v1/jobs',
    get: 'GET /v1/jobs/:job',
    patch: 'PATCH /v1/jobs/:job',
    remove: 'DELETE /v1/jobs/:job',
    run: 'POST /v1/jobs/:job/run',
    terminate: 'POST /v1/jobs/:job/terminate',
    retry: 'POST /v1/jobs/:job/retry',
    copy: 'POST /v1/jobs/:job/copy',
    cancel: 'POST /v1/jobs/:job/cancel',
    state: 'GET /v1/jobs/:job/state',
    setState: 'PATCH /v1/jobs/:job/state',
    result: 'GET /v1/jobs/:job/result',
    takeResult: 'POST /v1/jobs/:job/result/take',
    why: 'GET /v1/jobs/:job/why',
    runs: 'GET /v1/jobs/:job/runs',
    pastRun: 'GET /v1/jobs/:job/runs/:n',
    steps: 'GET /v1/jobs/:job/steps',
    log: 'GET /v1/jobs/:job/log',
    tree: 'GET /v1/jobs/:job/tree',
    adopt: 'POST /v1/jobs/:job/adopt',
    disown: 'POST /v1/jobs/:job/disown',
    addAlias: 'PUT /v1/jobs/:job/aliases/:alias',
    removeAlias: 'DELETE /v1/jobs/:job/aliases/:alias',
    lock: 'POST /v1/jobs/:job/lock',
    refresh: 'POST /v1/jobs/:job/lock/refresh',
    unlock: 'POST /v1/jobs/:job/unlock',
    ports: 'PUT /v1/jobs/:job/ports',
  },
  ports: {
    look: 'GET /v1/jobs/:job/:dir/:port',
    write: 'POST /v1/jobs/:job/:dir/:port',
    read: 'POST /v1/jobs/:job/:dir/:port/read',
    setDefault: 'PUT /v1/jobs/:job/:dir/:port/default',
    clearDefault: 'DELETE /v1/jobs/:job/:dir/:port/default',
    setChannels: 'PUT /v1/jobs/:job/:dir/:port/channels',
    connect: 'POST /v1/jobs/:job/:dir/:port/connect',
  },
  channels: {
    publish: 'POST /v1/publish',
    list: 'GET /v1/channels',
    subscribe: 'GET /v1/subscribe/:channel',
    listen: 'GET /v1/subscribe',
    token: 'POST /v1/subscribe/:channel',
  },
  doctor: { examine: 'GET /v1/doctor', repair: 'POST /v1/doctor/repair' },
  links: { make: 'POST /v1/jobs/:job/links/:port', answer: 'POST /v1/answers/:job/:port' },
  log: { write: 'POST /v1/log', read: 'GET /v1/log' },
  workers: {
    list: 'GET /v1/workers',
    register: 'PUT /v1/workers/:queue/:class',
    patch: 'PATCH /v1/workers/:queue/:class',
    unregister: 'DELETE /v1/workers/:queue/:class',
  },
  files: {
    get: 'GET /files/:file',
    getById: 'GET /files/:folder/:file',
    list: 'GET /v1/files',
    show: 'GET /v1/files/:file',
    remove: 'DELETE /v1/files/:file',
  },
  downloader: {
    download: 'POST /downloader/download',
    retry: 'POST /downloader/retry/:file',
    job: 'GET /downloader/jobs/:file',
    cancel: 'DELETE /downloader/jobs/:file',
    again: 'POST /downloader/jobs/:file/download',
    stats: 'GET /downloader/stats/:component',
    aggregations: 'GET /downloader/dashboard/aggregations',
    heartbeat: 'GET /downloader/hb',
    drain: 'PUT /downloader/hb',
  },
  bulk: { start: 'POST /v1/bulk' },
  errors: { list: 'GET /v1/errors', patch: 'PATCH /v1/errors/:kind' },
  find: { find: 'GET /v1/find' },
  callbacks: {
    list: 'GET /v1/callbacks',
    counts: 'GET /v1/callbacks/counts',
    tries: 'GET /v1/callbacks/:job/tries',
    secret: 'GET /v1/webhooks/secret',
    resend: 'POST /v1/callbacks/:job/resend',
  },
  queues: {
    list: 'GET /v1/queues',
    get: 'GET /v1/queues/:queue',
    patch: 'PATCH /v1/queues/:queue',
    claim: 'POST /v1/queues/:queue/claim',
  },
  processes: { list: 'GET /v1/processes', signal: 'POST /v1/processes/:process/signal' },
  limits: {
    list: 'GET /v1/limits',
    get: 'GET /v1/limits/:key',
    holders: 'GET /v1/limits/:key/holders',
    waiting: 'GET /v1/limits/:key/waiting',
    set: 'PUT /v1/limits/:key',
    remove: 'DELETE /v1/limits/:key',
  },
  constraints: {
    list: 'GET /v1/constraints',
    get: 'GET /v1/constraints/:key',
    set: 'PUT /v1/constraints/:key',
    remove: 'DELETE /v1/constraints/:key',
  },
  schedules: {
    list: 'GET /v1/schedules',
    add: 'POST /v1/schedules',
    set: 'PUT /v1/schedules/:alias',
    get: 'GET /v1/schedules/:job',
    patch: 'PATCH /v1/schedules/:job',
    remove: 'DELETE /v1/schedules/:job',
    pause: 'POST /v1/schedules/:job/pause',
    resume: 'POST /v1/schedules/:job/resume',
    backfill: 'POST /v1/schedules/:job/backfill',
    run: 'POST /v1/schedules/:job/run',
  },
  flows: {
    list: 'GET /v1/flows',
    get: 'GET /v1/flows/:job',
    history: 'GET /v1/flows/:job/history',
    graph: 'GET /v1/flows/:job/graph',
    setGraph: 'PUT /v1/flows/:job/graph',
    postGraph: 'POST /v1/flows/:job/graph',
    undo: 'POST /v1/flows/:job/undo',
    events: 'GET /v1/flows/:job/record',
    record: 'PUT /v1/flows/:job/record',
    forget: 'DELETE /v1/flows/:job/record',
    wires: 'GET /v1/flows/:job/wires',
    inject: 'POST /v1/flows/:job/wires/:wire/inject',
    drain: 'POST /v1/flows/:job/wires/:wire/drain',
    move: 'POST /v1/flows/:job/wires/:wire/move',
  },
  graphs: {
    list: 'GET /v1/graphs',
    get: 'GET /v1/graphs/:name',
    set: 'PUT /v1/graphs/:name',
    remove: 'DELETE /v1/graphs/:name',
  },
  groups: { list: 'GET /v1/groups', get: 'GET /v1/groups/:key', patch: 'PATCH /v1/groups/:key' },
  runs: {
    commit: 'POST /v1/runs/:token/commit',
    heartbeat: 'POST /v1/runs/:token/heartbeat',
    release: 'POST /v1/runs/:token/release',
    page: 'GET /v1/runs/:token/in/:port',
    children: 'GET /v1/runs/:token/children',
    steps: 'GET /v1/runs/:token/steps',
  },
  stats: {
    show: 'GET /v1/stats',
    series: 'GET /v1/stats/series',
    classes: 'GET /v1/stats/classes',
    metrics: 'GET /metrics',
  },
  me: { show: 'GET /v1/me' },
  keys: {
    list: 'GET /v1/keys',
    add: 'POST /v1/keys',
    rotate: 'POST /v1/keys/:key/rotate',
    remove: 'DELETE /v1/keys/:key',
  },
  audit: { read: 'GET /v1/audit' },
  tenants: {
    list: 'GET /v1/tenants',
    add: 'PUT /v1/tenants/:tenant',
    remove: 'DELETE /v1/tenants/:tenant',
  },
  views: {
    list: 'GET /v1/views',
    set: 'PUT /v1/views/:name',
    remove: 'DELETE /v1/views/:name',
  },
  deployments: { list: 'GET /v1/deployments' },
  breakers: { list: 'GET /v1/breakers', reset: 'DELETE /v1/breakers/:key' },
  system: {
    health: 'GET /health',
    llms: 'GET /llms.txt',
    openapi: 'GET /openapi.json',
    workerOpenapi: 'GET /worker.openapi.json',
    docs: 'GET /docs',
    errors: 'GET /docs/errors',
    advance: 'POST /v1/test/clock',
  },
} as const satisfies { [R in keyof Served]: { [V in keyof Served[R]]: Address<Served[R][V]> } }

type HasSchema<R, Name extends 'query' | 'body'> = R extends { [N in Name]?: infer S }
  ? [Extract<S, z.ZodType>] extends [never]
    ? false
    : true
  : false

type OnlyQuery<R> =
  Address<R> extends `${'GET' | 'DELETE'} ${string}`
    ? never
    : HasSchema<R, 'body'> extends true
      ? never
      : HasSchema<R, 'query'> extends true
        ? Address<R>
        : never

/** The addresses of all routes whose input is their query, although their method can have a body. */
type OnlyQueries = {
  [R in keyof Served]: { [V in keyof Served[R]]: OnlyQuery<Served[R][V]> }[keyof Served[R]]
}[keyof Served]

/** The compiler holds this, too, against the table of routes. */
export const onlyQueries: Record<OnlyQueries, true> = {
  'POST /v1/doctor/repair': true,
  'POST /v1/flows/:job/undo': true,
}

/** Returns whether the input of a call is its query instead of its body. */
export const isInQuery = (address: string): boolean =>
  /^(GET|DELETE) /.test(address) || Object.hasOwn(onlyQueries, address)
