import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type Encoded, encodeValue } from '../../src/core/codec/value.ts'
import { readPrices } from '../../src/core/cost.ts'
import { parseDuration } from '../../src/core/time.ts'
import { ownPath } from '../../src/dashboard/login.tsx'
import { queryWith } from '../../src/dashboard/look.ts'
import { linesOf } from '../../src/dashboard/parts/log.tsx'
import { valueText } from '../../src/dashboard/parts/value-view.tsx'
import { cronOf, ruleIn } from '../../src/dashboard/words/cron.ts'
import { failedSign } from '../../src/dashboard/words/failed.ts'
import { filterOf, tokensOf, typed } from '../../src/dashboard/words/filter.ts'
import { happened } from '../../src/dashboard/words/happened.ts'
import { messageOf, shareOf } from '../../src/dashboard/words/job.ts'
import { isSecret, pretty, shownJson, textOf } from '../../src/dashboard/words/json.ts'
import { perOf, rangeOf } from '../../src/dashboard/words/series.ts'
import { stackParts } from '../../src/dashboard/words/stack.ts'
import {
  ago,
  bytes,
  clock,
  count,
  cut,
  dayOf,
  listed,
  many,
  moment,
  money,
  percent,
  plain,
  short,
  span,
} from '../../src/dashboard/words/text.ts'
import { busyIn, rowsOf, scaleOf } from '../../src/dashboard/words/timeline.ts'
import { varyingIn } from '../../src/dashboard/words/varying.ts'
import { cellsOf } from '../../src/dashboard/words/why.ts'
import type { JobRow, JobView, Reason, Why } from '../../src/engine/engine.ts'
import { view } from '../http/fake-engine.ts'

const NOW = Date.UTC(2026, 10, 22, 3, 2, 9, 218)
const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000]

test.each([
  [count(61_204), '61,204'],
  [short(41_230), '41.2 k'],
  [short(9_114), '9,114'],
  [short(2_500_000), '2.5 M'],
  [percent(0.015), '1.5%'],
  [percent(0.61), '61%'],
  [percent(0), '0%'],
  [percent(0.0002), 'under 0.1%'],
  [bytes(3_174), '3.1 KB'],
  [bytes(12), '12 bytes'],
  [many(1, 'job'), '1 job'],
  [many(2, 'child', 'children'), '2 children'],
  [span(41), '41 ms'],
  [span(1_450), '1.4 s'],
  [span(29_999), '29 s'],
  [span(184_000), '3 m 04 s'],
  [span(82 * MINUTE), '1 h 22 m'],
  [span(9 * DAY + 17 * HOUR), '9 d 17 h'],
  [span(7 * DAY + 1), '7 d'],
  [ago(NOW - 4 * SECOND, NOW, 'UTC'), '4 s ago'],
  [ago(NOW - HOUR, NOW, 'UTC'), '1 h ago'],
  [ago(NOW + 2 * MINUTE, NOW, 'UTC'), 'in 2 min'],
  [ago(NOW - 2 * DAY, NOW, 'UTC'), '20 Nov, 03:02'],
  [ago(NOW - 9 * DAY, NOW, 'UTC'), '13 Nov, 03:02'],
  [clock(NOW, 'UTC'), '03:02:09'],
  [clock(NOW, 'Europe/Berlin'), '04:02:09'],
  [dayOf(NOW, 'UTC'), '22 Nov'],
  [moment(NOW, 'UTC'), '22 Nov 2026, 03:02:09.218 UTC'],
  [String(parseDuration('6h')), String(6 * HOUR)],
  [String(parseDuration('6x')), 'undefined'],
  [cut('a-very-long-name-of-a-queue', 13), 'a-very…-queue'],
  [listed(['a', 'b', 'c']), 'a, b and c'],
  [queryWith('?a=1&b=2', { b: undefined, c: '3' }), '?a=1&c=3'],
  [ownPath('/jobs?status=failed'), '/jobs?status=failed'],
])('%s', (is, expected) => expect(is).toBe(expected))

test('pages state facts, without comments', () => {
  const root = new URL('../../src/dashboard/', import.meta.url)
  const said = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (file) => /\.tsx?$/.test(file) && !file.startsWith('built'),
  )
  expect(said.length).toBeGreaterThan(100)
  for (const file of said)
    expect(readFileSync(new URL(file, root), 'utf8'), file).not.toMatch(/\b(oops|successfully|please|are you sure)\b/i)
})

test.each([
  ['1h', 1],
  ['4h', 4],
  ['24h', 1],
  ['7d', 3],
])('a column of %s means %i minutes or hours', (name, n) => expect(perOf(rangeOf(name))).toBe(n))

test.each([
  ['card # declined', 'card 4242 declined', 'card [4242] declined'],
  ['no answer within # s', 'no answer within 30 s', 'no answer within [30] s'],
  ['cannot read <path>: no space', 'cannot read /u/8.heic: no space', 'cannot read [/u/8.heic]: no space'],
  ['<text> of #', '"ann" of 7', '["ann"] of [7]'],
  ['# is less than #', '1 is less than 2', '[1] is less than [2]'],
  ['nothing varies', 'nothing varies', 'nothing varies'],
  ['card # declined', 'something else', 'card [#] declined'],
  ['', '', ''],
])('with the kind %j, the variable parts of the example %j are marked: %j', (message, example, marked) =>
  expect(
    varyingIn(message, example)
      .map(({ text, varies }) => (varies ? `[${text}]` : text))
      .join(''),
  ).toBe(marked),
)

describe('values', () => {
  test('keep their digits and the order of their members', () => {
    const text = pretty('{"big":12345678901234567890,"a":[1.0,{}],"b":"x"}')
      .map(({ text }) => text)
      .join('')
    expect(text).toBe('{\n  "big": 12345678901234567890,\n  "a": [\n    1.0,\n    {}\n  ],\n  "b": "x"\n}')
  })

  test('bytes are shown as their size, and similar texts as text', () => {
    const bytes = encodeValue({ photo: new Uint8Array(300), n: 1 })
    expect(textOf(bytes).text).toBe('{"photo":‹binary, 300 bytes›,"n":1}')
    expect(
      pretty(shownJson(bytes))
        .map(({ text }) => text)
        .join(''),
    ).toBe('{\n  "photo": ‹binary, 300 bytes›,\n  "n": 1\n}')
    expect(textOf('{"$bin":"AAAA"}' as Encoded).text).toBe('{"$bin":"AAAA"}')
  })

  test('members with secret names are hidden', () => {
    const pieces = pretty('{"token":"sk_live","name":"ana","password":7}')
    const covered = pieces.filter((_, at) => isSecret(pieces, at)).map(({ text }) => text)
    expect(covered).toEqual(['"sk_live"', '7'])
  })

  test('hide values of secret names on one line', () => {
    const line = (json: string, most?: number) => textOf(json as never, most).text
    expect(line('{"api_key": "sk\\"1", "n":[{"Token":7}],"tokens":[1]}')).toBe(
      '{"api_key": "•••", "n":[{"Token":"•••"}],"tokens":[1]}',
    )
    expect(line('{"secret":"abcdefgh"}', 15)).toBe('{"secret":"•••"')
  })

  test('show the codes of control characters and of characters that change the direction of text', () => {
    expect(plain('a\u0000b\u202Ec')).toBe('a\\u0000b\\u202ec')
    expect(textOf(JSON.stringify('x'.repeat(300)), 10)).toEqual({ text: '"xxxxxxxxx', length: 302, isCut: true })
    expect(valueText('"hello"', 200)).toBe('hello')
  })
})

test('frames of libraries are distinguished from own frames', () => {
  const stack = [
    'Error: no\u202e space',
    '  left',
    '    at pay (/app/src/pay.ts:1:2)',
    '    at async /app/node_modules/sidejob/dist/run.js:3:4',
    '    at process.run (node:internal/process:5:6)',
    '    at \u202emain (/app/src/main.ts:7:8)',
  ]
  expect(stackParts(stack.join('\n'))).toEqual([
    { isForeign: false, lines: ['at pay (/app/src/pay.ts:1:2)'] },
    {
      isForeign: true,
      lines: ['at async /app/node_modules/sidejob/dist/run.js:3:4', 'at process.run (node:internal/process:5:6)'],
    },
    { isForeign: false, lines: ['at \\u202emain (/app/src/main.ts:7:8)'] },
  ])
  expect(stackParts('[redacted]')).toEqual([{ isForeign: false, lines: ['[redacted]'] }])
})

test('the filter accepts a value of args by its path', () => {
  const query = new URLSearchParams('status=failed&args.order.id=4711&args.=x&args.paid=')
  expect(tokensOf(query)).toEqual([
    { name: 'status', value: 'failed' },
    { name: 'args.order.id', value: '4711' },
  ])
  expect(filterOf(query, { now: NOW })).toEqual({ status: 'failed', args: { 'order.id': '4711' } })
  expect(typed('failed args.order.id:4711')).toEqual({ status: 'failed', 'args.order.id': '4711' })
  query.set('sort', 'ended')
  expect(filterOf(query, { now: NOW })).not.toHaveProperty('sort')
})

test('the filter is the query string', () => {
  const query = new URLSearchParams('status=failed&queue=media&status=x&cursor=9')
  expect(tokensOf(query)).toEqual([
    { name: 'status', value: 'failed' },
    { name: 'queue', value: 'media' },
  ])
  const moments = { now: NOW, deployedAt: NOW - 5_000 }
  expect(filterOf(query, moments)).toEqual({ status: 'failed', queue: 'media', cursor: '9' })
  const all =
    'status=failed,terminated,x&since=6h&until=2026-01-01T00:00:00Z&longer=1m&waits=retry&callback=FAILED&tag=gpu'
  expect(filterOf(new URLSearchParams(all), moments)).toEqual({
    status: ['failed', 'terminated'],
    since: NOW - 6 * 3_600_000,
    until: Date.UTC(2026, 0),
    longer: 60_000,
    waits: 'retry',
    callback: 'FAILED',
    tag: 'gpu',
  })
  const order = (query: string) => filterOf(new URLSearchParams(query), moments)
  expect(order('sort=ended&status=failed&cursor=9.1.0')).toEqual({ status: 'failed', sort: 'ended', cursor: '9.1.0' })
  expect(order('sort=ended&status=running&cursor=9.1.0')).toEqual({ status: 'running' })
  expect(order('sort=ended&cursor=9')).toEqual({ sort: 'ended' })
  expect(filterOf(new URLSearchParams('since=deploy'), moments)).toEqual({ since: NOW - 5_000 })
  expect(filterOf(new URLSearchParams('since=deploy&status=x&longer=long&waits=tea'), { now: NOW })).toEqual({})
  expect(typed('failed,terminated since:6h waits:limit')).toEqual({
    status: 'failed,terminated',
    since: '6h',
    waits: 'limit',
  })
  expect(typed('failed queue:media resize')).toEqual({ status: 'failed', queue: 'media', class: 'resize' })
  expect(typed('#48231')).toEqual({ job: '48231' })
})

describe('the history of a job', () => {
  const reason = (code: string, data: Reason['data'] = {}, more: Partial<Reason> = {}): Reason => ({
    code,
    message: 'in other words',
    data,
    since: NOW,
    ...more,
  })
  const job: JobRow = {
    id: 7,
    queue: 'mail',
    class: 'send',
    status: 'queued',
    name: null,
    parent: null,
    aliases: [],
    priority: 0,
    group: null,
    labels: {},
    tag: null,
    attempt: 0,
    createdAt: NOW,
    ranAt: null,
    endedAt: null,
    runAt: null,
    progress: null,
    run: null,
    message: null,
    callback: null,
    reason: reason('QUEUED', { queue: 'mail' }),
  }
  const until = NOW + 5
  const at = { of: 'until', moment: until } as const

  test.each<[string, Partial<JobRow>, ReturnType<typeof happened>]>([
    ['ready', {}, { text: 'It is ready in queue mail' }],
    ['a pull', { reason: reason('PULL') }, { text: 'It waits for a pull worker to claim it' }],
    ['a limit', { reason: reason('LIMITED', { limit: 'stripe' }) }, { text: 'Limit stripe is full' }],
    ['later', { reason: reason('DUE', {}, { until }) }, { text: 'It is scheduled to run', at }],
    ['a slot', { reason: reason('REPEAT', {}, { until }) }, { text: 'It repeats: the next run is', at }],
    ['a lock', { reason: reason('LOCKED', {}, { until }) }, { text: 'It is locked: the lock ends', at }],
    [
      'backoff',
      { reason: reason('BACKOFF', {}, { until }), message: 'no answer' },
      { text: 'It tries again', at, after: 'no answer' },
    ],
    ['children', { reason: reason('CHILDREN', { waiting: 2 }) }, { text: 'It waits for 2 children' }],
    ['its parent', { reason: reason('PARENT', { parent: 6 }) }, { text: 'It waits for its parent' }],
    ['a value', { reason: reason('INPUT', { port: 'paid' }) }, { text: 'It waits for a value on port paid' }],
    ['a message', { reason: reason('MESSAGE', { channel: '/a' }) }, { text: 'It waits for a message on channel /a' }],
    ['its shutdown run', { status: 'terminating' }, { text: 'ends after its shutdown run' }],
    ['nobody', { status: 'failed', reason: reason('FAILED'), message: 'no' }, { text: 'no' }],
    [
      'no cause, because it is completed',
      { status: 'completed', ranAt: NOW - 5, reason: reason('COMPLETED') },
      { text: '' },
    ],
    [
      'no cause, because its schedule was stopped',
      { status: 'completed', reason: reason('COMPLETED') },
      { text: 'completed without a run' },
    ],
    [
      'no cause, because it was cancelled',
      { status: 'terminated', reason: reason('CANCELLED') },
      { text: 'It was cancelled' },
    ],
    [
      'its run',
      { status: 'running', ranAt: NOW - 5, progress: '0.34' as Encoded, reason: null },
      { text: '34% done, running for', at: { of: 'since', moment: NOW - 5 } },
    ],
  ])('is shown while it waits for %s', (_, more, told) => expect(happened({ ...job, ...more })).toEqual(told))

  test('a paused queue is the first reason, and only for ready jobs', () => {
    const paused = new Set(['mail'])
    expect(happened(job, paused).text).toBe('Queue mail is paused')
    expect(happened(job, new Set(['other'])).text).toBe('It is ready in queue mail')
    expect(happened({ ...job, reason: reason('DUE', {}, { until }) }, paused).text).toBe('It is scheduled to run')
  })

  test.each([
    ['0.61', 0.61],
    ['{"progress":61}', 0.61],
    ['"half"', undefined],
    ['-1', undefined],
  ])('progress %s is shown as %s', (progress, share) => expect(shareOf(progress)).toBe(share))

  test('the message of an error is shortened and has no control characters', () => {
    expect(messageOf('{"message":"a\\u0007b"}')).toBe('a\\u0007b')
    expect(messageOf('"x"')).toBe('x')
    expect(messageOf(JSON.stringify({ message: 'y'.repeat(500) }))).toHaveLength(301)
  })

  test('a line of the log begins with its message', () => {
    expect(linesOf('{"message":"mail sent","to":"c_8812"}')).toEqual({ text: 'mail sent', rest: '{"to":"c_8812"}' })
    expect(linesOf('{"error":"503"}')).toEqual({ text: '503', rest: '' })
    expect(linesOf('{"message":"no","backtrace":"TypeError: no","level":"error"}')).toEqual({ text: 'no', rest: '' })
    expect(linesOf('"plain"')).toEqual({ text: 'plain', rest: '' })
  })
})

describe('a timeline', () => {
  const job = { ...view, status: 'suspended' as const, createdAt: 0, ranAt: DAY, endedAt: null, runAt: null }
  const runs = [
    { startedAt: DAY, endedAt: DAY + 20, outcome: 'suspended', attempt: 0, number: 2 },
    { startedAt: 10, endedAt: 30, outcome: 'failed', attempt: 1, number: 1 },
  ]

  test('has runs in order, with waits between them', () => {
    const [own] = rowsOf({ job, runs, steps: [], family: [] }, 2 * DAY)
    expect(own!.stretches.map(({ kind, from, to }) => [kind, from, to])).toEqual([
      ['queued', 0, 10],
      ['failed', 10, 30],
      ['waiting', 30, DAY],
      ['done', DAY, DAY + 20],
      ['waiting', DAY + 20, 2 * DAY],
    ])
  })

  test('has a separate part for runs that are not stored', () => {
    const later = runs.map((run, i) => ({ ...run, number: i === 0 ? 7 : 3 }))
    const [own] = rowsOf({ job, runs: later, steps: [], family: [] }, 2 * DAY)
    expect(own!.stretches.map(({ kind, text }) => [kind, text])).toEqual([
      ['unstored', '2 runs not stored'],
      ['failed', 'run 3'],
      ['unstored', '3 runs not stored'],
      ['done', 'run 7'],
      ['waiting', undefined],
    ])
  })

  test('a ready job is shown as waiting until it was ready, and then as queued', () => {
    const ready = { code: 'QUEUED', since: DAY + 500, message: '', data: {} } as const
    const [own] = rowsOf({ job: { ...job, status: 'queued' }, runs, reason: ready, steps: [], family: [] }, 2 * DAY)
    expect(own!.stretches.slice(-2).map(({ kind, from, to }) => [kind, from, to])).toEqual([
      ['waiting', DAY + 20, DAY + 500],
      ['queued', DAY + 500, 2 * DAY],
    ])
  })

  test('the runs of a child are drawn like the runs of its parent', () => {
    const family = [{ name: 'mail', job: { ...job, id: 9 }, runs }]
    const [own, child] = rowsOf({ job, runs, steps: [], family }, 2 * DAY)
    expect(child!.stretches).toEqual(own!.stretches)
    expect(child!.note).toBe(`${job.class} #9`)
  })

  test('marks a run that is drawn too short, and draws shorter runs to scale', () => {
    const busy = [
      [10, 20],
      [20, 50],
      [50, HOUR],
    ] as const
    const { breaks, place } = scaleOf(0, HOUR, busy)
    expect(breaks.map(({ length }) => length)).toEqual([HOUR - 10])
    const apart = [
      [0, 10],
      [20, 50],
      [60, HOUR],
    ] as const
    const scale = scaleOf(0, HOUR, apart)
    expect(scale.breaks.map(({ length }) => length)).toEqual([HOUR - 60])
    expect((scale.place(50) - scale.place(20)) / (scale.place(10) - scale.place(0))).toBeCloseTo(3)
    expect(place(HOUR)).toBeCloseTo(96.4)
  })

  test('milliseconds in the queue were drawn as 40% of a run of six minutes', () => {
    const { place, breaks } = scaleOf(0, 360_005, [[5, 360_005]])
    expect(breaks).toEqual([])
    expect(place(5)).toBeCloseTo((5 / 360_005) * place(360_005))
  })

  test('draws long waits with equal width, and prints their duration', () => {
    const rows = rowsOf({ job, runs, steps: [], family: [] }, 2 * DAY)
    const scale = scaleOf(0, 2 * DAY, busyIn(rows))
    expect(scale.breaks.map(({ length }) => length)).toEqual([DAY - 30, DAY - 20])
    const width = (from: number, to: number) => scale.place(to) - scale.place(from)
    expect(width(30, DAY)).toBeCloseTo(width(DAY + 20, 2 * DAY))
    expect(width(10, 30)).toBeGreaterThan(5)
    expect(scale.place(2 * DAY)).toBeCloseTo(96.4)
  })
})

test('a blocking job outside the chain shows the numbers of the limit that it waits for', () => {
  const link = (job: number, reasons: object[]) => ({
    job,
    class: 'c',
    queue: 'q',
    status: 'queued',
    running: false,
    run: null,
    reasons,
  })
  const waits = { code: 'CHILDREN', message: 'it waits', data: { waiting: 2 }, since: 0 }
  const due = { code: 'DUE', message: 'it is due', data: {}, since: 0, until: 9_000 }
  const why = { ...link(1, [waits]), chain: [link(2, [due])] } as unknown as Why
  const child = { id: 3, class: 'order', status: 'queued', waitingAt: 'stripe' } as unknown as JobView
  const limits = [{ key: 'stripe', concurrency: 25, running: 25, waiting: 1_204 }]
  const [, beside] = cellsOf(why, [child], { now: 0, zone: 'UTC' }, limits)
  expect(beside).toMatchObject({
    job: 3,
    text: 'Limit stripe is full: 25 of 25.',
    sub: '1,204 jobs are waiting for it.',
  })
  expect(cellsOf(why, [child], { now: 0, zone: 'UTC' })[1]!.text).toBe('Limit stripe is full.')
})

test.each(['VERSION', 'CODE_CHANGED'])('a tenant read at %s what only the operator can do', (code) => {
  const reason = { code, message: '', since: 0, until: 1, data: {} }
  const why = {
    job: 1,
    class: 'work',
    queue: 'q',
    status: 'failed',
    running: false,
    run: null,
    reasons: [reason],
  } as never
  const sub = (tenant?: string) => cellsOf(why, [], { now: 0, zone: 'UTC', tenant })[0]!.sub
  expect(sub()).toMatch(/sidejob move|Restore the code/)
  expect(sub('acme')).toContain('Ask the operator of the deployment to')
  expect(sub('acme')).not.toMatch(/sidejob move|patched/)
})

test.each([
  [0, '0.00'],
  [0.00034, '0.00034'],
  [0.0000001, '0.00000010'],
  [0.5, '0.50'],
  [12.345, '12.35'],
])('a cost of %d is shown as %s', (n, text) => expect(money(n)).toBe(text))

test('prices are read from a setting, and invalid ones are refused', () => {
  expect(readPrices('run=0.00002, second=.5')).toEqual({ run: 0.00002, second: 0.5 })
  expect(readPrices('second=1')).toEqual({ run: 0, second: 1 })
  for (const text of ['', 'run', 'run=-1', 'ms=1', 'run=1;second=2'])
    expect(() => readPrices(text)).toThrow('SIDEJOB_PRICES')
})

const kinds = { at: NOW, looked: 9, muted: 7, isAll: true }

test.each([
  [{ failed: 9, hasMutes: false }, undefined, 9, 'bad', '9 failed'],
  [{ failed: 0, hasMutes: false }, undefined, undefined, undefined, undefined],
  [{ failed: 9, hasMutes: true }, undefined, 9, '', /^9 failed; some may have muted errors/],
  [{ failed: 9, hasMutes: true }, { ...kinds, at: NOW - 10 * MINUTE }, 9, '', /^9 failed; some may have muted errors/],
  [{ failed: 9, hasMutes: true }, { ...kinds, looked: 0, muted: 0 }, 9, '', /^9 failed; some may have muted errors/],
  [{ failed: 9, hasMutes: true }, kinds, 2, 'bad', '2 failed, not counting 7 with muted errors'],
  [{ failed: 7, hasMutes: true }, { ...kinds, looked: 7 }, undefined, undefined, undefined],
  // The kind of jobs that failed after the last count is unknown.
  [{ failed: 12, hasMutes: true }, kinds, 2, 'bad', /with muted errors; 3 failed since the last count/],
  [{ failed: 12, hasMutes: true }, { ...kinds, muted: 9 }, 3, '', /^3 failed since the last count/],
  [{ failed: 1, hasMutes: true }, kinds, 1, 'bad', /^1 failed, not counting 7 with muted errors/],
  [
    { failed: 4_000, hasMutes: true },
    { at: NOW, looked: 1_000, muted: 750, isAll: false },
    1_000,
    'bad',
    'About 1,000 failed, estimated from the newest 1,000, not counting muted errors',
  ],
  [{ failed: 4_000, hasMutes: true }, { ...kinds, muted: 9, isAll: false }, undefined, undefined, undefined],
] as const)('the number next to Jobs for %j with %j is %s %s', (known, seen, n, kind, title) => {
  const sign = failedSign({ ...known, now: NOW }, seen)
  expect([sign?.n, sign?.kind]).toEqual([n, kind])
  if (title !== undefined) expect(sign!.title).toMatch(title)
})

test.each([
  ['every day at 3', '0 3 * * *'],
  ['every day at 2:30', '30 2 * * *'],
  ['Every Monday at 9:30 pm', '30 21 * * MON'],
  ['every weekday at 12am', '0 0 * * MON-FRI'],
  ['every minute', '* * * * *'],
  ['every 15 minutes', '*/15 * * * *'],
  ['every 24 hours', '0 0 * * *'],
  ['every 6 hours', '0 */6 * * *'],
  ['every 7 minutes', 'every 7 minutes'],
  ['every 2 days at 3', 'every 2 days at 3'],
  ['30 2 * * *', '30 2 * * *'],
])('the words “%s” become the pattern %s', (words, pattern) => expect(cronOf(words)).toBe(pattern))

test('an error of an invalid pattern or zone names its field', () => {
  expect(ruleIn('every day at 3', 'Europe/Berlin').source).toEqual({ cron: '0 3 * * *', tz: 'Europe/Berlin' })
  expect(() => ruleIn('soon')).toThrow(
    'When: expected 5 or 6 fields, like "30 2 * * *", got "soon". Phrases such as "every day at 3" work too',
  )
  expect(() => ruleIn('every day at 25')).toThrow(/^When: expected valid cron fields/)
  expect(() => ruleIn('every day at 3', 'Mars/Base')).toThrow(/^Time zone: expected a time zone/)
})
