import { afterAll, beforeAll, expect, test } from 'vitest'
import { core } from '../../functions/core.ts'
import { encodeValue } from '../../src/core/codec/value.ts'
import { defineWorker, port } from '../../src/index.ts'
import { rawCommand } from '../kit/index.ts'
import { startReceiver } from '../kit/receiver.ts'
import { fieldsOf, startPages, typedOf, type Visitor } from './kit.ts'

const waits = defineWorker({ class: 'waits', in: { n: port() }, perform: (job) => job.suspend() })
const answers = defineWorker({ class: 'answers', perform: () => 42 })
const hides = defineWorker({ class: 'hides', redact: ['in.n.pin'], in: { n: port() }, perform: (job) => job.suspend() })

let pages: Awaited<ReturnType<typeof startPages>>
let admin: Visitor

beforeAll(async () => {
  pages = await startPages({ workers: [waits, answers, hides, ...core] })
  await pages.engine.workers.register('default', 'pulled', { pull: true })
  admin = await pages.enter(['admin'])
})
afterAll(() => pages.close())

type Done = { say?: string; undo?: Record<string, string>; confirm?: string }

async function press(path: string, fields: Record<string, string>, typed?: string): Promise<Done> {
  const answer = (await (await admin.act(`/ui${path}`, fields)).json()) as Done
  if (!answer.confirm) return answer
  const sure = typed ?? typedOf(answer.confirm) ?? 'yes'
  return (await (await admin.act(`/ui${path}`, { ...fields, ...fieldsOf(answer.confirm), sure })).json()) as Done
}

async function resting(): Promise<number> {
  const id = await pages.make('waits')
  await pages.rest(id)
  return id
}

const viewOf = (id: number) => pages.engine.jobs.get(String(id))

test('a job runs again, is cancelled, and goes first until Undo', async () => {
  const id = await resting()
  expect((await press(`/jobs/${id}`, { act: 'run' })).say).toBe(`#${id}: a run is requested`)
  await pages.until(async () => (await pages.engine.jobs.runs(String(id))).runs.length > 0)
  await pages.rest(id)
  const queued = await pages.make('pulled')
  const first = await press(`/jobs/${queued}`, { act: 'first' })
  expect((await viewOf(queued)).priority).toBe(-2_147_483_648)
  await press(`/jobs/${queued}`, first.undo!)
  expect((await viewOf(queued)).priority).toBe(0)
  await press(`/jobs/${queued}`, { act: 'priority', priority: '7' })
  expect((await viewOf(queued)).priority).toBe(7)
  await press(`/jobs/${queued}`, { act: 'cancel' })
  expect(await pages.statusOf(queued)).toBe('terminated')
})

test('Run said that a run is requested although the job has ended and does not run', async () => {
  const id = await resting()
  await pages.engine.jobs.terminate(String(id), {})
  await pages.rest(id, 'terminated')
  const said = 'a terminated job runs only with force'
  expect((await press(`/jobs/${id}`, { act: 'run' })).say).toBe(`#${id} does not run: ${said}`)
  expect((await press('/schedules', { act: 'run', job: String(id) })).say).toBe(`#${id} does not run: ${said}`)
  const selected = await press('/jobs', { act: 'selected', do: 'run', sel: String(id) })
  expect(selected.say).toBe(`Run: 0 jobs; 1 skipped, for example #${id}: ${said}`)
  expect(await pages.statusOf(id)).toBe('terminated')
})

test('a default that the page cannot show in full is set and cleared without Undo, because Undo could not restore it', async () => {
  const id = await pages.make('hides')
  await pages.rest(id)
  const set = { act: 'default', dir: 'in', port: 'n' }
  expect((await press(`/jobs/${id}`, { ...set, value: '{"pin":1234}' })).undo).toMatchObject({ act: 'undefault' })
  expect((await press(`/jobs/${id}`, { ...set, value: '{"pin":5678}' })).undo).toBeUndefined()
  expect((await press(`/jobs/${id}`, { ...set, act: 'undefault' })).undo).toBeUndefined()
})

test('a search leads to a channel with listeners, and a value of the args to the jobs with this value', async () => {
  const id = await resting()
  await press(`/jobs/${id}`, { act: 'channels', dir: 'in', port: 'n', channels: '/found/here' })
  expect(await admin.html('/ui/find?q=found')).toContain('/ui/channels?at=%2Ffound%2Fhere')
  const listens = await admin.html('/ui/channels?channel=%2Ffound%2Fhere%2Fbelow')
  expect(listens).toContain('1 port would receive it.')
  expect(await admin.html('/ui/channels?channel=%2Ffound%2Felsewhere')).toContain('No port would receive it.')
  const args = await admin.get('/ui/find?q=args.order.id:7')
  expect(args.headers.get('location')).toBe(`/ui/jobs?q=${encodeURIComponent('args.order.id:7')}`)
})

test('a long name is cut in the middle, and shown in full on hover', async () => {
  const group = `shop-${'7'.repeat(80)}-eu`
  const id = await pages.make('waits', { group: { id: group } })
  for (const path of [`/jobs/${id}`, '/jobs', `/groups/${group}`]) {
    const html = await admin.html(`/ui${path}`)
    expect(html, path).toMatch(new RegExp(`title="${group}">shop-7+…7+-eu<`))
  }
})

test('bytes in the state are shown as their size', async () => {
  const id = await resting()
  await pages.engine.jobs.setState(String(id), { set: { photo: encodeValue(new Uint8Array(300)), n: encodeValue(1) } })
  const html = await admin.html(`/ui/jobs/${id}?tab=state`)
  expect(html.replace(/<[^>]*>/g, '')).toContain('&quot;photo&quot;: ‹binary, 300 bytes›')
})

test('a value expands in place, or links to the API if it is too long', async () => {
  const id = await resting()
  await press(`/jobs/${id}`, { act: 'default', dir: 'in', port: 'n', value: JSON.stringify('x'.repeat(1_000)) })
  expect(await admin.html(`/ui/jobs/${id}`)).toMatch(/<summary class="val".*?x{1000}/s)
  await press(`/jobs/${id}`, { act: 'default', dir: 'in', port: 'n', value: JSON.stringify('y'.repeat(9_000)) })
  const html = await admin.html(`/ui/jobs/${id}`)
  expect(html).toContain(`href="/ui/v1/jobs/${id}/in/n"`)
  expect(html).not.toMatch(/y{300}/)
})

test('the form of a default begins with the current default', async () => {
  const id = await resting()
  const field = async () =>
    /data-act="default"[\s\S]*?<textarea[^>]*name="value"[^>]*>([^<]*)</.exec(await admin.html(`/ui/jobs/${id}`))![1]
  expect(await field()).toBe('')
  await press(`/jobs/${id}`, { act: 'default', dir: 'in', port: 'n', value: '{"b":12345678901234567890}' })
  expect(await field()).toBe('{&quot;b&quot;:12345678901234567890}')
  await press(`/jobs/${id}`, {
    act: 'default',
    dir: 'in',
    port: 'n',
    value: (await field())!.replaceAll('&quot;', '"'),
  })
  expect((await viewOf(id)).in.n!.default).toBe('{"b":12345678901234567890}')
})

test('a default is set and undone, and a field is merged into the state', async () => {
  const id = await resting()
  const { undo } = await press(`/jobs/${id}`, { act: 'default', dir: 'in', port: 'n', value: '3' })
  expect((await viewOf(id)).in.n!.default).toBe('3')
  await press(`/jobs/${id}`, undo!)
  expect((await viewOf(id)).in.n!.default).toBeUndefined()
  await pages.rest(id)
  await press(`/jobs/${id}`, { act: 'state', field: 'a', value: '{"b":1}' })
  expect(await pages.engine.jobs.state(String(id))).toEqual({ a: '{"b":1}' })
})

test('a result is taken once', async () => {
  const id = await pages.make('answers')
  await pages.rest(id)
  expect((await press(`/jobs/${id}`, { act: 'takeResult' })).say).toBe(`#${id}: result taken`)
  expect(await pages.engine.jobs.result(String(id), {})).toMatchObject({ ended: true, result: null })
})

test('settings of a queue are changed, and its mode only after a question', async () => {
  await press('/queues/default', { act: 'change', lanes: '7', batch: '50', mode: 'push', was: 'push' })
  const queue = async () => (await pages.engine.queues.list()).queues.find(({ name }) => name === 'default')!
  expect(await queue()).toMatchObject({ maxLanes: 7, batch: 50, mode: 'push' })
  const asked = (await (
    await admin.act('/ui/queues/default', { act: 'change', mode: 'pull', was: 'push' })
  ).json()) as Done
  expect(asked.confirm).toContain('Make queue default a pull queue?')
  expect((await queue()).mode).toBe('push')
})

test('a schedule runs now, and stops repeating after a question', async () => {
  await press('/schedules', { act: 'set', alias: 'nightly', queue: 'default', class: 'waits', cron: '0 3 * * *' })
  const [schedule] = (await pages.engine.schedules.list({})).schedules
  const job = String(schedule!.job)

  const far = new Date(Date.now() + 300 * 86_400_000)
  const cron = `0 3 ${far.getUTCDate()} ${far.getUTCMonth() + 1} *`
  await press('/schedules', { act: 'set', alias: 'yearly', queue: 'default', class: 'waits', cron })
  const listed = await admin.html('/ui/schedules')
  expect(listed.match(/class="nxt"/g)).toHaveLength(2)
  expect(listed).not.toContain('no slot')
  await press('/schedules', { act: 'stop', job: String((await pages.engine.jobs.get('yearly')).id) })
  await press('/schedules', { act: 'run', job })
  await pages.until(async () => (await pages.engine.jobs.runs(job)).runs.length > 0)
  await press('/schedules', { act: 'stop', job })
  expect((await pages.engine.schedules.list({})).schedules).toEqual([])
})

test('a limit admits no jobs, admits jobs again, and is removed after a question', async () => {
  await press('/limits', { act: 'set', key: 'stripe', concurrency: '2' })
  const { undo } = await press('/limits', { act: 'pause', key: 'stripe' })
  expect((await pages.engine.limits.get('stripe')).paused).toBe(true)
  await press('/limits', undo!)
  expect((await pages.engine.limits.get('stripe')).paused).toBe(false)
  await press('/limits', { act: 'remove', key: 'stripe' })
  await expect(pages.engine.limits.get('stripe')).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

test('a message is published, and its receivers are counted', async () => {
  const id = await pages.make('waits', { in: { n: { channels: ['/news'] } } })
  await pages.rest(id)
  const done = await press('/channels', { act: 'publish', channel: '/news', message: '{"a":1}' })
  expect(done.say).toBe('1 port received the message on /news')
  await pages.until(async () => {
    const { values } = await pages.engine.ports.get(String(id), 'in', 'n', 1)
    return values.length === 1
  })
  const said = () => admin.html('/ui/channels')
  expect(await said()).toContain('/news')
  expect(await said()).not.toContain('href="/ui/workers/default/herald"')
  await pages.engine.workers.register('default', 'herald', { pull: true, out: { say: { channels: ['/news/today'] } } })
  expect(await said()).toContain('href="/ui/workers/default/herald"')
})

test('waiting values of a port are moved to a port of another job', async () => {
  const [from, to] = [await pages.make('waits'), await pages.make('waits')]
  for (const id of [from, to]) await pages.rest(id)
  await pages.engine.ports.setDefault(String(from), 'in', 'n', '7')
  const done = await press(`/jobs/${from}`, {
    act: 'connect',
    dir: 'in',
    port: 'n',
    to: String(to),
    side: 'in',
    toPort: 'n',
  })
  expect(done).toMatchObject({ say: `0 values moved to n of ${to}`, link: { to: `/jobs/${to}` } })
  expect((await pages.engine.jobs.get(String(to))).in.n!.default).toBe('7')
})

test('the last message of a channel is kept on request, and shown with its age', async () => {
  await press('/channels', { act: 'publish', channel: '/till', message: '{"open":true}' })
  expect(await admin.html('/ui/channels')).not.toContain('/till')
  const values = ['{"open":false,"password":"hunter2"}', JSON.stringify('x'.repeat(5_000))]
  await press('/channels', { act: 'publish', channel: '/till', message: values[0]!, keep: '1' })
  const shown = await admin.html('/ui/channels')
  expect(shown).toContain('Last kept message')
  expect(shown).toMatch(/\/till.*false.*1 message in ten minutes.*<time [^>]*data-ago/s)
  expect(shown).not.toContain('hunter2')
  await press('/channels', { act: 'publish', channel: '/till', message: values[1]!, keep: '1' })
  expect(await admin.html('/ui/channels')).toContain('too large to show')
  await pages.engine.channels.publish('/till', '1', { keep: 0 })
  expect(await admin.html('/ui/channels')).not.toContain('/till')
})

test('a callback is sent again with the same id', async () => {
  const receiver = await startReceiver()
  const id = await pages.make('answers', { callback: { url: `${receiver.url}/hook` } })
  await pages.until(() => receiver.came.length === 1)
  await pages.until(async () => (await pages.engine.callbacks.list({ state: 'DELIVERED' })).callbacks.length === 1)
  const done = await press('/callbacks', { act: 'resend', job: String(id) })
  expect(done.say).toBe(`Resending the callback of #${id}`)
  await pages.until(() => receiver.came.length === 2)
  const [first, second] = receiver.came.map(({ headers }) => headers['webhook-id'])
  expect(second).toBe(first)
  await receiver.close()
})

test('a key is removed after its name was typed', async () => {
  const { id } = await pages.engine.keys.add({ name: 'old', scopes: ['read'] })
  const wrong = (await (
    await admin.act('/ui/settings/keys', { act: 'remove', id, name: 'old', sure: 'yes' })
  ).json()) as Done
  expect(wrong.confirm).toContain('Revoke key old?')
  expect(wrong.confirm).toContain(`The id of the key is ${id}.`)
  expect((await pages.engine.keys.list()).keys.some((key) => key.id === id)).toBe(true)
  await press('/settings/keys', { act: 'remove', id, name: 'old' }, 'old')
  expect((await pages.engine.keys.list()).keys.some((key) => key.id === id)).toBe(false)
})

test('the demo is created, ends, and is removed with all its jobs', async () => {
  await press('/', { act: 'demo' })
  const open = async () => (await pages.engine.jobs.list({ group: 'demo', limit: 100 })).jobs
  expect((await open()).length).toBe(25)
  await pages.until(async () => (await open()).every(({ status }) => status !== 'queued' && status !== 'running'))
  await press('/', { act: 'undemo' })
  await pages.until(async () => (await open()).length === 0, 60_000)
})

test('faults that the doctor finds are repaired', async () => {
  const id = await pages.make('pulled')
  await rawCommand(pages.redis.port, 'DEL', `${pages.store.keys.queue('default')}:ready:pull`)
  expect((await pages.engine.doctor.verify()).length).toBeGreaterThan(0)
  const [{ who, what, remedy, link }] = (await pages.engine.doctor.examine()).faults as never as [
    Record<string, string>,
  ]
  expect([who, link]).toEqual([String(id), `/v1/jobs/${id}`])
  const html = await admin.html('/ui/doctor?cursor=')
  expect(html).toContain(`href="/ui/jobs/${id}"`)
  for (const said of [what!, remedy!]) expect(html).toContain(said)
  expect(html).toContain(`data-copy="job ${who}: `)
  const told = async () => {
    pages.forget()
    const [overview, doctor] = [await admin.html('/ui/'), await admin.html('/ui/doctor')]
    return [
      /The doctor found <b>\d fault/.test(overview),
      /\d faults?, at \d job/.test(doctor),
      doctor.includes('no faults'),
    ]
  }
  expect(await told()).toEqual([false, false, false])
  await press('/doctor', { act: 'repair' })
  expect(await pages.engine.doctor.verify()).toEqual([])
  const { examined } = (await (await pages.ask('/health?details=true')).json()) as { examined: { faults: object } }
  expect(examined).toMatchObject({ faults: {}, cursor: null })
  expect(await (await pages.ask('/health')).json()).not.toHaveProperty('examined')
  expect(await told()).toEqual([false, false, true])
  expect(await pages.statusOf(id)).toBe('queued')
})

test('Repair left all faults after the 20th slice, without a message', async () => {
  const cursors = Array.from({ length: 21 }, (_, i) => String(10 * (i + 1)))
  const answer = await admin.act('/ui/doctor?cursor=', { act: 'repair', sure: 'yes', cursor: cursors })
  expect(await answer.json()).toEqual({
    say: '0 faults repaired; more remain',
    link: { text: 'Check the rest', to: '/doctor?cursor=200&run' },
  })
})

test('all failed callbacks to a host are sent again with one press, and callbacks to other hosts are not', async () => {
  let status = 500
  const heard: string[] = []
  const answering = (name: string) =>
    startReceiver(({ path }, response) => {
      heard.push(`${name}${path}`)
      response.writeHead(status).end()
    })
  const [one, other] = [await answering('one'), await answering('other')]
  const host = new URL(one.url).host
  const failing = async (url: string) => {
    const id = await pages.make('answers', { callback: { url, retry: [] } })
    await pages.until(async () =>
      (await pages.engine.callbacks.list({ state: 'FAILED', limit: 50 })).callbacks.some(({ of }) => of === id),
    )
    return id
  }
  const own = [await failing(`${one.url}/a`), await failing(`${one.url}/b`)]
  const left = await failing(`${other.url}/c`)
  expect(heard.splice(0)).toEqual(['one/a', 'one/b', 'other/c'])
  status = 200
  const asked = (await (await admin.act('/ui/callbacks', { act: 'resend', host })).json()) as Done
  expect(asked.confirm).toContain(`Resend 2 callbacks to ${host}?`)
  expect(heard).toEqual([])
  expect((await press('/callbacks', { act: 'resend', host })).say).toBe(`Resending 2 callbacks to ${host}`)
  const states = async () => {
    const found = [...(await pages.engine.callbacks.list({ limit: 50 })).callbacks]
    return [...own, left].map((id) => found.find(({ of }) => of === id)?.state)
  }
  await pages.until(async () => (await states()).slice(0, 2).every((state) => state === 'DELIVERED'))
  expect(await states()).toEqual(['DELIVERED', 'DELIVERED', 'FAILED'])
  expect(heard.sort()).toEqual(['one/a', 'one/b'])
  await Promise.all([one.close(), other.close()])
})

test('callbacks are counted by state, filtered by host, and open with their attempts and answers', async () => {
  let status = 500
  const receiver = await startReceiver((_, response) => response.writeHead(status).end())
  const host = new URL(receiver.url).host
  const before = await pages.engine.callbacks.counts()
  const id = await pages.make('answers', { callback: { url: `${receiver.url}/tried`, retry: [] } })
  await pages.until(async () => (await pages.engine.callbacks.counts()).FAILED > before.FAILED)
  const { tries } = await pages.engine.callbacks.tries(String(id))
  expect(tries.at(-1)).toMatchObject({ outcome: 'failed', attempt: 1, answer: `${host}: answered 500` })
  status = 200
  await pages.engine.callbacks.resend(String(id))
  await pages.until(async () => (await pages.engine.callbacks.counts()).DELIVERED > before.DELIVERED)
  const html = await admin.html(`/ui/callbacks?host=${encodeURIComponent(host)}&open=${id}`)
  expect(html).toMatch(new RegExp(`name="host" value="${host}".*Resend all failed`, 's'))
  expect(html).toContain('answered 500')
  expect(await admin.html('/ui/callbacks')).toContain(`Delivered ${before.DELIVERED + 1}`)
  expect(html).toContain('/tried')
  expect(await admin.html('/ui/callbacks?host=another.example')).not.toContain('/tried')
  await expect(pages.engine.callbacks.tries(String(await pages.make('answers')))).rejects.toThrow(
    'has sent no callback',
  )
  await receiver.close()
})

test('a flow is created from a stored graph, and the list shows the size of the graph', async () => {
  const nodes = { a: { class: 'answers', queue: 'default' }, b: { class: 'answers', queue: 'default' } }
  const graph = { nodes, edges: [], inports: {}, outports: {} }
  await pages.engine.graphs.set('nightly', graph)
  const row = /<tr>(?:(?!<\/tr>)[\s\S])*nightly[\s\S]*?<\/tr>/.exec(await admin.html('/ui/flows'))![0]
  expect([...row.matchAll(/\d+ (?:node|edge)s?/g)].map(([text]) => text)).toEqual(['2 nodes', '0 edges'])
  const { to } = (await press('/flows', { act: 'begin', graph: 'nightly' })) as { to?: string }
  const id = /^\/flows\/(\d+)$/.exec(to!)![1]!
  await pages.until(async () => (await pages.engine.flows.get(id)).graph !== null)
  expect(Object.keys((await pages.engine.flows.get(id)).graph!.nodes)).toEqual(['a', 'b'])
})

test('a job with more than a hundred children shows their number by status, each with a link', async () => {
  const id = await resting()
  const child = (n: number) => ({
    queue: 'default',
    class: 'answers',
    parent: String(id),
    name: `c${n}`,
    wait: 3_600_000,
  })
  const { jobs } = await pages.engine.jobs.enqueue(Array.from({ length: 101 }, (_, n) => child(n)) as never)
  await pages.engine.jobs.terminate(String(jobs[7]!.id), {})
  const html = await admin.html(`/ui/jobs/${id}`)
  const links = [...html.matchAll(/href="\/ui(\/jobs\?parent=\d+&amp;status=[\w,%]+)"[^>]*>([^<]*)</g)]
  expect(links.map(([, , text]) => text)).toEqual(['100 queued or running', '1 terminated'])
  expect(html).toContain(`href="/ui/jobs?parent=${id}"`)
  const list = await admin.html(`/ui${links[1]![1]!.replace('&amp;', '&')}`)
  expect([...list.matchAll(/id="row-(\d+)"/g)].map(([, row]) => Number(row))).toEqual([jobs[7]!.id])
})
