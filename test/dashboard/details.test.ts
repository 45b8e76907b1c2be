import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { core } from '../../functions/core.ts'
import { createClient } from '../../src/client/index.ts'
import { defineWorker } from '../../src/index.ts'
import { KEY, ORIGIN, startPages, type Visitor } from './kit.ts'
import { waits } from './seed-jobs.ts'

const declined = defineWorker({
  class: 'declined',
  retry: { max: 0 },
  perform() {
    throw new Error('card declined')
  },
})

let pages: Awaited<ReturnType<typeof startPages>>
let reader: Visitor
beforeAll(async () => {
  pages = await startPages({ workers: [declined, waits, ...core] })
  reader = await pages.enter(['admin'])
})
afterAll(() => pages.close())

const opened = (html: string): string | undefined => /aria-current="page"[^>]*data-hotkey="\w">(\w+) /.exec(html)?.[1]

test('a failed job shows its error and args above its timeline, and opens with its log selected', async () => {
  const [failed, waiting] = [await pages.make('declined', { args: '"ORD-7" ' as never }), await pages.make('waits')]
  await Promise.all([pages.rest(failed), pages.rest(waiting)])
  const html = await reader.html(`/ui/jobs/${failed}`)
  expect(opened(html)).toBe('Log')
  expect(html).toMatch(/id="failure".*<b>card declined<\/b>.*<h3>This job<\/h3>.*ORD-7.*<h2>Timeline<\/h2>/s)
  expect(html).toContain('No recent jobs of declined have completed.')
  expect(opened(await reader.html(`/ui/jobs/${failed}?tab=runs`))).toBe('Runs')
  const other = await reader.html(`/ui/jobs/${waiting}`)
  expect(opened(other)).toBe('Log')
  expect(other).not.toContain('id="failure"')
})

test('the page of a paused queue names the key that paused it, with the reason', async () => {
  const { name, key } = { name: 'ana', ...(await pages.engine.keys.add({ name: 'ana', scopes: ['admin'] })) }
  const client = createClient({
    url: ORIGIN,
    key,
    reason: 'DHL is down',
    fetch: async (request) => pages.app.fetch(request),
  })
  await client.queues.patch('parcels', { paused: true })
  const html = await reader.html('/ui/queues/parcels')
  expect(html).toMatch(new RegExp(`Paused by ${name} <time.*DHL is down`, 's'))
  expect(await reader.html('/ui/settings/keys?audit')).toMatch(
    /PATCH \/v1\/queues\/parcels.*Change queue parcels.*paused · DHL is down.*ana/s,
  )
  expect(await reader.html('/ui/settings/keys?q=dhl')).toMatch(
    /1 row matches in \d+ changes.*href="\/ui\/queues\/parcels"/s,
  )
  expect(await reader.html('/ui/settings/keys?q=nobody')).toContain('No changes match.')
  await client.queues.patch('parcels', { paused: false })
  expect(await reader.html('/ui/queues/parcels')).not.toContain('Paused by')
})

test('the audit log showed the number of open lanes as the former value of the setting lanes', async () => {
  const { key } = await pages.engine.keys.add({ name: 'eve', scopes: ['admin'] })
  const client = createClient({ url: ORIGIN, key, fetch: async (request) => pages.app.fetch(request) })
  await client.queues.patch('laned', { lanes: 7 })
  await client.queues.patch('laned', { lanes: 3 })
  const { entries } = await pages.engine.audit.read({ limit: 1 })
  expect(entries[0]).toMatchObject({ change: '{"lanes":3}', was: '{"lanes":7}' })
})

test('the audit log shows the former value of a setting, not only the requested one', async () => {
  const { key } = await pages.engine.keys.add({ name: 'bo', scopes: ['admin'] })
  const client = createClient({ url: ORIGIN, key, fetch: async (request) => pages.app.fetch(request) })
  await client.limits.set('former', { concurrency: 2 })
  await client.limits.set('former', { concurrency: 8, rate: { limit: 5, period: '1s' } })
  await client.limits.set('former', { concurrency: 9, rate: { limit: 5, period: '1s' } })
  await client.keys.add({ name: 'printer', scopes: ['read', 'work'] })
  const { entries } = await pages.engine.audit.read({ limit: 4 })
  expect(entries.map(({ was }) => was)).toEqual([
    undefined,
    '{"concurrency":8,"rate":{"limit":5,"period":1000}}',
    '{"concurrency":2,"rate":null}',
    '{"concurrency":null}',
  ])
  const html = await (await pages.enter(['admin'])).html('/ui/settings/keys?q=bo')
  const rows = html
    .slice(html.indexOf('Audit log'))
    .replace(/<[^>]*>/g, ' ')
    .replace(/ +/g, ' ')
  expect(rows).toContain('Set limit former concurrency 2 → 8; rate: limit 5, period 1s')
  expect(rows).toContain('Set limit former concurrency 2 ')
  expect(rows).toContain('Set limit former concurrency 8 → 9 ')
  expect(rows).toContain('Add key name printer; scopes read, work')
})

test('the groups of an expanded limit add up to its holders and waiting jobs, or to the listed number', async () => {
  const { engine } = pages
  await engine.workers.register('shop', 'lined', { pull: true, concurrency: 2 })
  const make = (n: number) =>
    engine.jobs.enqueue(
      Array.from({ length: n }, (_, i) => ({ queue: 'shop', class: 'lined', group: { id: `g${i % 3}` } })) as never,
    )
  const sums = async () => {
    const html = await reader.html('/ui/limits?open=worker%3Ashop%2Flined')
    const sides = html.split('<p class="shares-of">').slice(1)
    const own = (side: string) => side.slice(0, side.indexOf('</p>'))
    const sum = (text: string) => [...text.matchAll(/<\/a> (\d+)/g)].reduce((sum, [, n]) => sum + Number(n), 0)
    return [html, ...sides.map((side) => [sum(own(side)), /of the first (\d+)/.exec(own(side))?.[1]])] as const
  }
  await make(30)
  await engine.runs.claim('shop', { process: 'liner-1', names: ['lined'], max: 2 })
  expect(await engine.runs.claim('shop', { names: ['lined'], max: 1 })).toEqual([])
  const [html, ...few] = await sums()
  expect(few).toEqual([
    [2, undefined],
    [28, undefined],
  ])
  expect(html).toContain('2 of 2 slots are held')
  expect(html).toMatch(
    /A slot becomes free when one of these runs ends, or at (\d+ \w{3}, )?\d\d:\d\d:\d\d, when the lease of #\d+ ends/,
  )
  await make(100)
  expect((await sums()).slice(1)).toEqual([
    [2, undefined],
    [100, '100'],
  ])
  expect(await reader.html('/ui/limits?open=worker%3Ashop%2Flined')).toContain('The page lists the first 100 of 128.')
})

test('Workers counts the jobs of unnamed pull workers at their queue', async () => {
  await pages.engine.workers.register('shop', 'alone', { pull: true })
  await pages.make('alone', { queue: 'shop' })
  await pages.engine.runs.claim('shop', { names: ['alone'], max: 1 })
  pages.forget()
  const html = await reader.html('/ui/workers')
  expect(html).toMatch(/\/queues\/shop".*[1-9]\d* jobs? of unnamed pull workers/s)
})

test('a group has one colour in the slots of a limit, in the lists below them, and on its page', async () => {
  await pages.engine.workers.register('shop', 'sold', { pull: true, concurrency: 3 })
  for (const id of ['b', 'a', 'a', 'a', 'c', 'c', 'c', 'c']) await pages.make('sold', { queue: 'shop', group: { id } })
  await pages.engine.runs.claim('shop', { names: ['sold'], lease: 3_600_000, max: 3 })
  expect(await pages.engine.runs.claim('shop', { names: ['sold'], max: 1 })).toEqual([])
  const html = await reader.html('/ui/limits?open=worker%3Ashop%2Fsold')
  const row = html.slice(html.indexOf('worker:shop/sold'))
  const [slots, below] = row.split('<div class="open">') as [string, string]
  const colours = (text: string) => new Set([...text.matchAll(/\b(g\d)\b/g)].map(([, colour]) => colour))
  const shares = new Map(
    [...below.matchAll(/<span class="(g\d)"><span class="gd"><\/span><a[^>]*>(\w)</g)].map(([, colour, group]) => [
      group,
      colour,
    ]),
  )
  expect([...shares.keys()].sort()).toEqual(['a', 'b', 'c'])
  expect(new Set(shares.values()).size).toBe(3)
  const { holders } = await pages.engine.limits.usage('worker:shop/sold', { holders: 3, waiting: 0 })
  expect(colours(slots)).toEqual(new Set(holders.map(({ group }) => shares.get(group!))))
  for (const [group, colour] of shares) {
    expect(html).toMatch(new RegExp(`/ui/groups/${group}"(?:(?!</tr>).)*<div class="${colour}">`, 's'))
    if (holders.some((one) => one.group === group))
      expect([...colours((await reader.html(`/ui/groups/${group}`)).split('<main')[1]!)]).toEqual([colour])
  }
  // The page reads the groups of a limit only for an expanded row.
  await pages.engine.limits.set('stripe', { concurrency: 2 })
  const other = await reader.html('/ui/limits?open=stripe')
  const closed = other.slice(other.indexOf('worker:shop/sold'))
  expect([...colours(closed.slice(0, closed.indexOf('class="q"')))]).toEqual(['g0'])
})

test('the number of failed jobs of a queue had no next step on its page', async () => {
  await pages.rest(await pages.make('declined'))
  pages.forget()
  const { failed } = (await pages.engine.queues.get('default')).counts
  const html = await reader.html('/ui/queues/default')
  expect(html.replace(/<\/?b>/g, '')).toMatch(
    new RegExp(`href="/ui/jobs\\?status=failed&amp;queue=default">See the errors of ${failed} failed jobs?</a>, then`),
  )
})

test('the page of a queue names the jobs that wait for limits, and counts only its own runs', async () => {
  const { engine } = pages
  await engine.workers.register('press', 'print', { pull: true, limits: [{ key: 'press', concurrency: 8 }] })
  await engine.workers.register('shelf', 'store', { pull: true })
  for (let i = 0; i < 10; i++) await pages.make('print', { queue: 'press' })
  await pages.make('store', { queue: 'shelf' })
  const process = 'packer-1'
  for (const queue of ['press', 'shelf']) await engine.runs.claim(queue, { process, lease: 3_600_000, max: 10 })
  expect(await engine.runs.claim('press', { process, max: 1 })).toEqual([])
  pages.forget()
  const html = await reader.html('/ui/queues/press')
  expect(html).toMatch(/>2 jobs wait<\/a> for room in a limit: <a[^>]*href="\/ui\/limits\?open=press">press</)
  expect(html).toContain('pull workers: 8 runs')
  expect(html).not.toMatch(/\d of \d+ lanes/)
  expect(html).toMatch(/packer-1.*>8\sruns</s)
  expect(html).toMatch(/href="\/ui\/jobs\?status=running&amp;queue=press"[^>]*>Show all</)
  expect(await reader.html('/ui/queues/shelf')).toMatch(/packer-1.*>1\srun</s)
})

test('Workers shows own classes before the standard library, and links to the queues that serve them', async () => {
  const { engine } = pages
  await engine.workers.register('kiln', 'bake', {
    pull: true,
    in: { sizes: { schema: '{"type":"array","items":{"type":"integer"}}' } },
  })
  for (const name of ['cool', 'heat']) await engine.workers.register('attic', name, { pull: true })
  await pages.make('heat', { queue: 'attic' })
  const [heated] = await engine.runs.claim('attic', { max: 1 })
  await engine.runs.commit(heated!.run.token, { end: 'completed' })
  await pages.make('bake', { queue: 'kiln' })
  const [run] = await engine.runs.claim('kiln', { max: 1 })
  await engine.runs.commit(run!.run.token, { end: 'failed', error: { message: 'too hot' } })
  pages.forget()
  const html = await reader.html('/ui/workers')
  const [own, library] = html.split('<details') as [string, string]
  expect(own).toMatch(/kiln.*bake/s)
  expect(own).not.toContain('/ui/workers/core/')
  expect(library).toMatch(/^><summary[^>]*>Standard library: \d+ classes<.*\/ui\/workers\/core\/split/s)
  const rowOf = (name: string) => new RegExp(`/attic/${name}"(?:(?!</tr>).)*`, 's').exec(own)![0]
  expect([rowOf('cool'), rowOf('heat')].map((row) => row.includes('no claims yet'))).toEqual([true, false])
  expect(own).toContain('href="/ui/queues/kiln">kiln</a>')
  const bake = await reader.html('/ui/workers/kiln/bake')
  expect(bake).toMatch(/Today, UTC.*1 run, <a class="link up"[^>]*>1 failed<\/a>/s)
  expect(bake).toMatch(/aria-label="0 jobs completed, 1 failed"[^>]*><rect class="f-failed"/)
  expect(bake).toContain('list of whole numbers')
  expect(await reader.html('/ui/workers?q=split')).toContain('<details open')
  await pages.make('bake', { queue: 'kiln' })
  pages.forget()
  const queues = await reader.html('/ui/queues')
  expect(queues).toMatch(/kiln<.*1 waits for a pull worker<.*title="0 completed, 1 failed".*class="f-failed"/s)
  expect(await reader.html('/ui/queues/kiln')).toContain('>All wait for a pull worker.<')
  expect(queues.indexOf('/ui/queues/kiln"')).toBeLessThan(queues.indexOf('/ui/queues/core"'))
})

test('Workers said “no claims yet” at a class with a running job of an unnamed pull worker', async () => {
  const { engine } = pages
  for (const name of ['held', 'idle']) await engine.workers.register('loom', name, { pull: true })
  await pages.make('held', { queue: 'loom' })
  await engine.runs.claim('loom', { max: 1 })
  pages.forget()
  const html = await reader.html('/ui/workers')
  const rowOf = (name: string) => new RegExp(`/loom/${name}"(?:(?!</tr>).)*`, 's').exec(html)![0]
  expect(['held', 'idle'].map((name) => rowOf(name).includes('no claims yet'))).toEqual([false, true])
})

test('Workers said that jobs of a paused queue wait for a pull worker', async () => {
  const { engine } = pages
  await engine.workers.register('grist', 'grind', { pull: true })
  const jobs = [await pages.make('grind', { queue: 'grist' }), await pages.make('grind', { queue: 'grist' })]
  const rowOf = async () => {
    pages.forget()
    return /queues\/grist".*?<\/th>/s.exec(await reader.html('/ui/workers'))![0]
  }
  expect(await rowOf()).toContain('2 jobs wait for a pull worker')
  await engine.queues.update('grist', { paused: true })
  const row = await rowOf()
  expect(row).toContain('>paused, 2 jobs wait<')
  expect(row).not.toContain('pull worker')
  await engine.queues.update('grist', { paused: false })
  for (const job of jobs) await engine.jobs.remove(String(job), { force: true })
})

test('a queue in which no job ended had an empty chart above its next jobs', async () => {
  await pages.engine.workers.register('quiet', 'listen', { pull: true })
  pages.forget()
  const html = await reader.html('/ui/queues/quiet')
  expect(html).toContain('No job ended in the last')
  expect(html).not.toContain('class="plot')
  expect(await reader.html('/ui')).toContain('class="plot')
})

test('Workers showed a pull worker in green that was last seen 14 minutes ago', async () => {
  const { engine } = pages
  const claim = (process: string) => engine.runs.claim('spindle', { process, lease: 3_600_000 })
  await engine.workers.register('spindle', 'spin', { pull: true })
  await pages.advance(-840_000)
  await pages.make('spin', { queue: 'spindle' })
  expect(await claim('spinner-1')).toHaveLength(1)
  await pages.advance(840_000)
  await claim('spinner-2')
  pages.forget()
  const html = await reader.html('/ui/workers')
  expect(html).toMatch(
    /st suspended">spinner-1<\/span> 1 job, <span class="st suspended"><span>last seen <time[^>]*>14 min ago</,
  )
  expect(html).toMatch(/st completed">spinner-2<\/span> 0 jobs, seen <time/)
  const queue = await reader.html('/ui/queues/spindle')
  expect(queue).toMatch(/spinner-1<.*>1\srun<.*suspended"><span>last seen <time.*spinner-2<.*dim">seen <time/s)
})

test('Queues lists queues with failed and held jobs first, and a paused queue has a button', async () => {
  const { engine } = pages
  for (const queue of ['anvil', 'bellows', 'chisel']) {
    await engine.workers.register(queue, 'forge', { pull: true, retry: { max: 0 } })
    await engine.queues.update(queue, { paused: queue === 'bellows' })
  }
  for (let i = 0; i < 60; i++) await pages.make('forge', { queue: 'bellows' })
  for (let i = 0; i < 40; i++) await pages.make('forge', { queue: 'chisel' })
  for (const { run } of await engine.runs.claim('chisel', { max: 40 }))
    await engine.runs.commit(run.token, { end: 'failed', error: { message: 'blunt' } })
  pages.forget()
  const html = (await reader.html('/ui/queues')).split('<tbody>')[1]!
  const placeOf = (queue: string) => html.indexOf(`/ui/queues/${queue}"`)
  const places = ['bellows', 'chisel', 'anvil'].map(placeOf)
  expect(places.every((place) => place > 0)).toBe(true)
  expect(places).toEqual(places.toSorted((a, b) => a - b))
  expect(html).toMatch(/>paused<.*value="bellows".*value="resume".*Resume<\/button>/s)
  expect(html.match(/Resume<\/button>/g)).toHaveLength(1)
  expect(await reader.html('/ui/queues/bellows')).toMatch(
    /no pull worker has claimed from this queue\. <a[^>]*\/workers\?register">Create a pull worker</,
  )
  const found = await reader.html('/ui/find?list&q=bellows')
  expect(found).toContain('<span class="right">paused, 60 waiting</span>')
  expect(await reader.html('/ui/find?list&q=chisel')).toMatch(
    />40 failed<\/span>.*>40 runs today, 40 failed jobs<\/span>/s,
  )
  expect(await reader.html('/ui/jobs/new?queue=bellows&class=forge')).toMatch(
    /class="gone">The queue is paused: <a[^>]*\/queues\/bellows"/,
  )
  expect(await reader.html('/ui/jobs/new')).toMatch(/chisel.*40 runs today.*Queue bellows <span[^>]*>paused</s)
})

test('New job shows how many jobs already wait for the limit of the class', async () => {
  const { engine } = pages
  await engine.workers.register('quay', 'unload', { pull: true, concurrency: 1 })
  for (let i = 0; i < 3; i++) await pages.make('unload', { queue: 'quay' })
  await engine.runs.claim('quay', { max: 3, lease: 3_600_000 })
  pages.forget()
  expect(await reader.html('/ui/jobs/new?queue=quay&class=unload')).toMatch(
    /2 jobs already wait for limit <a[^>]*open=worker%3Aquay%2Funload"/,
  )
})

test('a schedule shows its class, its last result, and why it is overdue', async () => {
  const { engine } = pages
  await engine.workers.register('tide', 'ebb', { pull: true, retry: { max: 0 } })
  await pages.advance(-300_000)
  await engine.schedules.set('moon', { queue: 'tide', class: 'ebb', repeat: { cron: '* * * * *' } } as never)
  await pages.advance(61_000)
  const [run] = await engine.runs.claim('tide', { max: 1 })
  await engine.runs.commit(run!.run.token, { end: 'failed', error: { message: 'no water' } })
  const { job } = (await engine.schedules.list({})).schedules[0]!
  await pages.advance(239_000)
  const html = await reader.html('/ui/schedules')
  expect(html).toContain('1 schedule, 1 overdue, 1 failed last time')
  expect(html).toMatch(
    new RegExp(
      `#past"[^>]*>failed <time[^>]*>3 min ago</time></a>.*ebb: Every minute.*overdue</span><a[^>]*/ui/jobs/${job}">Why<`,
      's',
    ),
  )
  expect(html).toContain('It waits for a pull worker to claim it')
  await engine.queues.update('tide', { paused: true })
  pages.forget()
  expect(await reader.html('/ui/schedules')).toContain('Queue tide is paused')
  await engine.queues.update('tide', { paused: false })
  expect(html).toMatch(/aria-label="Stop repeating moon".*<\/svg>Stop<\/button>/s)
  const preview = await reader.html(`/ui/schedules?${new URLSearchParams({ cron: '0 9 * * MON', tz: 'Asia/Tokyo' })}`)
  expect(preview).toMatch(/<time datetime="[^"]*">Mon \d+ \w+ \d+, 09:00 Asia\/Tokyo<\/time>/)
  expect(await reader.html('/ui/schedules?cron=*/10+*+*+*+*+*')).toMatch(/<time[^>]*>[^<]*:\d0 UTC<\/time>/)
  await engine.schedules.end('moon')
})

test('New job begins with the known classes, and shows the default of a choice', async () => {
  await pages.engine.workers.register('media', 'resize', {
    pull: true,
    in: {
      format: { schema: '{"enum":["webp","avif"]}', default: '"webp"' },
      crop: { schema: '{"type":"boolean"}', default: 'false' },
    },
  })
  const blank = await reader.html('/ui/jobs/new')
  expect(blank).toMatch(/href="\/ui\/jobs\/new\?queue=media&amp;class=resize"[^>]*><b>resize<\/b>/)
  expect(blank).not.toContain('data-act="make"')
  const html = await reader.html('/ui/jobs/new?queue=media&class=resize')
  expect(html).toMatch(/name="in.format"[^>]*><option value="">webp \(default\)<\/option><option value="webp">webp</)
  expect(html).toMatch(/name="in.crop"[^>]*><option value="">no \(default\)<\/option><option value="true">yes</)
})

test('the search finds the audit log, the page of keys links to it, and keys have a button to revoke them', async () => {
  expect(await reader.html('/ui/find?q=audit')).toMatch(/href="\/ui\/settings\/keys"[^>]*>.*Keys and audit/s)
  const html = await reader.html('/ui/settings/keys')
  expect(html).toMatch(/href="\/ui\/settings\/keys\?audit"[^>]*>Audit</)
  expect(html).toMatch(/aria-label="Revoke ana, \w+"[^>]*>Revoke</)
  expect(html).not.toContain('Audit log</caption>')
  for (const path of ['/ui/settings/keys?audit', '/ui/settings/keys?q=ana']) {
    const audit = await reader.html(path)
    expect(audit).toMatch(/<h1>Audit<\/h1>.*Audit log<\/caption>/s)
    expect(audit).not.toContain('Revoke ana')
  }
})

test('two keys of one name had buttons of equal names', async () => {
  const twins = [1, 2].map(() => pages.engine.keys.add({ name: 'twin', scopes: ['read'] }))
  const ids = (await Promise.all(twins)).map(({ id }) => id)
  const html = await reader.html('/ui/settings/keys')
  for (const id of ids) expect(html).toContain(`aria-label="Revoke twin, ${id}"`)
})

test('consecutive equal changes are one row of the audit log, with their names', async () => {
  const { key } = await pages.engine.keys.add({ name: 'deployer', scopes: ['admin'] })
  const client = createClient({ url: ORIGIN, key, fetch: async (request) => pages.app.fetch(request) })
  for (const name of ['first', 'second', 'third']) await client.workers.register('equal', name, { pull: true })
  await client.queues.patch('equal', { paused: true })
  const html = await reader.html('/ui/settings/keys?q=deployer')
  expect(html).toMatch(/2 rows match in \d+ changes/)
  expect(html).toMatch(/Register 3 workers.*equal\/third, equal\/second, equal\/first/s)
  expect(html).toContain('Change queue equal')
})

test('the audit log did not record what a bulk action and a schedule did', async () => {
  const { key } = await pages.engine.keys.add({ name: 'dora', scopes: ['admin'] })
  const client = createClient({ url: ORIGIN, key, fetch: async (request) => pages.app.fetch(request) })
  await client.schedules.set('secretly', { class: 'waits', args: { card: '4111' }, repeat: { cron: '0 3 * * *' } })
  await client.bulk.start({ filter: { status: 'failed', class: 'declined', group: 'shop-7' }, action: 'retry' })
  const ids = [await pages.make('declined'), await pages.make('declined')]
  await client.bulk.start({ ids, action: 'terminate' })
  const { entries } = await pages.engine.audit.read({ limit: 3 })
  expect(entries.map(({ change }) => change)).toEqual([
    '{"action":"terminate","jobs":2}',
    '{"action":"retry","status":"failed","class":"declined"}',
    '{"queue":"default","class":"waits","repeat":{"cron":"0 3 * * *"}}',
  ])
  const html = (await reader.html('/ui/settings/keys?q=dora')).replace(/<[^>]*>/g, ' ').replace(/ +/g, ' ')
  expect(html).toContain('Terminate 2 jobs')
  expect(html).toContain('Retry matching jobs status failed; class declined')
  expect(html).toContain('Set schedule secretly queue default; class waits; repeat: cron 0 3 * * *')
  await pages.engine.schedules.end('secretly')
})

test('50 logins hid all other changes of the audit log, and older ones could not be reached', async () => {
  const { key } = await pages.engine.keys.add({ name: 'eve', scopes: ['admin'] })
  const client = createClient({ url: ORIGIN, key, fetch: async (request) => pages.app.fetch(request) })
  for (const concurrency of Array.from({ length: 60 }, (_, i) => i + 1))
    await client.limits.set('hidden', { concurrency })
  for (const _ of Array.from({ length: 55 })) await pages.enter(['admin'])
  const html = await reader.html('/ui/settings/keys?audit')
  expect(html).toMatch(/href="\/ui\/limits\?change=hidden"[^>]*>Set limit hidden</)
  expect(html.match(/Set limit hidden/g)?.length).toBeGreaterThan(40)
  expect(html).not.toContain('concurrency 1 → 2<')
  const older = /href="\/ui(\/settings\/keys\?audit=?&amp;cursor=[^"]*)"[^>]*>Older changes</.exec(html)?.[1]
  const next = await reader.html(`/ui${older?.replaceAll('&amp;', '&')}`)
  expect(next).toContain('concurrency 1 → 2<')
  const shown = (page: string) => [...page.matchAll(/concurrency (?:\d+ → )?(\d+)</g)].map(([, n]) => Number(n))
  expect([...shown(html), ...shown(next)].slice(0, 60)).toEqual(Array.from({ length: 60 }, (_, i) => 60 - i))
})

test('a mute was called a change of an error, named only its hash, and did not lead to the failed jobs', async () => {
  const id = await pages.make('declined')
  await pages.rest(id)
  const { error, message } = (await pages.engine.errors.list({})).errors[0]!
  const { key } = await pages.engine.keys.add({ name: 'finn', scopes: ['admin'] })
  const client = createClient({ url: ORIGIN, key, fetch: async (request) => pages.app.fetch(request) })
  await client.errors.patch(error, { muted: true })
  await client.errors.patch(error, { muted: false })
  const html = await reader.html('/ui/settings/keys?q=finn')
  expect(html).toMatch(
    new RegExp(
      `href="/ui/jobs\\?status=failed&amp;error=${error}"[^>]*>Unmute error ${message}.*>Mute error ${message}<`,
      's',
    ),
  )
  expect(html).not.toMatch(/>(not )?muted</)
})

test('a new key can expire', async () => {
  await reader.act('/ui/settings/keys?new', { act: 'make', name: 'for-a-day', scope: 'read', expires: '1d' })
  const { keys } = await pages.engine.keys.list()
  const made = keys.find(({ name }) => name === 'for-a-day')!
  expect(made.expiresAt! - made.createdAt).toBeGreaterThan(86_300_000)
  expect(made.expiresAt! - made.createdAt).toBeLessThan(86_500_000)
})

test('the doctor lists its problems first, each with its remedy: lost runs, and jobs that wait for a pull worker', async () => {
  const healthy = await reader.html('/ui/doctor')
  expect(healthy).toMatch(/\d checks passed<.*none lost in the last hour/s)
  await pages.advance(-120_000)
  for (const queue of ['mill', 'press-2']) {
    for (const name of ['ground', 'sifted']) await pages.engine.workers.register(queue, name, { pull: true })
    await pages.make('ground', { queue })
  }
  await pages.engine.runs.claim('mill', { names: ['ground'], lease: 1_000 })
  await pages.make('ground', { queue: 'mill' })
  await pages.make('sifted', { queue: 'mill' })
  await pages.advance(120_000)
  await pages.engine.tick()
  pages.forget()
  const html = await reader.html('/ui/doctor')
  const [problems, sound] = html.slice(html.indexOf('<h2>Problems</h2>')).split(/<h2>\d checks passed<\/h2>/) as [
    string,
    string,
  ]
  expect(problems).toMatch(
    /Runs<span class="sub"><a[^>]*\/ui\/log\?q=run\+lost&amp;since=1h".*1 run lost in the last hour/s,
  )
  expect(await reader.html('/ui/log?q=run+lost&since=1h')).toContain('run lost: no commit before its lease ended')
  expect(problems).toMatch(
    /2 jobs wait in queue <a[^>]*\/ui\/queues\/mill">mill<\/a>, for <time[^>]*>[^<]+<\/time>; 1 job waits in queue <a[^>]*>press-2</,
  )
  expect(problems).toMatch(/Pull workers<span class="sub">Start a pull worker that claims from the queue\./)
  expect(problems).toMatch(/<code>(npx sidejob create [^<]*)<\/code> <button[^>]*data-copy="\1"/)
  expect(problems.split('Pull workers')).toHaveLength(2)
  expect(sound).not.toContain('Pull workers')
  expect(html).toMatch(/>\d problems</)
})

test('the doctor found no problems while the database of the history refused every write', async () => {
  const health = await pages.engine.health()
  const history = {
    of: 'history',
    code: 'UNAVAILABLE',
    message: 'no such table',
    remedy: 'check the database',
  } as const
  const asked = vi.spyOn(pages.engine, 'health').mockResolvedValue({ ...health, problems: [history] })
  const html = await reader.html('/ui/doctor')
  asked.mockRestore()
  expect(html).toMatch(
    /<h2>Problems<\/h2>.*History<span class="sub">check the database<.*no such table.*checks passed/s,
  )
})

test('"Since the deploy" narrows the list that is shown', async () => {
  const html = await reader.html('/ui/jobs?status=failed&queue=default')
  expect(html).toMatch(/href="\/ui\/jobs\?status=failed&amp;queue=default&amp;since=deploy"/)
})

test('the commands of the first minute work as copied, also after the demo', async () => {
  const fresh = await startPages({ workers: core })
  const visitor = await fresh.enter(['admin'])
  expect((await visitor.act('/ui/', { act: 'demo' })).status).toBe(200)
  const html = await visitor.html('/ui/?first=1')
  expect(html).not.toContain('class="done"')
  const commands = [...html.matchAll(/<pre tabindex="0">(curl [^<]*)</g)].map(([, text]) =>
    text!.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&'),
  )
  expect(commands).toHaveLength(3)
  const run = async (command: string) => {
    const [, body] = /--json '([^']*)'/.exec(command)!
    const [url] = /http\S+$/.exec(command)!
    expect(command).toContain('-H "Authorization: Bearer $SIDEJOB_KEY"')
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${KEY}` }
    const answer = await fresh.ask(url.replace(ORIGIN, ''), { method: 'POST', headers, body: body! })
    return (await answer.json()) as Record<string, unknown>
  }
  const { id } = await run(commands[0]!)
  await fresh.rest(id as number)
  expect(await run(commands[1]!)).toMatchObject({ values: [{ data: ['to', 'be', 'or', 'not'] }] })
  expect(await run(commands[2]!)).toMatchObject({ id: expect.any(Number) })
  expect(await visitor.html('/ui/?first=1')).toContain('class="done"')
  await fresh.close()
})

test('idle internal queues filled the end of the list of queues', async () => {
  const queues = await reader.html('/ui/queues')
  const [, rows, folded] = /<table(.*?)<\/table><details[^>]*>(.*?)<\/details>/s.exec(queues)!
  expect(folded).toMatch(/<summary>\d idle internal queues?<\/summary>.*\/ui\/queues\/sidejob/s)
  const names = [...folded!.matchAll(/\/ui\/queues\/([\w.]+)"/g)].map(([, name]) => name)
  for (const name of names) expect(rows).not.toContain(`/ui/queues/${name}"`)
})

test('pairs of logins filled the audit log', async () => {
  for (const verb of ['sessions.link', 'sessions.redeem', 'sessions.link', 'sessions.redeem'])
    await pages.engine.audit.write({ by: 'key:1', name: 'eve', verb, method: 'POST', path: '/ui/login' })
  const html = await reader.html('/ui/settings/keys?audit')
  expect(html).toContain('Log in with a link, Create a login link: 4 entries')
})
