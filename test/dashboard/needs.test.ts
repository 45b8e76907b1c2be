import { describe, expect, test } from 'vitest'
import { encodeValue } from '../../src/core/codec/value.ts'
import { waitPercentile } from '../../src/core/waits.ts'
import { laneOf, movedBy, passedWords, placeOf, shownIn, ticksOf } from '../../src/dashboard/words/calendar.ts'
import { leftFailed } from '../../src/dashboard/words/class-failures.ts'
import { factOf, markOf } from '../../src/dashboard/words/flow.ts'
import { boundOf, colourOf, isFull, kindOfLimit } from '../../src/dashboard/words/limit.ts'
import type { Known, Need } from '../../src/dashboard/words/need.ts'
import * as needs from '../../src/dashboard/words/needs.ts'
import { asJson, choicesOf, kindOf, readSchema, wordsOf } from '../../src/dashboard/words/schema.ts'
import { columnsOf, niceTop, rangeOf } from '../../src/dashboard/words/series.ts'
import type { FlowNodeView, QueueView, WireView } from '../../src/engine/engine.ts'

const NOW = 1_800_000_000_000
const [MINUTE, HOUR] = [60_000, 3_600_000]

const quiet: Known = {
  now: NOW,
  queues: [],
  limits: [],
  points: [],
  givenUp: [],
  schedules: [],
  breakers: [],
}

const point = (ago: number, counts: object) => ({
  made: 0,
  runs: 0,
  errors: 0,
  completed: 0,
  failed: 0,
  terminated: 0,
  lost: 0,
  skipped: 0,
  longestWait: 0,
  ready: 0,
  running: 0,
  limited: 0,
  oldestReady: null,
  ...counts,
  at: NOW - ago,
})

const queue = (about: object): QueueView =>
  ({
    name: 'mail',
    paused: false,
    mode: 'push',
    lanes: 0,
    maxLanes: 4,
    ageing: null,
    batch: 10,
    oldestReady: null,
    counts: {
      queued: 0,
      running: 0,
      suspended: 0,
      completed: 0,
      failed: 0,
      terminating: 0,
      terminated: 0,
      scheduled: 0,
      limited: 0,
      pull: 0,
      ...(about as { counts?: object }).counts,
    },
    ...Object.fromEntries(Object.entries(about).filter(([name]) => name !== 'counts')),
  }) as QueueView

const failed = (n: number) => [queue({ counts: { failed: n } })]

const limit = {
  key: 'stripe',
  concurrency: 2,
  rate: null,
  paused: false,
  shutUntil: null,
  running: 2,
  waiting: 5,
  waitedSince: null,
}

const schedule = (about: object) => ({
  job: 7,
  class: 'report',
  aliases: ['nightly'],
  status: 'queued',
  failing: true,
  lastRun: { startedAt: NOW - MINUTE, endedAt: NOW, outcome: 'failed', attempt: 1 },
  ...about,
})

const found = (faults: object) => ({
  at: NOW,
  whole: true,
  faults,
  ...(Object.keys(faults).length > 0 ? { since: NOW - HOUR, cursor: '5010' } : { since: null, cursor: null }),
})

test('Overview shows no problems if there are none', () => expect(needs.needsOf(quiet)).toEqual([]))

test.each([
  [
    '20 failures above 1%',
    { points: [point(MINUTE, { failed: 20, completed: 1_000 })], queues: failed(20) },
    ['failing'],
  ],
  ['20 failures that were retried', { points: [point(MINUTE, { failed: 20 })], queues: failed(0) }, []],
  ['19 failures', { points: [point(MINUTE, { failed: 19 })], queues: failed(19) }, []],
  ['many failures below 1%', { points: [point(MINUTE, { failed: 20, completed: 2_000 })], queues: failed(20) }, []],
  ['failures of an hour ago', { points: [point(HOUR, { failed: 99 })], queues: failed(99) }, []],
  ['a lost run', { points: [point(MINUTE, { lost: 1 })] }, ['lost']],
  ['a full limit with waiters for 5 minutes', { limits: [{ ...limit, waitedSince: NOW - 5 * MINUTE }] }, ['limit']],
  ['a full limit with waiters for less', { limits: [{ ...limit, waitedSince: NOW - 5 * MINUTE + 1 }] }, []],
  ['a full limit with waiters since it is not known when', { limits: [limit] }, ['limit']],
  ['a limit with room, at which a job has waited', { limits: [{ ...limit, running: 1, waitedSince: 1 }] }, []],
  ['a full limit without', { limits: [{ ...limit, waiting: 0 }] }, []],
  ['a schedule that failed twice in a row', { schedules: [schedule({ failedInARow: 2 })] }, ['schedule']],
  ['a schedule that failed once', { schedules: [schedule({ failedInARow: 1 })] }, []],
  ['a schedule that stopped as it failed', { schedules: [schedule({ status: 'failed' })] }, ['schedule']],
  ['a schedule whose last run went well', { schedules: [schedule({ failing: false, failedInARow: 2 })] }, []],
  ['a late schedule that failed once', { schedules: [schedule({ lateAt: NOW - HOUR })] }, ['late']],
  ['a fault of the doctor', { examined: found({ job: 2, alias: 1 }) }, ['doctor']],
  ['a doctor who found none', { examined: found({}) }, []],
  ['a paused queue with jobs', { queues: [queue({ paused: true, counts: { queued: 3 } })] }, ['paused']],
  ['an empty paused queue', { queues: [queue({ paused: true })] }, []],
  ['a job that waits while lanes are free', { queues: [queue({ oldestReady: NOW - 2 * MINUTE, lanes: 1 })] }, ['slow']],
  [
    'a job that waits while all lanes are open',
    { queues: [queue({ oldestReady: NOW - 2 * MINUTE, lanes: 4 })] },
    ['busy'],
  ],
  ['a job that waits for half a minute', { queues: [queue({ oldestReady: NOW - MINUTE / 2 })] }, []],
  ['QStash that refuses', { bells: { refused: 3, why: 'answered 500', since: NOW } }, ['bells']],
  ['a tick of 3 minutes ago', { tickAt: NOW - 3 * MINUTE }, []],
  ['a tick of more than 3 minutes ago', { tickAt: NOW - 3 * MINUTE - 1 }, ['tick']],
  ['no tick, where jobs were made 4 minutes ago', { tickAt: null, points: [point(4 * MINUTE, { made: 1 })] }, ['tick']],
  ['no tick, because the first jobs were created just now', { tickAt: null, points: [point(MINUTE, { made: 1 })] }, []],
  ['no tick at a tenant', { points: [point(4 * MINUTE, { made: 1 })] }, []],
  ['Redis that went back', { restored: { times: 1, noticedAt: NOW, lost: { from: 4, to: 9 } } }, ['restored']],
  [
    'a host with an open breaker',
    { breakers: [{ host: 'a.example', of: 'workers', failures: 5, until: NOW }] },
    ['breaker'],
  ],
])('%s', (_, known, rules) => {
  expect(needs.needsOf({ ...quiet, ...known } as never).map(({ rule }) => rule)).toEqual(rules)
})

test('a full limit is shown with the time since jobs wait for it', () => {
  const [need] = needs.needsOf({ ...quiet, limits: [{ ...limit, waitedSince: NOW - 7 * MINUTE }] })
  expect(need).toMatchObject({ name: 'stripe', since: NOW - 7 * MINUTE })
})

test('faults of the doctor are shown with their objects, their age, and the page that lists them', () => {
  const [need] = needs.needsOf({ ...quiet, examined: found({ job: 2, alias: 1 }) })
  expect(need).toMatchObject({ name: '3 faults', more: 'At 2 jobs, 1 alias', since: NOW - HOUR })
  expect(need!.buttons).toEqual([{ to: '/doctor?cursor=5010', text: 'Open doctor' }])
})

test('a schedule is shown with the number of its failures in a row, since its last run, and can be run', () => {
  const [need] = needs.needsOf({ ...quiet, schedules: [schedule({ failedInARow: 3 })] } as never)
  expect(need).toMatchObject({ name: 'nightly', text: 'Schedule {} failed 3 times in a row.', since: NOW })
  expect(need!.buttons.map(({ text }) => text)).toEqual(['Why', 'Run now'])
  const [stopped] = needs.needsOf({ ...quiet, schedules: [schedule({ status: 'failed' })] } as never)
  expect(stopped!.text).toBe('Schedule {} has failed, and no longer repeats.')
})

const kindOf15 = (about: { class?: string; error?: string; n: number; ago?: number }) => ({
  error: about.error ?? 'e1',
  class: about.class ?? 'resize',
  queues: ['media'],
  message: 'no answer within #',
  example: 'no answer within 30 s',
  frame: null,
  count: 412,
  firstAt: NOW - 48 * MINUTE,
  lastAt: NOW,
  jobs: [1],
  minutes: [{ at: NOW - (about.ago ?? 2 * MINUTE), count: about.n }],
})

const hoursOf = (name: string, completed: number, queue = 'media') => ({
  queue,
  class: name,
  counts: {},
  waited: null,
  took: null,
  hours: [{ at: Math.floor(NOW / HOUR) * HOUR, completed, failed: 0, lost: 0 }],
})

test('Overview showed nothing when runs took far longer than the other runs of their class', () => {
  const run = (job: number, name: string, ago: number) => ({
    job,
    queue: 'media',
    class: name,
    startedAt: NOW - ago,
    leaseUntil: NOW + HOUR,
  })
  const took = { mean: 1_000, p50: 1_000, p95: 5_000 }
  const classes = ['resize', 'label'].map((name) => ({ ...hoursOf(name, 9), took }))
  const said = (runs: ReturnType<typeof run>[]) =>
    needs
      .stuckRuns(runs as never, { ...quiet, classes } as never)
      .map(({ name, text, more, since, buttons }) => [name, text, more, since, buttons.length])
  expect(said([run(1, 'resize', 49_000), run(2, 'new', HOUR)])).toEqual([])
  const one = [run(3, 'resize', 8 * MINUTE), run(4, 'resize', 30_000)]
  expect(said(one)).toEqual([['resize', '1 run of {} may be stuck.', 'Usually 5 s or less', NOW - 8 * MINUTE, 1]])
  const [need] = needs.stuckRuns(
    [...one, run(5, 'resize', 9 * MINUTE), run(6, 'label', 2 * MINUTE)] as never,
    { ...quiet, classes } as never,
  )
  expect(need).toMatchObject({
    text: '2 runs of {} and 1 run of another class may be stuck.',
    more: 'Usually 5 s or less',
  })
  expect(need!.buttons[0]).toEqual({ to: '/jobs/5', text: 'See the oldest' })
})

describe('a class that fails', () => {
  const busy = [point(2 * MINUTE, { failed: 200, completed: 20_000 })]
  const told = (known: object) =>
    needs
      .needsOf({ ...quiet, points: busy, pointsByQueue: { media: busy }, ...known } as never)
      .map(({ name, text }) => [name, text])

  test('is a problem even if 20,000 jobs of other classes in its queue completed', () => {
    const kinds = [
      kindOf15({ class: 'parse_csv', error: 'a', n: 12 }),
      kindOf15({ class: 'charge_card', error: 'b', n: 40 }),
      kindOf15({ class: 'sync_customer', error: 'c', n: 104 }),
    ]
    const classes = [hoursOf('parse_csv', 0), hoursOf('charge_card', 20), hoursOf('sync_customer', 9_896)]
    expect(told({ kinds, classes })).toEqual([
      ['sync_customer', '104 jobs of {} failed in the last 15 minutes; at most 9,896 completed.'],
      ['charge_card', '40 jobs of {} failed in the last 15 minutes; at most 20 completed.'],
      ['parse_csv', '12 jobs of {} failed in the last 15 minutes, and none completed.'],
    ])
  })

  test.each([
    ['3 of 3', 3, 0, 1],
    ['2 of 2', 2, 0, 0],
    ['19 of 20', 19, 1, 1],
    ['4 of 8', 4, 4, 1],
    ['4 of 9', 4, 5, 0],
    ['20 of 1,999', 20, 1_979, 1],
    ['20 of 2,000', 20, 1_980, 0],
  ])('%s failed: %i failed, %i completed', (_, n, completed, lines) => {
    expect(told({ kinds: [kindOf15({ n })], classes: [hoursOf('resize', completed)] })).toHaveLength(lines)
  })

  test('is not a problem if its failures are 20 minutes old', () => {
    expect(told({ kinds: [kindOf15({ n: 99, ago: 20 * MINUTE })], classes: [hoursOf('resize', 0)] })).toEqual([])
  })

  test('is found by the counts of its queue until the counts of classes are known', () => {
    const alone = [point(2 * MINUTE, { failed: 12 })]
    expect(told({ kinds: [kindOf15({ n: 12 })], pointsByQueue: { media: alone } })).toHaveLength(1)
    expect(told({ kinds: [kindOf15({ n: 12 })] })).toEqual([])
  })

  test('has a button that retries its only kind of error, or otherwise all its failed jobs', () => {
    const known = (kinds: object[]) => ({ ...quiet, kinds, classes: [hoursOf('resize', 0)] }) as never
    const [one] = needs.needsOf(known([kindOf15({ n: 25 })]))
    expect(one).toMatchObject({ name: 'resize', since: NOW - 2 * MINUTE, more: '“no answer within 30 s”' })
    const retried = { act: 'selected', scope: 'admin', text: 'Retry all', fields: { do: 'retry', fit: 'all' } }
    const ofClass = '/jobs?status=failed&class=resize'
    const buttonsAt = (at: string) => [
      { to: at, text: 'See failed jobs' },
      { ...retried, at },
    ]
    expect(one!.buttons).toMatchObject(buttonsAt(`${ofClass}&error=e1`))
    const [two] = needs.needsOf(known([kindOf15({ n: 25 }), kindOf15({ n: 3, error: 'e2' })]))
    expect(two).toMatchObject({ more: '“no answer within 30 s” and 1 other error' })
    expect(two!.buttons).toMatchObject(buttonsAt(ofClass))
  })

  test('is no longer an alert after 15 minutes, but still a row while 24 of its jobs have failed', () => {
    const completed = (n: number) => [{ ...hoursOf('resize', 0), hours: [{ at: NOW - HOUR, completed: n }] }]
    const rows = (kinds: object[], more: object = {}) => {
      const known = { ...quiet, kinds, classes: completed(40), ...more } as never
      const found = needs.needsOf(known)
      return [...found, ...leftFailed(known, found)].map(({ rule, name, text }) => [rule, name, text])
    }
    const kind = (about: object = {}) => ({ ...kindOf15({ n: 23, ago: 21 * MINUTE }), count: 24, ...about })
    const text = '24 jobs of {} have failed, the last 18 min ago.'
    const last = { lastAt: NOW - 18 * MINUTE }
    expect(rows([kind(last)])).toEqual([['failed', 'resize', text]])
    expect(rows([kind({ ...last, class: 'callback' })])).toEqual([])
    expect(rows([{ ...kind(), ...kindOf15({ n: 24 }) }]).map(([rule]) => rule)).toEqual(['failing'])
    // Without counts per minute, the class never had an alert, so it gets no row.
    expect(rows([kind({ ...last, minutes: [] })])).toEqual([])
    expect(rows([kind(last)], { classes: completed(9_000) })).toEqual([])
    // Redis stores failures per minute for six hours, and completed jobs for a day.
    const old = (hours: number, n = 24) => {
      const at = NOW - hours * HOUR
      return kind({ count: n, minutes: [], firstAt: at - 10 * MINUTE, lastAt: at })
    }
    expect(rows([old(30)])).toEqual([['failed', 'resize', '24 jobs of {} have failed, the last 1 d ago.']])
    expect(rows([old(30, 19)])).toEqual([])
    expect(rows([old(8, 19)])).toEqual([['failed', 'resize', '19 jobs of {} have failed, the last 8 h ago.']])
  })

  test('a problem with lost runs names their classes', () => {
    const classes = [{ ...hoursOf('resize', 0), hours: [{ at: Math.floor(NOW / HOUR) * HOUR, completed: 0, lost: 3 }] }]
    const [need] = needs.needsOf({ ...quiet, classes, points: [point(MINUTE, { lost: 3 })] } as never)
    expect(need).toMatchObject({ name: '3 runs', more: expect.stringMatching(/^Classes: resize\. /) })
  })
})

test('Overview said that lanes were free although the jobs waited for a pull worker', () => {
  const told = (counts: object) => {
    const queues = [queue({ name: 'core', oldestReady: NOW - 10 * MINUTE, lanes: 1, counts })]
    const [{ rule, text, more, buttons }] = needs.needsOf({ ...quiet, queues }) as [Need]
    return [rule, text, more, buttons.map((button) => 'to' in button && button.to)]
  }
  expect(told({ queued: 5, scheduled: 1, limited: 1, pull: 3 })).toEqual([
    'unclaimed',
    'A job in queue {} has waited for a pull worker for 10 min.',
    '3 jobs wait for one',
    ['/queues/core', '/workers?q=core%2F'],
  ])
  const ready = 'A job in queue {} has been ready for 10 min.'
  expect(told({ queued: 3, pull: 1 })).toEqual([
    'slow',
    ready,
    '1 job waits for a pull worker; 3 jobs wait',
    ['/queues/core'],
  ])
  expect(told({ queued: 3 })).toEqual(['slow', ready, 'Lanes are free; 3 jobs wait', ['/queues/core']])
})

test('“Retry all” was offered for failures that began with the running version, and no deploy was named', () => {
  const deploy = (ago: number, version: string, author: string) => ({ id: 'd', at: NOW - ago, version, author })
  const deploys = [deploy(10 * MINUTE, '88f62d2b', 'Ben Ode'), deploy(HOUR, 'a41c07e9', 'Ann Lee')]
  const told = (firstAt: number, known = deploys) => {
    const kinds = [{ ...kindOf15({ n: 25 }), firstAt }]
    const [{ more, buttons }] = needs.needsOf({
      ...quiet,
      kinds,
      classes: [hoursOf('resize', 0)],
      deploys: known,
    } as never) as [Need]
    const last = buttons.at(-1)!
    return [more, last.text, 'to' in last && last.to]
  }
  const error = '“no answer within 30 s”'
  const named = `${error}, new since the deploy of 88f62d2b by Ben Ode`
  expect(told(NOW - 9 * MINUTE)).toEqual([named, 'Roll back', `/deploys?of=d&at=${NOW - 10 * MINUTE}#back`])
  expect(told(NOW - 11 * MINUTE)).toEqual([error, 'Retry all', false])
  expect(told(NOW - 9 * MINUTE, deploys.slice(0, 1))).toEqual([error, 'Retry all', false])
  expect(told(NOW - MINUTE, [deploy(2 * HOUR, '88f62d2b', 'Ben Ode'), deploys[1]!])).toEqual([
    error,
    'Retry all',
    false,
  ])
})

test('muted kinds of errors are not counted as failures', () => {
  const kind = (n: number) => ({
    error: 'e1',
    class: 'resize',
    message: 'no answer',
    example: 'no answer',
    count: n,
    firstAt: NOW,
    lastAt: NOW,
    minutes: [{ at: NOW - 2 * MINUTE, count: n }],
  })
  const told = (n: number, known: object) => {
    const points = [point(2 * MINUTE, { failed: n, completed: 10 })]
    return needs
      .needsOf({ ...quiet, queues: failed(n), points, ...known } as never)
      .map(({ name, text }) => [name, text])
  }
  expect(told(30, { kinds: [] })).toEqual([])
  expect(told(40, { kinds: [kind(15)] })).toEqual([])
  const rest = '{} failed in the last 15 minutes.'
  expect(told(40, { kinds: [kind(25)] })).toEqual([['25 of 50 jobs', rest]])
})

test('failed callbacks are shown once per host, and can be sent again', () => {
  const callback = {
    state: 'FAILED',
    of: 7,
    end: 1,
    url: 'https://hooks.example/a',
    attempts: 10,
    lastError: 'answered 503',
    job: 9,
    createdAt: NOW,
    nextAt: null,
    endedAt: NOW,
  }
  const [need, ...more] = needs.needsOf({ ...quiet, givenUp: [callback, { ...callback, of: 8 }] as never })
  expect(more).toEqual([])
  expect(need).toMatchObject({ name: 'hooks.example', text: '2 callbacks to {} ran out of attempts.' })
  expect(need!.buttons.map(({ text }) => text)).toEqual(['See them', 'Resend'])
})

test('one failed callback was above 17 failed jobs of a class and above a full limit with 5 waiting jobs', () => {
  const callback = { url: 'https://hooks.example/a', createdAt: NOW - HOUR, endedAt: NOW - HOUR }
  const old = { ...kindOf15({ n: 16, ago: 21 * MINUTE }), count: 17, lastAt: NOW - 18 * MINUTE }
  const known = {
    ...quiet,
    givenUp: [callback],
    limits: [{ ...limit, waitedSince: NOW - 2 * HOUR }],
    queues: [queue({ name: 'core', oldestReady: NOW - 10 * MINUTE, counts: { queued: 6 } })],
    kinds: [old, { ...old, class: 'parse', count: 18 }],
    classes: [hoursOf('resize', 0), hoursOf('parse', 0)],
  } as never
  const found = needs.needsOf(known)
  const shown = needs.inOrder([...found, ...leftFailed(known, found)], NOW)
  expect(shown.map(({ name }) => name)).toEqual(['parse', 'resize', 'core', 'stripe', 'hooks.example'])
})

test('the worst problem is first, and all problems are counted', () => {
  const queues = Array.from({ length: 9 }, (_, i) => queue({ name: `q${i}`, paused: true, counts: { queued: 1 } }))
  const found = needs.needsOf({ ...quiet, queues: [...queues, ...failed(30)], points: [point(MINUTE, { failed: 30 })] })
  expect(found).toHaveLength(10)
  expect(found[0]!.rule).toBe('failing')
})

test('a limit is shown as full only if jobs wait, and with its maximum', () => {
  expect(isFull(limit)).toBe(true)
  expect(kindOfLimit({ ...limit, key: 'worker:media/resize', rate: { limit: 500, period: MINUTE } })).toBe(
    'max 2 running, 500 per minute, of the class',
  )
  expect(
    [
      [25, 1_000],
      [3, 90_000],
    ].map(([most, period]) => boundOf({ rate: { limit: most!, period: period! } })),
  ).toEqual(['25 per second', '3 per 1 m 30 s'])
  expect(['shop-114', 'shop-31', 'shop-7', null].map(colourOf)).toEqual(['g7', 'g6', 'g3', 'g0'])
})

test('charts have a column for every moment', () => {
  const range = rangeOf('1h')
  const columns = columnsOf([point(MINUTE, { completed: 3 }), point(2 * HOUR, { completed: 9 })], range, NOW)
  expect(columns).toHaveLength(60)
  expect(columns.reduce((sum, { completed }) => sum + completed, 0)).toBe(3)
  expect([niceTop(0), niceTop(1_130), niceTop(21)]).toEqual([4, 1_200, 30])
  expect(waitPercentile([5, 90, 5], 0.5)).toBe(100)
  expect(waitPercentile([], 0.5)).toBeUndefined()
})

const drawn = {
  nextAt: null,
  lastRun: null,
  paused: false,
  missed: null,
  moved: null,
  repeat: encodeValue({ cron: '0 * * * *' })!,
  status: 'queued',
} as const

test('a calendar marks past slots by their outcome, and a slot that is moved by a clock change', () => {
  const shown = shownIn(new URLSearchParams(), NOW)
  const hour = Math.floor(NOW / HOUR) * HOUR
  const missed = { from: hour - 20 * HOUR, to: hour - 10 * HOUR, count: 11, more: false }
  const kinds = (made: 'each' | 'one' | 'none') => {
    const { marks } = laneOf({ ...drawn, missed: { ...missed, made } }, shown)
    return marks.map(({ at, kind }) => [(at - hour) / HOUR, kind])
  }
  expect(kinds('none')).toEqual([
    [-12, 'passed'],
    [-11, 'passed'],
    [-10, 'passed'],
  ])
  expect(kinds('one').map(([, kind]) => kind)).toEqual(['caught', 'caught', 'caught'])
  expect(passedWords({ ...missed, made: 'one' })).toBe('11 slots missed; replaced by one run')
  const moved = { at: hour + HOUR, wall: '2027-03-28 02:30' }
  expect(laneOf({ ...drawn, nextAt: hour + HOUR, moved }, shown).marks.slice(0, 2)).toEqual([
    { at: hour + HOUR, kind: 'moved' },
    { at: hour + 2 * HOUR, kind: 'next' },
  ])
})

test('a calendar has dots for slots, and a band for too many slots', () => {
  const shown = shownIn(new URLSearchParams(), NOW)
  const last = { startedAt: NOW - HOUR, endedAt: NOW, outcome: 'failed', attempt: 1 } as const
  const threeHourly = { ...drawn, repeat: encodeValue({ cron: '0 */3 * * *' })!, nextAt: NOW + HOUR, lastRun: last }
  const kinds = (lane: ReturnType<typeof laneOf>) => lane.marks.map(({ kind }) => kind)
  expect(kinds(laneOf(threeHourly, shown))).toEqual(['failed', ...Array(4).fill('next')])
  const runs = [last, { ...last, startedAt: NOW - 4 * HOUR, outcome: 'completed' } as const]
  expect(kinds(laneOf({ ...threeHourly, nextAt: null }, shown, runs))).toEqual(['failed', 'completed'])
  const minutely = { ...drawn, repeat: encodeValue({ cron: '* * * * *' })!, nextAt: NOW + MINUTE }
  expect(laneOf(minutely, shown)).toEqual({ marks: [], band: { from: NOW + MINUTE, to: shown.to } })
  expect(laneOf({ ...minutely, paused: true }, shown)).toEqual({ marks: [] })
  expect(placeOf(NOW, shown)).toBe(50)
  const late = { ...threeHourly, lastRun: null, nextAt: NOW - HOUR }
  expect(kinds(laneOf(late, shown))).toEqual(['overdue', ...Array(4).fill('next')])
  expect(kinds(laneOf({ ...late, status: 'running' }, shown))).toEqual(Array(5).fill('next'))
  expect(laneOf({ ...minutely, nextAt: NOW - 5 * MINUTE }, shown)).toEqual({
    marks: [{ at: NOW - 5 * MINUTE, kind: 'overdue' }],
    band: { from: NOW, to: shown.to },
  })
  expect(ticksOf(shown).length).toBeGreaterThan(5)
})

test('on a page 1,280 pixels wide, the hours above the schedules touched each other', () => {
  const [track, text, gap] = [274, 30, 8]
  const shown = shownIn(new URLSearchParams(), NOW)
  const places = ticksOf(shown).map((at) => (placeOf(at, shown) / 100) * track)
  for (const [i, place] of places.slice(1).entries()) expect(place - places[i]!).toBeGreaterThan(text + gap)
})

test('a suspended node with 190 waiting values said “waits for input”', () => {
  const node = { name: 'price', status: 'suspended', until: null, limit: null } as FlowNodeView
  const wire = { to: { node: 'price', port: 'in' }, size: 190, oldestAt: NOW - 2 * MINUTE } as WireView
  const said = (wires: WireView[]) => [factOf(node, { now: NOW, wires }), markOf(node, { now: NOW, wires })]
  expect(said([wire])).toEqual(['does not read its input', 'suspended'])
  expect(said([{ ...wire, size: 0, oldestAt: null }])).toEqual(['waits for input', undefined])
  expect(said([wire, { ...wire, to: { node: 'price', port: 'rate' }, size: 0 }])).toEqual([
    'waits for rate',
    'suspended',
  ])
})

test('the address contains the day or week of the calendar', () => {
  const at = (search: string) => shownIn(new URLSearchParams(search), NOW)
  expect(at('view=week&from=2027-01-10T00:00Z')).toMatchObject({
    from: Date.parse('2027-01-10'),
    to: Date.parse('2027-01-17'),
    isNow: false,
  })
  const today = at('')
  expect([today.to - today.from, today.isNow]).toEqual([24 * HOUR, true])
  const later = new URL(movedBy(today, 1), 'http://x').searchParams
  const next = shownIn(later, NOW)
  expect(next.from - today.from).toBeGreaterThan(23 * HOUR)
  expect(next.from - today.from).toBeLessThanOrEqual(24 * HOUR)
  expect(movedBy(shownIn(new URL(movedBy(next, -1), 'http://x').searchParams, NOW), 1)).toBe(movedBy(next, 0))
  const far = at(`from=${new Date(NOW + 60 * 24 * HOUR).toISOString()}`)
  const { marks } = laneOf({ ...drawn, nextAt: NOW + HOUR }, far)
  expect(marks.length).toBeGreaterThanOrEqual(24)
  expect(marks.every(({ at, kind }) => kind === 'next' && at >= far.from && at <= far.to)).toBe(true)
  const before = at(`from=${new Date(NOW - 48 * HOUR).toISOString()}`)
  const ran = { startedAt: NOW - 30 * HOUR, outcome: 'completed' } as const
  expect(laneOf({ ...drawn, nextAt: NOW + HOUR }, before, [ran, { ...ran, startedAt: NOW - HOUR }]).marks).toEqual([
    { at: NOW - 30 * HOUR, kind: 'completed' },
  ])
})

test.each([
  ['{"type":"string","format":"uri"}', 'text', 'text, a URL'],
  ['{"enum":["webp","avif"]}', 'choice', 'webp | avif'],
  ['{"type":"array","items":{"type":"integer"}}', 'list', 'list of whole numbers'],
  ['{"type":"array","items":{"type":"object"}}', 'json', 'list of object'],
  ['{"type":"object"}', 'json', 'object'],
  ['{"enum":[12345678901234567890]}', 'json', '12345678901234567000'],
  ['{"type":"object","properties":{"id":{}}}', 'object', '{ id }'],
  ['{"type":"boolean"}', 'boolean', 'yes or no'],
  ['no schema', 'json', 'any'],
])('the schema %s is a field for %s', (schema, kind, words) => {
  expect(kindOf(readSchema(schema))).toBe(kind)
  expect(wordsOf(readSchema(schema))).toBe(words)
})

test('input is converted to JSON by the kind of its field', () => {
  expect(asJson({ type: 'string' }, 'a"b')).toBe('"a\\"b"')
  expect(asJson({ type: 'boolean' }, 'true')).toBe('true')
  expect(asJson(undefined, '[1]')).toBe('[1]')
  expect(asJson({ enum: [1, '1', true] }, 'true')).toBe('true')
  expect(asJson({ enum: [7, 8] }, '7')).toBe('7')
  expect(choicesOf({ enum: ['a', 2] })).toEqual(['a', '2'])
})
