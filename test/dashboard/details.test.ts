import { afterAll, beforeAll, expect, test } from 'vitest'
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

test('a failed job shows its error and args above its timeline, and opens at its log like another job', async () => {
  const [failed, waiting] = [await pages.make('declined', { args: '"ORD-7" ' as never }), await pages.make('waits')]
  await Promise.all([pages.rest(failed), pages.rest(waiting)])
  const html = await reader.html(`/ui/jobs/${failed}`)
  expect(opened(html)).toBe('Log')
  expect(html).toContain('Why it failed')
  expect(html).toMatch(/id="failure".*<b>card declined<\/b>.*<h3>This job<\/h3>.*ORD-7.*<h2>Timeline<\/h2>/s)
  expect(html).toContain('No recent jobs of declined have completed.')
  expect(opened(await reader.html(`/ui/jobs/${failed}?tab=errors`))).toBe('Errors')
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
  expect(await reader.html('/ui/settings/keys')).toMatch(/queues\.patch.*v1\/queues\/parcels.*DHL is down.*ana/s)
  await client.queues.patch('parcels', { paused: false })
  expect(await reader.html('/ui/queues/parcels')).not.toContain('Paused by')
})

test('a group has one colour in the slots of a limit, in the lists below them, and on its page', async () => {
  await pages.engine.workers.register('shop', 'sold', { pull: true, concurrency: 3 })
  for (const id of ['b', 'a', 'a', 'a', 'c', 'c', 'c', 'c']) await pages.make('sold', { queue: 'shop', group: { id } })
  await pages.engine.runs.claim('shop', { names: ['sold'], lease: 3_600_000, max: 3 })
  // The second claim finds no free slot, so the other jobs wait for the limit.
  expect(await pages.engine.runs.claim('shop', { names: ['sold'], max: 1 })).toEqual([])
  const html = await reader.html('/ui/limits?open=worker%3Ashop%2Fsold')
  const row = html.slice(html.indexOf('worker:shop/sold'))
  const [slots, below] = row.split('<div class="open">') as [string, string]
  const colours = (text: string) => new Set([...text.matchAll(/\b(g[0-4])\b/g)].map(([, colour]) => colour))
  const shares = new Map(
    [...below.matchAll(/class="share (g\d)".*?<span class="clip">(\w)</gs)].map(([, colour, group]) => [group, colour]),
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
  // A collapsed row does not read its groups, so its slots are not coloured by group.
  await pages.engine.limits.set('stripe', { concurrency: 2 })
  const other = await reader.html('/ui/limits?open=stripe')
  const closed = other.slice(other.indexOf('worker:shop/sold'))
  expect([...colours(closed.slice(0, closed.indexOf('class="q"')))]).toEqual(['g0'])
})

test('a queue whose jobs all wait for limits says so, and counts only its own runs', async () => {
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
  expect(html).toMatch(/href="\/ui\/limits"[^>]*>No jobs are ready; 2 wait for limits</)
  expect(html).toContain('0 jobs are ready. 2 jobs wait for limits, so more lanes would be idle.')
  expect(html).toMatch(/packer-1.*>8 current runs</s)
  expect(html).toMatch(/href="\/ui\/jobs\?status=running&amp;queue=press"[^>]*>Show all</)
  expect(await reader.html('/ui/queues/shelf')).toMatch(/packer-1.*>1 current run</s)
})

test('the doctor reports lost runs, and classes that no pull worker claims', async () => {
  const healthy = await reader.html('/ui/doctor')
  expect(healthy).toContain('none lost in the last hour')
  expect(healthy).toContain('all services are up')
  await pages.engine.workers.register('mill', 'ground', { pull: true })
  await pages.advance(-120_000)
  await pages.make('ground', { queue: 'mill' })
  await pages.engine.runs.claim('mill', { names: ['ground'], lease: 1_000 })
  await pages.make('ground', { queue: 'mill' })
  await pages.advance(120_000)
  await pages.engine.tick()
  pages.forget()
  const html = await reader.html('/ui/doctor')
  expect(html).toContain('1 run lost in the last hour')
  expect(html).toContain('none claims ground from queue mill')
  expect(html).toContain('services are up, but some runs need attention')
})

test('"Since the deploy" narrows the list that is shown', async () => {
  const html = await reader.html('/ui/jobs?status=failed&queue=default')
  expect(html).toMatch(/href="\/ui\/jobs\?status=failed&amp;queue=default&amp;since=deploy"/)
})

test('the commands of the first minute work as they are copied, also after the demo', async () => {
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
