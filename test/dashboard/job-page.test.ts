import { afterAll, beforeAll, expect, test } from 'vitest'
import { encodeValue } from '../../src/core/codec/value.ts'
import { defineWorker, type Job, port } from '../../src/index.ts'
import { startPages, type Visitor } from './kit.ts'

const KIDS = 30

const parent = defineWorker({
  class: 'parent',
  perform(job: Job) {
    if (job.children['kid-0']) return { sent: KIDS }
    for (let n = KIDS - 1; n >= 0; n--) job.spawn(`kid-${n}`, { class: 'pulled' })
    return job.suspend({ waitFor: 'children' })
  },
})

const nap = defineWorker({
  class: 'nap',
  async perform(job: Job) {
    await job.step('first', () => 1)
    await job.callWorker('sends', { to: 'kim' })
    await job.step('second', () => 2)
    await job.sleep('2h')
  },
})

const sends = defineWorker({ class: 'sends', perform: (job: Job) => ({ sent: job.args, by: 'mail' }) })

const charge = defineWorker({
  class: 'charge',
  retry: { max: 0 },
  perform(job: Job) {
    const { amount } = job.args as { amount: { value?: number } }
    if (amount.value === undefined) throw new Error('the amount has no value')
    return amount.value
  },
})

const resize = defineWorker({
  class: 'resize',
  in: { url: port() },
  concurrency: 5,
  retry: { max: 0 },
  perform() {
    throw new Error('no answer')
  },
})

let pages: Awaited<ReturnType<typeof startPages>>
let reader: Visitor
beforeAll(async () => {
  pages = await startPages({ workers: [parent, nap, sends, charge, resize] })
  await pages.engine.workers.register('default', 'pulled', { pull: true })
  await pages.engine.workers.register('default', 'slotted', { pull: true, concurrency: 1 })
  reader = await pages.enter(['admin'])
})
afterAll(() => pages.close())

const plainText = (html: string): string =>
  html
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&#39;', "'")
    .replace(/\s+/g, ' ')
    .replaceAll(' ,', ',')
    .trim()

const part = (html: string, from: string, to: string): string => {
  const rest = html.slice(html.indexOf(from))
  return rest.slice(0, rest.indexOf(to))
}
const whyIn = (html: string) => plainText(part(html, '<ol class="why', '</ol>'))
const headIn = (html: string) => plainText(part(html, 'class="jobhead"', '<div class="right"'))
const railIn = (html: string) => part(html, '<aside class="stack rail"', '</aside>')
const timelineIn = (html: string) => part(html, '<h2>Timeline</h2>', '</section>')
const namesIn = (html: string) => [...html.matchAll(/>(kid-\d+)</g)].map(([, name]) => name)

const claim = (names: string[], max: number) =>
  pages.engine.runs.claim('default', { names, lease: 3_600_000, max, process: 'p' })

test('a job with 30 children shows failed children first, the number of hidden children, and a number per status', async () => {
  const id = await pages.make('parent')
  await pages.until(async () => Object.keys((await pages.engine.jobs.get(String(id))).children).length === KIDS)
  const [first, ...others] = await claim(['pulled'], 5)
  const child = (token: string) => Number(token.split('.')[0])
  await pages.engine.runs.commit(first!.run.token, { end: 'failed', error: { message: 'no answer', reason: 'other' } })
  await pages.engine.runs.commit(others[0]!.run.token, { end: 'completed' })
  const { children } = await pages.engine.jobs.get(String(id))
  const [failed] = Object.entries(children).find(([, one]) => one.id === child(first!.run.token))!
  const html = await reader.html(`/ui/jobs/${id}`)
  expect(namesIn(timelineIn(html))).toHaveLength(20)
  expect(namesIn(timelineIn(html))[0]).toBe(failed)
  expect(timelineIn(html)).toContain(`href="/ui/jobs?parent=${id}">10 more</a>`)
  expect(whyIn(html)).toMatch(
    /It waits for 28 children\. It continues when kid-\d+, kid-\d+, kid-\d+ and 25 more have ended/,
  )
  const rail = railIn(html)
  expect(plainText(rail)).toContain('1 failed, 25 queued, 3 running, 1 completed')
  expect(rail).toContain(`/ui/jobs?parent=${id}&amp;status=running`)
  const named = namesIn(rail)
  expect(named[0]).toBe(failed)
  const number = (name = '') => Number(name.slice(4))
  expect(named.slice(1, 26).map(number)).toEqual(
    named
      .slice(1, 26)
      .map(number)
      .toSorted((a, b) => a - b),
  )
})

test('a sleeping job shows when it wakes, and its steps have the numbers of stored runs', async () => {
  const id = await pages.make('nap')
  await pages.until(async () => (await pages.engine.jobs.steps(String(id))).steps.length === 2)
  await pages.until(async () => (await pages.statusOf(id)) === 'queued')
  const html = await reader.html(`/ui/jobs/${id}`)
  expect(headIn(html)).toMatch(/Sleeps until (\d+ \w{3}, )?\d\d:\d\d/)
  expect(headIn(html)).toContain('2 runs')
  expect(plainText(part(html, 'id="tabs"', '</nav>'))).toContain('Runs 2')
  const timeline = plainText(timelineIn(html))
  expect(timeline).toMatch(/first step ran \d.*sends#1 callWorker .*second step, run 2/)
  expect(timeline).toMatch(/ run 2 /)
  expect(timeline).toContain('Only the last run and the last ten failed or lost runs are stored')
  expect(timelineIn(html)).toMatch(/aria-label="runs not stored/)
})

test('a completed job shows its duration, its args and its result', async () => {
  const id = await pages.make('sends', { args: encodeValue({ to: 'ORD-7' }) })
  await pages.rest(id)
  const html = await reader.html(`/ui/jobs/${id}`)
  expect(whyIn(html)).toMatch(/^Outcome Completed in [\d.]+ m?s, after waiting [\d.]+ m?s\. /)
  expect(whyIn(html), 'the class has no input port').not.toContain('after new input')
  expect(html).toMatch(/<h3>Args<\/h3>.*ORD-7.*<h3>Result<\/h3>.*mail.*<h2>Timeline<\/h2>/s)
  expect(timelineIn(html)).toMatch(/<rect[^>]*height="14"[^>]*class="f-completed"/)
  expect(timelineIn(html)).not.toContain('Only the last run')
  expect(headIn(html)).not.toMatch(/Terminate x|Cancel/)
})

test('a failed job shows its message once, and marks the args that differ from the last good job', async () => {
  const [good, bad] = [
    await pages.make('charge', { args: encodeValue({ order: 'ORD-1', amount: { value: 19, currency: 'EUR' } }) }),
    await pages.make('charge', { args: encodeValue({ order: 'ORD-2', amount: { currency: 'EUR' } }) }),
  ]
  await Promise.all([good, bad].map((id) => pages.rest(id)))
  pages.forget()
  const html = await reader.html(`/ui/jobs/${bad}`)
  expect(html).not.toContain('<ol class="why')
  const card = part(html, 'id="failure"', '<h2>Timeline</h2>')
  expect(card.split('<b>the amount has no value</b>')).toHaveLength(2)
  expect([...card.matchAll(/<mark>([^<]*)</g)].map(([, text]) => text)).toEqual([
    '&quot;ORD-2&quot;',
    '&quot;ORD-1&quot;',
    '19',
  ])
  expect(html.split('<ol class="log"')).toHaveLength(2)
  const [menu, head] = [part(html, 'class="menu', '</details>'), part(html, 'class="jobhead"', '<details')]
  expect(menu).not.toContain('value="cancel"')
  expect(head).not.toContain('value="terminate"')
})

test('a failed job with unread input had two cells "Why it failed", and its limits had no comma', async () => {
  const id = await pages.make('resize', { group: { id: 'shop-7' }, inputs: { url: [encodeValue('a.heic')] } })
  await pages.rest(id, 'failed')
  const html = await reader.html(`/ui/jobs/${id}`)
  expect(html).not.toContain('Why it failed')
  expect(plainText(part(html, 'id="failure"', '<div class="pair">'))).toContain(
    'Failed after 1 attempt. It stays failed until you retry it. 1 value is waiting on port url.',
  )
  expect(plainText(railIn(html))).toContain('Limits its group, worker:default/resize')
})

test('a job at a full limit shows the end of the lease that frees a slot', async () => {
  const [holder, waiter] = [await pages.make('slotted'), await pages.make('slotted')]
  await claim(['slotted'], 1)
  expect(await claim(['slotted'], 1)).toEqual([])
  const html = await reader.html(`/ui/jobs/${waiter}`)
  expect(whyIn(html)).toMatch(
    new RegExp(`The limit has room by (\\d+ \\w{3}, )?[\\d:]+, in .*, when the lease of #${holder} ends\\.`),
  )
  expect(timelineIn(html)).toMatch(/aria-label="waiting \d+ ms"/)
})

test('a child is shown with the name that its parent gave it', async () => {
  const id = await pages.make('parent')
  await pages.until(async () => Object.keys((await pages.engine.jobs.get(String(id))).children).length === KIDS)
  const child = (await pages.engine.jobs.get(String(id))).children['kid-7']!.id
  expect(plainText(railIn(await reader.html(`/ui/jobs/${child}`)))).toMatch(
    new RegExp(`parent #${id} .*pulled kid-7 #${child}`),
  )
})

async function lost(times: number): Promise<number> {
  const queue = 'leaky'
  await pages.engine.workers.register(queue, 'loses', { pull: true })
  const { made } = await pages.store.enqueue([{ queue, class: 'loses', known: true, maxLost: times }])
  const { id } = made[0]!
  for (let n = 0; n < times; n++) {
    await pages.store.commit({ queue, claim: { max: 1, lease: 5_000, begun: 1, pull: true, patterns: ['loses'] } })
    for (let pause = 0; pause < 2; pause++) {
      await pages.advance(120_000)
      await pages.engine.tick()
    }
  }
  return id
}

test('a job that failed because its runs were lost counts them as lost runs, not as attempts', async () => {
  const id = await lost(3)
  expect(await pages.statusOf(id)).toBe('failed')
  const html = await reader.html(`/ui/jobs/${id}`)
  expect(headIn(html)).toContain('3 runs, 3 lost')
  expect(whyIn(html)).toBe(
    'Why it failed Lost 3 times: the run never answered. Failed after 3 lost runs. It stays failed until you retry it.',
  )
  expect(html).not.toContain('&quot;reason&quot;')
  expect(html).not.toContain('Only the last run')
  expect(plainText(railIn(html))).not.toContain('Attempts')
  expect(plainText(part(html, 'id="tabs"', '</nav>'))).toContain('Runs 3')
})

test('the pages of a job and of its class showed no delays of retries if a list sets them', async () => {
  const retry = { max: 4, backoff: { delays: [5_000, 60_000] } }
  await pages.engine.workers.register('default', 'waits', { pull: true, retry })
  const id = await pages.make('waits', { retry })
  expect(plainText(railIn(await reader.html(`/ui/jobs/${id}`)))).toContain('0 of 4; backoff 5.0 s, 1 m 00 s')
  expect(plainText(await reader.html('/ui/workers/default/waits'))).toContain('4; backoff 5.0 s, 1 m 00 s')
})

test('a job that failed because its only run was lost says that the run was lost once', async () => {
  const id = await lost(1)
  expect(whyIn(await reader.html(`/ui/jobs/${id}`))).toBe(
    'Why it failed Lost once: the run never answered. Failed after 1 lost run. It stays failed until you retry it.',
  )
})

test('a run that takes much longer than other runs of its class may be stuck, and a button runs its job again', async () => {
  const site = await startPages({ hold: true })
  try {
    await site.engine.workers.register('default', 'thumb', { pull: true })
    const claim = () => site.engine.runs.claim('default', { names: ['thumb'], lease: 3_600_000 })
    await site.advance(-20 * 60_000)
    const id = await site.make('thumb')
    await claim()
    await site.advance(20 * 60_000)
    await site.make('thumb')
    const visitor = await site.enter(['admin'])
    const path = `/ui/jobs/${id}`
    expect(whyIn(await visitor.html(path))).toMatch(/^Current activity It has been running for 20 m \d\d s\. Run by/)
    const [next] = await claim()
    await site.engine.runs.commit(next!.run.token, { n: 1, end: 'completed' })
    site.forget()
    const html = await visitor.html(path)
    expect(whyIn(html)).toMatch(
      /^May be stuck It has been running for 20 m \d\d s; 95% of the runs that ended today took at most \d+ m?s/,
    )
    expect(whyIn(html)).toMatch(/Run by unnamed runner \w{6}\./)
    expect(html).toMatch(/data-act="requeue".*class="menu".*data-act="run"/s)
    expect(whyIn(html)).toContain('Running jobs of its class')
    const made = Date.now() % 86_400_000 < 20 * 60_000 ? 1 : 2
    const byClass = plainText(await visitor.html('/ui/jobs?by=class'))
    expect(byClass).toContain(`thumb default ${made} 1 1 1 0`)
    expect(byClass).toContain('1 run ended, 1 is running.')
    const ofOther = plainText(await visitor.html('/ui/jobs?by=class&class=other'))
    expect(ofOther).toContain('0 runs ended, 0 are running.')
  } finally {
    await site.close()
  }
})
