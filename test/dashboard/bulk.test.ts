import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Status } from '../../src/core/job.ts'
import { idsIn, idsText } from '../../src/dashboard/words/ids.ts'
import { defineWorker } from '../../src/index.ts'
import { startReceiver } from '../kit/receiver.ts'
import { fieldsOf, startPages, typedOf, type Visitor } from './kit.ts'

let isBroken = true
const pays = defineWorker({
  class: 'pays',
  retry: { max: 0 },
  perform(job) {
    if (isBroken) throw Object.assign(new Error(`card of ${String(job.args)} declined`), { stack: '' })
  },
})
const rests = defineWorker({ class: 'rests', perform: (job) => job.suspend() })
const family = defineWorker({
  class: 'family',
  perform(job) {
    const left = job.args as number
    if (left > 0 && !job.children.child) job.spawn('child', { class: 'family' }, { args: left - 1 })
    return job.suspend()
  },
})

let pages: Awaited<ReturnType<typeof startPages>>
let admin: Visitor

beforeAll(async () => {
  pages = await startPages({ workers: [pays, rests, family] })
  admin = await pages.enter(['admin'])
})
afterAll(() => pages.close())
beforeEach(() => {
  isBroken = true
})

type Fields = Record<string, string | string[]>

async function dialogOf(path: string, fields: Fields) {
  const answer = (await (await admin.act(`/ui${path}`, fields)).json()) as { confirm?: string; error?: unknown }
  expect(answer.error).toBeUndefined()
  const html = answer.confirm ?? ''
  const verb = /<button[^>]*type="submit">([^<]*)/.exec(html)?.[1] ?? ''
  return {
    title: /<h2>([^<]*)/.exec(html)![1]!,
    n: Number(/[\d,]+$/.exec(verb)?.[0].replace(',', '')),
    verb,
    form: fieldsOf(html),
    typed: typedOf(html),
    isCounting: html.includes('data-counting'),
  }
}

async function press(path: string, { form, typed }: Awaited<ReturnType<typeof dialogOf>>) {
  const answer = await admin.act(`/ui${path}`, { ...form, sure: typed ?? 'yes' })
  const done = (await answer.json()) as { say: string; to?: string; link?: { to: string }; error?: unknown }
  expect(done.error).toBeUndefined()
  return done
}

async function changedBy({ link }: { link?: { to: string } }): Promise<number> {
  const id = Number(link!.to.split('/').at(-1))
  await pages.rest(id, 'completed')
  return (JSON.parse((await pages.engine.jobs.get(String(id))).progress!) as { done: number }).done
}

async function make(className: string, n: number, status: Status, input: object = {}): Promise<number[]> {
  const ids = await Promise.all(Array.from({ length: n }, () => pages.make(className, input)))
  for (const id of ids) await pages.rest(id, status)
  return ids
}

const statuses = (ids: readonly number[]) => Promise.all(ids.map((id) => pages.statusOf(id)))
const kindsNow = async () => (await pages.engine.errors.list({})).errors

const RETRY = { act: 'selected', do: 'retry', fit: 'all' }
const NONE = 'status=failed&class=pays&error=0123456789abcdef'

describe('retry all of a kind of error', () => {
  test('"Retry 2" retries two jobs even if a third job fails while the dialog is open', async () => {
    const ids = await make('pays', 2, 'failed', { args: '1' })
    const [kind] = await kindsNow()
    const path = `/jobs?status=failed&class=pays&error=${kind!.error}`
    const dialog = await dialogOf(path, RETRY)
    expect(dialog).toMatchObject({ title: 'Retry 2 jobs?', verb: 'Retry 2', isCounting: false })
    const [late] = await make('pays', 1, 'failed', { args: '1' })
    isBroken = false
    const done = await press(path, dialog)
    expect(await changedBy(done)).toBe(2)
    for (const id of ids) await pages.rest(id, 'completed')
    expect(done.to).toMatch(/^\/jobs\?class=pays&bulk=\d+$/)
    const list = await admin.html(`/ui${done.to}`)
    for (const id of ids) expect(list).toContain(`id="row-${id}"`)
    const audit = (await admin.html('/ui/settings/keys?audit')).replace(/<[^>]*>/g, ' ').replace(/ +/g, ' ')
    expect(audit).toContain('Retry 2 jobs status failed, class pays, this kind of error')
    expect(await pages.statusOf(late!)).toBe('failed')
    await pages.engine.jobs.remove(String(late), { force: true })
  })

  test('a kind of error without failed jobs has no retry button', async () => {
    const dialog = await dialogOf(`/jobs?${NONE}`, RETRY)
    expect(dialog).toMatchObject({ title: 'Retry: no job to change', verb: '' })
  })

  test('a confirmation without a count changes no job', async () => {
    const answer = await admin.act(`/ui/jobs?${NONE}`, { ...RETRY, sure: 'yes' })
    expect(await answer.json()).toMatchObject({ confirm: expect.stringContaining('no job to change') })
  })
})

describe('all that match a filter', () => {
  test.each([
    { verb: 'retry', counts: 2, after: 'completed' },
    { verb: 'run', counts: 5, after: 'completed' },
    { verb: 'terminate', counts: 4, after: 'terminated' },
    { verb: 'delete', counts: 5, after: undefined },
  ])('$verb changes the number of jobs that its button shows', async ({ verb, counts, after }) => {
    const group = `all-${verb}`
    const failed = await make('pays', 2, 'failed', { group: { id: group }, args: '7' })
    const open = await make('rests', 2, 'suspended', { group: { id: group } })
    const over = await make('rests', 1, 'suspended', { group: { id: group } })
    await pages.engine.jobs.terminate(String(over[0]), {})
    isBroken = false
    const path = `/jobs?group=${group}`
    const dialog = await dialogOf(path, { act: 'selected', do: verb, fit: 'all' })
    expect([dialog.n, dialog.isCounting]).toEqual([counts, false])
    const late = await make('rests', 1, 'suspended', { group: { id: group } })
    expect(await changedBy(await press(path, dialog))).toBe(counts)
    if (after) for (const id of failed) await pages.rest(id, after as Status)
    expect(await pages.statusOf(late[0]!)).toBe('suspended')
    expect(open).toHaveLength(2)
  })
})

test('the question before all matching jobs run concealed that current runs are cancelled', async () => {
  const ids = await make('rests', 1, 'suspended', { group: { id: 'asked' } })
  const sent = { act: 'selected', do: 'run', fit: 'all' }
  const { confirm } = (await (await admin.act('/ui/jobs?group=asked', sent)).json()) as { confirm: string }
  expect(confirm).toContain('This cancels current runs, so that they have no effect.')
  expect(await statuses(ids)).toEqual(['suspended'])
})

describe('selected rows', () => {
  test.each([
    { verb: 'terminate', counts: 2 },
    { verb: 'delete', counts: 3 },
  ])('$verb: rows that cannot be changed are not counted', async ({ verb, counts }) => {
    const ids = await make('rests', 3, 'suspended')
    await pages.engine.jobs.terminate(String(ids[0]), {})
    const dialog = await dialogOf('/jobs', { act: 'selected', do: verb, sel: ids.map(String) })
    expect(dialog.n).toBe(counts)
    expect((await press('/jobs', dialog)).say).toContain(`: ${counts} jobs`)
  })

  test('retry reports the number of retried jobs', async () => {
    const ids = [...(await make('pays', 2, 'failed', { args: '3' })), ...(await make('rests', 1, 'suspended'))]
    const answer = await admin.act('/ui/jobs', { act: 'selected', do: 'retry', sel: ids.map(String) })
    expect(((await answer.json()) as { say: string }).say).toMatch(/^Retry: 2 jobs; 1 skipped/)
  })
})

test('the progress of a bulk job shows how many jobs it skipped', async () => {
  const ids = [...(await make('pays', 1, 'failed', { args: '4' })), ...(await make('rests', 2, 'suspended'))]
  const { id } = await pages.engine.bulk.start({ ids, action: 'retry' })
  await pages.rest(id, 'completed')
  expect(await admin.html(`/ui/jobs?bulk=${id}`)).toContain('1 done, 2 skipped')
})

test('exactly the counted jobs of the demo are deleted', async () => {
  await make('rests', 2, 'suspended', { group: { id: 'demo' } })
  const dialog = await dialogOf('/', { act: 'undemo' })
  expect(dialog).toMatchObject({ title: 'Delete 2 jobs of the demo?', verb: 'Delete 2', typed: '2' })
  const late = await make('rests', 1, 'suspended', { group: { id: 'demo' } })
  expect(await changedBy(await press('/', dialog))).toBe(2)
  expect(await statuses(late)).toEqual(['suspended'])
})

test('the count of a job with children includes all its descendants', async () => {
  const top = await pages.make('family', { args: '2' })
  await pages.until(
    async () => JSON.stringify(await pages.engine.jobs.tree(String(top))).split('"suspended"').length > 3,
  )
  expect(await dialogOf(`/jobs/${top}`, { act: 'remove' })).toMatchObject({ verb: 'Delete 3' })
  const dialog = await dialogOf(`/jobs/${top}`, { act: 'terminate' })
  expect(dialog).toMatchObject({ verb: 'Terminate 3' })
  await press(`/jobs/${top}`, dialog)
  await pages.rest(top, 'terminated')
  const tree = JSON.stringify(await pages.engine.jobs.tree(String(top)))
  expect(tree.split('"terminated"')).toHaveLength(4)
})

test('exactly the counted callbacks of a host are sent again', async () => {
  const receiver = await startReceiver((_, response) => response.writeHead(410).end())
  const host = new URL(receiver.url).host
  const callback = { url: receiver.url }
  const send = async (n: number) => {
    await Promise.all(Array.from({ length: n }, () => pages.make('pays', { args: '1', callback })))
  }
  const failed = async () => (await pages.engine.callbacks.counts()).FAILED
  await send(2)
  await pages.until(async () => (await failed()) === 2)
  const dialog = await dialogOf('/callbacks', { act: 'resend', host })
  expect(dialog).toMatchObject({ title: `Resend 2 callbacks to ${host}?`, verb: 'Resend 2' })
  await send(1)
  await pages.until(async () => (await failed()) === 3)
  expect((await press('/callbacks', dialog)).say).toBe(`Resending 2 callbacks to ${host}`)
  await receiver.close()
})

test('a form sends ids as ranges', () => {
  expect(idsText([9, 8, 7, 3])).toBe('9-7,3')
  expect(idsIn('9-7,3')).toEqual([9, 8, 7, 3])
  expect(idsIn(idsText([]))).toEqual([])
  expect(idsIn('x,5-,1e9,2-4')).toEqual([])
  expect(idsIn('999999999-1')).toHaveLength(20_000)
})
