// The requests need a deployment with the class `zip` (queue `default`, one input port `left`), and a job whose id
// replaces JOB. Only rows with `by: 'engine'` reach the engine.

import type { Code } from '../../src/core/errors.ts'

export type Signing = {
  key?: 'current' | 'next' | 'wrong'
  /** Seconds; default 300. */
  expires?: number
  /** Seconds; default 0. */
  starts?: number
  body?: string
  path?: string
  iss?: string
  alg?: string
}

export type BadRequest = {
  method: string
  path: string
  /** `unknown`: an invalid key; `none`: no header. */
  as?: 'admin' | 'read' | 'write' | 'work' | 'unknown' | 'none'
  headers?: Record<string, string>
  body?: string | Uint8Array | (() => string | Uint8Array)
  sign?: Signing
}

export type BadInput = {
  name: string
  request: BadRequest
  code: Code
  status: number
  message: string
  path?: (string | number)[]
  by?: 'engine'
}

const post = (path: string, body: BadRequest['body'], headers: Record<string, string> = {}): BadRequest => ({
  method: 'POST',
  path,
  body,
  headers: { 'content-type': 'application/json', ...headers },
})

const put = (path: string, body: string): BadRequest => ({ ...post(path, body), method: 'PUT' })
const patch = (path: string, body: string): BadRequest => ({ ...post(path, body), method: 'PATCH' })
const get = (path: string): BadRequest => ({ method: 'GET', path })
const job = (members: string): BadRequest => post('/v1/jobs', `{"class":"zip",${members}}`)
const commit = (members: string): BadRequest => post('/v1/runs/t-1/commit', `{"end":"completed",${members}}`)
const msgpack = (...bytes: number[]): BadRequest =>
  post('/v1/jobs', new Uint8Array(bytes), { 'content-type': 'application/vnd.msgpack' })
const bell = (sign?: Signing, body = '{"bell":"b-1"}'): BadRequest => ({
  ...post('/dispatch/default', body),
  as: 'none',
  sign,
})

const MiB = 1024 * 1024

type Row = [
  name: string,
  request: BadRequest,
  code: Code,
  status: number,
  message: string,
  path?: (string | number)[],
  by?: 'engine',
]

const rows: Row[] = [
  ['no such route', get('/v1/nothing'), 'NOT_FOUND', 404, '/v1/nothing does not exist'],
  ['an extra slash', get('/v1/jobs/'), 'NOT_FOUND', 404, 'does not exist'],
  ['a wrong method', get('/v1/publish'), 'WRONG_METHOD', 405, 'accepts POST, got GET'],
  ['a port neither in nor out', get('/v1/jobs/JOB/up/left'), 'NOT_FOUND', 404, 'does not exist'],

  ['no key', { ...get('/v1/jobs'), as: 'none' }, 'UNAUTHENTICATED', 401, 'Authorization: Bearer <API key>", got none'],
  [
    'another scheme',
    { ...get('/v1/jobs'), as: 'none', headers: { authorization: 'Basic YTpi' } },
    'UNAUTHENTICATED',
    401,
    'got a different form',
  ],
  [
    'an empty key',
    { ...get('/v1/jobs'), as: 'none', headers: { authorization: 'Bearer ' } },
    'UNAUTHENTICATED',
    401,
    'got a different form',
  ],
  ['a wrong key', { ...get('/v1/jobs'), as: 'unknown' }, 'UNAUTHENTICATED', 401, 'this API key is unknown'],
  ['reading with a write key', { ...get('/v1/jobs'), as: 'write' }, 'FORBIDDEN', 403, 'needs the scope "read"'],
  ['writing with a read key', { ...job('"args":1'), as: 'read' }, 'FORBIDDEN', 403, 'needs the scope "write"'],
  [
    'claiming with a write key',
    { ...post('/v1/queues/default/claim', '{}'), as: 'write' },
    'FORBIDDEN',
    403,
    'needs the scope "work"; this key has write',
  ],
  [
    'registering with a write key',
    { ...put('/v1/workers/default/zip', '{}'), as: 'write' },
    'FORBIDDEN',
    403,
    'needs the scope "admin"',
  ],
  [
    'deleting by force with a write key',
    { method: 'DELETE', path: '/v1/jobs/JOB?force=true', as: 'write' },
    'FORBIDDEN',
    403,
    'needs the scope "admin"',
  ],
  [
    'a bad body with a wrong key',
    { ...post('/v1/jobs', '{'), as: 'unknown' },
    'UNAUTHENTICATED',
    401,
    'API key is unknown',
  ],

  ['a bell without a signature', bell(), 'UNAUTHENTICATED', 401, 'expected a valid Upstash-Signature, got none'],
  ['a bell with an API key', { ...bell(), as: 'admin' }, 'UNAUTHENTICATED', 401, 'expected a valid Upstash-Signature'],
  ['a forged signature', bell({ key: 'wrong' }), 'UNAUTHENTICATED', 401, ''],
  ['an expired signature', bell({ expires: -6 }), 'UNAUTHENTICATED', 401, ''],
  [
    'a signature replayed after its time',
    bell({ starts: -600, expires: -300 }),
    'UNAUTHENTICATED',
    401,
    'does not match',
  ],
  ['a signature from the future', bell({ starts: 60 }), 'UNAUTHENTICATED', 401, ''],
  ['a body changed after signing', bell({ body: '{"bell":"b-1"}' }, '{"bell":"b-2"}'), 'UNAUTHENTICATED', 401, ''],
  ['a signature for another queue', bell({ path: '/dispatch/other' }), 'UNAUTHENTICATED', 401, 'does not match'],
  ['a signature of another issuer', bell({ iss: 'Someone' }), 'UNAUTHENTICATED', 401, 'does not match'],
  ['a signature without a key', bell({ alg: 'none' }), 'UNAUTHENTICATED', 401, 'does not match'],
  [
    'a signature that is not a token',
    { ...bell(), headers: { 'content-type': 'application/json', 'upstash-signature': 'let.me.in' } },
    'UNAUTHENTICATED',
    401,
    'does not match',
  ],
  ['a tick without a signature', { ...post('/tick', ''), as: 'none' }, 'UNAUTHENTICATED', 401, 'got none'],
  ['a signed bell without its name', bell({}, '{}'), 'BAD_REQUEST', 400, 'bell: is missing', ['bell']],

  ['broken JSON', post('/v1/jobs', '{"class":"zip"'), 'BAD_REQUEST', 400, 'JSON at 1:15: expected "," or "}"'],
  ['two JSON documents', post('/v1/jobs', '{"class":"zip"}{}'), 'BAD_REQUEST', 400, 'expected the end of the text'],
  ['JSON with a comment', post('/v1/jobs', '{/* */"class":"zip"}'), 'BAD_REQUEST', 400, 'JSON at 1:2'],
  ['broken JSON in a value', job('"args":[1,}'), 'BAD_REQUEST', 400, 'expected a value'],
  ['a duplicate name', job('"class":"zap"'), 'BAD_REQUEST', 400, '"class" twice'],
  [
    'bytes that are no UTF-8',
    post('/v1/jobs', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d])),
    'BAD_REQUEST',
    400,
    'expected valid UTF-8',
  ],
  ['a body that is a text', post('/v1/jobs', '"zip"'), 'BAD_REQUEST', 400, 'the body: expected', []],
  ['a body that is null', post('/v1/jobs/JOB/run', 'null'), 'BAD_REQUEST', 400, 'expected an object, got null', []],
  ['truncated MessagePack', msgpack(0x81, 0xa5, 0x63, 0x6c), 'BAD_REQUEST', 400, 'MessagePack at byte'],
  ['MessagePack of an unused type', msgpack(0xc1), 'BAD_REQUEST', 400, 'MessagePack at byte 0'],
  // { class: 2^63 }
  [
    'a MessagePack integer for a text',
    msgpack(0x81, 0xa5, 0x63, 0x6c, 0x61, 0x73, 0x73, 0xcf, 0x80, 0, 0, 0, 0, 0, 0, 0),
    'BAD_REQUEST',
    400,
    'class: expected a string, got 9223372036854775808',
    ['class'],
  ],
  ['two MessagePack documents', msgpack(0x80, 0x80), 'BAD_REQUEST', 400, 'MessagePack at byte 1'],
  [
    'a form',
    post('/v1/jobs', 'class=zip', { 'content-type': 'application/x-www-form-urlencoded' }),
    'UNSUPPORTED',
    415,
    'expected application/json',
  ],
  ['plain text', post('/v1/jobs', '{}', { 'content-type': 'text/plain' }), 'UNSUPPORTED', 415, 'got text/plain'],
  [
    'another charset',
    post('/v1/jobs', '{}', { 'content-type': 'application/json; charset=latin1' }),
    'UNSUPPORTED',
    415,
    'in UTF-8',
  ],

  ['a body over 10 MiB', post('/v1/jobs', () => ' '.repeat(10 * MiB + 1)), 'TOO_LARGE', 413, 'at most 10485760 bytes'],
  [
    'a value over 1 MiB',
    post('/v1/jobs', () => `{"class":"zip","args":"${'x'.repeat(MiB)}"}`),
    'TOO_LARGE',
    413,
    'args: expected a value of at most 1 MiB',
    ['args'],
  ],
  [
    'a port value over 1 MiB',
    post('/v1/jobs/JOB/in/left', () => `{"values":[1,"${'é'.repeat(MiB / 2)}"]}`),
    'TOO_LARGE',
    413,
    'values[1]: expected a value of at most 1 MiB',
    ['values', 1],
  ],
  [
    'nesting over 200',
    post('/v1/jobs', () => `{"class":"zip","args":${'['.repeat(200)}${']'.repeat(200)}}`),
    'TOO_LARGE',
    413,
    'at most 200 levels',
  ],
  [
    'over 1,000 jobs',
    post('/v1/jobs', () => `[${'{"class":"zip"},'.repeat(1000)}{"class":"zip"}]`),
    'TOO_LARGE',
    413,
    'expected at most 1000 items, got a list of 1001',
    [],
  ],

  ['no class', post('/v1/jobs', '{}'), 'BAD_REQUEST', 400, 'class: is missing', ['class']],
  ['no body', { method: 'POST', path: '/v1/jobs' }, 'BAD_REQUEST', 400, 'class: is missing', ['class']],
  ['no job in a list', post('/v1/jobs', '[]'), 'BAD_REQUEST', 400, 'at least 1 item, got a list of 0', []],
  [
    'an invalid third job',
    post('/v1/jobs', '[{"class":"zip"},{"class":"zip"},{"class":7}]'),
    'BAD_REQUEST',
    400,
    '[2].class: expected a string, got 7',
    [2, 'class'],
  ],
  ['an unknown member', job('"clas":1'), 'BAD_REQUEST', 400, 'clas: unknown member', ['clas']],
  ['a group without an id', job('"group":{}'), 'BAD_REQUEST', 400, 'group.id: is missing', ['group', 'id']],
  [
    'a callback to an invalid address',
    job('"callback":{"url":"ftp://x.example.com"}'),
    'BAD_REQUEST',
    400,
    'callback.url: expected a URL that begins with http:// or https://',
    ['callback', 'url'],
  ],
  [
    'a callback with a reserved header',
    job('"callback":{"url":"https://x.example.com","headers":{"webhook-id":"1"}}'),
    'BAD_REQUEST',
    400,
    'callback.headers: expected no header that sidejob sets itself, got webhook-id',
    ['callback', 'headers'],
  ],
  [
    'a callback with an invalid secret',
    job('"callback":{"url":"https://x.example.com","secret":"päss"}'),
    'BAD_REQUEST',
    400,
    'callback.secret: expected base64, which may follow "whsec_", got something else',
    ['callback', 'secret'],
  ],
  [
    'a push worker with a secret that cannot sign',
    put('/v1/workers/default/zip', '{"push":{"url":"https://w.example.com/","secret":"whsec_…"}}'),
    'BAD_REQUEST',
    400,
    'push.secret: expected base64, which may follow "whsec_", got something else',
    ['push', 'secret'],
  ],
  [
    'a class that is a number',
    post('/v1/jobs', '{"class":7}'),
    'BAD_REQUEST',
    400,
    'class: expected a string, got 7',
    ['class'],
  ],
  ['an empty class', post('/v1/jobs', '{"class":""}'), 'BAD_REQUEST', 400, 'class: expected a class', ['class']],
  [
    'a class with a control character',
    post('/v1/jobs', '{"class":"a\\u0000b"}'),
    'BAD_REQUEST',
    400,
    'without control characters',
    ['class'],
  ],
  [
    'a class of 256 bytes',
    post('/v1/jobs', `{"class":"${'é'.repeat(128)}"}`),
    'BAD_REQUEST',
    400,
    '1 to 255 bytes of text without control characters, got 128 characters (256 bytes)',
    ['class'],
  ],
  ['a queue with a slash', job('"queue":"a/b"'), 'BAD_REQUEST', 400, 'queue: expected a queue', ['queue']],
  ['a queue with a colon', job('"queue":"a:b"'), 'BAD_REQUEST', 400, 'got "a:b"', ['queue']],
  [
    'a priority that is a word',
    job('"priority":"high"'),
    'BAD_REQUEST',
    400,
    'priority: expected a number, got "high"',
    ['priority'],
  ],
  [
    'a fractional priority',
    job('"priority":1.5'),
    'BAD_REQUEST',
    400,
    'expected a whole number, got 1.5',
    ['priority'],
  ],
  ['a priority beyond 32 bits', job('"priority":2147483648'), 'BAD_REQUEST', 400, 'at most 2147483647', ['priority']],
  ['an invalid date', job('"at":"tomorrow"'), 'BAD_REQUEST', 400, 'at: expected a time like', ['at']],
  ['30 February', job('"at":"2027-02-30T00:00:00Z"'), 'BAD_REQUEST', 400, 'got "2027-02-30T00:00:00Z"', ['at']],
  ['a date without its zone', job('"at":"2027-01-01T09:00:00"'), 'BAD_REQUEST', 400, 'expected a time like', ['at']],
  [
    'an invalid wait',
    job('"wait":"5 parsecs"'),
    'BAD_REQUEST',
    400,
    'wait: expected a duration in seconds or like "5m"',
    ['wait'],
  ],
  ['a negative wait', job('"wait":-5'), 'BAD_REQUEST', 400, 'got -5', ['wait']],
  ['both a time and a wait', job('"at":0,"wait":5'), 'BAD_REQUEST', 400, 'expected "at" or "wait", got both', ['wait']],
  ['a timeout of 0', job('"timeout":0'), 'BAD_REQUEST', 400, 'timeout: expected a duration above 0', ['timeout']],
  [
    'retries below 0',
    job('"retry":{"max":-1}'),
    'BAD_REQUEST',
    400,
    'retry.max: expected at least 0, got -1',
    ['retry', 'max'],
  ],
  [
    'a backoff that shrinks',
    job('"retry":{"backoff":{"factor":0}}'),
    'BAD_REQUEST',
    400,
    'retry.backoff.factor: expected at least 1',
    ['retry', 'backoff', 'factor'],
  ],
  ['a bad port name', job('"in":{"le-ft":{}}'), 'BAD_REQUEST', 400, 'in.le-ft: expected a port name', ['in', 'le-ft']],
  [
    'a port name of 101 letters',
    job(`"out":{"${'x'.repeat(101)}":{}}`),
    'BAD_REQUEST',
    400,
    'at most 100 characters from a-z',
    ['out', 'x'.repeat(101)],
  ],
  [
    'channels that are not a list',
    job('"in":{"left":{"channels":"/a"}}'),
    'BAD_REQUEST',
    400,
    'in.left.channels: expected a list',
    ['in', 'left', 'channels'],
  ],
  [
    'inputs that are not a list',
    job('"inputs":{"left":1}'),
    'BAD_REQUEST',
    400,
    'inputs.left: expected a list, got 1',
    ['inputs', 'left'],
  ],
  [
    'inputs on any port',
    job('"inputs":{"*":[1]}'),
    'BAD_REQUEST',
    400,
    'inputs.*: expected a port name',
    ['inputs', '*'],
  ],
  ['a port called __proto__', job('"in":{"__proto__":{}}'), 'BAD_REQUEST', 400, 'a name other than "__proto__"'],
  [
    'an alias that begins with a digit',
    job('"alias":["7up"]'),
    'BAD_REQUEST',
    400,
    'alias[0]: expected an alias',
    ['alias', 0],
  ],
  ['a parent that is not a job id', job('"parent":"01"'), 'BAD_REQUEST', 400, 'parent: expected a job', ['parent']],
  ['an unregistered class', post('/v1/jobs', '{"class":"zap"}'), 'REFUSED', 422, 'zap', undefined, 'engine'],

  ['an unknown job', get('/v1/jobs/99999999'), 'NOT_FOUND', 404, '99999999', undefined, 'engine'],
  ['an unknown alias', get('/v1/jobs/nobody'), 'NOT_FOUND', 404, 'nobody', undefined, 'engine'],
  ['running an unknown job', post('/v1/jobs/99999999/run', '{}'), 'NOT_FOUND', 404, '99999999', undefined, 'engine'],
  ['an id with letters', get('/v1/jobs/1abc'), 'NOT_FOUND', 404, 'there is no job "1abc"', ['job']],
  ['an id with a leading zero', get('/v1/jobs/01'), 'NOT_FOUND', 404, 'there is no job "01"', ['job']],
  [
    'an unknown status',
    get('/v1/jobs?status=lost'),
    'BAD_REQUEST',
    400,
    'status[0]: expected "queued" or',
    ['status', 0],
  ],
  ['an unknown filter', get('/v1/jobs?colour=red'), 'BAD_REQUEST', 400, 'colour: unknown member', ['colour']],
  [
    'a duplicate filter',
    get('/v1/jobs?queue=a&queue=b'),
    'BAD_REQUEST',
    400,
    'queue: expected one value, got several',
    ['queue'],
  ],
  ['a limit of 0', get('/v1/jobs?limit=0'), 'BAD_REQUEST', 400, 'limit: expected at least 1', ['limit']],
  [
    'a limit that is not a number',
    get('/v1/jobs?limit=1e3'),
    'BAD_REQUEST',
    400,
    'limit: expected a whole number',
    ['limit'],
  ],
  [
    'an invalid flag',
    { method: 'DELETE', path: '/v1/jobs/JOB?force=perhaps' },
    'BAD_REQUEST',
    400,
    'force: expected true or false',
    ['force'],
  ],
  ['a lock without ttl', post('/v1/jobs/JOB/lock', '{}'), 'BAD_REQUEST', 400, 'ttl: is missing', ['ttl']],
  [
    'an alias that is a number',
    put('/v1/jobs/JOB/aliases/7', ''),
    'BAD_REQUEST',
    400,
    'alias: expected an alias',
    ['alias'],
  ],
  [
    'adopting without a name',
    post('/v1/jobs/JOB/adopt', '{"job":8}'),
    'BAD_REQUEST',
    400,
    'name: is missing',
    ['name'],
  ],
  [
    'state that is not a map',
    patch('/v1/jobs/JOB/state', '{"set":[1]}'),
    'BAD_REQUEST',
    400,
    'set: expected an object',
    ['set'],
  ],
  [
    'a member of the job that cannot be changed',
    patch('/v1/jobs/JOB', '{"class":"zap"}'),
    'BAD_REQUEST',
    400,
    'class: unknown member',
    ['class'],
  ],
  [
    'a body for a route without one',
    post('/v1/jobs/JOB/retry', '{"now":true}'),
    'BAD_REQUEST',
    400,
    'now: unknown member',
    ['now'],
  ],

  [
    'a bad port name in the path',
    post('/v1/jobs/JOB/in/le-ft', '{"value":1}'),
    'BAD_REQUEST',
    400,
    'port: expected a port name',
    ['port'],
  ],
  ['an undeclared port', post('/v1/jobs/JOB/in/right', '{"value":1}'), 'REFUSED', 422, 'right', undefined, 'engine'],
  [
    'a write without values',
    post('/v1/jobs/JOB/in/left', '{}'),
    'BAD_REQUEST',
    400,
    'requires either "values" or "value"',
    [],
  ],
  [
    'a write of both value and values',
    post('/v1/jobs/JOB/in/left', '{"value":1,"values":[2]}'),
    'BAD_REQUEST',
    400,
    'requires either',
    [],
  ],
  [
    'taking 0 values',
    post('/v1/jobs/JOB/in/left/read', '{"max":0}'),
    'BAD_REQUEST',
    400,
    'max: expected at least 1',
    ['max'],
  ],
  [
    'connecting to a job without a port',
    post('/v1/jobs/JOB/out/left/connect', '{"to":[{"job":8}]}'),
    'BAD_REQUEST',
    400,
    'to[0]: expected { job, in } or { job, out }',
    ['to', 0],
  ],
  [
    'publishing no message',
    post('/v1/publish', '{"channel":"/a"}'),
    'BAD_REQUEST',
    400,
    'message: is missing',
    ['message'],
  ],
  [
    'publishing to an empty channel',
    post('/v1/publish', '{"channel":"","message":1}'),
    'BAD_REQUEST',
    400,
    'channel: expected a channel',
    ['channel'],
  ],
  [
    'an idempotency key that is too long',
    post('/v1/publish', '{"channel":"/a","message":1}', { 'idempotency-key': 'x'.repeat(256) }),
    'BAD_REQUEST',
    400,
    'Idempotency-Key: expected 1 to 255',
    ['Idempotency-Key'],
  ],

  [
    'an invalid push address',
    put('/v1/workers/default/zip', '{"push":{"url":"ftp://x"}}'),
    'BAD_REQUEST',
    400,
    'push.url: expected a URL',
    ['push', 'url'],
  ],
  ['0 lanes', patch('/v1/queues/default', '{"lanes":0}'), 'BAD_REQUEST', 400, 'lanes: expected at least 1', ['lanes']],
  [
    'an ageing of 2 hours',
    patch('/v1/queues/default', '{"ageing":"2h"}'),
    'BAD_REQUEST',
    400,
    'ageing: expected a duration of at most 1 hour, in seconds or like "30m", got 2h',
    ['ageing'],
  ],
  [
    'an invalid mode',
    patch('/v1/queues/default', '{"mode":"pop"}'),
    'BAD_REQUEST',
    400,
    'mode: expected "push" or "pull", got "pop"',
    ['mode'],
  ],
  [
    'a claim of too many jobs',
    post('/v1/queues/default/claim', '{"max":5000}'),
    'BAD_REQUEST',
    400,
    'max: expected at most 1000',
    ['max'],
  ],
  ['an unknown run', commit('"ops":[]'), 'LOST', 410, 't-1', undefined, 'engine'],
  [
    'an invalid end',
    post('/v1/runs/t-1/commit', '{"end":"done"}'),
    'BAD_REQUEST',
    400,
    'end: expected "completed" or',
    ['end'],
  ],
  [
    'an invalid op',
    commit('"ops":[{"op":"dance"}]'),
    'BAD_REQUEST',
    400,
    'ops[0].op: expected "write", ',
    ['ops', 0, 'op'],
  ],
  [
    'an op without its port',
    commit('"ops":[{"op":"write","values":[1]}]'),
    'BAD_REQUEST',
    400,
    'ops[0].to: is missing',
    ['ops', 0, 'to'],
  ],
  [
    'an op with a bad port name',
    commit('"ops":[{"op":"write","to":{"out":"a b"},"values":[]}]'),
    'BAD_REQUEST',
    400,
    'ops[0].to.out: expected a port name',
    ['ops', 0, 'to', 'out'],
  ],
  [
    'an op with a port of two jobs',
    commit('"ops":[{"op":"write","to":{"out":"a","job":1,"child":"c"},"values":[]}]'),
    'BAD_REQUEST',
    400,
    'ops[0].to',
    ['ops', 0, 'to'],
  ],
  [
    'reads without a cursor',
    commit('"reads":{"left":{"count":1}}'),
    'BAD_REQUEST',
    400,
    'reads.left.cursor: is missing',
    ['reads', 'left', 'cursor'],
  ],
  [
    'a key without scopes',
    post('/v1/keys', '{"name":"ci","scopes":[]}'),
    'BAD_REQUEST',
    400,
    'scopes: expected at least 1 item, got a list of 0',
    ['scopes'],
  ],
  [
    'a key with a made-up scope',
    post('/v1/keys', '{"name":"ci","scopes":["root"]}'),
    'BAD_REQUEST',
    400,
    'scopes[0]: expected "admin" or',
    ['scopes', 0],
  ],
]

export const badInputs: BadInput[] = rows.map(([name, request, code, status, message, path, by]) => ({
  name,
  request,
  code,
  status,
  message,
  path,
  by,
}))
