import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { kindOf } from '../../src/core/fingerprint.ts'
import type { ErrorKind } from '../../src/engine/engine.ts'
import { defineWorker, type Job } from '../../src/index.ts'
import { drain } from '../../src/testing/index.ts'
import { type Kit, startKit } from '../kit/index.ts'

const pay = defineWorker({
  class: 'pay',
  retry: { max: 0 },
  perform(job: Job) {
    const { says, ok } = job.args as { says?: string; ok?: boolean }
    if (!ok) throw new Error(says)
  },
})

let kit: Kit
const made: Record<string, number> = {}
const make = (says: string, more: object = {}) => kit.make('pay', { args: JSON.stringify({ says }), ...more })

beforeAll(async () => {
  kit = await startKit({ workers: [pay], hold: true })
  for (const n of [1, 2, 3]) made[`card${n}`] = await make(`card ${n}242 of "ann ${n}" declined`)
  made.timeout = await make('https://pay.example.com/v1/7 answered 503 after 1,204 ms', { alias: ['order_9917'] })
  made.ok = await kit.make('pay', { args: '{"ok":true}', priority: 3, group: { id: 'shop', concurrency: 2 } })
  await drain(kit.engine, { errors: 'keep' })
})
afterAll(() => kit.close())

describe('a kind of errors', () => {
  const same: [string, string][] = [
    ['card 4242 of "ann" declined', 'card 17 of "bob" declined'],
    ['timeout after 1,204.5 ms', 'timeout after 30 ms'],
    ['no file /tmp/a/b.txt', 'no file /var/c.txt'],
    ['GET https://a.com/x?y=1 answered 500', 'GET https://b.org/ answered 502'],
    ['order 0190f3a2-7c11-4a8e-9b1d-3f2a6c5d4e7f is gone', 'order 11111111-2222-4333-8444-555555555555 is gone'],
    ['token deadbeef01 is old', 'token 00c0ffee99aa is old'],
    ['due 2026-11-22T12:00:00.5Z', 'due 2027-01-01 08:30'],
  ]
  test.each(same)('%s has the same kind as: %s', (one, other) => {
    expect(kindOf('pay', { message: one }).fingerprint).toBe(kindOf('pay', { message: other }).fingerprint)
  })

  test('errors of another class, message or place in the user’s code have another kind', () => {
    const stack = (name: string) => `Error: x\n    at ${name} (/app/src/pay.ts:7:3)\n    at node:internal/x:1:1`
    const kinds = [
      kindOf('pay', { message: 'x' }),
      kindOf('mail', { message: 'x' }),
      kindOf('pay', { message: 'y' }),
      kindOf('pay', { message: 'x', stack: stack('charge') }),
      kindOf('pay', { message: 'x', stack: stack('refund') }),
    ]
    expect(new Set(kinds.map(({ fingerprint }) => fingerprint)).size).toBe(5)
    expect(kinds[3]!.frame).toBe('charge (pay.ts)')
  })

  test('line numbers and frames of libraries and the platform do not change the kind', () => {
    const at = (line: number) =>
      `Error: x\n    at go (/a/node_modules/lib/x.js:1:1)\n    at async charge (file:///app/src/pay.ts?v=${line}:${line}:3)`
    const [one, other] = [kindOf('pay', { message: 'x', stack: at(7) }), kindOf('pay', { message: 'x', stack: at(90) })]
    expect(one).toEqual(other)
  })

  test('a thrown value other than an error has a kind too, and only the beginning of a long message is kept', () => {
    expect(kindOf('pay', {}).fingerprint).toMatch(/^[0-9a-f]{16}$/)
    expect(kindOf('pay', { message: `${'"'.repeat(500_000)}` }).message.length).toBeLessThanOrEqual(3_000)
  })
})

describe('errors', () => {
  test('are counted by kind, the most frequent first, with time and jobs', async () => {
    const { errors, looked, cursor } = await kit.engine.errors.list({})
    expect([looked, cursor]).toEqual([4, null])
    expect(errors).toMatchObject([
      { class: 'pay', queues: ['default'], message: 'card # of <text> declined', count: 3 },
      { message: '<url> answered # after # ms', count: 1, jobs: [made.timeout] },
    ])
    const [cards] = errors
    expect(cards).toMatchObject({
      example: 'card 3242 of "ann 3" declined',
      jobs: [made.card3, made.card2, made.card1],
    })
    expect(cards!.frame).toMatch(/perform/)
    expect(cards!.lastAt).toBeGreaterThanOrEqual(cards!.firstAt)
    expect((await kit.engine.errors.list({ class: 'mail' })).errors).toEqual([])
  })

  test('a muted kind is left out until it is unmuted, and shown with its muter on request', async () => {
    const [{ error }, { error: other }] = (await kit.engine.errors.list({})).errors as [ErrorKind, ErrorKind]
    const { muted } = await kit.engine.errors.mute(error, { muted: true, by: 'ann' })
    expect(muted).toEqual({ by: 'ann', at: expect.any(Number), until: null })
    const page = await kit.engine.errors.list({})
    expect([page.errors.map((kind) => kind.error), page.looked]).toEqual([[other], 4])
    expect(page.muted).toEqual([{ error, class: 'pay', ...muted }])
    const whole = await kit.engine.errors.list({ muted: true })
    expect(whole.errors.map((kind) => [kind.error, kind.muted])).toEqual([
      [error, muted],
      [other, undefined],
    ])
    expect((await kit.engine.jobs.list({ error })).jobs).toHaveLength(3)
    expect(await kit.engine.errors.mute(error, { muted: false, by: 'ann' })).toEqual({
      kind: error,
      muted: null,
      was: muted,
    })
    expect(await kit.engine.errors.list({})).toMatchObject({ errors: [{ error }, { error: other }], muted: [] })
  })

  test('a kind can be muted until a moment in the future', async () => {
    const { error } = (await kit.engine.errors.list({})).errors[0]!
    const now = Date.now()
    await expect(kit.engine.errors.mute(error, { muted: true, until: now - 1, by: 'ann' })).rejects.toThrow(
      /^until: expected a time in the future, got /,
    )
    await kit.engine.errors.mute(error, { muted: true, until: now + 60_000, by: 'ann' })
    expect((await kit.engine.errors.list({})).errors).toHaveLength(1)
    await kit.advance(60_001)
    expect(await kit.engine.errors.list({ muted: true })).toMatchObject({ errors: [{ error }, {}], muted: [] })
    expect((await kit.engine.errors.list({ muted: true })).errors[0]).not.toHaveProperty('muted')
    await kit.engine.errors.mute('0123456789abcdef', { muted: true, by: 'bob' })
    expect(Object.keys(await kit.store.mutes.all())).toEqual(['0123456789abcdef'])
    expect((await kit.engine.errors.list({})).muted).toMatchObject([
      { error: '0123456789abcdef', class: null, by: 'bob' },
    ])
    await kit.engine.errors.mute('0123456789abcdef', { muted: false, by: 'bob' })
  })

  test('at most 200 kinds can be muted, and a muted kind can be muted again', async () => {
    const kinds = Array.from({ length: 200 }, (_, i) => i.toString(16).padStart(16, '0'))
    for (const error of kinds) await kit.store.mutes.set(error, '{"class":null,"by":"ann","at":1,"until":null}')
    await expect(kit.engine.errors.mute('f'.repeat(16), { muted: true, by: 'ann' })).rejects.toMatchObject({
      code: 'LIMITED',
      message: 'expected at most 200 muted kinds of error: unmute one first',
    })
    await kit.engine.errors.mute(kinds[7]!, { muted: true, by: 'bob' })
    expect((await kit.engine.errors.list({})).muted[0]).toMatchObject({ error: kinds[7], by: 'bob' })
    await kit.store.mutes.remove(...kinds)
  })

  test('jobs of one kind are listed page by page', async () => {
    const { error } = (await kit.engine.errors.list({})).errors[0]!
    const first = await kit.engine.jobs.list({ error, limit: 2 })
    expect(first.jobs.map(({ id }) => id)).toEqual([made.card3, made.card2])
    const rest = await kit.engine.jobs.rows({ error, limit: 2, cursor: first.cursor! })
    expect([rest.jobs.map(({ id }) => id), rest.cursor]).toEqual([[made.card1], null])
  })

  test('a preview counts the jobs that a bulk action changes, by kind or by ids', async () => {
    const { error } = (await kit.engine.errors.list({})).errors[1]!
    expect(await kit.engine.bulk.preview({ filter: { error }, action: 'retry' })).toEqual({
      fits: 1,
      looked: 1,
      more: false,
      ids: [made.timeout],
      cursor: null,
    })
    const preview = await kit.engine.bulk.preview({ filter: { status: 'failed' }, action: 'delete' })
    expect(preview).toMatchObject({ fits: 4, more: false })
    const done = async (input: Parameters<typeof kit.engine.bulk.start>[0]) => {
      const { id } = await kit.engine.bulk.start(input)
      await drain(kit.engine, { errors: 'keep' })
      return (await kit.engine.jobs.get(String(id))).progress
    }
    const runs = async (id: number) =>
      (await kit.engine.jobs.get(String(id))).createdAt && (await kit.engine.jobs.runs(String(id))).runs[0]!.startedAt
    const before = [await runs(made.timeout!), await runs(made.card1!)]
    await kit.advance(1_000)
    expect(JSON.parse((await done({ filter: { error }, action: 'retry' }))!)).toMatchObject({ done: 1 })
    expect((await runs(made.timeout!)) - before[0]!).toBeGreaterThanOrEqual(1_000)
    expect(await runs(made.card1!)).toBe(before[1])
    expect(JSON.parse((await done({ ids: [made.card1!, made.card2!], action: 'delete' }))!)).toBeTruthy()
    expect((await kit.engine.errors.list({})).looked).toBeLessThanOrEqual(4)
  })
})

test('the details of a kind list the minutes in which its jobs failed', async () => {
  const [kind] = (await kit.engine.errors.list({ details: true })).errors
  const { count, firstAt, lastAt } = kind!
  const minutes = kind!.minutes!
  expect(minutes.reduce((sum, minute) => sum + minute.count, 0)).toBe(count)
  // A retry of the job does not remove the count of its first failure.
  expect(minutes[0]!.at).toBeGreaterThanOrEqual(firstAt - (firstAt % 60_000))
  expect(minutes.at(-1)!.at).toBe(lastAt - (lastAt % 60_000))
  expect(minutes.map(({ at }) => at)).toEqual([...new Set(minutes.map(({ at }) => at))].sort((a, b) => a - b))
  expect((await kit.engine.errors.list({})).errors[0]).not.toHaveProperty('minutes')
})

describe('find', () => {
  test('returns a job by its id, and by the beginning of an alias', async () => {
    const job = { id: made.timeout, class: 'pay', queue: 'default', status: 'failed' }
    expect((await kit.engine.search(String(made.timeout))).jobs).toEqual([{ ...job, alias: null }])
    expect((await kit.engine.search('order_99')).jobs).toEqual([{ ...job, alias: 'order_9917' }])
    expect((await kit.engine.search('order*')).jobs).toEqual([])
    expect((await kit.engine.search('999999')).jobs).toEqual([])
  })

  test('returns queues, limits and groups by a part of their name', async () => {
    await kit.engine.limits.set('stripe', { concurrency: 1 })
    await kit.make('pay', { group: { id: 'shop' }, wait: 60_000 })
    expect((await kit.engine.search('faul')).queues).toEqual(['default'])
    expect((await kit.engine.search('STRI')).limits).toEqual(['stripe'])
    expect((await kit.engine.search('sho')).groups).toEqual(['shop'])
  })
})

describe('a copy', () => {
  test('is a separate job with the same settings, and with other args on request', async () => {
    const first = await kit.engine.jobs.copy(String(made.ok), {})
    const second = await kit.engine.jobs.copy(String(made.ok), { args: '{"ok":true,"n":2}' as never })
    const [one, two] = [await kit.engine.jobs.get(String(first.id)), await kit.engine.jobs.get(String(second.id))]
    expect(one).toMatchObject({ class: 'pay', status: 'queued', args: '{"ok":true}', priority: 3, group: 'shop' })
    expect(two).toMatchObject({ args: '{"ok":true,"n":2}', aliases: [], parent: null, group: 'shop' })
    await drain(kit.engine, { errors: 'keep' })
    expect(await kit.statusOf(second.id)).toBe('completed')
  })
})
