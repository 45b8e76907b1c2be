import { afterAll, beforeAll, expect, test } from 'vitest'
import { pages as table } from '../../src/dashboard/pages/index.ts'
import { defineWorker, port } from '../../src/index.ts'
import { ORIGIN, startPages, type Visitor } from './kit.ts'

const waits = defineWorker({ class: 'waits', in: { n: port() }, perform: (job) => job.suspend() })

let pages: Awaited<ReturnType<typeof startPages>>
const visitors: Record<string, Visitor> = {}
let id = 0

beforeAll(async () => {
  pages = await startPages({ workers: [waits] })
  id = await pages.make('waits')
  await pages.rest(id)
  for (const scope of ['read', 'write', 'admin'] as const)
    visitors[scope] = await pages.enter(
      scope === 'write' ? ['read', 'write'] : scope === 'admin' ? ['admin'] : ['read'],
    )
})
afterAll(() => pages.close())

const all = table.flatMap(({ path, acts = {} }) =>
  Object.entries(acts).map(([name, { scope }]) => ({
    path: path.replace(':job', '1').replace(':queue', 'default').replace(':class', 'waits'),
    name,
    scope,
  })),
)

test.each(all)('$name of $path needs $scope', async ({ path, name, scope }) => {
  const below = { read: [], write: ['read'], work: [], admin: ['read', 'write'] }[scope]
  for (const who of below) {
    const answer = await visitors[who]!.act(`/ui${path}`, { act: name })
    expect(answer.status).toBe(403)
    expect(await answer.json()).toMatchObject({
      error: { code: 'FORBIDDEN', message: expect.stringContaining(`needs the scope ${scope}; your key has read`) },
    })
  }
})

test('an unknown action is refused by name', async () => {
  const answer = await visitors.admin!.act('/ui/jobs', { act: 'constructor' })
  expect(answer.status).toBe(400)
})

test('a destructive action asks, and does nothing before the answer', async () => {
  const { act } = visitors.write!
  const asked = (await (await act(`/ui/jobs/${id}`, { act: 'terminate' })).json()) as { confirm: string }
  expect(asked.confirm).toContain(`Terminate waits #${id}?`)
  expect(await pages.statusOf(id)).toBe('suspended')
  expect((await act(`/ui/jobs/${id}`, { act: 'terminate', sure: 'yes' })).status).toBe(200)
  await pages.rest(id, 'terminated')
})

test('a running job that is deleted is not shown as deleted yet', async () => {
  const { engine } = pages
  await engine.workers.register('pulled', 'pulled', { pull: true })
  const { jobs } = await engine.jobs.enqueue([{ queue: 'pulled', class: 'pulled' }])
  const running = jobs[0]!.id
  await engine.runs.claim('pulled', { max: 1 })
  const done = await visitors.admin!.act(`/ui/jobs/${running}`, { act: 'remove', sure: String(running) })
  expect(await done.json()).toMatchObject({ say: `#${running} is being deleted` })
  expect(await pages.statusOf(running)).toBe('terminating')
})

test('an action that cannot be undone requires the typed name', async () => {
  const { act } = visitors.admin!
  const wrong = (await (await act(`/ui/jobs/${id}`, { act: 'remove', sure: 'yes' })).json()) as { confirm?: string }
  expect(wrong.confirm).toContain('to continue')
  const done = (await (await act(`/ui/jobs/${id}`, { act: 'remove', sure: String(id) })).json()) as { say: string }
  expect(done.say).toBe(`#${id} deleted`)
})

test('a button that is pressed twice creates one job', async () => {
  const headers = { 'idempotency-key': crypto.randomUUID() }
  const fields = { act: 'make', queue: 'default', class: 'waits', later: 'on' }
  const press = () => visitors.write!.act('/ui/jobs/new', fields, headers)
  const [one, two] = (await Promise.all([press(), press()].map(async (answer) => (await answer).json()))) as {
    say: string
  }[]
  expect(one!.say).toMatch(/^Job #\d+ created$/)
  expect(two).toEqual(one)
})

test('a typed number of 20 digits is stored unchanged', async () => {
  const job = await pages.make('waits')
  await pages.rest(job)
  const { act } = visitors.write!
  expect(
    (await act(`/ui/jobs/${job}`, { act: 'default', dir: 'in', port: 'n', value: '12345678901234567890' })).status,
  ).toBe(200)
  expect((await pages.engine.jobs.get(String(job))).in.n!.default).toBe('12345678901234567890')
  const answer = await act(`/ui/jobs/${job}`, { act: 'write', dir: 'in', port: 'n', value: 'no json' })
  expect(await answer.json()).toMatchObject({
    error: { code: 'BAD_REQUEST', message: expect.stringContaining('value: expected JSON') },
  })
})

test('selected jobs are terminated after a question', async () => {
  const ids = await Promise.all([1, 2, 3].map(() => pages.make('waits')))
  const sel = ids.map(String)
  const { act } = visitors.write!
  const asked = (await (await act('/ui/jobs', { act: 'selected', do: 'terminate', sel })).json()) as { confirm: string }
  expect(asked.confirm).toContain('Terminate 3 jobs?')
  const counted = /name="counted" value="([^"]*)"/.exec(asked.confirm)![1]!
  const sure = { act: 'selected', do: 'terminate', sel, counted, cursor: '', sure: 'yes' }
  const done = (await (await act('/ui/jobs', sure)).json()) as { say: string }
  expect(done.say).toBe('Terminate: 3 jobs')
  for (const one of ids) await pages.rest(one, 'terminated')
})

test('a key with the scope write could not delete selected jobs, although they were terminated', async () => {
  const ids = [await pages.make('waits'), await pages.make('waits')]
  for (const id of ids) await pages.rest(id)
  await pages.engine.jobs.terminate(String(ids[0]), {})
  await pages.rest(ids[0]!, 'terminated')
  const sent = { act: 'selected', do: 'delete', sel: ids.map(String), counted: ids.join(), cursor: '', sure: '2' }
  const { say } = (await (await visitors.write!.act('/ui/jobs', sent)).json()) as { say: string }
  expect(say).toContain(`Delete: 1 job; 1 skipped, for example #${ids[1]}: `)
  expect(await pages.engine.jobs.existed(String(ids[0]))).toBe(true)
  await expect(pages.engine.jobs.get(String(ids[0]))).rejects.toThrow()
  const done = (await (
    await visitors.admin!.act('/ui/jobs', { ...sent, sel: String(ids[1]), counted: String(ids[1]), sure: '1' })
  ).json()) as { say: string }
  expect(done.say).toBe('Delete: 1 job')
})

test('actions of an admin on a page are in the audit log', async () => {
  await pages.make('waits')
  await visitors.admin!.act('/ui/queues/default', { act: 'pause' })
  await visitors.admin!.act('/ui/queues/default', { act: 'resume' })
  const { entries } = await pages.engine.audit.read({ limit: 10 })
  expect(entries.filter(({ verb }) => verb === 'queues.patch')).toHaveLength(2)
})

test('the question before an alert is muted named its key, but not the problem', async () => {
  const text = 'Queue shop has 2 ready jobs, expected at most 1.'
  const alert = { rule: 'depth', text, since: 1, link: `${ORIGIN}/ui/queues/shop`, isSevere: false, at: 1 }
  await pages.engine.alerts.open('depth shop', { alert })
  const asked = async (act: string, more = {}) => {
    const answer = await visitors.write!.act('/ui/', { act, alert: 'depth shop', ...more })
    return ((await answer.json()) as { confirm: string }).confirm
  }
  const mute = await asked('mute', { for: '1h' })
  expect(mute).toContain(`<h2>Mute this alert for an hour?</h2><p class="dim">${text}</p>`)
  expect(mute).toContain('Reason (required)')
  expect(await asked('acknowledge')).toContain(`<h2>Acknowledge this alert?</h2><p class="dim">${text}</p>`)
})

test('the page of an id that never existed offered to see who removed it', async () => {
  const html = await visitors.read!.html('/ui/jobs/424242')
  expect(html).toContain('Search the audit for it')
  expect(html).not.toContain('who removed')
})
