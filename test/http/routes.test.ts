import { beforeEach, describe, expect, test } from 'vitest'
import { parseJson } from '../../src/core/codec/json.ts'
import { parseMsgpack } from '../../src/core/codec/msgpack-reader.ts'
import { writeMsgpack } from '../../src/core/codec/msgpack-writer.ts'
import { closedIn } from '../../src/core/schemas.ts'
import type { Scope } from '../../src/engine/engine.ts'
import type { Engine } from '../../src/engine/index.ts'
import { downloader } from '../../src/facades/downloader/index.ts'
import type { Route } from '../../src/http/route.ts'
import { listed, list as ours } from '../../src/http/routes.ts'
import type { BadRequest } from './bad-input.ts'
import { type Answers, type Recorded, scopesOf, snapshot, zeroes } from './fake-engine.ts'
import { FILE, NOW, setUp } from './kit.ts'

const list = [...ours, ...listed('downloader', downloader as unknown as Record<string, Route>)]

const at = '2027-01-15T08:00:00.000Z'
const ask = (method: string, path: string, body?: string): BadRequest => ({
  method,
  path,
  body,
  headers: { 'content-type': 'application/json' },
})

type Case = [route: string, request: BadRequest, status: number, answer: unknown, ...reached: unknown[]]

const job = { id: 7, args: { big: 12345678901234567000 }, createdAt: at, endedAt: null, children: { a: { id: 8 } } }

const cases: Case[] = [
  [
    'jobs.enqueue',
    ask('POST', '/v1/jobs', '{"class":"zip","args":[1.0],"wait":"5m"}'),
    201,
    { id: 7, status: 'queued' },
    'jobs.enqueue',
    [{ queue: 'default', class: 'zip', args: '[1.0]', wait: 300_000 }],
    {},
  ],
  [
    'jobs.list',
    ask('GET', '/v1/jobs?status=failed&limit=5&parent=7&args.order.id=4711&args.paid=true'),
    200,
    { jobs: [job], cursor: null },
    'jobs.list',
    { status: ['failed'], limit: 5, parent: '7', args: { 'order.id': '4711', paid: 'true' } },
  ],
  ['jobs.get', ask('GET', '/v1/jobs/nightly?details=true'), 200, job, 'jobs.get', 'nightly', { details: true }],
  [
    'jobs.patch',
    ask('PATCH', '/v1/jobs/7', '{"runAt":"2027-01-15T08:00:00Z","repeat":null}'),
    200,
    job,
    'jobs.update',
    '7',
    { runAt: NOW, repeat: null },
    {},
  ],
  [
    'jobs.remove',
    ask('DELETE', '/v1/jobs/7?force'),
    202,
    { status: 'ending' },
    'jobs.remove',
    '7',
    { force: true },
    {},
  ],
  [
    'jobs.run',
    ask('POST', '/v1/jobs/7/run', '{"force":true,"wait":1.5}'),
    200,
    { id: 7, status: 'queued', ran: false },
    'jobs.run',
    '7',
    { force: true, wait: 1_500 },
    {},
  ],
  [
    'jobs.terminate',
    ask('POST', '/v1/jobs/7/terminate', '{"recursive":true}'),
    200,
    { id: 7, status: 'queued' },
    'jobs.terminate',
    '7',
    { recursive: true },
    {},
  ],
  ['jobs.retry', ask('POST', '/v1/jobs/7/retry'), 200, { id: 7, status: 'queued' }, 'jobs.retry', '7', {}],
  ['jobs.cancel', ask('POST', '/v1/jobs/7/cancel', '{}'), 200, { id: 7, status: 'queued' }, 'jobs.cancel', '7', {}],
  ['jobs.state', ask('GET', '/v1/jobs/7/state'), 200, { n: 1 }, 'jobs.state', '7'],
  [
    'jobs.setState',
    ask('PATCH', '/v1/jobs/7/state', '{"set":{"n":[1]},"unset":["m"]}'),
    200,
    { n: [1] },
    'jobs.setState',
    '7',
    { set: { n: '[1]' }, unset: ['m'] },
    {},
  ],
  [
    'jobs.result',
    ask('GET', '/v1/jobs/7/result?wait=5s'),
    200,
    { type: 'success', finishedAt: at, result: [1] },
    'jobs.result',
    '7',
    { wait: 5_000 },
    { signal: expect.any(AbortSignal) },
  ],
  [
    'jobs.takeResult',
    ask('POST', '/v1/jobs/7/result/take', '{"wait":"5s"}'),
    200,
    { type: 'success', finishedAt: at, result: [1] },
    'jobs.result',
    '7',
    { wait: 5_000, take: true },
    { signal: expect.any(AbortSignal) },
  ],
  [
    'jobs.why',
    ask('GET', '/v1/jobs/7/why?deep=3'),
    200,
    {
      running: false,
      reasons: [{ code: 'LIMITED', until: at, since: at, data: { ahead: 2 } }],
      chain: [{ job: 8, limit: { key: 'api', fullSince: at, holders: [{ job: 7, leaseUntil: at }] } }],
    },
    'jobs.why',
    '7',
    { deep: 3 },
  ],
  [
    'jobs.steps',
    ask('GET', '/v1/jobs/7/steps?cursor=5'),
    200,
    { steps: [{ name: 'charge', at, took: 1.5, run: 2, bytes: 12 }], cursor: '9' },
    'jobs.steps',
    '7',
    '5',
  ],
  [
    'jobs.runs',
    ask('GET', '/v1/jobs/7/runs?details=true'),
    200,
    { runs: [{ startedAt: at, outcome: 'completed', attempt: 1 }] },
    'jobs.runs',
    '7',
    { details: true },
  ],
  [
    'jobs.pastRun',
    ask('GET', '/v1/jobs/7/runs/3'),
    200,
    {
      startedAt: at,
      n: 3,
      readyAt: at,
      commits: 2,
      reads: [{ job: 7, dir: 'in', port: 'left', values: 4 }],
      made: [{ id: 8, name: 'a' }],
      log: { entries: [{ at, entry: 'x' }] },
    },
    'jobs.pastRun',
    '7',
    3,
  ],
  [
    'jobs.log',
    ask('GET', '/v1/jobs/7/log?level=info&cursor=1800000000000-3'),
    200,
    { entries: [{ id: '1-0', at, job: 7, entry: { info: 'x' } }], cursor: null },
    'log.read',
    { job: '7', level: 'info', cursor: '1800000000000-3' },
  ],
  [
    'jobs.tree',
    ask('GET', '/v1/jobs/7/tree'),
    200,
    { id: 7, class: 'zip', status: 'queued', children: {} },
    'jobs.tree',
    '7',
    undefined,
  ],
  [
    'jobs.adopt',
    ask('POST', '/v1/jobs/7/adopt', '{"job":8,"name":"b"}'),
    200,
    {},
    'jobs.adopt',
    '7',
    { job: '8', name: 'b' },
    {},
  ],
  ['jobs.disown', ask('POST', '/v1/jobs/7/disown', '{"name":"b"}'), 200, {}, 'jobs.disown', '7', { name: 'b' }, {}],
  [
    'jobs.addAlias',
    ask('PUT', '/v1/jobs/7/aliases/nightly%20one'),
    200,
    {},
    'jobs.setAlias',
    '7',
    'nightly one',
    'add',
    {},
  ],
  [
    'jobs.removeAlias',
    ask('DELETE', '/v1/jobs/7/aliases/nightly'),
    200,
    {},
    'jobs.setAlias',
    '7',
    'nightly',
    'remove',
    {},
  ],
  [
    'jobs.lock',
    ask('POST', '/v1/jobs/7/lock', '{"ttl":60}'),
    200,
    { token: 'l-1' },
    'jobs.lock',
    '7',
    { ttl: 60_000 },
    {},
  ],
  [
    'jobs.refresh',
    ask('POST', '/v1/jobs/7/lock/refresh', '{"token":"l-1","ttl":"1m"}'),
    200,
    {},
    'jobs.refreshLock',
    '7',
    { token: 'l-1', ttl: 60_000 },
    {},
  ],
  [
    'jobs.unlock',
    ask('POST', '/v1/jobs/7/unlock', '{"token":"l-1"}'),
    200,
    {},
    'jobs.unlock',
    '7',
    { token: 'l-1' },
    {},
  ],
  [
    'jobs.ports',
    ask('PUT', '/v1/jobs/7/ports', '{"in":{"left":{"default":[],"channels":["/a"]}}}'),
    200,
    job,
    'ports.define',
    '7',
    { in: { left: { default: '[]', channels: ['/a'] } } },
    {},
  ],
  [
    'bulk.start',
    ask('POST', '/v1/bulk', '{"filter":{"queue":"core","status":"failed"},"action":"retry"}'),
    201,
    { id: 9, status: 'queued' },
    'bulk.start',
    { filter: { queue: 'core', status: 'failed' }, action: 'retry' },
    {},
  ],
  [
    'callbacks.list',
    ask('GET', '/v1/callbacks?state=FAILED&limit=5'),
    200,
    { callbacks: [{ of: 7, job: 9, state: 'FAILED', createdAt: at, nextAt: null }], cursor: null },
    'callbacks.list',
    { state: 'FAILED', limit: 5 },
  ],
  [
    'callbacks.counts',
    ask('GET', '/v1/callbacks/counts'),
    200,
    { counts: { PENDING: 1, IN_PROGRESS: 2, DELIVERED: 3, FAILED: 4 } },
    'callbacks.counts',
  ],
  [
    'callbacks.tries',
    ask('GET', '/v1/callbacks/7/tries'),
    200,
    { tries: [{ at, took: 0.04, outcome: 'failed', attempt: 1, again: true, answer: 'a.com: answered 500' }] },
    'callbacks.tries',
    '7',
  ],
  [
    'callbacks.secret',
    ask('GET', '/v1/webhooks/secret?url=https%3A%2F%2Fa.com%2Fhook'),
    200,
    { secrets: ['whsec_c2VjcmV0'] },
    'callbacks.secrets',
    'https://a.com/hook',
  ],
  [
    'callbacks.resend',
    ask('POST', '/v1/callbacks/7/resend'),
    200,
    { id: 9, status: 'queued' },
    'callbacks.resend',
    '7',
    {},
  ],
  [
    'ports.look',
    ask('GET', '/v1/jobs/7/out/pair?limit=2'),
    200,
    { size: 1, taken: 4, channels: [], values: [{ data: 1, context: {} }] },
    'ports.get',
    '7',
    'out',
    'pair',
    2,
  ],
  [
    'ports.write',
    ask('POST', '/v1/jobs/7/in/left', '{"value":null,"notify":false}'),
    200,
    { size: 1 },
    'ports.write',
    '7',
    'in',
    'left',
    ['null'],
    { notify: false },
    {},
  ],
  [
    'ports.read',
    ask('POST', '/v1/jobs/7/out/pair/read', '{"max":5}'),
    200,
    { values: [{ data: 'x', default: true }] },
    'ports.take',
    '7',
    'out',
    'pair',
    { max: 5 },
    {},
  ],
  [
    'ports.setDefault',
    ask('PUT', '/v1/jobs/7/in/left/default', '{"value":{},"schema":"5f0c2f1f0a8c61d7"}'),
    200,
    {},
    'ports.setDefault',
    '7',
    'in',
    'left',
    '{}',
    {},
    '5f0c2f1f0a8c61d7',
  ],
  [
    'ports.clearDefault',
    ask('DELETE', '/v1/jobs/7/in/left/default'),
    200,
    {},
    'ports.setDefault',
    '7',
    'in',
    'left',
    undefined,
    {},
  ],
  [
    'ports.setChannels',
    ask('PUT', '/v1/jobs/7/in/left/channels', '{"channels":["/a","b"]}'),
    200,
    {},
    'ports.setChannels',
    '7',
    'in',
    'left',
    ['/a', 'b'],
    {},
  ],
  [
    'ports.connect',
    ask('POST', '/v1/jobs/7/out/pair/connect', '{"to":[{"job":8,"in":"left"},{"job":"nightly","out":"x"}]}'),
    200,
    { moved: 2 },
    'ports.connect',
    '7',
    'out',
    'pair',
    [
      { job: '8', in: 'left' },
      { job: 'nightly', out: 'x' },
    ],
    {},
  ],
  [
    'channels.publish',
    ask('POST', '/v1/publish', '{"channel":"/a/b","message":"hi","keep":1}'),
    200,
    { subscribers: 1 },
    'channels.publish',
    '/a/b',
    '"hi"',
    { keep: 1 },
    {},
  ],
  [
    'channels.list',
    ask('GET', '/v1/channels?publishers=true'),
    200,
    {
      channels: [
        {
          name: '/a',
          subscribers: [{ job: 7, port: 'left' }],
          publishers: [{ queue: 'core', class: 'zip', port: 'pair' }],
        },
      ],
    },
    'channels.list',
    { publishers: true },
  ],
  [
    'channels.subscribe',
    ask('GET', '/v1/subscribe/a/b'),
    200,
    'data: {"channel":"/a/b","message":',
    'channels.subscribe',
    ['/a/b'],
    expect.any(AbortSignal),
  ],
  [
    'channels.listen',
    ask('GET', '/v1/subscribe?channel=/a&channel=b&channel=b'),
    200,
    'data: {"channel":"/a"',
    'channels.subscribe',
    ['/a', '/b'],
    expect.anything(),
  ],
  [
    'channels.token',
    ask('POST', '/v1/subscribe/a/b'),
    200,
    { token: 'a.1.b', expiresAt: at },
    'streamTokens.create',
    'admin',
    '/v1/subscribe/a/b',
  ],
  ['log.write', ask('POST', '/v1/log', '{"entry":{"info":"x"}}'), 200, {}, 'log.write', '{"info":"x"}', {}],
  [
    'log.read',
    ask('GET', '/v1/log?job=7&class=zip&text=stripe&since=1000&cursor=1-0'),
    200,
    { entries: [{ at }] },
    'log.read',
    { job: '7', class: 'zip', text: 'stripe', since: 1_000, cursor: '1-0' },
  ],
  [
    'workers.list',
    ask('GET', '/v1/workers'),
    200,
    {
      workers: [
        {
          queue: 'core',
          class: 'zip',
          push: { url: 'https://w.example.com/?[redacted]' },
          seen: at,
          servedBy: [{ id: 'abc', at, version: '88f62d2b' }],
        },
      ],
    },
    'workers.list',
  ],
  [
    'workers.register',
    ask(
      'PUT',
      '/v1/workers/core/a%2Fb',
      '{"in":{"*":{"default":1,"schema":{"type":"number"}}},"push":{"url":"https://w.example.com/","secret":"hush"},"timeout":"1m","retain":0}',
    ),
    200,
    {
      in: { '*': { default: 1, schema: { type: 'number' } } },
      push: { url: 'https://w.example.com/' },
      timeout: 60,
      retain: 0,
    },
    'workers.register',
    'core',
    'a/b',
    {
      in: { '*': { default: '1', schema: '{"type":"number"}' } },
      push: { url: 'https://w.example.com/', secret: 'hush' },
      timeout: 60_000,
      retain: 0,
    },
    {},
  ],
  [
    'workers.patch',
    ask(
      'PATCH',
      '/v1/workers/core/zip?preview=true',
      '{"timeout":"1m","push":{"secret":null},"in":{"left":{"schema":{"type":"string"}},"right":null}}',
    ),
    200,
    { pull: true, timeout: 60 },
    'workers.update',
    'core',
    'zip',
    { timeout: 60_000, push: { secret: null }, in: { left: { schema: '{"type":"string"}' }, right: null } },
    { preview: true },
  ],
  ['workers.unregister', ask('DELETE', '/v1/workers/core/zip'), 200, {}, 'workers.unregister', 'core', 'zip'],
  [
    'queues.list',
    ask('GET', '/v1/queues'),
    200,
    { queues: [{ name: 'core', counts: { queued: 1 }, oldestReady: at }] },
    'queues.list',
  ],
  [
    'errors.list',
    ask('GET', '/v1/errors?queue=core&since=2027-01-15T08:00:00Z'),
    200,
    { errors: [{ error: '0123456789abcdef', count: 2, firstAt: at }], looked: 2, cursor: null },
    'errors.list',
    { queue: 'core', since: NOW },
  ],
  [
    'errors.patch',
    ask('PATCH', '/v1/errors/0123456789abcdef', `{"muted":true,"until":"${at}"}`),
    200,
    { kind: '0123456789abcdef', muted: { by: 'admin', at, until: at }, was: null },
    'errors.mute',
    '0123456789abcdef',
    { muted: true, until: NOW, by: 'admin' },
  ],
  ['find.find', ask('GET', '/v1/find?q=nig'), 200, { jobs: [{ id: 7, alias: 'nightly' }] }, 'search', 'nig'],
  [
    'jobs.copy',
    ask('POST', '/v1/jobs/7/copy', '{"args":[1.0],"inputs":{"left":[1]}}'),
    201,
    { id: 8, status: 'queued' },
    'jobs.copy',
    '7',
    { args: '[1.0]', inputs: { left: ['1'] } },
    {},
  ],
  [
    'queues.get',
    ask('GET', '/v1/queues/core?limit=5'),
    200,
    { name: 'core', open: [{ since: at, until: at }], runs: [{ leaseUntil: at }], claims: [{}], next: [{ since: at }] },
    'queues.get',
    'core',
    { limit: 5 },
  ],
  [
    'queues.patch',
    ask('PATCH', '/v1/queues/core', '{"paused":true,"lanes":2}'),
    200,
    { name: 'core' },
    'queues.update',
    'core',
    { paused: true, lanes: 2 },
    {},
  ],
  [
    'queues.claim',
    ask('POST', '/v1/queues/core/claim', '{"names":["z*"],"max":2,"wait":20,"lease":60}'),
    200,
    {
      runs: [
        {
          run: { token: 't-1', leaseUntil: NOW },
          job: { args: [1], createdAt: NOW },
          state: { n: 3 },
          in: { left: { values: [{ data: 1, context: { job: 3 } }], default: { data: 'x' } } },
        },
      ],
    },
    'runs.claim',
    'core',
    { names: ['z*'], max: 2, wait: 20_000, lease: 60_000 },
    { signal: expect.any(AbortSignal), onSignal: expect.any(Function) },
  ],
  [
    'limits.list',
    ask('GET', '/v1/limits?details=true'),
    200,
    { limits: [{ key: 'api', rate: { limit: 5, period: 1 } }] },
    'limits.list',
    { details: true },
  ],
  ['limits.get', ask('GET', '/v1/limits/api'), 200, { key: 'api', waiting: 2 }, 'limits.get', 'api'],
  [
    'limits.holders',
    ask('GET', '/v1/limits/api/holders?limit=3'),
    200,
    { limit: { key: 'api', started: 4, nextRoom: at }, holders: [{ job: 7, startedAt: at }] },
    'limits.usage',
    'api',
    { holders: 3 },
  ],
  [
    'limits.waiting',
    ask('GET', '/v1/limits/api/waiting'),
    200,
    { limit: { key: 'api', fullSince: at }, waiting: [{ job: 7, group: 'g', since: at }] },
    'limits.usage',
    'api',
    { waiting: 50 },
  ],
  [
    'limits.set',
    ask('PUT', '/v1/limits/api?preview=true', '{"rate":{"limit":5,"period":"1s"},"concurrency":null}'),
    200,
    { key: 'api', preview: { wouldStart: 1, first: [{ job: 7, since: at }] } },
    'limits.set',
    'api',
    { rate: { limit: 5, period: 1000 }, concurrency: null },
    { preview: true },
  ],
  ['limits.remove', ask('DELETE', '/v1/limits/api'), 200, {}, 'limits.remove', 'api'],
  [
    'constraints.list',
    ask('GET', '/v1/constraints'),
    200,
    { constraints: [{ name: 'host', concurrency: 2 }] },
    'constraints.list',
  ],
  ['constraints.get', ask('GET', '/v1/constraints/host'), 200, { name: 'host' }, 'constraints.get', 'host'],
  [
    'constraints.set',
    ask('PUT', '/v1/constraints/host', '{"match":{"args":{"host":"a.com"}},"rate":{"limit":5,"period":1}}'),
    200,
    { name: 'host' },
    'constraints.set',
    'host',
    { match: { args: { host: 'a.com' } }, rate: { limit: 5, period: 1000 } },
  ],
  ['constraints.remove', ask('DELETE', '/v1/constraints/host'), 200, {}, 'constraints.remove', 'host'],
  ['groups.list', ask('GET', '/v1/groups'), 200, { groups: [{ id: 'g' }] }, 'groups.list'],
  ['groups.get', ask('GET', '/v1/groups/g'), 200, { id: 'g' }, 'groups.get', 'g'],
  [
    'groups.patch',
    ask('PATCH', '/v1/groups/g', '{"concurrency":2,"paused":true}'),
    200,
    { id: 'g' },
    'groups.set',
    'g',
    { concurrency: 2, paused: true },
    {},
  ],
  [
    'schedules.list',
    ask('GET', '/v1/schedules?limit=2'),
    200,
    { schedules: [{ job: 7 }] },
    'schedules.list',
    { limit: 2 },
  ],
  [
    'schedules.add',
    ask('POST', '/v1/schedules', '{"class":"zip","repeat":{"cron":"0 4 * * *"}}'),
    201,
    { id: 7 },
    'jobs.enqueue',
    [{ queue: 'default', class: 'zip', repeat: { cron: '0 4 * * *' } }],
    {},
  ],
  [
    'schedules.set',
    ask('PUT', '/v1/schedules/nightly', '{"class":"zip","repeat":{"cron":"0 4 * * *","missed":"skip"}}'),
    200,
    { job: 7 },
    'schedules.set',
    'nightly',
    { queue: 'default', class: 'zip', repeat: { cron: '0 4 * * *', missed: 'skip' } },
    {},
  ],
  [
    'schedules.backfill',
    ask('POST', '/v1/schedules/7/backfill', '{"from":1000,"to":2000}'),
    201,
    { jobs: [{ id: 8 }], next: null },
    'schedules.backfill',
    '7',
    { from: 1_000, to: 2_000 },
    {},
  ],
  [
    'schedules.get',
    ask('GET', '/v1/schedules/7?until=2027-01-01T00:00:00Z'),
    200,
    { repeat: { cron: '0 4 * * *' } },
    'schedules.get',
    '7',
    { until: Date.UTC(2027, 0) },
  ],
  [
    'schedules.patch',
    ask('PATCH', '/v1/schedules/7', '{"priority":1}'),
    200,
    { job: 7 },
    'schedules.update',
    '7',
    { priority: 1 },
    {},
  ],
  ['schedules.remove', ask('DELETE', '/v1/schedules/7'), 200, {}, 'schedules.end', '7', {}],
  ['schedules.pause', ask('POST', '/v1/schedules/7/pause'), 200, { job: 7 }, 'schedules.pause', '7', {}],
  ['schedules.resume', ask('POST', '/v1/schedules/7/resume'), 200, { job: 7 }, 'schedules.resume', '7', {}],
  ['schedules.run', ask('POST', '/v1/schedules/7/run'), 200, { id: 7 }, 'jobs.run', '7', {}, {}],
  [
    'flows.list',
    ask('GET', '/v1/flows?status=failed,running&limit=5&cursor=9'),
    200,
    { flows: [{ id: 7, name: 'catalog', running: 1, queued: 1, values: 12, changedBy: 'key:3' }], cursor: '7' },
    'flows.list',
    { status: ['failed', 'running'], limit: 5, cursor: '9' },
  ],
  [
    'flows.get',
    ask('GET', '/v1/flows/7'),
    200,
    { flow: { id: 7 }, hash: 'abc', undo: 2, nodes: [{ name: 'a', limit: 'stripe' }], wires: [{ id: 'x>a.in' }] },
    'flows.get',
    '7',
  ],
  [
    'flows.history',
    ask('GET', '/v1/flows/7/history'),
    200,
    { versions: [{ hash: 'abc', by: 'key:3', back: false, nodes: 1 }] },
    'flows.graphHistory',
    '7',
  ],
  [
    'flows.graph',
    ask('GET', '/v1/flows/7/graph'),
    200,
    { nodes: { a: { queue: 'default', class: 'zip', args: [1] } }, inports: { x: { node: 'a', inport: 'in' } } },
    'flows.graph',
    '7',
  ],
  [
    'flows.setGraph',
    ask('PUT', '/v1/flows/7/graph?preview=true', '{"nodes":{"a":{"class":"zip","args":[1.0]}}}'),
    200,
    { applied: false, start: ['a'], orphaned: [{ node: 'b', values: 2 }] },
    'flows.setGraph',
    '7',
    { nodes: { a: { queue: 'default', class: 'zip', args: '[1.0]' } }, edges: [], inports: {}, outports: {} },
    { preview: true },
    {},
  ],
  [
    'flows.postGraph',
    ask('POST', '/v1/flows/7/graph', '{}'),
    200,
    { applied: true },
    'flows.setGraph',
    '7',
    { nodes: {}, edges: [], inports: {}, outports: {} },
    {},
    {},
  ],
  [
    'flows.undo',
    ask('POST', '/v1/flows/7/undo?preview=true'),
    200,
    { applied: true },
    'flows.undoGraph',
    '7',
    { preview: true },
    {},
  ],
  [
    'flows.events',
    ask('GET', '/v1/flows/7/record?after=1-0&limit=5'),
    200,
    {
      keep: 7_200,
      events: [{ id: '1-0', moves: [{ node: 'a', is: 'completed' }], counts: [{ port: 'in', was: 2, is: 0 }] }],
      cursor: '1-0',
    },
    'flows.recorded',
    '7',
    { after: '1-0', limit: 5 },
  ],
  ['flows.record', ask('PUT', '/v1/flows/7/record', '{"keep":"2h"}'), 200, {}, 'flows.record', '7', 7_200_000, {}],
  ['flows.forget', ask('DELETE', '/v1/flows/7/record'), 200, {}, 'flows.record', '7', null, {}],
  [
    'flows.wires',
    ask('GET', '/v1/flows/7/wires'),
    200,
    { wires: [{ id: 'x>a.in', size: 2, oldest: { data: [1] }, rate: 3 }] },
    'flows.wires',
    '7',
  ],
  [
    'flows.inject',
    ask('POST', '/v1/flows/7/wires/a.out%3Eb.in/inject', '{"values":[1.0]}'),
    200,
    { size: 1 },
    'flows.inject',
    '7',
    'a.out>b.in',
    ['1.0'],
    {},
  ],
  [
    'flows.drain',
    ask('POST', '/v1/flows/7/wires/a.out%3Eb.in/drain', '{"max":5}'),
    200,
    { values: [{ data: [1] }] },
    'flows.drain',
    '7',
    'a.out>b.in',
    { max: 5 },
    {},
  ],
  [
    'flows.try',
    ask('POST', '/v1/flows/7/wires/a.out%3Eb.in/try', '{"class":"double","in":"n"}'),
    200,
    { runs: [{ in: [1], out: { y: [2] }, note: 'slow' }] },
    'flows.tryWire',
    '7',
    'a.out>b.in',
    { queue: 'default', class: 'double', in: 'n' },
  ],
  [
    'flows.move',
    ask('POST', '/v1/flows/7/wires/a.out%3Eb.in/move', '{"to":"a.out>c.in"}'),
    200,
    { moved: 2 },
    'flows.moveWire',
    '7',
    'a.out>b.in',
    'a.out>c.in',
    {},
  ],
  [
    'graphs.list',
    ask('GET', '/v1/graphs?limit=5&details=true'),
    200,
    { graphs: [{ name: 'nightly' }] },
    'graphs.list',
    { limit: 5, details: true },
  ],
  ['graphs.get', ask('GET', '/v1/graphs/nightly'), 200, { nodes: { a: { class: 'zip' } } }, 'graphs.get', 'nightly'],
  [
    'graphs.set',
    ask('PUT', '/v1/graphs/nightly', '{"nodes":{}}'),
    200,
    {},
    'graphs.set',
    'nightly',
    { nodes: {}, edges: [], inports: {}, outports: {} },
    {},
  ],
  ['graphs.remove', ask('DELETE', '/v1/graphs/nightly'), 200, {}, 'graphs.remove', 'nightly', {}],
  [
    'runs.commit',
    ask(
      'POST',
      '/v1/runs/t-1/commit',
      '{"end":"suspended","at":1800000000000,"result":1.0,"reads":{"left":{"cursor":4,"count":1}},"ops":[{"op":"write","to":{"child":"a","in":"n"},"values":[5]},{"op":"alias","remove":"x"},{"op":"run","child":"a"}]}',
    ),
    200,
    { status: 'queued', snapshot: { job: { id: 7 } } },
    'runs.commit',
    't-1',
    {
      end: 'suspended',
      at: NOW,
      result: '1.0',
      reads: { left: { cursor: 4, count: 1 } },
      ops: [
        { op: 'write', to: { child: 'a', in: 'n' }, values: ['5'] },
        { op: 'alias', remove: 'x' },
        { op: 'run', child: 'a' },
      ],
    },
    { reach: 'all' },
  ],
  [
    'runs.heartbeat',
    ask('POST', '/v1/runs/t-1/heartbeat', '{"progress":0.5}'),
    200,
    { leaseUntil: NOW },
    'runs.heartbeat',
    't-1',
    { progress: '0.5' },
  ],
  ['runs.release', ask('POST', '/v1/runs/t-1/release'), 200, { status: 'queued' }, 'runs.release', 't-1'],
  [
    'runs.page',
    ask('GET', '/v1/runs/t-1/in/left?after=1000&schema=5f0c2f1f0a8c61d7'),
    200,
    { values: [{ data: 1 }], more: 0 },
    'runs.values',
    't-1',
    'left',
    1000,
    '5f0c2f1f0a8c61d7',
  ],
  [
    'runs.children',
    ask('GET', '/v1/runs/t-1/children?cursor=3'),
    200,
    { children: { a: { id: 8, class: 'map', status: 'completed' } }, cursor: '17' },
    'runs.children',
    't-1',
    '3',
  ],
  [
    'runs.steps',
    ask('GET', '/v1/runs/t-1/steps?cursor=3'),
    200,
    { steps: { charge: 1 }, cursor: '17' },
    'runs.steps',
    't-1',
    '3',
  ],
  [
    'stats.show',
    ask('GET', '/v1/stats?days=7'),
    200,
    { processed: 3, today: { core: { runs: 3 } } },
    'stats.totals',
    { days: 7 },
  ],
  [
    'stats.series',
    ask('GET', '/v1/stats/series?queue=core&step=hour&details=true&from=1800000000000&to=2027-01-15T10:00:00Z'),
    200,
    { step: 'hour', points: [{ at, longestWait: 4, runs: 1 }] },
    'stats.series',
    { queue: 'core', step: 'hour', details: true, from: 1_800_000_000_000, to: Date.UTC(2027, 0, 15, 10) },
  ],
  [
    'stats.classes',
    ask('GET', '/v1/stats/classes?queue=core&day=yesterday'),
    200,
    { day: '2027-01-15', classes: [{ class: 'zip', counts: { made: 2 }, waited: { p95: 10 }, took: null }] },
    'stats.classes',
    { queue: 'core', day: 'yesterday' },
  ],
  [
    'stats.metrics',
    ask('GET', '/metrics'),
    200,
    '# TYPE sidejob_events_total counter\nsidejob_events_total{queue="core",event="runs"} 3\n',
    'stats.classes',
    {},
  ],
  [
    'doctor.examine',
    ask('GET', '/v1/doctor?cursor=501'),
    200,
    { faults: [{ who: '7', what: 'is in 2 places' }], jobs: 50, cursor: '510' },
    'doctor.examine',
    '501',
  ],
  [
    'doctor.repair',
    ask('POST', '/v1/doctor/repair?cursor=510'),
    200,
    { repaired: [{ who: '7', what: 'is in 2 places' }], left: [], cursor: null },
    'doctor.repair',
    '510',
  ],
  [
    'keys.list',
    ask('GET', '/v1/keys'),
    200,
    { keys: [{ id: 'k1', name: 'ci', scopes: ['read'], createdAt: at }] },
    'keys.list',
  ],
  [
    'keys.add',
    ask('POST', '/v1/keys', '{"name":"ci","scopes":["read","work"]}'),
    201,
    { id: 'k1', key: 'sk_new' },
    'keys.add',
    { name: 'ci', scopes: ['read', 'work'] },
    {},
  ],
  [
    'keys.rotate',
    ask('POST', '/v1/keys/k1/rotate', '{"overlap":"2h"}'),
    201,
    { id: 'k2', key: 'sk_newer', until: at },
    'keys.rotate',
    'k1',
    { overlap: 7_200_000 },
    {},
  ],
  ['keys.remove', ask('DELETE', '/v1/keys/k1'), 200, {}, 'keys.remove', 'k1'],
  [
    'audit.read',
    ask('GET', '/v1/audit?limit=5&cursor=1-0'),
    200,
    {
      entries: [{ id: '1-0', at, by: 'key:k1', name: 'ann', verb: 'keys.add', method: 'POST', path: '/v1/keys' }],
      cursor: null,
    },
    'audit.read',
    { limit: 5, cursor: '1-0' },
  ],
  [
    'links.make',
    ask('POST', '/v1/jobs/7/links/left', '{"for":"1 day"}'),
    201,
    { url: 'https://jobs.example.com/v1/answers/7/left?token=a.1.b', expiresAt: at },
    'streamTokens.create',
    'admin',
    '/v1/answers/7/left',
    86_400_000,
  ],
  [
    'links.answer',
    ask('POST', '/v1/answers/7/left', '{"value":{"ok":true}}'),
    200,
    { size: 1 },
    'ports.write',
    '7',
    'in',
    'left',
    ['{"ok":true}'],
    {},
    {},
  ],
  [
    'processes.list',
    ask('GET', '/v1/processes'),
    200,
    { processes: [{ id: 'host:7', kind: 'pull', seenAt: at, signal: null }], others: [], more: false },
    'processes.list',
  ],
  [
    'processes.signal',
    ask('POST', '/v1/processes/host:7/signal', '{"signal":"quiet"}'),
    200,
    {},
    'processes.signal',
    'host:7',
    'quiet',
  ],
  ['me.show', ask('GET', '/v1/me'), 200, { id: 'admin', name: 'admin', scopes: ['admin'], tenant: null }],
  ['tenants.list', ask('GET', '/v1/tenants'), 200, { tenants: [{ name: 'acme', createdAt: at }] }, 'tenants.list'],
  ['tenants.add', ask('PUT', '/v1/tenants/acme'), 200, {}, 'tenants.set', 'acme', {}],
  ['tenants.remove', ask('DELETE', '/v1/tenants/acme'), 200, {}, 'tenants.remove', 'acme'],
  [
    'waiting.list',
    ask('GET', '/v1/waiting?class=zip&deployment=d&limit=5'),
    200,
    { jobs: [{ status: 'suspended', masked: ['args'], servedBy: [] }], cursor: null },
    'waiting.list',
    { class: 'zip', deployment: 'd', limit: 5 },
  ],
  [
    'waiting.steps',
    ask('GET', '/v1/waiting/7/steps?cursor=5'),
    200,
    { steps: { charge: 10 }, cursor: null },
    'waiting.steps',
    '7',
    '5',
  ],
  [
    'waiting.children',
    ask('GET', '/v1/waiting/7/children?cursor=5'),
    200,
    { children: {}, cursor: null },
    'waiting.children',
    '7',
    '5',
  ],
  [
    'recorded.list',
    ask('GET', '/v1/recorded?class=zip&limit=5'),
    200,
    { jobs: [{ id: 7, class: 'zip', run: { commits: [{ end: 'completed', result: 1 }] } }], cursor: null },
    'recorded.list',
    { class: 'zip', limit: 5 },
  ],
  ['recorded.get', ask('GET', '/v1/recorded/7'), 200, { id: 7, status: 'completed' }, 'recorded.get', '7'],
  [
    'history.list',
    ask('GET', '/v1/history?labels.customer=7&args.order.id=4711&status=failed&longer=1m'),
    200,
    { jobs: [{ id: 7, status: 'failed', took: 1.5, labels: { customer: '7' } }], searchedTo: at },
    'history.list',
    { labels: { customer: '7' }, args: { 'order.id': '4711' }, status: ['failed'], longer: 60_000 },
  ],
  [
    'history.sql',
    ask('POST', '/v1/history/sql', '{"sql":"SELECT class, count(*) AS n FROM ends"}'),
    200,
    { rows: [{ class: 'zip', n: 7 }], more: false },
    'history.sql',
    { sql: 'SELECT class, count(*) AS n FROM ends', limit: 100 },
  ],
  ['history.status', ask('GET', '/v1/history/status'), 200, { on: true, waiting: 120 }, 'history.status'],
  [
    'history.get',
    ask('GET', '/v1/history/jobs/7'),
    200,
    { ends: [{ id: 7 }], runs: [{ outcome: 'failed' }] },
    'history.get',
    '7',
  ],
  [
    'views.list',
    ask('GET', '/v1/views'),
    200,
    { views: [{ name: 'Night', query: 'status=failed', at }] },
    'views.list',
  ],
  [
    'views.set',
    ask('PUT', '/v1/views/Night', '{"query":"status=failed"}'),
    200,
    {},
    'views.set',
    'Night',
    { query: 'status=failed', by: 'admin' },
  ],
  [
    'alerts.list',
    ask('GET', '/v1/alerts'),
    200,
    { alerts: [{ alert: 'slow mail', isOpen: true, since: at, told: at }] },
    'alerts.list',
  ],
  [
    'alerts.acknowledge',
    ask('POST', '/v1/alerts/acknowledge', '{"alert":"slow mail","reason":"DHL is down"}'),
    200,
    {},
    'alerts.acknowledge',
    'slow mail',
    { by: 'admin', reason: 'DHL is down' },
  ],
  [
    'alerts.unacknowledge',
    ask('POST', '/v1/alerts/unacknowledge', '{"alert":"slow mail"}'),
    200,
    {},
    'alerts.acknowledge',
    'slow mail',
  ],
  [
    'alerts.mute',
    ask('POST', '/v1/alerts/mute', '{"alert":"slow mail"}'),
    200,
    {},
    'alerts.mute',
    'slow mail',
    { by: 'admin' },
  ],
  ['alerts.unmute', ask('POST', '/v1/alerts/unmute', '{"alert":"slow mail"}'), 200, {}, 'alerts.unmute', 'slow mail'],
  ['views.remove', ask('DELETE', '/v1/views/Night'), 200, {}, 'views.remove', 'Night'],
  [
    'deployments.list',
    ask('GET', '/v1/deployments'),
    200,
    {
      deployments: [
        { id: 'jobs.example', at, classes: 3, version: '88f62d2b', deploys: [{ version: '88f62d2b', at }] },
      ],
    },
    'deployments.list',
  ],
  [
    'deployments.compare',
    ask('GET', `/v1/deployments/jobs.example/comparison?at=${at}`),
    200,
    {
      deployment: 'jobs.example',
      version: '88f62d2b',
      at,
      isWhole: true,
      errors: [],
      more: false,
      before: { version: null, from: at, to: at },
      after: { version: '88f62d2b', from: at, to: at },
      classes: [{ queue: 'core', class: 'zip', before: null, after: { counts: zeroes, took: null } }],
    },
    'deployments.compare',
    'jobs.example',
    { at: Date.parse(at) },
  ],
  [
    'breakers.list',
    ask('GET', '/v1/breakers'),
    200,
    { breakers: [{ host: 'a.example', of: 'callbacks', failures: 5, until: at }] },
    'breakers.list',
  ],
  [
    'breakers.reset',
    ask('DELETE', '/v1/breakers/a.example?of=workers'),
    200,
    {},
    'breakers.reset',
    'a.example',
    'workers',
  ],
  ['files.get', ask('GET', `/files/${FILE}?expires=${NOW / 1000}&signature=right`), 200, 'content of the file'],
  ['files.getById', ask('GET', `/files/${FILE.slice(0, 3)}/${FILE}`), 200, 'content of the file'],
  [
    'files.list',
    ask('GET', '/v1/files'),
    200,
    { files: [{ id: FILE, size: 13, type: 'text/plain', job: 7, storedAt: at }], cursor: null },
  ],
  ['files.show', ask('GET', `/v1/files/${FILE}?for=1h`), 200, { id: FILE, size: 13, type: 'text/plain', storedAt: at }],
  ['files.remove', ask('DELETE', `/v1/files/${FILE}`), 200, {}],
  [
    'downloader.download',
    ask(
      'POST',
      '/downloader/download',
      '{"url":"https://a.com/","aggr_id":"g","aggr_limit":2,"callback_url":"https://b.com/"}',
    ),
    201,
    { id: FILE },
    'jobs.enqueue',
    [
      expect.objectContaining({
        queue: 'downloader',
        class: 'download',
        args: expect.stringMatching(/^\{"url":"https:\/\/a\.com\/","host":"a\.com","askedAt":\d+\}$/),
        group: { id: 'g', concurrency: 2 },
        callback: expect.objectContaining({ url: 'https://b.com/' }),
      }),
    ],
    {},
  ],
  ['downloader.retry', ask('POST', `/downloader/retry/${FILE}`), 204, '', 'callbacks.resend', '7', {}],
  [
    'downloader.job',
    ask('GET', `/downloader/jobs/${FILE}`),
    200,
    { job_id: FILE, download_state: 'Pending' },
    'jobs.get',
    '7',
  ],
  ['downloader.cancel', ask('DELETE', `/downloader/jobs/${FILE}`), 204, '', 'jobs.cancel', '7', {}],
  ['downloader.again', ask('POST', `/downloader/jobs/${FILE}/download`), 204, '', 'jobs.run', '7', { force: true }, {}],
  ['downloader.stats', ask('GET', '/downloader/stats/notifier'), 200, { alive: 1 }, 'stats.totals'],
  [
    'downloader.aggregations',
    ask('GET', '/downloader/dashboard/aggregations'),
    200,
    [{ name: 'jobs:g', size: 2 }],
    'groups.list',
  ],
  ['downloader.heartbeat', ask('GET', '/downloader/hb'), 200, 'OK', 'flags.get', 'downloader.drained'],
  [
    'downloader.drain',
    ask('PUT', '/downloader/hb', '{"enabled":false}'),
    204,
    '',
    'flags.set',
    'downloader.drained',
    true,
  ],
  ['system.health', ask('GET', '/health'), 200, { ok: true, redis: true, version: '1' }, 'health'],
  ['system.llms', ask('GET', '/llms.txt'), 200, 'GET /v1/jobs (read)'],
  ['system.openapi', ask('GET', '/openapi.json'), 200, { openapi: '3.1.0' }],
  ['system.workerOpenapi', ask('GET', '/worker.openapi.json'), 200, { openapi: '3.1.0' }],
  ['system.docs', ask('GET', '/docs'), 200, '<!doctype html>'],
  ['system.errors', ask('GET', '/docs/errors'), 200, '<!doctype html>'],
  [
    'system.dispatch',
    { ...ask('POST', '/dispatch/a%20b', '{"bell":"b-1"}'), sign: {} },
    200,
    { runs: 0, ended: 'empty' },
    'dispatch',
    'a b',
    'b-1',
  ],
  [
    'system.perform',
    { ...ask('POST', '/perform', '{}'), headers: { 'webhook-signature': 'checked by the engine' } },
    200,
    {},
    'performPinned',
    expect.any(Headers),
    expect.any(Uint8Array),
  ],
  [
    'system.tick',
    { ...ask('POST', '/tick', 'whatever'), sign: { key: 'next' } },
    200,
    { rung: ['core'], more: false },
    'tick',
  ],
  ['system.advance', ask('POST', '/v1/test/clock', '{"advance":"1h"}'), 200, {}],
]

/** The caller is always the key `admin`. */
const withoutCaller = ({ verb, args }: Recorded): Recorded => ({
  verb,
  args: args.map((arg) => {
    if ((arg as { by?: string } | undefined)?.by !== 'key:admin') return arg
    const { by: _, quota: __, ...rest } = arg as { by: string; quota?: object }
    return rest
  }),
})

const routeOf = (name: string) => list.find(({ resource, verb }) => `${resource}.${verb}` === name)!

const moved: number[] = []
const { ask: askApp, calls: ofApp } = setUp({}, { clock: { advance: (ms) => void moved.push(ms) } })
beforeEach(() => {
  moved.length = 0
  ofApp.length = 0
})

describe('each route', () => {
  test.each(cases)('%s', async (name, request, status, answer, ...[verb, ...args]) => {
    const got = await askApp(request)
    const text = await got.text()
    expect([got.status, text]).toEqual([status, expect.any(String)])
    if (typeof answer === 'string') expect(text).toContain(answer)
    else expect(JSON.parse(text)).toMatchObject(answer as object)
    expect(ofApp.slice(-1).map(withoutCaller)).toEqual(verb ? [{ verb, args }] : [])
    expect(moved).toEqual(name === 'system.advance' ? [3_600_000] : [])
  })

  test.each(cases)('%s returns an answer of its schema', async (name, request) => {
    const { media, answers } = routeOf(name)
    if (media) return
    const got = await askApp(request)
    if (got.status === 204) return
    const shape = answers[got.status]!
    const parsed = shape.safeParse(parseJson(await got.text(), closedIn(shape)))
    expect(parsed.error?.issues).toBeUndefined()
  })

  test('is in the table', () => {
    expect(cases.map(([name]) => name).sort()).toEqual(list.map(({ resource, verb }) => `${resource}.${verb}`).sort())
  })
})

describe('scopes', () => {
  const tried = cases.flatMap(([name, request]) =>
    [...Object.keys(scopesOf), 'none'].map((as) => [name, as, request] as const),
  )

  test.each(tried)('%s with the key %s', async (name, as, { sign, headers, ...request }) => {
    const { scope, forced } = routeOf(name)
    const unsigned = scope === 'version' ? {} : { headers }
    const { status } = await askApp({ ...request, ...unsigned, as: as as BadRequest['as'] })
    const needed = request.path.endsWith('?force') ? forced! : scope
    if (needed === 'open') expect(status < 300).toBe(true)
    else if (needed === 'signed' || needed === 'version' || as === 'none') expect(status).toBe(401)
    else if (needed === 'any') expect(status).toBe(200)
    else expect(status < 300).toBe(as === 'admin' || scopesOf[as]!.includes(needed))
    if (status >= 400) expect(ofApp).toEqual([])
  })

  test('any key can read its own name and scopes', async () => {
    for (const [name, scopes] of Object.entries(scopesOf)) {
      const answer = await setUp({
        keys: { authenticate: async () => ({ id: `id-${name}`, name, scopes }) },
      }).ask({ ...ask('GET', '/v1/me'), as: name as BadRequest['as'] })
      expect(await answer.json()).toEqual({ id: `id-${name}`, name, scopes, tenant: null })
    }
    expect(list.filter(({ scope }) => scope === 'any').map(({ path }) => path)).toEqual(['/v1/me'])
  })

  test('only the listed routes are open or signed', () => {
    const at = (entry: string) => list.filter(({ scope }) => scope === entry).map(({ path }) => path)
    expect(at('open')).toEqual([
      '/files/:file',
      '/files/:folder/:file',
      '/health',
      '/llms.txt',
      '/openapi.json',
      '/worker.openapi.json',
      '/docs',
      '/docs/errors',
      '/downloader/hb',
    ])
    expect(at('signed')).toEqual(['/dispatch/:queue', '/tick'])
    expect(at('version')).toEqual(['/perform'])
  })

  test('every GET below /v1 needs the scope read, and routes of runs need work', () => {
    const gets = list.filter(({ method, path }) => method === 'GET' && path.startsWith('/v1/'))
    expect(
      gets
        .filter(({ scope }) => scope !== 'read')
        .map(({ path }) => path)
        .filter((path) => !path.startsWith('/v1/runs')),
    ).toEqual([
      '/v1/waiting',
      '/v1/waiting/:job/steps',
      '/v1/waiting/:job/children',
      '/v1/recorded',
      '/v1/recorded/:job',
      '/v1/webhooks/secret',
      '/v1/me',
      '/v1/audit',
      '/v1/tenants',
    ])
    expect(gets.filter(({ scope }) => scope === 'work').map(({ path }) => path)).toEqual([
      '/v1/runs/:token/in/:port',
      '/v1/runs/:token/children',
      '/v1/runs/:token/steps',
    ])
  })

  test('the clock can be moved only if the deployment has a test clock', async () => {
    const { ask: without } = setUp()
    const answer = await without(ask('POST', '/v1/test/clock', '{"advance":5}'))
    expect(answer.status).toBe(404)
  })
})

describe('status codes', () => {
  const answerOf = async (verbs: Answers, request: BadRequest) => {
    const answer = await setUp(verbs).ask(request)
    const text = await answer.text()
    return [answer.status, text && JSON.parse(text)]
  }

  test('a job found by its unique key returns 200, and an idempotent repeat returns 201', async () => {
    const request = ask('POST', '/v1/jobs', '{"class":"zip","unique":"k"}')
    const found = { id: 7, status: 'running' as const, existing: true as const }
    expect(
      await answerOf(
        {
          jobs: {
            enqueue: async () => ({ jobs: [found], existing: false }),
          },
        },
        request,
      ),
    ).toEqual([200, found])
    const again = async () => ({ jobs: [{ id: 7, status: 'queued' as const }], existing: true })
    expect(
      await answerOf(
        {
          jobs: {
            enqueue: again,
          },
        },
        request,
      ),
    ).toEqual([201, { id: 7, status: 'queued', existing: true }])
  })

  test('the engine receives a debounce in milliseconds', async () => {
    const asked: unknown[] = []
    const enqueue: Engine['jobs']['enqueue'] = async (inputs) => {
      asked.push(...inputs.map(({ unique }) => unique))
      return { jobs: [{ id: 7, status: 'queued' }], existing: false }
    }
    const body = '{"class":"zip","unique":{"key":"k","debounce":{"wait":"1m","max":300}}}'
    await answerOf(
      {
        jobs: {
          enqueue,
        },
      },
      ask('POST', '/v1/jobs', body),
    )
    expect(asked).toEqual([{ key: 'k', debounce: { wait: 60_000, max: 300_000 } }])
  })

  test('several jobs return 201 with a list', async () => {
    const request = ask('POST', '/v1/jobs', '[{"class":"a"},{"class":"b"}]')
    expect(await answerOf({}, request)).toEqual([
      201,
      {
        jobs: [
          { id: 7, status: 'queued' },
          { id: 8, status: 'queued' },
        ],
      },
    ])
  })

  test('a taken result is null, and an unfinished result returns 202', async () => {
    const request = ask('GET', '/v1/jobs/7/result')
    expect(
      await answerOf(
        {
          jobs: {
            result: async () => ({ ended: true, result: null }),
          },
        },
        request,
      ),
    ).toEqual([200, null])
    const pending = async () => ({ ended: false as const, status: 'running' as const })
    expect(
      await answerOf(
        {
          jobs: {
            result: pending,
          },
        },
        request,
      ),
    ).toEqual([202, { status: 'running' }])
  })

  test('a completed deletion returns 200', async () => {
    expect(await answerOf({}, ask('DELETE', '/v1/jobs/7'))).toEqual([200, { status: 'gone' }])
  })

  test('a claim without jobs returns 204', async () => {
    expect(
      await answerOf(
        {
          runs: {
            claim: async () => [],
          },
        },
        ask('POST', '/v1/queues/core/claim'),
      ),
    ).toEqual([204, ''])
  })

  test('a missing Redis returns 503', async () => {
    const down = { ok: false, redis: false, version: '1' }
    expect(
      await answerOf(
        {
          health: async () => down,
        },
        ask('GET', '/health'),
      ),
    ).toEqual([503, down])
  })
})

describe('a list of jobs', () => {
  test('has short rows, and filters by several statuses and a period', async () => {
    const { ask: send, calls } = setUp()
    const filter = `status=failed,terminated&since=${at}&until=${NOW}&longer=5m&tag=gpu&callback=FAILED`
    const answer = await send(ask('GET', `/v1/jobs?fields=row&${filter}`))
    const { jobs, total } = (await answer.json()) as { jobs: object[]; total: number }
    expect([jobs.length, total]).toEqual([1, 1])
    expect(jobs[0]).toMatchObject({ id: 7, createdAt: at, progress: [1], reason: { code: 'LIMITED', since: at } })
    const asked = { status: ['failed', 'terminated'], since: NOW, until: NOW, longer: 300_000, tag: 'gpu' }
    expect(calls).toEqual([{ verb: 'jobs.rows', args: [{ ...asked, callback: 'FAILED' }] }])
  })

  test.each([
    ['status=failed,none', 'status'],
    ['status=', 'status'],
    ['fields=some', 'fields'],
    ['since=yesterday', 'since'],
    ['longer=long', 'longer'],
    ['callback=maybe', 'callback'],
  ])('%s is refused with the name of the field', async (query, field) => {
    const answer = await setUp().ask(ask('GET', `/v1/jobs?${query}`))
    const { error } = (await answer.json()) as { error: { code: string; message: string } }
    expect([answer.status, error.code]).toEqual([400, 'BAD_REQUEST'])
    expect(error.message).toMatch(new RegExp(`^${field}.*: expected`))
  })
})

describe('bulk', () => {
  const post = (path: string, body: string) => setUp().ask(ask('POST', path, body))

  test('a preview counts the jobs that would change, and changes nothing', async () => {
    const { ask: send, calls } = setUp()
    const answer = await send(ask('POST', '/v1/bulk?preview=true', '{"ids":[7,8,9],"action":"retry"}'))
    const preview = { fits: 3, looked: 10, more: false, ids: [9, 8, 7], cursor: null }
    expect([answer.status, await answer.json()]).toEqual([200, preview])
    expect(calls).toEqual([{ verb: 'bulk.preview', args: [{ ids: [7, 8, 9], action: 'retry' }, {}] }])
  })

  test.each([
    ['{"action":"retry"}', 'filter: is missing'],
    ['{"ids":[7],"filter":{"queue":"core"},"action":"retry"}', 'ids: expected "filter" or "ids", got both'],
    ['{"ids":[],"action":"retry"}', 'ids: expected at least 1'],
    ['{"filter":{"error":"x"},"action":"retry"}', 'filter.error: expected the id of a kind of error'],
  ])('%s is refused', async (body, message) => {
    const answer = await post('/v1/bulk', body)
    expect([answer.status, JSON.stringify(await answer.json())]).toEqual([
      400,
      expect.stringContaining(message.replaceAll('"', String.raw`\"`)),
    ])
  })
})

describe('idempotency', () => {
  const keyOf = async (request: BadRequest) => {
    const { ask, calls } = setUp()
    await ask({ ...request, headers: { ...request.headers, 'idempotency-key': 'once' } })
    return calls[0]!.args.at(-1) as { key: string; fingerprint: string }
  }

  test('the key is bound to the route, the caller and the body', async () => {
    const request = ask('POST', '/v1/jobs/7/run', '{"force":true}')
    const first = await keyOf(request)
    expect(first.key).toBe('POST /v1/jobs/7/run:admin:once')
    expect(first.fingerprint).toMatch(/^[0-9a-f]{64}$/)
    expect(await keyOf(request)).toEqual(first)
    expect((await keyOf({ ...request, path: '/v1/jobs/8/run' })).key).not.toBe(first.key)
    expect((await keyOf({ ...request, as: 'write' })).key).not.toBe(first.key)
    const other = await keyOf({ ...request, body: '{"force":false}' })
    expect(other.key).toBe(first.key)
    expect(other.fingerprint).not.toBe(first.fingerprint)
  })
})

describe('formats', () => {
  const types = ['application/vnd.msgpack', 'application/msgpack', 'application/x-msgpack']

  test.each(types)('%s in and out', async (type) => {
    const { ask: send, calls } = setUp()
    const body = writeMsgpack({ class: 'zip', args: new Uint8Array([1, 2]) })
    const answer = await send({
      method: 'POST',
      path: '/v1/jobs',
      body,
      headers: { 'content-type': type, accept: type },
    })
    expect(answer.status).toBe(201)
    expect(answer.headers.get('content-type')).toBe('application/vnd.msgpack')
    expect(parseMsgpack(new Uint8Array(await answer.arrayBuffer()))).toEqual({ id: 7, status: 'queued' })
    expect(calls[0]!.args[0]).toEqual([{ queue: 'default', class: 'zip', args: '~xAIBAg==' }])
  })

  test('a value is returned unchanged, in either format', async () => {
    const { ask: send } = setUp()
    const accept = { accept: 'application/msgpack' }
    const json = await (await send(ask('GET', '/v1/jobs/7'))).text()
    const answer = await send({ ...ask('GET', '/v1/jobs/7'), headers: accept })
    const packed = parseMsgpack(new Uint8Array(await answer.arrayBuffer())) as { args: { big: bigint } }
    expect(json).toContain('"args":{"big":12345678901234567890}')
    expect(packed.args.big).toBe(12345678901234567890n)
  })

  test.each([
    [undefined, 'application/json'],
    ['*/*', 'application/json'],
    ['text/html', 'application/json'],
    ['application/json;q=0.5, application/msgpack', 'application/vnd.msgpack'],
    ['application/json, application/msgpack;q=0.9', 'application/json'],
    ['application/msgpack;q=0', 'application/json'],
  ])('Accept %s gives %s', async (accept, type) => {
    const { ask: send } = setUp()
    const answer = await send({ method: 'GET', path: '/v1/stats', headers: accept ? { accept } : {} })
    expect(answer.headers.get('content-type')).toBe(type)
  })

  test('JSON needs no content type', async () => {
    const { ask: send, calls } = setUp()
    const body = new TextEncoder().encode('{"class":"zip"}')
    expect((await send({ method: 'POST', path: '/v1/jobs', body })).status).toBe(201)
    expect(calls).toHaveLength(1)
  })

  test('a claim in MessagePack is the snapshot', async () => {
    const { ask: send } = setUp()
    const request = { ...ask('POST', '/v1/queues/core/claim'), headers: { accept: 'application/msgpack' } }
    const packed = parseMsgpack(new Uint8Array(await (await send(request)).arrayBuffer()))
    expect(packed).toMatchObject({ runs: [{ run: snapshot.run, job: { args: [1] } }] })
  })
})

async function* silent(signal: AbortSignal) {
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
}

describe('listening', () => {
  test('each message is an event, in one piece of JSON', async () => {
    const { ask: send } = setUp()
    const answer = await send(ask('GET', '/v1/subscribe/a'))
    expect(answer.headers.get('content-type')).toBe('text/event-stream')
    const text = await answer.text()
    const ids = [...text.matchAll(/^id: (\d+)-(\d+)$/gm)].map(([, at, n]) => [Number(at), Number(n)])
    expect(ids.map(([, n]) => n)).toEqual([1, 2])
    expect(ids[1]![0]! - ids[0]![0]!).toBeGreaterThanOrEqual(0)
    expect(text.replace(/^id: .*\n/gm, '')).toBe(
      ': here\n\ndata: {"channel":"/a","message":{\ndata: "n": 1 }}\n\ndata: {"channel":"/a/b","message":[1]}\n\n',
    )
  })

  test('a reconnecting client learns of possible gaps', async () => {
    const { ask: send } = setUp()
    const answer = await send({ ...ask('GET', '/v1/subscribe/a'), headers: { 'last-event-id': '17-3' } })
    expect(await answer.text()).toContain('event: gap\ndata: {"after":"17-3"}\n\n')
  })

  test('a subscription without channels, with too many or with an invalid channel is refused', async () => {
    const { ask: send } = setUp()
    const many = Array.from({ length: 21 }, (_, n) => `channel=c${n}`).join('&')
    for (const query of ['', `?${many}`, '?channel=', '?channel=a&other=1', '?channel=a&token=t'])
      expect((await send(ask('GET', `/v1/subscribe${query}`))).status).toBeGreaterThanOrEqual(400)
  })

  test('a token in the query opens a stream without a header, and nothing else', async () => {
    const asked: string[][] = []
    const opens = (scopes: Scope[]) =>
      setUp({
        streamTokens: {
          authenticate: async (...given) => {
            asked.push(given)
            return { id: 'k1', name: 'k', scopes }
          },
        },
      })
    const without = { as: 'none' as const }
    const { ask: send } = opens(['read'])
    expect((await send({ ...ask('GET', '/v1/subscribe/a/b?token=t'), ...without })).status).toBe(200)
    expect(asked).toEqual([['t', '/v1/subscribe/a/b']])
    for (const one of [ask('GET', '/v1/channels?token=t'), ask('POST', '/v1/subscribe/a/b?token=t')])
      expect((await send({ ...one, ...without })).status).toBe(401)
    expect(asked).toHaveLength(1)
    expect((await opens(['write']).ask({ ...ask('GET', '/v1/subscribe/a/b?token=t'), ...without })).status).toBe(403)
    const { ask: unknown } = setUp()
    const refused = await unknown({ ...ask('GET', '/v1/subscribe/a/b?token=t'), ...without })
    expect([refused.status, await refused.text()]).toEqual([401, expect.stringContaining('stream token is invalid')])
  })

  test('the engine learns that a listener has disconnected', async () => {
    let gone: AbortSignal | undefined
    const { ask: send } = setUp({
      channels: {
        subscribe: async (_, signal) => {
          gone = signal
          return silent(signal)
        },
      },
    })
    const answer = await send(ask('GET', '/v1/subscribe/a'))
    await answer.body!.cancel()
    expect(gone?.aborted).toBe(true)
  })
})
