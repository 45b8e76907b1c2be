import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { kindOf } from '../../src/core/fingerprint.ts'
import { costs } from '../../src/dashboard/costs.ts'
import { defineWorker } from '../../src/index.ts'
import { counted } from '../kit/counted.ts'
import { costOf } from '../redis/commandstats.ts'
import { startPages, type Visitor } from './kit.ts'

const failing = (name: string) =>
  defineWorker({
    class: name,
    retry: { max: 0 },
    perform() {
      throw Object.assign(new Error(`${name}: no answer`), { stack: '' })
    },
  })

let pages: Awaited<ReturnType<typeof startPages>>
let reader: Visitor

const kind = (name: string): string => kindOf(name, { message: `${name}: no answer` }).fingerprint
const mute = (name: string, muted = true) => pages.engine.errors.mute(kind(name), { muted, by: 'ana' })

async function fail(name: string): Promise<void> {
  const id = String(await pages.make(name))
  await pages.until(async () => (await pages.engine.jobs.get(id)).status === 'failed')
}

beforeAll(async () => {
  pages = await startPages({ workers: [failing('loud'), failing('known')] })
  for (const name of ['loud', 'loud', 'known', 'known', 'known']) await fail(name)
  reader = await pages.enter(['read'])
})
beforeEach(async () => {
  for (const name of ['loud', 'known']) await mute(name, false)
  pages.forget()
})
afterAll(() => pages.close())

async function signOn(path: string): Promise<{ n: string; look: string; title: string } | undefined> {
  const [, look, title, n] =
    /<span>Jobs<\/span><span class="n( bad)?" title="([^"]*)">([\d,]+)</.exec(await reader.html(`/ui${path}`)) ?? []
  return n === undefined ? undefined : { n, look: look ? 'red' : 'grey', title: title! }
}

test('the red number next to Jobs excludes muted kinds as soon as the kinds have been read', async () => {
  expect(await signOn('/queues')).toMatchObject({ n: '5', look: 'red', title: '5 failed' })
  await mute('known')
  pages.forget()
  expect(await signOn('/queues')).toMatchObject({ n: '5', look: 'grey', title: /some may have muted errors/ })
  pages.forget()
  const told = { n: '2', look: 'red', title: '2 failed, not counting 3 with muted errors' }
  expect(await signOn('/jobs?status=failed')).toEqual(told)
  expect(await signOn('/queues')).toEqual(told)
  await mute('loud')
  pages.forget()
  expect(await signOn('/jobs?status=failed')).toBeUndefined()
})

test('the user who mutes or restores a kind sees the number at once', async () => {
  const admin = await pages.enter(['admin'])
  const press = (act: string) => admin.act('/ui/jobs', { act, error: kind('known') })
  // Request the page twice, because the first request does not read the kinds of errors.
  for (const _ of [1, 2]) await reader.html('/ui/')
  expect(await signOn('/')).toMatchObject({ n: '5', look: 'red' })
  expect((await press('muteKind')).status).toBe(200)
  const told = { n: '2', look: 'red', title: '2 failed, not counting 3 with muted errors' }
  expect(await signOn('/')).toEqual(told)
  expect(await signOn('/queues')).toEqual(told)
  expect((await press('unmuteKind')).status).toBe(200)
  expect(await signOn('/')).toMatchObject({ n: '5', look: 'red' })
})

test('the page of a class counted the muted kinds of other classes', async () => {
  const mutedOn = async (path: string) => /(\d+) muted</.exec(await reader.html(`/ui${path}`))?.[1]
  await mute('known')
  pages.forget()
  expect(await mutedOn('/workers/default/loud')).toBeUndefined()
  expect(await mutedOn('/jobs?status=failed&class=loud')).toBeUndefined()
  await mute('loud')
  pages.forget()
  expect(await mutedOn('/workers/default/loud')).toBe('1')
  expect(await mutedOn('/jobs?status=failed&class=loud')).toBe('1')
  expect(await mutedOn('/jobs?status=failed')).toBe('2')
})

counted('muted kinds of errors do not increase the cost of any page', async () => {
  await mute('known')
  for (const path of ['/', '/jobs', '/queues', '/schedules', '/log', '/doctor']) {
    await reader.html(`/ui${path}`)
    pages.forget()
    const [, look, first] = costs[path]!
    const spent: number[] = []
    for (let i = 0; i < 3; i++) spent.push((await costOf(pages, () => reader.html(`/ui${path}`))).billed)
    expect(spent[0], path).toBeLessThanOrEqual(first)
    expect(Math.max(...spent.slice(1)), path).toBeLessThanOrEqual(Math.max(look, path === '/' ? 12 : 0))
  }
})

test('a schedule that failed twice is a problem unless its kind of error is muted', async () => {
  const needs = async () => {
    pages.forget()
    const looks: string[] = []
    for (let i = 0; i < 4; i++) looks.push(await reader.html('/ui/'))
    return [...looks.at(-1)!.matchAll(/Schedule <b>(\w+)<\/b> failed 2 times in a row/g)].map(([, name]) => name)
  }
  for (const name of ['loud', 'known']) {
    const { job } = await pages.engine.schedules.set(`nightly-${name}`.replace('-', '_'), {
      queue: 'default',
      class: name,
      repeat: { cron: '0 0 1 1 *' },
    } as never)
    for (const times of [1, 2]) {
      await pages.engine.jobs.run(String(job), {})
      await pages.until(async () => {
        const { schedules } = await pages.engine.schedules.list({ failing: true, inARow: times, muted: true })
        return schedules.some((one) => one.job === job)
      })
    }
  }
  expect((await needs()).sort()).toEqual(['nightly_known', 'nightly_loud'])
  await mute('known')
  expect(await needs()).toEqual(['nightly_loud'])
  const names = async (muted: boolean) =>
    (await pages.engine.schedules.list({ failing: true, muted })).schedules.map(({ class: name }) => name).sort()
  expect([await names(false), await names(true)]).toEqual([['loud'], ['known', 'loud']])
})
