import { afterAll, beforeAll, expect, test } from 'vitest'
import { pages as table } from '../../src/dashboard/pages/index.ts'
import { startPages, type Visitor } from './kit.ts'
import { waits } from './seed-jobs.ts'

let pages: Awaited<ReturnType<typeof startPages>>
let admin: Visitor
let id = 0

beforeAll(async () => {
  pages = await startPages({ workers: [waits] })
  await pages.engine.workers.register('default', 'pulled', { pull: true })
  admin = await pages.enter(['admin'])
  id = await pages.make('pulled', { in: { n: {} } })
  await pages.engine.alerts.open(ALERT, {
    alert: { rule: 'slow', text: 'A job waits.', since: 1, link: 'https://a.example/ui/', isSevere: false, at: 1 },
  })
})
afterAll(() => pages.close())

type Done = { say?: string; undo?: Record<string, string>; confirm?: string; error?: { message: string } }

const press = async (path: string, fields: Record<string, string | string[]>) =>
  (await (await admin.act(`/ui${path}`, fields)).json()) as Done

const job = () => `/jobs/${id}`
const queue = async () => (await pages.engine.queues.list()).queues.find(({ name }) => name === 'default')!.paused
const settings = async () => {
  const { queues } = await pages.engine.queues.list()
  const { batch, ageing, mode, maxLanes } = queues.find(({ name }) => name === 'default')!
  return { batch, ageing, mode, maxLanes }
}
const lanesOf = async () => (await settings()).maxLanes
const limit = async () =>
  (await pages.engine.limits.list()).limits.find(({ key }) => key === 'stripe') ?? ('none' as const)
const concurrency = async () => {
  const is = await limit()
  return is === 'none' ? is : is.concurrency
}
const paused = async () => {
  const is = await limit()
  return is === 'none' ? is : is.paused
}
const schedule = async () =>
  (await pages.engine.schedules.list({})).schedules.map(({ repeat, paused }) => `${repeat} ${paused}`)
const nightly = (cron: string) => ({
  act: 'set',
  alias: 'nightly',
  queue: 'default',
  class: 'pulled',
  cron,
  tz: 'Asia/Tokyo',
})
const scheduled = async () => String((await pages.engine.schedules.list({})).schedules[0]!.job)
const view = () => pages.engine.jobs.get(String(id))
const fallback = async () => (await view()).in.n?.default ?? null

const heard = async () => (await view()).in.n!.channels
const KIND = '0123456789abcdef'
const muted = async () =>
  (await pages.engine.errors.list({})).muted.map(({ error, until }) => [
    error,
    until === null ? 'for good' : 'for a while',
  ])

const ALERT = 'slow mail'
const about = (act: string) => ({ act, alert: ALERT, reason: 'DHL is down', sure: 'yes' })
const alert = async () => {
  const [{ acknowledged, muted }] = (await pages.engine.alerts.list()).alerts as [
    Awaited<ReturnType<typeof pages.engine.alerts.list>>['alerts'][number],
  ]
  return [acknowledged, muted].map((noted) => noted && [noted.by, noted.reason])
}

const definition = async () => (await pages.engine.workers.list()).workers.find(({ class: name }) => name === 'pulled')!

const acts: [name: string, path: () => string, fields: () => Promise<object> | object, is: () => Promise<unknown>][] = [
  ['pause a queue', () => '/queues/default', () => ({ act: 'pause', queue: 'default' }), queue],
  ['make a limit', () => '/limits', () => ({ act: 'set', key: 'stripe', concurrency: '2' }), limit],
  ['give a job another priority', job, () => ({ act: 'priority', priority: '7' }), async () => (await view()).priority],
  ['have a job go first', job, () => ({ act: 'first' }), async () => (await view()).priority],
  ['give a port a default', job, () => ({ act: 'default', dir: 'in', port: 'n', value: '{"a":1}' }), fallback],
  ['set the channels of a port', job, () => ({ act: 'channels', dir: 'in', port: 'n', channels: '/a\n/b c' }), heard],
  ['mute a kind of errors', () => '/jobs', () => ({ act: 'muteKind', error: KIND }), muted],
  ['mute one for a day', () => '/jobs', () => ({ act: 'muteKind', error: KIND, for: '1d' }), muted],
  ['acknowledge an alert', () => '/', () => about('acknowledge'), alert],
  ['mute an alert for an hour', () => '/', () => ({ ...about('mute'), for: '1h' }), alert],
  ['make a schedule', () => '/schedules', () => nightly('0 3 * * *'), schedule],
]

const changes: typeof acts = [
  ['set lanes', () => '/queues/default', () => ({ act: 'change', lanes: '9', was_lanes: '4' }), lanesOf],
  ['set batch and ageing', () => '/queues/default', () => ({ act: 'change', batch: '9', ageing: '1m' }), settings],
  [
    'set a mode',
    () => '/queues/default',
    () => ({ act: 'change', mode: 'pull', was_mode: 'push', sure: 'yes' }),
    settings,
  ],
  ['resume a queue', () => '/queues/default', () => ({ act: 'resume', queue: 'default' }), queue],
  ['change a limit', () => '/limits', () => ({ act: 'set', key: 'stripe', concurrency: '9' }), concurrency],
  ['pause a limit', () => '/limits', () => ({ act: 'pause', key: 'stripe' }), paused],
  ['change a default', job, () => ({ act: 'default', dir: 'in', port: 'n', value: '12345678901234567890' }), fallback],
  ['take a default away', job, () => ({ act: 'undefault', dir: 'in', port: 'n' }), fallback],
  ['change a schedule', () => '/schedules', () => nightly('30 4 * * *'), schedule],
  ['take an acknowledgement back', () => '/', () => about('unacknowledge'), alert],
  ['unmute an alert', () => '/', () => about('unmute'), alert],
  ['unmute a kind of errors', () => '/jobs', () => ({ act: 'unmuteKind', error: KIND }), muted],
  [
    'change a class',
    () => '/workers/default/pulled',
    () => ({ act: 'change', timeout: '1m', was_timeout: '', args: '{"type":"object"}', was_args: '' }),
    definition,
  ],
  [
    'have a class pushed',
    () => '/workers/default/pulled',
    () => ({ act: 'change', served: 'push', was_served: 'pull', url: 'http://127.0.0.1:1/a?t=1', was_url: '' }),
    definition,
  ],
  ['pause a schedule', () => '/schedules', async () => ({ act: 'pause', job: await scheduled() }), schedule],
]

async function backAndForth([, path, fields, is]: (typeof acts)[number], stays: boolean): Promise<void> {
  const before = await is()
  const { undo, error } = await press(path(), (await fields()) as Record<string, string>)
  expect(error).toBeUndefined()
  expect(await is()).not.toEqual(before)
  expect(undo).toBeDefined()
  expect(await press(path(), undo!)).toMatchObject({ say: expect.any(String) })
  expect(await is()).toEqual(before)
  if (stays) await press(path(), (await fields()) as Record<string, string>)
}

test.each(acts.map((one) => [one[0], one] as const))('%s, and Undo restores the old value', (_, one) =>
  backAndForth(one, true),
)
test.each(changes.map((one) => [one[0], one] as const))('%s, and Undo restores the old value', (_, one) =>
  backAndForth(one, false),
)

test('the undo of a changed limit names the restored maximum', async () => {
  await pages.engine.limits.set('openai', { concurrency: 20 })
  const { say, undo } = await press('/limits', { act: 'set', key: 'openai', concurrency: '30' })
  expect(say).toBe('Limit openai changed: max 30 running')
  expect(await press('/limits', undo!)).toMatchObject({ say: 'Limit openai restored: max 20 running' })
})

test('Undo mutes a kind again, until the same moment as before', async () => {
  const until = new Date(Date.now() + 3_600_000).toISOString()
  await press('/jobs', { act: 'muteKind', error: KIND, until })
  const { undo } = await press('/jobs', { act: 'unmuteKind', error: KIND })
  await press('/jobs', undo!)
  expect((await pages.engine.errors.list({})).muted).toMatchObject([
    { error: KIND, by: 'admin', until: Date.parse(until) },
  ])
  const { entries } = await pages.engine.audit.read({ limit: 1 })
  expect(entries).toMatchObject([{ verb: 'errors.patch', name: 'admin', path: `/v1/errors/${KIND}` }])
})

test('a form sends only changed settings, so changes by other users are kept', async () => {
  const drawn = { was_lanes: '4', was_batch: '100', was_ageing: '', was_mode: 'push' }
  const form = { act: 'change', lanes: '4', batch: '100', ageing: '', mode: 'push', ...drawn }
  await pages.engine.queues.update('default', { lanes: 7 })
  const { say, undo } = await press('/queues/default', { ...form, batch: '50' })
  expect(say).toBe('Queue default was changed: batch')
  expect(await settings()).toMatchObject({ maxLanes: 7, batch: 50 })
  expect(undo).toEqual({ act: 'change', sure: 'yes', batch: '' })
  await press('/queues/default', undo!)
  expect(await settings()).toMatchObject({ maxLanes: 7, batch: 100 })
  expect(await press('/queues/default', form)).toMatchObject({ say: 'Queue default was not changed' })
  await pages.engine.queues.update('default', { lanes: null })
})

test('only these actions ask for confirmation', async () => {
  const asking = table.flatMap(({ path, acts = {} }) =>
    Object.entries(acts).flatMap(([name, { confirm }]) => (confirm ? [`${path} ${name}`] : [])),
  )
  expect(asking.toSorted()).toEqual(
    [
      '/ acknowledge',
      '/ mute',
      '/ undemo',
      '/callbacks resend',
      '/files remove',
      '/settings/keys remove',
      '/workers/:queue/:class unregister',
      '/flows/:job drain',
      '/flows/:job forget',
      '/flows/:job undo',
      '/limits constrain',
      '/limits remove',
      '/doctor repair',
      '/jobs selected',
      '/jobs unshare',
      '/schedules stop',
      '/queues change',
      '/queues/:queue change',
      '/jobs/:job cancel',
      '/jobs/:job remove',
      '/jobs/:job requeue',
      '/jobs/:job state',
      '/jobs/:job take',
      '/jobs/:job takeResult',
      '/jobs/:job terminate',
    ].toSorted(),
  )
})

test.each([
  [() => '/limits', { act: 'remove', key: 'stripe' }, 'Remove it', false],
  [() => `/jobs/${id}`, { act: 'terminate' }, 'Terminate', false],
  [() => `/jobs/${id}`, { act: 'cancel' }, 'Cancel it', false],
  [() => `/jobs/${id}`, { act: 'take', dir: 'in', port: 'n' }, 'Take it', false],
  [() => '/jobs?class=waits', { act: 'selected', do: 'delete', fit: 'all' }, 'Delete \\d+', true],
  [() => '/jobs', { act: 'selected', do: 'delete', sel: ['1', '2'] }, 'Delete 2', true],
  [() => `/jobs/${id}`, { act: 'remove' }, 'Delete', true],
  [() => '/workers/default/pulled', { act: 'unregister' }, 'Unregister', true],
  [() => '/', { act: 'undemo' }, 'Delete \\d+', true],
])('%# asks with its verb, and requires the typed name if it cannot be undone', async (path, fields, verb, isTyped) => {
  await pages.make('waits', { group: { id: 'demo' }, wait: 3_600_000 })
  const before = await pages.engine.jobs.list({ limit: 100 })
  const { confirm } = await press(path(), fields as Record<string, string>)
  expect(confirm).toMatch(new RegExp(`<button class="btn danger" type="submit">${verb}</button>`))
  expect(confirm).not.toMatch(/>\s*(OK|Yes)\s*</)
  expect(confirm!.includes('to continue')).toBe(isTyped)
  if (isTyped) expect((await press(path(), { ...fields, sure: 'yes' } as Record<string, string>)).confirm).toBeDefined()
  expect((await pages.engine.jobs.list({ limit: 100 })).jobs.map((one) => one.status)).toEqual(
    before.jobs.map((one) => one.status),
  )
})

test('the button that retries or runs jobs was red, as if it deleted them', async () => {
  await pages.make('waits', { wait: 3_600_000 })
  const { confirm } = await press('/jobs?class=waits', { act: 'selected', do: 'run', fit: 'all' })
  expect(confirm).toMatch(/<button class="btn primary" type="submit">Run \d+<\/button>/)
})
